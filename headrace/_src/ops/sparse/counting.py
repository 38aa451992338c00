"""Counting the values of sparse, ragged and dense tensors: `tf.sparse.bincount` and what `tf.math.bincount` needs."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.ragged.row_arithmetic import cast_to
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.indices import check_components
from headrace._src.ops.sparse.tensor import SparseTensor

_COUNTED = frozenset({dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64})


# Counts as a sparse tensor.


def _check_weights(op, values, weights):
    if weights.size and weights.shape != values.shape:
        raise errors.invalid_argument(
            f"{op}: Weights and data must have the same shape. Weight shape: {weights.shape}; data shape: "
            f"{values.shape}."
        )


def _counted(op, rows, nrows, values, weights, minlength, maxlength, binary_output):
    """Counts as sparse components; `rows` is None when there is only one row, without a dimension."""
    _check_weights(op, values, weights)
    if values.size and values.min() < 0:
        raise errors.invalid_argument(f"{op}: Input values must all be non-negative, got {values.min()}.")
    # TF: without values the result still has room for 0.
    highest = int(values.max()) if values.size else 0
    width = maxlength if maxlength > 0 else max(highest + 1, minlength)
    kept = np.ones(values.shape, bool) if maxlength < 0 else values < maxlength
    values = values[kept]
    rows = np.zeros(values.shape, np.int64) if rows is None else rows[kept]
    pairs = np.stack([rows, values.astype(np.int64)], axis=1)
    order = np.lexsort(pairs.T[::-1])
    pairs = pairs[order]
    changes = np.ones(len(pairs), bool)
    changes[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    starts = np.flatnonzero(changes)
    if binary_output:
        counts = np.ones(len(starts), weights.dtype)
    elif weights.size and len(starts):
        counts = np.add.reduceat(weights[kept][order], starts)
    else:
        counts = np.diff(np.append(starts, len(pairs)))
    indices = pairs[starts]
    shape = [nrows, max(width, 0)]
    if nrows is None:
        indices, shape = indices[:, 1:], shape[1:]
    return indices, counts.astype(weights.dtype), np.array(shape, np.int64)


def _dense_kernel(values, weights, minlength, maxlength, binary_output):
    op = "DenseCountSparseOutput"
    if values.ndim not in (1, 2):
        raise errors.invalid_argument(
            f"{op}: Input must be a 1 or 2-dimensional tensor, got shape {values.shape}."
        )
    _check_weights(op, values, weights)
    if values.ndim == 1:
        return _counted(op, None, None, values, weights, minlength, maxlength, binary_output)
    rows = np.repeat(np.arange(values.shape[0]), values.shape[1])
    return _counted(
        op, rows, values.shape[0], values.ravel(), weights.ravel(), minlength, maxlength, binary_output
    )


def _sparse_kernel(indices, values, dense_shape, weights, minlength, maxlength, binary_output):
    op = "SparseCountSparseOutput"
    check_components(op, indices, values, dense_shape, ("indices", "values", "dense_shape"))
    if indices.shape[1] not in (1, 2):
        raise errors.invalid_argument(f"{op}: the rank must be 1 or 2, got {indices.shape[1]}.")
    if indices.shape[1] == 1:
        return _counted(op, None, None, values, weights, minlength, maxlength, binary_output)
    rows, count = indices[:, 0], int(dense_shape[0])
    _check_rows(op, rows, count)
    return _counted(op, rows, count, values, weights, minlength, maxlength, binary_output)


def _check_rows(op, rows, count):
    outside = (rows < 0) | (rows >= count)
    if outside.any():
        raise errors.invalid_argument(
            f"{op}: row {rows[outside][0]} is out of bounds for dense_shape[0] = {count}."
        )


def _rows_from_splits(op, splits, nvals):
    if splits.ndim != 1 or not splits.size:
        raise errors.invalid_argument(
            f"{op}: splits must be a vector of at least one, got shape {splits.shape}."
        )
    if splits[0] != 0:
        raise errors.invalid_argument(f"{op}: Splits must start with 0, not with {splits[0]}.")
    if (splits[1:] < splits[:-1]).any():
        raise errors.invalid_argument(f"{op}: splits must be ascending, got {splits}.")
    if splits[-1] != nvals:
        raise errors.invalid_argument(
            f"{op}: Splits must end with the number of values, got {splits[-1]} instead of {nvals}."
        )
    return np.repeat(np.arange(splits.size - 1), np.diff(splits))


def _ragged_kernel(splits, values, weights, minlength, maxlength, binary_output):
    op = "RaggedCountSparseOutput"
    if values.ndim != 1:
        raise errors.invalid_argument(f"{op}: values must be a vector, got shape {values.shape}.")
    rows = _rows_from_splits(op, splits, values.size)
    return _counted(op, rows, splits.size - 1, values, weights, minlength, maxlength, binary_output)


def _rank_infer(rank):
    return TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])


_COUNT_ATTRIBUTES = (
    "*, minlength: int = -1, maxlength: int = -1, binary_output: bool "
    "-> output_indices: int64, output_values: output_type, output_dense_shape: int64"
)

# How many different values there are depends on the data: host only.
DENSE_COUNT_SPARSE_OUTPUT = Op(
    "DenseCountSparseOutput",
    f"values: T, weights: output_type, {_COUNT_ATTRIBUTES}",
    T=dtypes.INDEX,
    output_type=_COUNTED,
    infer=lambda values, weights, **attrs: _rank_infer(values.shape.rank),
    kernel=_dense_kernel,
    lower=None,
    grad=unregistered,
)

SPARSE_COUNT_SPARSE_OUTPUT = Op(
    "SparseCountSparseOutput",
    f"indices: int64, values: T, dense_shape: int64, weights: output_type, {_COUNT_ATTRIBUTES}",
    T=dtypes.INDEX,
    output_type=_COUNTED,
    infer=lambda indices, values, dense_shape, weights, **attrs: _rank_infer(
        dense_shape.shape[0] if dense_shape.shape.rank else None
    ),
    kernel=_sparse_kernel,
    lower=None,
    grad=unregistered,
)

RAGGED_COUNT_SPARSE_OUTPUT = Op(
    "RaggedCountSparseOutput",
    f"splits: int64, values: T, weights: output_type, {_COUNT_ATTRIBUTES}",
    T=dtypes.INDEX,
    output_type=_COUNTED,
    infer=lambda splits, values, weights, **attrs: _rank_infer(2),
    kernel=_ragged_kernel,
    lower=None,
    grad=unregistered,
)


# Counts as a dense tensor.


def _check_bincount(op, values, size, weights):
    if size.ndim:
        raise errors.invalid_argument(f"{op}: Size must be a scalar, got shape {size.shape}.")
    if int(size) < 0:
        raise errors.invalid_argument(f"{op}: size ({int(size)}) must be non-negative.")
    if weights.size and weights.shape != values.shape:
        raise errors.invalid_argument(
            f"{op}: `weights` must be the same shape as `values` or a length-0 tensor, got {weights.shape} and "
            f"{values.shape}."
        )


def _bins(op, rows, nrows, values, size, weights, binary_output):
    """Counts [nrows, size]; values of `size` or more do not count."""
    _check_bincount(op, values, size, weights)
    if values.size and values.min() < 0:
        raise errors.invalid_argument(f"{op}: Input must be non-negative, got {values.min()}.")
    width = int(size)
    kept = values < width
    result = np.zeros((nrows, width), weights.dtype)
    places = rows[kept] * width + values[kept]
    if binary_output:
        result.reshape(-1)[places] = 1
    elif weights.size:
        np.add.at(result.reshape(-1), places, weights[kept])
    else:
        result.reshape(-1)[...] = np.bincount(places, minlength=nrows * width)
    return result


def _sparse_bincount_kernel(indices, values, dense_shape, size, weights, binary_output):
    op = "SparseBincount"
    check_components(op, indices, values, dense_shape, ("indices", "values", "dense_shape"))
    if indices.shape[1] == 1:
        rows = np.zeros(values.shape, np.int64)
        return _bins(op, rows, 1, values, size, weights, binary_output)[0]
    if indices.shape[1] != 2:
        raise errors.invalid_argument(f"{op}: the rank must be 1 or 2, got {indices.shape[1]}.")
    rows, count = indices[:, 0], int(dense_shape[0])
    _check_rows(op, rows, count)
    return _bins(op, rows, count, values, size, weights, binary_output)


def _ragged_bincount_kernel(splits, values, size, weights, binary_output):
    op = "RaggedBincount"
    if values.ndim != 1:
        raise errors.invalid_argument(f"{op}: values must be a vector, got shape {values.shape}.")
    rows = _rows_from_splits(op, splits, values.size)
    return _bins(op, rows, splits.size - 1, values, size, weights, binary_output)


def _bins_lower(ctx, op, rows, nrows, values, size, weights, binary_output):
    _check_bincount(op, values, size, weights)
    ctx.check(jnp.all(values >= 0), errors.InvalidArgumentError, f"{op}: Input must be non-negative")
    ctx.check(
        jnp.all((rows >= 0) & (rows < nrows)), errors.InvalidArgumentError, f"{op}: rows are out of bounds"
    )
    width = int(size)
    # What is beyond the size goes into one more column, which is dropped.
    columns = jnp.minimum(values, width)
    result = jnp.zeros((nrows, width + 1), weights.dtype)
    if binary_output:
        result = result.at[rows, columns].set(1)
    else:
        added = weights if weights.size else jnp.ones(values.shape, weights.dtype)
        result = result.at[rows, columns].add(added)
    return result[:, :width]


def _sparse_bincount_lower(ctx, indices, values, dense_shape, size, weights, binary_output):
    op = "SparseBincount"
    check_components(op, indices, values, dense_shape, ("indices", "values", "dense_shape"))
    if indices.shape[1] == 1:
        rows = jnp.zeros(values.shape, jnp.int64)
        return _bins_lower(ctx, op, rows, 1, values, size, weights, binary_output)[0]
    return _bins_lower(ctx, op, indices[:, 0], int(dense_shape[0]), values, size, weights, binary_output)


def _ragged_bincount_lower(ctx, splits, values, size, weights, binary_output):
    op = "RaggedBincount"
    ctx.check(
        (splits[0] == 0) & jnp.all(splits[1:] >= splits[:-1]) & (splits[-1] == values.shape[0]),
        errors.InvalidArgumentError,
        f"{op}: splits must ascend from 0 to the number of values",
    )
    rows = jnp.searchsorted(splits[1:], jnp.arange(values.shape[0]), side="right")
    return _bins_lower(ctx, op, rows, splits.shape[0] - 1, values, size, weights, binary_output)


def _width(size):
    return None if size.value is None else int(size.value)


def _sparse_bincount_infer(indices, values, dense_shape, size, weights, binary_output):
    rank = dense_shape.shape[0] if dense_shape.shape.rank else None
    if rank is None:
        return TensorShape(None)
    if rank == 1:
        return TensorShape([_width(size)])
    rows = None if dense_shape.value is None else int(np.asarray(dense_shape.value)[0])
    return TensorShape([rows, _width(size)])


def _ragged_bincount_infer(splits, values, size, weights, binary_output):
    rows = splits.shape[0] if splits.shape.rank else None
    return TensorShape([None if rows is None else rows - 1, _width(size)])


SPARSE_BINCOUNT = Op(
    "SparseBincount",
    "indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T, *, binary_output: bool = False "
    "-> output: T",
    Tidx=dtypes.INDEX,
    T=_COUNTED,
    infer=_sparse_bincount_infer,
    kernel=_sparse_bincount_kernel,
    lower=_sparse_bincount_lower,
    static=("dense_shape", "size"),
    grad=unregistered,
)

RAGGED_BINCOUNT = Op(
    "RaggedBincount",
    "splits: int64, values: Tidx, size: Tidx, weights: T, *, binary_output: bool = False -> output: T",
    Tidx=dtypes.INDEX,
    T=_COUNTED,
    infer=_ragged_bincount_infer,
    kernel=_ragged_bincount_kernel,
    lower=_ragged_bincount_lower,
    static=("size",),
    grad=unregistered,
)


@api("sparse.bincount")
def bincount(
    values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None
) -> SparseTensor:
    """How often each number occurs, as a sparse tensor.

    >>> counts = tf.sparse.bincount([[1, 1, 2], [0, 0, 0]], axis=-1)
    >>> counts.indices.numpy().tolist(), counts.values.numpy().tolist()
    ([[0, 1], [0, 2], [1, 0]], [2, 1, 3])

    Args:
        values: non-negative integers: a tensor, sparse or ragged tensor.
        weights: what to add for each value instead of 1, of the same form.
        axis: 0 to count all values together, -1 to count each row.
        minlength: the least size of the result.
        maxlength: numbers that are not smaller do not count, and the result has this size.
        binary_output: 1 for every number that occurs, instead of the count.
        name: a name for the operation.

    Raises:
        ValueError: for other axes.
        InvalidArgumentError: when a value is negative.
    """
    if axis not in (0, -1, None):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    if not isinstance(values, (SparseTensor, RaggedTensor)):
        values = to_tensor(values)
    if not values.dtype.is_integer:
        raise errors.DTypeMismatchError(f"sparse.bincount: values must be integers, got {values.dtype.name}.")
    if values.dtype not in dtypes.INDEX and not isinstance(values, (SparseTensor, RaggedTensor)):
        values = cast_to(values, dtypes.int32 if values.dtype.size < 4 else dtypes.int64)
    if axis != -1 and axis is not None:
        values, weights = _flattened(values, weights)
    attrs = dict(
        minlength=-1 if minlength is None else int(minlength),
        maxlength=-1 if maxlength is None else int(maxlength),
        binary_output=binary_output,
        name=name,
    )
    if isinstance(values, SparseTensor):
        own = _weights_of(values, weights)
        parts = SPARSE_COUNT_SPARSE_OUTPUT(values.indices, values.values, values.dense_shape, own, **attrs)
    elif isinstance(values, RaggedTensor):
        own = _weights_of(values, weights)
        splits = cast_to(values.row_splits, dtypes.int64)
        parts = RAGGED_COUNT_SPARSE_OUTPUT(splits, values.values, own, **attrs)
    else:
        own = _no_weights(values) if weights is None else to_tensor(weights)
        parts = DENSE_COUNT_SPARSE_OUTPUT(values, own, **attrs)
    return SparseTensor(*parts)


def _no_weights(values):
    return to_tensor(np.zeros(0, values.dtype._np))  # TF: counts are of the dtype of what is counted


def _flattened(values, weights):
    """Values and weights as vectors."""
    if isinstance(values, SparseTensor):
        if weights is not None:
            weights = _weights_of(values, weights)
        return values.values, weights
    if isinstance(values, RaggedTensor):
        if weights is not None:
            weights = _weights_of(values, weights)
        return values.flat_values, weights
    if weights is not None:
        weights = RESHAPE(to_tensor(weights), [-1])
    return RESHAPE(values, [-1]), weights


def _weights_of(values, weights):
    """The weights of a sparse or ragged tensor as a vector.

    Raises:
        ValueError: when they are of another form.
    """
    if weights is None:
        return _no_weights(values)
    if type(weights) is not type(values):
        raise ValueError(
            f"sparse.bincount: weights must be a {type(values).__name__} as values is, got "
            f"{type(weights).__name__}."
        )
    return weights.values if isinstance(values, SparseTensor) else weights.flat_values
