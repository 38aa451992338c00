"""Joining tensors: concat and stack, and unstack, which undoes the latter."""

from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import NoRule, Ragged, Rule, known_array, shifted
from headrace._src.op.bound_kernels import binder, remembering
from headrace._src.op.convert import register_pack, to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import if_useful, known_elements, unless_constant
from headrace._src.op.infer import UNKNOWN
from headrace._src.op.registry import lookup
from headrace._src.op.traits import FAILS_BY_SHAPE, UNCHECKED
from headrace._src.ops.arrays.box_slices import SLICE
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.measuring import SIZE, checked_parts, known_value
from headrace._src.ops.arrays.passing import identity
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.arrays.small_integers import integers
from headrace._src.ops.math.division import FLOOR_MOD


def axis_value(op, axis, rank, argument="axis"):
    """A scalar axis input as an integer in [0, rank)."""
    axis = np.asarray(axis)
    # TF: a vector of one element will do.
    if axis.size != 1:
        raise errors.invalid_argument(f"{op}: {argument} must be a scalar, got shape {axis.shape}.")
    at = int(axis.reshape(()))
    if not -rank <= at < rank:
        raise errors.invalid_argument(f"{op}: {argument} must be in [{-rank}, {rank}), got {at}.")
    return at % rank


def _concat_axis(op, shapes, axis):
    """The axis, after checking that arrays of these shapes can be concatenated along it."""
    first = shapes[0]
    if not first:
        raise errors.invalid_argument(f"{op}: values must have at least one dimension, got scalars.")
    at = axis_value(op, axis, len(first))
    for i, other in enumerate(shapes):
        if len(other) != len(first) or other[:at] + other[at + 1 :] != first[:at] + first[at + 1 :]:
            raise errors.invalid_argument(
                f"{op}: dimensions of inputs should match except along axis {at}: "
                f"values[0] has shape {first}, values[{i}] has shape {other}."
            )
    return at


def _concat(values, axis):
    at = _concat_axis("ConcatV2", [x.shape for x in values], axis)
    return np.concatenate(values, at)


@binder("ConcatV2", "axis")
def _bind_concat(axis):
    axis_for = remembering(lambda shapes: _concat_axis("ConcatV2", shapes, axis))
    return lambda values, _: np.concatenate(values, axis_for(tuple([x.shape for x in values])))


def _lower_concat(ctx, values, axis):
    return jnp.concatenate(values, _concat_axis("ConcatV2", [x.shape for x in values], axis))


def _infer_concat(values, axis):
    ranked = [spec.shape for spec in values if spec.shape.rank is not None]
    if not ranked:
        return UNKNOWN
    rank = ranked[0].rank
    for shape in ranked:
        if shape.rank != rank:
            raise errors.invalid_argument(f"ConcatV2: values must have one rank, got shapes {ranked}.")
    if axis.value is None:
        return TensorShape([None] * rank)
    at = axis_value("ConcatV2", axis.value, rank)
    dims = [None] * rank
    for i in range(rank):
        if i == at:
            lengths = [None if spec.shape.rank is None else spec.shape[i] for spec in values]
            dims[i] = None if None in lengths else sum(lengths)
            continue
        for shape in ranked:
            if shape[i] is not None:
                if dims[i] not in (None, shape[i]):
                    raise errors.invalid_argument(
                        f"ConcatV2: dimension {i} must be the same in all values, got shapes {ranked}."
                    )
                dims[i] = shape[i]
    return TensorShape(dims)


def _pieces(dy, shapes, axis):
    """`dy` cut along `axis` into parts of the given shapes."""
    if len(shapes) == 1:
        return [dy]
    value = known_value(axis)
    if value is not None and all(isinstance(shape, tuple) for shape in shapes):
        at = axis_value("ConcatV2", value, len(shapes[0]))
        return lookup("SplitV")(dy, [shape[at] for shape in shapes], at, num_split=len(shapes))
    shapes = [to_tensor(shape) for shape in shapes]
    if axis.dtype is not dtypes.int32:
        axis = CAST(axis, DstT=dtypes.int32)
    at = FLOOR_MOD(axis, SIZE(shapes[0]))
    offsets = CONCAT_OFFSET(at, shapes)
    return [SLICE(dy, offset, shape) for offset, shape in zip(offsets, shapes)]


def _grad_concat(node, dy):
    return _pieces(dy, node.values_shape, node.axis), None


_LONGEST_SHAPE = 256  # elements are followed for the sake of shapes, and none has so many dimensions


