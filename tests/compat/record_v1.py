"""Record with TensorFlow what the programs of `v1_programs.py` compute."""

import importlib
import json
import pathlib

import v1_programs as programs

if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    found = {
        family: {name: programs.in_session(tf, build) for name, build in make(tf).items()}
        for family, make in programs.FAMILIES.items()
    }
    found["optimizers"] = {name: programs.train(tf, make) for name, make in programs.optimizers(tf).items()}
    found["functions"] = {name: programs.rounded(call()) for name, call in programs.functions(tf).items()}
    found["metrics"] = {name: programs.measure(tf, name) for name in programs.metrics(tf)}
    path = pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_v1.json"
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
