"""Arithmetic on the positions, lengths and ids that describe rows: NumPy for values, ops for symbols."""

import numpy as np

from headrace._src.core import errors
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE, get_static_value
from headrace._src.ops.arrays.searching import LOWER_BOUND, UPPER_BOUND
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, SQUEEZE
from headrace._src.ops.debugging.assertions import Assert
from headrace._src.ops.math.arithmetic import ADD, MUL, SUB
from headrace._src.ops.math.comparison import EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL
from headrace._src.ops.math.cumulative import CUMSUM
from headrace._src.ops.math.reductions import ALL


def static_number(tensor):
    """The value of a scalar tensor as an int, or None when it is unknown or the tensor is None."""
    if tensor is None:
        return None
    value = get_static_value(tensor)
    return None if value is None else int(value)


def cast_to(tensor, dtype):
    """The tensor with that dtype; None stays None."""
    if tensor is None or tensor.dtype is dtype:
        return tensor
    return CAST(tensor, DstT=dtype)


def first_dimension(tensor, dtype):
    """The size of the first dimension, as a scalar tensor."""
    size = tensor.shape[0] if tensor.shape.rank else None
    if size is not None:
        return to_tensor(size, dtype)
    return SHAPE(tensor, out_type=dtype)[0]


def dimensions(tensor, dtype):
    """The shape as a vector tensor."""
    if tensor.shape.is_fully_defined():
        return to_tensor(np.array(tensor.shape.as_list(), dtype._np))
    return SHAPE(tensor, out_type=dtype)


def require(condition, message, tensor=None):
    """Raise InvalidArgumentError unless the condition (a bool, or a scalar bool tensor) holds."""
    if type(condition) is EagerTensor:
        condition = bool(condition._a.all())
    if condition is True:
        return
    if condition is False:
        shown = "" if tensor is None else f"; got {tensor._a if type(tensor) is EagerTensor else tensor}"
        raise errors.invalid_argument(message + shown)
    Assert(condition, [message] + ([] if tensor is None else [tensor]))


def _known(*tensors):
    return all(type(tensor) is EagerTensor for tensor in tensors)


def _range(start, limit, dtype):
    return RANGE(_scalar(start, dtype), _scalar(limit, dtype), to_tensor(1, dtype))


def _scalar(value, dtype):
    return to_tensor(value, dtype) if type(value) is int else cast_to(value, dtype)


def _all(condition):
    return ALL(condition, [0])


def splits_from_lengths(lengths):
    """Where rows of those lengths begin and end."""
    if _known(lengths):
        splits = np.zeros(lengths._a.size + 1, lengths._a.dtype)
        np.cumsum(lengths._a, out=splits[1:])
        return EagerTensor(splits, lengths.dtype)
    return prepended(CUMSUM(lengths, 0), 0)


def splits_from_ids(ids, nrows):
    """Where rows begin and end, from the row of each value."""
    if _known(ids, nrows):
        count = max(int(nrows._a), 0)
        inside = ids._a[(ids._a >= 0) & (ids._a < count)]
        splits = np.zeros(count + 1, ids._a.dtype)
        np.cumsum(np.bincount(inside, minlength=count), out=splits[1:])
        return EagerTensor(splits, ids.dtype)
    rows = EXPAND_DIMS(_range(0, ADD(nrows, to_tensor(1, nrows.dtype)), ids.dtype), 0)
    found = LOWER_BOUND(EXPAND_DIMS(ids, 0), rows, out_type=ids.dtype)
    return SQUEEZE(found, squeeze_dims=[0])


def ids_from_splits(splits):
    """The row of each value."""
    if _known(splits):
        lengths = np.maximum(np.diff(splits._a), 0)
        return EagerTensor(np.repeat(np.arange(lengths.size, dtype=splits._a.dtype), lengths), splits.dtype)
    values = EXPAND_DIMS(_range(0, splits[-1], splits.dtype), 0)
    found = UPPER_BOUND(EXPAND_DIMS(splits[1:], 0), values, out_type=splits.dtype)
    return SQUEEZE(found, squeeze_dims=[0])


def offsets(splits):
    """For each value its place within its row."""
    ids = ids_from_splits(splits)
    if _known(splits):
        places = np.arange(ids._a.size, dtype=splits._a.dtype)
        return EagerTensor(places - splits._a[ids._a], splits.dtype)
    starts = GATHER_V2(splits, ids, 0)
    return SUB(_range(0, splits[-1], splits.dtype), starts)


def uniform_splits(nrows, length):
    """Where rows of one length begin and end."""
    if _known(nrows, length):
        try:
            return EagerTensor(np.arange(int(nrows._a) + 1, dtype=nrows._a.dtype) * length._a, nrows.dtype)
        except (MemoryError, ValueError) as error:
            raise errors.resource_exhausted(f"A RowPartition of {nrows._a} rows: {error}") from None
    rows = _range(0, ADD(nrows, to_tensor(1, nrows.dtype)), nrows.dtype)
    return MUL(rows, length)


def count_from_ids(ids):
    """One more than the last id; 0 without ids."""
    if _known(ids):
        return EagerTensor(np.array(ids._a[-1] + 1 if ids._a.size else 0, ids._a.dtype), ids.dtype)
    last = ADD(ids[-1:], to_tensor(1, ids.dtype))
    return SUM(last, [0])


def appended(vector, number):
    """The vector and a scalar tensor after it."""
    if _known(vector, number):
        return EagerTensor(np.append(vector._a, number._a), vector.dtype)
    return CONCAT([vector, EXPAND_DIMS(number, 0)], 0)


def prepended(vector, number):
    """The vector and an int before it."""
    if _known(vector):
        return EagerTensor(np.concatenate([np.array([number], vector._a.dtype), vector._a]), vector.dtype)
    return CONCAT([to_tensor([number], vector.dtype), vector], 0)


# Conditions: a bool for values, a scalar bool tensor for symbols.


def is_ascending(vector):
    if _known(vector):
        return bool((vector._a[1:] >= vector._a[:-1]).all())
    return _all(GREATER_EQUAL(vector[1:], vector[:-1]))


def is_not_empty(vector):
    if _known(vector):
        return vector._a.size > 0
    return GREATER(first_dimension(vector, vector.dtype), to_tensor(0, vector.dtype))


def all_at_least(vector, number):
    if _known(vector):
        return bool((vector._a >= number).all())
    return _all(GREATER_EQUAL(vector, to_tensor(number, vector.dtype)))


def starts_at_least(vector, number):
    return all_at_least(vector[:1], number)


def starts_with_zero(vector):
    if _known(vector):
        return bool((vector._a[:1] == 0).all())
    return _all(EQUAL(vector[:1], to_tensor(0, vector.dtype)))


def ends_below(vector, number):
    if _known(vector, number):
        return bool((vector._a[-1:] < number._a).all())
    return _all(LESS(vector[-1:], number))


def ends_at_most(vector, number):
    if _known(vector, number):
        return bool((vector._a[-1:] <= number._a).all())
    return _all(LESS_EQUAL(vector[-1:], number))
