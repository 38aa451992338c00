"""Ops that read or change some rows or slices of a variable."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.batching import NoRule
from headrace._src.op.definition import Op
from headrace._src.op.lowering import NotLowerable
from headrace._src.op.traits import READS_RESOURCE, WRITES_VARIABLE
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.gathering import GATHER_ND, GATHER_V2, gather_gradient
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SIZE
from headrace._src.ops.arrays.scattering import SCATTER_ND
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE
from headrace._src.ops.arrays.slicing import TENSOR_STRIDED_SLICE_UPDATE, write_slice
from headrace._src.state.storage import shape_for_gradient, shape_in, storage_of

# How a ufunc is applied at places of an array in a compiled program.
_AT = {np.add: "add", np.subtract: "subtract", np.multiply: "multiply", np.divide: "divide", np.minimum: "min",
       np.maximum: "max"}  # fmt: skip


def _changed_at(array, where, updates, ufunc):
    """The array with places changed by all updates."""
    if ufunc is np.divide and array.dtype.kind in "iu":
        raise NotLowerable("a division of integers")
    return getattr(array.at[where], _AT[ufunc])(updates)


def _check_rows(indices, rows, op):
    if indices.size and (indices.min() < 0 or indices.max() >= rows):
        flat = indices.ravel()
        at = int(np.flatnonzero((flat < 0) | (flat >= rows))[0])
        where = ", ".join(str(i) for i in np.unravel_index(at, indices.shape)) if indices.ndim else ""
        raise errors.invalid_argument(f"{op}: indices[{where}] = {flat[at]} is not in [0, {rows})")


def _last_wins(array, rows, updates):
    """The array with rows replaced; of several updates of one row the last one counts, which XLA does not promise."""
    if not updates.size:
        return array
    count = array.shape[0]
    order = jnp.arange(1, rows.shape[0] + 1)
    last = jnp.zeros(count, order.dtype).at[rows].max(order)  # for each row, one more than its last update
    chosen = jnp.reshape(last > 0, (count,) + (1,) * (array.ndim - 1))
    return jnp.where(chosen, updates[jnp.maximum(last - 1, 0)], array)


def _scatter_rows(name, ufunc):
    """`variable[indices[i]] op= updates[i]`; None as ufunc means assignment, the last one wins."""

    def kernel(resource, indices, updates):
        storage = storage_of(resource)

        def change(value):
            if not value.ndim:
                raise errors.invalid_argument(f"{name}: the variable must have at least one dimension.")
            _check_rows(indices, value.shape[0], name)
            wanted = indices.shape + value.shape[1:]
            if updates.ndim and updates.shape != wanted:
                raise errors.invalid_argument(
                    f"{name}: updates must have shape {wanted} or be a scalar, got {updates.shape}."
                )
            full = np.broadcast_to(updates, wanted)
            if ufunc is None:
                value[indices] = full
            else:
                ufunc.at(value, indices, full)

        storage.replace(change)

    def lower(ctx, resource, indices, updates):
        value = ctx.read_variable(resource)
        wanted = indices.shape + value.shape[1:]
        if not value.ndim or (updates.ndim and updates.shape != wanted):
            raise NotLowerable("rows that do not fit the variable")
        rows = value.shape[0]
        inside = jnp.all((indices >= 0) & (indices < rows))
        ctx.check(inside, errors.InvalidArgumentError, f"{name}: an index is out of range.")
        full = jnp.broadcast_to(updates, wanted)
        if ufunc is None:
            changed = _last_wins(value, jnp.ravel(indices), jnp.reshape(full, (indices.size, *value.shape[1:])))
        else:
            changed = _changed_at(value, indices, full, ufunc)
        ctx.assign_variable(resource, changed)

    return Op(
        name,
        "resource: resource, indices: Tindices, updates: dtype -> ",
        traits=WRITES_VARIABLE,
        Tindices=dtypes.INDEX,
        infer=lambda resource, indices, updates: (),
        kernel=kernel,
        lower=lower,
        grad=None,
        stateful=True,
    )


SCATTER_UPDATE = _scatter_rows("ResourceScatterUpdate", None)
SCATTER_ADD = _scatter_rows("ResourceScatterAdd", np.add)
SCATTER_SUB = _scatter_rows("ResourceScatterSub", np.subtract)
SCATTER_MUL = _scatter_rows("ResourceScatterMul", np.multiply)
SCATTER_DIV = _scatter_rows("ResourceScatterDiv", np.divide)
SCATTER_MIN = _scatter_rows("ResourceScatterMin", np.minimum)
SCATTER_MAX = _scatter_rows("ResourceScatterMax", np.maximum)


def _scatter_nd(name, ufunc):
    """The same with index tuples along the last axis of `indices`."""

    def kernel(ref, indices, updates, use_locking):
        storage = storage_of(ref)

        def change(value):
            if not indices.ndim:
                raise errors.invalid_argument(f"{name}: indices must have at least one dimension.")
            depth = indices.shape[-1]
            if depth > value.ndim:
                raise errors.invalid_argument(
                    f"{name}: indices.shape[-1] must be <= the variable's rank, got {indices.shape} vs {value.shape}."
                )
            wanted = indices.shape[:-1] + value.shape[depth:]
            if updates.shape != wanted:
                raise errors.invalid_argument(f"{name}: updates must have shape {wanted}, got {updates.shape}.")
            for axis in range(depth):
                part = indices[..., axis]
                if part.size and (part.min() < 0 or part.max() >= value.shape[axis]):
                    bad = np.argwhere((part < 0) | (part >= value.shape[axis]))[0].tolist()
                    raise errors.invalid_argument(
                        f"{name}: indices{bad} = {indices[tuple(bad)].tolist()} does not index into shape {value.shape}"
                    )
            where = tuple(indices[..., axis] for axis in range(depth))
            if ufunc is None:
                value[where] = updates
            else:
                ufunc.at(value, where, updates)

        storage.replace(change)

    def lower(ctx, ref, indices, updates, use_locking):
        value = ctx.read_variable(ref)
        depth = indices.shape[-1] if indices.ndim else -1
        if not 0 <= depth <= value.ndim or updates.shape != indices.shape[:-1] + value.shape[depth:]:
            raise NotLowerable("updates that do not fit the variable")
        limits = np.array(value.shape[:depth], indices.dtype)
        ctx.check(
            jnp.all((indices >= 0) & (indices < limits)),
            errors.InvalidArgumentError,
            f"{name}: indices do not index into shape {value.shape}.",
        )
        if ufunc is None:
            # All leading axes as one, so that a tuple of indices is one row.
            strides = np.array([int(np.prod(value.shape[i + 1 : depth])) for i in range(depth)], np.int64)
            rows = jnp.ravel(jnp.sum(indices.astype(np.int64) * strides, axis=-1))
            flat = jnp.reshape(value, (int(np.prod(value.shape[:depth])), *value.shape[depth:]))
            changed = _last_wins(flat, rows, jnp.reshape(updates, (rows.shape[0], *value.shape[depth:])))
            changed = jnp.reshape(changed, value.shape)
        else:
            changed = _changed_at(value, tuple(indices[..., axis] for axis in range(depth)), updates, ufunc)
        ctx.assign_variable(ref, changed)

    return Op(
        name,
        "ref: resource, indices: Tindices, updates: T, *, use_locking: bool = True -> ",
        traits=WRITES_VARIABLE,
        Tindices=dtypes.INDEX,
        infer=lambda ref, indices, updates, use_locking: (),
        kernel=kernel,
        lower=lower,
        grad=None,
        stateful=True,
    )


SCATTER_ND_UPDATE = _scatter_nd("ResourceScatterNdUpdate", None)
SCATTER_ND_ADD = _scatter_nd("ResourceScatterNdAdd", np.add)
SCATTER_ND_SUB = _scatter_nd("ResourceScatterNdSub", np.subtract)
SCATTER_ND_MIN = _scatter_nd("ResourceScatterNdMin", np.minimum)
SCATTER_ND_MAX = _scatter_nd("ResourceScatterNdMax", np.maximum)


def _gather(resource, indices, batch_dims, validate_indices, dtype):
    value = storage_of(resource).read()
    return GATHER_V2.kernel(value, indices, np.int32(batch_dims), batch_dims=batch_dims)


def _infer_gather(resource, indices, batch_dims, **attrs):
    shape = shape_in(resource)
    if shape.rank is None or indices.shape.rank is None:
        return TensorShape(None)
    return indices.shape.concatenate(shape[batch_dims + 1 :])


def _grad_gather(node, dy):
    shape = shape_for_gradient(node.resource)
    batch = node.attrs["batch_dims"]
    if batch:  # a dense gradient: rows of different batches are different rows
        dims = tuple(shape._a.tolist()) if isinstance(shape, EagerTensor) else shape
        return gather_gradient(dy, dims, node.indices, batch, batch), None
    rows = RESHAPE(node.indices, [-1])
    if isinstance(shape, EagerTensor) and node.indices.shape.is_fully_defined():
        values = RESHAPE(dy, (node.indices.shape.num_elements(), *shape._a[1:].tolist()))
    else:
        values = RESHAPE(dy, CONCAT([RESHAPE(SIZE(node.indices), [1]), shape[1:]], 0))
    return IndexedSlices(values, rows, shape), None


def _vectorize_gather(batch, node, resource, indices):
    if node.attrs["batch_dims"]:
        raise NoRule("it has batch dimensions")
    return batch.apply(node, [resource, indices])


RESOURCE_GATHER = Op(
    "ResourceGather",
    "resource: resource, indices: Tindices, *, batch_dims: int = 0, validate_indices: bool = True, dtype: type "
    "-> output: dtype",
    traits=READS_RESOURCE,
    Tindices=dtypes.INDEX,
    infer=_infer_gather,
    kernel=_gather,
    lower=lambda ctx, resource, indices, batch_dims, **attrs: GATHER_V2.lower(
        ctx, ctx.read_variable(resource), indices, np.int32(batch_dims), batch_dims=batch_dims
    ),
    saves=("resource", "indices"),
    grad=_grad_gather,
    vectorize=_vectorize_gather,
    stateful=True,
)


def _gather_nd(resource, indices, dtype):
    return GATHER_ND.kernel(storage_of(resource).read(), indices, bad_indices_policy="")


def _infer_gather_nd(resource, indices, dtype):
    shape = shape_in(resource)
    if shape.rank is None or indices.shape.rank is None or indices.shape[-1] is None:
        return TensorShape(None)
    return indices.shape[:-1].concatenate(shape[indices.shape[-1] :])


def _grad_gather_nd(node, dy):
    indices, shape = node.indices, shape_for_gradient(node.resource)
    if indices.shape.rank == 2 and indices.shape[-1] == 1:
        return IndexedSlices(dy, SQUEEZE(indices, squeeze_dims=[1]), shape), None
    if indices.shape.rank == 1:
        # ScatterNd wants at least one update: a list of the one index vector.
        indices, dy = EXPAND_DIMS(indices, 0), EXPAND_DIMS(dy, 0)
    return SCATTER_ND(indices, dy, CAST(shape, DstT=indices.dtype)), None


RESOURCE_GATHER_ND = Op(
    "ResourceGatherNd",
    "resource: resource, indices: Tindices, *, dtype: type -> output: dtype",
    traits=READS_RESOURCE,
    Tindices=dtypes.INDEX,
    infer=_infer_gather_nd,
    kernel=_gather_nd,
    lower=lambda ctx, resource, indices, dtype: GATHER_ND.lower(
        ctx, ctx.read_variable(resource), indices, bad_indices_policy=""
    ),
    saves=("resource", "indices"),
    grad=_grad_gather_nd,
    vectorize=lambda batch, node, *inputs: batch.apply(node, inputs),
    stateful=True,
)


def _strided_slice_assign(ref, begin, end, strides, value, **masks):
    storage_of(ref).replace(lambda array: write_slice(array, begin, end, strides, masks, value))


def _lower_strided_slice_assign(ctx, ref, begin, end, strides, value, **masks):
    before = ctx.read_variable(ref)
    ctx.assign_variable(ref, TENSOR_STRIDED_SLICE_UPDATE.lower(ctx, before, begin, end, strides, value, **masks))


STRIDED_SLICE_ASSIGN = Op(
    "ResourceStridedSliceAssign",
    "ref: resource, begin: Index, end: Index, strides: Index, value: T, *, begin_mask: int = 0, end_mask: int = 0, "
    "ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0 -> ",
    traits=WRITES_VARIABLE,
    flexible=("begin", "end"),
    Index=dtypes.INDEX,
    infer=lambda ref, begin, end, strides, value, **masks: (),
    kernel=_strided_slice_assign,
    lower=_lower_strided_slice_assign,
    static=("begin", "end", "strides"),
    grad=None,
    stateful=True,
)

