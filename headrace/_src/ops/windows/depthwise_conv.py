"""Depthwise and separable 2-D convolution: the ops and the public functions."""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jax, jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import merging
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.traits import CONVOLUTION, FILTER_GRADIENT
from headrace._src.ops.windows import conv_rules, depthwise_kernels, lowering
from headrace._src.ops.windows.conv import CONV2D
from headrace._src.ops.windows.conv_functions import is_channels_first, split_padding
from headrace._src.ops.windows.placement import check_elements, explicit_entries, layout_of, resolve, spatial_entries


@lru_cache(maxsize=512)
def _plan(op, input_shape, filter_shape, strides, padding, explicit, data_format, dilations):
    """Layout and windows, after checking everything."""
    layout = layout_of(op, data_format, 2)
    for name, shape in (("input", input_shape), ("filter", filter_shape)):
        if len(shape) != 4:
            raise errors.invalid_argument(f"{op}: {name} must have 4 dimensions, got shape {shape}.")
    stride = spatial_entries(op, "strides", strides, layout)
    dilation = spatial_entries(op, "dilations", dilations, layout)
    pairs = explicit_entries(op, padding, explicit, layout)
    channels = input_shape[layout.channel]
    if channels != filter_shape[2]:
        raise errors.invalid_argument(
            f"{op}: input and filter must have the same channels, got {input_shape} and {filter_shape}."
        )
    size = tuple(input_shape[a] for a in layout.spatial)
    windows = resolve(op, size, filter_shape[:2], stride, dilation, padding, pairs)
    check_elements(op, "the result's shape", (input_shape[0], *windows.output, prod(filter_shape[2:])))
    return layout, windows


def _planned(op, input_shape, filter_shape, strides, padding, explicit_paddings, data_format, dilations):
    return _plan(
        op,
        tuple(input_shape),
        tuple(filter_shape),
        tuple(strides),
        padding,
        tuple(explicit_paddings or ()),
        data_format,
        tuple(dilations),
    )


def _gradient_plan(op, input_shape, filter_shape, dy_shape, attrs):
    layout, windows = _planned(op, input_shape, filter_shape, **attrs)
    wanted = conv_rules.result_shape(layout, input_shape[0], windows.output, prod(filter_shape[2:]))
    if tuple(dy_shape) != wanted:
        raise errors.invalid_argument(
            f"{op}: out_backprop must have shape {wanted}, which the other arguments give, got {dy_shape}."
        )
    return layout, windows


def _sizes(op, name, sizes):
    if sizes.shape != (4,):
        raise errors.invalid_argument(f"{op}: {name} must be a vector of 4 entries, got shape {sizes.shape}.")
    return check_elements(op, name, sizes)


def _last(a, layout):
    order = layout.to_channels_last
    return a if order is None else a.transpose(order)


def _back(a, layout):
    order = layout.from_channels_last
    return a if order is None else a.transpose(order)


def _forward(input, filter, **attrs):
    layout, windows = _planned("DepthwiseConv2dNative", input.shape, filter.shape, **attrs)
    return _back(depthwise_kernels.forward(_last(input, layout), filter, windows), layout)


def _input_gradient(input_sizes, filter, out_backprop, **attrs):
    op = "DepthwiseConv2dNativeBackpropInput"
    shape = _sizes(op, "input_sizes", input_sizes)
    layout, windows = _gradient_plan(op, shape, filter.shape, out_backprop.shape, attrs)
    return _back(depthwise_kernels.input_gradient(_last(out_backprop, layout), filter, windows), layout)


def _filter_gradient(input, filter_sizes, out_backprop, **attrs):
    op = "DepthwiseConv2dNativeBackpropFilter"
    shape = _sizes(op, "filter_sizes", filter_sizes)
    layout, windows = _gradient_plan(op, input.shape, shape, out_backprop.shape, attrs)
    x, dy = _last(input, layout), _last(out_backprop, layout)
    return depthwise_kernels.filter_gradient(x, dy, shape[3], windows)


# The axes of the windows, when channels are last.
_AXES = (1, 2)
# Up to this many taps, counted for each of a channel's filters, a lowering writes them out.
_TAPS = 128


