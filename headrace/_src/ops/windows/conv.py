"""The convolution ops: Conv2D, Conv3D, and the ops of their gradients."""

from __future__ import annotations

from functools import partial

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.ops.windows.conv_rules import (
    filter_gradient,
    forward,
    infer_filter_gradient,
    infer_forward,
    infer_input_gradient,
    input_gradient,
    lower_filter_gradient,
    lower_forward,
    lower_input_gradient,
    vectorize_filter_gradient,
    vectorize_forward,
    vectorize_input_gradient,
)

FLOAT_OR_INT32 = dtypes.FLOATING | {dtypes.int32}


def _shared(node, with_explicit):
    """The attributes that an op and the ops of its gradients share."""
    names = ["strides", "padding", "data_format", "dilations"]
    if with_explicit:
        names.append("explicit_paddings")
    return {name: node.attrs[name] for name in names}


_ATTRIBUTES_2D = (
    "*, strides: list(int), padding: string, use_cudnn_on_gpu: bool = True, "
    'explicit_paddings: list(int) = [], data_format: string = "NHWC", dilations: list(int) = [1, 1, 1, 1]'
)
_ATTRIBUTES_3D = (
    '*, strides: list(int), padding: string, data_format: string = "NDHWC", '
    "dilations: list(int) = [1, 1, 1, 1, 1]"
)


def _grad_conv2d(node, dy):
    attrs = _shared(node, True)
    dx = CONV2D_BACKPROP_INPUT(node.input_shape, node.filter, dy, **attrs) if node.wants(0) else None
    df = CONV2D_BACKPROP_FILTER(node.input, node.filter_shape, dy, **attrs) if node.wants(1) else None
    return dx, df


CONV2D = Op(
    "Conv2D",
    f"input: T, filter: T, {_ATTRIBUTES_2D} -> output: T",
    T=FLOAT_OR_INT32,
    infer=partial(infer_forward, "Conv2D", 2),
    kernel=partial(forward, "Conv2D", 2),
    lower=partial(lower_forward, "Conv2D", 2),
    saves=("input", "filter", "input_shape", "filter_shape"),
    grad=_grad_conv2d,
    vectorize=vectorize_forward,
)


def _grad_conv2d_backprop_input(node, dy):
    attrs = _shared(node, True)
    shape, out = node.filter_shape, node.out_backprop
    df = CONV2D_BACKPROP_FILTER(dy, shape, out, **attrs) if node.wants(1) else None
    return None, df, CONV2D(dy, node.filter, **attrs) if node.wants(2) else None


CONV2D_BACKPROP_INPUT = Op(
    "Conv2DBackpropInput",
    f"input_sizes: int32, filter: T, out_backprop: T, {_ATTRIBUTES_2D} -> output: T",
    T=FLOAT_OR_INT32,
    infer=partial(infer_input_gradient, "Conv2DBackpropInput", 2),
    kernel=partial(input_gradient, "Conv2DBackpropInput", 2),
    lower=partial(lower_input_gradient, "Conv2DBackpropInput", 2),
    static=("input_sizes",),
    saves=("filter", "filter_shape", "out_backprop"),
    grad=_grad_conv2d_backprop_input,
    vectorize=vectorize_input_gradient,
)


def _grad_conv2d_backprop_filter(node, dy):
    attrs = _shared(node, True)
    dx = CONV2D_BACKPROP_INPUT(node.input_shape, dy, node.out_backprop, **attrs) if node.wants(0) else None
    return dx, None, CONV2D(node.input, dy, **attrs) if node.wants(2) else None


CONV2D_BACKPROP_FILTER = Op(
    "Conv2DBackpropFilter",
    f"input: T, filter_sizes: int32, out_backprop: T, {_ATTRIBUTES_2D} -> output: T",
    T=dtypes.FLOATING,
    infer=partial(infer_filter_gradient, "Conv2DBackpropFilter", 2),
    kernel=partial(filter_gradient, "Conv2DBackpropFilter", 2),
    lower=partial(lower_filter_gradient, "Conv2DBackpropFilter", 2),
    static=("filter_sizes",),
    saves=("input", "input_shape", "out_backprop"),
    grad=_grad_conv2d_backprop_filter,
    vectorize=vectorize_filter_gradient,
)


def _shape_at(rule, position):
    """The rule of an op that is given an array where `rule` wants the array's shape."""

    def of_array(*arrays, **attrs):
        arrays = list(arrays)
        arrays[position] = np.array(arrays[position].shape, np.int64)
        return rule(*arrays, **attrs)

    return of_array


# The V2 ops take a tensor of the right shape instead of the shape.
CONV2D_BACKPROP_INPUT_V2 = Op(
    "Conv2DBackpropInputV2",
    f"input: T, filter: T, out_backprop: T, {_ATTRIBUTES_2D} -> output: T",
    T=FLOAT_OR_INT32,
    infer=lambda input, filter, out_backprop, **attrs: input.shape,
    kernel=_shape_at(partial(input_gradient, "Conv2DBackpropInputV2", 2), 0),
    lower=_shape_at(partial(lower_input_gradient, "Conv2DBackpropInputV2", 2), 1),
    saves=("filter", "filter_shape", "out_backprop"),
    grad=_grad_conv2d_backprop_input,
)

