"""Distinct elements, differences of lists, and parting and stitching tensors by index."""

import math
from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.op.traits import BETWEEN_PROGRAMS, NONE
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.gathering import GATHER_V2, check_indices
from headrace._src.ops.arrays.measuring import SHAPE, SIZE, checked_parts, known_value
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_MIN, UNSORTED_SEGMENT_SUM

if TYPE_CHECKING:
    from headrace._src.attached import Unique, UniqueWithCounts


def _distinct(keys):
    """The first positions of the distinct elements of a vector, and which of them each element is."""
    if keys.dtype == np.object_:
        numbers = {}
        inverse = np.array([numbers.setdefault(key, len(numbers)) for key in keys.tolist()], np.intp)
        first = np.full(len(numbers), keys.size, np.intp)
        np.minimum.at(first, inverse, np.arange(keys.size))
        return first, inverse
    if keys.dtype.kind in "iub" and keys.size:
        low, high = int(keys.min()), int(keys.max())
        if high - low < 4 * keys.size + 1024:
            return _distinct_in_range(keys, low, high - low + 1)
    # bfloat16 and its like sort slowly and compare oddly: their values are exact in float32.
    keys = keys.astype(np.float32) if keys.dtype.kind == "V" else keys
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True, equal_nan=False)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return first[order], rank[inverse.reshape(-1)]


def _distinct_in_range(keys, low, span):
    """The same for integers in a small range, without sorting."""
    places = np.arange(keys.size)
    offsets = keys.astype(np.int64) - low
    first = np.empty(span, np.intp)
    first[offsets[::-1]] = places[::-1]  # of equal keys, the first is written last
    owner = first[offsets]
    is_first = owner == places
    return np.flatnonzero(is_first), (np.cumsum(is_first) - 1)[owner]


def _row_keys(rows):
    """One key for each row of a matrix, equal where the rows are."""
    if rows.dtype == np.object_:
        keys = np.empty(rows.shape[0], object)
        keys[:] = [tuple(row) for row in rows.tolist()]
        return keys
    if rows.shape[1] == 0:
        return np.zeros(rows.shape[0], np.int32)
    keys = np.zeros(rows.shape[0], np.intp)
    for column in rows.T:
        # Number the pairs of what was seen so far and this column.
        _, numbers = _distinct(column)
        keys = _distinct(keys * (numbers.max(initial=0) + 1) + numbers)[1]
    return keys


def _unique(op, x, axis, out_idx, counts):
    numpy_type = out_idx._np
    if axis is None:
        if x.ndim != 1:
            raise errors.invalid_argument(f"{op}: x must be a vector, got shape {x.shape}.")
        first, inverse = _distinct(x)
        y = x[first]
    else:
        rows = np.moveaxis(x, axis, 0)
        first, inverse = _distinct(_row_keys(rows.reshape(rows.shape[0], math.prod(rows.shape[1:]))))
        y = np.moveaxis(rows[first], 0, axis)
    results = (y, inverse.astype(numpy_type))
    if counts:
        results += (np.bincount(inverse, minlength=first.size).astype(numpy_type),)
    return results


def _unique_axis(op, axis, rank):
    if axis.ndim != 1:
        raise errors.invalid_argument(f"{op}: axis must be a vector, got shape {axis.shape}.")
    if axis.size == 0:
        return None
    if axis.size > 1:
        raise errors.invalid_argument(f"{op}: axis must have at most one element, got {axis.tolist()}.")
    at = int(axis[0])
    if not -rank <= at < rank:
        raise errors.invalid_argument(f"{op}: axis must be in [{-rank}, {rank}), got {at}.")
    return at % rank


def _infer_unique(x, axis, counts):
    vector = TensorShape([None])
    if axis is None or (axis.value is not None and axis.value.size == 0):
        places = x.shape if x.shape.rank == 1 else vector
        return (vector, places, vector) if counts else (vector, places)
    others = (vector, vector) if counts else (vector,)
    if axis.value is None or x.shape.rank is None:
        return UNKNOWN, *others
    at = int(axis.value[0]) % x.shape.rank
    others = (TensorShape([x.shape[at]]), *others[1:])
    return TensorShape([None if i == at else n for i, n in enumerate(x.shape)]), *others