def _by_taps(rule, windows, multiplier, *arrays):
    """The result of a rule that goes from tap to tap; None where that would be too long, or there is nothing.

    Small floats are summed as float32, as in the kernel.
    """
    if prod(windows.window) * multiplier > _TAPS or any(x.size == 0 for x in arrays):
        return None
    dtype = arrays[0].dtype
    wide = jnp.float32 if dtype.itemsize < 4 else dtype
    return rule(*(x.astype(wide) for x in arrays)).astype(dtype)


def _grouped(filter):
    """One group per channel: XLA's order of the outputs is then the one of a depthwise convolution."""
    return filter.reshape(*filter.shape[:2], 1, -1)


def _lower_forward(ctx, input, filter, **attrs):
    layout, windows = _planned("DepthwiseConv2dNative", input.shape, filter.shape, **attrs)
    result = _by_taps(
        lambda x, filters: _back(lowering.depthwise(_last(x, layout), filters, _AXES, windows), layout),
        windows, filter.shape[3], input, filter,
    )  # fmt: skip
    return conv_rules.xla_forward(input, _grouped(filter), layout, windows) if result is None else result


def _lower_input_gradient(ctx, input_sizes, filter, out_backprop, **attrs):
    op = "DepthwiseConv2dNativeBackpropInput"
    shape = _sizes(op, "input_sizes", np.asarray(input_sizes))
    layout, windows = _gradient_plan(op, shape, filter.shape, out_backprop.shape, attrs)
    result = _by_taps(
        lambda dy, filters: _back(
            lowering.depthwise_input_gradient(_last(dy, layout), filters, _AXES, windows), layout
        ),
        windows, filter.shape[3], out_backprop, filter,
    )  # fmt: skip
    if result is None:
        return conv_rules.xla_input_gradient(out_backprop, _grouped(filter), shape, layout, windows)
    return result


def _lower_filter_gradient(ctx, input, filter_sizes, out_backprop, **attrs):
    op = "DepthwiseConv2dNativeBackpropFilter"
    shape = _sizes(op, "filter_sizes", np.asarray(filter_sizes))
    layout, windows = _gradient_plan(op, input.shape, shape, out_backprop.shape, attrs)
    result = _by_taps(
        lambda x, dy: lowering.depthwise_filter_gradient(
            _last(x, layout), _last(dy, layout), shape[3], _AXES, windows
        ),
        windows, shape[3], input, out_backprop,
    )  # fmt: skip
    if result is not None:
        return result
    transpose = jax.linear_transpose(
        lambda filter: conv_rules.xla_forward(input, _grouped(filter), layout, windows),
        jax.ShapeDtypeStruct(shape, input.dtype),
    )
    return transpose(out_backprop)[0]


def _infer(input, filter, strides, padding, explicit_paddings, data_format, dilations):
    op = "DepthwiseConv2dNative"
    layout = layout_of(op, data_format, 2)
    if input.shape.is_fully_defined() and filter.shape.is_fully_defined():
        x, f = tuple(input.shape.as_list()), tuple(filter.shape.as_list())
        _, windows = _planned(op, x, f, strides, padding, explicit_paddings, data_format, dilations)
        return TensorShape(conv_rules.result_shape(layout, x[0], windows.output, f[2] * f[3]))
    channels = [None, None]
    if filter.shape.rank is not None:
        channels = filter.shape.as_list()[2:]
    if input.shape.rank is not None and channels[:1] == [None]:
        channels[0] = input.shape[layout.channel]
    known = None if None in channels else prod(channels)
    shape = conv_rules.infer_windows(
        op, layout, input.shape, filter.shape, strides, padding, explicit_paddings, dilations
    ).as_list()
    shape[layout.channel] = known
    return TensorShape(shape)


def _infer_sizes(sizes):
    if sizes.value is not None and np.shape(sizes.value) == (4,):
        return TensorShape([int(n) if n >= 0 else None for n in sizes.value])
    return TensorShape([None] * 4)


_ATTRIBUTES = (
    "*, strides: list(int), padding: string, explicit_paddings: list(int) = [], "
    'data_format: string = "NHWC", dilations: list(int) = [1, 1, 1, 1]'
)


