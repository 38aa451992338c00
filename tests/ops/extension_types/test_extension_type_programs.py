"""Programs with extension types give what TensorFlow recorded."""

import json
import pathlib
import sys
import types

import extension_type_programs as programs
import pytest
from extension_type_programs import PROGRAMS, result_of

import headrace as tf

RECORDED = json.loads((pathlib.Path(__file__).parents[2] / "golden" / "extension_type_programs.json").read_text())

# Where TensorFlow refuses what headrace computes: what it gives, and why.
OURS = {
    "dataset_in_a_function": [6, False],  # loops over such datasets reduce them, as loops in a program do
    "assertions": ["assert_equal", "assert_less", "raised"],  # TensorFlow cannot take these back
    "specs_as_dispatch_types": [1, "refused"],  # a spec says more than a class
    "methods_and_constants": [[0, 0, 0], 17],  # class variables are no fields
    "made_first_in_a_loop": 3,  # AutoGraph lets what a loop makes be used after it
}


def values_of(result):
    """A result without types and shapes."""
    if isinstance(result, list):
        return [values_of(item) for item in result]
    return result["values"] if isinstance(result, dict) else result


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    found, recorded = json.loads(json.dumps(result_of(PROGRAMS[name]))), RECORDED[name]
    if name in OURS:
        assert "raises" in recorded
        assert values_of(found) == OURS[name]
    elif isinstance(recorded, dict) and "raises" in recorded:
        assert recorded["raises"][0] in found["raises"]
    else:
        assert found == recorded


def test_annotations_are_texts():
    """After `from __future__ import annotations`, in a function, and in functions that dispatch calls."""
    module = types.ModuleType("annotated")
    sys.modules["annotated"] = module
    try:
        exec(compile(ANNOTATED, "annotated.py", "exec"), vars(module))
        assert module.LATER.back.weight.numpy() == 2.0
        assert module.local().inner.inner.weight.numpy() == 3.0
        assert tf.rank(module.LATER) == "rank of a node"
        with pytest.raises(TypeError, match="names a class that does not exist"):
            module.Lost(1.0)
    finally:
        del sys.modules["annotated"]


ANNOTATED = """
from __future__ import annotations
import headrace as tf

class Node(tf.experimental.ExtensionType):
    weight: tf.Tensor
    back: Later | None = None
    kind: str = "node"

class Later(Node):
    more: tuple[Node, ...] = ()

LATER = Node([1.0], back=Later(2.0, more=[Node(1.0)]))

def local():
    class Inner(tf.experimental.ExtensionType):
        weight: tf.Tensor
        inner: Inner | None = None

    class Outer(tf.experimental.ExtensionType):
        inner: Inner

    return Outer(Inner(1.0, Inner(3.0)))

@tf.experimental.dispatch_for_api(tf.rank)
def rank(input: Node, name=None):
    return "rank of a node"

class Lost(tf.experimental.ExtensionType):
    weight: Tenser
"""


def test_gradients_by_values():
    value = programs.Pair([1.0, 2.0], [3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(value)
        y = tf.reduce_sum(value.x * value.y)
    assert tape.gradient(y, value).x.numpy().tolist() == [3.0, 4.0]


def test_datasets_reduce_to_values():
    first = programs.Pair(tf.constant(0, tf.int64), tf.constant(1, tf.int64))
    value = tf.data.Dataset.range(5).reduce(first, lambda p, x: programs.Pair(p.x + x, p.y * (x + 1)))
    assert (int(value.x), int(value.y)) == (10, 120)