def _partial_concat(values, axis):
    parts = []
    for spec in values:
        elements = known_elements(spec)
        if elements is None:
            if spec.shape.rank != 1 or spec.shape[0] is None or spec.shape[0] > _LONGEST_SHAPE:
                return None
            elements = [None] * spec.shape[0]
        if not isinstance(elements, list):
            return None
        parts.extend(elements)
    return if_useful(parts)


def _vectorize_concat(batch, node, values, axis):
    return batch.apply(node, [[batch.stack(x) for x in values], batch.axes(axis)])


def _vectorize_ragged_concat(batch, node, values, axis):
    first = next(x for x in values if isinstance(x, Ragged))
    at = int(known_array(axis, "axis"))
    at = at + batch.rank(first) if at < 0 else at
    if at:
        if not all(isinstance(x, Ragged) and x.splits is first.splits for x in values):
            raise NoRule("its inputs differ in size")
        return first.like(CONCAT([x.tensor for x in values], to_tensor(at)))
    row_dims = first.row_dims()
    if any(isinstance(x, Ragged) and x.row_dims() != row_dims for x in values):
        raise NoRule("its inputs differ in shape")
    return batch.joined([batch.rows_of(x, row_dims) for x in values])


CONCAT = Op(
    "ConcatV2",
    "values: N*T, axis: Tidx -> output: T",
    traits=UNCHECKED,
    node_name="concat",
    partial=_partial_concat,
    can_fail=unless_constant(-1),
    Tidx=dtypes.INDEX,
    infer=_infer_concat,
    kernel=_concat,
    lower=_lower_concat,
    static=("axis",),
    saves=("values_shape", "axis"),
    grad=_grad_concat,
    vectorize=Rule(_vectorize_concat, _vectorize_ragged_concat),
)

CONCAT_FIRST_AXIS_INPUT = Op(
    "Concat",
    "concat_dim: int32, values: N*T -> output: T",
    traits=UNCHECKED,
    infer=lambda concat_dim, values: _infer_concat(values, concat_dim),
    kernel=lambda concat_dim, values: _concat(values, concat_dim),
    lower=lambda ctx, concat_dim, values: _lower_concat(ctx, values, concat_dim),
    static=("concat_dim",),
    saves=("values_shape", "concat_dim"),
    grad=lambda node, dy: (None, _pieces(dy, node.values_shape, node.concat_dim)),
    vectorize=lambda batch, node, axis, values: batch.apply(node, [batch.axes(axis), [*map(batch.stack, values)]]),
)


def _concat_offset(concat_dim, shape):
    first = shape[0] if shape else np.zeros(0, np.int32)
    if not shape or first.ndim != 1:
        raise errors.invalid_argument(f"ConcatOffset: shape must be vectors, got {[x.shape for x in shape]}.")
    at = axis_value("ConcatOffset", concat_dim, len(first), "concat_dim")
    offsets, begin = [], 0
    for i, dims in enumerate(shape):
        if dims.shape != first.shape or dims.ndim != 1:
            raise errors.invalid_argument(
                f"ConcatOffset: shape[{i}] must be a vector of {first.size} elements, got shape {dims.shape}."
            )
        if np.delete(dims, at).tolist() != np.delete(first, at).tolist():
            raise errors.invalid_argument(
                f"ConcatOffset: shapes must agree except along axis {at}, got {first.tolist()} and "
                f"{dims.tolist()}."
            )
        offset = np.zeros_like(first)
        offset[at] = begin
        offsets.append(offset)
        begin += int(dims[at])
    return offsets


CONCAT_OFFSET = Op(
    "ConcatOffset",
    "concat_dim: int32, shape: N*shape_type -> offset: N*shape_type",
    shape_type=dtypes.INDEX,
    infer=lambda concat_dim, shape: ([spec.shape for spec in shape],),
    kernel=_concat_offset,
    lower=lambda ctx, concat_dim, shape: [jnp.asarray(x) for x in _concat_offset(concat_dim, shape)],
    static=("concat_dim", "shape"),
    grad=None,
)


@api("concat")
def concat(values, axis, name="concat") -> Tensor:
    """Tensors put one after another along an axis that they have.

    Args:
        values: a list of tensors of one dtype, whose shapes agree except along `axis`.
        axis: the axis, a scalar; negative counts from the end.
        name: a name for the operation.

    >>> tf.concat([[1, 2], [3]], 0).numpy().tolist()
    [1, 2, 3]

    Raises:
        InvalidArgumentError: when the shapes or dtypes do not fit.
    """
    if isinstance(values, int) and isinstance(axis, (list, tuple)):
        raise ValueError("concat: the tensors come first, then the axis: tf.concat(values, axis).")
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        axis = to_tensor(axis, dtypes.int32)
        if axis.shape.rank not in (None, 0):
            raise ValueError(f"concat: axis must be a scalar, got shape {axis.shape}.")
        return identity(values[0], name=name)
    if not isinstance(axis, Tensor):
        axis = integers(axis) if type(axis) is int else to_tensor(axis, dtypes.int32)
    return CONCAT(values, axis, name=name)


