"""Ops that read or change some rows or slices of a variable."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.op.definition import Op
from headrace._src.op.registry import lookup
from headrace._src.ops.indexed_slices import IndexedSlices
from headrace._src.ops.slicing import write_slice
from headrace._src.state.storage import VARIABLE_SHAPE, storage_of


def _check_rows(indices, rows, op):
    if indices.size and (indices.min() < 0 or indices.max() >= rows):
        flat = indices.ravel()
        at = int(np.flatnonzero((flat < 0) | (flat >= rows))[0])
        where = ", ".join(str(i) for i in np.unravel_index(at, indices.shape)) if indices.ndim else ""
        raise errors.invalid_argument(f"{op}: indices[{where}] = {flat[at]} is not in [0, {rows})")


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

    return Op(
        name,
        "resource: resource, indices: Tindices, updates: dtype -> ",
        Tindices=dtypes.INDEX,
        infer=lambda resource, indices, updates: (),
        kernel=kernel,
        lower=None,  # see ASSIGN in storage.py
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

    return Op(
        name,
        "ref: resource, indices: Tindices, updates: T, *, use_locking: bool = True -> ",
        Tindices=dtypes.INDEX,
        infer=lambda ref, indices, updates, use_locking: (),
        kernel=kernel,
        lower=None,  # see ASSIGN in storage.py
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
    return lookup("GatherV2").kernel(value, indices, np.int32(batch_dims), batch_dims=batch_dims)


def _grad_gather(node, dy):
    shape = VARIABLE_SHAPE(node.resource, out_type=dtypes.int64)
    reshape, concat, slice_ = lookup("Reshape"), lookup("ConcatV2"), lookup("Slice")
    if node.attrs["batch_dims"]:
        # Summed into a dense gradient: rows of different batches are different rows.
        zeros = lookup("Fill")(shape, lookup("Cast")(0, DstT=dy.dtype))
        return lookup("GatherV2Grad")(zeros, node.indices, dy, batch_dims=node.attrs["batch_dims"]), None
    rows = reshape(node.indices, [-1])
    tail = slice_(shape, lookup("Cast")([1], DstT=dtypes.int64), lookup("Cast")([-1], DstT=dtypes.int64))
    count = lookup("Cast")(reshape(lookup("Size")(node.indices), [1]), DstT=dtypes.int64)
    values = reshape(dy, concat([count, tail], 0))
    return IndexedSlices(values, rows, shape), None


RESOURCE_GATHER = Op(
    "ResourceGather",
    "resource: resource, indices: Tindices, *, batch_dims: int = 0, validate_indices: bool = True, dtype: type "
    "-> output: dtype",
    Tindices=dtypes.INDEX,
    infer=lambda resource, indices, **attrs: TensorShape(None),
    kernel=_gather,
    lower=None,  # the compiled tier reads the variable and gathers from the value
    saves=("resource", "indices"),
    grad=_grad_gather,
    stateful=True,
)


def _gather_nd(resource, indices, dtype):
    return lookup("GatherNd").kernel(storage_of(resource).read(), indices, bad_indices_policy="")


def _grad_gather_nd(node, dy):
    shape = VARIABLE_SHAPE(node.resource, out_type=node.indices.dtype)
    return lookup("ScatterNd")(node.indices, dy, shape), None


RESOURCE_GATHER_ND = Op(
    "ResourceGatherNd",
    "resource: resource, indices: Tindices, *, dtype: type -> output: dtype",
    Tindices=dtypes.INDEX,
    infer=lambda resource, indices, dtype: TensorShape(None),
    kernel=_gather_nd,
    lower=None,  # see RESOURCE_GATHER
    saves=("resource", "indices"),
    grad=_grad_gather_nd,
    stateful=True,
)


def _strided_slice_assign(ref, begin, end, strides, value, **masks):
    storage_of(ref).replace(lambda array: write_slice(array, begin, end, strides, masks, value))


STRIDED_SLICE_ASSIGN = Op(
    "ResourceStridedSliceAssign",
    "ref: resource, begin: Index, end: Index, strides: Index, value: T, *, begin_mask: int = 0, end_mask: int = 0, "
    "ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0 -> ",
    Index=dtypes.INDEX,
    infer=lambda ref, begin, end, strides, value, **masks: (),
    kernel=_strided_slice_assign,
    lower=None,  # see ASSIGN in storage.py
    grad=None,
    stateful=True,
)
