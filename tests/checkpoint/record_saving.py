"""Record with TensorFlow what the programs of `saving_programs.py` give, and files that tests read."""

import importlib
import json
import pathlib

import saving_programs

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"


def first_version(tf):
    """A checkpoint file of the first version, with a tensor of each kind that is stored otherwise."""
    tf.raw_ops.SaveSlices(
        filename=str(GOLDEN / "saving" / "first_version"),
        tensor_names=["x", "x", "b", "s", "e", "h", "c", "u"],
        shapes_and_slices=["4 0,2", "4 2,2", "", "", "", "", "", ""],
        data=[
            tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.constant([[True, False]]), tf.constant("hello"),
            tf.zeros([0, 3], tf.int64), tf.constant([0.5, -2.0], tf.float16), tf.constant([1 + 2j, 3j], tf.complex64),
            tf.constant([200, 7], tf.uint8),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    (GOLDEN / "saving").mkdir(exist_ok=True)
    first_version(tf)
    path = GOLDEN / "saving.json"
    found = {name: saving_programs.result_of(tf, code) for name, code in saving_programs.PROGRAMS.items()}
    path.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
