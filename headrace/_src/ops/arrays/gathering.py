"""Taking elements and slices of a tensor by index: gather and gather_nd."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import NoRule, Ragged, Rule, known_array
from headrace._src.op.bound_kernels import binder, remembering
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import known_elements
from headrace._src.op.infer import UNKNOWN
from headrace._src.op.registry import lookup
from headrace._src.op.traits import UNCHECKED
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ONES_LIKE, RANGE
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE, get_static_value
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE
from headrace._src.ops.arrays.small_integers import integers
from headrace._src.ops.math.arithmetic import ADD, MUL
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.grouping import bad_index

POLICIES = ("", "DEFAULT", "ERROR", "IGNORE")


def check_indices(op: str, indices: np.ndarray, limit: int, argument: str = "indices"):
    """Refuse indices outside [0, limit)."""
    at = bad_index(indices, limit)
    if at is not None:
        found = int(indices.reshape(-1)[at])
        raise errors.invalid_argument(
            f"{op}: {argument}[{_place(at, indices.shape)}] = {found} is not in [0, {limit})"
        )


def _place(at, shape):
    """The flat position `at` as text, one index per dimension."""
    return ",".join(str(int(i)) for i in np.unravel_index(at, shape)) if shape else ""


def _gather_axes(op, params_rank, indices_rank, axis, batch_dims):
    """The axis and the number of batch dimensions, both checked and not negative."""
    if params_rank < 1:
        raise errors.invalid_argument(f"{op}: params must be at least 1-dimensional, got a scalar.")
    axis = np.asarray(axis)
    if axis.ndim:
        raise errors.invalid_argument(f"{op}: axis must be a scalar, got shape {axis.shape}.")
    at = int(axis)
    if not -params_rank <= at < params_rank:
        raise errors.invalid_argument(f"{op}: axis must be in [{-params_rank}, {params_rank}), got {at}.")
    at %= params_rank
    if not -indices_rank <= batch_dims <= indices_rank:
        raise errors.invalid_argument(
            f"{op}: batch_dims must be in [{-indices_rank}, {indices_rank}], got {batch_dims}."
        )
    batch = batch_dims + indices_rank if batch_dims < 0 else batch_dims
    if batch >= params_rank:
        raise errors.invalid_argument(
            f"{op}: batch_dims ({batch}) must be less than the rank of params ({params_rank})."
        )
    if at < batch:
        raise errors.invalid_argument(f"{op}: batch_dims ({batch}) must be at most axis ({at}).")
    return at, batch


def _check_batch(op, params, indices, batch):
    if params.shape[:batch] != indices.shape[:batch]:
        raise errors.invalid_argument(
            f"{op}: the first {batch} dimensions of params and indices must agree, got shapes "
            f"{params.shape} and "
            f"{indices.shape}."
        )


def take(op, params, indices, axis, batch_dims):
    """The NumPy kernel of gather."""
    at, batch = _gather_axes(op, params.ndim, indices.ndim, axis, batch_dims)
    if batch:
        _check_batch(op, params, indices, batch)
    length = params.shape[at]
    check_indices(op, indices, length)
    if not batch:
        return params.take(indices, at)
    # All dimensions before the axis are one long axis, in which each row of the batch has its place.
    lead, inner = params.shape[:batch], params.shape[batch:at]
    rest, picked = params.shape[at + 1 :], indices.shape[batch:]
    blocks, rows = math.prod(lead), math.prod(inner)
    starts = np.arange(blocks * rows).reshape(blocks, rows, 1) * length
    places = starts + indices.reshape(blocks, 1, math.prod(picked))
    flat = params.reshape(blocks * rows * length, *rest)
    return flat.take(places, 0).reshape(lead + inner + picked + rest)


def lower_take(ctx, op, params, indices, axis, batch_dims):
    """Its lowering."""
    at, batch = _gather_axes(op, params.ndim, indices.ndim, axis, batch_dims)
    length = params.shape[at]
    ctx.check(
        jnp.all((indices >= 0) & (indices < length)),
        errors.InvalidArgumentError,
        f"{op}: an index is not in [0, {length})",
    )
    if not batch:
        if not indices.size:
            # jax drops axes of empty indices into empty tensors.
            return jnp.zeros(params.shape[:at] + indices.shape + params.shape[at + 1 :], params.dtype)
        return jnp.take(params, indices, at, mode="clip")
    lead, inner = params.shape[:batch], params.shape[batch:at]
    rest, picked = params.shape[at + 1 :], indices.shape[batch:]
    blocks, rows = math.prod(lead), math.prod(inner)
    flat = params.reshape(blocks, rows, length, math.prod(rest))
    places = indices.reshape(blocks, 1, math.prod(picked), 1)
    return jnp.take_along_axis(flat, places, 2, mode="clip").reshape(lead + inner + picked + rest)


@binder("GatherV2", "axis")
def _bind_gather(axis, batch_dims):
    if batch_dims:
        return None
    axis_for = remembering(lambda ranks: _gather_axes("GatherV2", *ranks, axis, 0)[0])

    def kernel(params, indices, axis, **attrs):
        at = axis_for((params.ndim, indices.ndim))
        check_indices("GatherV2", indices, params.shape[at])
        return params.take(indices, at)

    return kernel


def _infer_gather(params, indices, axis, batch_dims):
    if params.shape.rank is None or indices.shape.rank is None:
        return UNKNOWN
    if axis.value is None:
        batch = batch_dims + indices.shape.rank if batch_dims < 0 else batch_dims
        return TensorShape([None] * (params.shape.rank + indices.shape.rank - 1 - batch))
    at, batch = _gather_axes("GatherV2", params.shape.rank, indices.shape.rank, axis.value, batch_dims)
    lead = params.shape[:batch].merge_with(indices.shape[:batch])
    dims = [*lead, *params.shape[batch:at], *indices.shape[batch:], *params.shape[at + 1 :]]
    return TensorShape(dims)


def _product(dims):
    """The product of a part of a shape: of a tuple, or of a vector tensor."""
    return math.prod(dims) if isinstance(dims, tuple) else lookup("Prod")(dims, [0])


def _times(a, b):
    return a * b if isinstance(a, int) and isinstance(b, int) else MUL(a, b)


def _grad_gather(node, dy):
    if not node.wants(0):
        return None, None, None
    shape = node.params_shape
    batch = node.attrs.get("batch_dims", 0)
    if batch < 0:
        if node.indices.shape.rank is None:
            raise ValueError("gather: the gradient for a negative batch_dims needs indices of known rank.")
        batch += node.indices.shape.rank
    axis = int(get_static_value(node.axis)) if "axis" in node.op.saves else 0
    rank = len(shape) if isinstance(shape, tuple) else shape.shape[0]
    if axis < 0 and rank is not None:
        axis += rank
    if axis == 0 and batch == 0:
        if isinstance(shape, tuple):
            dense = EagerTensor(np.array(shape, np.int32), dtypes.int32)
            rows = (-1, *shape[1:]) if 0 not in shape[1:] else (math.prod(node.indices.shape), *shape[1:])
        else:
            dense = shape
            rows = CONCAT([[-1], shape[1:]], 0)
        return IndexedSlices(RESHAPE(dy, rows), RESHAPE(node.indices, [-1]), dense), None, None
    return gather_gradient(dy, shape, node.indices, axis, batch), None, None


def gather_gradient(dy, shape, indices, axis, batch):
    """The dense gradient of a gather along `axis` of params of that shape."""
    known = isinstance(shape, tuple) and indices.shape.is_fully_defined()
    indices_shape = tuple(indices.shape) if known else SHAPE(indices)
    blocks, inner = _product(shape[:batch]), _product(shape[batch:axis])
    length, rest = shape[axis], _product(shape[axis + 1 :]) if axis != -1 else 1
    picked = _product(indices_shape[batch:])
    # To rows of (block, index), summed by the place that they were taken from, and back.
    rows = TRANSPOSE(RESHAPE(dy, [blocks, inner, picked, rest]), [0, 2, 1, 3])
    rows = RESHAPE(rows, [_times(blocks, picked), _times(inner, rest)])
    places = RESHAPE(indices, [blocks, picked])
    if batch:
        starts = RANGE(0, _times(blocks, length), length) if not _is_zero(length) else None
        if starts is not None:
            starts = RESHAPE(starts, [-1, 1])
            places = ADD(places, CAST(starts, DstT=places.dtype))
    summed = lookup("UnsortedSegmentSum")(rows, RESHAPE(places, [-1]), _times(blocks, length))
    summed = TRANSPOSE(RESHAPE(summed, [blocks, length, inner, rest]), [0, 2, 1, 3])
    return RESHAPE(summed, shape)


def _is_zero(n):
    return isinstance(n, int) and n == 0


def _partial_gather(params, indices, axis, batch_dims):
    elements = known_elements(params)
    if not isinstance(elements, list) or indices.value is None or indices.value.ndim > 1:
        return None
    try:
        return np.array(elements, object)[indices.value].tolist() if indices.value.ndim else elements[indices.value]
    except IndexError:
        return None


def _vectorize_gather(batch, node, params, indices, axis):
    at, dims = int(known_array(axis, "axis")), node.attrs["batch_dims"]
    if at < 0:
        at += batch.rank(params)
    if dims < 0:
        dims += batch.rank(indices)
    if dims or (params.stacked and indices.stacked):
        return GATHER_V2(batch.stack(params), batch.stack(indices), at + 1, batch_dims=dims + 1)
    if params.stacked:
        return GATHER_V2(params.tensor, indices.tensor, at + 1)
    gathered = GATHER_V2(params.tensor, indices.tensor, at)
    return TRANSPOSE(gathered, [at, *range(at), *range(at + 1, gathered.shape.rank)]) if at else gathered


def _vectorize_ragged_gather(batch, node, params, indices, axis):
    if not isinstance(indices, Ragged) or params.stacked or node.attrs["batch_dims"]:
        raise NoRule("it takes rows of values whose sizes differ")
    if int(known_array(axis, "axis")) not in (0, -batch.rank(params)):
        raise NoRule("its axis is not the first")
    return indices.like(batch.apply(node, [params, indices, axis])[0])


GATHER_V2 = Op(
    "GatherV2",
    "params: Tparams, indices: Tindices, axis: Taxis, *, batch_dims: int = 0 -> output: Tparams",
    partial=_partial_gather,
    Tindices=dtypes.INDEX | {dtypes.int16},
    Taxis=dtypes.INDEX,
    infer=_infer_gather,
    kernel=lambda params, indices, axis, batch_dims: take("GatherV2", params, indices, axis, batch_dims),
    lower=lambda ctx, params, indices, axis, batch_dims: lower_take(
        ctx, "GatherV2", params, indices, axis, batch_dims
    ),
    static=("axis",),
    saves=("params_shape", "indices", "axis"),
    grad=_grad_gather,
    vectorize=Rule(_vectorize_gather, _vectorize_ragged_gather),
)

_FIRST = np.array(0, np.int32)


def _infer_gather_rows(params, indices, validate_indices):
    if params.shape.rank is None or indices.shape.rank is None:
        return UNKNOWN
    if params.shape.rank < 1:
        raise errors.invalid_argument("Gather: params must be at least 1-dimensional, got a scalar.")
    return indices.shape.concatenate(params.shape[1:])


def _vectorize_gather_rows(batch, node, params, indices):
    if params.stacked:
        return GATHER_V2(params.tensor, batch.stack(indices), 1, batch_dims=1)
    return batch.apply(node, [params, indices])


GATHER = Op(
    "Gather",
    "params: Tparams, indices: Tindices, *, validate_indices: bool = True -> output: Tparams",
    traits=UNCHECKED,
    Tindices=dtypes.INDEX,
    infer=_infer_gather_rows,
    kernel=lambda params, indices, validate_indices: take("Gather", params, indices, _FIRST, 0),
    lower=lambda ctx, params, indices, validate_indices: lower_take(
        ctx, "Gather", params, indices, _FIRST, 0
    ),
    saves=("params_shape", "indices"),
    grad=lambda node, dy: _grad_gather(node, dy)[:2],
    vectorize=_vectorize_gather_rows,
)


@api("gather")
def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None) -> Tensor:
    """The slices of `params` at `indices` along an axis.

    Args:
        params: a tensor of at least one dimension, or a variable.
        indices: integers of any shape, in [0, params.shape[axis]).
        validate_indices: deprecated; indices are always checked.
        axis: the axis, `batch_dims` if None.
        batch_dims: the number of leading dimensions that `params` and `indices` share.
        name: a name for the operation.

    Returns:
        A tensor of shape params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:].

    >>> tf.gather([10, 20, 30], [2, 0, 2]).numpy().tolist()
    [30, 10, 30]

    Raises:
        InvalidArgumentError: when an index is out of range.
    """
    if axis is None:
        axis = batch_dims
    if type(axis) is int and axis == 0:
        # TF: along the first axis, batch_dims has no meaning and is not looked at.
        batch_dims = 0
        read = None if type(params) is EagerTensor else getattr(params, "sparse_read", None)
        if read is not None:
            return read(indices, name=name)
    return GATHER_V2(params, indices, integers(axis), batch_dims=batch_dims, name=name)


def flat_places(op, indices, dims, shape, policy):
    """Index vectors as positions in the flattened leading dimensions.

    Args:
        op: the op's name.
        indices: of shape (..., depth).
        dims: the `depth` leading dimensions that are indexed.
        shape: the whole shape, for the message.
        policy: what to do with bad indices.

    Returns:
        The positions, of shape indices.shape[:-1]; and None, or a mask of those that are valid.
    """
    check_policy(op, policy)
    mask = None
    if any(bad_index(indices[..., k], n) is not None for k, n in enumerate(dims)):
        mask = ((indices >= 0) & (indices < np.array(dims, np.int64))).all(-1)
        if policy != "IGNORE":
            at = int(np.argmin(mask))
            place, vector = _place(at, indices.shape[:-1]), indices.reshape(-1, len(dims))[at].tolist()
            raise errors.invalid_argument(
                f"{op}: indices[{place}] = {vector} does not index into shape {tuple(shape)}"
            )
        indices = np.where(mask[..., None], indices, 0)
    places = np.zeros(indices.shape[:-1], np.intp)
    for k, n in enumerate(dims):
        if k:
            places *= n
        places += indices[..., k]
    return places, mask


def check_policy(op, policy):
    if policy not in POLICIES:
        raise errors.invalid_argument(f"{op}: bad_indices_policy must be one of {POLICIES}, got {policy!r}.")


def index_depth(op, params_shape, indices_shape):
    """How many dimensions the vectors in the last axis of `indices` index."""
    if not params_shape:
        raise errors.invalid_argument(f"{op}: params must be at least a vector, got a scalar.")
    if not indices_shape:
        raise errors.invalid_argument(f"{op}: indices must be at least a vector, got a scalar.")
    depth = indices_shape[-1]
    if depth > len(params_shape):
        raise errors.invalid_argument(
            f"{op}: index innermost dimension length must be <= params rank, {len(params_shape)}, got "
            f"{depth}."
        )
    return depth


def _gather_nd(params, indices, bad_indices_policy):
    depth = index_depth("GatherNd", params.shape, indices.shape)
    dims, rest = params.shape[:depth], params.shape[depth:]
    if not math.prod(dims) and math.prod(indices.shape[:-1]):
        raise errors.invalid_argument(
            f"GatherNd: requested more than 0 entries, but params is empty: its shape is {params.shape}."
        )
    places, valid = flat_places("GatherNd", indices, dims, params.shape, bad_indices_policy)
    taken = params.reshape(math.prod(dims), *rest).take(places, 0)
    if valid is not None:
        taken[~valid] = b"" if params.dtype == np.object_ else 0
    return taken


def lower_places(ctx, op, indices, dims, policy):
    """`flat_places` on jax values: positions (bad ones are past the end) and which are valid."""
    limits = np.array(dims, indices.dtype)
    valid = jnp.all((indices >= 0) & (indices < limits), -1)
    if policy != "IGNORE":
        ctx.check(jnp.all(valid), errors.InvalidArgumentError, f"{op}: an index is out of range for {dims}.")
    strides = np.array([math.prod(dims[i + 1 :]) for i in range(len(dims))], np.int64)
    return jnp.where(valid, jnp.sum(indices.astype(np.int64) * strides, -1), math.prod(dims)), valid


def _lower_gather_nd(ctx, params, indices, bad_indices_policy):
    depth = index_depth("GatherNd", params.shape, indices.shape)
    dims, rest = params.shape[:depth], params.shape[depth:]
    places, valid = lower_places(ctx, "GatherNd", indices, dims, bad_indices_policy)
    taken = jnp.take(params.reshape(math.prod(dims), *rest), places, 0, mode="clip")
    if bad_indices_policy == "IGNORE":
        taken = jnp.where(valid.reshape(valid.shape + (1,) * len(rest)), taken, jnp.zeros((), taken.dtype))
    return taken


def _infer_gather_nd(params, indices, bad_indices_policy):
    if params.shape.rank is None or indices.shape.rank is None or indices.shape[-1] is None:
        return UNKNOWN
    depth = index_depth("GatherNd", tuple(params.shape), tuple(indices.shape))
    return indices.shape[:-1].concatenate(params.shape[depth:])


def _grad_gather_nd(node, dy):
    indices, shape = node.indices, node.params_shape
    if indices.shape.rank == 2 and indices.shape[-1] == 1 and node.attrs["bad_indices_policy"] != "IGNORE":
        rows = SQUEEZE(indices, squeeze_dims=[1])
        dense = EagerTensor(np.array(shape, np.int32), dtypes.int32) if isinstance(shape, tuple) else shape
        return IndexedSlices(dy, rows, dense), None
    if indices.shape.rank == 1:
        # ScatterNd wants at least one update: a list of the one index vector.
        indices, dy = EXPAND_DIMS(indices, 0), EXPAND_DIMS(dy, 0)
    dims = to_tensor(np.array(shape, indices.dtype._np)) if isinstance(shape, tuple) else shape
    if dims.dtype is not indices.dtype:
        dims = CAST(dims, DstT=indices.dtype)
    return lookup("ScatterNd")(indices, dy, dims, bad_indices_policy=node.attrs["bad_indices_policy"]), None


def with_element_numbers(batch, indices):
    """Multi-dimensional indices of one element as those of the batch: the number of the element stands before them."""
    shape = batch.shape_of_element(indices)
    if not isinstance(shape, list):
        raise NoRule("the shape of its indices is not known")
    tensor = batch.stack(indices)
    numbers = CAST(batch.numbers(), DstT=tensor.dtype)
    for _ in shape:
        numbers = EXPAND_DIMS(numbers, -1)
    return CONCAT([BROADCAST_TO(numbers, batch.with_size([*shape[:-1], 1])), tensor], -1)


def _vectorize_gather_nd(batch, node, params, indices):
    return batch.apply(node, [params, with_element_numbers(batch, indices) if params.stacked else indices])


GATHER_ND = Op(
    "GatherNd",
    "params: Tparams, indices: Tindices, *, bad_indices_policy: string = '' -> output: Tparams",
    Tindices=dtypes.INDEX | {dtypes.int16},
    infer=_infer_gather_nd,
    kernel=_gather_nd,
    lower=_lower_gather_nd,
    saves=("params_shape", "indices"),
    grad=_grad_gather_nd,
    vectorize=_vectorize_gather_nd,
)


def in_batches(indices):
    """Index vectors of the elements that `indices` names, each in the batch that its own place says."""
    return _with_batch_positions(EXPAND_DIMS(indices, -1), indices.shape.rank - 1)


def _with_batch_positions(indices, batch):
    """Index vectors with columns before them: where each vector itself stands in the batch."""
    own = [column if column.dtype is indices.dtype else CAST(column, DstT=indices.dtype)
           for column in _batch_positions(indices, batch)]  # fmt: skip
    return CONCAT([*own, indices], -1)


def _batch_positions(indices, batch):
    """The columns to put before index vectors: where each vector itself stands in the batch."""
    shape = SHAPE(indices, out_type=indices.dtype if indices.dtype in dtypes.INDEX else dtypes.int32)
    rank = indices.shape.rank
    columns = []
    for i in range(batch):
        steps = RANGE(*(CAST(to_tensor(n), DstT=shape.dtype) for n in (0, shape[i], 1)))
        steps = RESHAPE(steps, [-1 if k == i else 1 for k in range(rank)])
        target = CONCAT([shape[:-1], ONES_LIKE(shape[:1])], 0)
        columns.append(BROADCAST_TO(steps, target))
    return columns


@api("gather_nd")
def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy="") -> Tensor:
    """The elements or slices of `params` at the index vectors in the last axis of `indices`.

    Args:
        params: a tensor or a variable.
        indices: integers; the last axis holds positions in the first dimensions of `params`.
        batch_dims: the number of leading dimensions that both share.
        name: a name for the operation.
        bad_indices_policy: "" or "ERROR" to refuse bad indices, "IGNORE" to give zeros for them.

    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 0], [1, 1]]).numpy().tolist()
    [1, 4]

    Raises:
        InvalidArgumentError: when an index is out of range.
    """
    batch = int(get_static_value(batch_dims))
    if batch == 0:
        read = None if type(params) is EagerTensor else getattr(params, "gather_nd", None)
        if read is not None and not bad_indices_policy:
            return read(indices, name=name)
        return GATHER_ND(params, indices, bad_indices_policy=bad_indices_policy, name=name)
    params, indices = to_tensor(params), to_tensor(indices)
    rank = indices.shape.rank
    if rank is None:
        raise ValueError("gather_nd: indices must have a known rank when batch_dims is not 0.")
    if not 0 <= batch < rank:
        raise ValueError(f"gather_nd: batch_dims must be in [0, {rank}), got {batch}.")
    if params.shape.rank is not None and batch >= params.shape.rank:
        raise ValueError(f"gather_nd: batch_dims must be less than the rank of params, {params.shape.rank}.")
    here = indices.shape[:batch]
    there = params.shape[:batch] if params.shape.rank is not None else TensorShape([None] * batch)
    if not here.is_compatible_with(there):
        raise errors.invalid_argument(
            f"gather_nd: params and indices must agree in batch_dims = {batch} dimensions, got {params.shape} "
            f"and {indices.shape}."
        )
    if not (here.is_fully_defined() and there.is_fully_defined()):
        same = EQUAL(SHAPE(params)[:batch], SHAPE(indices)[:batch])
        message = f"gather_nd: params and indices must agree in batch_dims = {batch} dimensions"
        lookup("Assert")(lookup("All")(same, [0]), [message])
    vectors = _with_batch_positions(indices, batch)
    taken = GATHER_ND(params, vectors, bad_indices_policy=bad_indices_policy, name=name)
    if type(taken) is not EagerTensor and params.shape.rank is not None and indices.shape[-1] is not None:
        inner = params.shape[batch + indices.shape[-1] :]
        taken.set_shape(here.merge_with(there).concatenate(indices.shape[batch:-1]).concatenate(inner))
    return taken
