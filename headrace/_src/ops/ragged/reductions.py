"""Reductions of ragged tensors along any dimension, and what is made of them: softmax, cumsum, segments."""

import functools

from headrace._src.core import dtypes
from headrace._src.op.convert import to_tensor
from headrace._src.op.dispatch import dispatch_for_types
from headrace._src.ops.arrays import constants, shaping
from headrace._src.ops.arrays.filling import ONES_LIKE, ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.passing import STOP_GRADIENT
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE
from headrace._src.ops.math import (
    arithmetic,
    bincounts,
    cumulative,
    division,
    elementwise,
    reductions,
    statistics,
    unsorted_segments,
)
from headrace._src.ops.math.arithmetic import ADD, MAXIMUM, MINIMUM
from headrace._src.ops.math.comparison import EQUAL, GREATER
from headrace._src.ops.math.elementwise import IS_FINITE
from headrace._src.ops.math.reductions import ALL, MAX
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_MAX
from headrace._src.ops.nn import softmax
from headrace._src.ops.ragged import row_arithmetic as rows
from headrace._src.ops.ragged.joining import expand_dims
from headrace._src.ops.ragged.row_arithmetic import cast_to, require
from headrace._src.ops.ragged.tensor import RaggedTensor, normalized_axis, tensor_or_ragged
from headrace._src.ops.sparse.counting import RAGGED_BINCOUNT, SPARSE_BINCOUNT
from headrace._src.ops.sparse.tensor import SparseTensor
from headrace._src.ops.strings import editing as strings


def reduce_ragged(reduce_dense, reduce_segments, value, axis, keepdims):
    """A ragged tensor reduced along dimensions.

    Args:
        reduce_dense: `(tensor, axis, keepdims)` for dense tensors.
        reduce_segments: `(data, segment_ids, num_segments)` for dense tensors.
        value: the ragged tensor.
        axis: an int, a list of ints, or None for all dimensions.
        keepdims: keep the dimensions with size 1.

    Returns:
        A tensor, or a ragged tensor where ragged dimensions remain.
    """
    if not isinstance(value, RaggedTensor):
        return reduce_dense(value, axis, keepdims)
    if axis is None:
        total = reduce_dense(value.flat_values, None, False)
        return RESHAPE(total, [1] * value.shape.rank) if keepdims else total
    if isinstance(axis, (list, tuple)):
        if not axis:
            return value
        if len(axis) > 1:
            if value.shape.rank is None:
                raise ValueError("Several axes need a tensor of known rank.")
            # From the innermost dimension outwards, so that the numbers of the others stay.
            *outer, last = sorted(normalized_axis(a, value.shape.rank) for a in axis)
            inner = reduce_ragged(reduce_dense, reduce_segments, value, last, keepdims)
            return reduce_ragged(reduce_dense, reduce_segments, inner, outer, keepdims)
        axis = axis[0]
    axis = normalized_axis(axis, value.shape.rank)
    partition = value._row_partition
    if axis == 0:
        width = MAXIMUM(MAX(value.row_lengths(), [0]), to_tensor(0, partition.dtype))
        result = segment_rows(reduce_segments, value.values, partition.offsets_in_rows(), width)
    elif axis == 1:
        result = segment_rows(reduce_segments, value.values, partition.value_rowids(), partition.nrows())
    else:
        inner = reduce_ragged(reduce_dense, reduce_segments, value.values, axis - 1, keepdims)
        return value.with_values(inner)
    if not keepdims:
        return result
    if isinstance(result, RaggedTensor):
        return expand_dims(result, axis)
    return EXPAND_DIMS(result, axis)


def segment_rows(reduce_segments, data, segment_ids, num_segments):
    """Rows of one segment reduced to one row, element by element; it is as long as the longest of them."""
    if not isinstance(data, RaggedTensor):
        if isinstance(segment_ids, RaggedTensor):
            raise ValueError("segment_ids may be a ragged tensor only if data is one.")
        return reduce_segments(data, segment_ids, num_segments)
    if isinstance(segment_ids, RaggedTensor):
        require(
            ALL(EQUAL(data.row_splits, segment_ids.row_splits), [0]),
            "segment_ids must have the ragged shape of data",
        )
        return segment_rows(reduce_segments, data.values, segment_ids.values, num_segments)
    segment_ids = to_tensor(segment_ids)
    dtype = data.row_splits.dtype
    num_segments = cast_to(to_tensor(num_segments), dtype)
    segment_ids = cast_to(segment_ids, dtype)
    lengths = data.row_lengths()
    longest = MAXIMUM(UNSORTED_SEGMENT_MAX(lengths, segment_ids, num_segments), to_tensor(0, dtype))
    splits = rows.splits_from_lengths(longest)
    # Each value goes to the place that it has in its row, within the row of its segment.
    starts = GATHER_V2(splits, segment_ids, 0)
    partition = data._row_partition
    places = ADD(GATHER_V2(starts, partition.value_rowids(), 0), partition.offsets_in_rows())
    values = segment_rows(reduce_segments, data.values, places, splits[-1])
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _reduction(dense, segments):
    """Teach one reduction about ragged tensors."""

    @dispatch_for_types(dense, RaggedTensor)
    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        return reduce_ragged(
            lambda x, axis, keepdims: dense(x, axis=axis, keepdims=keepdims),
            segments,
            input_tensor,
            axis,
            keepdims,
        )

    return reduce


