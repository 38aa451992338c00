"""Fused batch normalisation: the ops FusedBatchNorm (three versions) and their gradients."""

from __future__ import annotations

from functools import partial

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.op.batching import Batched, NoRule, unstacked
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.linalg.product_kernels import column_sums
from headrace._src.ops.math.elementwise import RSQRT
from headrace._src.ops.math.reductions import reduce_mean, reduce_sum
from headrace._src.ops.windows.placement import LAYOUTS

_FORMATS_2D = ("NHWC", "NCHW")
_FORMATS = ("NHWC", "NCHW", "NDHWC", "NCDHW")


def _channel_axis(op, shape, data_format, allowed):
    if data_format not in allowed:
        raise errors.invalid_argument(f"{op}: data_format must be one of {allowed}, got {data_format!r}.")
    # TF: a format of four letters goes with any of the two ranks.
    if len(shape) not in (4, 5) or (len(shape) == 5 and allowed is _FORMATS_2D):
        raise errors.invalid_argument(f"{op}: x must have {len(data_format)} dimensions, got shape {shape}.")
    return 1 if LAYOUTS[data_format].channel == 1 else len(shape) - 1


def _check_vectors(op, channels, **vectors):
    for name, shape in vectors.items():
        if tuple(shape) != (channels,):
            raise errors.invalid_argument(
                f"{op}: {name} must have one entry for each of the {channels} channels, got shape {shape}."
            )


def _check_types(op, x, scale):
    """Statistics of float64 data are float64 too: in float32 they would lose what the data has."""
    if x.dtype == np.float64 and scale.dtype != np.float64:
        raise errors.invalid_argument(f"{op}: scale must be float64 as x is, got {scale.dtype}.")


class _Rows:
    """An array seen as one row of channels per position, and back."""

    def __init__(self, shape, axis):
        self.shape, self.axis = shape, axis
        self.channels = shape[axis]

    def of(self, a):
        moved = a if self.axis == len(self.shape) - 1 else np.moveaxis(a, self.axis, -1)
        return moved.reshape(int(np.prod(moved.shape[:-1])), self.channels)

    def back(self, rows, dtype):
        rows = rows.astype(dtype, copy=False)
        if self.axis == len(self.shape) - 1:
            return rows.reshape(self.shape)
        moved = (*self.shape[: self.axis], *self.shape[self.axis + 1 :], self.channels)
        return np.moveaxis(rows.reshape(moved), -1, self.axis)


def _checked_forward(op, allowed, x, scale, offset, mean, variance, factor, data_format, is_training):
    axis = _channel_axis(op, x, data_format, allowed)
    channels = x[axis]
    _check_vectors(op, channels, scale=scale, offset=offset)
    if not is_training or factor != 1.0:
        _check_vectors(op, channels, mean=mean, variance=variance)
    for name, shape in (("mean", mean), ("variance", variance)):
        if len(shape) != 1:
            raise errors.invalid_argument(f"{op}: {name} must be a vector, got shape {tuple(shape)}.")
    return axis


def _forward(
    op,
    allowed,
    outputs,
    x,
    scale,
    offset,
    mean,
    variance,
    epsilon,
    exponential_avg_factor,
    data_format,
    is_training,
):
    factor = exponential_avg_factor
    axis = _checked_forward(
        op,
        allowed,
        x.shape,
        scale.shape,
        offset.shape,
        mean.shape,
        variance.shape,
        factor,
        data_format,
        is_training,
    )
    _check_types(op, x, scale)
    layout = _Rows(x.shape, axis)
    dtype = scale.dtype
    rows = layout.of(x).astype(dtype, copy=False)
    epsilon, factor = dtype.type(epsilon), dtype.type(factor)
    if not is_training:
        gain = scale / np.sqrt(variance + epsilon)
        y = rows * gain
        y += offset - mean * gain
        empty = np.zeros(layout.channels, dtype)
        results = (layout.back(y, x.dtype), mean.copy(), variance.copy(), empty, empty.copy())
    elif len(rows) == 0:
        # TF: there is nothing to take a mean of.
        nothing = np.full(layout.channels, np.nan, dtype)
        zeros = np.zeros(layout.channels, dtype)
        results = (np.zeros(x.shape, x.dtype), nothing, nothing.copy(), zeros, zeros.copy())
    else:
        count = len(rows)
        batch_mean = column_sums(rows) / dtype.type(count)
        y = rows - batch_mean
        batch_variance = column_sums(y * y) / dtype.type(count)
        y *= scale / np.sqrt(batch_variance + epsilon)
        y += offset
        # The running variance is the one of a sample.
        sample = batch_variance * dtype.type(count / max(count - 1, 1))
        new_mean, new_variance = batch_mean, sample
        if factor != 1:
            new_mean = (1 - factor) * mean + factor * batch_mean
            new_variance = (1 - factor) * variance + factor * sample
        results = (layout.back(y, x.dtype), new_mean, new_variance, batch_mean, batch_variance)
    return results if outputs == 5 else (*results, np.zeros((), dtype))