def _grad_unique(node, dy, *others):
    """Each distinct element is the first of its equals: the gradient goes there."""
    rank, axis = 1, 0
    if "axis" in node.op.saves:
        rank = len(node.x_shape) if isinstance(node.x_shape, tuple) else node.x_shape.shape[0]
        given = known_value(node.axis)
        if rank is None or given is None:
            raise ValueError(f"{node.op.name}: its gradient needs x of known rank and a constant axis.")
        axis = int(given[0]) % rank if given.size else 0
    length = node.x_shape[axis]
    count = dy.shape[axis] if dy.shape[axis] is not None else SHAPE(dy)[axis]
    first = UNSORTED_SEGMENT_MIN(RANGE(0, length, 1), node.idx, count)
    swap = list(range(rank))
    swap[0], swap[axis] = swap[axis], swap[0]
    rows = UNSORTED_SEGMENT_SUM(TRANSPOSE(dy, swap), first, length)
    return (TRANSPOSE(rows, swap), *[None] * (len(node.op.signature.inputs) - 1))


# How many distinct elements there are depends on data: none of these compile.


def _unique_op(name, counts, traits=NONE):
    """An op for the distinct elements of a vector."""
    return Op(
        name,
        f"x: T, *, out_idx: type = int32 -> y: T, idx: out_idx{', count: out_idx' if counts else ''}",
        traits=traits,
        out_idx=dtypes.INDEX,
        infer=lambda x, out_idx: _infer_unique(x, None, counts),
        kernel=lambda x, out_idx: _unique(name, x, None, out_idx, counts),
        lower=None,
        saves=("x_shape", "idx"),
        grad=_grad_unique,
    )


def _unique_along_op(name, counts, traits=NONE):
    """An op for the distinct parts along an axis."""
    return Op(
        name,
        f"x: T, axis: Taxis, *, out_idx: type = int32 -> y: T, idx: out_idx{', count: out_idx' if counts else ''}",
        traits=traits,
        Taxis=dtypes.INDEX,
        out_idx=dtypes.INDEX,
        infer=lambda x, axis, out_idx: _infer_unique(x, axis, counts),
        kernel=lambda x, axis, out_idx: _unique(name, x, _unique_axis(name, axis, x.ndim), out_idx, counts),
        lower=None,
        saves=("x_shape", "axis", "idx"),
        grad=_grad_unique,
    )


UNIQUE = _unique_op("Unique", counts=False, traits=BETWEEN_PROGRAMS)
UNIQUE_V2 = _unique_along_op("UniqueV2", counts=False, traits=BETWEEN_PROGRAMS)
UNIQUE_WITH_COUNTS = _unique_op("UniqueWithCounts", counts=True)
UNIQUE_WITH_COUNTS_V2 = _unique_along_op("UniqueWithCountsV2", counts=True)


@api("unique")
def unique(x, out_idx=dtypes.int32, name=None) -> "Unique":
    """The distinct elements of a vector, in the order in which they first appear.

    Args:
        x: a vector.
        out_idx: dtype of the positions.
        name: a name for the operation.

    Returns:
        `(y, idx)`, with `x[i] == y[idx[i]]`.

    >>> y, idx = tf.unique([3, 1, 3, 2])
    >>> y.numpy().tolist(), idx.numpy().tolist()
    ([3, 1, 2], [0, 1, 0, 2])
    """
    return UNIQUE(x, out_idx=dtypes.as_dtype(out_idx), name=name)


@api("unique_with_counts")
def unique_with_counts(x, out_idx=dtypes.int32, name=None) -> "UniqueWithCounts":
    """The distinct elements of a vector, and how often each appears.

    Returns:
        `(y, idx, count)`, with `x[i] == y[idx[i]]`.

    >>> tf.unique_with_counts([3, 1, 3, 2]).count.numpy().tolist()
    [2, 1, 1]
    """
    return UNIQUE_WITH_COUNTS(x, out_idx=dtypes.as_dtype(out_idx), name=name)


def _list_diff(x, y, out_idx):
    numpy_type = out_idx._np
    for name, array in (("x", x), ("y", y)):
        if array.ndim != 1:
            raise errors.invalid_argument(f"ListDiff: {name} must be a vector, got shape {array.shape}.")
    if x.dtype == np.object_:
        known = set(y.tolist())
        kept = np.array([item not in known for item in x.tolist()], bool)
    elif x.dtype.kind == "V":
        kept = ~np.isin(x.astype(np.float32), y.astype(np.float32))
    else:
        kept = ~np.isin(x, y)
    places = np.flatnonzero(kept)
    return x[places], places.astype(numpy_type)


