"""Indexing and slicing of ragged tensors: `rt[0]`, `rt[:, 1:]`, `rt[..., tf.newaxis]`."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.attached import method_of
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.math.arithmetic import ADD, MAXIMUM, MINIMUM, NEG, SUB
from headrace._src.ops.math.comparison import GREATER_EQUAL, LESS
from headrace._src.ops.math.division import FLOOR_MOD
from headrace._src.ops.ragged.ranges import value_ranges
from headrace._src.ops.ragged.row_arithmetic import cast_to, first_dimension, require
from headrace._src.ops.ragged.row_partition import RowPartition
from headrace._src.ops.ragged.tensor import RaggedTensor

_ALL = slice(None, None, None)


@method_of(RaggedTensor, "__getitem__")
def ragged_getitem(self, key) -> Tensor | RaggedTensor:
    """The part of a ragged tensor that a key selects.

    Integers select rows, and columns of uniform dimensions; slices work in every dimension, in ragged ones
    row by row; `...` and `tf.newaxis` are as for tensors.

    >>> rt = tf.ragged.constant([[1, 2, 3], [], [4, 5]])
    >>> rt[0].numpy().tolist(), rt[:, ::-1].to_list(), rt[1:, :1].to_list()
    ([1, 2, 3], [[3, 2, 1], [], [5, 4]], [[], [4]])

    Raises:
        ValueError: when an integer selects from a ragged dimension other than the first.
        TypeError: when the key holds something else.
        IndexError: when a row does not exist.
    """
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    return _outer(self, [_checked(k) for k in keys])


def _checked(key):
    if key is Ellipsis or key is None:
        return key
    if isinstance(key, slice):
        return slice(*(None if part is None else _number(part, key) for part in (key.start, key.stop, key.step)))
    return _number(key, key)


def _number(value, shown):
    """An int, or a scalar integer tensor."""
    if isinstance(value, (bool, np.bool_)):
        # TF: a boolean would be a mask, and a mask needs a dimension.
        raise ValueError("Ragged tensors cannot be indexed by booleans; use tf.ragged.boolean_mask.")
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu":
        return int(value)
    if isinstance(value, Tensor) and value.shape.rank in (0, None) and value.dtype in dtypes.INDEX:
        return int(value._a) if type(value) is EagerTensor else value
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
        f"tensors are valid indices, got {shown!r}"
    )


def _expanded(keys, rank):
    """The keys with the ellipsis at their head replaced by as many full slices as it stands for."""
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    given = sum(1 for key in keys if key is not Ellipsis and key is not None)
    return [_ALL] * max(0, rank - given) + keys[1:]


def _nrows(value, dtype):
    return value.nrows() if isinstance(value, RaggedTensor) else first_dimension(value, dtype)


def _outer(rt, keys):
    """`rt[keys]`."""
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[tuple(keys)]
    key, rest = keys[0], keys[1:]
    if key is Ellipsis:
        return _outer(rt, _expanded(keys, rt.shape.rank))
    if key is None:
        inner = _outer(rt, rest)
        if not isinstance(inner, RaggedTensor):
            return EXPAND_DIMS(inner, 0)
        return RaggedTensor.from_uniform_row_length(inner, inner.nrows(), nrows=1, validate=False)
    if isinstance(key, slice):
        return _inner(_sliced_rows(rt, key), rest)
    splits = rt.row_splits
    start, end = _row_bounds(splits, key)
    return _outer(_outer(rt.values, [slice(start, end, None)]), rest)


def _row_bounds(splits, key):
    """Where a row begins and ends."""
    if type(key) is int and type(splits) is EagerTensor:
        count = splits._a.size - 1
        if key >= count:
            raise IndexError(f"Row key {key} out of bounds")
        if key < -count:
            raise errors.invalid_argument(f"Row key {key} out of bounds for {count} rows.")
        at = key % count
        return int(splits._a[at]), int(splits._a[at + 1])
    return splits[:-1][key], splits[1:][key]


def _sliced_rows(rt, key):
    """`rt[a:b:c]`."""
    if key == _ALL:
        return rt
    length = rt.uniform_row_length
    starts, limits = rt.row_splits[:-1][key], rt.row_splits[1:][key]
    if key.step is None or (type(key.step) is int and key.step == 1):
        # The selected rows are one piece of the values.
        if type(starts) is EagerTensor:
            first, last = (starts._a[0], limits._a[-1]) if starts._a.size else (0, 0)
            splits = EagerTensor(np.append(starts._a, starts.dtype._np.type(last)) - first, starts.dtype)
            values = _outer(rt.values, [slice(int(first), int(last), None)])
        else:
            zero = to_tensor([0], starts.dtype)
            first = CONCAT([starts, zero], 0)[0]
            last = CONCAT([zero, limits], 0)[-1]
            ends = CONCAT([starts, EXPAND_DIMS(last, 0)], 0)
            splits = SUB(ends, first)
            values = _outer(rt.values, [slice(first, last, None)])
        result = RaggedTensor.from_row_splits(values, splits, validate=False)
    else:
        result = value_ranges(rt.values, starts, limits, to_tensor(1, starts.dtype))
    if length is None:
        return result
    partition = RowPartition.from_uniform_row_length(
        length,
        nrows=first_dimension(starts, starts.dtype),
        nvals=_nrows(result.values, starts.dtype),
        validate=False,
    )
    return RaggedTensor._from_row_partition(result.values, partition, validate=False)


def _inner(rt, keys):
    """`rt[:, keys]`: the keys apply to each row."""
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[(_ALL, *keys)]
    key, rest = keys[0], keys[1:]
    if key is Ellipsis:
        rank = rt.shape.rank
        return _inner(rt, _expanded(keys, None if rank is None else rank - 1))
    if key is None:
        inner = _inner(rt, rest)
        return RaggedTensor.from_uniform_row_length(
            inner, to_tensor(1, rt.row_splits.dtype), nrows=rt.nrows(), validate=False
        )
    if isinstance(key, slice):
        sliced = rt if key == _ALL else _sliced_columns(rt, key)
        return sliced.with_values(_inner(sliced.values, rest)) if rest else sliced
    return _inner(_column(rt, key), rest)


def _column(rt, key):
    """`rt[:, i]`, which needs rows of one length."""
    length = rt.uniform_row_length
    if length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    key = to_tensor(key, length.dtype) if type(key) is int else cast_to(key, length.dtype)
    message = "Index out of bounds when indexing into a ragged tensor"
    require(LESS(key, length), message, key)
    require(GREATER_EQUAL(key, NEG(length)), message, key)
    place = FLOOR_MOD(key, MAXIMUM(length, to_tensor(1, length.dtype)))
    if type(place) is EagerTensor and type(length) is EagerTensor:
        return _outer(rt.values, [slice(int(place._a), None, int(length._a))])
    return _outer(rt.values, [slice(place, None, length)])


def _sliced_columns(rt, key):
    """`rt[:, a:b:c]`, row by row as Python slices do."""
    partition = rt._row_partition
    dtype = partition.dtype
    step = 1 if key.step is None else key.step
    lengths, begins = partition.row_lengths(), partition.row_starts()
    zero, one = to_tensor(0, dtype), to_tensor(1, dtype)
    down = LESS(_as(step, dtype), zero)
    # Positions within a row: from 0 to its length, or for negative steps from -1 to one less.
    lowest = SELECT_V2(down, NEG(one), zero)
    highest = SELECT_V2(down, SUB(lengths, one), lengths)

    def bound(value, default):
        if value is None:
            return default
        value = _as(value, dtype)
        counted = SELECT_V2(LESS(value, zero), ADD(lengths, value), value)
        return MINIMUM(MAXIMUM(counted, lowest), highest)

    starts = bound(key.start, SELECT_V2(down, highest, ZEROS_LIKE(lengths)))
    limits = bound(key.stop, SELECT_V2(down, SUB(ZEROS_LIKE(lengths), one), highest))
    result = value_ranges(rt.values, ADD(begins, starts), ADD(begins, limits), _as(step, dtype))
    if partition.is_uniform():
        kept = result._row_partition.row_lengths()
        # All rows are alike; without rows the length is that of an imagined one.
        if kept.shape[0]:
            length = kept[0]
            return RaggedTensor._from_row_partition(
                result.values,
                RowPartition.from_uniform_row_length(
                    length, nrows=partition.nrows(), nvals=_nrows(result.values, dtype), validate=False
                ),
                validate=False,
            )
    return result


def _as(value, dtype):
    return to_tensor(value, dtype) if type(value) is int else cast_to(value, dtype)
