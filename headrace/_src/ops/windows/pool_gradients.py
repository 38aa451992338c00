"""The ops of the gradients of pools, and of the gradients of those."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.op.batching import merging, unstacked
from headrace._src.op.definition import Op
from headrace._src.op.infer import shape_from_value
from headrace._src.op.registry import lookup
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.padding import PAD, PAD_CONSTANT
from headrace._src.ops.windows import pool_kernels
from headrace._src.ops.windows.lowering import chosen_taps, tap_values, to_chosen, to_maxima
from headrace._src.ops.windows.placement import check_elements, layout_of
from headrace._src.ops.windows.pool_kernels import output_shape
from headrace._src.ops.windows.pool_rules import check_like, plan, vector, xla_avg_pool_gradient

_ATTRIBUTES = "*, ksize: list(int), strides: list(int), padding: string"
_NHWC = 'data_format: string = "NHWC"'
_NDHWC = 'data_format: string = "NDHWC"'
_FIRST = "orig_input: T, orig_output: T, grad: T"


def _gradient_plan(op, dims, x_shape, y_shape, dy_shape, attrs):
    axes, windows = plan(op, dims, x_shape, **attrs)
    wanted = output_shape(x_shape, axes, windows)
    check_like(op, "orig_output", y_shape, wanted)
    check_like(op, "grad", dy_shape, wanted)
    return axes, windows


def _gradient_gradient_plan(op, dims, x_shape, y_shape, g_shape, attrs):
    axes, windows = plan(op, dims, x_shape, **attrs)
    check_like(op, "orig_output", y_shape, output_shape(x_shape, axes, windows))
    check_like(op, "grad", g_shape, x_shape)
    return axes, windows


# To the first maximum of each window.


def _max_gradient(op, x, y, dy, **attrs):
    axes, windows = _gradient_plan(op, 2, x.shape, y.shape, dy.shape, attrs)
    return pool_kernels.max_pool_gradient(x, dy, axes, windows)


def _lower_max_gradient(op, ctx, x, y, dy, **attrs):
    axes, windows = _gradient_plan(op, 2, x.shape, y.shape, dy.shape, attrs)
    return _xla_max_gradient(x, dy, axes, windows)


def _xla_max_gradient(x, dy, axes, windows):
    if x.size == 0 or dy.size == 0:
        return jnp.zeros(x.shape, dy.dtype)
    return to_chosen(chosen_taps(x, axes, windows), dy, axes, windows)


def _max_gather(op, dims, x, y, g, **attrs):
    axes, windows = _gradient_gradient_plan(op, dims, x.shape, y.shape, g.shape, attrs)
    return pool_kernels.max_pool_gather(x, g, axes, windows)


def _lower_max_gather(op, dims, ctx, x, y, g, **attrs):
    axes, windows = _gradient_gradient_plan(op, dims, x.shape, y.shape, g.shape, attrs)
    if y.size == 0:
        return jnp.zeros(y.shape, g.dtype)
    chosen = chosen_taps(x, axes, windows)
    out = jnp.zeros(chosen.shape, g.dtype)
    for number, value in tap_values(g, axes, windows, 0):
        out = jnp.where(chosen == number, value, out)
    return out


def _grad_max_pool_grad(node, ddx):
    attrs = {name: node.attrs[name] for name in ("ksize", "strides", "padding", "data_format")}
    x, y = node.orig_input, node.orig_output
    explicit = node.attrs.get("explicit_paddings")
    if explicit:
        # MaxPoolGradGrad knows no explicit padding, so the data gets it: the lowest value is no maximum.
        pairs = [list(explicit[i : i + 2]) for i in range(0, 8, 2)]
        padded = PAD_CONSTANT(x, pairs, -math.inf)
        attrs["padding"] = "VALID"
        dout = MAX_POOL_GRAD_GRAD(padded, y, PAD(ddx, pairs), **attrs)
    else:
        dout = MAX_POOL_GRAD_GRAD(x, y, ddx, **attrs)
    return ZEROS_LIKE(x), ZEROS_LIKE(y), dout


MAX_POOL_GRAD = Op(
    "MaxPoolGrad",
    f"{_FIRST}, {_ATTRIBUTES}, explicit_paddings: list(int) = [], {_NHWC} -> output: T",
    T=dtypes.REAL,
    infer=lambda orig_input, orig_output, grad, **attrs: orig_input.shape,
    kernel=partial(_max_gradient, "MaxPoolGrad"),
    lower=partial(_lower_max_gradient, "MaxPoolGrad"),
    saves=("orig_input", "orig_output"),
    grad=_grad_max_pool_grad,
    vectorize=merging(3),
)


def _by_transpose(transpose):
    """The gradient of an op that is linear in `grad`; the other inputs only say where its values go.

    Args:
        transpose: gives the op that takes values the other way. A function, as that op may be defined later.
    """

    def grad(node, dz):
        x, y = node.orig_input, node.orig_output
        return ZEROS_LIKE(x), ZEROS_LIKE(y), transpose()(x, y, dz, **node.attrs)

    return grad


def _max_gather_op(name, dims, data_format, transpose):
    """The gradient of the gradient of a maximum pool: for each window, the value where its maximum was."""
    return Op(
        name,
        f"{_FIRST}, {_ATTRIBUTES}, {data_format} -> output: T",
        T=dtypes.REAL,
        infer=lambda orig_input, orig_output, grad, **attrs: orig_output.shape,
        kernel=partial(_max_gather, name, dims),
        lower=partial(_lower_max_gather, name, dims),
        saves=("orig_input", "orig_output"),
        grad=_by_transpose(transpose),
        vectorize=merging(3),
    )


MAX_POOL_GRAD_GRAD = _max_gather_op("MaxPoolGradGrad", 2, _NHWC, lambda: MAX_POOL_GRAD)


# The V2 ops have window sizes and strides as inputs.


def _v2(op, rule, x, y, g, ksize, strides, **attrs):
    return rule(
        x, y, g, ksize=vector(op, "ksize", ksize, 4), strides=vector(op, "strides", strides, 4), **attrs
    )


def _v2_op(name, infer, kernel, lower, transpose):
    def grad(node, dz):
        x, y = node.orig_input, node.orig_output
        dgrad = transpose()(x, y, dz, node.ksize, node.strides, **node.attrs)
        return ZEROS_LIKE(x), ZEROS_LIKE(y), dgrad, None, None

    return Op(
        name,
        f"{_FIRST}, ksize: int32, strides: int32, *, padding: string, {_NHWC} -> output: T",
        T=dtypes.REAL,
        infer=infer,
        kernel=partial(_v2, name, kernel),
        lower=lambda ctx, *inputs, **attrs: _v2(name, partial(lower, ctx), *inputs, **attrs),
        static=("ksize", "strides"),
        saves=("orig_input", "orig_output", "ksize", "strides"),
        grad=grad,
    )


MAX_POOL_GRAD_V2 = _v2_op(
    "MaxPoolGradV2",
    lambda orig_input, *others, **attrs: orig_input.shape,
    partial(_max_gradient, "MaxPoolGradV2"),
    partial(_lower_max_gradient, "MaxPoolGradV2"),
    lambda: MAX_POOL_GRAD_GRAD_V2,
)
MAX_POOL_GRAD_GRAD_V2 = _v2_op(
    "MaxPoolGradGradV2",
    lambda orig_input, orig_output, *others, **attrs: orig_output.shape,
    partial(_max_gather, "MaxPoolGradGradV2", 2),
    partial(_lower_max_gather, "MaxPoolGradGradV2", 2),
    lambda: MAX_POOL_GRAD_V2,
)


# To the position that an earlier op found.


def _argmax_plan(op, x_shape, argmax_shape, attrs):
    axes, windows = plan(op, 2, x_shape, attrs["ksize"], attrs["strides"], attrs["padding"], "NHWC")
    check_like(op, "argmax", argmax_shape, output_shape(x_shape, axes, windows))


def _argmax_gradient(input, grad, argmax, include_batch_in_index, **attrs):
    _argmax_plan("MaxPoolGradWithArgmax", input.shape, argmax.shape, attrs)
    check_like("MaxPoolGradWithArgmax", "grad", grad.shape, argmax.shape)
    return pool_kernels.scatter_to_argmax(
        "MaxPoolGradWithArgmax", grad, argmax, input.shape, include_batch_in_index
    )


def _argmax_gather(input, grad, argmax, include_batch_in_index, **attrs):
    _argmax_plan("MaxPoolGradGradWithArgmax", input.shape, argmax.shape, attrs)
    check_like("MaxPoolGradGradWithArgmax", "grad", grad.shape, input.shape)
    return pool_kernels.gather_from_argmax("MaxPoolGradGradWithArgmax", grad, argmax, include_batch_in_index)


def _lower_positions(ctx, op, argmax, shape, include_batch):
    per_image = int(np.prod(shape[1:]))
    first = jnp.arange(shape[0]).reshape(-1, 1, 1, 1) * per_image
    local = argmax - first if include_batch else argmax
    ctx.check(
        ((local >= 0) & (local < per_image)).all(),
        errors.InvalidArgumentError,
        f"{op}: argmax must hold positions of the same image, below {per_image}.",
    )
    return local + first


def _lower_argmax_gradient(ctx, input, grad, argmax, include_batch_in_index, **attrs):
    _argmax_plan("MaxPoolGradWithArgmax", input.shape, argmax.shape, attrs)
    at = _lower_positions(ctx, "MaxPoolGradWithArgmax", argmax, input.shape, include_batch_in_index)
    flat = jnp.zeros(input.size, grad.dtype).at[at.reshape(-1)].add(grad.reshape(-1))
    return flat.reshape(input.shape)


def _lower_argmax_gather(ctx, input, grad, argmax, include_batch_in_index, **attrs):
    _argmax_plan("MaxPoolGradGradWithArgmax", input.shape, argmax.shape, attrs)
    at = _lower_positions(ctx, "MaxPoolGradGradWithArgmax", argmax, input.shape, include_batch_in_index)
    return jnp.take(grad.reshape(-1), at)


def _with_argmax_op(name, infer, kernel, lower, transpose):
    def grad(node, dz):
        return ZEROS_LIKE(node.input), transpose()(node.input, dz, node.argmax, **node.attrs), None

    return Op(
        name,
        "input: T, grad: T, argmax: Targmax, *, ksize: list(int), strides: list(int), padding: string, "
        "include_batch_in_index: bool = False -> output: T",
        T=dtypes.REAL,
        Targmax=dtypes.INDEX,
        infer=infer,
        kernel=kernel,
        lower=lower,
        saves=("input", "argmax"),
        grad=grad,
    )


MAX_POOL_GRAD_WITH_ARGMAX = _with_argmax_op(
    "MaxPoolGradWithArgmax",
    lambda input, grad, argmax, **attrs: input.shape,
    _argmax_gradient,
    _lower_argmax_gradient,
    lambda: MAX_POOL_GRAD_GRAD_WITH_ARGMAX,
)
MAX_POOL_GRAD_GRAD_WITH_ARGMAX = _with_argmax_op(
    "MaxPoolGradGradWithArgmax",
    lambda input, grad, argmax, **attrs: argmax.shape,
    _argmax_gather,
    _lower_argmax_gather,
    lambda: MAX_POOL_GRAD_WITH_ARGMAX,
)


# TF: in three dimensions, every value that equals its window's maximum gets the gradient.


def _max3d_gradient(orig_input, orig_output, grad, **attrs):
    x, y, dy = orig_input, orig_output, grad
    axes, windows = _gradient_plan("MaxPool3DGrad", 3, x.shape, y.shape, dy.shape, attrs)
    return pool_kernels.max_pool_gradient_to_ties(x, y, dy, axes, windows)


def _lower_max3d_gradient(ctx, x, y, dy, **attrs):
    axes, windows = _gradient_plan("MaxPool3DGrad", 3, x.shape, y.shape, dy.shape, attrs)
    if x.size == 0 or dy.size == 0:
        return jnp.zeros(x.shape, dy.dtype)
    return to_maxima(x, y, dy, axes, windows)


MAX_POOL3D_GRAD = Op(
    "MaxPool3DGrad",
    f"orig_input: TInput, orig_output: TInput, grad: T, {_ATTRIBUTES}, {_NDHWC} -> output: T",
    T=dtypes.FLOATING,
    TInput=dtypes.FLOATING,
    infer=lambda orig_input, orig_output, grad, **attrs: orig_input.shape,
    kernel=_max3d_gradient,
    lower=_lower_max3d_gradient,
    saves=("orig_input", "orig_output"),
    grad=_by_transpose(lambda: MAX_POOL3D_GRAD_GRAD),
    vectorize=merging(3),
)


MAX_POOL3D_GRAD_GRAD = _max_gather_op("MaxPool3DGradGrad", 3, _NDHWC, lambda: MAX_POOL3D_GRAD)


# Means.


def _avg_plan(op, dims, sizes, dy_shape, attrs):
    layout = layout_of(op, attrs["data_format"], dims)
    if sizes.shape != (layout.rank,):
        raise errors.invalid_argument(
            f"{op}: orig_input_shape must be a vector of {layout.rank} entries, got shape {sizes.shape}."
        )
    shape = check_elements(op, "orig_input_shape", sizes)
    axes, windows = plan(op, dims, shape, **attrs)
    check_like(op, "grad", dy_shape, output_shape(shape, axes, windows))
    return shape, axes, windows


def _avg_gradient(op, dims, orig_input_shape, grad, **attrs):
    _, axes, windows = _avg_plan(op, dims, orig_input_shape, grad.shape, attrs)
    return pool_kernels.avg_pool_gradient(grad, axes, windows)


def _lower_avg_gradient(op, dims, ctx, orig_input_shape, grad, **attrs):
    shape, axes, windows = _avg_plan(op, dims, np.asarray(orig_input_shape), grad.shape, attrs)
    return xla_avg_pool_gradient(shape, grad, axes, windows)


def _infer_avg_gradient(dims, orig_input_shape, grad, **attrs):
    shape = shape_from_value(orig_input_shape)
    return TensorShape([None] * (dims + 2)) if shape.rank is None else shape


def _vectorize_avg_pool_grad(batch, node, shape, dy):
    images, count = batch.merged(dy)
    (dx,) = batch.apply(node, [batch.larger(unstacked(shape, "shape")), images])
    return batch.parted(dx, count)


def _avg_gradient_op(name, dims, pool, data_format):
    return Op(
        name,
        f"orig_input_shape: int32, grad: T, {_ATTRIBUTES}, {data_format} -> output: T",
        T=dtypes.FLOATING,
        infer=partial(_infer_avg_gradient, dims),
        kernel=partial(_avg_gradient, name, dims),
        lower=partial(_lower_avg_gradient, name, dims),
        static=("orig_input_shape",),
        grad=lambda node, ddx: (None, pool()(ddx, **node.attrs)),
        vectorize=_vectorize_avg_pool_grad,
    )


AVG_POOL_GRAD = _avg_gradient_op("AvgPoolGrad", 2, lambda: lookup("AvgPool"), _NHWC)
AVG_POOL3D_GRAD = _avg_gradient_op("AvgPool3DGrad", 3, lambda: lookup("AvgPool3D"), _NDHWC)
