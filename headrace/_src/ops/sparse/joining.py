"""Joining and dividing sparse tensors: concat, split, slice."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import whole
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_SUM
from headrace._src.ops.sparse.dense import as_sparse
from headrace._src.ops.sparse.indices import check_components, match, order_of
from headrace._src.ops.sparse.tensor import SparseTensor


def _joined_dims(indices, values, shapes, concat_dim):
    """The axis and, for each input, where it begins along it; and the shape of the result."""
    op = "SparseConcat"
    if len(indices) < 2 or not len(indices) == len(values) == len(shapes):
        raise errors.invalid_argument(
            f"{op}: needs 2 or more sparse tensors, got {len(indices)} indices, {len(values)} values and "
            f"{len(shapes)} shapes."
        )
    for i, parts in enumerate(zip(indices, values, shapes)):
        check_components(op, *parts, (f"indices[{i}]", f"values[{i}]", f"shapes[{i}]"))
    first = shapes[0].tolist()
    rank = len(first)
    if not -rank <= concat_dim < rank:
        raise errors.invalid_argument(f"{op}: concat_dim must be in [{-rank}, {rank}), got {concat_dim}.")
    axis = concat_dim % rank
    offsets, total = [], 0
    for i, shape in enumerate(shapes):
        dims = shape.tolist()
        if len(dims) != rank:
            raise errors.invalid_argument(
                f"{op}: Ranks of all inputs must match: expected {rank} but got {len(dims)} at position {i}."
            )
        for j, n in enumerate(dims):
            if j != axis and n != first[j]:
                raise errors.invalid_argument(
                    f"{op}: Input shapes must match: expected {first[j]} for dimension {j} but got {n} at "
                    f"position {i}."
                )
        offsets.append(total)
        total += dims[axis]
    return axis, offsets, [*first[:axis], total, *first[axis + 1 :]]


def _shifted(xp, indices, axis, offsets):
    unit = np.zeros(indices[0].shape[1], np.int64)
    unit[axis] = 1
    return xp.concatenate([part + unit * offset for part, offset in zip(indices, offsets)])


def _concat_kernel(indices, values, shapes, concat_dim):
    axis, offsets, dims = _joined_dims(indices, values, shapes, concat_dim)
    joined = _shifted(np, indices, axis, offsets)
    order = order_of(joined)
    return joined[order], np.concatenate(values)[order], np.array(dims, np.int64)


def _concat_lower(ctx, indices, values, shapes, concat_dim):
    axis, offsets, dims = _joined_dims(indices, values, shapes, concat_dim)
    joined = _shifted(jnp, indices, axis, offsets)
    order = jnp.lexsort(joined.T[::-1])
    return joined[order], jnp.concatenate(values)[order], jnp.asarray(np.array(dims, np.int64))


def _concat_infer(indices, values, shapes, concat_dim):
    rank, count = None, 0
    for one in (*indices, *shapes):
        if one.shape.rank:
            rank = one.shape[-1] if rank is None else rank
    for one in indices:
        known = one.shape[0] if one.shape.rank else None
        count = None if count is None or known is None else count + known
    return TensorShape([count, rank]), TensorShape([count]), TensorShape([rank])


# TF: has no gradient, so that the tape stops here.
SPARSE_CONCAT = Op(
    "SparseConcat",
    "indices: N*int64, values: N*T, shapes: N*int64, *, concat_dim: int "
    "-> output_indices: int64, output_values: T, output_shape: int64",
    infer=_concat_infer,
    kernel=_concat_kernel,
    lower=_concat_lower,
    static=("shapes",),
    grad=None,
)


@api("sparse.concat")
def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None) -> SparseTensor:
    """Sparse tensors one after the other along a dimension.

    >>> a = tf.SparseTensor([[0, 0]], [1], [1, 2])
    >>> b = tf.SparseTensor([[0, 1]], [2], [1, 2])
    >>> tf.sparse.to_dense(tf.sparse.concat(1, [a, b])).numpy().tolist()
    [[1, 0, 0, 2]]

    Args:
        axis: the dimension.
        sp_inputs: a list of sparse tensors.
        expand_nonconcat_dims: let other dimensions differ; the result is as large as the largest.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: when the shapes do not fit.
    """
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError("Expected a list of SparseTensors")
    sp_inputs = [as_sparse(one) for one in sp_inputs]
    if len(sp_inputs) == 1:
        return sp_inputs[0]
    if not sp_inputs:
        raise errors.invalid_argument("sparse.concat: sp_inputs must not be empty.")
    shapes = [one.dense_shape for one in sp_inputs]
    if expand_nonconcat_dims:
        shapes = _expanded(axis, shapes)
    parts = SPARSE_CONCAT(
        [one.indices for one in sp_inputs],
        [one.values for one in sp_inputs],
        shapes,
        concat_dim=whole(axis, "axis"),
        name=name,
    )
    result = SparseTensor(*parts)
    ranks = {one.shape.rank for one in sp_inputs}
    if not expand_nonconcat_dims and len(ranks) == 1 and None not in ranks:
        result.set_shape(_joined_shape(int(axis), [one.shape.as_list() for one in sp_inputs]))
    return result


def _joined_shape(axis, shapes):
    """What is known of the shape: the sum along the axis, and elsewhere what any of the inputs tells."""
    known = [next((n for n in sizes if n is not None), None) for sizes in zip(*shapes)]
    along = [shape[axis] for shape in shapes]
    known[axis] = None if None in along else sum(along)
    return known


def _expanded(axis, shapes):
    """Shapes with all dimensions but one made as large as the largest."""
    rank = shapes[0].shape[0]
    largest = shapes[0]
    for shape in shapes[1:]:
        largest = MAXIMUM(largest, shape)
    at = int(axis) % rank if -rank <= int(axis) < rank else 0
    here = np.arange(rank) == at
    return [SELECT_V2(to_tensor(here), shape, largest) for shape in shapes]


def _split_kernel(split_dim, indices, values, shape, num_split):
    op = "SparseSplit"
    check_components(op, indices, values, shape)
    if split_dim.size != 1:
        raise errors.invalid_argument(f"{op}: split_dim must be a scalar, got shape {split_dim.shape}.")
    rank = shape.shape[0]
    at = int(split_dim.reshape(())[()])
    if not -rank <= at < rank:
        raise errors.invalid_argument(f"{op}: split_dim must be in [{-rank}, {rank}), got {at}.")
    at %= rank
    size = int(shape[at])
    if not 1 <= num_split <= size:
        raise errors.invalid_argument(
            f"{op}: num_split must be between 1 and the size of the split dimension ({size}), got {num_split}."
        )
    # The first parts are one larger when the size is not a multiple.
    width, larger = divmod(size, num_split)
    ends = np.cumsum([width + (i < larger) for i in range(num_split)])
    part = np.searchsorted(ends, indices[:, at], side="right")
    if ((indices[:, at] < 0) | (part >= num_split)).any():
        raise errors.invalid_argument(f"{op}: indices are out of bounds for dimension {at} of size {size}.")
    out_indices, out_values, out_shapes = [], [], []
    for i, end in enumerate(ends.tolist()):
        start = int(ends[i - 1]) if i else 0
        own = part == i
        kept = indices[own]
        kept[:, at] -= start
        dims = shape.copy()
        dims[at] = end - start
        out_indices.append(kept)
        out_values.append(values[own])
        out_shapes.append(dims)
    return out_indices, out_values, out_shapes


def _split_infer(split_dim, indices, values, shape, num_split):
    rank = indices.shape[1] if indices.shape.rank else None
    return (
        [TensorShape([None, rank])] * num_split,
        [TensorShape([None])] * num_split,
        [TensorShape([rank])] * num_split,
    )


# How many elements a part has depends on the data: host only.
SPARSE_SPLIT = Op(
    "SparseSplit",
    "split_dim: int64, indices: int64, values: T, shape: int64, *, num_split: int "
    "-> output_indices: num_split*int64, output_values: num_split*T, output_shape: num_split*int64",
    infer=_split_infer,
    kernel=_split_kernel,
    lower=None,
    grad=unregistered,
)


@api("sparse.split")
def split(sp_input=None, num_split=None, axis=None, name=None) -> list[SparseTensor]:
    """A sparse tensor as a list of `num_split` parts along a dimension.

    >>> s = tf.SparseTensor([[0, 0], [0, 3]], [1, 2], [1, 4])
    >>> [part.values.numpy().tolist() for part in tf.sparse.split(s, 2, axis=1)]
    [[1], [2]]

    Raises:
        ValueError: when an argument is missing.
        InvalidArgumentError: when the dimension is too small or does not exist.
    """
    for argument, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"sparse.split: {argument} is required.")
    sp_input = as_sparse(sp_input)
    if whole(num_split, "num_split") < 1:
        raise errors.invalid_argument(f"sparse.split: num_split must be at least 1, got {num_split}.")
    axis = to_tensor(axis, None if hasattr(axis, "dtype") else dtypes.int64)
    if not axis.dtype.is_integer:
        raise TypeError(f"axis must be an integer, got {axis.dtype.name}.")
    axis = CAST(axis, DstT=dtypes.int64)
    parts = SPARSE_SPLIT(
        axis, sp_input.indices, sp_input.values, sp_input.dense_shape, num_split=int(num_split), name=name
    )
    return [SparseTensor(*part) for part in zip(*parts)]


def _slice_kernel(indices, values, shape, start, size):
    op = "SparseSlice"
    check_components(op, indices, values, shape)
    rank = shape.shape[0]
    for name, bound in (("start", start), ("size", size)):
        if bound.shape != (rank,):
            raise errors.invalid_argument(
                f"{op}: Expected {name} to be a vector of length {rank}, got shape {bound.shape}."
            )
    if (size < 0).any():
        raise errors.invalid_argument(f"{op}: Expected a non-negative size, got {size.tolist()}.")
    # Python integers, since start + size may be larger than int64.
    ends = [min(a + b, 2**63 - 1) for a, b in zip(start.tolist(), size.tolist())]
    inside = ((indices >= start) & (indices < np.array(ends, np.int64).reshape(rank))).all(axis=1)
    dims = [max(0, min(n - a, b)) for n, a, b in zip(shape.tolist(), start.tolist(), size.tolist())]
    return indices[inside] - start, values[inside], np.array(dims, np.int64)


def _slice_infer(indices, values, shape, start, size):
    rank = None
    for one in (shape, start, size):
        if one.shape.rank:
            rank = one.shape[0] if rank is None else rank
    return TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])


def _slice_grad(node, d_indices, d_values, d_shape):
    d_input = SPARSE_SLICE_GRAD(d_values, node.indices, node.start, node.output_indices)
    return None, d_input, None, None, None


# How many elements are within the slice depends on the data: host only.
SPARSE_SLICE = Op(
    "SparseSlice",
    "indices: int64, values: T, shape: int64, start: int64, size: int64 "
    "-> output_indices: int64, output_values: T, output_shape: int64",
    infer=_slice_infer,
    kernel=_slice_kernel,
    lower=None,
    saves=("indices", "start", "output_indices"),
    grad=_slice_grad,
)


def _slice_grad_kernel(backprop_val_grad, input_indices, input_start, output_indices):
    op = "SparseSliceGrad"
    if input_indices.ndim != 2 or output_indices.ndim != 2:
        raise errors.invalid_argument(
            f"{op}: input_indices and output_indices must be matrices, got shapes {input_indices.shape} and "
            f"{output_indices.shape}."
        )
    if backprop_val_grad.shape != (output_indices.shape[0],):
        raise errors.invalid_argument(
            f"{op}: backprop_val_grad must have shape ({output_indices.shape[0]},), got {backprop_val_grad.shape}."
        )
    if input_indices.shape[1] != output_indices.shape[1] or input_start.shape != (input_indices.shape[1],):
        raise errors.invalid_argument(
            f"{op}: input_indices, output_indices and input_start must have one rank, got shapes "
            f"{input_indices.shape}, {output_indices.shape} and {input_start.shape}."
        )
    found = match(input_indices, output_indices + input_start)
    result = np.zeros(input_indices.shape[0], backprop_val_grad.dtype)
    result[found >= 0] = backprop_val_grad[found[found >= 0]]
    return result


def _slice_grad_grad(node, dy):
    # The numbers of the elements, passed through the same op, say where each came from.
    count = SHAPE(node.output_indices, out_type=dtypes.int64)[0]
    one = to_tensor(1, dtypes.int64)
    numbers = RANGE(one, count + one, one)
    places = SPARSE_SLICE_GRAD(numbers, node.input_indices, node.input_start, node.output_indices)
    total = UNSORTED_SEGMENT_SUM(dy, places - one, count)
    return total, None, None, None


# Matching positions is a search without a fixed number of steps in XLA's terms: host only.
SPARSE_SLICE_GRAD = Op(
    "SparseSliceGrad",
    "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64 -> val_grad: T",
    T=dtypes.NUMBER,
    infer=lambda backprop_val_grad, input_indices, input_start, output_indices: TensorShape(
        [input_indices.shape[0] if input_indices.shape.rank else None]
    ),
    kernel=_slice_grad_kernel,
    lower=None,
    saves=("input_indices", "input_start", "output_indices"),
    grad=_slice_grad_grad,
)


@api("sparse.slice")
def slice(sp_input, start, size, name=None) -> SparseTensor:
    """The part of a sparse tensor from `start` that is `size` large, or as large as there is.

    >>> s = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [1, 2, 3], [2, 3])
    >>> part = tf.sparse.slice(s, [0, 1], [2, 2])
    >>> part.indices.numpy().tolist(), part.values.numpy().tolist()
    ([[0, 0], [1, 1]], [1, 3])
    """
    sp_input = as_sparse(sp_input)
    start = to_tensor(start, dtypes.int64)
    size = to_tensor(size, dtypes.int64)
    parts = SPARSE_SLICE(sp_input.indices, sp_input.values, sp_input.dense_shape, start, size, name=name)
    result = SparseTensor(*parts)
    if type(result.dense_shape) is not EagerTensor and sp_input.shape.rank is not None:
        result.set_shape([None] * sp_input.shape.rank)
    return result
