"""Record with TensorFlow what the programs of `dataset_programs.py` give.

With texts as arguments, only the programs that contain one of them are recorded anew, besides those that are new.
"""

import importlib
import json
import pathlib
import sys

import dataset_programs
import program_results

if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    path = pathlib.Path(__file__).resolve().parents[1] / "golden" / "datasets.json"
    old = json.loads(path.read_text()) if path.exists() else {}
    found = {}
    for code in dataset_programs.PROGRAMS:
        if code not in old or any(text in code for text in sys.argv[1:]):
            found[code] = program_results.result_of(tf, code)
            json.dumps(found[code])  # or fail at once
        else:
            found[code] = old[code]
    lines = ",\n".join(f"{json.dumps(code)}: {json.dumps(found[code])}" for code in sorted(found))
    path.write_text("{\n" + lines + "\n}\n")
