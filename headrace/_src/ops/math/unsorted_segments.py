"""Reductions over segments whose ids need not be sorted."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
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
from headrace._src.ops.arrays.measuring import RANK, SHAPE, checked_dims
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.complex_numbers import CONJ
from headrace._src.ops.math.division import DIV
from headrace._src.ops.math.elementwise import SQRT
from headrace._src.ops.math.grouping import add_rows, combine_rows, highest, lowest, wide

UFUNCS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def initial(kind, dtype):
    """What an empty segment of an unsorted reduction holds."""
    if kind == "sum":
        return dtype.type(0)
    if kind == "prod":
        return dtype.type(1)
    return lowest(dtype) if kind == "max" else highest(dtype)


def reduce_rows(kind, rows, ids, count):
    """Rows of shape (n, width) reduced by id, in the dtype that `wide` chose."""
    if kind == "sum":
        return add_rows(rows, ids, count)
    out = np.full((count, rows.shape[1]), initial(kind, rows.dtype), rows.dtype)
    return combine_rows(UFUNCS[kind], rows, ids, out)


def _count(op, num_segments):
    if num_segments.ndim:
        raise errors.invalid_argument(f"{op}: num_segments must be a scalar, got shape {num_segments.shape}.")
    count = int(num_segments)
    if count < 0:
        raise errors.invalid_argument(f"{op}: num_segments must not be negative, got {count}.")
    return count


def reduce_unsorted(kind, op, data, segment_ids, num_segments):
    count = _count(op, num_segments)
    rank = segment_ids.ndim
    if data.shape[:rank] != segment_ids.shape:
        raise errors.invalid_argument(
            f"{op}: the shape of data must start with that of segment_ids, got {data.shape} and "
            f"{segment_ids.shape}."
        )
    ids = segment_ids.reshape(-1)
    if ids.size and ids.max() >= count:
        at = int(np.argmax(ids >= count))
        place = ",".join(str(int(i)) for i in np.unravel_index(at, segment_ids.shape)) if rank else ""
        raise errors.invalid_argument(
            f"{op}: segment_ids[{place}] = {int(ids[at])} is out of range [0, {count})"
        )
    rest = data.shape[rank:]
    dims = checked_dims(op, "the result", (count, *rest))
    rows = wide(data).reshape(ids.size, math.prod(rest))
    if ids.size and ids.min() < 0:
        # Rows with a negative id belong to no segment.
        kept = ids >= 0
        ids, rows = ids[kept], rows[kept]
    found = reduce_rows(kind, rows, ids.astype(np.intp, copy=False), count).reshape(dims)
    if found.dtype == data.dtype:
        return found
    if kind in ("max", "min"):
        found = np.clip(found, np.float32(lowest(data.dtype)), np.float32(highest(data.dtype)))
    return found.astype(data.dtype)



def lower_unsorted(kind, op, ctx, data, segment_ids, num_segments):
    count = _count(op, np.asarray(num_segments))
    rest = data.shape[segment_ids.ndim :]
    ids = segment_ids.reshape(-1)
    ctx.check(jnp.all(ids < count), errors.InvalidArgumentError, f"{op}: a segment id is not below {count}.")
    rows = data.reshape(ids.shape[0], *rest)
    # Negative ids are sent past the end, where jax drops them.
    ids = jnp.where(ids < 0, count, ids)
    if kind == "sum":
        return jnp.zeros((count, *rest), data.dtype).at[ids].add(rows, mode="drop")
    out = jnp.full((count, *rest), initial(kind, np.dtype(data.dtype)), data.dtype)
    at = out.at[ids]
    return (at.multiply if kind == "prod" else at.max if kind == "max" else at.min)(rows, mode="drop")


def infer_unsorted(data, segment_ids, num_segments):
    if data.shape.rank is None or segment_ids.shape.rank is None:
        return UNKNOWN
    if segment_ids.shape.rank > data.shape.rank:
        raise errors.invalid_argument(
            f"segment_ids must have no more dimensions than data, got {segment_ids.shape} and {data.shape}."
        )
    data.shape[: segment_ids.shape.rank].assert_is_compatible_with(segment_ids.shape)
    count = None if num_segments.value is None else _count("UnsortedSegment", num_segments.value)
    return TensorShape([count, *data.shape[segment_ids.shape.rank :]])


def _drop_negatives(x, ids):
    """`x[ids]` with zeros where the id is negative; and where it is not, to broadcast with it."""
    taken = GATHER_V2(x, MAXIMUM(ids, 0), 0)
    kept = ids >= 0
    if taken.shape.rank is not None and ids.shape.rank is not None:
        extra = [1] * (taken.shape.rank - ids.shape.rank)
        shape = [*ids.shape, *extra] if ids.shape.is_fully_defined() else None
    else:
        shape = extra = None
    if shape is None:
        if extra is None:
            extra = FILL(PACK([RANK(taken) - RANK(ids)]), to_tensor(1))
        shape = CONCAT([SHAPE(ids), to_tensor(extra, dtypes.int32)], 0)
    kept = RESHAPE(kept, shape)
    return SELECT_V2(kept, taken, 0), kept


def grad_unsorted_sum(node, dy):
    return _drop_negatives(dy, node.segment_ids)[0], None, None


def grad_unsorted_extreme(node, dy):
    """Shared evenly by the elements that are the extreme of their segment."""
    ids, count = node.segment_ids, node.num_segments
    extremes, kept = _drop_negatives(node.output, ids)
    selected = EQUAL(node.data, extremes) & kept
    ties = UNSORTED_SEGMENT_SUM(CAST(selected, DstT=dy.dtype), ids, count)
    # A segment without elements has none to share among.
    share = dy / MAXIMUM(ties, 1)
    taken, _ = _drop_negatives(share, ids)
    return SELECT_V2(selected, taken, 0), None, None


def product_of_others(data, sums, products):
    """What each element is multiplied with, without dividing by zero.

    Args:
        data: the elements.
        sums, products: functions that give, for each element, the sum or product over its segment.
    """
    is_zero = EQUAL(data, 0)
    zeros = CAST(is_zero, DstT=dtypes.int32)
    others = sums(zeros) - zeros
    factors = SELECT_V2(is_zero, 1, data)
    product = products(factors)
    if data.dtype._kind == "c":
        product, factors = CONJ(product), CONJ(factors)
    partial = DIV(product, factors)
    return SELECT_V2(EQUAL(others, 0), partial, 0)


def grad_unsorted_prod(node, dy):
    data, ids, count = node.data, node.segment_ids, node.num_segments
    partial = product_of_others(
        data,
        lambda x: _drop_negatives(UNSORTED_SEGMENT_SUM(x, ids, count), ids)[0],
        lambda x: _drop_negatives(UNSORTED_SEGMENT_PROD(x, ids, count), ids)[0],
    )
    return _drop_negatives(dy, ids)[0] * partial, None, None


def _vectorize_unsorted_segments(batch, node, data, ids, count):
    """Each element has segments of its own: their numbers follow those of the element before."""
    number = unstacked(count, "number of segments")
    segments = batch.stack(ids)
    offset = CAST(batch.numbers(), DstT=segments.dtype) * CAST(number, DstT=segments.dtype)
    for _ in range(batch.rank(ids)):
        offset = EXPAND_DIMS(offset, -1)
    segments = SELECT_V2(segments < 0, segments, segments + offset)
    size = CAST(to_tensor(batch.size), DstT=number.dtype)
    (result,) = batch.apply(node, [batch.stack(data), segments, number * size])
    number = RESHAPE(CAST(number, DstT=dtypes.int32), [1])
    return RESHAPE(result, batch.join(batch.size_vector(), number, SHAPE(result)[1:]))


def _unsorted_op(kind, name, types, saves, grad):
    return Op(
        name,
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
        T=types,
        Tindices=dtypes.INDEX | {dtypes.int16},
        Tnumsegments=dtypes.INDEX,
        infer=infer_unsorted,
        kernel=lambda data, segment_ids, num_segments: reduce_unsorted(
            kind, name, data, segment_ids, num_segments
        ),
        lower=lambda ctx, data, segment_ids, num_segments: lower_unsorted(
            kind, name, ctx, data, segment_ids, num_segments
        ),
        static=("num_segments",),
        saves=saves,
        grad=grad,
        vectorize=_vectorize_unsorted_segments,
    )


ALL = ("data", "segment_ids", "num_segments", "output")
UNSORTED_SEGMENT_SUM = _unsorted_op(
    "sum", "UnsortedSegmentSum", dtypes.NUMBER, ("segment_ids",), grad_unsorted_sum
)
UNSORTED_SEGMENT_PROD = _unsorted_op(
    "prod", "UnsortedSegmentProd", dtypes.NUMBER, ALL[:3], grad_unsorted_prod
)
UNSORTED_SEGMENT_MAX = _unsorted_op("max", "UnsortedSegmentMax", dtypes.REAL, ALL, grad_unsorted_extreme)
UNSORTED_SEGMENT_MIN = _unsorted_op("min", "UnsortedSegmentMin", dtypes.REAL, ALL, grad_unsorted_extreme)


@api("math.unsorted_segment_sum")
def unsorted_segment_sum(data, segment_ids, num_segments, name=None) -> Tensor:
    """Sums over segments that need not be sorted; an empty segment gives 0.

    Args:
        data: a tensor whose shape starts with that of `segment_ids`.
        segment_ids: below `num_segments`; elements with a negative id are dropped.
        num_segments: the number of rows of the result.
        name: a name for the operation.

    >>> tf.math.unsorted_segment_sum([1, 2, 3], [1, 0, 1], 2).numpy().tolist()
    [2, 4]

    Raises:
        InvalidArgumentError: when an id is too large.
    """
    return UNSORTED_SEGMENT_SUM(data, segment_ids, num_segments, name=name)


@api("math.unsorted_segment_prod")
def unsorted_segment_prod(data, segment_ids, num_segments, name=None) -> Tensor:
    """Products over segments that need not be sorted; an empty segment gives 1.

    >>> tf.math.unsorted_segment_prod([1, 2, 3], [1, 0, 1], 3).numpy().tolist()
    [2, 3, 1]
    """
    return UNSORTED_SEGMENT_PROD(data, segment_ids, num_segments, name=name)


@api("math.unsorted_segment_max")
def unsorted_segment_max(data, segment_ids, num_segments, name=None) -> Tensor:
    """Maxima over segments that need not be sorted; an empty segment gives the dtype's lowest value.

    >>> tf.math.unsorted_segment_max([1, 2, 3], [1, 0, 1], 2).numpy().tolist()
    [2, 3]
    """
    return UNSORTED_SEGMENT_MAX(data, segment_ids, num_segments, name=name)


@api("math.unsorted_segment_min")
def unsorted_segment_min(data, segment_ids, num_segments, name=None) -> Tensor:
    """Minima over segments that need not be sorted; an empty segment gives the dtype's greatest value.

    >>> tf.math.unsorted_segment_min([1, 2, 3], [1, 0, 1], 2).numpy().tolist()
    [2, 1]
    """
    return UNSORTED_SEGMENT_MIN(data, segment_ids, num_segments, name=name)


def _counts(data, segment_ids, num_segments):
    """The number of elements of each segment, at least 1, in a shape that divides the segments' sums."""
    ones = ONES_LIKE(CAST(segment_ids, DstT=data.dtype))
    count = UNSORTED_SEGMENT_SUM(ones, segment_ids, num_segments)
    count = MAXIMUM(count, 1)
    if data.shape.rank is not None and segment_ids.shape.rank is not None:
        return RESHAPE(count, [-1] + [1] * (data.shape.rank - segment_ids.shape.rank))
    ones = FILL(PACK([RANK(data) - RANK(segment_ids)]), to_tensor(1))
    return RESHAPE(count, CONCAT([[-1], ones], 0))


@api("math.unsorted_segment_mean")
def unsorted_segment_mean(data, segment_ids, num_segments, name=None) -> Tensor:
    """Means over segments that need not be sorted; an empty segment gives 0.

    >>> tf.math.unsorted_segment_mean([1.0, 2.0, 3.0], [1, 0, 1], 2).numpy().tolist()
    [2.0, 2.0]
    """
    data, segment_ids = to_tensor(data), to_tensor(segment_ids)
    total = UNSORTED_SEGMENT_SUM(data, segment_ids, num_segments)
    return total / _counts(data, segment_ids, num_segments)


@api("math.unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None) -> Tensor:
    """Sums over segments that need not be sorted, divided by the square root of their sizes.

    >>> tf.math.unsorted_segment_sqrt_n([1.0, 2.0, 3.0, 1.0, 1.0], [1, 0, 1, 1, 1], 2).numpy().tolist()
    [2.0, 3.0]
    """
    data, segment_ids = to_tensor(data), to_tensor(segment_ids)
    total = UNSORTED_SEGMENT_SUM(data, segment_ids, num_segments)
    return total / SQRT(_counts(data, segment_ids, num_segments))
