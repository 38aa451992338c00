"""The pooling ops: MaxPool, AvgPool, their 3-D forms, and maxima with their positions."""

from __future__ import annotations

from functools import partial

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.op.batching import merging
from headrace._src.op.definition import Op
from headrace._src.ops.windows import pool_kernels
from headrace._src.ops.windows.lowering import chosen_taps
from headrace._src.ops.windows.placement import layout_of
from headrace._src.ops.windows.pool_gradients import (
    AVG_POOL3D_GRAD,
    AVG_POOL_GRAD,
    MAX_POOL3D_GRAD,
    MAX_POOL_GRAD,
    MAX_POOL_GRAD_V2,
    MAX_POOL_GRAD_WITH_ARGMAX,
)
from headrace._src.ops.windows.pool_rules import infer, plan, vector, xla_avg_pool, xla_max_pool

_ATTRIBUTES = "*, ksize: list(int), strides: list(int), padding: string"
_NHWC = 'data_format: string = "NHWC"'
_NDHWC = 'data_format: string = "NDHWC"'


def _pool(op, dims, pool, x, **attrs):
    axes, windows = plan(op, dims, x.shape, **attrs)
    return pool(x, axes, windows)


def _rules(op, dims, kernel, xla):
    """`infer`, `kernel` and `lower` of a pool."""
    return {
        "infer": partial(infer, op, dims),
        "kernel": partial(_pool, op, dims, kernel),
        "lower": lambda ctx, x, **attrs: _pool(op, dims, partial(xla, joined=ctx.windows_are_joined), x, **attrs),
    }


def _grad_max_pool(node, dy):
    return (MAX_POOL_GRAD(node.input, node.output, dy, **node.attrs),)


MAX_POOL = Op(
    "MaxPool",
    f"input: T, {_ATTRIBUTES}, explicit_paddings: list(int) = [], {_NHWC} -> output: T",
    T=dtypes.REAL,
    **_rules("MaxPool", 2, pool_kernels.max_pool, xla_max_pool),
    saves=("input", "output"),
    grad=_grad_max_pool,
    vectorize=merging(),
)


def _max_pool_v2(rule, input, ksize, strides, padding, data_format):
    ksize, strides = vector("MaxPoolV2", "ksize", ksize, 4), vector("MaxPoolV2", "strides", strides, 4)
    return rule(input, ksize=ksize, strides=strides, padding=padding, data_format=data_format)


def _infer_max_pool_v2(input, ksize, strides, padding, data_format):
    if ksize.value is None or strides.value is None:
        layout = layout_of("MaxPoolV2", data_format, 2)
        shape = [None] * 4
        if input.shape.rank == 4:
            shape[0] = input.shape[0]
        return TensorShape(shape).with_rank(layout.rank)
    return _max_pool_v2(
        partial(infer, "MaxPoolV2", 2),
        input,
        np.asarray(ksize.value),
        np.asarray(strides.value),
        padding,
        data_format,
    )


def _grad_max_pool_v2(node, dy):
    dx = MAX_POOL_GRAD_V2(node.input, node.output, dy, node.ksize, node.strides, **node.attrs)
    return dx, None, None


MAX_POOL_V2 = Op(
    "MaxPoolV2",
    f"input: T, ksize: int32, strides: int32, *, padding: string, {_NHWC} -> output: T",
    T=dtypes.REAL,
    infer=_infer_max_pool_v2,
    kernel=partial(_max_pool_v2, partial(_pool, "MaxPoolV2", 2, pool_kernels.max_pool)),
    lower=lambda ctx, *inputs, **attrs: _max_pool_v2(
        partial(_pool, "MaxPoolV2", 2, partial(xla_max_pool, joined=ctx.windows_are_joined)), *inputs, **attrs
    ),
    static=("ksize", "strides"),
    saves=("input", "output", "ksize", "strides"),
    grad=_grad_max_pool_v2,
    vectorize=merging(),
)


def _grad_avg_pool(node, dy):
    return (AVG_POOL_GRAD(node.value_shape, dy, **node.attrs),)


