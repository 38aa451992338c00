"""What the kernels of sparse ops have in common: checking components, and sorting and matching positions."""

import math

import numpy as np

from headrace._src.core import errors


def check_components(op, indices, values, shape, names=("indices", "values", "shape")):
    """That indices are [n, rank], values [n] and the shape [rank], or InvalidArgumentError."""
    if indices.ndim != 2:
        raise errors.invalid_argument(f"{op}: {names[0]} must be a matrix, got shape {indices.shape}.")
    if values is not None:
        if values.ndim != 1:
            raise errors.invalid_argument(f"{op}: {names[1]} must be a vector, got shape {values.shape}.")
        if values.shape[0] != indices.shape[0]:
            raise errors.invalid_argument(
                f"{op}: the numbers of {names[0]} ({indices.shape[0]}) and {names[1]} ({values.shape[0]}) differ."
            )
    if shape is not None:
        if shape.ndim != 1:
            raise errors.invalid_argument(f"{op}: {names[2]} must be a vector, got shape {shape.shape}.")
        if shape.shape[0] != indices.shape[1]:
            raise errors.invalid_argument(
                f"{op}: {names[0]} have {indices.shape[1]} columns, but {names[2]} has {shape.shape[0]} dimensions."
            )


def dense_dims(op, shape, name="shape"):
    """A shape as a tuple of ints, or InvalidArgumentError when it is negative or too large."""
    dims = tuple(shape.tolist())
    for n in dims:
        if n < 0:
            raise errors.invalid_argument(f"{op}: {name} must not have negative dimensions, got {dims}.")
    if math.prod(dims) >= 2**63:
        raise errors.invalid_argument(f"{op}: {name} {dims} has too many elements.")
    return dims


def check_in_range(op, indices, dims, name="indices"):
    """That every index lies within the shape, or InvalidArgumentError."""
    if not indices.size:
        return
    if len(dims) == 1:
        if indices.min() >= 0 and indices.max() < dims[0]:
            return
    outside = (indices < 0) | (indices >= np.array(dims, indices.dtype))
    if outside.any():
        row = int(np.flatnonzero(outside.any(axis=1))[0])
        raise errors.invalid_argument(
            f"{op}: {name}[{row}] = {indices[row].tolist()} is out of bounds: need 0 <= index < {list(dims)}."
        )


def check_ascending(op, indices, name="indices"):
    """That indices are in row-major order without repetition, or InvalidArgumentError."""
    before, after = indices[:-1], indices[1:]
    if not len(before) or (indices.shape[1] == 1 and (before < after).all()):
        return
    different = before != after
    first = different.argmax(axis=1) if indices.shape[1] else np.zeros(len(before), int)
    rows = np.arange(len(before))
    repeated = ~different.any(axis=1)
    wrong = repeated
    if indices.shape[1]:
        wrong = wrong | (before[rows, first] > after[rows, first])
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        what = "repeated" if repeated[row] else "out of order; tf.sparse.reorder sorts them"
        raise errors.invalid_argument(f"{op}: {name}[{row + 1}] = {indices[row + 1].tolist()} is {what}.")


def order_of(indices):
    """The permutation that sorts positions in row-major order, stably."""
    if not indices.shape[1]:
        return np.arange(indices.shape[0])
    return np.lexsort(indices.T[::-1])


def starts_of_groups(ordered):
    """Where runs of equal rows begin, in a sorted matrix."""
    if not len(ordered):
        return np.zeros(0, np.int64)
    changes = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def match(wanted, known):
    """For each row of `wanted` the number of a row of `known` that equals it, or -1."""
    if not len(known) or not len(wanted):
        return np.full(len(wanted), -1, np.int64)
    joined = np.concatenate([known, wanted])
    order = order_of(joined)
    starts = starts_of_groups(joined[order])
    group = np.zeros(len(joined), np.int64)
    group[starts] = 1
    group = np.cumsum(group) - 1
    found = np.full(len(starts), -1, np.int64)
    from_known = order < len(known)
    # Written from the last to the first, so that of equal rows the first stays.
    found[group[from_known][::-1]] = order[from_known][::-1]
    result = np.empty(len(joined), np.int64)
    result[order] = found[group]
    return result[len(known) :]
