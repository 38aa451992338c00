"""Short ways through Keras's losses, for eager tensors without masks and weights."""

from __future__ import annotations

import functools
import importlib

from headrace._src.compat.keras.errors import entered
from headrace._src.core.context import context
from headrace._src.core.dtypes import float32, float64, int64
from headrace._src.core.lazy import LazyModule
from headrace._src.core.names import close_scope, open_scope
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.math.division import divide_no_nan
from headrace._src.ops.math.reductions import reduce_sum

_softmax = LazyModule("headrace._src.ops.nn.softmax")

_MEANS = ("sum_over_batch_size", "mean", "mean_with_sample_weight")
# Keras counts elements in int32, and float16 has no such numbers.
_MOST, _DTYPES = 2**31, frozenset((float32, float64))

_MOST_NAMES = 1000


def _are_eager(first, second):
    mode = context.mode
    is_here = mode is None or not (mode.elsewhere or mode.place is not None)
    return is_here and type(first) is EagerTensor and type(second) is EagerTensor


def short_call(original):
    """`Loss.__call__`, for two eager tensors."""
    losses = importlib.import_module("keras.src.losses.loss")
    backend = importlib.import_module("keras.src.backend")
    state = importlib.import_module("keras.src.backend.common.global_state")
    scopes_of: dict = {}  # by name: those of losses have no caller

    @functools.wraps(original)
    def __call__(self, y_true, y_pred, sample_weight=None):
        if sample_weight is not None or not _are_eager(y_true, y_pred) or "_keras_mask" in y_pred.__dict__:
            return original(self, y_true, y_pred, sample_weight)
        name = self.name
        scope = scopes_of.get(name)
        if scope is None:
            if len(scopes_of) > _MOST_NAMES:
                scopes_of.clear()
            scope = scopes_of[name] = backend.name_scope(name)
        tracker = state.GLOBAL_STATE_TRACKER.__dict__
        open_scopes = tracker.get("name_scope_stack")
        if open_scopes is None:
            open_scopes = tracker["name_scope_stack"] = []
        open_scopes.append(scope)
        before = open_scope(name)
        try:
            y_pred = backend.convert_to_tensor(y_pred, dtype=self.dtype)
            y_true = backend.convert_to_tensor(y_true, dtype=self.dtype)
            values = self.call(y_true, y_pred)
            mask = backend.get_keras_mask(values)
            return losses.reduce_weighted_values(
                values, sample_weight=None, mask=mask, reduction=self.reduction, dtype=self.dtype
            )
        finally:
            close_scope(before)
            if open_scopes:
                open_scopes.pop()

    return entered(__call__)


def with_known_shapes(original):
    """`sparse_categorical_crossentropy` of logits, where the shapes of eager tensors fit at a look."""

    @functools.wraps(original)
    def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
        if from_logits and axis == -1 and _are_eager(target, output) and "_keras_logits" not in output.__dict__:
            if output._a.ndim == 2 and target._a.shape == output._a.shape[:1]:
                return _softmax.sparse_softmax_cross_entropy_with_logits(cast(target, int64), output)
        return original(target, output, from_logits=from_logits, axis=axis)

    return sparse_categorical_crossentropy


def with_eager_pairs(original):
    """`LossFunctionWrapper.call`, which has no structures to walk through where both are tensors."""
    squeeze = importlib.import_module("keras.src.losses.losses").squeeze_or_expand_to_same_rank

    @functools.wraps(original)
    def call(self, y_true, y_pred):
        if not _are_eager(y_true, y_pred):
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
            or not _are_eager(values, values)
            or sample_weight is not None
            or values.dtype not in _DTYPES
            or not 0 < values._a.size < _MOST
            or not values._a.ndim
        ):
            return original(values, sample_weight, reduction)
        loss = reduce_sum(values)
        return loss if is_sum else divide_no_nan(loss, to_tensor(float(values._a.size), values.dtype))

    return reduce_values
