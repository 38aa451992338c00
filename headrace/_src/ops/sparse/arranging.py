"""Sparse tensors in another order or shape: reorder, reshape, transpose, expand_dims, retain, reset_shape."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import whole
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import FILL, RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE, get_static_value
from headrace._src.ops.arrays.rearranging import INVERT_PERMUTATION
from headrace._src.ops.arrays.selecting import WHERE
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.arithmetic import ADD, MAXIMUM, SUB
from headrace._src.ops.math.comparison import LESS_EQUAL
from headrace._src.ops.math.reductions import ALL, MAX
from headrace._src.ops.ragged.row_arithmetic import require
from headrace._src.ops.sparse.dense import as_sparse
from headrace._src.ops.sparse.indices import check_components, order_of
from headrace._src.ops.sparse.tensor import SparseTensor


def _reorder_kernel(input_indices, input_values, input_shape):
    check_components(
        "SparseReorder",
        input_indices,
        input_values,
        input_shape,
        ("input_indices", "input_values", "input_shape"),
    )
    order = order_of(input_indices)
    return input_indices[order], input_values[order]


def _reorder_lower(ctx, input_indices, input_values, input_shape):
    check_components(
        "SparseReorder",
        input_indices,
        input_values,
        input_shape,
        ("input_indices", "input_values", "input_shape"),
    )
    if not input_indices.shape[1]:
        return input_indices, input_values
    order = jnp.lexsort(input_indices.T[::-1])
    return input_indices[order], input_values[order]


def _reorder_grad(node, d_indices, d_values):
    count = SHAPE(d_values, out_type=dtypes.int64)[0]
    numbers = RANGE(to_tensor(0, dtypes.int64), count, to_tensor(1, dtypes.int64))
    order = SPARSE_REORDER(node.input_indices, numbers, node.input_shape).output_values
    return None, GATHER_V2(d_values, INVERT_PERMUTATION(order), 0), None


SPARSE_REORDER = Op(
    "SparseReorder",
    "input_indices: int64, input_values: T, input_shape: int64 -> output_indices: int64, output_values: T",
    infer=lambda input_indices, input_values, input_shape: (input_indices.shape, input_values.shape),
    kernel=_reorder_kernel,
    lower=_reorder_lower,
    saves=("input_indices", "input_shape"),
    grad=_reorder_grad,
)


@api("sparse.reorder")
def reorder(sp_input, name=None) -> SparseTensor:
    """The same sparse tensor with its elements in row-major order, which most sparse functions expect.

    >>> s = tf.sparse.reorder(tf.SparseTensor([[1, 0], [0, 2]], [5, 6], [2, 3]))
    >>> s.indices.numpy().tolist(), s.values.numpy().tolist()
    ([[0, 2], [1, 0]], [6, 5])
    """
    sp_input = as_sparse(sp_input)
    parts = SPARSE_REORDER(sp_input.indices, sp_input.values, sp_input.dense_shape, name=name)
    return _shaped(SparseTensor(*parts, sp_input.dense_shape), sp_input.shape)


def _shaped(sparse, shape):
    if type(sparse.dense_shape) is not EagerTensor:
        sparse.set_shape(shape)
    return sparse


def _new_dims(input_shape, new_shape):
    """The shape after reshaping, with -1 filled in."""
    op = "SparseReshape"
    if new_shape.ndim != 1:
        raise errors.invalid_argument(
            f"{op}: Target shape should be a vector but received shape {new_shape.shape}."
        )
    total = math.prod(input_shape.tolist())
    dims = new_shape.tolist()
    unknown = [i for i, n in enumerate(dims) if n == -1]
    if len(unknown) > 1:
        raise errors.invalid_argument(f"{op}: only one output dimension may be -1, got {dims}.")
    for n in dims:
        if n < -1:
            raise errors.invalid_argument(f"{op}: new_shape must not be negative, got {dims}.")
    if unknown:
        rest = math.prod(n for n in dims if n != -1)
        if not rest:
            raise errors.invalid_argument(
                f"{op}: the missing size cannot be inferred beside a size of 0: {dims}."
            )
        if total % rest:
            raise errors.invalid_argument(f"{op}: {total} elements do not fit into new_shape {dims}.")
        dims[unknown[0]] = total // rest
    if math.prod(dims) != total:
        raise errors.invalid_argument(
            f"{op}: input_shape {input_shape.tolist()} has {total} elements, but new_shape {dims} has "
            f"{math.prod(dims)}."
        )
    if total >= 2**63:
        raise errors.invalid_argument(f"{op}: input_shape {input_shape.tolist()} has too many elements.")
    return dims


def _check_reshape(input_indices, input_shape):
    op = "SparseReshape"
    if input_indices.ndim != 2:
        raise errors.invalid_argument(
            f"{op}: input_indices must be a matrix, got shape {input_indices.shape}."
        )
    if input_shape.ndim != 1 or input_shape.shape[0] != input_indices.shape[1]:
        raise errors.invalid_argument(
            f"{op}: Input tensor rank must match input shape length, got {input_indices.shape[1]} and "
            f"{input_shape.shape}."
        )


def _reshape_kernel(input_indices, input_shape, new_shape):
    _check_reshape(input_indices, input_shape)
    if (input_shape < 0).any():
        raise errors.invalid_argument(f"SparseReshape: input_shape must not be negative, got {input_shape}.")
    return _reshaped(np, input_indices, input_shape.tolist(), _new_dims(input_shape, new_shape))


def _reshaped(xp, indices, dims, new_dims):
    if list(dims) == list(new_dims):
        return indices, xp.asarray(np.array(new_dims, np.int64))  # TF: also what is out of bounds
    places = xp.zeros(indices.shape[0], np.int64)
    for axis, n in enumerate(dims):
        places = places * n + indices[:, axis]
    columns = []
    for n in reversed(new_dims):
        if n:
            # As C divides, so that an index out of bounds is what it is in TensorFlow.
            quotient = xp.sign(places) * (xp.abs(places) // n)
            columns.append(places - quotient * n)
            places = quotient
        else:
            columns.append(places)
    shape = (indices.shape[0], 0)
    result = xp.stack(columns[::-1], axis=1) if columns else xp.zeros(shape, np.int64)
    return result, xp.asarray(np.array(new_dims, np.int64))


def _reshape_lower(ctx, input_indices, input_shape, new_shape):
    _check_reshape(input_indices, input_shape)
    return _reshaped(jnp, input_indices, input_shape.tolist(), _new_dims(input_shape, new_shape))


def _reshape_infer(input_indices, input_shape, new_shape):
    rank = new_shape.shape[0] if new_shape.shape.rank else None
    count = input_indices.shape[0] if input_indices.shape.rank else None
    return TensorShape([count, rank]), TensorShape([rank])


SPARSE_RESHAPE = Op(
    "SparseReshape",
    "input_indices: int64, input_shape: int64, new_shape: int64 -> output_indices: int64, output_shape: int64",
    infer=_reshape_infer,
    kernel=_reshape_kernel,
    lower=_reshape_lower,
    static=("input_shape", "new_shape"),
    grad=None,
)


@api("sparse.reshape")
def reshape(sp_input, shape, name=None) -> SparseTensor:
    """A sparse tensor with another shape of as many elements; one dimension may be -1.

    >>> s = tf.sparse.reshape(tf.SparseTensor([[0, 1], [1, 2]], [5, 6], [2, 3]), [-1])
    >>> s.indices.numpy().tolist(), s.dense_shape.numpy().tolist()
    ([[1], [5]], [6])
    """
    sp_input = as_sparse(sp_input)
    shape = CAST(to_tensor(shape, hint=dtypes.int64), DstT=dtypes.int64)
    indices, new_shape = SPARSE_RESHAPE(sp_input.indices, sp_input.dense_shape, shape, name=name)
    result = SparseTensor(indices, sp_input.values, new_shape)
    known = get_static_value(shape)
    if known is not None and type(new_shape) is not EagerTensor:
        dims = [None if n == -1 else int(n) for n in known]
        if dims.count(None) == 1 and sp_input.shape.is_fully_defined():
            rest = math.prod(n for n in dims if n is not None)
            dims[dims.index(None)] = sp_input.shape.num_elements() // rest if rest else None
        result.set_shape(dims)
    return result


@api("sparse.transpose")
def transpose(sp_input, perm=None, name=None) -> SparseTensor:
    """A sparse tensor with its dimensions permuted; reversed if `perm` is None.

    >>> tf.sparse.transpose(tf.SparseTensor([[0, 2]], [5], [2, 3])).indices.numpy().tolist()
    [[2, 0]]
    """
    sp_input = as_sparse(sp_input)
    rank = sp_input.shape.rank
    if perm is None:
        if rank is not None:
            perm = list(range(rank))[::-1]
        else:
            last = SUB(SHAPE(sp_input.dense_shape)[0], to_tensor(1))
            perm = SUB(last, RANGE(0, ADD(last, to_tensor(1)), 1))
    perm = to_tensor(perm, hint=dtypes.int32)
    if rank is not None and perm.shape.rank == 1 and perm.shape[0] not in (None, rank):
        raise ValueError(f"sparse.transpose: Dimensions {perm.shape[0]} and {rank} are not compatible.")
    indices = GATHER_V2(sp_input.indices, perm, 1)
    shape = GATHER_V2(sp_input.dense_shape, perm, 0)
    moved = SparseTensor(indices, sp_input.values, shape)
    known = get_static_value(perm)
    if known is not None and rank is not None:
        moved = _shaped(moved, [sp_input.shape[int(i)] for i in known])
    return reorder(moved, name=name)


@api("sparse.expand_dims")
def expand_dims(sp_input, axis=None, name=None) -> SparseTensor:
    """A sparse tensor with a dimension of size 1 inserted at `axis` (the end if None).

    Raises:
        InvalidArgumentError: when the axis is out of range.
    """
    sp_input = as_sparse(sp_input)
    axis = -1 if axis is None else axis
    rank = sp_input.dense_shape.shape[0]
    if rank is None:
        raise ValueError("sparse.expand_dims: the rank of sp_input must be known.")
    static = get_static_value(axis)
    if static is None:
        raise ValueError("sparse.expand_dims: axis must be known while tracing.")
    at = whole(static, "axis")
    if not -rank - 1 <= at <= rank:
        raise errors.invalid_argument(f"sparse.expand_dims: axis must be in [{-rank - 1}, {rank}], got {at}.")
    at = at + rank + 1 if at < 0 else at
    zeros = (
        ZEROS_LIKE(sp_input.indices[:, :1])
        if rank
        else FILL([SHAPE(sp_input.values)[0], 1], to_tensor(0, dtypes.int64))
    )
    indices = CONCAT([sp_input.indices[:, :at], zeros, sp_input.indices[:, at:]], 1)
    one = to_tensor([1], dtypes.int64)
    shape = CONCAT([sp_input.dense_shape[:at], one, sp_input.dense_shape[at:]], 0)
    result = SparseTensor(indices, sp_input.values, shape)
    if sp_input.shape.rank is not None:
        dims = sp_input.shape.as_list()
        result = _shaped(result, [*dims[:at], 1, *dims[at:]])
    return result


@api("sparse.retain")
def retain(sp_input, to_retain) -> SparseTensor:
    """The elements at which `to_retain` is true.

    >>> s = tf.SparseTensor([[0], [2], [3]], [5, 6, 7], [4])
    >>> tf.sparse.retain(s, [True, False, True]).values.numpy().tolist()
    [5, 7]

    Raises:
        ValueError: when there is not one bool for each element.
    """
    sp_input = as_sparse(sp_input)
    to_retain = to_tensor(to_retain)
    retained = to_retain.shape.with_rank(1)
    if not sp_input.values.shape[:1].is_compatible_with(retained):
        raise ValueError(
            f"sparse.retain: Dimensions {sp_input.values.shape[0]} and {retained[0]} are not compatible."
        )
    kept = RESHAPE(WHERE(to_retain), [-1])
    indices = GATHER_V2(sp_input.indices, kept, 0)
    values = GATHER_V2(sp_input.values, kept, 0)
    return _shaped(SparseTensor(indices, values, sp_input.dense_shape), sp_input.shape)


@api("sparse.reset_shape")
def reset_shape(sp_input, new_shape=None) -> SparseTensor:
    """A sparse tensor with a larger dense shape, or the smallest one that holds its elements.

    Args:
        sp_input: the sparse tensor.
        new_shape: at least as large in every dimension; None for the tightest shape.

    Raises:
        ValueError: when the rank differs or a dimension is smaller.
    """
    sp_input = as_sparse(sp_input)
    if new_shape is None:
        # Without elements the tightest shape is empty.
        highest = MAX(sp_input.indices, [0])
        tight = ADD(highest, to_tensor(1, dtypes.int64))
        shape = MAXIMUM(to_tensor(0, dtypes.int64), tight)
        return SparseTensor(sp_input.indices, sp_input.values, shape)
    shape = CAST(to_tensor(new_shape, hint=dtypes.int64), DstT=dtypes.int64)
    rank = sp_input.indices.shape[1] if sp_input.indices.shape.rank else None
    shape.shape.with_rank(1)
    if None not in (rank, shape.shape[0]) and rank != shape.shape[0]:
        raise ValueError(f"sparse.reset_shape: Dimensions {shape.shape[0]} and {rank} are not compatible.")
    known = get_static_value(shape)
    if known is not None and sp_input.shape.is_fully_defined():
        if any(int(new) < old for new, old in zip(known, sp_input.shape)):
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape. Found new_shape "
                f"({known.tolist()}), sp_input.shape ({sp_input.shape.as_list()})."
            )
    else:
        fits = ALL(LESS_EQUAL(sp_input.dense_shape, shape), [0])
        require(fits, "sparse.reset_shape: new_shape must not be smaller than the dense shape", shape)
    return SparseTensor(sp_input.indices, sp_input.values, shape)