def _lower_forward(
    op,
    allowed,
    outputs,
    ctx,
    x,
    scale,
    offset,
    mean,
    variance,
    epsilon,
    exponential_avg_factor,
    data_format,
    is_training,
):
    factor = exponential_avg_factor
    shapes = (x.shape, scale.shape, offset.shape, mean.shape, variance.shape)
    axis = _checked_forward(op, allowed, *shapes, factor, data_format, is_training)
    dtype = scale.dtype
    others = tuple(a for a in range(x.ndim) if a != axis)
    per_channel = partial(jnp.expand_dims, axis=others)
    wide = x.astype(dtype)
    zeros = jnp.zeros_like(scale)
    if not is_training:
        gain = scale / jnp.sqrt(variance + epsilon)
        y = wide * per_channel(gain) + per_channel(offset - mean * gain)
        results = (y.astype(x.dtype), mean, variance, zeros, zeros)
    elif x.size == 0:
        results = (jnp.zeros_like(x), zeros * jnp.nan, zeros * jnp.nan, zeros, zeros)
    else:
        count = x.size // x.shape[axis]
        batch_mean = jnp.mean(wide, others)
        centred = wide - per_channel(batch_mean)
        batch_variance = jnp.mean(centred * centred, others)
        y = centred * per_channel(scale / jnp.sqrt(batch_variance + epsilon)) + per_channel(offset)
        sample = batch_variance * (count / max(count - 1, 1))
        new_mean, new_variance = batch_mean, sample
        if factor != 1:
            new_mean = (1 - factor) * mean + factor * batch_mean
            new_variance = (1 - factor) * variance + factor * sample
        results = (y.astype(x.dtype), new_mean, new_variance, batch_mean, batch_variance)
    return results if outputs == 5 else (*results, jnp.zeros((), dtype))


def _infer_forward(outputs, x, scale, *others, data_format, **attrs):
    channels = scale.shape if scale.shape.rank == 1 else TensorShape([None])
    shape = x.shape
    if shape.rank is not None and channels[0] is None:
        axis = 1 if LAYOUTS[data_format].channel == 1 else shape.rank - 1
        channels = TensorShape([shape[axis]])
    results = (shape, channels, channels, channels, channels)
    return results if outputs == 5 else (*results, TensorShape([]))


def _checked_gradient(op, allowed, dy, x, scale, mean, variance, data_format):
    axis = _channel_axis(op, x, data_format, allowed)
    if tuple(dy) != tuple(x):
        raise errors.invalid_argument(f"{op}: y_backprop must have the shape of x, {x}, got {dy}.")
    _check_vectors(op, x[axis], scale=scale, reserve_space_1=mean, reserve_space_2=variance)
    return axis


def _gradient(op, allowed, dy, x, scale, mean, variance, *unused, epsilon, data_format, is_training):
    axis = _checked_gradient(
        op, allowed, dy.shape, x.shape, scale.shape, mean.shape, variance.shape, data_format
    )
    _check_types(op, x, scale)
    layout = _Rows(x.shape, axis)
    dtype = scale.dtype
    rows = layout.of(x).astype(dtype, copy=False)
    grads = layout.of(dy).astype(dtype, copy=False)
    inverse = 1 / np.sqrt(variance + dtype.type(epsilon))
    centred = rows - mean
    d_offset = column_sums(grads)
    d_scale = column_sums(grads * centred) * inverse
    if is_training and len(rows):
        count = dtype.type(len(rows))
        centred *= -(d_scale * inverse / count)
        centred += grads
        centred -= d_offset / count
        dx = centred
    else:
        dx = grads.copy()
    dx *= scale * inverse
    empty = np.zeros(0, dtype)
    return layout.back(dx, x.dtype), d_scale, d_offset, empty, empty.copy()


