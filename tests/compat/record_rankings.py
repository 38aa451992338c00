"""Record with TensorFlow what the metrics of `ranking_programs.py` give."""

import importlib
import json
import pathlib

import ranking_programs as programs

if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    found = {name: programs.measure(tf, name) for name in programs.metrics(tf)}
    path = pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_rankings.json"
    path.write_text("{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "}\n")