CONV2D_BACKPROP_FILTER_V2 = Op(
    "Conv2DBackpropFilterV2",
    f"input: T, filter: T, out_backprop: T, {_ATTRIBUTES_2D} -> output: T",
    T=dtypes.FLOATING,
    infer=lambda input, filter, out_backprop, **attrs: filter.shape,
    kernel=_shape_at(partial(filter_gradient, "Conv2DBackpropFilterV2", 2), 1),
    lower=_shape_at(partial(lower_filter_gradient, "Conv2DBackpropFilterV2", 2), 2),
    saves=("input", "input_shape", "out_backprop"),
    grad=_grad_conv2d_backprop_filter,
)


@api("conv2d_backprop_input_v2")
def conv2d_backprop_input_v2(
    input,
    filter,
    out_backprop,
    strides,
    padding,
    use_cudnn_on_gpu=True,
    explicit_paddings=[],
    data_format="NHWC",
    dilations=[1, 1, 1, 1],
    name=None,
) -> Tensor:
    """The gradient of a 2-D convolution by its input.

    Args:
        input: a tensor of the input's shape; its values do not matter.
        filter: the filters, of shape (rows, columns, channels, outputs).
        out_backprop: the gradient by the convolution's result.
        strides: steps of the window, one per dimension of the input.
        padding: "SAME", "VALID" or "EXPLICIT".
        use_cudnn_on_gpu: accepted for compatibility.
        explicit_paddings: with "EXPLICIT", before and after for each dimension, in one flat list.
        data_format: "NHWC" or "NCHW".
        dilations: distances between the taps of the window, one per dimension.
        name: a name for the operation.
    """
    return CONV2D_BACKPROP_INPUT_V2(
        input,
        filter,
        out_backprop,
        strides=list(strides),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=list(explicit_paddings),
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


@api("conv2d_backprop_filter_v2")
def conv2d_backprop_filter_v2(
    input,
    filter,
    out_backprop,
    strides,
    padding,
    use_cudnn_on_gpu=True,
    explicit_paddings=[],
    data_format="NHWC",
    dilations=[1, 1, 1, 1],
    name=None,
) -> Tensor:
    """The gradient of a 2-D convolution by its filters.

    Args:
        input: the data that was convolved.
        filter: a tensor of the filters' shape; its values do not matter.
        out_backprop: the gradient by the convolution's result.
        strides: steps of the window, one per dimension of the input.
        padding: "SAME", "VALID" or "EXPLICIT".
        use_cudnn_on_gpu: accepted for compatibility.
        explicit_paddings: with "EXPLICIT", before and after for each dimension, in one flat list.
        data_format: "NHWC" or "NCHW".
        dilations: distances between the taps of the window, one per dimension.
        name: a name for the operation.
    """
    return CONV2D_BACKPROP_FILTER_V2(
        input,
        filter,
        out_backprop,
        strides=list(strides),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=list(explicit_paddings),
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


def _grad_conv3d(node, dy):
    attrs = _shared(node, False)
    dx = CONV3D_BACKPROP_INPUT(node.input_shape, node.filter, dy, **attrs) if node.wants(0) else None
    df = CONV3D_BACKPROP_FILTER(node.input, node.filter_shape, dy, **attrs) if node.wants(1) else None
    return dx, df


CONV3D = Op(
    "Conv3D",
    f"input: T, filter: T, {_ATTRIBUTES_3D} -> output: T",
    T=dtypes.FLOATING,
    infer=partial(infer_forward, "Conv3D", 3),
    kernel=partial(forward, "Conv3D", 3),
    lower=partial(lower_forward, "Conv3D", 3),
    saves=("input", "filter", "input_shape", "filter_shape"),
    grad=_grad_conv3d,
    vectorize=vectorize_forward,
)


def _grad_conv3d_backprop_input(node, dy):
    attrs = _shared(node, False)
    shape, out = node.filter_shape, node.out_backprop
    df = CONV3D_BACKPROP_FILTER(dy, shape, out, **attrs) if node.wants(1) else None
    return None, df, CONV3D(dy, node.filter, **attrs) if node.wants(2) else None


CONV3D_BACKPROP_INPUT = Op(
    "Conv3DBackpropInputV2",
    f"input_sizes: Tshape, filter: T, out_backprop: T, {_ATTRIBUTES_3D} -> output: T",
    T=dtypes.FLOATING,
    Tshape=dtypes.INDEX,
    infer=partial(infer_input_gradient, "Conv3DBackpropInputV2", 3),
    kernel=partial(input_gradient, "Conv3DBackpropInputV2", 3),
    lower=partial(lower_input_gradient, "Conv3DBackpropInputV2", 3),
    static=("input_sizes",),
    saves=("filter", "filter_shape", "out_backprop"),
    grad=_grad_conv3d_backprop_input,
    vectorize=vectorize_input_gradient,
)


def _grad_conv3d_backprop_filter(node, dy):
    attrs = _shared(node, False)
    dx = CONV3D_BACKPROP_INPUT(node.input_shape, dy, node.out_backprop, **attrs) if node.wants(0) else None
    return dx, None, CONV3D(node.input, dy, **attrs) if node.wants(2) else None


CONV3D_BACKPROP_FILTER = Op(
    "Conv3DBackpropFilterV2",
    f"input: T, filter_sizes: int32, out_backprop: T, {_ATTRIBUTES_3D} -> output: T",
    T=dtypes.FLOATING,
    infer=partial(infer_filter_gradient, "Conv3DBackpropFilterV2", 3),
    kernel=partial(filter_gradient, "Conv3DBackpropFilterV2", 3),
    lower=partial(lower_filter_gradient, "Conv3DBackpropFilterV2", 3),
    static=("filter_sizes",),
    saves=("input", "input_shape", "out_backprop"),
    grad=_grad_conv3d_backprop_filter,
    vectorize=vectorize_filter_gradient,
)
