"""Record how TensorFlow writes the structures of saved_structures.py: run it with a Python that has TensorFlow."""

import collections
import importlib
import json
import pathlib

import numpy as np
from saved_structures import STRUCTURES

if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    coder = importlib.import_module("tensorflow.python.saved_model.nested_structure_coder")
    bounded = importlib.import_module("tensorflow.python.framework.tensor").BoundedTensorSpec
    names = {"tf": tf, "np": np, "BoundedTensorSpec": bounded, "Point": collections.namedtuple("Point", "x y")}
    messages = {
        text: coder.encode_structure(eval(text, names)).SerializeToString(deterministic=True).hex()
        for text in STRUCTURES
    }
    path = pathlib.Path(__file__).resolve().parents[1] / "golden" / "structured_values.json"
    path.write_text(json.dumps(messages, indent=0) + "\n")
