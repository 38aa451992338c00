"""Giving a tensor another shape without changing its elements, and making sure that it has one."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import NoRule, Ragged, Rule, along_axes, known_array, known_shape, shifted, unstacked
from headrace._src.op.bound_kernels import binder, remembering
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import if_useful, known_elements, unless_axes_constant
from headrace._src.op.infer import UNKNOWN, shape_from_value
from headrace._src.op.traits import UNCHECKED
from headrace._src.ops.arrays.small_integers import integers


def _target_shape(dims, shape):
    """The shape asked for, with a -1 filled in, for an input of shape `dims`."""
    size = math.prod(dims)
    shape = tuple(shape.ravel().tolist())
    for i, n in enumerate(shape):
        if n < -1:
            raise errors.invalid_argument(f"Reshape: size {i} must be non-negative, not {n}.")
    if shape.count(-1) > 1:
        raise errors.invalid_argument(f"Reshape: only one dimension of shape may be -1, got {shape}.")
    known = math.prod(n for n in shape if n != -1)
    if -1 in shape:
        if known == 0 and size == 0:
            # TF: the dimensions that are not 0 must fit, too.
            size, known = (math.prod(n for n in part if n not in (0, -1)) for part in (dims, shape))
        if known == 0 or size % known:
            raise errors.invalid_argument(
                f"Reshape: Input to reshape is a tensor with {size} values, but the requested shape requires a "
                f"multiple of {known}: {shape}."
            )
        return tuple(size // known if n == -1 else n for n in shape)
    if known != size:
        # TF: tests of other packages look for these words, also those of the next ones and of Squeeze.
        raise errors.invalid_argument(
            f"Reshape: Input to reshape is a tensor with {size} values, but the requested shape has {known}: {shape}."
        )
    return shape


def _reshape(tensor, shape):
    if shape.ndim > 1:  # TF: a number is taken as well
        raise errors.invalid_argument(f"Reshape: shape must be a vector, got shape {shape.shape}.")
    return tensor.reshape(_target_shape(tensor.shape, shape))


@binder("Reshape", "shape")
def _bind_reshape(shape):
    if shape.ndim > 1:
        return None
    target = remembering(lambda dims: _target_shape(dims, shape))
    return lambda tensor, _: tensor.reshape(target(tensor.shape))


def _infer_reshape(tensor, shape):
    if shape.shape.rank == 0:
        raise errors.invalid_argument("Reshape: shape must be rank 1 but is rank 0.")
    target = shape_from_value(shape)
    if target.rank is not None and tensor.shape.is_fully_defined() and shape.value is not None:
        return TensorShape(_target_shape(tuple(tensor.shape), shape.value))
    return target


def _lower_reshape(ctx, tensor, shape):
    return jnp.reshape(tensor, _target_shape(tensor.shape, shape))


def _grad_reshape(node, dy):
    return RESHAPE(dy, node.tensor_shape), None


def _can_reshape_fail(step, constants):
    """False if a tensor of that static shape can be reshaped for certain."""
    shape, wanted = step.inputs[0]._shape, constants.get(id(step.inputs[1]))
    if shape.rank is None or wanted is None or wanted.ndim != 1:
        return True
    dims = wanted.tolist()
    asked = math.prod(n for n in dims if n != -1)
    if min(dims, default=0) < -1 or dims.count(-1) > 1:
        return True
    known = math.prod(n for n in shape.as_list() if n is not None)
    if -1 not in dims:
        return not shape.is_fully_defined() or known != asked
    return not (asked > 0 and known > 0 and known % asked == 0)


def _vectorize_reshape(batch, node, x, shape):
    return RESHAPE(batch.stack(x), batch.with_size(known_shape(node) or unstacked(shape, "shape")))


def _vectorize_ragged_reshape(batch, node, x, shape):
    if not isinstance(x, Ragged):
        raise NoRule("its shape differs")
    if not isinstance(shape, Ragged) and shape.stacked and batch.rank(x) == 1 and shape.tensor.shape[1] == 1:
        batch.require_lengths(x, shape.tensor[:, 0])
        return x
    wanted, row_dims = known_array(shape, "shape").tolist(), x.row_dims()
    stride, total = math.prod(row_dims), math.prod(wanted)
    if wanted and wanted[0] == -1 and math.prod(wanted[1:]) == stride and stride > 0:
        return x.like(RESHAPE(x.tensor, [-1, *wanted[1:]]))
    if -1 in wanted or not stride or total % stride:
        raise NoRule("its shape differs")
    batch.require_lengths(x, total // stride)
    return RESHAPE(x.tensor, batch.with_size(wanted))


RESHAPE = Op(
    "Reshape",
    "tensor: T, shape: Tshape -> output: T",
    traits=UNCHECKED,
    can_fail=_can_reshape_fail,
    Tshape=dtypes.INDEX,
    infer=_infer_reshape,
    kernel=_reshape,
    lower=_lower_reshape,
    static=("shape",),
    saves=("tensor_shape",),
    grad=_grad_reshape,
    vectorize=Rule(_vectorize_reshape, _vectorize_ragged_reshape),
)


@api("reshape")
def reshape(tensor, shape, name=None) -> Tensor:
    """The same elements in another shape; one dimension of `shape` may be -1.

    >>> tf.reshape([1, 2, 3, 4], [2, -1])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4]], dtype=int32)>

    Raises:
        InvalidArgumentError: when the number of elements differs.
    """
    return RESHAPE(tensor, integers(shape), name=name)


def _expanded(dims, dim):
    dim = np.asarray(dim)
    if dim.size != 1:
        raise errors.invalid_argument(f"ExpandDims: axis must be a single value, got shape {dim.shape}.")
    at, rank = int(dim.reshape(())), len(dims)
    if not -rank - 1 <= at <= rank:
        raise errors.invalid_argument(
            f"ExpandDims: axis must be in [{-rank - 1}, {rank}] for input of {rank} dimensions, got {at}."
        )
    at %= rank + 1
    return dims[:at] + (1,) + dims[at:]


@binder("ExpandDims", "dim")
def _bind_expand_dims(dim):
    target = remembering(lambda dims: _expanded(dims, dim))
    return lambda input, _: input.reshape(target(input.shape))


def _infer_expand_dims(input, dim):
    if input.shape.rank is None:
        return UNKNOWN
    if dim.value is None:
        return TensorShape([None] * (input.shape.rank + 1))
    return TensorShape(_expanded(tuple(input.shape), dim.value))


def _grad_to_input_shape(node, dy):
    return (RESHAPE(dy, node.input_shape),)


def _partial_expanded(input, dim):
    elements = known_elements(input)
    return None if isinstance(elements, list) else if_useful([elements])


def _vectorize_ragged_expand_dims(batch, node, x, axis):
    at = int(known_array(axis, "axis"))
    if at < 0:
        at += batch.rank(x) + 1
    if at <= 0:
        raise NoRule("a size after the first differs")
    return x.like(EXPAND_DIMS(x.tensor, at))


EXPAND_DIMS = Op(
    "ExpandDims",
    "input: T, dim: Tdim -> output: T",
    traits=UNCHECKED,
    raw_names={"dim": "axis"},
    partial=_partial_expanded,
    can_fail=unless_axes_constant,
    Tdim=dtypes.INDEX,
    infer=_infer_expand_dims,
    kernel=lambda input, dim: input.reshape(_expanded(input.shape, dim)),
    lower=lambda ctx, input, dim: jnp.reshape(input, _expanded(input.shape, dim)),
    static=("dim",),
    saves=("input_shape",),
    grad=lambda node, dy: (RESHAPE(dy, node.input_shape), None),
    vectorize=Rule(along_axes.stacked, _vectorize_ragged_expand_dims),
)


@api("expand_dims")
def expand_dims(input, axis, name=None) -> Tensor:
    """A new dimension of length 1 at `axis`, which may count from the end.

    >>> tf.expand_dims([1, 2], 0).shape
    TensorShape([1, 2])
    >>> tf.expand_dims([1, 2], -1).shape
    TensorShape([2, 1])
    """
    return EXPAND_DIMS(input, integers(axis), name=name)


def _squeezed(dims, squeeze_dims):
    rank = len(dims)
    if not squeeze_dims:
        return tuple(n for n in dims if n != 1)
    gone = set()
    for axis in squeeze_dims:
        if not -rank <= axis < rank:
            raise errors.invalid_argument(
                f"Squeeze: axis must be in [{-rank}, {rank}) for input of {rank} dimensions, got {axis}."
            )
        axis %= rank
        if dims[axis] not in (1, None):
            raise errors.invalid_argument(
                f"Squeeze: Can not squeeze dim[{axis}]: it must be 1 to be removed, got {dims[axis]} in shape {dims}."
            )
        gone.add(axis)
    return tuple(n for i, n in enumerate(dims) if i not in gone)


@binder("Squeeze")
def _bind_squeeze(squeeze_dims):
    target = remembering(lambda dims: _squeezed(dims, squeeze_dims))
    return lambda input, **attrs: input.reshape(target(input.shape))


def _infer_squeeze(input, squeeze_dims):
    if input.shape.rank is None or (not squeeze_dims and None in tuple(input.shape)):
        return UNKNOWN
    return TensorShape(_squeezed(tuple(input.shape), squeeze_dims))


def _can_squeeze_fail(step, constants):
    shape, dims = step.inputs[0]._shape, step.attrs["squeeze_dims"]
    rank = shape.rank
    return bool(dims) and (rank is None or not all(-rank <= i < rank and shape[i % rank] == 1 for i in dims))


def _vectorize_squeeze(batch, node, x):
    dims = list(node.attrs["squeeze_dims"])
    if not dims:
        shape = x.tensor.shape[1:]
        if not shape.is_fully_defined():
            raise NoRule("it squeezes dimensions that are not known")
        dims = [i for i, n in enumerate(shape.as_list()) if n == 1]
        if not dims:
            return x.tensor
    return batch.apply(node, [x], {"squeeze_dims": [shifted(dim) for dim in dims]})


def _vectorize_ragged_squeeze(batch, node, x):
    axes = [axis % batch.rank(x) for axis in node.attrs["squeeze_dims"]]
    if not axes or 0 in axes:
        raise NoRule("it removes the axis whose size differs")
    return x.like(SQUEEZE(x.tensor, squeeze_dims=axes))


SQUEEZE = Op(
    "Squeeze",
    "input: T, *, squeeze_dims: list(int) = [] -> output: T",
    traits=UNCHECKED,
    raw_names={"squeeze_dims": "axis"},
    can_fail=_can_squeeze_fail,
    infer=_infer_squeeze,
    kernel=lambda input, squeeze_dims: input.reshape(_squeezed(input.shape, squeeze_dims)),
    lower=lambda ctx, input, squeeze_dims: jnp.reshape(input, _squeezed(input.shape, squeeze_dims)),
    saves=("input_shape",),
    grad=_grad_to_input_shape,
    vectorize=Rule(_vectorize_squeeze, _vectorize_ragged_squeeze),
)


@api("squeeze")
def squeeze(input, axis=None, name=None) -> Tensor:
    """Without the dimensions of length 1, or without those that `axis` (an int or a list) names.

    >>> tf.squeeze(tf.zeros([1, 2, 1])).shape
    TensorShape([2])
    >>> tf.squeeze(tf.zeros([1, 2, 1]), [0]).shape
    TensorShape([2, 1])

    Raises:
        InvalidArgumentError: when a named dimension is not 1.
    """
    if axis is None:
        axis = []
    elif np.isscalar(axis):
        axis = [axis]
    elif not isinstance(axis, (list, tuple)):
        raise TypeError(f"squeeze: axis must be an int or a list of ints, got {axis!r}.")
    return SQUEEZE(input, squeeze_dims=[int(i) for i in axis], name=name)


def _ensure_shape(input, shape):
    if shape is not None and (
        len(shape) != input.ndim or any(n is not None and n != m for n, m in zip(shape, input.shape))
    ):
        raise errors.invalid_argument(
            f"EnsureShape: x must be compatible with shape {TensorShape(shape)}, got shape {input.shape}."
        )
    return input


def _lower_ensure_shape(ctx, input, shape):
    return _ensure_shape(input, shape)


def _vectorize_ensure_shape(batch, node, x):
    shape = node.attrs["shape"]
    size = batch.size if isinstance(batch.size, int) else None
    return batch.apply(node, [x], {"shape": None if shape is None else (size, *shape)})


def _vectorize_ragged_ensure_shape(batch, node, x):
    shape, row_dims = node.attrs["shape"], x.row_dims()
    if shape is None:
        return x
    if len(shape) != len(row_dims) + 1 or any(n not in (None, -1, own) for n, own in zip(shape[1:], row_dims)):
        raise NoRule("its shape does not fit")
    if shape[0] in (None, -1):
        return x
    batch.require_lengths(x, shape[0])
    return RESHAPE(x.tensor, batch.with_size([shape[0], *row_dims]))


ENSURE_SHAPE = Op(
    "EnsureShape",
    "input: T, *, shape: shape -> output: T",
    infer=lambda input, shape: input.shape.merge_with(shape),
    kernel=_ensure_shape,
    lower=_lower_ensure_shape,
    grad=lambda node, dy: (ENSURE_SHAPE(dy, shape=node.attrs["shape"]),),
    vectorize=Rule(_vectorize_ensure_shape, _vectorize_ragged_ensure_shape),
)


@api("ensure_shape")
def ensure_shape(x, shape, name=None) -> Tensor:
    """`x`, after checking that its shape is compatible with `shape`.

    >>> tf.ensure_shape([[1, 2]], [None, 2]).shape
    TensorShape([1, 2])

    Raises:
        InvalidArgumentError: when it is not.
    """
    shape = TensorShape(shape)
    return ENSURE_SHAPE(x, shape=None if shape.rank is None else tuple(shape), name=name)


def check_layout(layout):
    """Refuse what `layout` says: tensors that are spread over devices by DTensor do not exist here."""
    if layout is not None:
        raise TypeError(f"layout must be None, as there are no DTensor layouts, got {type(layout).__name__}.")
