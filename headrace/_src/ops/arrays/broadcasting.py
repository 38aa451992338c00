"""Broadcasting and its transpose: repeating a tensor along axes, and summing along them."""

import functools
import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import Batched, NoRule, Ragged, Rule, along_axes, known_array, known_shape, unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import unless_axes_constant, unless_constant
from headrace._src.op.infer import UNKNOWN, shape_from_value
from headrace._src.op.registry import lookup
from headrace._src.op.traits import REPEATS
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.measuring import SIZE, checked_vector, known_value
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.half_kernels import widened
from headrace._src.ops.math.reduction_kernels import reduced


def reduction_axes(axis, rank, op="reduction"):
    """The axes to reduce, as a sorted tuple in [0, rank)."""
    axis = np.asarray(axis)
    if axis.size == 1 and 0 <= (only := axis.item()) < rank:
        return (only,)
    axes = axis.ravel().tolist()
    for a in axes:
        if not -rank <= a < rank:
            raise errors.invalid_argument(
                f"{op}: Invalid reduction dimension {a} for input with {rank} dimension(s)"
            )
    found = tuple(sorted({a % rank for a in axes})) if rank else ()
    if len(found) != len(axes):
        raise errors.invalid_argument(f"{op}: Invalid reduction arguments: axis {axes} names one axis twice.")
    return found


def infer_reduction(input, reduction_indices, keep_dims=False):
    """The shape rule of all reductions."""
    shape = input.shape
    if shape.rank is None:
        return UNKNOWN
    if reduction_indices.value is None:
        return TensorShape([None] * shape.rank) if keep_dims else UNKNOWN
    axes = reduction_axes(reduction_indices.value, shape.rank)
    if keep_dims:
        return TensorShape([1 if i in axes else n for i, n in enumerate(shape)])
    return TensorShape([n for i, n in enumerate(shape) if i not in axes])


_reduce = np.add.reduce
_MANY = 4096


def _sum(x, axis, keep_dims):
    axes = reduction_axes(axis, x.ndim, "Sum")
    # NumPy accumulates small floats in their own precision and widens small integers: say which is meant.
    # `np.add.reduce` is what np.sum calls, 3 us later.
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV":
        return reduced(np.add, widened(x), axes, keep_dims).astype(x.dtype)
    if x.size >= _MANY:
        return reduced(np.add, x, axes, keep_dims, x.dtype)
    return _reduce(x, axes, x.dtype, None, keep_dims)


def _lower_sum(ctx, x, axis, keep_dims):
    return jnp.sum(x, reduction_axes(axis, x.ndim), dtype=x.dtype, keepdims=keep_dims)


def _grad_sum(node, dy):
    return unreduce(dy, node.input_shape, node.reduction_indices, node.attrs["keep_dims"]), None


def check_reduces_rows(batch, node, x, axes):
    """Refuse to vectorize a reduction of ragged values, unless it is one of vectors to numbers."""
    if not isinstance(x, Ragged) or batch.rank(x) != 1 or node.attrs["keep_dims"]:
        raise NoRule("it keeps axes")
    if known_array(axes, "axes").ravel().tolist() not in ([0], [-1]):
        raise NoRule("its axes are not known")


def reduced_rows(batch, node, x, axes, of_segments):
    """A reduction of ragged vectors of integers, by the op for segments.

    Floating numbers are left out: the last bits of their sums depend on the order.
    """
    check_reduces_rows(batch, node, x, axes)
    if not x.tensor.dtype.is_integer:
        raise NoRule("its numbers are no integers")
    return of_segments(x.tensor, batch.owners(x.splits), batch.count())


def _vectorize_ragged_sum(batch, node, x, axes):
    return reduced_rows(batch, node, x, axes, lookup("UnsortedSegmentSum"))


SUM = Op(
    "Sum",
    "input: T, reduction_indices: Tidx, *, keep_dims: bool = False -> output: T",
    raw_names={"reduction_indices": "axis"},
    can_fail=unless_axes_constant,
    T=dtypes.NUMBER,
    Tidx=dtypes.INDEX,
    infer=infer_reduction,
    kernel=_sum,
    lower=_lower_sum,
    static=("reduction_indices",),
    saves=("input_shape", "reduction_indices"),
    grad=_grad_sum,
    vectorize=Rule(along_axes.stacked, _vectorize_ragged_sum),
)