LIST_DIFF = Op(
    "ListDiff",
    "x: T, y: T, *, out_idx: type = int32 -> out: T, idx: out_idx",
    infer=lambda x, y, out_idx: (TensorShape([None]), TensorShape([None])),
    kernel=_list_diff,
    lower=None,  # how many elements remain depends on data
    saves=("x_shape", "idx"),
    grad=lambda node, dy, _: (UNSORTED_SEGMENT_SUM(dy, node.idx, node.x_shape[0]), None),
    out_idx=dtypes.INDEX,
)


def _check_prefix(op, argument, shape, prefix, prefix_argument):
    if shape[: len(prefix)] != prefix:
        raise errors.invalid_argument(
            f"{op}: the shape of {argument} must start with that of {prefix_argument}, got {shape} and "
            f"{prefix}."
        )


def _check_partitions(num_partitions):
    if num_partitions < 1:
        raise errors.invalid_argument(
            f"DynamicPartition: num_partitions must be at least 1, got {num_partitions}."
        )
    checked_parts("DynamicPartition", "num_partitions", num_partitions)


def _dynamic_partition(data, partitions, num_partitions):
    _check_partitions(num_partitions)
    _check_prefix("DynamicPartition", "data", data.shape, partitions.shape, "partitions")
    check_indices("DynamicPartition", partitions, num_partitions, "partitions")
    parts = partitions.reshape(-1)
    rows = data.reshape(parts.size, *data.shape[partitions.ndim :])
    # NumPy sorts integers of one or two bytes by counting them, in a fourth of the time.
    keys = parts.astype(np.min_scalar_type(num_partitions - 1), copy=False)
    order = np.argsort(keys, kind="stable")
    ends = np.cumsum(np.bincount(parts, minlength=num_partitions))
    moved = rows.take(order, 0)
    return [moved[end - size : end] for end, size in zip(ends, np.diff(ends, prepend=0))]


def _infer_dynamic_partition(data, partitions, num_partitions):
    _check_partitions(num_partitions)
    if data.shape.rank is None or partitions.shape.rank is None:
        return ([UNKNOWN] * num_partitions,)
    data.shape[: partitions.shape.rank].assert_is_compatible_with(partitions.shape)
    rest = data.shape[partitions.shape.rank :]
    return ([TensorShape([None]).concatenate(rest)] * num_partitions,)


def _grad_dynamic_partition(node, dys):
    # Where each row went, and back.
    partitions = node.partitions
    count = SIZE(partitions)
    numbers = RESHAPE(RANGE(0, count, 1), SHAPE(partitions))
    places = DYNAMIC_PARTITION(numbers, partitions, num_partitions=len(dys))
    return RESHAPE(DYNAMIC_STITCH(places, dys), node.data_shape), None


DYNAMIC_PARTITION = Op(
    "DynamicPartition",
    "data: T, partitions: int32, *, num_partitions: int -> outputs: num_partitions*T",
    traits=BETWEEN_PROGRAMS,
    infer=_infer_dynamic_partition,
    kernel=_dynamic_partition,
    lower=None,  # the sizes of the parts depend on data
    saves=("data_shape", "partitions"),
    grad=_grad_dynamic_partition,
)


@api("dynamic_partition")
def dynamic_partition(data, partitions, num_partitions, name=None) -> list[Tensor]:
    """The rows of `data` put into `num_partitions` tensors, as `partitions` says.

    Args:
        data: a tensor whose shape starts with that of `partitions`.
        partitions: int32, each in [0, num_partitions).
        num_partitions: a Python integer.
        name: a name for the operation.

    >>> [part.numpy().tolist() for part in tf.dynamic_partition([10, 20, 30], [1, 0, 1], 2)]
    [[20], [10, 30]]

    Raises:
        InvalidArgumentError: when a partition is out of range.
    """
    return DYNAMIC_PARTITION(data, partitions, num_partitions=int(num_partitions), name=name)


