"""Ragged tensors as dense and as sparse ones: the ops behind `RaggedTensor.to_tensor` and `to_sparse`."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.op.definition import Op
from headrace._src.op.infer import shape_from_value
from headrace._src.ops.arrays.broadcasting import BROADCAST_GRADIENT_ARGS, SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.comparison import GREATER
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_SUM


def checked_splits(op, splits, nvals):
    """Row splits that can be used as positions among `nvals` values, as int64, or InvalidArgumentError."""
    if splits.ndim != 1:
        raise errors.invalid_argument(f"{op}: row splits must be a vector, got shape {splits.shape}.")
    if not splits.size:
        raise errors.invalid_argument(f"{op}: row splits may not be empty.")
    if splits[0] != 0:
        raise errors.invalid_argument(f"{op}: row splits must begin with 0, got {splits[0]}.")
    if (splits[1:] < splits[:-1]).any():
        raise errors.invalid_argument(f"{op}: row splits must be ascending, got {splits}.")
    if nvals is not None and splits[-1] != nvals:
        raise errors.invalid_argument(f"{op}: row splits end at {splits[-1]}, but there are {nvals} values.")
    return splits.astype(np.int64)


def _partition_ids(op, kind, tensor, nrows, nvals):
    """(number of rows, row of each value) of one encoded partition; `nrows` is None for the outermost one."""
    if kind == "ROW_SPLITS":
        splits = checked_splits(op, tensor, nvals)
        if nrows is not None and splits.size - 1 != nrows:
            raise errors.invalid_argument(
                f"{op}: a partition has {splits.size - 1} rows, but the one around it has {nrows} values."
            )
        return splits.size - 1, np.repeat(np.arange(splits.size - 1), np.diff(splits))
    if kind == "VALUE_ROWIDS":
        if tensor.ndim != 1:
            raise errors.invalid_argument(f"{op}: value_rowids must be a vector, got shape {tensor.shape}.")
        ids = tensor.astype(np.int64)
        if nvals is not None and ids.size != nvals:
            raise errors.invalid_argument(f"{op}: {ids.size} value_rowids for {nvals} values.")
        if ids.size and (ids[0] < 0 or (ids[1:] < ids[:-1]).any() or (nrows is not None and ids[-1] >= nrows)):
            raise errors.invalid_argument(f"{op}: value_rowids must be ascending in [0, {nrows}), got {ids}.")
        return nrows, ids
    raise errors.invalid_argument(f"{op}: unsupported row partition type {kind!r}.")


def _decoded(op, tensors, types, nvals):
    """The number of rows, and for each level the row of each value, outermost first."""
    if not types or len(types) != len(tensors):
        raise errors.invalid_argument(f"{op}: {len(tensors)} row_partition_tensors, but row_partition_types {types}.")
    tensors, types = list(tensors), list(types)
    nrows = None
    if types[0] == "FIRST_DIM_SIZE":
        if tensors[0].ndim:
            raise errors.invalid_argument(f"{op}: FIRST_DIM_SIZE must be a scalar, got shape {tensors[0].shape}.")
        nrows = int(tensors[0])
        if nrows < 0:
            raise errors.invalid_argument(f"{op}: FIRST_DIM_SIZE must not be negative, got {nrows}.")
        tensors, types = tensors[1:], types[1:]
    levels, rows = [], nrows
    for i, (kind, tensor) in enumerate(zip(types, tensors)):
        rows, ids = _partition_ids(op, kind, tensor, rows, nvals if i == len(types) - 1 else None)
        if i == 0:
            nrows = rows
        if nrows is None:
            raise errors.invalid_argument(f"{op}: VALUE_ROWIDS as the first type needs FIRST_DIM_SIZE before it.")
        levels.append((rows, ids))
        rows = ids.size
    return nrows, levels


def _offsets(ids, nrows):
    """The place of each value within its row."""
    counts = np.bincount(ids, minlength=nrows)
    return np.arange(ids.size) - (np.cumsum(counts) - counts)[ids]


def _rows_filled_up(splits, values, width, default):
    """Rows of values as those of a matrix: cut off, or filled up with the default."""
    lengths = splits[1:] - splits[:-1]
    longest = int(lengths.max(initial=0))
    width = longest if width == -1 else width
    result = np.empty((len(lengths), width, *values.shape[1:]), values.dtype)
    result[...] = default
    if longest > width:
        values = values[_offsets(np.repeat(np.arange(len(lengths)), lengths), len(lengths)) < width]
    result[np.arange(width) < lengths[:, None]] = values
    return result


def _dense_kernel(shape, values, default_value, row_partition_tensors, row_partition_types):
    op = "RaggedTensorToTensor"
    if values.ndim < 1:
        raise errors.invalid_argument(f"{op}: values must have at least one dimension, got a scalar.")
    inner = values.shape[1:]
    depth = len(row_partition_types) - ("FIRST_DIM_SIZE" in row_partition_types[:1])
    splits = None
    if list(row_partition_types) == ["ROW_SPLITS"] and len(row_partition_tensors) == 1:
        splits = checked_splits(op, row_partition_tensors[0], values.shape[0])
    else:
        nrows, levels = _decoded(op, row_partition_tensors, row_partition_types, values.shape[0])
    rank = depth + 1 + len(inner)
    if shape.ndim == 0:
        if shape != -1:
            raise errors.invalid_argument(f"{op}: a scalar shape must be -1, got {shape}.")
        wanted = [-1] * rank
    else:
        wanted = shape.tolist()
    if len(wanted) != rank:
        raise errors.invalid_argument(
            f"{op}: rt_input.shape and shape={_dims(wanted)} are incompatible: rt_input.rank = {rank} but "
            f"shape.rank = {len(wanted)}."
        )
    for i, n in enumerate(inner, depth + 1):
        if wanted[i] not in (-1, n):
            raise errors.invalid_argument(
                f"{op}: rt_input.shape and shape={_dims(wanted)} are incompatible: rt_input.shape[{i}] = {n} "
                f"but shape[{i}] = {wanted[i]}."
            )
    if any(n < -1 for n in wanted):
        raise errors.invalid_argument(f"{op}: shape must have dimensions >= -1, got {wanted}.")
    _check_default(op, default_value, values)
    if splits is not None:
        if wanted[0] in (-1, splits.size - 1):
            return _rows_filled_up(splits, values, wanted[1], default_value)
        nrows, levels = _decoded(op, row_partition_tensors, row_partition_types, values.shape[0])
    dims = [nrows if wanted[0] == -1 else wanted[0]]
    position = np.arange(nrows)
    position[position >= dims[0]] = -1
    for i, (rows, ids) in enumerate(levels, 1):
        offsets = _offsets(ids, rows)
        width = wanted[i] if wanted[i] != -1 else (int(offsets.max()) + 1 if offsets.size else 0)
        dims.append(width)
        parents = position[ids]
        position = np.where((parents >= 0) & (offsets < width), parents * width + offsets, -1)
    result = np.empty((math.prod(dims), *inner), values.dtype)
    result[...] = default_value
    kept = position >= 0
    result[position[kept]] = values[kept]
    return result.reshape(*dims, *inner)


def _check_default(op, default, values):
    try:
        fits = np.broadcast_shapes(default.shape, values.shape[1:]) == values.shape[1:]
    except ValueError:
        fits = False
    if not fits:
        raise errors.invalid_argument(
            f"{op}: default_value.shape={_dims(default.shape)} and rt_input.flat_values.shape="
            f"{_dims(values.shape)} are incompatible."
        )


def _dims(dims):
    return "[" + ",".join("?" if n == -1 else str(n) for n in dims) + "]"


def _dense_infer(shape, values, default_value, row_partition_tensors, row_partition_types):
    ragged = sum(kind != "FIRST_DIM_SIZE" for kind in row_partition_types)
    inner = None if values.shape.rank is None else values.shape[1:]
    known = TensorShape(None) if inner is None else TensorShape([None] * (ragged + 1)).concatenate(inner)
    if shape.shape.rank == 0:
        wanted = TensorShape(None)
    else:
        wanted = shape_from_value(shape)
    try:
        return known.merge_with(wanted)
    except ValueError:
        raise errors.invalid_argument(
            f"RaggedTensorToTensor: rt_input.shape {known} and shape {wanted} are incompatible."
        ) from None


def _dense_grad(node, dy):
    """Values take their own element of dy, the default value the sum of the others."""
    shape, values_shape = node.shape, node.values_shape
    partitions, types = node.row_partition_tensors, node.attrs["row_partition_types"]
    count = values_shape[0]
    limit = CAST(count, DstT=dtypes.int64) + _int64(1)
    numbers = RANGE(_int64(1), limit, _int64(1))
    # For each element of the result outside the inner dimensions: one more than the value there, 0 for none.
    ragged = sum(kind != "FIRST_DIM_SIZE" for kind in types)
    outer = shape if len(node.shape.shape) == 0 else shape[: ragged + 1]
    places = RAGGED_TENSOR_TO_TENSOR(outer, numbers, _int64(0), partitions, row_partition_types=types)
    d_values = d_default = None
    if node.wants(1):
        d_values = UNSORTED_SEGMENT_SUM(dy, places - _int64(1), count)
    if node.wants(2):
        # Segment 0 are the places without a value; negative segments are left out.
        empty = -CAST(GREATER(places, _int64(0)), DstT=dtypes.int32)
        total = UNSORTED_SEGMENT_SUM(dy, empty, 1)[0]
        d_default = _sum_to(total, node.default_value_shape)
    return None, d_values, d_default, [None] * len(partitions)


def _sum_to(tensor, shape):
    """Undo broadcasting: sum a tensor to `shape`."""
    own = tensor.shape.as_list() if tensor.shape.is_fully_defined() else SHAPE(tensor)
    reduced = BROADCAST_GRADIENT_ARGS(_as_int32(own), _as_int32(shape)).r1
    return RESHAPE(SUM(tensor, reduced), shape)


def _as_int32(shape):
    return np.array(shape, np.int32) if isinstance(shape, (tuple, list)) else shape


def _int64(number):
    return np.array(number, np.int64)


# The shape of the result depends on the row lengths: host only.
RAGGED_TENSOR_TO_TENSOR = Op(
    "RaggedTensorToTensor",
    "shape: Tshape, values: T, default_value: T, row_partition_tensors: num_row_partition_tensors*Tindex, *, "
    "row_partition_types: list(string) -> result: T",
    Tindex=dtypes.INDEX,
    Tshape=dtypes.INDEX,
    infer=_dense_infer,
    kernel=_dense_kernel,
    lower=None,
    saves=("shape", "values_shape", "default_value_shape", "row_partition_tensors"),
    grad=_dense_grad,
)


def _sparse_kernel(rt_nested_splits, rt_dense_values):
    op = "RaggedTensorToSparse"
    if not rt_nested_splits:
        raise errors.invalid_argument(f"{op}: rt_nested_splits must be non-empty.")
    if rt_dense_values.ndim < 1:
        raise errors.invalid_argument(f"{op}: rt_dense_values must have at least one dimension, got a scalar.")
    levels = []
    for i, splits in enumerate(rt_nested_splits):
        inner = rt_nested_splits[i + 1].size - 1 if i + 1 < len(rt_nested_splits) else rt_dense_values.shape[0]
        levels.append(checked_splits(op, splits, inner))
    columns = [np.arange(levels[0].size - 1)]
    dims = [levels[0].size - 1]
    for splits in levels:
        lengths = np.diff(splits)
        ids = np.repeat(np.arange(lengths.size), lengths)
        columns = [column[ids] for column in columns] + [np.arange(ids.size) - splits[ids]]
        dims.append(int(lengths.max()) if lengths.size else 0)
    inner = rt_dense_values.shape[1:]
    size = math.prod(inner)
    indices = np.empty((rt_dense_values.size, len(columns) + len(inner)), np.int64)
    for i, column in enumerate(columns):
        indices[:, i] = np.repeat(column, size)
    if inner:
        places = np.indices(inner).reshape(len(inner), -1).T
        indices[:, len(columns) :] = np.tile(places, (rt_dense_values.shape[0], 1))
    return indices, rt_dense_values.reshape(-1), np.array([*dims, *inner], np.int64)


def _sparse_infer(rt_nested_splits, rt_dense_values):
    rank = None if rt_dense_values.shape.rank is None else rt_dense_values.shape.rank + len(rt_nested_splits)
    count = rt_dense_values.shape.num_elements()
    return TensorShape([count, rank]), TensorShape([count]), TensorShape([rank])


def _sparse_grad(node, d_indices, d_values, d_shape):
    splits = [None] * len(node.rt_nested_splits_shape)
    return splits, RESHAPE(d_values, node.rt_dense_values_shape)


# The dense shape depends on the row lengths, and components are checked: host only.
RAGGED_TENSOR_TO_SPARSE = Op(
    "RaggedTensorToSparse",
    "rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T -> sparse_indices: int64, sparse_values: T, "
    "sparse_dense_shape: int64",
    Tsplits=dtypes.INDEX,
    infer=_sparse_infer,
    kernel=_sparse_kernel,
    lower=None,
    saves=("rt_nested_splits_shape", "rt_dense_values_shape"),
    grad=_sparse_grad,
)