def _broadcast_to(input, shape):
    if shape.ndim != 1:
        raise errors.invalid_argument(f"BroadcastTo: shape must be a vector, got shape {shape.shape}.")
    target = tuple(shape.tolist())
    if target and min(target) < 0:
        raise errors.invalid_argument(f"BroadcastTo: shape must not be negative, got {target}.")
    size = math.prod(target)
    if size > 1 << 27:
        if size >= 1 << 63:
            raise errors.invalid_argument(f"BroadcastTo: shape {target} has more than 2**63 - 1 elements.")
        np.empty(target, input.dtype)  # fails where memory could not hold it: the view itself takes none
    try:
        if size < 16384:
            # A small copy is made sooner than np.broadcast_to makes its view, and is faster to read.
            output = np.empty(target, input.dtype)
            output[...] = input
            if len(target) >= input.ndim:
                return output
        return np.broadcast_to(input, target)
    except ValueError:
        raise errors.invalid_argument(
            f"BroadcastTo: cannot broadcast input of shape {input.shape} to shape {target}."
        ) from None


def _lower_broadcast_to(ctx, input, shape):
    return jnp.broadcast_to(input, tuple(int(n) for n in shape))


def _grad_broadcast_to(node, dy):
    return sum_to(dy, node.input_shape, node.output_shape), None


def _vectorize_broadcast_to(batch, node, x, shape):
    wanted = known_shape(node) or unstacked(shape, "shape")
    rank = len(wanted) if isinstance(wanted, list) else wanted.shape[0]
    if rank is None:
        raise NoRule("the rank of its output is unknown")
    return BROADCAST_TO(batch.with_rank(Batched(batch.stack(x), True), rank), batch.with_size(wanted))


BROADCAST_TO = Op(
    "BroadcastTo",
    "input: T, shape: Tidx -> output: T",
    traits=REPEATS,
    can_fail=unless_constant(1),
    Tidx=dtypes.INDEX,
    infer=lambda input, shape: shape_from_value(shape),
    kernel=_broadcast_to,
    lower=_lower_broadcast_to,
    static=("shape",),
    saves=("input_shape", "output_shape"),
    grad=_grad_broadcast_to,
    vectorize=_vectorize_broadcast_to,
)


@api("broadcast_to")
def broadcast_to(input, shape, name=None) -> Tensor:
    """Repeat `input` along new axes and axes of length 1 until it has `shape`.

    >>> tf.broadcast_to([1, 2], [2, 2]).numpy().tolist()
    [[1, 2], [1, 2]]
    """
    return BROADCAST_TO(input, shape, name=name)


@functools.lru_cache(maxsize=4096)
def _gradient_axes(shape, other):
    """The axes of the broadcast result along which `shape` was repeated."""
    rank = max(len(shape), len(other))
    mine = (1,) * (rank - len(shape)) + shape
    theirs = (1,) * (rank - len(other)) + other
    return [i for i in range(rank) if mine[i] == 1 and (theirs[i] != 1 or i < rank - len(shape))]


@functools.lru_cache(maxsize=4096)
def _summed_axes(shape, other):
    """The same as a tensor; None when there are none."""
    axes = _gradient_axes(shape, other)
    return EagerTensor(np.array(axes, np.int32), dtypes.int32) if axes else None


def _broadcast_gradient_args(s0, s1):
    a, b = tuple(s0.tolist()), tuple(s1.tolist())
    return np.array(_gradient_axes(a, b), s0.dtype), np.array(_gradient_axes(b, a), s0.dtype)


BROADCAST_GRADIENT_ARGS = Op(
    "BroadcastGradientArgs",
    "s0: T, s1: T -> r0: T, r1: T",
    T=dtypes.INDEX,
    infer=lambda s0, s1: (TensorShape([None]), TensorShape([None])),
    kernel=_broadcast_gradient_args,
    lower=lambda ctx, s0, s1: _broadcast_gradient_args(s0, s1),
    static=("s0", "s1"),  # the lengths of the results depend on them
    grad=None,
)