reduce_sum = _reduction(reductions.reduce_sum, unsorted_segments.unsorted_segment_sum)
reduce_prod = _reduction(reductions.reduce_prod, unsorted_segments.unsorted_segment_prod)
reduce_min = _reduction(reductions.reduce_min, unsorted_segments.unsorted_segment_min)
reduce_max = _reduction(reductions.reduce_max, unsorted_segments.unsorted_segment_max)


@dispatch_for_types(reductions.reduce_mean, RaggedTensor)
def reduce_mean(input_tensor, axis=None, keepdims=False, name=None):
    """The mean along dimensions; of integers it is floating, of nothing NaN."""
    total = reduce_sum(input_tensor, axis, keepdims)
    ones = input_tensor.with_flat_values(ONES_LIKE(input_tensor.flat_values))
    count = reduce_sum(ones, axis, keepdims)
    if isinstance(total, RaggedTensor):
        return total.with_flat_values(division.truediv(total.flat_values, count.flat_values))
    return division.truediv(total, count)


@dispatch_for_types(reductions.reduce_all, RaggedTensor)
def reduce_all(input_tensor, axis=None, keepdims=False, name=None):
    """Whether all elements along dimensions are true."""
    return _as_bool(reduce_prod(_as_int(input_tensor), axis, keepdims))


@dispatch_for_types(reductions.reduce_any, RaggedTensor)
def reduce_any(input_tensor, axis=None, keepdims=False, name=None):
    """Whether any element along dimensions is true."""
    return _as_bool(reduce_max(_as_int(input_tensor), axis, keepdims))


def _as_int(value):
    return value.with_flat_values(cast_to(value.flat_values, dtypes.int32))


def _as_bool(value):
    if isinstance(value, RaggedTensor):
        return value.with_flat_values(_as_bool(value.flat_values))
    return GREATER(value, to_tensor(0))


@dispatch_for_types(statistics.reduce_variance, RaggedTensor)
def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The mean of the squares minus the square of the mean."""
    mean = reduce_mean(input_tensor, axis, keepdims)
    squares = input_tensor.with_flat_values(elementwise.square(input_tensor.flat_values))
    return arithmetic.subtract(reduce_mean(squares, axis, keepdims), elementwise.square(mean))


@dispatch_for_types(statistics.reduce_std, RaggedTensor)
def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The square root of the variance."""
    return elementwise.sqrt(reduce_variance(input_tensor, axis, keepdims))


@dispatch_for_types(statistics.reduce_logsumexp, RaggedTensor)
def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """`log(sum(exp(x)))` along dimensions, without overflow."""
    highest = reduce_max(input_tensor, axis, keepdims=True)
    if isinstance(highest, RaggedTensor):
        highest = highest.with_flat_values(_finite(highest.flat_values))
    else:
        highest = _finite(highest)
    total = reduce_sum(elementwise.exp(arithmetic.subtract(input_tensor, highest)), axis, keepdims=True)
    result = arithmetic.add(elementwise.log(total), highest)
    if keepdims:
        return result
    if isinstance(result, RaggedTensor):
        return shaping.squeeze(result, axis=axis)
    axes = range(input_tensor.shape.rank) if axis is None else [axis] if isinstance(axis, int) else axis
    return SQUEEZE(result, squeeze_dims=list(axes))


def _finite(tensor):
    kept = SELECT_V2(IS_FINITE(tensor), tensor, ZEROS_LIKE(tensor))
    return STOP_GRADIENT(kept)


@dispatch_for_types(softmax.softmax, RaggedTensor)
def ragged_softmax(logits, axis=None, name=None):
    """Softmax along a dimension, of the elements that there are."""
    axis = -1 if axis is None else axis
    highest = reduce_max(logits, axis, keepdims=True)
    powers = elementwise.exp(arithmetic.subtract(logits, highest))
    return division.divide(powers, reduce_sum(powers, axis, keepdims=True))


