"""Sets in the last dimension of tensors: union, intersection, difference, size."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.ops.sparse.tensor import SparseTensor, SparseTensorValue

SET_TYPES = frozenset(
    {dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string}
)


def _dense_groups(op, argument, dense):
    """(shape of groups, group of each value, values) of a tensor whose last dimension holds sets."""
    if dense.ndim < 2:
        raise errors.invalid_argument(f"{op}: {argument} must have a rank of at least 2, got {dense.shape}.")
    groups = np.arange(int(np.prod(dense.shape[:-1], dtype=np.int64))).repeat(dense.shape[-1])
    return dense.shape[:-1], groups, dense.ravel()


def _sparse_groups(op, argument, indices, values, dense_shape, validate):
    """The same for a sparse tensor."""
    if indices.ndim != 2 or values.ndim != 1 or dense_shape.ndim != 1:
        raise errors.invalid_argument(
            f"{op}: {argument} must have indices, values and shape of the ranks 2, 1 and 1, got the shapes "
            f"{indices.shape}, {values.shape}, {dense_shape.shape}."
        )
    if indices.shape != (values.size, dense_shape.size):
        raise errors.invalid_argument(
            f"{op}: {argument} has {values.size} values and rank {dense_shape.size}, so its indices must "
            f"have the shape {(values.size, dense_shape.size)}, got {indices.shape}."
        )
    if dense_shape.size < 2:
        raise errors.invalid_argument(
            f"{op}: {argument} must have a rank of at least 2, got {dense_shape.size}."
        )
    if (dense_shape < 0).any():
        raise errors.invalid_argument(f"{op}: {argument} has the negative shape {dense_shape.tolist()}.")
    checked = indices if validate else indices[:, :-1]
    outside = ((checked < 0) | (checked >= dense_shape[: checked.shape[1]])).any(axis=1)
    if outside.any():
        at = int(np.argmax(outside))
        raise errors.invalid_argument(
            f"{op}: {argument} has indices[{at}] = {indices[at].tolist()}, out of bounds for the shape "
            f"{dense_shape.tolist()}."
        )
    if validate:
        _check_order(op, argument, indices)
    shape = tuple(dense_shape[:-1].tolist())
    groups = np.ravel_multi_index(tuple(indices[:, :-1].T), shape) if values.size else np.zeros(0, np.int64)
    return shape, groups, values


def _check_order(op, argument, indices):
    steps = np.diff(indices, axis=0)
    first_change = np.argmax(steps != 0, axis=1)
    rises = steps[np.arange(len(steps)), first_change] > 0
    if not rises.all():
        at = int(np.argmin(rises)) + 1
        raise errors.invalid_argument(
            f"{op}: {argument} has indices[{at}] = {indices[at].tolist()} out of order or repeated. "
            f"Sort them with tf.sparse.reorder."
        )


def _operate(op, first, second, set_operation):
    """The set operation on groups, as the parts of a sparse tensor."""
    (shape, groups1, values1), (shape2, groups2, values2) = first, second
    if shape != shape2:
        raise errors.invalid_argument(f"{op}: the sets are arranged in the shapes {shape} and {shape2}.")
    combine = {
        "intersection": np.intersect1d,
        "union": np.union1d,
        "a-b": np.setdiff1d,
        "b-a": lambda a, b: np.setdiff1d(b, a),
    }.get(set_operation.lower())
    if combine is None:
        raise errors.invalid_argument(
            f"{op}: set_operation must be 'intersection', 'union', 'a-b' or 'b-a', got {set_operation!r}."
        )
    universe, codes = np.unique(np.concatenate([values1, values2]), return_inverse=True)
    present, group_codes = np.unique(np.concatenate([groups1, groups2]), return_inverse=True)
    keys = group_codes.reshape(-1) * max(universe.size, 1) + codes.reshape(-1)
    found = combine(keys[: values1.size], keys[values1.size :])
    group_of, code_of = np.divmod(found, max(universe.size, 1))
    # The position within a group: how far it is from the group's first element.
    first_of_group = np.searchsorted(group_of, group_of)
    positions = np.arange(found.size) - first_of_group
    outer = np.unravel_index(present[group_of], shape) if found.size else [np.zeros(0)] * len(shape)
    indices = np.stack([*outer, positions], axis=1).astype(np.int64)
    largest = int(positions.max(initial=-1)) + 1
    return indices, universe[code_of], np.array([*shape, largest], np.int64)


def _infer_operation(*specs, **attrs):
    # A dense set is one input, a sparse one three: its indices, values and shape.
    rank = specs[0].shape.rank if len(specs) < 6 else specs[2].shape.num_elements()
    return TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])


DENSE_TO_DENSE_SET_OPERATION = Op(
    "DenseToDenseSetOperation",
    "set1: T, set2: T, *, set_operation: string, validate_indices: bool = True "
    "-> result_indices: int64, result_values: T, result_shape: int64",
    T=SET_TYPES,
    infer=_infer_operation,
    kernel=lambda set1, set2, set_operation, validate_indices: _operate(
        "DenseToDenseSetOperation",
        _dense_groups("DenseToDenseSetOperation", "set1", set1),
        _dense_groups("DenseToDenseSetOperation", "set2", set2),
        set_operation,
    ),
    lower=None,  # how many elements come out depends on the data
    grad=None,
)

DENSE_TO_SPARSE_SET_OPERATION = Op(
    "DenseToSparseSetOperation",
    "set1: T, set2_indices: int64, set2_values: T, set2_shape: int64, *, set_operation: string, "
    "validate_indices: bool = True -> result_indices: int64, result_values: T, result_shape: int64",
    T=SET_TYPES,
    infer=_infer_operation,
    kernel=lambda set1, indices, values, shape, set_operation, validate_indices: _operate(
        "DenseToSparseSetOperation",
        _dense_groups("DenseToSparseSetOperation", "set1", set1),
        _sparse_groups("DenseToSparseSetOperation", "set2", indices, values, shape, validate_indices),
        set_operation,
    ),
    lower=None,  # how many elements come out depends on the data
    grad=None,
)

SPARSE_TO_SPARSE_SET_OPERATION = Op(
    "SparseToSparseSetOperation",
    "set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, set2_values: T, "
    "set2_shape: int64, *, set_operation: string, validate_indices: bool = True "
    "-> result_indices: int64, result_values: T, result_shape: int64",
    T=SET_TYPES,
    infer=_infer_operation,
    kernel=lambda i1, v1, s1, i2, v2, s2, set_operation, validate_indices: _operate(
        "SparseToSparseSetOperation",
        _sparse_groups("SparseToSparseSetOperation", "set1", i1, v1, s1, validate_indices),
        _sparse_groups("SparseToSparseSetOperation", "set2", i2, v2, s2, validate_indices),
        set_operation,
    ),
    lower=None,  # how many elements come out depends on the data
    grad=None,
)


def _size(set_indices, set_values, set_shape, validate_indices):
    shape, groups, values = _sparse_groups(
        "SetSize", "set", set_indices, set_values, set_shape, validate_indices
    )
    _, codes = np.unique(values, return_inverse=True)
    members, counts = np.unique(
        np.unique(np.stack([groups, codes.reshape(-1)]), axis=1)[0], return_counts=True
    )
    sizes = np.zeros(int(np.prod(shape, dtype=np.int64)), np.int32)
    sizes[members] = counts
    return sizes.reshape(shape)


def _infer_size(set_indices, set_values, set_shape, validate_indices):
    if set_shape.value is not None:
        return TensorShape([int(n) for n in set_shape.value[:-1]])
    rank = set_shape.shape.num_elements()
    return UNKNOWN if rank is None else TensorShape([None] * max(rank - 1, 0))


SET_SIZE = Op(
    "SetSize",
    "set_indices: int64, set_values: T, set_shape: int64, *, validate_indices: bool = True -> size: int32",
    T=SET_TYPES,
    infer=_infer_size,
    kernel=_size,
    lower=None,  # the shape of the result is data
    grad=None,
)


def _tensor_or_sparse(value):
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return value if isinstance(value, SparseTensor) else to_tensor(value)


def _apply(a, b, operation, validate_indices):
    a, b = _tensor_or_sparse(a), _tensor_or_sparse(b)
    if a.dtype != b.dtype:
        raise TypeError(f"sets: a and b must have one dtype, got {a.dtype.name} and {b.dtype.name}.")
    if a.dtype not in SET_TYPES:
        raise TypeError(f"sets: the elements must be integers or strings, got {a.dtype.name}.")
    attrs = {"set_operation": operation, "validate_indices": validate_indices}
    if isinstance(a, SparseTensor):
        if not isinstance(b, SparseTensor):
            # There is no op of a sparse and a dense set: exchange them.
            flipped = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
            return _apply(b, a, flipped, validate_indices)
        parts = SPARSE_TO_SPARSE_SET_OPERATION(
            a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, **attrs
        )
    elif isinstance(b, SparseTensor):
        parts = DENSE_TO_SPARSE_SET_OPERATION(a, b.indices, b.values, b.dense_shape, **attrs)
    else:
        parts = DENSE_TO_DENSE_SET_OPERATION(a, b, **attrs)
    return SparseTensor(*parts)


@api("sets.size")
def size(a, validate_indices=True) -> Tensor:
    """The number of distinct elements of each set of a sparse tensor, whose last dimension holds the sets.

    Returns:
        An int32 tensor of the shape of `a` without its last dimension.

    Raises:
        TypeError: when `a` is not sparse.
    """
    a = _tensor_or_sparse(a)
    if not isinstance(a, SparseTensor):
        raise TypeError(f"sets.size: a must be a SparseTensor, got {a}.")
    if a.dtype not in SET_TYPES:
        raise TypeError(f"sets.size: the elements must be integers or strings, got {a.dtype.name}.")
    return SET_SIZE(a.indices, a.values, a.dense_shape, validate_indices=validate_indices)


@api("sets.intersection")
def intersection(a, b, validate_indices=True) -> SparseTensor:
    """The elements that are in both of two sets, for all the sets in the last dimension of `a` and `b`.

    >>> tf.sparse.to_dense(tf.sets.intersection([[1, 2, 3]], [[3, 1, 9]])).numpy().tolist()
    [[1, 3]]

    Args:
        a: a tensor or `SparseTensor` of integers or strings.
        b: another, of the same shape but for the last dimension.
        validate_indices: check that sparse indices are in order and in bounds.

    Returns:
        A `SparseTensor`, the elements of each set in ascending order.
    """
    return _apply(a, b, "intersection", validate_indices)


@api("sets.difference")
def difference(a, b, aminusb=True, validate_indices=True) -> SparseTensor:
    """The elements that are in `a` and not in `b`, or with `aminusb=False` the other way round.

    >>> tf.sparse.to_dense(tf.sets.difference([[1, 2, 3]], [[3, 1, 9]])).numpy().tolist()
    [[2]]

    Args:
        a: a tensor or `SparseTensor` of integers or strings; its last dimension holds the sets.
        b: another, of the same shape but for the last dimension.
        aminusb: which to subtract from which.
        validate_indices: check that sparse indices are in order and in bounds.

    Returns:
        A `SparseTensor`, the elements of each set in ascending order.
    """
    return _apply(a, b, "a-b" if aminusb else "b-a", validate_indices)


@api("sets.union")
def union(a, b, validate_indices=True) -> SparseTensor:
    """The elements that are in at least one of two sets.

    >>> tf.sparse.to_dense(tf.sets.union([[1, 2, 3]], [[3, 1, 9]])).numpy().tolist()
    [[1, 2, 3, 9]]

    Args:
        a: a tensor or `SparseTensor` of integers or strings; its last dimension holds the sets.
        b: another, of the same shape but for the last dimension.
        validate_indices: check that sparse indices are in order and in bounds.

    Returns:
        A `SparseTensor`, the elements of each set in ascending order.
    """
    return _apply(a, b, "union", validate_indices)
