"""Record with TensorFlow (and TensorBoard, which has a part of its `tf.summary`) what the programs write."""

import importlib
import json
import pathlib

import summary_programs

if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    lines = [
        f"{json.dumps(code)}: {json.dumps(summary_programs.result_of(tf, code))}" for code in summary_programs.PROGRAMS
    ]
    path = pathlib.Path(__file__).resolve().parents[1] / "golden" / "summaries.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
