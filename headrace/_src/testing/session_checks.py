"""Functions of `tf.compat.v1.test`: gradients of a session against differences, folders, stand-ins, graphs."""

import atexit
import functools
import inspect
import os
import shutil
import sys
import tempfile
from typing import Any

import numpy as np

from headrace._src.compat.sessions.session import get_default_session
from headrace._src.formats.graph_messages import GraphDef
from headrace._src.graph.derivatives.gradients import gradients
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import zeros
from headrace._src.testing import checks


def _session(session=None):
    session = get_default_session() if session is None else session
    if session is None:
        raise ValueError("compute_gradient: there is no default session; `with session.as_default():` makes one.")
    return session


def _random(dtype, shape):
    values = np.random.random_sample(shape)
    if dtype.is_complex:
        values = values + 1j * np.random.random_sample(shape)
    return values.astype(dtype.as_numpy_dtype)


def _parts(array):
    """The real numbers of an array, two for each complex one, in a row that can be written."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


class _Derivatives:
    """The derivatives of a tensor by another one, in a session."""

    def __init__(self, session, x, y, y_shape, value, feeds):
        self._session, self._x, self._y = session, x, y
        self._y_shape, self._value, self._feeds = y_shape, value, feeds

    def exact(self):
        """A row for each number of `x`, a column for each of `y`."""
        with self._session.graph.as_default():
            seed = zeros(self._y_shape, self._y.dtype.base_dtype)
            (found,) = gradients(self._y, self._x, seed)
            found = to_tensor(found)
        start = np.zeros(self._y_shape, self._y.dtype.as_numpy_dtype)
        numbers, columns = _parts(start), []
        for place in range(numbers.size):
            numbers[place] = 1
            got = self._session.run(found, {**self._feeds, self._x: self._value, seed: start})
            columns.append(_parts(np.ascontiguousarray(got)).copy())
            numbers[place] = 0
        return self._stacked(columns, axis=1)

    def near(self, delta):
        """The same from differences."""
        moved = np.array(self._value)
        numbers, rows = _parts(moved), []
        for place in range(numbers.size):
            kept, found = numbers[place], []
            for step in (delta, -delta):
                numbers[place] = kept + step
                got = self._session.run(self._y, {**self._feeds, self._x: moved})
                found.append(_parts(np.ascontiguousarray(got)))
            numbers[place] = kept
            rows.append((found[0] - found[1]) / (2 * delta))
        return self._stacked(rows, axis=0)

    def _stacked(self, rows, axis):
        dtype = self._x.dtype.real_dtype.as_numpy_dtype
        sizes = [_parts(np.zeros(shape, tensor.dtype.as_numpy_dtype)).size
                 for shape, tensor in ((np.shape(self._value), self._x), (self._y_shape, self._y))]
        return np.stack(rows, axis).astype(dtype) if rows else np.zeros(sizes, dtype)


@api("compat.v1.test.compute_gradient", dispatch=False)
def compute_gradient(
    x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None
) -> Any:
    """The derivatives of a tensor in the default session, twice: as gradients say, and from differences.

    Args:
        x: a tensor that is fed, or a list of such.
        x_shape: its shape; of a list, a list.
        y: the tensor whose derivatives are asked for.
        y_shape: its shape.
        x_init_value: the value at which they are computed; random numbers if None.
        delta: half the distance of the values that are compared.
        init_targets: operations that are run before, such as initializers.
        extra_feed_dict: other feeds.

    Returns:
        Two matrices with a row for each number of `x` and a column for each of `y`; of a list, a list of such pairs.

    Raises:
        ValueError: there is no default session.

    >>> with tf.Graph().as_default(), tf.compat.v1.Session():
    ...     x = tf.compat.v1.placeholder(tf.float64, [1])
    ...     exact, near = tf.compat.v1.test.compute_gradient(x, [1], x * 3.0, [1])
    ...     print(exact.tolist(), near.round(3).tolist())
    [[3.0]] [[3.0]]
    """
    session = _session()
    for target in init_targets if isinstance(init_targets, (list, tuple)) else [init_targets] if init_targets else []:
        session.run(target)
    several = isinstance(x, (list, tuple))
    xs, shapes = (x, x_shape) if several else ([x], [x_shape])
    values = x_init_value if several and x_init_value is not None else [x_init_value] * len(xs)
    values = [_random(tensor.dtype, shape) if value is None else np.asarray(value, tensor.dtype.as_numpy_dtype)
              for tensor, shape, value in zip(xs, shapes, values)]
    found = []
    for place, tensor in enumerate(xs):
        others = {other: values[i] for i, other in enumerate(xs) if i != place}
        derivatives = _Derivatives(session, tensor, y, y_shape, values[place], {**others, **(extra_feed_dict or {})})
        found.append((derivatives.exact(), derivatives.near(delta)))
    return found if several else found[0]


@api("compat.v1.test.compute_gradient_error", dispatch=False)
def compute_gradient_error(
    x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None
) -> float:
    """The largest difference between the two matrices of `compute_gradient`, whose arguments it has."""
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = found if isinstance(found, list) else [found]
    return max(float(np.abs(exact - near).max(initial=0)) for exact, near in pairs)


@functools.cache
def _folder():
    given = os.environ.get("TEST_TMPDIR")
    folder = tempfile.mkdtemp(prefix="headrace_test_", dir=given)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@api("compat.v1.test.get_temp_dir", dispatch=False)
def get_temp_dir() -> str:
    """A folder for files of tests, the same as long as the program runs and removed after it."""
    return _folder()


@api("compat.v1.test.test_src_dir_path", dispatch=False)
def test_src_dir_path(relative_path) -> str:
    """The path of a file of the tree under test: below TEST_SRCDIR where a build system says it.

    Args:
        relative_path: such as "core/platform".
    """
    root = os.environ.get("TEST_SRCDIR")
    top = os.path.dirname(os.path.abspath(sys.argv[0])) if root is None else os.path.join(root, "tensorflow")
    return os.path.join(top, relative_path)


test_src_dir_path.__test__ = False  # type: ignore[attr-defined]  # pytest takes it for a test


@api("compat.v1.test.assert_equal_graph_def", dispatch=False)
def assert_equal_graph_def(actual, expected, checkpoint_v2=False, hash_table_shared_name=False) -> None:
    """Fail unless two `GraphDef` have equal nodes, in whatever order.

    Args:
        actual: what was found.
        expected: what it should be.
        checkpoint_v2: whether names of temporary files of savers may differ.
        hash_table_shared_name: whether shared names of hash tables may differ.

    Raises:
        TypeError: one is no `GraphDef`.
        AssertionError: they differ.
    """
    compared = []
    for name, graph in (("actual", actual), ("expected", expected)):
        if not isinstance(graph, GraphDef) and type(graph).__name__ != "GraphDef":
            raise TypeError(f"Expected tf.GraphDef for {name}, got {type(graph).__name__}")
        copied = type(graph)()
        copied.CopyFrom(graph)
        for node in copied.node:
            if hash_table_shared_name and node.op == "HashTableV2":
                node.attr.pop("shared_name", None)
            if checkpoint_v2 and node.op == "Const" and b"_temp_" in node.attr["value"].tensor.SerializeToString():
                node.attr.pop("value", None)
        compared.append(copied)
    checks.assert_equal_graph_def(compared[1], compared[0])


@api("compat.v1.test.StubOutForTesting", dispatch=False)
class StubOutForTesting:
    """Puts stand-ins in the places of attributes, and takes them back.

    >>> import os
    >>> with tf.compat.v1.test.StubOutForTesting() as stubs:
    ...     stubs.Set(os, "getcwd", lambda: "/here")
    ...     print(os.getcwd())
    /here
    """

    def __init__(self) -> None:
        self._kept: list = []
        self._cleverly_kept: list = []

    def __enter__(self) -> "StubOutForTesting":
        return self

    def __exit__(self, *exception) -> None:
        self.CleanUp()

    def __del__(self):
        self.CleanUp()

    def CleanUp(self) -> None:
        """Take back all stand-ins."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def SmartSet(self, obj, attr_name, new_attr) -> None:
        """Replace an attribute of a module or an object, or of the class of an object that has none of its own.

        Raises:
            AttributeError: there is no such attribute.
        """
        if inspect.ismodule(obj) or (not inspect.isclass(obj) and attr_name in getattr(obj, "__dict__", {})):
            owner, before = obj, getattr(obj, attr_name)
        else:
            owner = obj if inspect.isclass(obj) else type(obj)
            found = [each.__dict__[attr_name] for each in owner.__mro__ if attr_name in each.__dict__]
            if not found:
                raise AttributeError(f"{owner.__name__} has no attribute {attr_name!r}.")
            before = found[0]
        self._cleverly_kept.append((owner, attr_name, before))
        setattr(owner, attr_name, new_attr)

    def SmartUnsetAll(self) -> None:
        """Take back what `SmartSet` replaced."""
        while self._cleverly_kept:
            setattr(*self._cleverly_kept.pop())

    def Set(self, parent, child_name, new_child) -> None:
        """Replace an attribute of exactly this object.

        Raises:
            AttributeError: there is no such attribute.
        """
        before = getattr(parent, child_name)
        if inspect.isclass(parent):
            before = parent.__dict__.get(child_name, before)  # static methods as they stand there
        self._kept.append((parent, child_name, before))
        setattr(parent, child_name, new_child)

    def UnsetAll(self) -> None:
        """Take back what `Set` replaced."""
        while self._kept:
            setattr(*self._kept.pop())
