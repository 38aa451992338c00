"""Joining, dividing and reshaping ragged tensors: concat, stack, split, tile, reverse, expand_dims, squeeze."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.dispatch import dispatch_for_types
from headrace._src.op.infer import whole
from headrace._src.ops.arrays import joining, rearranging, shaping, splitting
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import get_static_value, known_rank
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE
from headrace._src.ops.arrays.splitting import TILE
from headrace._src.ops.math.arithmetic import ADD, MAXIMUM, MUL
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.division import FLOOR_MOD
from headrace._src.ops.math.reductions import ALL
from headrace._src.ops.ragged import row_arithmetic as rows
from headrace._src.ops.ragged.ranges import value_ranges
from headrace._src.ops.ragged.row_arithmetic import cast_to, first_dimension, require, static_number
from headrace._src.ops.ragged.row_partition import RowPartition
from headrace._src.ops.ragged.tensor import (
    RaggedTensor,
    match_row_splits_dtypes,
    normalized_axis,
    tensor_or_ragged,
)


def with_ragged_rank(value, ragged_rank):
    """A tensor or ragged tensor with at least so many partitions; dense dimensions become uniform ones."""
    if isinstance(value, RaggedTensor):
        if value.ragged_rank >= ragged_rank:
            return value
        return value.with_values(with_ragged_rank(value.values, ragged_rank - 1))
    if ragged_rank <= 0:
        return value
    return RaggedTensor.from_tensor(value, ragged_rank=ragged_rank)


def _converted(inputs):
    """The inputs as tensors and ragged tensors of one dtype of values and of row splits."""
    if isinstance(inputs, RaggedTensor):
        inputs = [inputs]
    if isinstance(inputs, Tensor):
        inputs = list(inputs)
    hint = next((x.dtype for x in inputs if isinstance(x, (RaggedTensor, Tensor))), None)
    inputs = [tensor_or_ragged(value, hint=hint) for value in inputs]
    splits_dtype, inputs = match_row_splits_dtypes(*inputs, return_dtype=True)
    return inputs, splits_dtype or dtypes.int64


@dispatch_for_types(joining.concat, RaggedTensor)
def concat(values, axis, name=None):
    """Ragged tensors, and tensors among them, one after the other along a dimension."""
    if isinstance(values, RaggedTensor):
        return values
    return _combined(list(values), axis, stacked=False)


@dispatch_for_types(joining.stack, RaggedTensor)
def stack_dispatched(values, axis=0, name=None):
    """Ragged tensors, and tensors among them, along a new dimension."""
    return _combined(values, axis, stacked=True)


@api("ragged.stack")
def stack(values, axis=0, name=None) -> RaggedTensor:
    """Tensors of one rank, ragged or not and of any size, along a new dimension.

    >>> tf.ragged.stack([[1, 2], [3, 4, 5]])
    <tf.RaggedTensor [[1, 2], [3, 4, 5]]>

    Args:
        values: a list of tensors and ragged tensors.
        axis: where the new dimension is put; up to the number of ragged dimensions it is a ragged one.
        name: a name for the operation.

    Raises:
        ValueError: when the list is empty, ranks differ, or the axis is out of range.
    """
    return _combined(values, axis, stacked=True)


def _combined(values, axis, stacked):
    if not isinstance(values, (list, tuple, RaggedTensor, Tensor)):
        values = [values]
    inputs, dtype = _converted(values)
    if not inputs:
        raise ValueError("rt_inputs may not be empty.")
    rank = next((x.shape.rank for x in inputs if x.shape.rank is not None), None)
    if rank is None:
        raise ValueError("Cannot combine tensors of unknown rank.")
    for value in inputs:
        value.shape.assert_has_rank(rank)
    out_rank = rank + 1 if stacked else rank
    axis = normalized_axis(axis, out_rank)
    if len(inputs) == 1:
        return _only(inputs[0], axis) if stacked else inputs[0]
    if axis == out_rank - 1 and not any(isinstance(x, RaggedTensor) for x in inputs):
        return PACK(inputs, axis=axis) if stacked else CONCAT(inputs, axis)
    return _combine(inputs, axis, stacked, dtype)


def _only(value, axis):
    """One tensor along a new dimension."""
    if axis == 0:
        nrows = value.nrows() if isinstance(value, RaggedTensor) else None
        if nrows is None:
            return EXPAND_DIMS(value, 0)
        # TF: the new dimension is ragged.
        return RaggedTensor.from_row_lengths(value, EXPAND_DIMS(nrows, 0), validate=False)
    return expand_dims(value, axis) if isinstance(value, RaggedTensor) else EXPAND_DIMS(value, axis)


def _combine(inputs, axis, stacked, dtype):
    if axis == 0 and stacked and inputs[0].shape.rank == 1:
        # Vectors become rows. TF: with int32 row splits.
        lengths = PACK([first_dimension(x, dtypes.int32) for x in inputs])
        return RaggedTensor.from_row_lengths(CONCAT(inputs, 0), lengths, validate=False)
    ragged_rank = max(x.ragged_rank if isinstance(x, RaggedTensor) else 1 for x in inputs)
    inputs = [
        x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x, ragged_rank=1, row_splits_dtype=dtype)
        for x in inputs
    ]
    inputs = [with_ragged_rank(x, ragged_rank) for x in inputs]
    if axis == 0:
        joined = concat_rows(inputs)
        if not stacked:
            return joined
        return RaggedTensor.from_row_lengths(joined, PACK([x.nrows() for x in inputs]), validate=False)
    if axis == 1:
        return _side_by_side(inputs, stacked, dtype)
    first = inputs[0].row_splits
    for other in inputs[1:]:
        _require_same_splits(first, other.row_splits)
    inner = [x.values for x in inputs]
    if any(isinstance(x, RaggedTensor) for x in inner):
        values = _combine(inner, axis - 1, stacked, dtype)
    elif stacked:
        values = PACK(inner, axis=axis - 1)
    else:
        values = CONCAT(inner, axis - 1)
    return inputs[0].with_values(values)


def _require_same_splits(x, y):
    if type(x) is EagerTensor and type(y) is EagerTensor:
        require(bool(np.array_equal(x._a, y._a)), "Inputs must have identical ragged splits", y)
        return
    require(ALL(EQUAL(x, y), [0]), "Inputs must have identical ragged splits")


def concat_rows(inputs):
    """The rows of tensors of one ragged rank, one after the other."""
    if not isinstance(inputs[0], RaggedTensor):
        return CONCAT(inputs, 0) if len(inputs) > 1 else inputs[0]
    values = concat_rows([x.values for x in inputs])
    lengths = CONCAT([x.row_lengths() for x in inputs], 0)
    return RaggedTensor.from_row_lengths(values, lengths, validate=False)


def _side_by_side(inputs, stacked, dtype):
    """Row i of the result has row i of each input, one after the other."""
    nrows = inputs[0].nrows()
    for other in inputs[1:]:
        require(
            EQUAL(nrows, other.nrows()),
            "Input tensors have different numbers of rows",
            other.nrows(),
        )
    count = to_tensor(len(inputs), dtype)
    joined = concat_rows(inputs)
    # The rows of all inputs, in the order first row of each, second row of each ...
    numbers = RANGE(to_tensor(0, dtype), MUL(nrows, count), to_tensor(1, dtype))
    order = RESHAPE(TRANSPOSE(RESHAPE(numbers, [len(inputs), -1]), [1, 0]), [-1])
    splits = joined.row_splits
    starts = GATHER_V2(splits, order, 0)
    limits = GATHER_V2(splits, ADD(order, to_tensor(1, dtype)), 0)
    interleaved = value_ranges(joined.values, starts, limits, to_tensor(1, dtype))
    ends = MUL(
        RANGE(to_tensor(0, dtype), ADD(nrows, to_tensor(1, dtype)), to_tensor(1, dtype)),
        count,
    )
    if stacked:
        return RaggedTensor.from_row_splits(interleaved, ends, validate=False)
    merged = GATHER_V2(interleaved.row_splits, ends, 0)
    return RaggedTensor.from_row_splits(interleaved.values, merged, validate=False)


@dispatch_for_types(shaping.expand_dims, RaggedTensor)
def expand_dims(input, axis, name=None):
    """A ragged tensor with a dimension of size 1 inserted."""
    rank = input.shape.rank
    axis = normalized_axis(axis, None if rank is None else rank + 1)
    return _expanded(input, axis)


def _expanded(value, axis):
    if not isinstance(value, RaggedTensor):
        return EXPAND_DIMS(value, axis)
    if axis == 0:
        return RaggedTensor.from_uniform_row_length(value, value.nrows(), nrows=1, validate=False)
    if axis == 1:
        one = to_tensor(1, value.row_splits.dtype)
        return RaggedTensor.from_uniform_row_length(value, one, nrows=value.nrows(), validate=False)
    return value.with_values(_expanded(value.values, axis - 1))


@dispatch_for_types(shaping.squeeze, RaggedTensor)
def squeeze(input, axis=None, name=None):
    """A ragged tensor without the given dimensions, which must have size 1."""
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    if not isinstance(axis, (int, np.integer, list, tuple)):
        raise TypeError(f"squeeze: axis must be an integer or a list of integers, got {axis!r}.")
    axes = [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    rank = input.shape.rank
    result = input
    for at in sorted({normalized_axis(a, rank) for a in axes}, reverse=True):
        result = _squeezed(result, at, at)
    return result


def _squeezed(value, axis, shown):
    if not isinstance(value, RaggedTensor):
        return SQUEEZE(value, squeeze_dims=[axis])
    if axis > 1:
        return value.with_values(_squeezed(value.values, axis - 1, shown))
    message = f"the given axis (axis = {shown}) is not squeezable!"
    if axis == 0:
        require(EQUAL(value.nrows(), to_tensor(1, value.row_splits.dtype)), message)
        return value.values
    lengths = value.row_lengths()
    require(ALL(EQUAL(lengths, to_tensor(1, lengths.dtype)), [0]), message)
    return value.values


@dispatch_for_types(splitting.tile, RaggedTensor)
def tile(input, multiples, name=None):
    """A ragged tensor repeated `multiples[i]` times along each dimension i."""
    dtype = input.row_splits.dtype
    multiples = cast_to(to_tensor(multiples, hint=dtype), dtype)
    multiples.shape.assert_has_rank(1)
    known_rank("tile", "a ragged tensor", input)
    if multiples.shape[0] is not None and multiples.shape[0] != input.shape.rank:
        raise IndexError(
            f"tile: multiples must have one number for each of the {input.shape.rank} dimensions, got "
            f"{multiples.shape[0]}."
        )
    require(rows.all_at_least(multiples, 0), "tile: multiples must be >= 0", multiples)
    zero, one = to_tensor(0, dtype), to_tensor(1, dtype)
    numbers = RANGE(zero, input.nrows(), one)
    index = TILE(numbers, EXPAND_DIMS(multiples[0], 0))
    partitions = []
    # `index` chooses rows at first, then in each step the values of these rows.
    for level, partition in enumerate(input._nested_row_partitions, 1):
        lengths = GATHER_V2(partition.row_lengths(), index, 0)
        starts = GATHER_V2(partition.row_starts(), index, 0)
        tiled = _tiled_partition(partition, lengths, multiples[level])
        ids = tiled.value_rowids()
        places = FLOOR_MOD(
            tiled.offsets_in_rows(), MAXIMUM(GATHER_V2(lengths, ids, 0), one)
        )
        index = ADD(GATHER_V2(starts, ids, 0), places)
        partitions.append(tiled)
    flat = GATHER_V2(input.flat_values, index, 0)
    inner = input.shape.rank - input.ragged_rank - 1
    if inner:
        ones = to_tensor(np.ones(1, dtype._np))
        flat = TILE(flat, CONCAT([ones, multiples[input.ragged_rank + 1 :]], 0))
    return RaggedTensor._from_nested_row_partitions(flat, partitions, validate=False)


def _tiled_partition(partition, lengths, multiple):
    longer = MUL(lengths, multiple)
    if not partition.is_uniform():
        return RowPartition.from_row_lengths(longer, validate=False)
    return RowPartition.from_uniform_row_length(
        MUL(partition.uniform_row_length(), multiple),
        nrows=first_dimension(longer, longer.dtype),
        validate=False,
    )


@dispatch_for_types(rearranging.reverse, RaggedTensor)
def reverse(tensor, axis, name=None):
    """A ragged tensor with the order along the given dimensions turned round."""
    static = get_static_value(axis) if not isinstance(axis, (list, tuple)) else np.asarray(axis)
    if static is None or np.ndim(static) != 1:
        raise TypeError("`axis` must be a list of int or a constant tensor when reversing axes in a ragged tensor")
    axes = {normalized_axis(whole(a, "axis"), tensor.shape.rank, f"axis[{i}]") for i, a in enumerate(static)}
    result = tensor
    for at in axes:
        result = result[(slice(None),) * at + (slice(None, None, -1),)]
    return result


@dispatch_for_types(splitting.split, RaggedTensor)
def split(value, num_or_size_splits, axis=0, num=None, name=None):
    """A ragged tensor as a list of parts along a dimension that is not ragged."""
    rank = value.shape.rank
    if rank is None:
        raise ValueError("Cannot split a ragged tensor of unknown rank.")
    axis = normalized_axis(axis, rank)
    size = _uniform_size(value, axis)
    if isinstance(num_or_size_splits, (int, np.integer)):
        parts = int(num_or_size_splits)
        if parts < 1:
            raise ValueError(f"split: num_or_size_splits must be at least 1, got {parts}.")
        if size % parts:
            raise errors.invalid_argument(
                f"Cannot exactly split dimension {axis} of size {size} into {parts} parts of one size."
            )
        sizes = [size // parts] * parts
    else:
        known = get_static_value(num_or_size_splits)
        if known is None:
            raise ValueError("split: the sizes must be known while tracing.")
        known = np.asarray(known)
        if known.ndim != 1:
            raise ValueError(f"split: num_or_size_splits must be an int or a vector, got shape {known.shape}.")
        sizes = [int(n) for n in known]
        if num is not None and num != len(sizes):
            raise ValueError(f"split: num={num}, but there are {len(sizes)} sizes.")
        if any(n < 0 for n in sizes):
            raise errors.invalid_argument(f"`num_or_size_splits` must be non-negative, got {sizes}.")
        if sum(sizes) != size:
            raise errors.invalid_argument(
                f"Cannot exactly split dimension {axis} of size {size} into parts of sizes {sizes}."
            )
    parts, start = [], 0
    for n in sizes:
        parts.append(value[(slice(None),) * axis + (slice(start, start + n),)])
        start += n
    return parts


def _uniform_size(value, axis):
    if axis == 0:
        size = static_number(value.nrows())
    elif axis <= value.ragged_rank:
        partition = value._nested_row_partitions[axis - 1]
        if not partition.is_uniform():
            raise ValueError(f"Cannot split a ragged dimension. Got a `value` with shape {value.shape}, `axis` {axis}.")
        size = partition.static_uniform_row_length
    else:
        size = value.flat_values.shape[axis - value.ragged_rank]
    if size is None:
        raise ValueError(f"split: the size of dimension {axis} must be known while tracing.")
    return size