def _dynamic_stitch(op, indices, data):
    if not indices or len(indices) != len(data):
        raise errors.invalid_argument(
            f"{op}: indices and data must be lists of the same length, at least 1, got {len(indices)} and "
            f"{len(data)}."
        )
    rest = data[0].shape[indices[0].ndim :]
    for i, (places, rows) in enumerate(zip(indices, data)):
        _check_prefix(op, f"data[{i}]", rows.shape, places.shape, f"indices[{i}]")
        if rows.shape[places.ndim :] != rest:
            raise errors.invalid_argument(
                f"{op}: the rows of all data must have one shape, got {rest} and {rows.shape[places.ndim :]}."
            )
        if places.size and places.min() < 0:
            raise errors.invalid_argument(f"{op}: indices[{i}] must not be negative, got {places.min()}.")
    count = max((int(places.max()) + 1 for places in indices if places.size), default=0)
    merged = np.zeros((count, *rest), data[0].dtype)
    if merged.dtype == np.object_:
        merged[...] = b""
    for places, rows in zip(indices, data):
        merged[places.reshape(-1)] = rows.reshape(places.size, *rest)
    return merged


def _lower_dynamic_stitch(ctx, indices, data):
    # Each row of the result comes from the last piece that has it; a row that none has is zero.
    places = np.concatenate([p.reshape(-1) for p in indices])
    rest = data[0].shape[indices[0].ndim :]
    rows = jnp.concatenate([rows.reshape(p.size, *rest) for p, rows in zip(indices, data)])
    count = int(places.max()) + 1 if places.size else 0
    sources = np.full(count, -1)
    sources[places] = np.arange(places.size)
    merged = jnp.take(rows, np.maximum(sources, 0), axis=0) if count else rows[:0]
    missing = (sources < 0).reshape(-1, *[1] * len(rest))
    return jnp.where(missing, jnp.zeros((), merged.dtype), merged) if missing.any() else merged


def _infer_dynamic_stitch(indices, data):
    rest, count = UNKNOWN, 0
    for places, rows in zip(indices, data):
        if places.shape.rank is not None and rows.shape.rank is not None:
            rows.shape[: places.shape.rank].assert_is_compatible_with(places.shape)
            rest = rest.merge_with(rows.shape[places.shape.rank :])
        if places.value is None:
            count = None
        elif count is not None and places.value.size:
            count = max(count, int(places.value.max()) + 1)
    return UNKNOWN if rest.rank is None else TensorShape([count]).concatenate(rest)


def _grad_dynamic_stitch(node, dy):
    return [None] * len(node.indices), [GATHER_V2(dy, places, 0) for places in node.indices]


DYNAMIC_STITCH = Op(
    "DynamicStitch",
    "indices: N*int32, data: N*T -> merged: T",
    infer=_infer_dynamic_stitch,
    kernel=lambda indices, data: _dynamic_stitch("DynamicStitch", indices, data),
    lower=_lower_dynamic_stitch,
    static=("indices",),  # the number of rows depends on them
    saves=("indices",),
    grad=_grad_dynamic_stitch,
)

PARALLEL_DYNAMIC_STITCH = Op(
    "ParallelDynamicStitch",
    "indices: N*int32, data: N*T -> merged: T",
    infer=_infer_dynamic_stitch,
    kernel=lambda indices, data: _dynamic_stitch("ParallelDynamicStitch", indices, data),
    lower=_lower_dynamic_stitch,
    static=("indices",),  # the number of rows depends on them
    saves=("indices",),
    grad=_grad_dynamic_stitch,
)


@api("dynamic_stitch")
def dynamic_stitch(indices, data, name=None) -> Tensor:
    """Rows of several tensors put into one, `data[m][i]` at row `indices[m][i]`; later ones win.

    >>> tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]).numpy().tolist()
    [10, 20, 30]

    Raises:
        ValueError: when the lists differ in length.
        InvalidArgumentError: when shapes do not fit or an index is negative.
    """
    for given, values in (("indices", indices), ("data", data)):
        if isinstance(values, (dict, set, frozenset)):
            raise TypeError(f"dynamic_stitch: {given} must be a list of tensors, got {values!r}.")
    if len(indices) != len(data):
        raise ValueError(
            f"dynamic_stitch: data has {len(data)} elements and indices {len(indices)}: they must agree."
        )
    return DYNAMIC_STITCH([to_tensor(part, hint=dtypes.int32) for part in indices], list(data), name=name)
