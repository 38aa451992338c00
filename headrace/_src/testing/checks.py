"""Functions of `tf.test`: gradients against differences, graphs against graphs, and what a machine is."""

import functools
import platform
import unittest
from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.autodiff.gradient_tape import GradientTape
from headrace._src.core.context import context
from headrace._src.formats.graph_messages import GraphDef
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor

_MACHINES = {
    "aarch64": {"aarch64", "arm64"}, "x86_64": {"x86_64", "amd64"}, "ppc64le": {"ppc64le"}, "riscv64": {"riscv64"},
}  # fmt: skip


def _numbers(array):
    """The real numbers of an array, two for each complex one, in a row."""
    flat = np.ascontiguousarray(array).ravel()
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _theoretical(f, tensors):
    with GradientTape(persistent=True) as tape:
        for x in tensors:
            tape.watch(x)
        y = to_tensor(f(*tensors))
    units = y.shape.num_elements() * (2 if y.dtype.is_complex else 1)
    rows: list = [[] for _ in tensors]
    for row in range(units):
        seed = np.zeros(y.shape.as_list(), y.dtype._np)
        _numbers_of(seed)[row] = 1
        for at, gradient in enumerate(tape.gradient(y, tensors, to_tensor(seed))):
            x = tensors[at]
            dense = np.zeros(x.shape.as_list(), x.dtype._np) if gradient is None else to_tensor(gradient).numpy()
            rows[at].append(_numbers(np.asarray(dense)))
    return tuple(
        np.array(found, x.dtype.real_dtype._np).reshape(units, _numbers(x.numpy()).size)
        for found, x in zip(rows, tensors)
    )


def _numbers_of(array):
    """As `_numbers`, to be written."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _numerical(f, tensors, at, delta):
    x = tensors[at]
    moved = np.array(x.numpy())
    values = _numbers_of(moved)
    columns = []
    for place in range(values.size):
        kept, found = values[place], []
        for step in (delta, -delta):
            values[place] = kept + values.dtype.type(step)
            found.append(_numbers(to_tensor(f(*tensors[:at], to_tensor(moved.copy()), *tensors[at + 1 :])).numpy()))
        values[place] = kept
        columns.append((found[0].astype(np.float64) - found[1].astype(np.float64)) / (2 * delta))
    if not columns:
        size = _numbers(to_tensor(f(*tensors)).numpy()).size
        return np.zeros((size, 0), x.dtype.real_dtype._np)
    return np.stack(columns, 1).astype(x.dtype.real_dtype._np)


@api("test.compute_gradient", dispatch=False)
def compute_gradient(f, x, delta=None) -> tuple[Any, Any]:
    """The derivatives of a function twice: as its gradients say, and from differences of its values.

    Args:
        f: a function of tensors that returns a tensor.
        x: the list of its arguments.
        delta: half the distance of the values that are compared; 1/1024 when left out.

    Returns:
        Two tuples with a matrix for each argument: a row for each number of the result, a column for each number of
        the argument. A complex number is two.

    Raises:
        ValueError: when `x` is no list.
        AssertionError: when an argument has no derivatives, as integers do not.

    >>> exact, near = tf.test.compute_gradient(lambda a: a * a, [3.0])
    >>> exact[0].tolist(), near[0].tolist()
    ([[6.0]], [[6.0]])
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(f"compute_gradient: x must be a list or a tuple of arguments, got {type(x).__name__}.")
    tensors = [to_tensor(value) for value in x]
    for at, tensor in enumerate(tensors):
        if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
            raise AssertionError(f"Cannot compute gradient for unsupported type {tensor.dtype.name} of argument {at}")
    delta = 1.0 / 1024 if delta is None else delta
    with context.changed(graph=None):
        exact = _theoretical(f, tensors)
        near = tuple(_numerical(f, tensors, at, delta) for at in range(len(tensors)))
    return exact, near


@api("test.assert_equal_graph_def", dispatch=False)
def assert_equal_graph_def(expected, actual) -> None:
    """Fail unless two `GraphDef` have equal nodes, in whatever order.

    Raises:
        TypeError: when one is no `GraphDef`.
        AssertionError: when they differ.
    """
    nodes = []
    for name, graph in (("expected", expected), ("actual", actual)):
        if not isinstance(graph, GraphDef) and type(graph).__name__ != "GraphDef":
            raise TypeError(f"assert_equal_graph_def: {name} must be a GraphDef, got {type(graph).__name__}.")
        nodes.append({node.name: node for node in graph.node})
    first, second = nodes
    missing, more = sorted(first.keys() - second.keys()), sorted(second.keys() - first.keys())
    if missing or more:
        raise AssertionError(f"Graphs have other nodes: {missing} are missing, {more} were not expected.")
    for name, node in first.items():
        if node != second[name]:
            raise AssertionError(f"The node {name!r} differs:\n{node}\nand\n{second[name]}")


@api("test.disable_with_predicate", dispatch=False)
def disable_with_predicate(pred, skip_message) -> Callable[..., Any]:
    """Decorator: skip a test when a function of nothing says yes.

    Args:
        pred: the function; asked when the test runs.
        skip_message: the reason to show.
    """

    def decorate(function):
        @functools.wraps(function)
        def run(self, *args, **kwargs):
            if pred():
                raise unittest.SkipTest(skip_message)
            return function(self, *args, **kwargs)

        return run

    return decorate


@api("test.with_eager_op_as_function", dispatch=False)
def with_eager_op_as_function(cls=None, only_as_function=False) -> Any:
    """Decorator of test classes for a mode of TensorFlow that is always on there: the class as it is.

    Args:
        cls: the class; without it, a decorator is returned.
        only_as_function: accepted for compatibility.
    """
    return (lambda decorated: decorated) if cls is None else cls


@api("test.is_cpu_target_available", dispatch=False)
def is_cpu_target_available(target) -> bool:
    """Whether this machine has a processor of a kind: "x86_64", "aarch64", "ppc64le" or "riscv64".

    Raises:
        AssertionError: for other kinds.
    """
    if target not in _MACHINES:
        raise AssertionError(f"Unknown CPU target: {target}; known are {', '.join(_MACHINES)}.")
    return platform.machine().lower() in _MACHINES[target]


@api("test.experimental.sync_devices", dispatch=False)
def sync_devices() -> None:
    """Wait until devices have computed what they were asked for. Operations here have done so when they return.

    Raises:
        RuntimeError: while a graph is built.
    """
    if context.graph is not None:
        raise RuntimeError("sync_devices() must only be called in Eager mode, outside tf.functions.")
