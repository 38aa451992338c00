"""Sums, maxima and softmax along dimensions of sparse tensors."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import FILL, ONES_LIKE, RANGE
from headrace._src.ops.arrays.gathering import GATHER_ND
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.partitioning import DYNAMIC_STITCH
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.arithmetic import MINIMUM
from headrace._src.ops.math.division import FLOOR_MOD
from headrace._src.ops.sparse.dense import as_sparse
from headrace._src.ops.sparse.indices import (
    check_components,
    check_in_range,
    dense_dims,
    order_of,
    starts_of_groups,
)
from headrace._src.ops.sparse.tensor import SparseTensor

_NAMES = ("input_indices", "input_values", "input_shape")


def _axes(op, reduction_axes, rank):
    axes = np.asarray(reduction_axes).reshape(-1).tolist()
    for axis in axes:
        if not -rank <= axis < rank:
            raise errors.invalid_argument(
                f"{op}: Invalid reduction dimension {axis}, for input with {rank} dimensions."
            )
    return {axis % rank for axis in axes}


def _reduced(op, input_indices, input_values, input_shape, reduction_axes):
    """Indices of the groups, their totals' inputs in order, and the dimensions that stay."""
    check_components(op, input_indices, input_values, input_shape, _NAMES)
    dims = dense_dims(op, input_shape, "input_shape")
    axes = _axes(op, reduction_axes, len(dims))
    kept = [axis for axis in range(len(dims)) if axis not in axes]
    return dims, axes, kept


def _totals(op, function, input_indices, input_values, kept, dims):
    """For each group of equal kept indices: these indices, and the total of the values."""
    own = input_indices[:, kept]
    check_in_range(op, own, [dims[axis] for axis in kept], "input_indices")
    if not len(own):
        return own, input_values
    order = order_of(own)
    ordered, values = own[order], input_values[order]
    starts = starts_of_groups(ordered)
    if values.dtype.itemsize == 2 and values.dtype.kind in "fV":
        totals = function.reduceat(values.astype(np.float32), starts).astype(values.dtype)
    else:
        totals = function.reduceat(values, starts).astype(values.dtype, copy=False)
    return ordered[starts], totals


def _dense_kernel(op, function):
    def kernel(input_indices, input_values, input_shape, reduction_axes, keep_dims):
        dims, axes, kept = _reduced(op, input_indices, input_values, input_shape, reduction_axes)
        places, totals = _totals(op, function, input_indices, input_values, kept, dims)
        # TF: where there is no element at all the maximum is zero too.
        result = np.zeros([dims[axis] for axis in kept], input_values.dtype)
        if len(totals):
            result[tuple(places.T)] = totals if kept else totals[0]
        return result.reshape(_result_dims(dims, axes, keep_dims))

    return kernel


def _result_dims(dims, axes, keep_dims):
    if keep_dims:
        return [1 if axis in axes else n for axis, n in enumerate(dims)]
    return [n for axis, n in enumerate(dims) if axis not in axes]


def _sparse_kernel(op, function):
    def kernel(input_indices, input_values, input_shape, reduction_axes, keep_dims):
        dims, axes, kept = _reduced(op, input_indices, input_values, input_shape, reduction_axes)
        places, totals = _totals(op, function, input_indices, input_values, kept, dims)
        if keep_dims:
            wide = np.zeros((len(places), len(dims)), np.int64)
            wide[:, kept] = places
            places = wide
        return places, totals, np.array(_result_dims(dims, axes, keep_dims), np.int64)

    return kernel


def _dense_lower(op):
    def lower(ctx, input_indices, input_values, input_shape, reduction_axes, keep_dims):
        check_components(op, input_indices, input_values, input_shape, _NAMES)
        dims = dense_dims(op, input_shape, "input_shape")
        axes = _axes(op, reduction_axes, len(dims))
        kept = [axis for axis in range(len(dims)) if axis not in axes]
        shape = [dims[axis] for axis in kept]
        own = input_indices[:, np.array(kept, int)]
        ctx.check(
            jnp.all((own >= 0) & (own < jnp.asarray(shape, own.dtype))),
            errors.InvalidArgumentError,
            f"{op}: input_indices are out of bounds",
        )
        at = tuple(own.T)
        if op == "SparseReduceSum":
            result = jnp.zeros(shape, input_values.dtype)
            result = result.at[at].add(input_values) if kept else jnp.sum(input_values).astype(result.dtype)
        else:
            lowest = _lowest(input_values.dtype)
            result = jnp.full(shape, lowest, input_values.dtype)
            present = jnp.zeros(shape, bool)
            if kept:
                result = result.at[at].max(input_values)
                present = present.at[at].set(True)
            else:
                result = jnp.max(input_values, initial=lowest)
                present = jnp.asarray(input_values.shape[0] > 0)
            result = jnp.where(present, result, jnp.zeros_like(result))
        return result.reshape(_result_dims(dims, axes, keep_dims))

    return lower


