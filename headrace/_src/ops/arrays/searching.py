"""Searching sorted sequences, buckets, and indices of a flattened tensor."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jax, jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import merging
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN, same_as_input
from headrace._src.op.traits import ELEMENTWISE
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.measuring import shape as shape_of
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.reductions import PROD

# So many rows, or rows with so many values, are searched one by one; others are searched together.
_FEW = 16


def _bucketize(input, boundaries):
    edges = np.array(boundaries, np.float32)
    if (np.diff(edges) < 0).any():
        raise errors.invalid_argument(f"Bucketize: boundaries must be sorted, got {boundaries}.")
    if input.dtype.kind == "i":
        # TF: an integer is compared as float32.
        input = input.astype(np.float32)
    return np.searchsorted(edges.astype(input.dtype), input, side="right").astype(np.int32)


def _lower_bucketize(ctx, input, boundaries):
    if not boundaries:
        return jnp.zeros(input.shape, np.int32)
    kind = np.float32 if jnp.issubdtype(input.dtype, np.integer) else input.dtype
    edges = jnp.asarray(np.array(boundaries, np.float32).astype(kind))
    return jnp.searchsorted(edges, input.astype(kind), side="right").astype(np.int32)


BUCKETIZE = Op(
    "Bucketize",
    "input: T, *, boundaries: list(float) -> output: int32",
    traits=ELEMENTWISE,
    T=dtypes.INDEX | {dtypes.float32, dtypes.float64},
    infer=same_as_input,
    kernel=_bucketize,
    lower=_lower_bucketize,
    grad=None,
)


def _check_search(op, sorted_inputs, values):
    for name, shape in (("sorted_inputs", sorted_inputs), ("values", values)):
        if len(shape) != 2:
            raise errors.invalid_argument(f"{op}: {name} must be a matrix, got shape {shape}.")
    if sorted_inputs[0] != values[0]:
        raise errors.invalid_argument(
            f"{op}: sorted_inputs and values must have as many rows, got shapes {sorted_inputs} and {values}."
        )


def _search(op, side, sorted_inputs, values, out_type):
    numpy_type = out_type._np
    _check_search(op, sorted_inputs.shape, values.shape)
    if sorted_inputs.dtype.kind == "V":
        sorted_inputs, values = sorted_inputs.astype(np.float32), values.astype(np.float32)
    rows, length = sorted_inputs.shape
    if rows <= _FEW or values.shape[1] >= _FEW:
        found = np.empty(values.shape, numpy_type)
        for i in range(rows):
            found[i] = np.searchsorted(sorted_inputs[i], values[i], side=side)
        return found
    # All rows at once: halve the interval in which each place must lie.
    low = np.zeros(values.shape, np.intp)
    high = np.full(values.shape, length, np.intp)
    for _ in range(length.bit_length()):
        open_ = low < high
        middle = (low + high) // 2
        at = np.take_along_axis(sorted_inputs, np.minimum(middle, max(length - 1, 0)), 1)
        right = open_ & ((at < values) if side == "left" else (at <= values))
        low = np.where(right, middle + 1, low)
        high = np.where(open_ & ~right, middle, high)
    return low.astype(numpy_type)


def _lower_search(side, ctx, sorted_inputs, values, out_type):
    find = jax.vmap(lambda row, wanted: jnp.searchsorted(row, wanted, side=side))
    if not sorted_inputs.shape[1] or not values.size:
        return jnp.zeros(values.shape, out_type._np)
    return find(sorted_inputs, values).astype(out_type._np)


def _bound_op(name, side):
    return Op(
        name,
        "sorted_inputs: T, values: T, *, out_type: type = int32 -> output: out_type",
        T=dtypes.REAL | dtypes.STRING,
        out_type=dtypes.INDEX,
        infer=lambda sorted_inputs, values, out_type: values.shape,
        kernel=lambda sorted_inputs, values, out_type: _search(name, side, sorted_inputs, values, out_type),
        lower=lambda ctx, sorted_inputs, values, out_type: _lower_search(
            side, ctx, sorted_inputs, values, out_type
        ),
        grad=None,
        vectorize=merging(2),
    )


LOWER_BOUND = _bound_op("LowerBound", "left")
UPPER_BOUND = _bound_op("UpperBound", "right")


@api("searchsorted")
def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32, name=None) -> Tensor:
    """Where `values` would have to be inserted to keep the last axis of `sorted_sequence` sorted.

    Args:
        sorted_sequence: a tensor whose last axis is sorted.
        values: a tensor with the same leading dimensions.
        side: "left" gives the first suitable place, "right" the last.
        out_type: int32 or int64.
        name: a name for the operation.

    >>> tf.searchsorted([1, 3, 5], [0, 3, 6]).numpy().tolist()
    [0, 1, 3]

    Raises:
        ValueError: when `side` is unknown.
    """
    sorted_sequence, values = to_tensor(sorted_sequence), to_tensor(values)
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', got {side!r}.")
    for argument, tensor in (("sorted_sequence", sorted_sequence), ("values", values)):
        if tensor.shape.rank == 0:
            raise errors.invalid_argument(f"searchsorted: {argument} must have at least one dimension.")
    op = LOWER_BOUND if side == "left" else UPPER_BOUND
    found = op(
        RESHAPE(sorted_sequence, _as_matrix(sorted_sequence)),
        RESHAPE(values, _as_matrix(values)),
        out_type=dtypes.as_dtype(out_type),
        name=name,
    )
    return RESHAPE(found, shape_of(values))


def _as_matrix(tensor):
    """The shape with all leading dimensions made one; -1 cannot say that for empty tensors."""
    if tensor.shape.is_fully_defined():
        dims = tensor.shape.as_list()
        return [math.prod(dims[:-1]), dims[-1]]
    dims = shape_of(tensor)
    return PACK([PROD(dims[:-1], [0]), dims[-1]])


def _unravel_index(indices, dims):
    if dims.ndim != 1:
        raise errors.invalid_argument(f"UnravelIndex: dims must be a vector, got shape {dims.shape}.")
    if indices.ndim > 1:
        raise errors.invalid_argument(
            f"UnravelIndex: indices must be a scalar or a vector, got shape {indices.shape}."
        )
    if not indices.size:
        raise errors.invalid_argument("UnravelIndex: indices must not be empty.")
    shape = dims.tolist()
    if any(n <= 0 for n in shape):
        raise errors.invalid_argument(f"UnravelIndex: dims must be positive, got {shape}.")
    if math.prod(shape) > np.iinfo(dims.dtype).max:
        raise errors.invalid_argument(
            f"UnravelIndex: dims {shape} have more elements than {dims.dtype} can count."
        )
    if indices.min() < 0 or indices.max() >= math.prod(shape):
        raise errors.invalid_argument(
            f"UnravelIndex: indices must be in [0, {math.prod(shape)}), got {indices.min()} to "
            f"{indices.max()}."
        )
    return _places(np, indices, shape)


def _places(xp, indices, shape):
    parts, rest = [], indices
    for n in reversed(shape):
        parts.append(rest % n)
        rest = rest // n
    if not parts:
        return xp.zeros((0, *indices.shape), indices.dtype)
    return xp.stack(parts[::-1]).astype(indices.dtype)


def _lower_unravel_index(ctx, indices, dims):
    shape = dims.tolist()
    ctx.check(
        jnp.all((indices >= 0) & (indices < math.prod(shape))),
        errors.InvalidArgumentError,
        f"UnravelIndex: indices must be in [0, {math.prod(shape)}).",
    )
    return _places(jnp, indices, shape)


def _infer_unravel_index(indices, dims):
    if indices.shape.rank is None:
        return UNKNOWN
    count = dims.shape[0] if dims.shape.rank is not None else None
    return TensorShape([count]).concatenate(indices.shape)


UNRAVEL_INDEX = Op(
    "UnravelIndex",
    "indices: Tidx, dims: Tidx -> output: Tidx",
    Tidx=dtypes.INDEX,
    infer=_infer_unravel_index,
    kernel=_unravel_index,
    lower=_lower_unravel_index,
    static=("dims",),
    grad=None,
)


@api("unravel_index")
def unravel_index(indices, dims, name=None) -> Tensor:
    """Positions in a flattened array of shape `dims`, as one row of coordinates per dimension.

    >>> tf.unravel_index([2, 5], [3, 3]).numpy().tolist()
    [[0, 1], [2, 2]]

    Raises:
        InvalidArgumentError: when an index is out of range.
    """
    return UNRAVEL_INDEX(indices, dims, name=name)
