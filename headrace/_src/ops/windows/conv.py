"""The convolution ops: Conv2D, Conv3D, and the ops of their gradients."""

from __future__ import annotations

from functools import partial

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.traits import CONVOLUTION, FILTER_GRADIENT
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


# By the number of spatial dimensions.
_ATTRIBUTES = {
    2: "*, strides: list(int), padding: string, use_cudnn_on_gpu: bool = True, "
    'explicit_paddings: list(int) = [], data_format: string = "NHWC", dilations: list(int) = [1, 1, 1, 1]',
    3: '*, strides: list(int), padding: string, data_format: string = "NDHWC", '
    "dilations: list(int) = [1, 1, 1, 1, 1]",
}


def _shared(node):
    """The attributes that an op and the ops of its gradients share."""
    names = ("strides", "padding", "data_format", "dilations", "explicit_paddings")
    return {name: node.attrs[name] for name in names if name in node.attrs}


def _grad_forward(dims, node, dy):
    attrs = _shared(node)
    dx = _INPUT_GRADIENTS[dims](node.input_shape, node.filter, dy, **attrs) if node.wants(0) else None
    df = _FILTER_GRADIENTS[dims](node.input, node.filter_shape, dy, **attrs) if node.wants(1) else None
    return dx, df


def _forward_op(name, dims, types):
    """A convolution over `dims` dimensions."""
    return Op(
        name,
        f"input: T, filter: T, {_ATTRIBUTES[dims]} -> output: T",
        T=types,
        infer=partial(infer_forward, name, dims),
        kernel=partial(forward, name, dims),
        lower=partial(lower_forward, name, dims),
        saves=("input", "filter", "input_shape", "filter_shape"),
        grad=partial(_grad_forward, dims),
        vectorize=vectorize_forward,
        traits=CONVOLUTION,
    )


CONV2D = _forward_op("Conv2D", 2, FLOAT_OR_INT32)
CONV3D = _forward_op("Conv3D", 3, dtypes.FLOATING)


# The convolution is linear in the input and in the filter, so the gradients of its gradients are the same three ops.


def _grad_input_gradient(dims, node, dy):
    attrs = _shared(node)
    shape, out = node.filter_shape, node.out_backprop
    df = _FILTER_GRADIENTS[dims](dy, shape, out, **attrs) if node.wants(1) else None
    return None, df, _FORWARD[dims](dy, node.filter, **attrs) if node.wants(2) else None


def _input_gradient_op(name, dims, types, **size_types):
    """The gradient of a convolution by its input."""
    size_type = "Tshape" if size_types else "int32"
    return Op(
        name,
        f"input_sizes: {size_type}, filter: T, out_backprop: T, {_ATTRIBUTES[dims]} -> output: T",
        T=types,
        **size_types,
        infer=partial(infer_input_gradient, name, dims),
        kernel=partial(input_gradient, name, dims),
        lower=partial(lower_input_gradient, name, dims),
        static=("input_sizes",),
        saves=("filter", "filter_shape", "out_backprop"),
        grad=partial(_grad_input_gradient, dims),
        vectorize=vectorize_input_gradient,
        traits=CONVOLUTION,
    )


CONV2D_BACKPROP_INPUT = _input_gradient_op("Conv2DBackpropInput", 2, FLOAT_OR_INT32)
CONV3D_BACKPROP_INPUT = _input_gradient_op("Conv3DBackpropInputV2", 3, dtypes.FLOATING, Tshape=dtypes.INDEX)


def _grad_filter_gradient(dims, node, dy):
    attrs = _shared(node)
    dx = _INPUT_GRADIENTS[dims](node.input_shape, dy, node.out_backprop, **attrs) if node.wants(0) else None
    return dx, None, _FORWARD[dims](node.input, dy, **attrs) if node.wants(2) else None


def _filter_gradient_op(name, dims):
    """The gradient of a convolution by its filter."""
    return Op(
        name,
        f"input: T, filter_sizes: int32, out_backprop: T, {_ATTRIBUTES[dims]} -> output: T",
        T=dtypes.FLOATING,
        infer=partial(infer_filter_gradient, name, dims),
        kernel=partial(filter_gradient, name, dims),
        lower=partial(lower_filter_gradient, name, dims),
        static=("filter_sizes",),
        saves=("input", "input_shape", "out_backprop"),
        grad=partial(_grad_filter_gradient, dims),
        vectorize=vectorize_filter_gradient,
        traits=CONVOLUTION | FILTER_GRADIENT,
    )


CONV2D_BACKPROP_FILTER = _filter_gradient_op("Conv2DBackpropFilter", 2)
CONV3D_BACKPROP_FILTER = _filter_gradient_op("Conv3DBackpropFilterV2", 3)

_FORWARD = {2: CONV2D, 3: CONV3D}
_INPUT_GRADIENTS = {2: CONV2D_BACKPROP_INPUT, 3: CONV3D_BACKPROP_INPUT}
_FILTER_GRADIENTS = {2: CONV2D_BACKPROP_FILTER, 3: CONV3D_BACKPROP_FILTER}


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
    f"input: T, filter: T, out_backprop: T, {_ATTRIBUTES[2]} -> output: T",
    T=FLOAT_OR_INT32,
    infer=lambda input, filter, out_backprop, **attrs: input.shape,
    kernel=_shape_at(partial(input_gradient, "Conv2DBackpropInputV2", 2), 0),
    lower=_shape_at(partial(lower_input_gradient, "Conv2DBackpropInputV2", 2), 1),
    saves=("filter", "filter_shape", "out_backprop"),
    grad=partial(_grad_input_gradient, 2),
    traits=CONVOLUTION,
)

CONV2D_BACKPROP_FILTER_V2 = Op(
    "Conv2DBackpropFilterV2",
    f"input: T, filter: T, out_backprop: T, {_ATTRIBUTES[2]} -> output: T",
    T=dtypes.FLOATING,
    infer=lambda input, filter, out_backprop, **attrs: filter.shape,
    kernel=_shape_at(partial(filter_gradient, "Conv2DBackpropFilterV2", 2), 1),
    lower=_shape_at(partial(lower_filter_gradient, "Conv2DBackpropFilterV2", 2), 2),
    saves=("input", "input_shape", "out_backprop"),
    grad=partial(_grad_filter_gradient, 2),
    traits=CONVOLUTION | FILTER_GRADIENT,
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
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=list(explicit_paddings),
        data_format=data_format,
        dilations=dilations,
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
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=list(explicit_paddings),
        data_format=data_format,
        dilations=dilations,
        name=name,
    )