def _lowest(dtype):
    if np.issubdtype(dtype, np.integer):
        return np.iinfo(dtype).min
    return -np.inf


def _rank_after(input_shape, reduction_axes, keep_dims):
    """The rank of the result, or None."""
    rank = input_shape.shape[0] if input_shape.shape.rank else None
    if rank is None or keep_dims:
        return rank
    if reduction_axes.value is None:
        return None
    axes = np.asarray(reduction_axes.value).reshape(-1)
    return rank - len({int(axis) % rank for axis in axes}) if rank else 0


def _dense_infer(input_indices, input_values, input_shape, reduction_axes, keep_dims):
    if input_shape.value is not None and reduction_axes.value is not None:
        dims = np.asarray(input_shape.value).tolist()
        return TensorShape(
            _result_dims(dims, _axes("SparseReduce", reduction_axes.value, len(dims)), keep_dims)
        )
    rank = _rank_after(input_shape, reduction_axes, keep_dims)
    return TensorShape(None if rank is None else [None] * rank)


def _sparse_infer(input_indices, input_values, input_shape, reduction_axes, keep_dims):
    rank = _rank_after(input_shape, reduction_axes, keep_dims)
    return TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])


def _sum_grad(node, dy):
    """Every element gets the gradient of the sum that it went into."""
    rank = node.input_indices.shape[1]
    if rank == 0:
        return None, FILL(SHAPE(node.input_indices)[:1], dy), None, None
    axes = FLOOR_MOD(node.reduction_axes, to_tensor(rank))
    ones = ONES_LIKE(axes)
    kept = DYNAMIC_STITCH(
        [to_tensor(np.arange(rank, dtype=np.int32)), axes],
        [node.input_shape, CAST(ones, DstT=dtypes.int64)],
    )
    # Index 0 in the dimensions that are gone.
    places = MINIMUM(node.input_indices, kept - to_tensor(1, dtypes.int64))
    return None, GATHER_ND(RESHAPE(dy, kept), places), None, None


_DENSE = (
    "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32, *, "
    "keep_dims: bool = False -> output: T"
)
_SPARSE = (
    "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32, *, "
    "keep_dims: bool = False -> output_indices: int64, output_values: T, output_shape: int64"
)

SPARSE_REDUCE_SUM = Op(
    "SparseReduceSum",
    _DENSE,
    T=dtypes.NUMBER,
    infer=_dense_infer,
    kernel=_dense_kernel("SparseReduceSum", np.add),
    lower=_dense_lower("SparseReduceSum"),
    static=("input_shape", "reduction_axes"),
    saves=("input_indices", "input_shape", "reduction_axes"),
    grad=_sum_grad,
)

SPARSE_REDUCE_MAX = Op(
    "SparseReduceMax",
    _DENSE,
    T=dtypes.REAL,
    infer=_dense_infer,
    kernel=_dense_kernel("SparseReduceMax", np.maximum),
    lower=_dense_lower("SparseReduceMax"),
    static=("input_shape", "reduction_axes"),
    grad=unregistered,
)

# How many groups there are depends on the data: host only.
SPARSE_REDUCE_SUM_SPARSE = Op(
    "SparseReduceSumSparse",
    _SPARSE,
    T=dtypes.NUMBER,
    infer=_sparse_infer,
    kernel=_sparse_kernel("SparseReduceSumSparse", np.add),
    lower=None,
    grad=unregistered,
)

SPARSE_REDUCE_MAX_SPARSE = Op(
    "SparseReduceMaxSparse",
    _SPARSE,
    T=dtypes.REAL,
    infer=_sparse_infer,
    kernel=_sparse_kernel("SparseReduceMaxSparse", np.maximum),
    lower=None,
    grad=unregistered,
)


def _reduce(dense, sparse, sp_input, axis, keepdims, output_is_sparse, name):
    sp_input = as_sparse(sp_input)
    if axis is None:
        rank = sp_input.dense_shape.shape[0]
        axis = (
            list(range(rank))
            if rank is not None
            else RANGE(0, SHAPE(sp_input.dense_shape)[0], 1)
        )
    axis = to_tensor(axis, hint=dtypes.int32)
    if not axis.dtype.is_integer:
        raise errors.DTypeMismatchError(f"sparse: axis must be integers, got {axis.dtype.name}.")
    axis = CAST(axis, DstT=dtypes.int32)
    op = sparse if output_is_sparse else dense
    result = op(
        sp_input.indices, sp_input.values, sp_input.dense_shape, axis, keep_dims=keepdims, name=name
    )
    return SparseTensor(*result) if output_is_sparse else result


