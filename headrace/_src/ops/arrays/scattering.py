"""Writing elements and slices of a tensor by index: scatter_nd and its in-place siblings, as functions."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import same_as_input, shape_from_value
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import FILL
from headrace._src.ops.arrays.gathering import GATHER_ND, check_policy, flat_places, lower_places, with_element_numbers
from headrace._src.ops.arrays.measuring import checked_dims, checked_vector
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.grouping import add_rows, combine_rows, wide


def _check_shapes(op, shape, indices, updates):
    """How many dimensions are indexed, after checking that the three shapes fit together."""
    if not indices:
        raise errors.invalid_argument(f"{op}: indices must have at least one dimension, got a scalar.")
    if not updates:
        raise errors.invalid_argument(f"{op}: updates must have at least one dimension, got a scalar.")
    depth = indices[-1]
    if depth > len(shape) or updates != indices[:-1] + shape[depth:]:
        raise errors.invalid_argument(
            f"{op}: updates must have the shape of indices without its last dimension, {indices[:-1]}, "
            "followed by "
            f"the dimensions of {shape} that are not indexed, got {updates}."
        )
    return depth


def _places(op, shape, indices, updates, policy):
    """Positions in the flattened leading dimensions, the updates as rows, and how many rows there are."""
    depth = _check_shapes(op, shape, indices.shape, updates.shape)
    dims, width = shape[:depth], math.prod(shape[depth:])
    if not math.prod(shape) and updates.size:
        raise errors.invalid_argument(
            f"{op}: there are updates for a tensor without elements, of shape {shape}."
        )
    places, valid = flat_places(op, indices, dims, shape, policy)
    places = places.reshape(-1)
    rows = updates.reshape(places.size, width)
    if valid is not None:
        kept = valid.reshape(-1)
        places, rows = places[kept], rows[kept]
    return places, rows, math.prod(dims)


def _add_text(out, places, rows):
    """Strings are joined."""
    for place, row in zip(places.tolist(), rows):
        out[place] = out[place] + row


def _scatter_nd(indices, updates, shape, bad_indices_policy):
    dims = checked_dims("ScatterNd", "shape", checked_vector("ScatterNd", "shape", shape))
    places, rows, count = _places("ScatterNd", dims, indices, updates, bad_indices_policy)
    if updates.dtype == np.object_:
        out = np.full((count, rows.shape[1]), b"", object)
        _add_text(out, places, rows)
    elif updates.dtype == np.bool_:
        out = np.zeros((count, rows.shape[1]), bool)
        combine_rows(np.logical_or, rows, places, out)
    else:
        out = add_rows(wide(rows), places, count).astype(updates.dtype, copy=False)
    return out.reshape(dims)


def _lower_rows(ctx, op, shape, indices, updates, policy):
    depth = _check_shapes(op, shape, indices.shape, updates.shape)
    places, _ = lower_places(ctx, op, indices, shape[:depth], policy)
    places = places.reshape(-1)
    return places, updates.reshape(places.shape[0], math.prod(shape[depth:])), math.prod(shape[:depth])


def _lower_scatter_nd(ctx, indices, updates, shape, bad_indices_policy):
    dims = tuple(shape.tolist())
    places, rows, count = _lower_rows(ctx, "ScatterNd", dims, indices, updates, bad_indices_policy)
    at = jnp.zeros((count, rows.shape[1]), updates.dtype).at[places]
    out = at.max(rows, mode="drop") if updates.dtype == bool else at.add(rows, mode="drop")
    return out.reshape(dims)


def _infer_scatter_nd(indices, updates, shape, bad_indices_policy):
    return shape_from_value(shape)


def _vectorize_scatter_nd(batch, node, indices, updates, shape):
    full = to_tensor(batch.with_size(unstacked(shape, "shape")), indices.tensor.dtype)
    return batch.apply(node, [with_element_numbers(batch, indices), batch.stack(updates), full])


SCATTER_ND = Op(
    "ScatterNd",
    "indices: Tindices, updates: T, shape: Tindices, *, bad_indices_policy: string = '' -> output: T",
    T=dtypes.NUMBER | dtypes.BOOL | dtypes.STRING,
    Tindices=dtypes.INDEX | {dtypes.int16},
    infer=_infer_scatter_nd,
    kernel=_scatter_nd,
    lower=_lower_scatter_nd,
    static=("shape",),
    saves=("indices",),
    grad=lambda node, dy: (None, GATHER_ND(dy, node.indices, **node.attrs), None),
    vectorize=_vectorize_scatter_nd,
)


@api("scatter_nd")
def scatter_nd(indices, updates, shape, bad_indices_policy="", name=None) -> Tensor:
    """Zeros of `shape`, with `updates` added at `indices`.

    Args:
        indices: integers; the last axis holds positions in the first dimensions of the result.
        updates: the elements or slices to add.
        shape: the shape of the result.
        bad_indices_policy: "" or "ERROR" to refuse bad indices, "IGNORE" to leave their updates out.
        name: a name for the operation.

    >>> tf.scatter_nd([[1], [3], [1]], [10, 20, 30], [5]).numpy().tolist()
    [0, 40, 0, 20, 0]

    Raises:
        InvalidArgumentError: when an index is out of range or the shapes do not fit.
    """
    return SCATTER_ND(indices, updates, shape, bad_indices_policy=bad_indices_policy, name=name)


_UFUNCS = {"add": np.add, "sub": np.subtract, "max": np.maximum, "min": np.minimum}


def _scatter_into(kind, op, tensor, indices, updates, policy):
    check_policy(op, policy)
    places, rows, count = _places(op, tensor.shape, indices, updates, policy)
    width = rows.shape[1]
    if kind == "update":
        out = np.array(tensor, order="C").reshape(count, width)
        out[places] = rows
    elif kind == "add" or kind == "sub":
        base, rows = wide(tensor).reshape(count, width), wide(rows)
        if rows.shape[0] * 4 < count:
            # Few updates: touch only them.
            out = combine_rows(_UFUNCS[kind], rows, places, np.array(base, order="C"))
        else:
            out = _UFUNCS[kind](base, add_rows(rows, places, count))
    else:
        out = np.array(wide(tensor), order="C").reshape(count, width)
        out = combine_rows(_UFUNCS[kind], wide(rows), places, out)
    return out.astype(tensor.dtype, copy=False).reshape(tensor.shape)


def _lower_scatter_into(kind, op, ctx, tensor, indices, updates, policy):
    places, rows, count = _lower_rows(ctx, op, tensor.shape, indices, updates, policy)
    at = tensor.reshape(count, rows.shape[1]).at[places]
    if kind == "sub":
        out = at.add(-rows, mode="drop")
    else:
        out = {"update": at.set, "add": at.add, "max": at.max, "min": at.min}[kind](rows, mode="drop")
    return out.reshape(tensor.shape)


def _grad_update(node, dy):
    tensor = updates = None
    if node.wants(0):
        tensor = TENSOR_SCATTER_UPDATE(dy, node.indices, _zeros(node.updates_shape, dy), **node.attrs)
    if node.wants(2):
        updates = GATHER_ND(dy, node.indices, **node.attrs)
    return tensor, None, updates


def _zeros(shape, dy):
    dims = list(shape) if isinstance(shape, tuple) else shape
    return FILL(dims, EagerTensor(np.zeros((), dy.dtype._np), dy.dtype))


def _grad_add(node, dy):
    return dy, None, GATHER_ND(dy, node.indices, **node.attrs) if node.wants(2) else None


def _grad_sub(node, dy):
    updates = -GATHER_ND(dy, node.indices, **node.attrs) if node.wants(2) else None
    return dy, None, updates


def _grad_extreme(node, dy):
    """Shared evenly by the elements, of the tensor and of the updates, that are the extreme."""
    indices, attrs = node.indices, node.attrs
    mine = CAST(EQUAL(node.tensor, node.output), DstT=dy.dtype)
    theirs = CAST(EQUAL(node.updates, GATHER_ND(node.output, indices, **attrs)), DstT=dy.dtype)
    share = dy / TENSOR_SCATTER_ADD(mine, indices, theirs, **attrs)
    return (
        share * mine,
        None,
        GATHER_ND(share, indices, **attrs) * theirs if node.wants(2) else None,
    )


def _vectorize_scatter(batch, node, tensor, indices, updates):
    return batch.apply(node, [batch.stack(tensor), with_element_numbers(batch, indices), batch.stack(updates)])


def _scatter_op(kind, name, first, types, indices, saves, grad):
    return Op(
        name,
        f"{first}: T, indices: Tindices, updates: T, *, bad_indices_policy: string = '' -> output: T",
        T=types,
        Tindices=indices,
        infer=same_as_input,
        kernel=lambda tensor, indices, updates, bad_indices_policy: _scatter_into(
            kind, name, tensor, indices, updates, bad_indices_policy
        ),
        lower=lambda ctx, tensor, indices, updates, bad_indices_policy: _lower_scatter_into(
            kind, name, ctx, tensor, indices, updates, bad_indices_policy
        ),
        saves=saves,
        grad=grad,
        vectorize=_vectorize_scatter,
    )


_ALL = ("tensor", "indices", "updates", "output")
TENSOR_SCATTER_UPDATE = _scatter_op(
    "update", "TensorScatterUpdate", "tensor", dtypes.ANY, dtypes.INDEX | {dtypes.int16, dtypes.uint16},
    ("indices", "updates_shape"), _grad_update,
)  # fmt: skip
TENSOR_SCATTER_ADD = _scatter_op(
    "add", "TensorScatterAdd", "tensor", dtypes.NUMBER, dtypes.INDEX, ("indices",), _grad_add
)
TENSOR_SCATTER_SUB = _scatter_op(
    "sub", "TensorScatterSub", "tensor", dtypes.NUMBER, dtypes.INDEX, ("indices",), _grad_sub
)
TENSOR_SCATTER_MAX = _scatter_op(
    "max", "TensorScatterMax", "tensor", dtypes.REAL, dtypes.INDEX, _ALL, _grad_extreme
)
TENSOR_SCATTER_MIN = _scatter_op(
    "min", "TensorScatterMin", "tensor", dtypes.REAL, dtypes.INDEX, _ALL, _grad_extreme
)
SCATTER_ND_NON_ALIASING_ADD = _scatter_op(
    "add", "ScatterNdNonAliasingAdd", "input", dtypes.NUMBER, dtypes.INDEX, ("indices",), _grad_add
)


@api("tensor_scatter_nd_update")
def tensor_scatter_nd_update(tensor, indices, updates, name=None) -> Tensor:
    """`tensor` with the elements or slices at `indices` replaced by `updates`, in order.

    Args:
        tensor: a tensor.
        indices: integers; the last axis holds positions in the first dimensions of `tensor`.
        updates: of shape indices.shape[:-1] + tensor.shape[indices.shape[-1]:].
        name: a name for the operation.

    >>> tf.tensor_scatter_nd_update([0, 0, 0], [[0], [2]], [5, 7]).numpy().tolist()
    [5, 0, 7]

    Raises:
        InvalidArgumentError: when an index is out of range or the shapes do not fit.
    """
    return TENSOR_SCATTER_UPDATE(tensor, indices, updates, name=name)


@api("tensor_scatter_nd_add")
def tensor_scatter_nd_add(tensor, indices, updates, bad_indices_policy="", name=None) -> Tensor:
    """`tensor` with `updates` added to the elements or slices at `indices`.

    >>> tf.tensor_scatter_nd_add([1, 1, 1], [[0], [0]], [5, 7]).numpy().tolist()
    [13, 1, 1]
    """
    return TENSOR_SCATTER_ADD(tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


@api("tensor_scatter_nd_sub")
def tensor_scatter_nd_sub(tensor, indices, updates, bad_indices_policy="", name=None) -> Tensor:
    """`tensor` with `updates` subtracted from the elements or slices at `indices`.

    >>> tf.tensor_scatter_nd_sub([1, 1, 1], [[0], [0]], [5, 7]).numpy().tolist()
    [-11, 1, 1]
    """
    return TENSOR_SCATTER_SUB(tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


@api("tensor_scatter_nd_max")
def tensor_scatter_nd_max(tensor, indices, updates, bad_indices_policy="", name=None) -> Tensor:
    """`tensor` with the elements at `indices` replaced by `updates` where those are greater.

    >>> tf.tensor_scatter_nd_max([1, 1, 1], [[0], [2]], [5, 0]).numpy().tolist()
    [5, 1, 1]
    """
    return TENSOR_SCATTER_MAX(tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


@api("tensor_scatter_nd_min")
def tensor_scatter_nd_min(tensor, indices, updates, bad_indices_policy="", name=None) -> Tensor:
    """`tensor` with the elements at `indices` replaced by `updates` where those are less.

    >>> tf.tensor_scatter_nd_min([1, 1, 1], [[0], [2]], [5, 0]).numpy().tolist()
    [1, 1, 0]
    """
    return TENSOR_SCATTER_MIN(tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)
