"""Assertions on values, which fail when the program runs: `tf.debugging.assert_equal` and its kin."""

import sys
from typing import Any

import numpy as np

from headrace._src.core import device_use, dtypes, errors
from headrace._src.core.context import HOST, context
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.observers import add_observer, remove_observer
from headrace._src.op.options import truth
from headrace._src.op.traits import CHANGES_NOTHING, TAKES_STRINGS
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.passing import NO_OP
from headrace._src.ops.debugging.tensor_summary import summarize_flat
from headrace._src.ops.math.arithmetic import ADD, MUL, SUB
from headrace._src.ops.math.comparison import equal, greater, greater_equal, less, less_equal, not_equal
from headrace._src.ops.math.complex_numbers import COMPLEX_ABS
from headrace._src.ops.math.elementwise import ABS
from headrace._src.ops.math.reductions import ALL, reduce_all


def _assert(condition, data, summarize):
    if condition.ndim:
        raise errors.invalid_argument(f"Assert: condition must be a scalar, got shape {condition.shape}.")
    if not condition:
        texts = " ".join(summarize_flat(array, summarize) for array in data)
        raise errors.invalid_argument(f"assertion failed: {texts}")


def _lower_assert(ctx, condition, data, summarize):
    ctx.check(condition, errors.InvalidArgumentError, "assertion failed")


def _vectorize_assert(batch, node, condition, data):
    holds = condition.tensor
    if condition.stacked:
        holds = ALL(holds, to_tensor(list(range(batch.rank(condition) + 1)), dtypes.int32))
    batch.apply(node, [holds, data])
    return []


ASSERT = Op(
    "Assert",
    "condition: bool, data: list(T), *, summarize: int = 3 -> ",
    traits=CHANGES_NOTHING | TAKES_STRINGS,
    infer=lambda condition, data, summarize: (),
    kernel=_assert,
    lower=_lower_assert,
    stateful=True,
    grad=None,
    vectorize=_vectorize_assert,
)


@api("debugging.Assert", "Assert")
def Assert(condition, data, summarize=None, name=None) -> Any:
    """Raise with `data` in the message unless `condition` holds.

    >>> tf.debugging.Assert(tf.reduce_all([1, 2] == tf.constant([1, 2])), ["not equal"])

    Args:
        condition: a boolean scalar, or a list of booleans all of which must hold.
        data: tensors or values to show when it does not.
        summarize: how many elements of each to show; 3 when None.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: when the condition is false.
    """
    count = 3 if summarize is None else summarize
    listed = isinstance(condition, (list, tuple))  # TF: an array is refused
    condition = to_tensor(condition)
    if isinstance(condition, EagerTensor):
        # TF: no conditions at all do not hold, as an empty list is false
        if not (condition._a.size and condition._a.all() if listed else truth("condition", condition)):
            texts = " ".join(summarize_flat(to_tensor(item)._a, count) for item in data)
            raise errors.invalid_argument(f"Assert: the condition is false. Data: {texts}")
        return None
    if condition.dtype is not dtypes.bool:
        condition = CAST(condition, DstT=dtypes.bool)
    if condition.shape.rank != 0:
        condition = reduce_all(condition)
    return ASSERT(condition, [to_tensor(item) for item in data], summarize=count, name=name)


def passed():
    """What an assertion that holds already returns: in a graph an operation, which others may depend on."""
    return None if context.graph is None else NO_OP()


def _prefix(message):
    return f"{message}. " if truth("message", message) else ""


def _rows(values, count):
    return "[" + " ".join(str(item) for item in values[:count]) + ("..." if len(values) > count else "") + "]"


def _comparison_error(prefix, name, symbol, x, y, holds, summarize):
    """The error for an element-wise comparison that does not hold everywhere."""
    count = 3 if summarize is None else sys.maxsize if summarize < 0 else summarize
    # TF: tests of other packages look for "did not hold" and "element-wise".
    lines = [f"{prefix}{name}: Condition x {symbol} y did not hold element-wise."]
    a, b, holds = (_known(tensor) for tensor in (x, y, holds))
    if x.shape == y.shape and a.ndim:
        wrong = ~holds
        places = np.argwhere(wrong)[:count].tolist()
        lines += [
            f"Indices of the first {len(places)} of {int(wrong.sum())} such elements: {places}",
            f"There, x is {_rows(a[wrong].tolist(), count)}",
            f"and y is {_rows(b[wrong].tolist(), count)}",
        ]
    for label, array in (("x", a), ("y", b)):
        lines.append(f"{label} has shape {array.shape} and begins {_rows(array.ravel().tolist(), count)}")
    return errors.invalid_argument("\n".join(lines))


def _known(tensor):
    """The value of a tensor when it is known now, otherwise None."""
    return tensor._a if isinstance(tensor, EagerTensor) else tensor._known


def _compare(name, symbol, compare, x, y, message, summarize):
    prefix = _prefix(message)
    x, y = to_tensor(x), to_tensor(y)
    holds = compare(x, y)
    condition = reduce_all(holds)
    if all(_known(tensor) is not None for tensor in (condition, x, y, holds)):
        # TF: in a graph what can be seen already fails while it is built.
        if not _known(condition):
            raise _comparison_error(prefix, name, symbol, x, y, holds, summarize)
        return passed()
    data = [f"{prefix}{name}: Condition x {symbol} y did not hold element-wise. x:", x, "y:", y]
    return Assert(condition, data, summarize=summarize)


