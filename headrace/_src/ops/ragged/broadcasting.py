"""Broadcasting of ragged shapes: which rows of each operand meet in an element-wise operation."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import FILL, RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE
from headrace._src.ops.math.arithmetic import ADD, MUL
from headrace._src.ops.math.comparison import EQUAL, LOGICAL_OR
from headrace._src.ops.math.reductions import ALL
from headrace._src.ops.ragged import row_arithmetic as rows
from headrace._src.ops.ragged.row_arithmetic import cast_to, dimensions, first_dimension, require, static_number
from headrace._src.ops.ragged.row_partition import RowPartition
from headrace._src.ops.ragged.tensor import RaggedTensor, match_row_splits_dtypes


class Operand:
    """The outer shape of one operand: a number of rows, and partitions, outermost first.

    While broadcasting, `index` says for each row of the result which row of the operand it is; None means
    that they are the same.
    """

    __slots__ = ("index", "nrows", "partitions")

    def __init__(self, nrows, partitions):
        self.nrows = nrows
        self.partitions = partitions
        self.index = None


def broadcast_partitions(operands, dtype):
    """Broadcast outer shapes with the same number of partitions to a common one.

    Afterwards each operand's `index` chooses from its innermost values.

    Args:
        operands: `Operand`s.
        dtype: int32 or int64, that of all partitions.

    Returns:
        The number of rows and the partitions of the result.

    Raises:
        InvalidArgumentError: when rows have different lengths, and none of them is uniformly 1.
    """
    nrows = _broadcast_rows(operands, dtype)
    partitions = []
    for level in range(len(operands[0].partitions)):
        partitions.append(_broadcast_level(operands, level, dtype))
    return nrows, partitions


def _broadcast_rows(operands, dtype):
    """The outermost dimension: sizes that are equal or 1."""
    sizes = [static_number(operand.nrows) for operand in operands]
    if None not in sizes:
        wide = [n for n in sizes if n != 1]
        target = wide[0] if wide else 1
        if any(n != target for n in wide):
            raise errors.invalid_argument(f"Incompatible shapes: ragged tensors with {sizes} rows.")
        for operand, size in zip(operands, sizes):
            if size != target:
                operand.index = FILL([target], to_tensor(0, dtype))
        return to_tensor(target, dtype)
    one = to_tensor(1, dtype)
    # A size of 0 wins over 1, so the target is not simply the largest.
    target = one
    for operand in operands:
        size = cast_to(operand.nrows, dtype)
        target = SELECT_V2(EQUAL(size, one), target, size)
    steps = RANGE(to_tensor(0, dtype), target, one)
    for operand in operands:
        size = cast_to(operand.nrows, dtype)
        alone = EQUAL(size, one)
        require(
            LOGICAL_OR(alone, EQUAL(size, target)),
            "Incompatible shapes: numbers of rows differ",
        )
        operand.index = SELECT_V2(alone, ZEROS_LIKE(steps), steps)
    return target


def _chosen(tensor, index):
    return tensor if index is None else GATHER_V2(tensor, index, 0)


def _broadcast_level(operands, level, dtype):
    """One partition: row lengths that are equal, or uniformly 1."""
    own = [operand.partitions[level] for operand in operands]
    single = [partition.static_uniform_row_length == 1 for partition in own]
    if all(single):
        # Every row has one value, so that the rows' index is also that of the values.
        size = next((operand for operand in operands if operand.index is None), None)
        if size is not None:
            return own[operands.index(size)]
        nrows = first_dimension(operands[0].index, dtype)
        return RowPartition.from_uniform_row_length(to_tensor(1, dtype), nrows=nrows, validate=False)
    many = [i for i, alone in enumerate(single) if not alone]
    lengths = {i: _chosen(own[i].row_lengths(), operands[i].index) for i in many}
    # The one that says most about its rows, and is taken as it is, leads.
    lead = min(many, key=lambda i: (operands[i].index is not None, not own[i].is_uniform()))
    for i in many:
        if i != lead and own[i] is not own[lead]:
            _require_equal(lengths[i], lengths[lead])
    if operands[lead].index is None:
        result = own[lead]
    elif all(own[i].is_uniform() for i in many):
        result = RowPartition.from_uniform_row_length(
            own[lead].uniform_row_length(), nrows=first_dimension(lengths[lead], dtype), validate=False
        )
    else:
        result = RowPartition.from_row_lengths(lengths[lead], validate=False)
    ids = offsets = None
    for i, operand in enumerate(operands):
        if not single[i] and operand.index is None:
            continue
        if ids is None:
            ids = result.value_rowids()
        if single[i]:
            operand.index = _chosen(operand.index, ids) if operand.index is not None else ids
            continue
        if offsets is None:
            offsets = rows.offsets(result.row_splits())
        starts = _chosen(_chosen(own[i].row_starts(), operand.index), ids)
        operand.index = ADD(starts, offsets)
    return result


def _require_equal(lengths, wanted):
    if type(lengths) is EagerTensor and type(wanted) is EagerTensor:
        if lengths._a.shape != wanted._a.shape or (lengths._a != wanted._a).any():
            raise errors.invalid_argument(
                f"Incompatible shapes: ragged tensors with rows of lengths {lengths._a} and {wanted._a}."
            )
        return
    require(ALL(EQUAL(lengths, wanted), [0]), "Incompatible shapes: row lengths differ")


def outer_shape(value, rank, ragged_rank, dtype):
    """A tensor or ragged tensor as an operand of a higher rank.

    Args:
        value: the tensor.
        rank: the rank that it gets, by dimensions of size 1 at the front.
        ragged_rank: the number of partitions that it gets.
        dtype: int32 or int64.

    Returns:
        An `Operand`, and its innermost values, of rank `rank - ragged_rank`.
    """
    missing = rank - value.shape.rank
    if not isinstance(value, RaggedTensor):
        for _ in range(missing):
            value = EXPAND_DIMS(value, 0)
        partitions, flat, nrows = [], value, first_dimension(value, dtype)
    else:
        partitions, flat, nrows = list(value._nested_row_partitions), value.flat_values, value.nrows()
        for _ in range(missing):
            partitions.insert(0, RowPartition.from_uniform_row_length(nrows, nrows=to_tensor(1, dtype), validate=False))
            nrows = to_tensor(1, dtype)
    if len(partitions) < ragged_rank:
        shape = dimensions(flat, dtype)
        count = shape[0]
        for axis in range(1, ragged_rank - len(partitions) + 1):
            length = shape[axis]
            partitions.append(RowPartition.from_uniform_row_length(length, nrows=count, validate=False))
            count = MUL(count, length)
        merged = flat.shape.rank - (rank - ragged_rank) + 1
        flat = _merge_first(flat, shape, merged)
    return Operand(nrows, partitions), flat


def _merge_first(tensor, shape, count):
    """The first `count` dimensions made one."""
    dims = tensor.shape.as_list()
    if None not in dims:
        return RESHAPE(tensor, [math.prod(dims[:count]), *dims[count:]])
    rest = cast_to(shape[count:], dtypes.int32)
    return RESHAPE(tensor, CONCAT([to_tensor([-1], dtypes.int32), rest], 0))


def broadcast_values(values):
    """Broadcast tensors and ragged tensors, at least one of them ragged, to a common ragged shape.

    Args:
        values: tensors and ragged tensors, of known ranks.

    Returns:
        For each its innermost values, which broadcast like dense tensors; and the result's partitions.

    Raises:
        ValueError: when a rank is unknown, or row splits have different dtypes.
        InvalidArgumentError: when the shapes do not fit.
    """
    dtype, values = match_row_splits_dtypes(*values, return_dtype=True)
    ragged = [value for value in values if isinstance(value, RaggedTensor)]
    if len(ragged) == len(values) and _have_same_rows(ragged):
        return [value.flat_values for value in ragged], list(ragged[0]._nested_row_partitions)
    for value in values:
        if value.shape.rank is None:
            raise ValueError(f"Ragged broadcasting needs tensors of known rank, got {value!r}.")
    inner = min(value.flat_values.shape.rank for value in ragged)
    if len(ragged) == 1 and all(value.shape.rank < inner for value in values if not isinstance(value, RaggedTensor)):
        # The others meet only the inner dimensions.
        return [value.flat_values if isinstance(value, RaggedTensor) else value for value in values], list(
            ragged[0]._nested_row_partitions
        )
    rank = max(value.shape.rank for value in values)
    ragged_rank = max(rank - value.shape.rank + value.ragged_rank for value in ragged)
    operands, flats, places = [], [], []
    for value in values:
        if not isinstance(value, RaggedTensor) and _has_one_row(value, rank, ragged_rank):
            # It broadcasts against the values of the result as it is.
            flats.append(_as_inner(value, rank - ragged_rank))
            continue
        operand, flat = outer_shape(value, rank, ragged_rank, dtype)
        places.append(len(flats))
        operands.append(operand)
        flats.append(flat)
    _, partitions = broadcast_partitions(operands, dtype)
    for place, operand in zip(places, operands):
        if operand.index is not None:
            flats[place] = GATHER_V2(flats[place], operand.index, 0)
    return flats, partitions


def _have_same_rows(ragged):
    """Whether ragged tensors are seen to have the same ragged dimensions and equally many others."""
    first, *others = ([partition.row_splits() for partition in value._nested_row_partitions] for value in ragged)
    inner = ragged[0].flat_values.shape.rank
    for value, splits in zip(ragged[1:], others):
        if len(splits) != len(first) or value.flat_values.shape.rank != inner or inner is None:
            return False
        for x, y in zip(first, splits):
            if x is not y and not (type(x) is EagerTensor and type(y) is EagerTensor and np.array_equal(x._a, y._a)):
                return False
    return True


def _has_one_row(value, rank, ragged_rank):
    """Whether the dimensions that the result divides into rows are all of size 1, or missing."""
    outer = ragged_rank + 1 - (rank - value.shape.rank)
    return all(n == 1 for n in value.shape.as_list()[: max(outer, 0)])


def _as_inner(value, rank):
    """A tensor whose leading dimensions are 1, with at most `rank` dimensions."""
    if value.shape.rank <= rank:
        return value
    return SQUEEZE(value, squeeze_dims=list(range(value.shape.rank - rank)))


def with_partitions(flat_values, partitions):
    """Innermost values with partitions around them."""
    return RaggedTensor._from_nested_row_partitions(flat_values, partitions, validate=False)