def _stack_axis(op, axis, rank):
    if not -rank <= axis < rank:
        raise errors.invalid_argument(f"{op}: axis must be in [{-rank}, {rank}), got {axis}.")
    return axis % rank


def _pack(values, axis):
    first = values[0]
    shape = first.shape
    for i, other in enumerate(values):
        if other.shape != shape:
            raise errors.invalid_argument(
                f"Pack: shapes of all inputs must match: values[0] has shape {shape}, values[{i}] has shape "
                f"{other.shape}."
            )
    at = _stack_axis("Pack", axis, first.ndim + 1)
    out = np.empty(shape[:at] + (len(values),) + shape[at:], first.dtype)
    rows = np.moveaxis(out, at, 0) if at else out
    for i, value in enumerate(values):
        rows[i, ...] = value  # not rows[i], which would put an array of no dimensions into an array of objects
    return out


def _lower_pack(ctx, values, axis):
    return jnp.stack(values, axis)


def _infer_pack(values, axis):
    ranked = [spec.shape for spec in values if spec.shape.rank is not None]
    if not ranked:
        return UNKNOWN
    merged = ranked[0]
    for shape in ranked[1:]:
        try:
            merged = merged.merge_with(shape)
        except ValueError:
            raise errors.invalid_argument(
                f"Pack: shapes of all inputs must match, got {merged} and {shape}."
            ) from None
    at = _stack_axis("Pack", axis, merged.rank + 1)
    dims = merged.as_list()
    return TensorShape(dims[:at] + [len(values)] + dims[at:])


def _grad_pack(node, dy):
    return (UNPACK(dy, num=len(node.values_shape), axis=node.attrs["axis"]),)


def _partial_pack(values, axis):
    if values and axis == 0 and all(spec.shape.rank == 1 and spec.shape[0] is not None for spec in values):
        rows = [known_elements(spec) or [None] * spec.shape[0] for spec in values]
        return rows if any(if_useful(row) for row in rows) else None
    if not values or any(spec.shape.rank != 0 for spec in values):
        return None
    scalars = [known_elements(spec) for spec in values]
    return if_useful([None if isinstance(scalar, list) else scalar for scalar in scalars])


def _vectorize_pack(batch, node, values):
    return batch.apply(node, [[batch.stack(x) for x in values]], {"axis": shifted(node.attrs["axis"])})


PACK = Op(
    "Pack",
    "values: N*T, *, axis: int = 0 -> output: T",
    traits=FAILS_BY_SHAPE | UNCHECKED,
    node_name="stack",
    partial=_partial_pack,
    infer=_infer_pack,
    kernel=_pack,
    lower=_lower_pack,
    saves=("values_shape",),
    grad=_grad_pack,
    vectorize=_vectorize_pack,
)


def _dtype_within(value):
    """The dtype of the first tensor in nested sequences."""
    if isinstance(value, (list, tuple)):
        for item in value:
            dtype = _dtype_within(item)
            if dtype is not None:
                return dtype
        return None
    if isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__"):
        dtype = getattr(value, "dtype", None)
        return dtypes.as_dtype(dtype) if dtype is not None else to_tensor(value).dtype
    return None


def _pack_nested(values, wanted):
    """A nested sequence that holds tensors, as one tensor; what is no tensor takes the tensors' dtype."""
    found = _dtype_within(values)
    return _pack_as(values, found, found if wanted is None else wanted)


def _pack_as(value, found, wanted):
    if isinstance(value, (list, tuple)) and _dtype_within(value) is not None:
        return PACK([_pack_as(item, found, wanted) for item in value])
    if isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__"):
        tensor = to_tensor(value)
        # TF: only a dtype that was asked for is cast to; tensors that differ among themselves are an error.
        if wanted is found or tensor.dtype is wanted:
            return tensor
        return CAST(tensor, DstT=wanted)
    return to_tensor(value, wanted)


register_pack(_pack_nested)


@api("stack")
def stack(values, axis=0, name="stack") -> Tensor:
    """Tensors of one shape put side by side along a new axis.

    >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]

    Raises:
        ValueError: when the axis is out of range.
        InvalidArgumentError: when the shapes differ.
    """
    if axis == 0 and not (isinstance(values, (list, tuple)) and values and type(values[0]) is EagerTensor):
        try:
            return to_tensor(values)
        except (TypeError, ValueError):
            pass  # it may hold what only becomes a tensor item by item
    if not isinstance(values, (list, tuple)):
        values = unstack(values)
    first = to_tensor(values[0]) if values else None
    if first is not None and first.shape.rank is not None:
        rank = first.shape.rank + 1
        if not -rank <= axis < rank:
            raise ValueError(f"stack: axis must be in [{-rank}, {rank}), got {axis}.")
    return PACK(list(values), axis=axis, name=name)


