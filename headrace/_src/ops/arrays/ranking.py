"""The greatest elements and where they are: top_k, argmax, the n-th element."""

import math
from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import LazyModule, jnp, lax
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import along_axes, merging, on_last_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.op.lanes import MANY
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.scattering import SCATTER_ND
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.arrays.small_integers import integers
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.reductions import PROD

if TYPE_CHECKING:
    from headrace._src.attached import TopKV2

parts = LazyModule("headrace._src.core.parts")  # many programs have no large arrays

# With fewer elements than this, or more than a part of them wanted, all are sorted.
_PARTITION_FROM = 256
# From so many elements of a row on, only those are looked at that can be among the greatest: at least so many groups
# for each that is wanted, of at least so many elements.
_GROUPS_FROM, _GROUPS_FOR_EACH, _SMALLEST_GROUP = 512, 4, 16


def comparable(x):
    """An array that NumPy sorts quickly, in the same order."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


_PLACE = np.uint64(0xFFFFFFFF)


def _keys(x):
    """Numbers of at most 32 bits as distinct 64-bit keys, in descending order of value and then of position.

    NumPy sorts plain integers many times quicker than positions. NaN, of either sign, comes last.
    """
    if x.dtype.kind == "f":
        bits = (x + np.float32(0)).view(np.uint32)  # adding 0 makes 0 of -0
        ascending = bits ^ ((bits.view(np.int32) >> 31).view(np.uint32) | np.uint32(0x80000000))
        # Counted from infinity, whose complement is 0x7FFFFF, all NaN wrap around to the end.
        values = ~ascending - np.uint32(0x7FFFFF)
    else:
        values = np.iinfo(x.dtype).max - x.astype(np.int64)
    keys = values.astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= np.arange(x.shape[-1], dtype=np.uint64)
    return keys


def _has_keys(x):
    return x.dtype == np.float32 or (x.dtype.kind in "iu" and x.dtype.itemsize <= 4)


def descending(x):
    """Positions along the last axis from the greatest element to the least; equal ones in order, NaN last."""
    if _has_keys(x):
        keys = _keys(x)
        keys.sort(-1)
        return (keys & _PLACE).view(np.int64)
    # Sorted in reverse twice, so that equal elements keep their order.
    order = x.shape[-1] - 1 - np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    if x.dtype.kind in "fc" and x.size:
        lost = np.isnan(np.take_along_axis(x, order, -1))
        if lost.any():
            order = np.take_along_axis(order, np.argsort(lost, axis=-1, kind="stable"), -1)
    return order


def top_positions(x, k):
    """Positions of the k greatest elements along the last axis, from the greatest to the least."""
    n = x.shape[-1]
    if k == 1 and x.ndim and x.size:
        places = np.argmax(x, -1)[..., None]
        # NumPy takes NaN for the greatest, here it comes last.
        if x.dtype.kind != "f" or not np.isnan(np.take_along_axis(x, places, -1)).any():
            return places
    if x.size and n >= _GROUPS_FROM and 0 < k <= n // (_GROUPS_FOR_EACH * _SMALLEST_GROUP) and _has_keys(x):
        places = _top_of_groups(x.reshape(-1, n), k)
        if places is not None:
            return places.reshape(*x.shape[:-1], k)
    if n >= _PARTITION_FROM and 0 < k <= n // 4 and _has_keys(x):
        keys = np.partition(_keys(x), k - 1, -1)[..., :k]
        keys.sort(-1)
        return (keys & _PLACE).view(np.int64)
    if n < _PARTITION_FROM or k > n // 8 or k == 0 or (x.dtype.kind == "f" and np.isnan(x).any()):
        return descending(x)[..., :k]
    rows = x.reshape(-1, n)
    # All that is above the k-th greatest value, then those equal to it, in order.
    limit = np.partition(rows, n - k, axis=-1)[:, n - k, None]
    above = rows > limit
    wanted = k - above.sum(-1, keepdims=True)
    level = rows == limit
    chosen = above | (level & (np.cumsum(level, -1) <= wanted))
    places = np.nonzero(chosen)[1].reshape(rows.shape[0], k)
    order = descending(np.take_along_axis(rows, places, -1))
    return np.take_along_axis(places, order, -1).reshape(*x.shape[:-1], k)


def _top_of_groups(rows, k):
    """`top_positions` of long rows; None where there are NaN, or too many elements equal the least of the greatest.

    The k-th greatest of the maxima of groups is a bound: k elements at least are no less, and all that are wanted.
    """
    count, n = rows.shape
    groups = min(n // _SMALLEST_GROUP, max(_GROUPS_FOR_EACH * k, int(n**0.5)))
    size = n // groups
    # Groups of elements that stand far from each other: their maxima are those of columns, which NumPy finds quickly.
    maxima = rows[:, : groups * size].reshape(count, size, groups).max(1)
    rest = rows[:, groups * size :]
    if rows.dtype.kind == "f" and (np.isnan(maxima).any() or np.isnan(rest).any()):
        return None
    bound = np.partition(maxima, groups - k, -1)[:, groups - k, None]
    candidates = np.flatnonzero(rows >= bound)
    if candidates.size > rows.size // 8:
        return None
    row, place = np.divmod(candidates, n)
    each = np.bincount(row, minlength=count)
    # The candidates' keys, row by row from the left, and what is behind all others.
    keys = np.full((count, each.max()), ~np.uint64(0))
    column = np.arange(candidates.size) - np.repeat(np.cumsum(each) - each, each)
    values = _keys(rows.reshape(-1)[candidates, None])[:, 0]
    keys[row, column] = values | place.astype(np.uint64)
    keys.sort(-1)
    return (keys[:, :k] & _PLACE).view(np.int64)


def check_k(op, shape, k):
    if not shape:
        raise errors.invalid_argument(f"{op}: input must have at least one dimension, got a scalar.")
    if k < 0:
        raise errors.invalid_argument(f"{op}: k must not be negative, got {k}.")
    if shape[-1] is not None and shape[-1] < k:
        raise errors.invalid_argument(f"{op}: input must have at least k = {k} columns, got {shape[-1]}.")


def _scalar_k(op, k):
    k = np.asarray(k)
    if k.ndim:
        raise errors.invalid_argument(f"{op}: k must be a scalar, got shape {k.shape}.")
    return int(k)


def _top_k(op, input, k, index_type):
    check_k(op, input.shape, k)
    if input.shape[-1] > np.iinfo(index_type).max:
        raise errors.invalid_argument(f"{op}: {input.shape[-1]} columns cannot be counted in {index_type}.")
    places = top_positions(comparable(input), k)
    values = input[places] if input.ndim == 1 else np.take_along_axis(input, places, -1)
    return values, places.astype(index_type)


def _lower_top_k(op, input, k, index_type):
    check_k(op, input.shape, k)
    if jnp.issubdtype(input.dtype, np.unsignedinteger) or input.dtype == np.float64:
        # XLA's top-k takes no unsigned numbers on all devices: sort the complement instead.
        key = ~input if jnp.issubdtype(input.dtype, np.unsignedinteger) else -input
        places = jnp.argsort(key, axis=-1, stable=True)[..., :k]
        return jnp.take_along_axis(input, places, -1), places.astype(index_type)
    values, places = lax.top_k(input, k)
    return values, places.astype(index_type)


def _infer_top_k(input, k):
    if input.shape.rank is None:
        return UNKNOWN, UNKNOWN
    if k is not None:
        check_k("TopK", tuple(input.shape), k)
    shape = input.shape[:-1].concatenate([k])
    return shape, shape


def _grad_top_k(node, dy):
    """The gradient of each value goes to its place."""
    shape = node.input_shape
    if isinstance(shape, tuple):
        rows, n, size = math.prod(shape[:-1]), shape[-1], math.prod(shape)
    else:
        n, size = shape[-1], PROD(shape, [0])
        rows = PROD(shape[:-1], [0])
    places = CAST(node.indices, DstT=dtypes.int64)
    n = CAST(to_tensor(n), DstT=dtypes.int64)
    starts = RANGE(to_tensor(0, dtypes.int64), CAST(to_tensor(rows), DstT=dtypes.int64),
                        to_tensor(1, dtypes.int64)) * n  # fmt: skip
    k = node.indices.shape[-1] if node.indices.shape.rank is not None else None
    if k is None:
        k = SHAPE(node.indices)[-1]
    places = RESHAPE(places, [rows, k]) + RESHAPE(starts, [-1, 1])
    flat = SCATTER_ND(
        RESHAPE(places, [-1, 1]),
        RESHAPE(dy, [-1]),
        RESHAPE(CAST(to_tensor(size), DstT=dtypes.int64), [1]),
    )
    return RESHAPE(flat, shape)


_INDEX_TYPES = dtypes.INDEX | {dtypes.int16}


TOP_K_V2 = Op(
    "TopKV2",
    "input: T, k: Tk, *, sorted: bool = True, index_type: type = int32 -> values: T, indices: index_type",
    T=dtypes.REAL,
    Tk=_INDEX_TYPES,
    infer=lambda input, k, sorted, index_type: _infer_top_k(
        input, None if k.value is None else _scalar_k("TopKV2", k.value)
    ),
    kernel=lambda input, k, sorted, index_type: _top_k(
        "TopKV2", input, _scalar_k("TopKV2", k), index_type._np
    ),
    lower=lambda ctx, input, k, sorted, index_type: _lower_top_k(
        "TopKV2", input, _scalar_k("TopKV2", k), index_type._np
    ),
    static=("k",),
    saves=("input_shape", "indices"),
    grad=lambda node, dy, _: (_grad_top_k(node, dy), None),
    vectorize=on_last_axes(),
    index_type=_INDEX_TYPES,
)

TOP_K = Op(
    "TopK",
    "input: T, *, k: int, sorted: bool = True -> values: T, indices: int32",
    T=dtypes.REAL,
    infer=lambda input, k, sorted: _infer_top_k(input, k),
    kernel=lambda input, k, sorted: _top_k("TopK", input, k, np.dtype(np.int32)),
    lower=lambda ctx, input, k, sorted: _lower_top_k("TopK", input, k, np.int32),
    saves=("input_shape", "indices"),
    grad=lambda node, dy, _: (_grad_top_k(node, dy),),
    vectorize=on_last_axes(),
)


@api("math.top_k", "nn.top_k")
def top_k(input, k=1, sorted=True, index_type=dtypes.int32, name=None) -> "TopKV2":
    """The k greatest elements along the last axis, from the greatest on, and their positions.

    Args:
        input: a tensor of real numbers.
        k: how many.
        sorted: accepted for compatibility: the result is always sorted.
        index_type: int16, int32 or int64.
        name: a name for the operation.

    Returns:
        `(values, indices)`; of equal elements, the first comes first. NaN comes last.

    >>> values, indices = tf.math.top_k([1, 3, 2, 3], k=2)
    >>> values.numpy().tolist(), indices.numpy().tolist()
    ([3, 3], [1, 3])

    Raises:
        InvalidArgumentError: when there are fewer than `k` elements.
    """
    return TOP_K_V2(input, integers(k), sorted=sorted, index_type=dtypes.as_dtype(index_type), name=name)


_EXTREME_TYPES = dtypes.REAL | dtypes.BOOL | dtypes.QUANTIZED


def _extreme_axis(op, shape, dimension):
    dimension = np.asarray(dimension)
    if dimension.size != 1 or dimension.ndim:
        raise errors.invalid_argument(f"{op}: dimension must be a scalar, got shape {dimension.shape}.")
    at, rank = int(dimension), len(shape)
    if not -rank <= at < rank:
        raise errors.invalid_argument(f"{op}: dimension must be in [{-rank}, {rank}), got {at}.")
    if shape[at] == 0:
        raise errors.invalid_argument(f"{op}: dimension {at % rank} is empty in shape {shape}.")
    return at % rank


def _found_nan(x, found, axis):
    """Whether what was found is NaN, which NumPy takes for the greatest and the least."""
    if x.size < 4096:
        return np.isnan(x).any()
    return np.isnan(np.take_along_axis(x, np.expand_dims(found, axis), axis)).any()


# Rows of at most so many elements are gone through column by column, if there are many of them: NumPy calls a function
# for each row.
_SHORT, _MANY_ROWS = 16, 1024
# Those that NumPy compares by vector instructions.
_COMPARED = frozenset("fdbhilqBHILQ")
_BETTER = {np.argmax: (np.greater, np.maximum), np.argmin: (np.less, np.minimum)}


def _place_in_short_rows(find, rows):
    """`find(rows, 1)`; None where a row has a NaN."""
    is_better, better = _BETTER[find]
    places = np.empty(len(rows), np.int8)
    saw_nan = []

    def compare(part):
        columns = rows[part].T.copy()
        best, at = columns[0], places[part]
        at[...] = 0
        is_later, later = np.empty(len(at), bool), np.empty(len(at), np.int8)
        for number in range(1, len(columns)):
            is_better(columns[number], best, out=is_later)
            better(best, columns[number], out=best)
            np.multiply(is_later.view(np.int8), np.int8(number), out=later)
            np.maximum(at, later, out=at)  # who is better later stands later
        if best.dtype.kind == "f" and np.isnan(best).any():
            saw_nan.append(part)

    if rows.size > MANY:
        parts.in_long_slices(compare, len(rows), rows.shape[1])
    else:
        compare(slice(0, len(rows)))
    return None if saw_nan else places


def _place(find, x, axis):
    """`find(x, axis)`; None where a NaN was found, which NumPy takes for the greatest and the least."""
    width = x.shape[axis]
    if axis == x.ndim - 1 and 1 < width <= _SHORT and x.size >= _MANY_ROWS * width:
        if x.flags.c_contiguous and x.dtype.char in _COMPARED:
            places = _place_in_short_rows(find, x.reshape(-1, width))
            return None if places is None else places.reshape(x.shape[:-1])
    places = find(x, axis)
    return None if x.dtype.kind == "f" and _found_nan(x, places, axis) else places


def _extreme(op, find, worst, input, dimension, output_type):
    axis = _extreme_axis(op, input.shape, dimension)
    x = comparable(input)
    found = _place(find, x, axis)
    if found is None:
        # TF: NaN is never the greatest nor the least.
        found = find(np.where(np.isnan(x), worst, x), axis)
    return found.astype(output_type._np)


def _infer_extreme(op, input, dimension):
    shape = input.shape
    if shape.rank is None:
        return UNKNOWN
    if dimension.value is None:
        return TensorShape([None] * (shape.rank - 1))
    axis = _extreme_axis(op, tuple(shape), dimension.value)
    return TensorShape([n for i, n in enumerate(shape) if i != axis])


def _lower_extreme(op, find, worst, input, dimension, output_type):
    axis = _extreme_axis(op, input.shape, dimension)
    if jnp.issubdtype(input.dtype, np.floating):
        input = jnp.where(jnp.isnan(input), jnp.asarray(worst, input.dtype), input)
    return getattr(jnp, find)(input, axis).astype(output_type._np)


def _extreme_op(name, find, worst, allowed):
    return Op(
        name,
        "input: T, dimension: Tidx, *, output_type: type = int64 -> output: output_type",
        T=_EXTREME_TYPES,
        Tidx=_INDEX_TYPES,
        output_type=allowed,
        infer=lambda input, dimension, output_type: _infer_extreme(name, input, dimension),
        kernel=lambda input, dimension, output_type: _extreme(
            name, getattr(np, find), worst, input, dimension, output_type
        ),
        lower=lambda ctx, input, dimension, output_type: _lower_extreme(
            name, find, worst, input, dimension, output_type
        ),
        static=("dimension",),
        grad=None,
        vectorize=along_axes,
    )


ARG_MAX = _extreme_op("ArgMax", "argmax", -np.inf, dtypes.INDEX | {dtypes.int16, dtypes.uint16})
ARG_MIN = _extreme_op("ArgMin", "argmin", np.inf, dtypes.INDEX)


def _index_axis(op, axis):
    if axis is None:
        return 0
    if isinstance(axis, (list, tuple)):
        raise TypeError(f"{op}: axis must be an integer or a scalar integer tensor, got {axis!r}.")
    return axis


@api("math.argmax", "argmax")
def argmax(input, axis=None, output_type=dtypes.int64, name=None) -> Tensor:
    """Where the greatest element along an axis is; of equal ones, the first. NaN is passed over.

    Args:
        input: a tensor of real numbers.
        axis: the axis, 0 if None.
        output_type: int16, uint16, int32 or int64.
        name: a name for the operation.

    >>> tf.argmax([[1, 5, 2], [7, 0, 3]], axis=1).numpy().tolist()
    [1, 0]
    """
    return ARG_MAX(input, integers(_index_axis("argmax", axis)), output_type=dtypes.as_dtype(output_type), name=name)


@api("math.argmin", "argmin")
def argmin(input, axis=None, output_type=dtypes.int64, name=None) -> Tensor:
    """Where the least element along an axis is; of equal ones, the first. NaN is passed over.

    >>> tf.argmin([[1, 5, 2], [7, 0, 3]], axis=1).numpy().tolist()
    [0, 1]
    """
    return ARG_MIN(input, integers(_index_axis("argmin", axis)), output_type=dtypes.as_dtype(output_type), name=name)


def _in_top_k(op, predictions, targets, k):
    if predictions.ndim != 2:
        raise errors.invalid_argument(f"{op}: predictions must be a matrix, got shape {predictions.shape}.")
    if targets.ndim != 1:
        raise errors.invalid_argument(f"{op}: targets must be a vector, got shape {targets.shape}.")
    rows, classes = predictions.shape
    if targets.shape[0] != rows:
        raise errors.invalid_argument(
            f"{op}: predictions must have one row per target, got {rows} rows and {targets.shape[0]} targets."
        )
    inside = (targets >= 0) & (targets < classes)
    if not classes:
        return inside
    own = np.take_along_axis(predictions, np.where(inside, targets, 0)[:, None], 1)
    better = np.count_nonzero(predictions > own, 1)
    # TF: where a prediction is not finite, nothing can be said.
    return inside & (better < k) & np.isfinite(predictions).all(1)


def _lower_in_top_k(predictions, targets, k):
    classes = predictions.shape[1]
    inside = (targets >= 0) & (targets < classes)
    own = jnp.take_along_axis(predictions, jnp.where(inside, targets, 0)[:, None], 1)
    better = jnp.sum(predictions > own, 1)
    return inside & (better < k) & jnp.all(jnp.isfinite(predictions), 1)


def _infer_in_top_k(predictions, targets, k=None):
    return targets.shape if targets.shape.rank is not None else TensorShape([None])


IN_TOP_K = Op(
    "InTopK",
    "predictions: float32, targets: T, *, k: int -> precision: bool",
    T=dtypes.INDEX,
    infer=_infer_in_top_k,
    kernel=lambda predictions, targets, k: _in_top_k("InTopK", predictions, targets, k),
    lower=lambda ctx, predictions, targets, k: _lower_in_top_k(predictions, targets, k),
    grad=None,
    vectorize=merging(2),
)

IN_TOP_K_V2 = Op(
    "InTopKV2",
    "predictions: float32, targets: T, k: T -> precision: bool",
    T=dtypes.INDEX,
    infer=_infer_in_top_k,
    kernel=lambda predictions, targets, k: _in_top_k(
        "InTopKV2", predictions, targets, _scalar_k("InTopKV2", k)
    ),
    lower=lambda ctx, predictions, targets, k: _lower_in_top_k(predictions, targets, k),
    grad=None,
    vectorize=merging(2),
)


@api("math.in_top_k", "nn.in_top_k")
def in_top_k(targets, predictions, k, name=None) -> Tensor:
    """Whether the prediction for each target is among the k greatest of its row.

    Args:
        targets: a vector of class numbers; one that is out of range gives False.
        predictions: float32 of shape (batch, classes); a row that is not finite gives False.
        k: a scalar.
        name: a name for the operation.

    >>> tf.math.in_top_k([1, 0], [[0.1, 0.2], [0.1, 0.2]], 1).numpy().tolist()
    [True, False]
    """
    return IN_TOP_K_V2(to_tensor(predictions, dtypes.float32), targets, k, name=name)


def _position_n(op, shape, n, reverse):
    n = np.asarray(n)
    if n.ndim:
        raise errors.invalid_argument(f"{op}: n must be a scalar, got shape {n.shape}.")
    n = int(n)
    if not shape:
        raise errors.invalid_argument(f"{op}: input must have at least one dimension, got a scalar.")
    if n < 0:
        raise errors.invalid_argument(f"{op}: n must not be negative, got {n}.")
    if shape[-1] <= n:
        raise errors.invalid_argument(
            f"{op}: the last dimension of input must be more than n = {n}, got {shape}."
        )
    return shape[-1] - 1 - n if reverse else n


def _nth_element(input, n, reverse):
    at = _position_n("NthElement", input.shape, n, reverse)
    return np.partition(comparable(input), at, -1)[..., at].astype(input.dtype)


def _lower_nth_element(ctx, input, n, reverse):
    return jnp.sort(input, axis=-1)[..., _position_n("NthElement", input.shape, n, reverse)]


def _grad_nth_element(node, dy):
    """Shared evenly by the elements that are equal to it."""
    chosen = EQUAL(EXPAND_DIMS(node.values, -1), node.input)
    chosen = CAST(chosen, DstT=dy.dtype)
    share = chosen / SUM(chosen, -1, keep_dims=True)
    return share * EXPAND_DIMS(dy, -1), None


NTH_ELEMENT = Op(
    "NthElement",
    "input: T, n: int32, *, reverse: bool = False -> values: T",
    T=dtypes.REAL,
    infer=lambda input, n, reverse: UNKNOWN if input.shape.rank is None else input.shape[:-1],
    kernel=_nth_element,
    lower=_lower_nth_element,
    static=("n",),
    saves=("input", "values"),
    grad=_grad_nth_element,
    vectorize=on_last_axes(),
)
