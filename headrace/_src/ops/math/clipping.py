"""Keeping values, norms and gradients within limits."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.traits import ELEMENTWISE
from headrace._src.ops.arrays.broadcasting import SUM, shape_of, sum_to
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ONES_LIKE
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.measuring import SIZE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM, MUL, number_like
from headrace._src.ops.math.complex_numbers import zero_like
from headrace._src.ops.math.division import REAL_DIV
from headrace._src.ops.math.elementwise import RSQRT, SQRT
from headrace._src.ops.math.limit_kernels import between
from headrace._src.ops.math.reductions import axes_of
from headrace._src.ops.nn.losses import L2_LOSS


def _check_bounds(t, low, high):
    for bound in (low, high):
        if bound.shape not in ((), t.shape):
            raise errors.invalid_argument(
                "ClipByValue: clip_value_min and clip_value_max must be scalars or have the shape of t "
                f"{t.shape}, got {low.shape} and {high.shape}."
            )


def _clip_by_value(t, clip_value_min, clip_value_max):
    _check_bounds(t, clip_value_min, clip_value_max)
    return between(t, clip_value_min, clip_value_max)


def _lower_clip_by_value(ctx, t, clip_value_min, clip_value_max):
    _check_bounds(t, clip_value_min, clip_value_max)
    return jnp.maximum(jnp.minimum(t, clip_value_max), clip_value_min)


def _grad_clip_by_value(node, dy):
    x, low, high = node.t, node.clip_value_min, node.clip_value_max
    below, above = x < low, x > high
    select, zero = SELECT_V2, zero_like(dy)
    shape = shape_of(x)
    return (
        select(below | above, zero, dy) if node.wants(0) else None,
        sum_to(select(below, dy, zero), shape_of(low), shape) if node.wants(1) else None,
        sum_to(select(above, dy, zero), shape_of(high), shape) if node.wants(2) else None,
    )


CLIP_BY_VALUE = Op(
    "ClipByValue",
    "t: T, clip_value_min: T, clip_value_max: T -> output: T",
    traits=ELEMENTWISE,
    T=dtypes.REAL,
    infer=lambda t, clip_value_min, clip_value_max: t.shape,
    kernel=_clip_by_value,
    lower=_lower_clip_by_value,
    saves=("t", "clip_value_min", "clip_value_max"),
    grad=_grad_clip_by_value,
)


@api("clip_by_value", elementwise=1, result_scope="clip_by_value")
def clip_by_value(t, clip_value_min, clip_value_max, name=None) -> Tensor:
    """`t` with smaller values raised to `clip_value_min` and greater ones lowered to `clip_value_max`.

    >>> tf.clip_by_value([-1.0, 0.5, 3.0], 0.0, 1.0).numpy().tolist()
    [0.0, 0.5, 1.0]

    Args:
        t: a tensor or `IndexedSlices`.
        clip_value_min: a tensor that broadcasts to `t`.
        clip_value_max: the same.
        name: accepted for compatibility.

    Raises:
        ValueError: when a limit would enlarge the result.
    """
    values = t.values if isinstance(t, IndexedSlices) else to_tensor(t)
    dtype = values.dtype
    high = MINIMUM(values, to_tensor(clip_value_max, dtype))
    values.shape.assert_is_compatible_with(high.shape)
    low = MAXIMUM(high, to_tensor(clip_value_min, dtype), name=name)
    values.shape.assert_is_compatible_with(low.shape)
    return IndexedSlices(low, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else low


def _safe_norm(values, axes):
    """The Euclidean norm, whose gradient is 0 and not NaN where it is 0."""
    squares = SUM(values * values, axes, keep_dims=True)
    positive = squares > zero_like(squares)
    safe = SELECT_V2(positive, squares, ONES_LIKE(squares))
    return SELECT_V2(positive, SQRT(safe), squares)


@api("clip_by_norm", result_scope="clip_by_norm")
def clip_by_norm(t, clip_norm, axes=None, name=None) -> Tensor:
    """`t`, scaled down when its Euclidean norm exceeds `clip_norm`.

    >>> tf.clip_by_norm([3.0, 4.0], 2.5).numpy().tolist()
    [1.5, 2.0]

    Args:
        t: a tensor or `IndexedSlices`.
        clip_norm: the largest norm, a positive scalar or a tensor that broadcasts.
        axes: the axes along which norms are taken; None for all.
        name: accepted for compatibility.
    """
    values = t.values if isinstance(t, IndexedSlices) else to_tensor(t)
    clip_norm = to_tensor(clip_norm, values.dtype)
    # TF: a negative limit counts as 0.
    clip_norm = MAXIMUM(clip_norm, zero_like(clip_norm))
    norm = _safe_norm(values, axes_of(values, axes))
    scaled = values * clip_norm
    values.shape.assert_is_compatible_with(scaled.shape)
    clipped = REAL_DIV(scaled, MAXIMUM(norm, clip_norm), name=name)
    return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped


def _tensors(function, t_list):
    if isinstance(t_list, (Tensor, str, bytes, dict, set, frozenset)) or not hasattr(t_list, "__len__"):
        raise TypeError(f"{function}: t_list must be a sequence of tensors, got {type(t_list).__name__}.")
    return [t if t is None or isinstance(t, IndexedSlices) else to_tensor(t) for t in t_list]


@api("linalg.global_norm")
def global_norm(t_list, name=None) -> Tensor:
    """The Euclidean norm of all tensors together; None among them counts as nothing.

    >>> tf.linalg.global_norm([[3.0], [4.0]]).numpy()
    np.float32(5.0)

    Raises:
        TypeError: when `t_list` is no sequence.
    """
    parts = []
    for t in _tensors("linalg.global_norm", t_list):
        if t is not None:
            values = t.values if isinstance(t, IndexedSlices) else t
            parts.append(L2_LOSS(values))
    if not parts:
        return EagerTensor(np.zeros((), np.float32), dtypes.float32)
    total = SUM(PACK(parts, axis=0), [0])
    return SQRT(total * 2, name=name)


@api("clip_by_global_norm")
def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None) -> tuple[list[Tensor], Tensor]:
    """All tensors scaled by one factor, so that their norm together is at most `clip_norm`.

    >>> clipped, norm = tf.clip_by_global_norm([[3.0], [4.0]], 1.0)
    >>> norm.numpy()
    np.float32(5.0)

    Args:
        t_list: tensors, `IndexedSlices` or None.
        clip_norm: the largest norm.
        use_norm: the norm, when it is known already.
        name: accepted for compatibility.

    Returns:
        The list of scaled tensors, and the norm. If that is infinite, all are NaN.
    """
    tensors = _tensors("clip_by_global_norm", t_list)
    if use_norm is None:
        use_norm = global_norm(tensors)
    dtype = use_norm.dtype
    use_norm = to_tensor(use_norm)
    clip_norm = to_tensor(clip_norm, dtype)
    one = number_like(use_norm, 1)
    finite = clip_norm * MINIMUM(REAL_DIV(one, use_norm), REAL_DIV(one, clip_norm))
    # An infinite norm minus itself is NaN: no gradient may look finite then.
    scale = finite + (use_norm - use_norm)
    clipped = []
    for t in tensors:
        if t is None:
            clipped.append(None)
        elif isinstance(t, IndexedSlices):
            clipped.append(IndexedSlices(_scaled(t.values, scale), t.indices, t.dense_shape))
        else:
            clipped.append(_scaled(t, scale))
    return clipped, use_norm


def _scaled(values, scale):
    return values * (scale if values.dtype is scale.dtype else CAST(scale, DstT=values.dtype))


@api("compat.v1.clip_by_average_norm")
def clip_by_average_norm(t, clip_norm, name=None) -> Tensor:
    """`t`, scaled down when its Euclidean norm divided by its number of elements exceeds `clip_norm`."""
    t = to_tensor(t)
    clip_norm = to_tensor(clip_norm, t.dtype)
    size = SIZE(t, out_type=dtypes.int32)
    count = CAST(size, DstT=t.dtype)
    squares = SUM(t * t, axes_of(t, None), keep_dims=True)
    inverse = RSQRT(squares) * count
    return MUL(t, clip_norm * MINIMUM(inverse, 1 / clip_norm), name=name)