def _unpack(value, num, axis):
    if not value.ndim:
        raise errors.invalid_argument("Unpack: value must have at least one dimension, got a scalar.")
    at = _stack_axis("Unpack", axis, value.ndim)
    if value.shape[at] != num:
        raise errors.invalid_argument(
            f"Unpack: num is {num}, but value has shape {value.shape}, so {value.shape[at]} along axis {at}."
        )
    rows = np.moveaxis(value, at, 0) if at else value
    return [rows[i, ...] for i in range(checked_parts("Unpack", "num", num))]


def _lower_unpack(ctx, value, num, axis):
    return [jnp.squeeze(part, axis) for part in jnp.split(value, num, axis)] if num else []


def _infer_unpack(value, num, axis):
    if value.shape.rank is None:
        return ([UNKNOWN] * num,)
    at = _stack_axis("Unpack", axis, value.shape.rank)
    if value.shape[at] not in (None, num):
        raise errors.invalid_argument(f"Unpack: num is {num}, but value has shape {value.shape}.")
    dims = value.shape.as_list()
    return ([TensorShape(dims[:at] + dims[at + 1 :])] * num,)


def _vectorize_unpack(batch, node, x):
    return batch.apply(node, [x], {**node.attrs, "axis": shifted(node.attrs["axis"])})


UNPACK = Op(
    "Unpack",
    "value: T, *, num: int, axis: int = 0 -> output: num*T",
    traits=UNCHECKED,
    infer=_infer_unpack,
    kernel=_unpack,
    lower=_lower_unpack,
    grad=lambda node, dys: (PACK(dys, axis=node.attrs["axis"]),),
    vectorize=_vectorize_unpack,
)


@api("unstack")
def unstack(value, num=None, axis=0, name="unstack") -> list[Tensor]:
    """The slices of a tensor along an axis, as a list.

    Args:
        value: a tensor.
        num: how many slices there are; needed only when the dimension is unknown.
        axis: the axis that disappears.
        name: a name for the operation.

    >>> [row.numpy().tolist() for row in tf.unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]

    Raises:
        ValueError: when the axis is out of range or the number unknown.
    """
    value = to_tensor(value)
    if num is None:
        dims = value.shape
        if dims.rank is not None:
            if not -dims.rank <= axis < dims.rank:
                raise ValueError(f"unstack: axis must be in [{-dims.rank}, {dims.rank}), got {axis}.")
            num = dims[axis]
        if num is None:
            raise ValueError(f"unstack: num must be given, it cannot be inferred from an unknown dimension in {dims}.")
    return UNPACK(value, num=num, axis=axis, name=name)


def _parallel_concat(values, shape):
    if shape is None or None in shape:
        raise errors.invalid_argument(f"ParallelConcat: shape must be fully known, got {shape}.")
    if not shape or shape[0] != len(values):
        raise errors.invalid_argument(
            f"ParallelConcat: shape[0] must be the number of values, {len(values)}, got shape {shape}."
        )
    for i, value in enumerate(values):
        if value.shape != (1, *shape[1:]):
            raise errors.invalid_argument(
                f"ParallelConcat: values[{i}] must have shape {(1, *shape[1:])}, got {value.shape}."
            )
    return np.concatenate(values, 0)


PARALLEL_CONCAT = Op(
    "ParallelConcat",
    "values: N*T, *, shape: shape -> output: T",
    infer=lambda values, shape: TensorShape(shape),
    kernel=_parallel_concat,
    lower=lambda ctx, values, shape: jnp.concatenate(values, 0),
    saves=("values_shape",),
    grad=lambda node, dy: (lookup("Split")(0, dy, num_split=len(node.values_shape)),),
)


@api("parallel_stack")
def parallel_stack(values, name="parallel_stack") -> Any:
    """Like `tf.stack` along the first axis, in a graph, for values whose shapes are known.

    Raises:
        RuntimeError: when executing eagerly; use `tf.stack`.
    """
    tensors = [to_tensor(value) for value in values]
    if type(tensors[0]) is EagerTensor:
        raise RuntimeError("tf.parallel_stack() is not compatible with eager execution. Use tf.stack.")
    dims = tuple(tensors[0].shape.as_list())
    expanded = [EXPAND_DIMS(tensor, 0) for tensor in tensors]
    return PARALLEL_CONCAT(expanded, shape=(len(tensors), *dims), name=name)
