"""Reductions over segments of the first axis whose ids are sorted."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import FILL, ONES_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import RANK, checked_dims
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.division import DIV
from headrace._src.ops.math.grouping import add_rows, wide
from headrace._src.ops.math.unsorted_segments import (
    ALL,
    UFUNCS,
    grad_unsorted_extreme,
    grad_unsorted_prod,
    grad_unsorted_sum,
    infer_unsorted,
    initial,
    lower_unsorted,
    product_of_others,
    reduce_rows,
    reduce_unsorted,
)


def _check_sorted(op, data, segment_ids):
    """The number of segments, after checking that the ids are sorted and fit the data."""
    if not data.ndim:
        raise errors.invalid_argument(f"{op}: data must have at least one dimension, got a scalar.")
    if segment_ids.ndim != 1:
        raise errors.invalid_argument(f"{op}: segment_ids must be a vector, got shape {segment_ids.shape}.")
    if segment_ids.size != data.shape[0]:
        raise errors.invalid_argument(
            f"{op}: segment_ids must have one element per row of data, {data.shape[0]}, got "
            f"{segment_ids.size}."
        )
    return check_increasing(op, segment_ids)


def check_increasing(op, segment_ids):
    """The number of segments that sorted ids make; refuses ids that are not sorted or negative."""
    if not segment_ids.size:
        return 0
    if (segment_ids[1:] < segment_ids[:-1]).any():
        at = int(np.argmax(segment_ids[1:] < segment_ids[:-1])) + 1
        raise errors.invalid_argument(
            f"{op}: segment ids are not increasing: segment_ids[{at}] = {int(segment_ids[at])} comes after "
            f"{int(segment_ids[at - 1])}."
        )
    if segment_ids[0] < 0:
        raise errors.invalid_argument(f"{op}: segment ids must not be negative, got {int(segment_ids[0])}.")
    return int(segment_ids[-1]) + 1


def sums_and_counts(data, ids, count):
    """The sums of rows by id, in the dtype that `wide` chose, and the sizes of the segments (at least 1)."""
    rows = wide(data).reshape(ids.size, math.prod(data.shape[1:]))
    sizes = np.maximum(np.bincount(ids, minlength=count), 1)[:, None]
    return add_rows(rows, ids.astype(np.intp, copy=False), count), sizes


def _reduce_runs(kind, rows, ids, count):
    """`reduce_rows` for sorted ids, whose equal ones are neighbours."""
    starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
    found = np.full((count, rows.shape[1]), initial(kind, rows.dtype), rows.dtype)
    found[ids[starts]] = UFUNCS[kind].reduceat(rows, starts, axis=0, dtype=rows.dtype)
    return found


def _sorted(kind, op, data, segment_ids):
    count = _check_sorted(op, data, segment_ids)
    dims = checked_dims(op, "the result", (count, *data.shape[1:]))
    if kind == "mean":
        total, sizes = sums_and_counts(data, segment_ids, count)
        if data.dtype.kind in "iu":
            # TF: integers are divided towards zero.
            found = (np.sign(total) * (np.abs(total) // sizes)).astype(data.dtype)
        else:
            found = total / sizes.astype(total.dtype)
        return found.astype(data.dtype, copy=False).reshape(dims)
    rows = wide(data).reshape(segment_ids.size, math.prod(data.shape[1:]))
    # One after the other (`reduce_rows`), numbers take longer to sum, and the sums are less exact.
    if count and (kind != "sum" or rows.shape[1] == 1):
        found = _reduce_runs(kind, rows, segment_ids, count)
    else:
        found = reduce_rows(kind, rows, segment_ids.astype(np.intp, copy=False), count)
    if kind in ("max", "min") and count:
        # TF: an empty segment is 0 here, unlike in the unsorted reductions.
        found[np.bincount(segment_ids, minlength=count) == 0] = 0
    return found.astype(data.dtype, copy=False).reshape(dims)


def _infer_sorted(data, segment_ids):
    if data.shape.rank is None:
        return UNKNOWN
    count = None if segment_ids.value is None else check_increasing("Segment", segment_ids.value)
    return TensorShape([count, *data.shape[1:]])


def _grad_sorted_sum(node, dy):
    return GATHER_V2(dy, node.segment_ids, 0), None


def _grad_sorted_mean(node, dy):
    ids = node.segment_ids
    sizes = SEGMENT_SUM(ONES_LIKE(CAST(ids, DstT=dy.dtype)), ids)
    # An empty segment has no rows to share among. As integers: complex numbers have no order.
    sizes = MAXIMUM(CAST(sizes, DstT=dtypes.int32), to_tensor(1))
    sizes = CAST(sizes, DstT=dy.dtype)
    if dy.shape.rank is not None:
        column = [-1] + [1] * (dy.shape.rank - 1)
    else:
        rest = RANK(dy) - 1
        column = CONCAT([[-1], FILL(PACK([rest]), to_tensor(1))], 0)
    return GATHER_V2(DIV(dy, RESHAPE(sizes, column)), ids, 0), None


def _grad_sorted_extreme(node, dy):
    ids = node.segment_ids
    selected = EQUAL(node.data, GATHER_V2(node.output, ids, 0))
    ties = SEGMENT_SUM(CAST(selected, DstT=dy.dtype), ids)
    share = dy / MAXIMUM(ties, 1)
    return SELECT_V2(selected, GATHER_V2(share, ids, 0), 0), None


def _grad_sorted_prod(node, dy):
    data, ids = node.data, node.segment_ids
    partial = product_of_others(
        data,
        lambda x: GATHER_V2(SEGMENT_SUM(x, ids), ids, 0),
        lambda x: GATHER_V2(SEGMENT_PROD(x, ids), ids, 0),
    )
    return GATHER_V2(dy, ids, 0) * partial, None


def _vectorize_segments(batch, node, data, ids, *count):
    """The rows of all elements stand side by side."""
    order = [1, 0, *range(2, batch.rank(data) + 1)]
    parameters = [unstacked(ids, "segments"), *(unstacked(x, "number of segments") for x in count)]
    (result,) = batch.apply(node, [TRANSPOSE(data.tensor, order), *parameters])
    return TRANSPOSE(result, order)


def _sorted_op(kind, name, types, saves, grad):
    return Op(
        name,
        "data: T, segment_ids: Tindices -> output: T",
        T=types,
        Tindices=dtypes.INDEX,
        infer=_infer_sorted,
        kernel=lambda data, segment_ids: _sorted(kind, name, data, segment_ids),
        lower=None,  # the number of segments depends on data
        saves=saves,
        grad=grad,
        vectorize=_vectorize_segments,
    )


_SORTED = ("data", "segment_ids", "output")
SEGMENT_SUM = _sorted_op("sum", "SegmentSum", dtypes.NUMBER, ("segment_ids",), _grad_sorted_sum)
SEGMENT_MEAN = _sorted_op("mean", "SegmentMean", dtypes.NUMBER, ("segment_ids",), _grad_sorted_mean)
SEGMENT_PROD = _sorted_op("prod", "SegmentProd", dtypes.NUMBER, _SORTED[:2], _grad_sorted_prod)
SEGMENT_MAX = _sorted_op("max", "SegmentMax", dtypes.REAL, _SORTED, _grad_sorted_extreme)
SEGMENT_MIN = _sorted_op("min", "SegmentMin", dtypes.REAL, _SORTED, _grad_sorted_extreme)


@api("math.segment_sum")
def segment_sum(data, segment_ids, name=None) -> Tensor:
    """Sums of the rows of each segment; an empty segment gives 0.

    Args:
        data: a tensor.
        segment_ids: sorted, one per row of `data`, not negative.
        name: a name for the operation.

    >>> tf.math.segment_sum([[1, 2], [3, 4], [5, 6]], [0, 0, 2]).numpy().tolist()
    [[4, 6], [0, 0], [5, 6]]

    Raises:
        InvalidArgumentError: when the ids are not sorted or do not fit.
    """
    return SEGMENT_SUM(data, segment_ids, name=name)


@api("math.segment_mean")
def segment_mean(data, segment_ids, name=None) -> Tensor:
    """Means of the rows of each segment; an empty segment gives 0. See `tf.math.segment_sum`.

    >>> tf.math.segment_mean([1.0, 2.0, 3.0], [0, 0, 1]).numpy().tolist()
    [1.5, 3.0]
    """
    return SEGMENT_MEAN(data, segment_ids, name=name)


@api("math.segment_prod")
def segment_prod(data, segment_ids, name=None) -> Tensor:
    """Products of the rows of each segment; an empty segment gives 1. See `tf.math.segment_sum`.

    >>> tf.math.segment_prod([2, 3, 4], [0, 0, 1]).numpy().tolist()
    [6, 4]
    """
    return SEGMENT_PROD(data, segment_ids, name=name)


@api("math.segment_max")
def segment_max(data, segment_ids, name=None) -> Tensor:
    """Maxima of the rows of each segment; an empty segment gives 0. See `tf.math.segment_sum`.

    >>> tf.math.segment_max([2, 3, 4], [0, 0, 1]).numpy().tolist()
    [3, 4]
    """
    return SEGMENT_MAX(data, segment_ids, name=name)


@api("math.segment_min")
def segment_min(data, segment_ids, name=None) -> Tensor:
    """Minima of the rows of each segment; an empty segment gives 0. See `tf.math.segment_sum`.

    >>> tf.math.segment_min([2, 3, 4], [0, 0, 1]).numpy().tolist()
    [2, 4]
    """
    return SEGMENT_MIN(data, segment_ids, name=name)


def _sorted_v2(kind, name, data, segment_ids, num_segments):
    if segment_ids.ndim != 1:
        raise errors.invalid_argument(f"{name}: segment_ids must be a vector, got shape {segment_ids.shape}.")
    if segment_ids.size > 1 and (segment_ids[1:] < segment_ids[:-1]).any():
        raise errors.invalid_argument(f"{name}: segment ids are not increasing.")
    return reduce_unsorted(kind, name, data, segment_ids, num_segments)


def _with_count_op(kind, name, types, saves, grad):
    """Like the unsorted op, but the ids must be sorted."""
    return Op(
        name,
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
        T=types,
        Tindices=dtypes.INDEX,
        Tnumsegments=dtypes.INDEX,
        infer=infer_unsorted,
        kernel=lambda data, segment_ids, num_segments: _sorted_v2(
            kind, name, data, segment_ids, num_segments
        ),
        lower=lambda ctx, data, segment_ids, num_segments: lower_unsorted(
            kind, name, ctx, data, segment_ids, num_segments
        ),
        static=("num_segments",),
        saves=saves,
        grad=grad,
        vectorize=_vectorize_segments,
    )


SEGMENT_SUM_V2 = _with_count_op("sum", "SegmentSumV2", dtypes.NUMBER, ("segment_ids",), grad_unsorted_sum)
SEGMENT_PROD_V2 = _with_count_op("prod", "SegmentProdV2", dtypes.NUMBER, ALL[:3], grad_unsorted_prod)
SEGMENT_MAX_V2 = _with_count_op("max", "SegmentMaxV2", dtypes.REAL, ALL, grad_unsorted_extreme)
SEGMENT_MIN_V2 = _with_count_op("min", "SegmentMinV2", dtypes.REAL, ALL, grad_unsorted_extreme)