@api("sparse.reduce_sum")
def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None) -> Tensor:
    """The sum of a sparse tensor along dimensions.

    >>> s = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 2, 3], [2, 3])
    >>> tf.sparse.reduce_sum(s, axis=1).numpy().tolist()
    [3, 3]

    Args:
        sp_input: the sparse tensor.
        axis: a dimension or several; all if None.
        keepdims: keep the dimensions with size 1.
        output_is_sparse: return a sparse tensor.
        name: a name for the operation.
    """
    return _reduce(
        SPARSE_REDUCE_SUM, SPARSE_REDUCE_SUM_SPARSE, sp_input, axis, keepdims, output_is_sparse, name
    )


@api("sparse.reduce_max")
def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None) -> Tensor:
    """The maximum of the elements of a sparse tensor along dimensions; missing elements do not count.

    >>> s = tf.SparseTensor([[0, 0], [0, 2]], [-1, -2], [2, 3])
    >>> tf.sparse.reduce_max(s, axis=1).numpy().tolist()
    [-1, 0]

    Args:
        sp_input: the sparse tensor.
        axis: a dimension or several; all if None.
        keepdims: keep the dimensions with size 1.
        output_is_sparse: return a sparse tensor.
        name: a name for the operation.
    """
    return _reduce(
        SPARSE_REDUCE_MAX, SPARSE_REDUCE_MAX_SPARSE, sp_input, axis, keepdims, output_is_sparse, name
    )


def _check_softmax(sp_indices, sp_values, sp_shape):
    op = "SparseSoftmax"
    check_components(op, sp_indices, sp_values, sp_shape, ("sp_indices", "sp_values", "sp_shape"))
    if sp_shape.shape[0] < 2:
        raise errors.invalid_argument(f"{op}: Input should have rank >= 2, but received shape: {sp_shape}.")


def _softmax_kernel(sp_indices, sp_values, sp_shape):
    _check_softmax(sp_indices, sp_values, sp_shape)
    if not len(sp_values):
        return sp_values
    own = sp_indices[:, :-1]
    order = order_of(own)
    starts = starts_of_groups(own[order])
    counts = np.diff(np.append(starts, len(order)))
    values = sp_values[order]
    wide = values.astype(np.float32) if values.dtype == np.float16 else values
    shifted = np.exp(wide - np.repeat(np.maximum.reduceat(wide, starts), counts))
    result = shifted / np.repeat(np.add.reduceat(shifted, starts), counts)
    scattered = np.empty_like(sp_values)
    scattered[order] = result.astype(sp_values.dtype)
    return scattered


def _softmax_lower(ctx, sp_indices, sp_values, sp_shape):
    _check_softmax(sp_indices, sp_values, sp_shape)
    dims = dense_dims("SparseSoftmax", sp_shape, "sp_shape")
    count = math.prod(dims[:-1])
    groups = jnp.zeros(sp_values.shape, jnp.int64)
    for axis, n in enumerate(dims[:-1]):
        groups = groups * n + sp_indices[:, axis]
    wide = sp_values.astype(jnp.float32) if sp_values.dtype == jnp.float16 else sp_values
    highest = jnp.full((count,), -jnp.inf, wide.dtype).at[groups].max(wide)
    shifted = jnp.exp(wide - highest[groups])
    total = jnp.zeros((count,), wide.dtype).at[groups].add(shifted)
    return (shifted / total[groups]).astype(sp_values.dtype)


def _softmax_grad(node, dy):
    y = node.output
    products = dy * y
    totals = SPARSE_REDUCE_SUM(node.sp_indices, products, node.sp_shape, [-1])
    own = node.sp_indices[:, :-1]
    return None, products - y * GATHER_ND(totals, own), None


SPARSE_SOFTMAX = Op(
    "SparseSoftmax",
    "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T",
    T=frozenset({dtypes.float16, dtypes.float32, dtypes.float64}),
    infer=lambda sp_indices, sp_values, sp_shape: sp_values.shape,
    kernel=_softmax_kernel,
    lower=_softmax_lower,
    static=("sp_shape",),
    saves=("sp_indices", "sp_shape", "output"),
    grad=_softmax_grad,
)


@api("sparse.softmax")
def softmax(sp_input, name=None) -> SparseTensor:
    """Softmax over the elements that there are in each innermost row.

    >>> s = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1.0, 1.0, 5.0], [2, 3])
    >>> tf.sparse.softmax(s).values.numpy().tolist()
    [0.5, 0.5, 1.0]

    Raises:
        InvalidArgumentError: when the rank is below 2.
    """
    sp_input = as_sparse(sp_input)
    values = SPARSE_SOFTMAX(sp_input.indices, sp_input.values, sp_input.dense_shape, name=name)
    return SparseTensor(sp_input.indices, values, sp_input.dense_shape)
