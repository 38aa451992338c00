"""Record with TensorFlow 2.15, the last that has estimators, what the programs of `estimator_programs.py` give."""

import importlib
import json
import os
import pathlib
import tempfile

import estimator_programs as programs

if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    found = {"canned": {}, "own": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name in programs.canned(tf):
            found["canned"][name] = programs.canned_program(tf, os.path.join(folder, name), name)
        for name, run in programs.OWN.items():
            found["own"][name] = run(tf, os.path.join(folder, name))
    lines = [f"{json.dumps(part)}: {{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, sort_keys=True)}"
             for k, v in sorted(rows.items())) + "}" for part, rows in found.items()]  # fmt: skip
    path = pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_estimators.json"
    path.write_text("{" + ",\n".join(lines) + "}\n")
