"""Short ways through Keras: what they say is what Keras's own functions say."""

import collections
import importlib

import numpy as np
import pytest

import headrace as tf

Pair = collections.namedtuple("Pair", "a b")


def short_way(module, name):
    """The function that stands in Keras, and the one whose place it took."""
    _ = tf.keras
    function = getattr(importlib.import_module(module), name)
    return function, function.__wrapped__


def values():
    tensor = tf.constant([1.0, 2.0])
    symbolic = tf.keras.Input([3])
    variable = tf.keras.Variable(1.0)
    plain = [
        None,
        1,
        2.5,
        True,
        "name",
        tensor,
        variable,
        np.ones(2),
        symbolic,
        tf.RaggedTensor.from_row_splits([1], [0, 1]),
    ]
    nested = [
        (), [], {}, (tensor,), [tensor], {"a": tensor}, {"b": 1, "a": tensor}, Pair(tensor, None),
        (tensor, (symbolic,)), {"x": {"y": symbolic}}, (variable, None), collections.OrderedDict(b=1, a=2),
    ]  # fmt: skip
    return plain + nested


def test_what_is_nested():
    found, wanted = short_way("keras.src.tree.optree_impl", "is_nested")
    for value in [*values(), *values()]:  # the second time, types are known
        assert found(value) is wanted(value), value


def test_symbolic_tensors():
    found, wanted = short_way("keras.src.backend.common.keras_tensor", "any_symbolic_tensors")
    assert found() is wanted() is False
    for value in values():
        for args, kwargs in [((value,), None), ((1, value), {}), ((), {"x": value}), (None, {"y": None, "x": value})]:
            assert found(args, kwargs) is wanted(args, kwargs), value


def called(function, structure, **settings):
    """What `map_structure` returns, and what it calls the function with."""
    seen = []

    def note(x):
        seen.append(x)
        return [x]

    return function(note, structure, **settings), seen


def test_mapped_structures():
    found, wanted = short_way("keras.src.tree.optree_impl", "map_structure")
    for value in values():
        for none_is_leaf in (True, False):
            result, seen = called(found, value, none_is_leaf=none_is_leaf)
            expected, expected_seen = called(wanted, value, none_is_leaf=none_is_leaf)
            assert list(map(id, seen)) == list(map(id, expected_seen))
            assert type(result) is type(expected)
            assert repr(result) == repr(expected)
    assert found(lambda a, b: a + b, (1, 2), (3, 4)) == (4, 6)


@pytest.mark.parametrize(
    "dtype", ["float32", "int", "bool", "bfloat16", "string", None, int, tf.float16, np.dtype("int8")]
)
def test_names_of_dtypes(dtype):
    found, wanted = short_way("keras.src.backend.common.variables", "standardize_dtype")
    assert found(dtype) == found(dtype) == wanted(dtype)


def test_names_that_are_no_dtypes():
    found, _ = short_way("keras.src.backend.common.variables", "standardize_dtype")
    for _ in range(2):
        with pytest.raises(ValueError, match="Invalid dtype: float33"):
            found("float33")


@pytest.mark.parametrize("dtype", [None, "float32", "int32", "bool", tf.float32, tf.int32, "float16"])
@pytest.mark.parametrize("value", [tf.constant([1.0]), tf.constant([2]), 3.0, [True], tf.sparse.from_dense([1.0])])
def test_converted_values(value, dtype):
    found, wanted = short_way("keras.src.backend.tensorflow.core", "convert_to_tensor")
    result, expected = found(value, dtype), wanted(value, dtype)
    assert type(result) is type(expected)
    assert result.dtype is expected.dtype
    if isinstance(value, tf.Tensor):
        assert (result is value) == (expected is value)
