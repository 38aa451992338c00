"""Arithmetic that changes nothing: `x * 1`, `x - 0`, `--x`, `not not x`, and the like.

Only what is exact to the last bit, signs of zeros and NaN included: so `x + 0.0` stays (it turns -0.0 into 0.0), and
`x + -0.0` goes. Complex numbers are left alone where parts mix, since infinity times zero is NaN.
"""

import functools
import operator

from headrace._src.graph.passes.steps import Step, kernel_of
from headrace._src.op.traits import IDEMPOTENT, INVOLUTION
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


def _neutral(step, known):
    """`x op c` and `c op x`, where `c` is neutral."""
    x, y = step.inputs
    neutral = step.record.neutral
    if x.dtype._kind not in neutral.kinds:
        return None
    kernel = kernel_of(step) or step.record.kernel
    for value, constant in ((x, y), (y, x)) if neutral.first else ((x, y),):
        array = known.constant(constant)
        if array is None or (neutral.scalars and array.ndim):
            continue
        if _leaves_shape(array, value) and neutral.test(array):
            # Of a constant with many elements the order counts, too.
            same_layout = _is_compact if array.size == 1 else _is_in_order
            compute = _with_second(kernel, array) if constant is y else functools.partial(kernel, array)
            return _keeping(step, value, compute, same_layout)
    return None


def _with_second(kernel, array):
    return lambda x: kernel(x, array)


def _undoing(step, known):
    """f(f(x)) is x."""
    inner = known.producer(step.inputs[0], step.record)
    kernel = step.record.kernel
    return None if inner is None else _keeping(step, inner.inputs[0], lambda x: kernel(kernel(x)))


def _of_itself(step, known):
    """f(f(x)) is f(x)."""
    x = step.inputs[0]
    if known.producer(x, step.record) is None or x.dtype._kind not in "fi":
        return None
    return _keeping(step, x, step.record.kernel)


def _of_equals(step, known):
    """f(x, x) is x: of maximum, and, or."""
    x, y = step.inputs
    kernel = step.record.kernel
    return _keeping(step, x, lambda x: kernel(x, x)) if x is y and x.dtype._kind in "fiub" else None


def rule_of(record):
    """The rule for an op, by what its record says; None when it says nothing of that kind."""
    if record.neutral is not None:
        return _neutral
    if INVOLUTION in record.traits:
        return _undoing
    if IDEMPOTENT in record.traits:
        return _of_itself if len(record.signature.inputs) == 1 else _of_equals
    return None
