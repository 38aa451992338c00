"""Short ways through Keras's losses, for eager tensors without masks and weights."""

from __future__ import annotations

import functools
import importlib

from headrace._src.core.context import context
from headrace._src.core.dtypes import float32, float64
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.math.division import divide_no_nan
from headrace._src.ops.math.reductions import reduce_sum

_MEANS = ("sum_over_batch_size", "mean", "mean_with_sample_weight")
# Keras counts elements in int32, and float16 has no such numbers.
_MOST, _DTYPES = 2**31, frozenset((float32, float64))


def _is_eager(*tensors):
    mode = context.mode
    is_here = mode is None or not (mode.elsewhere or mode.place is not None)
    return is_here and all([type(tensor) is EagerTensor for tensor in tensors])


def with_eager_pairs(original):
    """`LossFunctionWrapper.call`, which has no structures to walk through where both are tensors."""
    squeeze = importlib.import_module("keras.src.losses.losses").squeeze_or_expand_to_same_rank

    @functools.wraps(original)
    def call(self, y_true, y_pred):
        if not _is_eager(y_true, y_pred):
            return original(self, y_true, y_pred)
        y_true, y_pred = squeeze(y_true, y_pred)
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    return call


def with_known_sizes(original):
    """`reduce_values`, which knows how many values an eager tensor has."""

    @functools.wraps(original)
    def reduce_values(values, sample_weight=None, reduction="sum_over_batch_size"):
        is_sum = reduction == "sum"
        if (
            (not is_sum and reduction not in _MEANS)
            or not _is_eager(values)
            or sample_weight is not None
            or values.dtype not in _DTYPES
            or not 0 < values._a.size < _MOST
            or not values._a.ndim
        ):
            return original(values, sample_weight, reduction)
        loss = reduce_sum(values)
        return loss if is_sum else divide_no_nan(loss, to_tensor(float(values._a.size), values.dtype))

    return reduce_values
