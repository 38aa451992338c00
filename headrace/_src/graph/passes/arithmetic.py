"""Arithmetic that changes nothing: `x * 1`, `x - 0`, `--x`, `not not x`, and the like.

Only what is exact to the last bit, signs of zeros and NaN included: so `x + 0.0` stays (it turns -0.0 into 0.0), and
`x + -0.0` goes. Complex numbers are left alone where parts mix, since infinity times zero is NaN.
"""

import functools
import operator

import numpy as np

from headrace._src.graph.passes.steps import Step, kernel_of
from headrace._src.ops.arrays.passing import IDENTITY

_is_compact = operator.attrgetter("forc")  # in C's or Fortran's order, which a new array would have too
_is_in_order = operator.attrgetter("c_contiguous")


def _keeping(step, x, compute, same_layout=_is_compact):
    """A step that hands on `x` as it is. What is scattered in memory is computed: the result is a new array, laid out
    in its own way, and sums over it add in an order that depends on that."""

    def kernel(x):
        return x if same_layout(x.flags) else compute(x)

    return Step(step, record=IDENTITY, inputs=(x,), attrs={}, types={"T": x.dtype}, kernel=kernel)


def _leaves_shape(array, x):
    """Whether broadcasting a constant of this shape against `x` certainly gives `x`'s shape."""
    rank = x._shape.rank
    if array.ndim == 0:
        return True
    if rank is None or array.ndim > rank:
        return False
    if array.size == 1:
        return True
    return x._shape.is_fully_defined() and array.flags.c_contiguous and array.shape == tuple(x._shape.as_list())


def _neutral(is_neutral, kinds, both=False):
    """A rule for `x op c` (and `c op x`) where `c` is neutral."""

    def rule(step, known):
        x, y = step.inputs
        if x.dtype._kind not in kinds:
            return None
        kernel = kernel_of(step) or step.record.kernel
        for value, constant in ((x, y), (y, x)) if both else ((x, y),):
            array = known.constant(constant)
            if array is not None and _leaves_shape(array, value) and is_neutral(array):
                # Of a constant with many elements the order counts, too.
                same_layout = _is_compact if array.size == 1 else _is_in_order
                compute = _with_second(kernel, array) if constant is y else functools.partial(kernel, array)
                return _keeping(step, value, compute, same_layout)
        return None

    return rule


def _with_second(kernel, array):
    return lambda x: kernel(x, array)


def _is_one(array):
    return bool((array == 1).all())


def _is_zero_to_add(array):
    """-0.0 for floating numbers, 0 for integers."""
    if (array != 0).any():
        return False
    return array.dtype.kind in "iu" or _signs(array).all()


def _is_zero_to_subtract(array):
    if (array != 0).any():
        return False
    return array.dtype.kind in "iu" or not _signs(array).any()


def _signs(array):
    """Whether each number (each part of a complex one) has its sign bit set."""
    if array.dtype.kind == "c":
        return np.concatenate([np.signbit(array.real).ravel(), np.signbit(array.imag).ravel()])
    return np.signbit(array.astype(np.float64))


def _short_power(step, known):
    """`x ** 1`."""
    x, y = step.inputs
    array = known.constant(y)
    if array is None or array.ndim or x.dtype._kind not in "fi" or array != 1:
        return None
    return _keeping(step, x, np.positive)


def _undoing(name):
    def rule(step, known):
        inner = known.producer(step.inputs[0], name)
        kernel = step.record.kernel
        return None if inner is None else _keeping(step, inner.inputs[0], lambda x: kernel(kernel(x)))

    return rule


def _idempotent(name):
    """f(f(x)) is f(x)."""

    def rule(step, known):
        x = step.inputs[0]
        if known.producer(x, name) is None or x.dtype._kind not in "fi":
            return None
        return _keeping(step, x, step.record.kernel)

    return rule


def _of_equals(step, known):
    """max(x, x), x & x, ..."""
    x, y = step.inputs
    kernel = step.record.kernel
    return _keeping(step, x, lambda x: kernel(x, x)) if x is y and x.dtype._kind in "fiub" else None


RULES = {
    "Mul": _neutral(_is_one, "fiu", both=True),
    "AddV2": _neutral(_is_zero_to_add, "fciu", both=True),
    "Add": _neutral(_is_zero_to_add, "fciu", both=True),
    "Sub": _neutral(_is_zero_to_subtract, "fciu"),
    "RealDiv": _neutral(_is_one, "f"),
    "Div": _neutral(_is_one, "fiu"),
    "FloorDiv": _neutral(_is_one, "iu"),
    "TruncateDiv": _neutral(_is_one, "iu"),
    "DivNoNan": _neutral(_is_one, "f"),
    "Pow": _short_power,
    "Neg": _undoing("Neg"),
    "LogicalNot": _undoing("LogicalNot"),
    "Invert": _undoing("Invert"),
    "Conj": _undoing("Conj"),
    "Abs": _idempotent("Abs"),
    "Relu": _idempotent("Relu"),
    "Relu6": _idempotent("Relu6"),
    "Floor": _idempotent("Floor"),
    "Ceil": _idempotent("Ceil"),
    "Rint": _idempotent("Rint"),
    "Round": _idempotent("Round"),
    "Sign": _idempotent("Sign"),
    "Maximum": _of_equals,
    "Minimum": _of_equals,
    "LogicalAnd": _of_equals,
    "LogicalOr": _of_equals,
    "BitwiseAnd": _of_equals,
    "BitwiseOr": _of_equals,
}
