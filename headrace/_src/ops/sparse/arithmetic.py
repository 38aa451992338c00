"""Sums, maxima and minima of sparse tensors, and functions of their values."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.filling import RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.partitioning import LIST_DIFF
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.math.comparison import EQUAL, GREATER_EQUAL, LESS_EQUAL
from headrace._src.ops.math.reductions import ALL
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_SUM
from headrace._src.ops.ragged.row_arithmetic import require
from headrace._src.ops.sparse.dense import SPARSE_TENSOR_DENSE_ADD, as_sparse
from headrace._src.ops.sparse.indices import check_components, match, order_of, starts_of_groups
from headrace._src.ops.sparse.tensor import SparseTensor, SparseTensorValue


def _check_pair(op, a_indices, a_values, a_shape, b_indices, b_values, b_shape):
    check_components(op, a_indices, a_values, a_shape, ("a_indices", "a_values", "a_shape"))
    check_components(op, b_indices, b_values, b_shape, ("b_indices", "b_values", "b_shape"))
    if a_shape.shape != b_shape.shape:
        raise errors.invalid_argument(
            f"{op}: Operands do not have the same ranks; got shapes {a_shape.tolist()} and {b_shape.tolist()}."
        )
    if (a_shape != b_shape).any():
        raise errors.invalid_argument(
            f"{op}: Operands' shapes do not match: got {a_shape.tolist()} and {b_shape.tolist()}."
        )


class _Union:
    """The positions of two sparse tensors together, in order, and where the elements of each went."""

    def __init__(self, a_indices, b_indices):
        joined = np.concatenate([a_indices, b_indices])
        order = order_of(joined)
        ordered = joined[order]
        starts = starts_of_groups(ordered)
        group = np.zeros(len(joined), np.int64)
        group[starts] = 1
        places = np.empty(len(joined), np.int64)
        places[order] = np.cumsum(group) - 1
        self.indices = ordered[starts]
        self.a_places = places[: len(a_indices)]
        self.b_places = places[len(a_indices) :]

    def spread(self, values, places):
        """Values at the joint positions, zero where there is none."""
        result = np.zeros(len(self.indices), values.dtype)
        result[places] = values
        return result


def _add_kernel(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
    op = "SparseAdd"
    _check_pair(op, a_indices, a_values, a_shape, b_indices, b_values, b_shape)
    if thresh.ndim:
        raise errors.invalid_argument(f"{op}: thresh must be a scalar, got shape {thresh.shape}.")
    union = _Union(a_indices, b_indices)
    total = np.zeros(len(union.indices), a_values.dtype)
    np.add.at(total, union.a_places, a_values)
    np.add.at(total, union.b_places, b_values)
    # TF: only sums of two elements are compared with the threshold.
    both = np.zeros(len(union.indices), bool)
    both[union.a_places] = True
    in_b = np.zeros(len(union.indices), bool)
    in_b[union.b_places] = True
    kept = ~(both & in_b) | (np.abs(total) >= thresh)
    return union.indices[kept], total[kept], a_shape


def _add_infer(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
    rank = a_shape.shape[0] if a_shape.shape.rank else None
    return TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])


def _add_grad(node, d_indices, d_values, d_shape):
    grads = SPARSE_ADD_GRAD(d_values, node.a_indices, node.b_indices, node.sum_indices)
    return None, grads.a_val_grad, None, None, grads.b_val_grad, None, None


# How many elements the sum has depends on the data: host only.
SPARSE_ADD = Op(
    "SparseAdd",
    "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, "
    "thresh: Treal -> sum_indices: int64, sum_values: T, sum_shape: int64",
    T=dtypes.NUMBER,
    Treal=dtypes.REAL,
    infer=_add_infer,
    kernel=_add_kernel,
    lower=None,
    saves=("a_indices", "b_indices", "sum_indices"),
    grad=_add_grad,
)


def _add_grad_kernel(backprop_val_grad, a_indices, b_indices, sum_indices):
    op = "SparseAddGrad"
    for name, indices in (("a_indices", a_indices), ("b_indices", b_indices), ("sum_indices", sum_indices)):
        if indices.ndim != 2 or indices.shape[1] != a_indices.shape[-1]:
            raise errors.invalid_argument(
                f"{op}: {name} must be a matrix of one rank, got shape {indices.shape}."
            )
    if backprop_val_grad.shape != (sum_indices.shape[0],):
        raise errors.invalid_argument(
            f"{op}: backprop_val_grad must have shape ({sum_indices.shape[0]},), got {backprop_val_grad.shape}."
        )

    def taken(indices):
        found = match(indices, sum_indices)
        result = np.zeros(len(indices), backprop_val_grad.dtype)
        result[found >= 0] = backprop_val_grad[found[found >= 0]]
        return result

    return taken(a_indices), taken(b_indices)


def _add_grad_grad(node, d_a, d_b):
    # The numbers of the sums, passed through the same op, say which sum each element went into.
    count = SHAPE(node.sum_indices, out_type=dtypes.int64)[0]
    one = to_tensor(1, dtypes.int64)
    numbers = RANGE(one, count + one, one)
    places = SPARSE_ADD_GRAD(numbers, node.a_indices, node.b_indices, node.sum_indices)
    segments = CONCAT([places.a_val_grad, places.b_val_grad], 0) - one
    total = UNSORTED_SEGMENT_SUM(CONCAT([d_a, d_b], 0), segments, count)
    return total, None, None, None


def _first_dimension(spec):
    return TensorShape([spec.shape[0] if spec.shape.rank else None])


# Matching positions is a search: host only.
SPARSE_ADD_GRAD = Op(
    "SparseAddGrad",
    "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64 "
    "-> a_val_grad: T, b_val_grad: T",
    T=dtypes.NUMBER,
    infer=lambda backprop_val_grad, a_indices, b_indices, sum_indices: (
        _first_dimension(a_indices),
        _first_dimension(b_indices),
    ),
    kernel=_add_grad_kernel,
    lower=None,
    saves=("a_indices", "b_indices", "sum_indices"),
    grad=_add_grad_grad,
)


@api("sparse.add")
def add(a, b, threshold=0) -> SparseTensor:
    """The sum of two tensors of one shape, at least one of them sparse.

    >>> a = tf.SparseTensor([[0], [2]], [1, 2], [3])
    >>> tf.sparse.add(a, a).values.numpy().tolist()
    [2, 4]
    >>> tf.sparse.add(a, tf.constant([10, 20, 30])).numpy().tolist()
    [11, 20, 32]

    Args:
        a: a sparse or dense tensor.
        b: a sparse or dense tensor.
        threshold: leave out sums of two elements whose magnitude is smaller.

    Returns:
        A sparse tensor if both are sparse, else a dense one.
    """
    kinds = (SparseTensor, SparseTensorValue)
    if not isinstance(a, kinds) and not isinstance(b, kinds):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, kinds) and isinstance(b, kinds):
        a, b = as_sparse(a), as_sparse(b)
        real = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(a.dtype, a.dtype)
        parts = SPARSE_ADD(
            a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, to_tensor(threshold, real)
        )
        result = SparseTensor(*parts)
        if result.shape.rank is not None:
            result.set_shape(a.shape.merge_with(b.shape) if a.shape.is_compatible_with(b.shape) else a.shape)
        return result
    if isinstance(b, kinds):
        a, b = b, a
    a = as_sparse(a)
    return SPARSE_TENSOR_DENSE_ADD(a.indices, a.values, a.dense_shape, b)


def _extremum(name, function, T):
    def kernel(a_indices, a_values, a_shape, b_indices, b_values, b_shape):
        _check_pair(name, a_indices, a_values, a_shape, b_indices, b_values, b_shape)
        union = _Union(a_indices, b_indices)
        # Where only one has an element, the other's is zero.
        values = function(union.spread(a_values, union.a_places), union.spread(b_values, union.b_places))
        return union.indices, values

    def infer(a_indices, a_values, a_shape, b_indices, b_values, b_shape):
        rank = a_shape.shape[0] if a_shape.shape.rank else None
        return TensorShape([None, rank]), TensorShape([None])

    def grad(node, d_indices, d_values):
        """The larger (or smaller) element takes the gradient, the first one when they are equal."""
        count = SHAPE(node.output_indices, out_type=dtypes.int64)[0]
        one = to_tensor(1, dtypes.int64)
        numbers = RANGE(one, count + one, one)
        places = SPARSE_ADD_GRAD(numbers, node.a_indices, node.b_indices, node.output_indices)
        a_places = places.a_val_grad - one
        b_places = places.b_val_grad - one
        a = UNSORTED_SEGMENT_SUM(node.a_values, a_places, count)
        b = UNSORTED_SEGMENT_SUM(node.b_values, b_places, count)
        first = (GREATER_EQUAL if function is np.maximum else LESS_EQUAL)(a, b)
        zeros = ZEROS_LIKE(d_values)
        d_a = GATHER_V2(SELECT_V2(first, d_values, zeros), a_places, 0)
        d_b = GATHER_V2(SELECT_V2(first, zeros, d_values), b_places, 0)
        return None, d_a, None, None, d_b, None

    # How many elements the result has depends on the data: host only.
    return Op(
        name,
        "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64 "
        "-> output_indices: int64, output_values: T",
        T=T,
        infer=infer,
        kernel=kernel,
        lower=None,
        saves=("a_indices", "a_values", "b_indices", "b_values", "output_indices"),
        grad=grad,
    )


SPARSE_SPARSE_MAXIMUM = _extremum("SparseSparseMaximum", np.maximum, dtypes.REAL)
SPARSE_SPARSE_MINIMUM = _extremum("SparseSparseMinimum", np.minimum, dtypes.REAL)


def _extremum_of(op, sp_a, sp_b, name):
    sp_a, sp_b = as_sparse(sp_a, "sp_a"), as_sparse(sp_b, "sp_b")
    parts = op(
        sp_a.indices, sp_a.values, sp_a.dense_shape, sp_b.indices, sp_b.values, sp_b.dense_shape, name=name
    )
    return SparseTensor(*parts, sp_a.dense_shape)


@api("sparse.maximum")
def maximum(sp_a, sp_b, name=None) -> SparseTensor:
    """The larger of two sparse tensors, element by element; missing elements are zero.

    >>> a = tf.SparseTensor([[0], [2]], [-1, 2], [3])
    >>> b = tf.SparseTensor([[2]], [7], [3])
    >>> tf.sparse.maximum(a, b).values.numpy().tolist()
    [0, 7]
    """
    return _extremum_of(SPARSE_SPARSE_MAXIMUM, sp_a, sp_b, name)


@api("sparse.minimum")
def minimum(sp_a, sp_b, name=None) -> SparseTensor:
    """The smaller of two sparse tensors, element by element; missing elements are zero."""
    return _extremum_of(SPARSE_SPARSE_MINIMUM, sp_a, sp_b, name)


@api("sparse.map_values")
def map_values(op, *args, **kwargs) -> SparseTensor:
    """Apply a function to the values of sparse tensors that have elements at the same positions.

    >>> s = tf.SparseTensor([[0], [2]], [1, 2], [3])
    >>> tf.sparse.map_values(tf.multiply, s, 10).values.numpy().tolist()
    [10, 20]

    Args:
        op: the function; it must return a vector with one value for each.
        *args: its arguments; sparse tensors are replaced by their values.
        **kwargs: its keyword arguments, likewise.

    Raises:
        ValueError: without any sparse tensor, or when the result has another shape.
        InvalidArgumentError: when the positions differ.
    """
    sparse = []

    def inner(value):
        if isinstance(value, SparseTensor):
            sparse.append(value)
            return value.values
        if isinstance(value, (list, tuple)):
            return type(value)(inner(item) for item in value)
        if isinstance(value, dict):
            return {key: inner(item) for key, item in value.items()}
        return value

    own_args = [inner(value) for value in args]
    own_kwargs = {key: inner(value) for key, value in kwargs.items()}
    if not sparse:
        raise ValueError("No SparseTensor in argument list of map_values")
    for other in sparse[1:]:
        if other.indices is not sparse[0].indices:
            same = ALL(EQUAL(sparse[0].indices, other.indices), [0, 1])
            require(same, "sparse.map_values: the sparse tensors have elements at different positions")
    result = to_tensor(op(*own_args, **own_kwargs))
    result.shape.with_rank(1)
    result.shape.assert_is_compatible_with(sparse[0].values.shape)
    return SparseTensor(sparse[0].indices, result, sparse[0].dense_shape)


@api("sparse.mask")
def mask(a, mask_indices, name=None) -> IndexedSlices:
    """`tf.IndexedSlices` without the slices at `mask_indices`.

    >>> slices = tf.IndexedSlices([[1], [2]], [3, 5])
    >>> tf.sparse.mask(slices, [3]).indices.numpy().tolist()
    [5]
    """
    kept, places = LIST_DIFF(a.indices, to_tensor(mask_indices, hint=a.indices.dtype))
    return IndexedSlices(GATHER_V2(a.values, places, 0), kept, a.dense_shape)