def _lower_gradient(
    op, allowed, ctx, dy, x, scale, mean, variance, *unused, epsilon, data_format, is_training
):
    axis = _checked_gradient(
        op, allowed, dy.shape, x.shape, scale.shape, mean.shape, variance.shape, data_format
    )
    dtype = scale.dtype
    others = tuple(a for a in range(x.ndim) if a != axis)
    per_channel = partial(jnp.expand_dims, axis=others)
    grads = dy.astype(dtype)
    inverse = 1 / jnp.sqrt(variance + epsilon)
    normal = (x.astype(dtype) - per_channel(mean)) * per_channel(inverse)
    d_offset = jnp.sum(grads, others)
    d_scale = jnp.sum(grads * normal, others)
    dx = grads
    if is_training and x.size:
        count = x.size // x.shape[axis]
        dx = grads - per_channel(d_offset) / count - normal * per_channel(d_scale) / count
    dx = dx * per_channel(scale * inverse)
    empty = jnp.zeros(0, dtype)
    return dx.astype(x.dtype), d_scale, d_offset, empty, empty


def _infer_gradient(dy, x, scale, *others, **attrs):
    channels = scale.shape if scale.shape.rank == 1 else TensorShape([None])
    return x.shape, channels, channels, TensorShape([0]), TensorShape([0])


def _gradient_of_gradient(node, a, b, c, *_):
    """What (a, b, c), the gradients by dx, d_scale and d_offset, give for y_backprop, x and scale.

    With n = (x - mean) * r, r = 1 / sqrt(variance + epsilon), and the projection
    P(u) = u - mean(u) - n * mean(u * n), training has dx = scale * r * P(dy), d_scale = sum(dy * n),
    d_offset = sum(dy). P is symmetric, and the gradient by n goes to x as r * P.
    """
    attrs = node.attrs
    dtype = node.scale_dtype
    x, dy, a = (cast(t, dtype) for t in (node.x, node.y_backprop, a))
    rank = x.shape.rank or len(attrs["data_format"])
    axis = 1 if LAYOUTS[attrs["data_format"]].channel == 1 else rank - 1
    others = [i for i in range(rank) if i != axis]

    def per_channel(v):
        return v if axis == rank - 1 else RESHAPE(v, [-1, *[1] * (rank - 2)])

    def mean(u):
        return reduce_mean(u, others, keepdims=True)

    scale, b, c = per_channel(node.scale), per_channel(b), per_channel(c)
    if not attrs["is_training"]:
        r = RSQRT(per_channel(node.reserve_space_2) + attrs["epsilon"])
        n = (x - per_channel(node.reserve_space_1)) * r
        to_dy = a * (scale * r) + b * n + c
        to_x = b * dy * r
        to_scale = reduce_sum(a * dy * r, others)
    else:
        centred = x - mean(x)
        r = RSQRT(mean(centred * centred) + attrs["epsilon"])
        n = centred * r

        def project(u):
            return u - mean(u) - n * mean(u * n)

        projected = project(dy)
        to_dy = scale * r * project(a) + b * n + c
        to_scale = reduce_sum(a * projected * r, others)
        to_n = b * dy - scale * r * (a * mean(dy * n) + dy * mean(a * n))
        to_x = r * project(to_n) - scale * mean(a * projected) * r * r * n
    kind = node.x_dtype
    results = (cast(to_dy, kind), cast(to_x, kind), to_scale)
    return (*results, *[None] * (len(node.op.signature.inputs) - 3))


def _grad_forward(gradient):
    """The rule of an op whose gradient op is `gradient()`, which is defined after it."""

    def grad(node, dy, *_):
        attrs = {name: node.attrs[name] for name in ("epsilon", "data_format", "is_training")}
        if attrs["is_training"]:
            inputs = [dy, node.x, node.scale, node.reserve_space_1, node.reserve_space_2]
        else:
            inputs = [dy, node.x, node.scale, node.mean, node.variance]
        op = gradient()
        if op is FUSED_BATCH_NORM_GRAD_V3:
            inputs.append(node.reserve_space_3)
        results = op(*inputs, **attrs)
        return results[0], results[1], results[2], None, None

    return grad