def shape_of(tensor):
    """The shape as gradients use it: a tuple, or in a graph with unknown dimensions an int32 tensor."""
    try:
        return tensor._a.shape
    except AttributeError:
        return tensor._dynamic_shape()


def _has_shape(tensor, shape):
    """Whether the tensor is known to have that shape."""
    array = getattr(tensor, "_a", None)
    if array is not None:
        return array.shape == shape
    return tensor.shape.rank is not None and tuple(tensor.shape) == shape


_DROPPED = {"keep_dims": False}


def sum_to(dy, shape, other):
    """`dy`, a gradient for the broadcast of `shape` and `other`, summed to `shape`.

    The shapes are tuples of ints where they are known, otherwise integer tensors (`node.x_shape` is that).
    """
    if type(shape) is tuple and type(other) is tuple:
        if shape == other or _has_shape(dy, shape):
            return dy
        axes = _summed_axes(shape, other)
        if axes is None:
            return RESHAPE(dy, shape)
        total = SUM.lane((dy, axes), _DROPPED, None)
        return total if not shape or _has_shape(total, shape) else RESHAPE(total, shape)
    axes = BROADCAST_GRADIENT_ARGS(_vector(shape), _vector(other)).r0
    return RESHAPE(SUM(dy, axes), shape)


def _vector(shape):
    return np.array(shape, np.int32) if isinstance(shape, tuple) else shape


def reduced_shape(shape, axes):
    """The shape with ones at `axes`: what a reduction with keep_dims gives."""
    if isinstance(shape, tuple) and (known := known_value(axes)) is not None:
        gone = reduction_axes(known, len(shape))
        return tuple(1 if i in gone else n for i, n in enumerate(shape))
    shape = to_tensor(_vector(shape))
    axes = RESHAPE(CAST(axes, DstT=dtypes.int32), [-1])
    rank = SIZE(shape)
    axes = (axes + rank) % rank
    return lookup("DynamicStitch")(
        [lookup("Range")(0, rank, 1), axes], [shape, lookup("OnesLike")(axes)]
    )


def unreduce(dy, shape, axes, keep_dims):
    """The gradient `dy` of a reduction over `axes`, repeated to the `shape` that was reduced."""
    if not keep_dims and dy.ndim != 0:  # one number needs no axes to be repeated along
        dy = RESHAPE(dy, reduced_shape(shape, axes))
    return BROADCAST_TO(dy, shape)


def _broadcast_args(s0, s1):
    a = checked_vector("BroadcastArgs", "s0", s0)
    b = checked_vector("BroadcastArgs", "s1", s1)
    length = max(len(a), len(b))
    a, b = [1] * (length - len(a)) + a, [1] * (length - len(b)) + b
    for m, n in zip(a, b):
        if m != n and m != 1 and n != 1:
            raise errors.invalid_argument(
                f"BroadcastArgs: shapes {s0.tolist()} and {s1.tolist()} do not fit."
            )
    return np.array([n if m == 1 else m for m, n in zip(a, b)], s0.dtype)


def _infer_broadcast_args(s0, s1):
    lengths = [spec.shape[0] if spec.shape.rank is not None else None for spec in (s0, s1)]
    return TensorShape([None if None in lengths else max(lengths)])


BROADCAST_ARGS = Op(
    "BroadcastArgs",
    "s0: T, s1: T -> r0: T",
    T=dtypes.INDEX,
    infer=_infer_broadcast_args,
    kernel=_broadcast_args,
    lower=lambda ctx, s0, s1: jnp.asarray(_broadcast_args(s0, s1)),
    static=("s0", "s1"),
    grad=None,
)


@api("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x, shape_y) -> Tensor:
    """The shape to which tensors of two shapes, given as integer vectors, broadcast.

    >>> tf.broadcast_dynamic_shape([2, 1, 3], [4, 1]).numpy().tolist()
    [2, 4, 3]

    Raises:
        InvalidArgumentError: when they do not fit.
    """
    return BROADCAST_ARGS(shape_x, shape_y)
