"""Each case of control flow in all the ways it can run, against plain Python and against TensorFlow."""

import json
import pathlib
import warnings

import numpy as np
import pytest
from autograph_cases import branches, for_loops, functions, loops, methods, while_loops  # noqa: F401  they fill the table
from autograph_cases.table import CASES

import headrace as tf
from headrace._src.autograph.calls import convert

GOLDEN = json.loads((pathlib.Path(__file__).parent.parent / "golden" / "autograph.json").read_text())
# Where TensorFlow 2.21 gives something else than Python: a nonlocal variable written in both branches is lost, and
# `return` inside `try` is ignored there.
WRONG_IN_TENSORFLOW = {"nonlocal_write", "return_in_try"}


def calls(select):
    return [
        pytest.param(case, i, id=f"{case.name}-{i}")
        for case in CASES.values()
        if select(case)
        for i in range(len(case.arguments))
    ]


def plain(value):
    """A result without tensors."""
    value = value.numpy() if isinstance(value, tf.Tensor) else value
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(v) for v in value)
    return value


def leaves(value):
    return [] if value is None else [plain(v) for v in tf.nest.flatten(value)]


def close(a, b):
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        x, y = (v.encode() if isinstance(v, str) else v for v in (x, y))
        if not (x == y or np.allclose(x, y, rtol=1e-5)):
            return False
    return True


def test_there_are_enough_cases():
    assert len(CASES) >= 150


@pytest.mark.parametrize(("case", "i"), calls(lambda case: True))
def test_python_values(case, i):
    arguments = case.arguments[i]
    expected = case.function(*arguments)
    found = convert(case.function, strict=True)(*arguments)
    assert plain(found) == plain(expected)
    assert type(found) is type(expected)


@pytest.mark.parametrize(("case", "i"), calls(lambda case: case.tensors))
def test_eager_tensors(case, i):
    arguments = case.arguments[i]
    expected = case.function(*arguments)
    found = convert(case.function)(*map(tf.constant, arguments))
    assert close(leaves(found), leaves(expected))


@pytest.mark.parametrize(("case", "i"), calls(lambda case: case.graph))
def test_graph(case, i):
    arguments = case.arguments[i]
    expected = case.function(*arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = tf.function(case.function)(*map(tf.constant, arguments))
    assert close(leaves(found), leaves(expected))


@pytest.mark.parametrize(("case", "i"), calls(lambda case: case.graph))
def test_same_as_tensorflow(case, i):
    recorded = GOLDEN[case.name][i]
    if case.name in WRONG_IN_TENSORFLOW:
        pytest.skip("TensorFlow's result is not Python's")
    if "error" in recorded:
        pytest.skip(f"TensorFlow refuses it: {recorded['error']}")
    found = tf.function(case.function)(*map(tf.constant, case.arguments[i]))
    tensors = [] if found is None else tf.nest.flatten(found)
    assert [t.dtype.name for t in tensors] == [dtype for dtype, _ in recorded["leaves"]]
    assert close([plain(t) for t in tensors], [value for _, value in recorded["leaves"]])
