"""Reductions over segments of rows that are chosen by index: sums and means of embeddings."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.ops.arrays.gathering import check_indices
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.measuring import checked_dims
from headrace._src.ops.arrays.searching import LOWER_BOUND
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, SQUEEZE
from headrace._src.ops.math.grouping import add_rows, wide
from headrace._src.ops.math.segments import check_increasing, sums_and_counts


def _check_pairs(op, indices, segment_ids):
    for name, array in (("indices", indices), ("segment_ids", segment_ids)):
        if array.ndim != 1:
            raise errors.invalid_argument(f"{op}: {name} must be a vector, got shape {array.shape}.")
    if indices.size != segment_ids.size:
        raise errors.invalid_argument(
            f"{op}: indices and segment_ids must have the same size, got {indices.size} and "
            f"{segment_ids.size}."
        )


def _reduce(kind, op, data, indices, segment_ids, num_segments=None):
    if not data.ndim:
        raise errors.invalid_argument(f"{op}: data must have at least one dimension, got a scalar.")
    _check_pairs(op, indices, segment_ids)
    count = check_increasing(op, segment_ids)
    if num_segments is not None:
        wanted = _scalar(op, "num_segments", num_segments)
        if wanted < count:
            raise errors.invalid_argument(
                f"{op}: num_segments must be more than all segment ids and not negative, got {wanted} for "
                "ids up to "
                f"{count - 1}."
            )
        count = wanted
    check_indices(op, indices, data.shape[0])
    dims = checked_dims(op, "the result", (count, *data.shape[1:]))
    total, sizes = sums_and_counts(data.take(indices, 0), segment_ids, count)
    if kind == "mean":
        total = total / sizes.astype(total.dtype)
    elif kind == "sqrt_n":
        total = total / np.sqrt(sizes).astype(total.dtype)
    return total.astype(data.dtype, copy=False).reshape(dims)


def _scalar(op, argument, array):
    array = np.asarray(array)
    if array.ndim:
        raise errors.invalid_argument(f"{op}: {argument} must be a scalar, got shape {array.shape}.")
    if array < 0:
        raise errors.invalid_argument(f"{op}: {argument} must not be negative, got {int(array)}.")
    return int(array)


def _lower_reduce(kind, op, ctx, data, indices, segment_ids, num_segments):
    count, rows = _scalar(op, "num_segments", num_segments), data.shape[0]
    inside = jnp.all((indices >= 0) & (indices < rows))
    ctx.check(inside, errors.InvalidArgumentError, f"{op}: an index is out of range.")
    ctx.check(
        jnp.all((segment_ids >= 0) & (segment_ids < count)) & jnp.all(segment_ids[1:] >= segment_ids[:-1]),
        errors.InvalidArgumentError,
        f"{op}: segment ids must be sorted and in [0, {count}).",
    )
    taken = jnp.take(data, indices, 0, mode="clip")
    total = jnp.zeros((count, *data.shape[1:]), data.dtype).at[segment_ids].add(taken, mode="drop")
    if kind == "sum":
        return total
    sizes = jnp.zeros(count, data.dtype).at[segment_ids].add(1, mode="drop")
    sizes = jnp.maximum(sizes, 1).reshape((-1,) + (1,) * (data.ndim - 1))
    return total / (sizes if kind == "mean" else jnp.sqrt(sizes))


def _infer_reduce(data, indices, segment_ids, num_segments=None, sparse_gradient=False):
    if data.shape.rank is None:
        return UNKNOWN
    count = None
    if num_segments is not None:
        count = None if num_segments.value is None else int(num_segments.value)
    elif segment_ids.value is not None:
        count = check_increasing("SparseSegment", segment_ids.value)
    return TensorShape([count, *data.shape[1:]])


_GRADIENT_NAMES = {"sum": "SparseSegmentSumGrad", "mean": "SparseSegmentMeanGrad", "sqrt_n": "SparseSegmentSqrtNGrad"}


def _grad_reduce(kind):
    def grad(node, dy):
        rows = node.data_shape[0]
        rest = (None,) * (len(node.op.signature.inputs) - 1)
        if node.attrs["sparse_gradient"]:
            slices = _SPARSE_GRADIENTS[kind](dy, node.indices, node.segment_ids, rows)
            shape = node.data_shape
            if isinstance(shape, tuple):
                shape = EagerTensor(np.array(shape, np.int32), dtypes.int32)
            return IndexedSlices(slices.output, slices.sorted_unique_indices, shape), *rest
        return _GRADIENTS[kind](dy, node.indices, node.segment_ids, rows), *rest

    return grad


_INPUTS = "data: T, indices: Tidx, segment_ids: Tsegmentids"


def _reduce_op(kind, name, types):
    return Op(
        name,
        f"{_INPUTS}, *, sparse_gradient: bool = False -> output: T",
        T=types,
        Tidx=dtypes.INDEX,
        Tsegmentids=dtypes.INDEX,
        infer=_infer_reduce,
        kernel=lambda data, indices, segment_ids, sparse_gradient: _reduce(
            kind, name, data, indices, segment_ids
        ),
        lower=None,  # the number of segments depends on data
        saves=("data_shape", "indices", "segment_ids"),
        grad=_grad_reduce(kind),
    )


def _counted_op(kind, name, types):
    return Op(
        name,
        f"{_INPUTS}, num_segments: Tnumsegments, *, sparse_gradient: bool = False -> output: T",
        T=types,
        Tidx=dtypes.INDEX,
        Tsegmentids=dtypes.INDEX,
        Tnumsegments=dtypes.INDEX,
        infer=_infer_reduce,
        kernel=lambda data, indices, segment_ids, num_segments, sparse_gradient: _reduce(
            kind, name, data, indices, segment_ids, num_segments
        ),
        lower=lambda ctx, data, indices, segment_ids, num_segments, sparse_gradient: _lower_reduce(
            kind, name, ctx, data, indices, segment_ids, num_segments
        ),
        static=("num_segments",),
        saves=("data_shape", "indices", "segment_ids"),
        grad=_grad_reduce(kind),
    )


SPARSE_SEGMENT_SUM = _reduce_op("sum", "SparseSegmentSum", dtypes.REAL)
SPARSE_SEGMENT_MEAN = _reduce_op("mean", "SparseSegmentMean", dtypes.FLOATING)
SPARSE_SEGMENT_SQRT_N = _reduce_op("sqrt_n", "SparseSegmentSqrtN", dtypes.FLOATING)
COUNTED_SUM = _counted_op("sum", "SparseSegmentSumWithNumSegments", dtypes.REAL)
COUNTED_MEAN = _counted_op("mean", "SparseSegmentMeanWithNumSegments", dtypes.FLOATING)
COUNTED_SQRT_N = _counted_op("sqrt_n", "SparseSegmentSqrtNWithNumSegments", dtypes.FLOATING)


def _spread(kind, op, grad, indices, segment_ids):
    """The gradient of each chosen row, as a matrix in the dtype that `wide` chose."""
    if not grad.ndim:
        raise errors.invalid_argument(f"{op}: grad must have at least one dimension, got a scalar.")
    _check_pairs(op, indices, segment_ids)
    check_indices(op, segment_ids, grad.shape[0], "segment_ids")
    rows = wide(grad).reshape(grad.shape[0], math.prod(grad.shape[1:]))
    if kind != "sum":
        sizes = np.maximum(np.bincount(segment_ids, minlength=grad.shape[0]), 1)[:, None].astype(rows.dtype)
        rows = rows / (sizes if kind == "mean" else np.sqrt(sizes))
    return rows.take(segment_ids, 0)


def _transpose(kind, op, grad, indices, segment_ids, output_dim0):
    rows = _spread(kind, op, grad, indices, segment_ids)
    count = _scalar(op, "output_dim0", output_dim0)
    check_indices(op, indices, count)
    dims = checked_dims(op, "the result", (count, *grad.shape[1:]))
    summed = add_rows(rows, indices.astype(np.intp, copy=False), count)
    return summed.astype(grad.dtype, copy=False).reshape(dims)


def _lower_transpose(kind, op, ctx, grad, indices, segment_ids, output_dim0):
    count, segments = _scalar(op, "output_dim0", output_dim0), grad.shape[0]
    inside = jnp.all((indices >= 0) & (indices < count))
    ctx.check(inside, errors.InvalidArgumentError, f"{op}: an index is out of range.")
    ctx.check(
        jnp.all((segment_ids >= 0) & (segment_ids < segments)),
        errors.InvalidArgumentError,
        f"{op}: a segment id is out of range.",
    )
    if kind != "sum":
        sizes = jnp.maximum(jnp.zeros(segments, grad.dtype).at[segment_ids].add(1, mode="drop"), 1)
        sizes = sizes.reshape((-1,) + (1,) * (grad.ndim - 1))
        grad = grad / (sizes if kind == "mean" else jnp.sqrt(sizes))
    rows = jnp.take(grad, segment_ids, 0, mode="clip")
    return jnp.zeros((count, *grad.shape[1:]), grad.dtype).at[indices].add(rows, mode="drop")


def _infer_transpose(grad, indices, segment_ids, output_dim0):
    if grad.shape.rank is None:
        return UNKNOWN
    count = None if output_dim0.value is None else int(output_dim0.value)
    return TensorShape([count, *grad.shape[1:]])


def _grad_transpose(kind):
    forward = {"sum": COUNTED_SUM, "mean": COUNTED_MEAN, "sqrt_n": COUNTED_SQRT_N}[kind]

    def grad(node, dy):
        return forward(dy, node.indices, node.segment_ids, node.grad_shape[0]), None, None, None

    return grad


def _transpose_op(kind):
    name = _GRADIENT_NAMES[kind]
    return Op(
        name,
        "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T",
        T=dtypes.FLOATING,
        Tidx=dtypes.INDEX,
        Tsegmentids=dtypes.INDEX,
        infer=_infer_transpose,
        kernel=lambda grad, indices, segment_ids, output_dim0: _transpose(
            kind, name, grad, indices, segment_ids, output_dim0
        ),
        lower=lambda ctx, grad, indices, segment_ids, output_dim0: _lower_transpose(
            kind, name, ctx, grad, indices, segment_ids, output_dim0
        ),
        static=("output_dim0",),
        saves=("grad_shape", "indices", "segment_ids"),
        grad=_grad_transpose(kind),
    )


SPARSE_SEGMENT_SUM_GRAD = _transpose_op("sum")
SPARSE_SEGMENT_MEAN_GRAD = _transpose_op("mean")
SPARSE_SEGMENT_SQRT_N_GRAD = _transpose_op("sqrt_n")
_GRADIENTS = {
    "sum": SPARSE_SEGMENT_SUM_GRAD, "mean": SPARSE_SEGMENT_MEAN_GRAD, "sqrt_n": SPARSE_SEGMENT_SQRT_N_GRAD,
}  # fmt: skip


def _sparse_transpose(kind, op, grad, indices, segment_ids, dense_output_dim0):
    rows = _spread(kind, op, grad, indices, segment_ids)
    check_indices(op, indices, _scalar(op, "dense_output_dim0", dense_output_dim0))
    distinct, places = np.unique(indices, return_inverse=True)
    summed = add_rows(rows, places.reshape(-1), distinct.size).astype(grad.dtype, copy=False)
    return summed.reshape(distinct.size, *grad.shape[1:]), distinct


def _infer_sparse_transpose(grad, indices, segment_ids, dense_output_dim0):
    vector = TensorShape([None])
    return UNKNOWN if grad.shape.rank is None else TensorShape([None, *grad.shape[1:]]), vector


def _sparse_transpose_op(kind):
    name = f"{_GRADIENT_NAMES[kind]}V2"

    def grad_of_slices(node, dy, _):
        # Each distinct index has its row of `output`: find it, and go on as in the dense case.
        places = LOWER_BOUND(
            EXPAND_DIMS(node.sorted_unique_indices, 0), EXPAND_DIMS(node.indices, 0)
        )
        places = SQUEEZE(places, squeeze_dims=[0])
        forward = {"sum": COUNTED_SUM, "mean": COUNTED_MEAN, "sqrt_n": COUNTED_SQRT_N}[kind]
        return forward(dy, places, node.segment_ids, node.grad_shape[0]), None, None, None

    return Op(
        name,
        "grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32 "
        "-> output: T, sorted_unique_indices: Tidx",
        T=dtypes.FLOATING,
        Tidx=dtypes.INDEX,
        Tsegmentids=dtypes.INDEX,
        infer=_infer_sparse_transpose,
        kernel=lambda grad, indices, segment_ids, dense_output_dim0: _sparse_transpose(
            kind, name, grad, indices, segment_ids, dense_output_dim0
        ),
        lower=None,  # the number of distinct indices depends on data
        saves=("grad_shape", "indices", "segment_ids", "sorted_unique_indices"),
        grad=grad_of_slices,
    )


SPARSE_SEGMENT_SUM_GRAD_V2 = _sparse_transpose_op("sum")
SPARSE_SEGMENT_MEAN_GRAD_V2 = _sparse_transpose_op("mean")
SPARSE_SEGMENT_SQRT_N_GRAD_V2 = _sparse_transpose_op("sqrt_n")
_SPARSE_GRADIENTS = {
    "sum": SPARSE_SEGMENT_SUM_GRAD_V2, "mean": SPARSE_SEGMENT_MEAN_GRAD_V2, "sqrt_n": SPARSE_SEGMENT_SQRT_N_GRAD_V2,
}  # fmt: skip


def _choose(plain, counted, data, indices, segment_ids, num_segments, sparse_gradient, name):
    if num_segments is None:
        return plain(data, indices, segment_ids, sparse_gradient=sparse_gradient, name=name)
    return counted(data, indices, segment_ids, num_segments, sparse_gradient=sparse_gradient, name=name)


@api("sparse.segment_sum")
def sparse_segment_sum(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False) -> Tensor:
    """Sums over segments of the rows `data[indices]`.

    Args:
        data: a tensor.
        indices: which rows of `data` to take.
        segment_ids: the segment of each of them: sorted, not negative.
        num_segments: the number of rows of the result; one more than the last id if None.
        name: a name for the operation.
        sparse_gradient: whether the gradient of `data` is an `IndexedSlices`.

    >>> tf.sparse.segment_sum([1, 2, 3], [0, 2, 2], [0, 0, 1]).numpy().tolist()
    [4, 3]

    Raises:
        InvalidArgumentError: when indices or ids are out of range, or the ids are not sorted.
    """
    return _choose(
        SPARSE_SEGMENT_SUM, COUNTED_SUM, data, indices, segment_ids, num_segments, sparse_gradient, name
    )


@api("sparse.segment_mean")
def sparse_segment_mean(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False) -> Tensor:
    """Means over segments of the rows `data[indices]`; see `tf.sparse.segment_sum`.

    >>> tf.sparse.segment_mean([1.0, 2.0, 3.0], [0, 2, 2], [0, 0, 1]).numpy().tolist()
    [2.0, 3.0]
    """
    return _choose(
        SPARSE_SEGMENT_MEAN, COUNTED_MEAN, data, indices, segment_ids, num_segments, sparse_gradient, name
    )


@api("sparse.segment_sqrt_n")
def sparse_segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False) -> Tensor:
    """Sums over segments of the rows `data[indices]`, divided by the square root of the segments' sizes.

    >>> tf.sparse.segment_sqrt_n([1.0, 3.0], [0, 1, 1, 0], [0, 0, 0, 0]).numpy().tolist()
    [4.0]
    """
    return _choose(
        SPARSE_SEGMENT_SQRT_N, COUNTED_SQRT_N, data, indices, segment_ids, num_segments, sparse_gradient, name
    )
