"""Record with TensorFlow (and tf_keras, TF_USE_LEGACY_KERAS=1) what the programs of `v1_layer_programs.py` give."""

import importlib
import json
import pathlib

import v1_layer_programs as programs

if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    found = {family: {name: programs.outcome(tf, build) for name, build in make(tf).items()}
             for family, make in programs.FAMILIES.items()}
    path = pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_v1_layers.json"
    path.write_text(json.dumps(found, sort_keys=True).replace('}, "', '},\n"') + "\n")
