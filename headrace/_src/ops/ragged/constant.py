"""`tf.ragged.constant`: ragged tensors from nested Python lists."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.composite import CompositeTensor
from headrace._src.op.api import api
from headrace._src.op.convert import MAX_RANK, to_tensor
from headrace._src.ops.arrays.constants import constant as dense_constant
from headrace._src.ops.ragged.tensor import RaggedTensor

_LISTS = (list, tuple, np.ndarray)


@api("ragged.constant", dispatch=False, told=True)
def constant(
    pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=dtypes.int64
) -> RaggedTensor:
    """A ragged tensor from a nested list.

    >>> tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
    <tf.RaggedTensor [[1, 2], [3], [4, 5, 6]]>
    >>> tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1).shape
    TensorShape([2, None, 2])

    Args:
        pylist: nested lists, tuples or arrays; all scalars must be at the same depth.
        dtype: the dtype of the values; chosen from the scalars if None.
        ragged_rank: the number of ragged dimensions; as many as there can be if None.
        inner_shape: the shape of the dense dimensions inside the ragged ones.
        name: accepted for compatibility.
        row_splits_dtype: int32 or int64.

    Returns:
        A ragged tensor, or a tensor if the ragged rank is 0.

    Raises:
        ValueError: when the scalars are at different depths, or depth, rank and shape do not fit together.
    """
    row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(pylist, CompositeTensor):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    if ragged_rank is not None and ragged_rank >= MAX_RANK:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be less than {MAX_RANK}")
    if not isinstance(pylist, _LISTS) or (isinstance(pylist, np.ndarray) and pylist.ndim == 0):
        if ragged_rank is not None and ragged_rank != 0:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner_shape is not None and tuple(inner_shape):
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}")
        return dense_constant(pylist, dtype)
    scalar_depth, max_depth = _depths(pylist)
    if scalar_depth is not None:
        if max_depth > scalar_depth:
            raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
        if ragged_rank is not None and scalar_depth <= ragged_rank:
            raise ValueError(
                f"pylist has scalar values depth {scalar_depth}, but ragged_rank={ragged_rank} requires scalar value "
                f"depth greater than {ragged_rank}"
            )
    if inner_shape is not None:
        inner_shape = tuple(inner_shape)
        if ragged_rank is not None:
            expected = ragged_rank + len(inner_shape) + 1
            if (scalar_depth is not None and expected != scalar_depth) or (
                scalar_depth is None and expected < max_depth
            ):
                raise ValueError(
                    f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                    f"dim(inner_shape)={len(inner_shape)}"
                )
        elif scalar_depth is None:
            ragged_rank = max_depth - 1
        else:
            ragged_rank = max(0, scalar_depth - 1 - len(inner_shape))
    elif ragged_rank is None:
        inner_shape = ()
        ragged_rank = max_depth - 1
    else:
        inner_shape = _inner_shape(pylist, ragged_rank)
    if ragged_rank == 0:
        shape = (len(pylist), *inner_shape)
        return _values(pylist, dtype, inner_shape) if _is_empty(pylist) else dense_constant(pylist, dtype, shape)
    if max_depth > ragged_rank + 1 + len(inner_shape):
        raise ValueError(f"Invalid pylist={pylist!r}: nested deeper than ragged_rank and inner_shape allow")
    nested, level = [], pylist
    for _ in range(ragged_rank):
        splits = np.zeros(len(level) + 1, row_splits_dtype._np)
        np.cumsum([len(row) for row in level], out=splits[1:])
        nested.append(splits)
        level = [item for row in level for item in row]
    values = _values(level, dtype, inner_shape)
    return RaggedTensor.from_nested_row_splits(values, nested, validate=False)


def _values(items, dtype, inner_shape):
    if not items or (inner_shape and 0 in inner_shape):
        empty = np.zeros((len(items) if items else 0, *inner_shape), (dtype or dtypes.float32)._np)
        if dtype is dtypes.string:
            empty = np.full(empty.shape, b"", object)
        return to_tensor(empty, dtype)
    return dense_constant(items, dtype, (len(items), *inner_shape))


def _is_empty(pylist):
    return len(pylist) == 0 or all(isinstance(item, _LISTS) and _is_empty(item) for item in pylist)


def _depths(pylist):
    """The depth of the scalars (None without any) and of the deepest list.

    Raises:
        ValueError: when scalars are at different depths.
    """
    if not isinstance(pylist, _LISTS) or (isinstance(pylist, np.ndarray) and pylist.ndim == 0):
        return 0, 0
    if isinstance(pylist, np.ndarray) and pylist.dtype != object:
        depth = pylist.ndim
        return (depth if pylist.size else None), depth
    scalar_depth, max_depth = None, 1
    for child in pylist:
        scalar, deepest = _depths(child)
        if scalar is not None:
            if scalar_depth is not None and scalar_depth != scalar + 1:
                raise ValueError(f"Invalid pylist={pylist!r}: nesting level mismatch")
            scalar_depth = scalar + 1
        max_depth = max(max_depth, deepest + 1)
    return scalar_depth, max_depth


def _inner_shape(pylist, ragged_rank):
    """The shape of the dense dimensions below `ragged_rank` ragged ones.

    Raises:
        ValueError: when lists in them have different lengths.
    """
    level = list(pylist)
    for _ in range(ragged_rank):
        level = [item for row in level for item in row] if all(isinstance(r, _LISTS) for r in level) else []
    shape = []
    while level and isinstance(level[0], _LISTS):
        lengths = {len(item) if isinstance(item, _LISTS) else -1 for item in level}
        if len(lengths) > 1:
            raise ValueError("inner values have inconsistent shape")
        shape.append(len(level[0]))
        level = [item for row in level for item in row]
    return tuple(shape)
