"""Choosing elements by a condition: where and select."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape, broadcast_shapes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.traits import BETWEEN_PROGRAMS, ELEMENTWISE, FAILS_BY_SHAPE, UNCHECKED
from headrace._src.ops.arrays.broadcasting import sum_to
from headrace._src.ops.arrays.constants import zeros
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.math.limit_kernels import mask_of


def _where(input):
    if input.dtype != np.bool_ or input.ndim < 2:
        return np.argwhere(input).astype(np.int64, copy=False)
    flat = np.flatnonzero(input)
    places = np.empty((flat.size, input.ndim), np.int64)
    for column, found in zip(places.T, np.unravel_index(flat, input.shape)):
        column[:] = found
    return places


WHERE = Op(
    "Where",
    "input: T -> index: int64",
    traits=UNCHECKED | BETWEEN_PROGRAMS,
    raw_names={"input": "condition"},
    T=dtypes.NUMBER | dtypes.BOOL | dtypes.QUANTIZED,
    infer=lambda input: TensorShape([None, input.shape.rank]),
    kernel=_where,
    lower=None,  # how many elements are true depends on data
    grad=None,
)


_BRANCHLESS_FROM = 2048
_WORDS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
# From so many elements on, rows are copied as a whole.
_LONG_ROW = 64


def _select(condition, t, e):
    if t.shape == e.shape and condition.ndim <= t.ndim:
        if condition.size == 1:
            return t if condition.item() else e
        rows = condition.shape[0]
        if condition.size == rows == t.shape[0] and condition.ndim == t.ndim and t.size >= _LONG_ROW * rows:
            return _select_long_rows(condition.reshape(-1), t, e)
    if (t.size < _BRANCHLESS_FROM and e.size < _BRANCHLESS_FROM) or t.dtype == np.object_:
        return np.where(condition, t, e)
    word = _WORDS.get(t.dtype.itemsize)
    if word is None:
        return np.where(condition, t, e)
    # e ^ ((t ^ e) & mask) on the bits: no branches to guess wrong, up to ten times quicker for mixed conditions.
    mask = np.asarray(mask_of(condition, t.dtype.itemsize))
    if e.size == 1 and not e.view(word).any() and t.ndim >= e.ndim and _covers(mask, t):
        return np.bitwise_and(mask, t.view(word), out=mask).view(t.dtype)
    t_bits, e_bits = t.view(word), e.view(word)
    out = np.asarray(t_bits ^ e_bits)
    out = np.bitwise_and(out, mask, out=out) if _covers(out, mask) else out & mask
    out = np.bitwise_xor(out, e_bits, out=out) if _covers(out, e_bits) else out ^ e_bits
    return out.view(t.dtype)


def _select_long_rows(condition, t, e):
    """Each row from one of two arrays: all from one that lies in one piece, then the others put in their places."""
    first, other, rows = (t, e, ~condition) if t.flags.c_contiguous else (e, t, condition)
    result = first.copy()
    result[rows] = other[rows]
    return result


def _covers(out, other):
    """Whether the result of combining both has the shape of `out`."""
    return np.broadcast_shapes(out.shape, other.shape) == out.shape


def _infer_select(condition, t, e):
    return broadcast_shapes(broadcast_shapes(t.shape, e.shape), condition.shape)


def _grad_select(node, dy):
    condition, zero = node.condition, zeros((), dy.dtype)
    t = e = None
    if node.wants(1):
        t = sum_to(SELECT_V2(condition, dy, zero), node.t_shape, node.output_shape)
    if node.wants(2):
        e = sum_to(SELECT_V2(condition, zero, dy), node.e_shape, node.output_shape)
    return None, t, e


SELECT_V2 = Op(
    "SelectV2",
    "condition: bool, t: T, e: T -> output: T",
    traits=ELEMENTWISE | FAILS_BY_SHAPE,
    infer=_infer_select,
    kernel=_select,
    lower=lambda ctx, condition, t, e: jnp.where(condition, t, e),
    saves=("condition", "t_shape", "e_shape", "output_shape"),
    grad=_grad_select,
)


def _row_condition(op, condition, t, e):
    """The condition in a shape that broadcasts: it may be one value, one per row, or one per element."""
    if t.shape != e.shape:
        raise errors.invalid_argument(f"{op}: t and e must have the same shape, got {t.shape} and {e.shape}.")
    if condition.ndim == 0 or condition.shape == t.shape:
        return condition
    if condition.ndim != 1:
        raise errors.invalid_argument(
            f"{op}: condition must be a scalar, a vector or of shape {t.shape}, got shape {condition.shape}."
        )
    if not t.ndim or condition.shape[0] != t.shape[0]:
        raise errors.invalid_argument(
            f"{op}: a vector condition must have one element per row of t, whose shape is {t.shape}, got "
            f"{condition.shape[0]}."
        )
    return condition.reshape((-1,) + (1,) * (t.ndim - 1))


def _select_rows(condition, t, e):
    return np.where(_row_condition("Select", condition, t, e), t, e)


def _grad_select_rows(node, dy):
    zero = ZEROS_LIKE(dy)
    condition = node.condition
    return None, SELECT(condition, dy, zero), SELECT(condition, zero, dy)


def _vectorize_select(batch, node, condition, x, y):
    # TF: a vector chooses rows, a scalar everything; otherwise all shapes are equal.
    rank = max(batch.rank(x), batch.rank(y))
    chooser = batch.stack(condition)
    for _ in range(rank - batch.rank(condition)):
        chooser = EXPAND_DIMS(chooser, -1)
    return SELECT_V2(chooser, batch.stack(x), batch.stack(y))


SELECT = Op(
    "Select",
    "condition: bool, t: T, e: T -> output: T",
    raw_names={"t": "x", "e": "y"},
    infer=lambda condition, t, e: t.shape.merge_with(e.shape),
    kernel=_select_rows,
    lower=lambda ctx, condition, t, e: jnp.where(_row_condition("Select", condition, t, e), t, e),
    saves=("condition",),
    grad=_grad_select_rows,
    vectorize=_vectorize_select,
)


@api("where")
def where(condition, x=None, y=None, name=None) -> Tensor:
    """`x` where the condition is true and `y` elsewhere; or, without them, the positions that are true.

    Args:
        condition: booleans; without `x` and `y`, also numbers, of which those that are not 0 count as true.
        x, y: tensors of one dtype; all three broadcast.
        name: a name for the operation.

    Returns:
        A tensor like `x` and `y`; or int64 of shape (number of true elements, rank).

    >>> tf.where([True, False], [1, 2], [3, 4]).numpy().tolist()
    [1, 4]
    >>> tf.where([[True, False], [False, True]]).numpy().tolist()
    [[0, 0], [1, 1]]

    Raises:
        ValueError: when only one of `x` and `y` is given.
    """
    if x is None and y is None:
        return WHERE(condition, name=name)
    if x is None or y is None:
        raise ValueError("where: x and y must both be given or both be None.")
    return SELECT_V2(condition, x, y, name=name)