@dispatch_for_types(cumulative.cumsum, RaggedTensor)
def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Cumulative sums along a dimension; missing elements count as zero."""
    axis = normalized_axis(axis, x.shape.rank)
    dense = cumulative.cumsum(x.to_tensor(), axis=axis, exclusive=exclusive, reverse=reverse)
    result = RaggedTensor.from_tensor(dense, lengths=x.nested_row_lengths(), row_splits_dtype=x.row_splits.dtype)
    return x.with_flat_values(result.flat_values)


# Segments.


def _segments(dense):
    """Teach one reduction over segments about ragged tensors."""

    @dispatch_for_types(dense, RaggedTensor)
    def reduce(data, segment_ids, num_segments, name=None):
        data, segment_ids = tensor_or_ragged(data), tensor_or_ragged(segment_ids)
        if segment_ids.dtype not in dtypes.INDEX:
            raise ValueError(f"segment_ids must have dtype int32 or int64, got {segment_ids.dtype.name}.")
        return segment_rows(dense, data, segment_ids, num_segments)

    return reduce


segment_sum = _segments(unsorted_segments.unsorted_segment_sum)
segment_prod = _segments(unsorted_segments.unsorted_segment_prod)
segment_max = _segments(unsorted_segments.unsorted_segment_max)
segment_min = _segments(unsorted_segments.unsorted_segment_min)


def _counts(data, segment_ids, num_segments):
    ones = data.with_flat_values(ONES_LIKE(data.flat_values))
    return segment_rows(unsorted_segments.unsorted_segment_sum, ones, segment_ids, num_segments)


@dispatch_for_types(unsorted_segments.unsorted_segment_mean, RaggedTensor)
def segment_mean(data, segment_ids, num_segments, name=None):
    """The mean of the rows of each segment, element by element."""
    data, segment_ids = tensor_or_ragged(data), tensor_or_ragged(segment_ids)
    total = segment_rows(unsorted_segments.unsorted_segment_sum, data, segment_ids, num_segments)
    return division.divide(total, _counts(data, segment_ids, num_segments))


@dispatch_for_types(unsorted_segments.unsorted_segment_sqrt_n, RaggedTensor)
def segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sum of the rows of each segment, divided by the square root of how many there are."""
    data, segment_ids = tensor_or_ragged(data), tensor_or_ragged(segment_ids)
    total = segment_rows(unsorted_segments.unsorted_segment_sum, data, segment_ids, num_segments)
    return division.divide(total, elementwise.sqrt(_counts(data, segment_ids, num_segments)))


@dispatch_for_types(strings.reduce_join, RaggedTensor)
def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """Strings of a ragged tensor joined along dimensions."""
    if not isinstance(keepdims, (bool, type(None))):
        raise TypeError(f"strings.reduce_join: keepdims must be a bool, got {keepdims!r}.")
    return reduce_ragged(
        functools.partial(_join_dense, separator),
        functools.partial(_join_segments, separator),
        inputs,
        axis,
        keepdims,
    )


def _join_dense(separator, x, axis, keepdims):
    return strings.reduce_join(x, axis=axis, keepdims=keepdims, separator=separator)


def _join_segments(separator, data, segment_ids, num_segments):
    return strings.unsorted_segment_join(data, segment_ids, num_segments, separator=separator)


# Counting.


@dispatch_for_types(bincounts.bincount, RaggedTensor, SparseTensor)
def bincount(
    arr,
    weights=None,
    minlength=None,
    maxlength=None,
    dtype=dtypes.int32,
    name=None,
    axis=None,
    binary_output=False,
):
    """How often each number occurs in a ragged or sparse tensor, or in each of its rows."""
    if not isinstance(arr, (RaggedTensor, SparseTensor)):
        raise TypeError(f"math.bincount: weights is a {type(weights).__name__}, but arr is none.")
    if weights is not None and binary_output:
        raise ValueError("math.bincount: weights and binary_output are mutually exclusive, give one of them.")
    if axis not in (None, 0, -1):
        raise ValueError(f"math.bincount: axis must be 0 or -1, got {axis}.")
    if weights is not None and type(weights) is not type(arr):
        raise ValueError(f"math.bincount: weights must be a {type(arr).__name__}, as arr is.")
    sparse = isinstance(arr, SparseTensor)
    values = arr.values if sparse else arr.flat_values
    own = None if weights is None else weights.values if sparse else weights.flat_values
    if axis != -1:
        return bincounts.bincount(
            values, own, minlength, maxlength, dtype, name, axis=None, binary_output=binary_output
        )
    if values.dtype not in dtypes.INDEX:
        values = cast_to(values, dtypes.int32)
    index = values.dtype
    size = MAXIMUM(ADD(MAX(values, [0]), to_tensor(1, index)), to_tensor(0, index))
    if minlength is not None:
        size = MAXIMUM(cast_to(to_tensor(minlength, hint=index), index), size)
    if maxlength is not None:
        size = MINIMUM(cast_to(to_tensor(maxlength, hint=index), index), size)
    if own is None:
        own = constants.zeros([0], dtypes.as_dtype(dtype))
    options = dict(binary_output=binary_output, name=name)
    if sparse:
        return SPARSE_BINCOUNT(arr.indices, values, arr.dense_shape, size, own, **options)
    return RAGGED_BINCOUNT(cast_to(arr.row_splits, dtypes.int64), values, size, own, **options)
