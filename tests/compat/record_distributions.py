"""Record with TensorFlow what the programs of `distribution_programs.py` give."""

import importlib
import json
import pathlib

import distribution_programs as programs

if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    found = {made: programs.outcome(tf, made, *rest) for made, rest in programs.KINDS.items()}
    found.update({pair: programs.divergence(tf, pair) for pair in programs.PAIRS})
    path = pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_distributions.json"
    path.write_text("{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "}\n")