def _grad_forward(node, dy):
    dx = df = None
    if node.wants(0):
        dx = DEPTHWISE_CONV2D_BACKPROP_INPUT(node.input_shape, node.filter, dy, **node.attrs)
    if node.wants(1):
        df = DEPTHWISE_CONV2D_BACKPROP_FILTER(node.input, node.filter_shape, dy, **node.attrs)
    return dx, df


DEPTHWISE_CONV2D = Op(
    "DepthwiseConv2dNative",
    f"input: T, filter: T, {_ATTRIBUTES} -> output: T",
    T=dtypes.FLOATING,
    infer=_infer,
    kernel=_forward,
    lower=_lower_forward,
    saves=("input", "filter", "input_shape", "filter_shape"),
    grad=_grad_forward,
    vectorize=merging(),
    traits=CONVOLUTION,
)


def _grad_backprop_input(node, dy):
    df = dout = None
    if node.wants(1):
        df = DEPTHWISE_CONV2D_BACKPROP_FILTER(dy, node.filter_shape, node.out_backprop, **node.attrs)
    if node.wants(2):
        dout = DEPTHWISE_CONV2D(dy, node.filter, **node.attrs)
    return None, df, dout


DEPTHWISE_CONV2D_BACKPROP_INPUT = Op(
    "DepthwiseConv2dNativeBackpropInput",
    f"input_sizes: int32, filter: T, out_backprop: T, {_ATTRIBUTES} -> output: T",
    T=dtypes.FLOATING,
    infer=lambda input_sizes, filter, out_backprop, **attrs: _infer_sizes(input_sizes),
    kernel=_input_gradient,
    lower=_lower_input_gradient,
    static=("input_sizes",),
    saves=("filter", "filter_shape", "out_backprop"),
    grad=_grad_backprop_input,
    vectorize=conv_rules.vectorize_input_gradient,
    traits=CONVOLUTION,
)


def _grad_backprop_filter(node, dy):
    dx = dout = None
    if node.wants(0):
        dx = DEPTHWISE_CONV2D_BACKPROP_INPUT(node.input_shape, dy, node.out_backprop, **node.attrs)
    if node.wants(2):
        dout = DEPTHWISE_CONV2D(node.input, dy, **node.attrs)
    return dx, None, dout


DEPTHWISE_CONV2D_BACKPROP_FILTER = Op(
    "DepthwiseConv2dNativeBackpropFilter",
    f"input: T, filter_sizes: int32, out_backprop: T, {_ATTRIBUTES} -> output: T",
    T=dtypes.FLOATING,
    infer=lambda input, filter_sizes, out_backprop, **attrs: _infer_sizes(filter_sizes),
    kernel=_filter_gradient,
    lower=_lower_filter_gradient,
    static=("filter_sizes",),
    saves=("input", "input_shape", "out_backprop"),
    grad=_grad_backprop_filter,
    traits=CONVOLUTION | FILTER_GRADIENT,
)


def _rates(dilations, data_format):
    """Dilations of the two spatial dimensions, for all four."""
    if dilations is None:
        return [1, 1, 1, 1]
    if not isinstance(dilations, (list, tuple)):
        dilations = to_tensor(dilations, dtypes.int32).numpy()
    rates = [int(rate) for rate in dilations]
    if len(rates) == 1:
        rates = rates * 2
    if len(rates) != 2:
        raise ValueError(f"depthwise_conv2d: dilations must have 2 entries, got {dilations}.")
    if min(rates) < 1:
        raise ValueError(f"depthwise_conv2d: dilations must be positive, got {dilations}.")
    return [1, 1, *rates] if is_channels_first(data_format) else [1, *rates, 1]