@api("debugging.assert_equal", "assert_equal", elementwise=2, asserts=True)
def assert_equal(x, y, message=None, summarize=None, name=None) -> Any:
    """Raise unless `x == y` for all elements, with broadcasting.

    >>> tf.debugging.assert_equal([1, 2], [1, 2])

    Args:
        x, y: tensors.
        message: begins the message of the error.
        summarize: how many elements the message shows; 3 when None, all when negative.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: when it does not hold.
    """
    return _compare("debugging.assert_equal", "==", equal, x, y, message, summarize)


@api("debugging.assert_none_equal", elementwise=2, asserts=True)
def assert_none_equal(x, y, summarize=None, message=None, name=None) -> Any:
    """Raise unless `x != y` for all elements, with broadcasting; see `assert_equal`."""
    return _compare("debugging.assert_none_equal", "!=", not_equal, x, y, message, summarize)


@api("debugging.assert_less", "assert_less", elementwise=2, asserts=True)
def assert_less(x, y, message=None, summarize=None, name=None) -> Any:
    """Raise unless `x < y` for all elements, with broadcasting; see `assert_equal`."""
    return _compare("debugging.assert_less", "<", less, x, y, message, summarize)


@api("debugging.assert_less_equal", elementwise=2, asserts=True)
def assert_less_equal(x, y, message=None, summarize=None, name=None) -> Any:
    """Raise unless `x <= y` for all elements, with broadcasting; see `assert_equal`."""
    return _compare("debugging.assert_less_equal", "<=", less_equal, x, y, message, summarize)


@api("debugging.assert_greater", "assert_greater", elementwise=2, asserts=True)
def assert_greater(x, y, message=None, summarize=None, name=None) -> Any:
    """Raise unless `x > y` for all elements, with broadcasting; see `assert_equal`."""
    return _compare("debugging.assert_greater", ">", greater, x, y, message, summarize)


@api("debugging.assert_greater_equal", elementwise=2, asserts=True)
def assert_greater_equal(x, y, message=None, summarize=None, name=None) -> Any:
    """Raise unless `x >= y` for all elements, with broadcasting; see `assert_equal`."""
    return _compare("debugging.assert_greater_equal", ">=", greater_equal, x, y, message, summarize)


def _against_zero(name, symbol, compare, x, message, summarize):
    x = to_tensor(x)
    return _compare(name, symbol, compare, x, to_tensor(0, x.dtype), message, summarize)


@api("debugging.assert_negative")
def assert_negative(x, message=None, summarize=None, name=None) -> Any:
    """Raise InvalidArgumentError unless all elements are below 0; see `assert_equal`."""
    return _against_zero("debugging.assert_negative", "<", less, x, message, summarize)


@api("debugging.assert_positive")
def assert_positive(x, message=None, summarize=None, name=None) -> Any:
    """Raise InvalidArgumentError unless all elements are above 0; see `assert_equal`."""
    return _against_zero("debugging.assert_positive", ">", greater, x, message, summarize)


@api("debugging.assert_non_negative")
def assert_non_negative(x, message=None, summarize=None, name=None) -> Any:
    """Raise InvalidArgumentError unless all elements are at least 0; see `assert_equal`."""
    return _against_zero("debugging.assert_non_negative", ">=", greater_equal, x, message, summarize)


@api("debugging.assert_non_positive")
def assert_non_positive(x, message=None, summarize=None, name=None) -> Any:
    """Raise InvalidArgumentError unless all elements are at most 0; see `assert_equal`."""
    return _against_zero("debugging.assert_non_positive", "<=", less_equal, x, message, summarize)


@api("debugging.assert_near", elementwise=2, asserts=True)
def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None) -> Any:
    """Raise unless `|x - y| <= atol + rtol * |y|` for all elements, with broadcasting.

    >>> tf.debugging.assert_near([1.0, 2.0], [1.0, 2.0000002])

    Args:
        x, y: floating or complex tensors.
        rtol, atol: the relative and the absolute tolerance; ten times the dtype's epsilon when None.
        message: begins the message of the error.
        summarize: how many elements the message shows.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: when it does not hold.
        ValueError: for integers, which have no epsilon.
    """
    x = to_tensor(x)
    y = to_tensor(y, x.dtype)
    real = x.dtype.real_dtype
    if not real.is_floating:
        raise ValueError(f"debugging.assert_near: x must be floating or complex, got {x.dtype.name}.")
    epsilon = 10 * float(np.finfo(np.float16).eps if real == dtypes.bfloat16 else np.finfo(real._np).eps)
    rtol = to_tensor(epsilon if rtol is None else rtol, real)
    atol = to_tensor(epsilon if atol is None else atol, real)

    def size(z):
        return COMPLEX_ABS(z, Tout=real) if z.dtype.is_complex else ABS(z)

    difference = size(SUB(x, y))
    bound = ADD(atol, MUL(rtol, size(y)))

    def near(x, y):
        return less(difference, bound)  # TF: its documents say "at most"

    return _compare("debugging.assert_near", "~", near, x, y, message, summarize)


def _log_placement(op, arrays, attrs, results):
    sys.stderr.write(f"Executing op {op.name} in device {context.device or HOST}\n")


_logging_placement = False


@api("debugging.get_log_device_placement", dispatch=False)
def get_log_device_placement() -> bool:
    """Whether every op that runs is logged with its device."""
    return _logging_placement


@api("debugging.set_log_device_placement", dispatch=False, told=True)
def set_log_device_placement(enabled) -> None:
    """Write a line to stderr for every op that runs, saying on which device; or stop doing so.

    Of a function's graph, a line for each operation says where it is placed, when it first runs.

    Args:
        enabled: whether to do so.
    """
    global _logging_placement
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool, got {type(enabled).__name__}.")
    if enabled and not _logging_placement:
        add_observer(_log_placement)
    elif _logging_placement and not enabled:
        remove_observer(_log_placement)
    _logging_placement = device_use.logs_placement = bool(enabled)
