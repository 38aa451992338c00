"""Record with TensorFlow what the programs of `v1_saving_programs.py` give."""

import importlib
import json
import pathlib

import v1_saving_programs as programs

if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    found = {
        family: {name: programs.result_of(tf, code) for name, code in table.items()}
        for family, table in programs.FAMILIES.items()
    }
    path = pathlib.Path(__file__).resolve().parents[1] / "golden" / "v1_saving.json"
    path.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