_ATTRIBUTES = (
    '*, epsilon: float = 0.0001, exponential_avg_factor: float = 1.0, data_format: string = "NHWC", '
    "is_training: bool = True"
)
_GRADIENT_ATTRIBUTES = '*, epsilon: float = 0.0001, data_format: string = "NHWC", is_training: bool = True'
_FORWARD_SAVES = ("x", "scale", "mean", "variance", "reserve_space_1", "reserve_space_2")
_GRADIENT_SAVES = (
    "y_backprop",
    "x",
    "scale",
    "reserve_space_1",
    "reserve_space_2",
    "x_dtype",
    "scale_dtype",
)
_STATISTICS = frozenset({dtypes.float32, dtypes.float64})


def _forward_rules(name, allowed, outputs):
    return {
        "infer": partial(_infer_forward, outputs),
        "kernel": partial(_forward, name, allowed, outputs),
        "lower": partial(_lower_forward, name, allowed, outputs),
    }


def _gradient_rules(name, allowed):
    return {
        "infer": _infer_gradient,
        "kernel": partial(_gradient, name, allowed),
        "lower": partial(_lower_gradient, name, allowed),
        "saves": _GRADIENT_SAVES,
        "grad": _gradient_of_gradient,
    }


def _vectorize_batch_norm(batch, node, x, *parameters):
    if node.attrs["is_training"]:
        raise NoRule("it normalizes over the images of an element")
    images, count = batch.merged(x)
    y, *rest = batch.apply(node, [images, *map(unstacked, parameters)])
    return [batch.parted(y, count), *(Batched(value, False) for value in rest)]


FUSED_BATCH_NORM = Op(
    "FusedBatchNorm",
    f"x: T, scale: T, offset: T, mean: T, variance: T, {_ATTRIBUTES} "
    "-> y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T",
    T=_STATISTICS,
    **_forward_rules("FusedBatchNorm", _FORMATS_2D, 5),
    saves=_FORWARD_SAVES,
    grad=_grad_forward(lambda: FUSED_BATCH_NORM_GRAD),
    vectorize=_vectorize_batch_norm,
)

FUSED_BATCH_NORM_V2 = Op(
    "FusedBatchNormV2",
    f"x: T, scale: U, offset: U, mean: U, variance: U, {_ATTRIBUTES} "
    "-> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U",
    T=dtypes.FLOATING,
    U=_STATISTICS,
    **_forward_rules("FusedBatchNormV2", _FORMATS_2D, 5),
    saves=_FORWARD_SAVES,
    grad=_grad_forward(lambda: FUSED_BATCH_NORM_GRAD_V2),
    vectorize=_vectorize_batch_norm,
)

FUSED_BATCH_NORM_V3 = Op(
    "FusedBatchNormV3",
    f"x: T, scale: U, offset: U, mean: U, variance: U, {_ATTRIBUTES} "
    "-> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U",
    T=dtypes.FLOATING,
    U=_STATISTICS,
    **_forward_rules("FusedBatchNormV3", _FORMATS, 6),
    saves=(*_FORWARD_SAVES, "reserve_space_3"),
    grad=_grad_forward(lambda: FUSED_BATCH_NORM_GRAD_V3),
    vectorize=_vectorize_batch_norm,
)

FUSED_BATCH_NORM_GRAD = Op(
    "FusedBatchNormGrad",
    f"y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T, {_GRADIENT_ATTRIBUTES} "
    "-> x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T",
    T=_STATISTICS,
    **_gradient_rules("FusedBatchNormGrad", _FORMATS_2D),
)

# TF: scale is float32 here. As U, it can be the float64 that U can be in this project.
FUSED_BATCH_NORM_GRAD_V2 = Op(
    "FusedBatchNormGradV2",
    f"y_backprop: T, x: T, scale: U, reserve_space_1: U, reserve_space_2: U, {_GRADIENT_ATTRIBUTES} "
    "-> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U",
    T=dtypes.FLOATING,
    U=_STATISTICS,
    **_gradient_rules("FusedBatchNormGradV2", _FORMATS_2D),
)

FUSED_BATCH_NORM_GRAD_V3 = Op(
    "FusedBatchNormGradV3",
    "y_backprop: T, x: T, scale: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U, "
    f"{_GRADIENT_ATTRIBUTES} "
    "-> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U",
    T=dtypes.FLOATING,
    U=_STATISTICS,
    **_gradient_rules("FusedBatchNormGradV3", _FORMATS),
)