@api("nn.depthwise_conv2d")
def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None) -> Tensor:
    """A 2-D convolution of each channel with filters of its own.

    Args:
        input: data of shape (batch, rows, columns, channels), or (batch, channels, rows, columns) for "NCHW".
        filter: of shape (rows, columns, channels, multiplier).
        strides: the steps of the window, four numbers.
        padding: "SAME", "VALID", or a list of (before, after) pairs for all four dimensions.
        data_format: "NHWC" or "NCHW".
        dilations: the distances between taps in rows and columns.
        name: a name for the operation.

    Returns:
        A tensor with `channels * multiplier` channels.

    >>> x = tf.ones((1, 3, 3, 2))
    >>> tf.nn.depthwise_conv2d(x, tf.ones((2, 2, 2, 3)), [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 6])
    """
    padding, explicit = split_padding(padding, 4)
    data_format = "NHWC" if data_format is None else data_format
    return DEPTHWISE_CONV2D(
        input,
        filter,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=_rates(dilations, data_format),
        name=name,
    )


@api("nn.depthwise_conv2d_backprop_input")
def depthwise_conv2d_backprop_input(
    input_sizes, filter, out_backprop, strides, padding, data_format="NHWC", dilations=[1, 1, 1, 1], name=None
) -> Tensor:
    """The gradient of `depthwise_conv2d` by its input.

    Args:
        input_sizes: the input's shape.
        filter: of shape (rows, columns, channels, multiplier).
        out_backprop: the gradient by the result.
        strides: the steps of the window, four numbers.
        padding: "SAME", "VALID", or a list of (before, after) pairs for all four dimensions.
        data_format: "NHWC" or "NCHW".
        dilations: the distances between taps, four numbers.
        name: a name for the operation.
    """
    padding, explicit = split_padding(padding, 4)
    return DEPTHWISE_CONV2D_BACKPROP_INPUT(
        input_sizes,
        filter,
        out_backprop,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@api("nn.depthwise_conv2d_backprop_filter")
def depthwise_conv2d_backprop_filter(
    input, filter_sizes, out_backprop, strides, padding, data_format="NHWC", dilations=[1, 1, 1, 1], name=None
) -> Tensor:
    """The gradient of `depthwise_conv2d` by its filter.

    Args:
        input: the data that was convolved.
        filter_sizes: the filter's shape.
        out_backprop: the gradient by the result.
        strides: the steps of the window, four numbers.
        padding: "SAME", "VALID", or a list of (before, after) pairs for all four dimensions.
        data_format: "NHWC" or "NCHW".
        dilations: the distances between taps, four numbers.
        name: a name for the operation.
    """
    padding, explicit = split_padding(padding, 4)
    return DEPTHWISE_CONV2D_BACKPROP_FILTER(
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@api("nn.separable_conv2d")
def separable_conv2d(
    input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None, name=None
) -> Tensor:
    """A depthwise convolution followed by one that mixes the channels of each position.

    Args:
        input: data of shape (batch, rows, columns, channels), or (batch, channels, rows, columns) for "NCHW".
        depthwise_filter: of shape (rows, columns, channels, multiplier).
        pointwise_filter: of shape (1, 1, channels * multiplier, outputs).
        strides: the steps of the depthwise window, four numbers.
        padding: "SAME", "VALID", or a list of (before, after) pairs for all four dimensions.
        data_format: "NHWC" or "NCHW".
        dilations: the distances between taps in rows and columns.
        name: a name for the operation.

    >>> x = tf.ones((1, 4, 4, 2))
    >>> tf.nn.separable_conv2d(x, tf.ones((2, 2, 2, 1)), tf.ones((1, 1, 2, 5)), [1, 1, 1, 1], "SAME").shape
    TensorShape([1, 4, 4, 5])
    """
    pointwise_filter = to_tensor(pointwise_filter)
    shape = pointwise_filter.shape
    if shape.rank is not None and (shape.rank != 4 or any(n not in (1, None) for n in shape.as_list()[:2])):
        raise ValueError(
            f"separable_conv2d: pointwise_filter must have shape (1, 1, channels, outputs), got {shape}."
        )
    depthwise = depthwise_conv2d(
        input, depthwise_filter, strides, padding, data_format, dilations, name="depthwise"
    )
    return CONV2D(
        depthwise,
        pointwise_filter,
        strides=[1, 1, 1, 1],
        padding="VALID",
        data_format="NHWC" if data_format is None else data_format,
        name=name,
    )
