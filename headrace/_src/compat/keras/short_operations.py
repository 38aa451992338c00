"""Short ways through Keras's operations and variables, for eager tensors of one floating dtype.

Keras finds out for each call which dtype the result has, and compares shapes to see what an addition adds.
"""

from __future__ import annotations

import functools
import importlib
import operator

from headrace._src.core.context import context
from headrace._src.core.dtypes import bfloat16, float16, float32, float64, int32, int64
from headrace._src.core.lazy import LazyModule
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.linalg import matmul as products
from headrace._src.ops.math import arithmetic
from headrace._src.state.variables import Variable

_bias = LazyModule("headrace._src.ops.nn.bias")

_FLOATS = frozenset((float16, bfloat16, float32, float64))
_NUMBERS = _FLOATS | {int32, int64}


def _is_eager():
    mode = context.mode
    return mode is None or not mode.elsewhere


def _beside(x, other):
    """`other`, a tensor or a variable of Keras, as an eager tensor of x's dtype; None where it is something else."""
    if type(x) is not EagerTensor or x.dtype not in _FLOATS:
        return None
    if type(other) is not EagerTensor:
        inner = getattr(other, "_value", None)
        if type(inner) is not Variable or not hasattr(other, "_maybe_autocast"):
            return None  # no variable of Keras
        other = to_tensor(other.value)
        if type(other) is not EagerTensor:
            return None
    return other if other.dtype is x.dtype else None


def with_matrices(original):
    """`matmul`, for two matrices."""

    @functools.wraps(original)
    def matmul(x1, x2):
        other = _beside(x1, x2) if _is_eager() else None
        if other is None or x1._a.ndim != 2 or other._a.ndim != 2:
            return original(x1, x2)
        return products.matmul(x1, other, output_type=None)  # errors tell the arguments that Keras gives

    return matmul


def with_biases(original):
    """`add`, which is `bias_add` where the second looks like a bias."""

    @functools.wraps(original)
    def add(x1, x2):
        other = _beside(x1, x2) if _is_eager() else None
        if other is None:
            return original(x1, x2)
        shape = x1._a.shape
        long = [size for size in other._a.shape if size > 1]
        if len(long) == 1 and len(shape) > 1 and long[0] in (shape[1], shape[-1]):
            if other._a.ndim == 1 and long[0] == shape[-1]:
                return _bias.bias_add(x1, other)
            return original(x1, other)
        return arithmetic.add(x1, other)

    return add


# Variables.


class ShortValue(property):
    """`Variable.value`, which looks once whether a scope has another value for it."""

    def __init__(self, original):
        state = importlib.import_module("keras.src.backend.common.global_state")

        def value(self):
            inner = self._value
            scopes = state.GLOBAL_STATE_TRACKER.__dict__
            if inner is None or scopes.get("stateless_scope") is not None or scopes.get("autocast_scope") is not None:
                return original.fget(self)
            return inner

        super().__init__(value, original.fset, original.fdel, original.__doc__)


def _is_beside(value, dtype):
    """Whether what is computed of a value and a variable of that dtype has the same dtype."""
    kind = type(value)
    if kind is int:
        return dtype in _NUMBERS
    return dtype in _FLOATS if kind is float else kind is EagerTensor and value.dtype is dtype


def _changing(change):
    def with_fitting_values(original):
        """`assign_add` or `assign_sub`, of a number or an eager tensor of the variable's dtype."""
        scope = importlib.import_module("keras.src.backend.common.stateless_scope")

        @functools.wraps(original)
        def assign(self, value):
            inner = self.value
            if (
                type(inner) is not Variable
                or not _is_eager()
                or not _is_beside(value, inner.dtype)
                or scope.in_stateless_scope()
            ):
                return original(self, value)
            before = inner.value()
            result = change(before, value)
            if result.shape != before.shape:
                return original(self, value)
            inner.assign(result)
            return result

        return assign

    return with_fitting_values


with_sums = _changing(operator.add)
with_differences = _changing(operator.sub)
