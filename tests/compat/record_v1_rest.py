"""Record with TensorFlow what the programs of `v1_rest_programs.py` give."""

import importlib
import json
import pathlib
import tempfile

import v1_rest_programs as programs

if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    with tempfile.TemporaryDirectory() as folder:
        found = {family: {name: programs.outcome(program, tf, folder) for name, program in members.items()}
                 for family, members in programs.FAMILIES.items()}
    path = pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_v1_rest.json"
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