AVG_POOL = Op(
    "AvgPool",
    f"value: T, {_ATTRIBUTES}, {_NHWC} -> output: T",
    T=dtypes.FLOATING,
    **_rules("AvgPool", 2, pool_kernels.avg_pool, xla_avg_pool),
    saves=("value_shape",),
    grad=_grad_avg_pool,
    vectorize=merging(),
)


def _grad_max_pool3d(node, dy):
    return (MAX_POOL3D_GRAD(node.input, node.output, dy, **node.attrs),)


MAX_POOL3D = Op(
    "MaxPool3D",
    f"input: T, {_ATTRIBUTES}, {_NDHWC} -> output: T",
    T=dtypes.FLOATING,
    **_rules("MaxPool3D", 3, pool_kernels.max_pool, xla_max_pool),
    saves=("input", "output"),
    grad=_grad_max_pool3d,
    vectorize=merging(),
)


def _grad_avg_pool3d(node, dy):
    return (AVG_POOL3D_GRAD(node.input_shape, dy, **node.attrs),)


AVG_POOL3D = Op(
    "AvgPool3D",
    f"input: T, {_ATTRIBUTES}, {_NDHWC} -> output: T",
    T=dtypes.FLOATING,
    **_rules("AvgPool3D", 3, pool_kernels.avg_pool, xla_avg_pool),
    saves=("input_shape",),
    grad=_grad_avg_pool3d,
    vectorize=merging(),
)


def _check_index_type(dtype):
    if dtype not in dtypes.INDEX:
        raise errors.invalid_argument(f"MaxPoolWithArgmax: Targmax must be int32 or int64, got {dtype.name}.")


def _argmax_plan(shape, ksize, strides, padding):
    return plan("MaxPoolWithArgmax", 2, shape, ksize, strides, padding, "NHWC")


def _max_pool_with_argmax(input, ksize, strides, Targmax, padding, include_batch_in_index):
    _check_index_type(Targmax)
    axes, windows = _argmax_plan(input.shape, ksize, strides, padding)
    return pool_kernels.max_pool_with_argmax(
        input, axes, windows, include_batch_in_index, Targmax.as_numpy_dtype
    )


def _lower_max_pool_with_argmax(ctx, input, ksize, strides, Targmax, padding, include_batch_in_index):
    axes, windows = _argmax_plan(input.shape, ksize, strides, padding)
    shape = pool_kernels.output_shape(input.shape, axes, windows)
    if 0 in shape:
        return jnp.zeros(shape, input.dtype), jnp.zeros(shape, Targmax.as_numpy_dtype)
    origin, offsets = pool_kernels.argmax_origins(input.shape, axes, windows, include_batch_in_index)
    chosen = chosen_taps(input, axes, windows)
    position = (origin + jnp.asarray(offsets)[chosen]).astype(Targmax.as_numpy_dtype)
    local = position if include_batch_in_index else position + _image_starts(input.shape)
    return jnp.take(input.reshape(-1), local), position


def _image_starts(shape):
    """The flat position at which each image begins, in a shape that broadcasts."""
    size = int(np.prod(shape[1:]))
    return np.arange(shape[0]).reshape(-1, 1, 1, 1) * size


def _infer_max_pool_with_argmax(input, ksize, strides, Targmax, padding, include_batch_in_index):
    shape = infer("MaxPoolWithArgmax", 2, input, ksize, strides, padding, "NHWC")
    return shape, shape


def _grad_max_pool_with_argmax(node, dy, _):
    attrs = {name: node.attrs[name] for name in ("ksize", "strides", "padding", "include_batch_in_index")}
    return (MAX_POOL_GRAD_WITH_ARGMAX(node.input, dy, node.argmax, **attrs),)


MAX_POOL_WITH_ARGMAX = Op(
    "MaxPoolWithArgmax",
    "input: T, *, ksize: list(int), strides: list(int), Targmax: type = int64, padding: string, "
    "include_batch_in_index: bool = False -> output: T, argmax: Targmax",
    T=dtypes.REAL,
    infer=_infer_max_pool_with_argmax,
    kernel=_max_pool_with_argmax,
    lower=_lower_max_pool_with_argmax,
    saves=("input", "argmax"),
    grad=_grad_max_pool_with_argmax,
)
