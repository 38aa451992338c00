"""Record with TensorFlow what the programs of `v1_feature_programs.py` give."""

import importlib
import json
import pathlib
import tempfile

import v1_feature_programs as programs

if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    with tempfile.TemporaryDirectory() as folder:
        found = {name: run() for name, run in programs.programs(tf, folder).items()}
    path = pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_v1_features.json"
    path.write_text("{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(found.items())) + "}\n")
