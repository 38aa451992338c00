"""Record with TensorFlow what `numpy_behavior_rows.py` gives; with a mode and 0 or 1, print the results of headrace."""

import importlib
import json
import pathlib
import subprocess
import sys

if __name__ == "__main__":
    rows = importlib.import_module("numpy_behavior_rows")  # only here: this file is looked through for doctests
    if len(sys.argv) == 4:
        library, mode, prefer = sys.argv[1:]
        print(json.dumps(rows.results(importlib.import_module(library), mode, prefer == "1")))
    else:
        found = {}
        for mode, prefer in rows.SETTINGS:
            command = [sys.executable, __file__, "tensorflow", mode, str(int(prefer))]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            found[f"{mode} {int(prefer)}"] = json.loads(output.splitlines()[-1])
        path = pathlib.Path(__file__).resolve().parents[2] / "golden" / "numpy_behavior.json"
        path.write_text(json.dumps(found, indent=0) + "\n")
