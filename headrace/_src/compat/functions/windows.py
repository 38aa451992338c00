"""Convolutions, pools and other functions of windows with their 1.x signatures."""

from typing import Any

from headrace._src.compat.functions.renamed_arguments import renamed, required
from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.windows import conv_functions, depthwise_conv, morphology, pool_functions
from headrace._src.ops.windows.conv import CONV2D_BACKPROP_FILTER, CONV2D_BACKPROP_INPUT, CONV3D_BACKPROP_FILTER
from headrace._src.ops.windows.depthwise_conv import DEPTHWISE_CONV2D
from headrace._src.ops.windows.fractional_pool import FRACTIONAL_AVG_POOL, FRACTIONAL_MAX_POOL


def _filters(label, filters, old):
    return required(label, "filters", renamed(label, "filters", filters, "filter", old))


@api("compat.v1.nn.conv2d", dispatch=False)
def conv2d(
    input,
    filter=None,
    strides=None,
    padding=None,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
    filters=None,
) -> Tensor:
    """As `tf.nn.conv2d`; `filter` is the older name of `filters`."""
    filters = _filters("conv2d", filters, filter)
    return conv_functions.conv2d(input, filters, strides, padding, data_format, list(dilations), name)


@api("compat.v1.nn.conv3d", dispatch=False)
def conv3d(
    input,
    filter=None,
    strides=None,
    padding=None,
    data_format="NDHWC",
    dilations=(1, 1, 1, 1, 1),
    name=None,
    filters=None,
) -> Tensor:
    """As `tf.nn.conv3d`; `filter` is the older name of `filters`."""
    filters = _filters("conv3d", filters, filter)
    return conv_functions.conv3d(input, filters, strides, padding, data_format, list(dilations), name)


@api("compat.v1.nn.conv1d", dispatch=False)
def conv1d(
    value=None,
    filters=None,
    stride=None,
    padding=None,
    use_cudnn_on_gpu=None,
    data_format=None,
    name=None,
    input=None,
    dilations=None,
) -> Tensor:
    """As `tf.nn.conv1d`; `value` is the older name of `input`."""
    x = required("conv1d", "input", renamed("conv1d", "input", input, "value", value))
    data_format = "NWC" if data_format is None else data_format
    return conv_functions.conv1d(x, filters, stride, padding, data_format, dilations, name)


@api("compat.v1.nn.conv2d_transpose", dispatch=False)
def conv2d_transpose(
    value=None,
    filter=None,
    output_shape=None,
    strides=None,
    padding="SAME",
    data_format="NHWC",
    name=None,
    input=None,
    filters=None,
    dilations=None,
) -> Tensor:
    """As `tf.nn.conv2d_transpose`, with older names of the arguments."""
    x = required("conv2d_transpose", "input", renamed("conv2d_transpose", "input", input, "value", value))
    filters = _filters("conv2d_transpose", filters, filter)
    return conv_functions.conv2d_transpose(x, filters, output_shape, strides, padding, data_format, dilations, name)


@api("compat.v1.nn.conv3d_transpose", dispatch=False)
def conv3d_transpose(
    value,
    filter=None,
    output_shape=None,
    strides=None,
    padding="SAME",
    data_format="NDHWC",
    name=None,
    input=None,
    filters=None,
    dilations=None,
) -> Tensor:
    """As `tf.nn.conv3d_transpose`, with older names of the arguments."""
    x = required("conv3d_transpose", "input", renamed("conv3d_transpose", "input", input, "value", value))
    filters = _filters("conv3d_transpose", filters, filter)
    return conv_functions.conv3d_transpose(x, filters, output_shape, strides, padding, data_format, dilations, name)


@api("compat.v1.nn.conv2d_backprop_input", dispatch=False)
def conv2d_backprop_input(
    input_sizes,
    filter=None,
    out_backprop=None,
    strides=None,
    padding=None,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
    filters=None,
) -> Any:
    """The gradient of `conv2d` with respect to its input."""
    filters = _filters("conv2d_backprop_input", filters, filter)
    return CONV2D_BACKPROP_INPUT(
        input_sizes, filters, out_backprop, strides=list(strides), padding=padding, data_format=data_format,
        dilations=list(dilations), name=name,
    )  # fmt: skip


@api("compat.v1.nn.conv2d_backprop_filter", dispatch=False)
def conv2d_backprop_filter(
    input,
    filter_sizes,
    out_backprop,
    strides,
    padding,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
) -> Any:
    """The gradient of `conv2d` with respect to its filters."""
    return CONV2D_BACKPROP_FILTER(
        input, filter_sizes, out_backprop, strides=list(strides), padding=padding, data_format=data_format,
        dilations=list(dilations), name=name,
    )  # fmt: skip


@api("compat.v1.nn.conv3d_backprop_filter", "compat.v1.nn.conv3d_backprop_filter_v2", dispatch=False)
def conv3d_backprop_filter(
    input,
    filter_sizes,
    out_backprop,
    strides,
    padding,
    data_format="NDHWC",
    dilations=(1, 1, 1, 1, 1),
    name=None,
) -> Any:
    """The gradient of `conv3d` with respect to its filters."""
    return CONV3D_BACKPROP_FILTER(
        input, filter_sizes, out_backprop, strides=list(strides), padding=padding, data_format=data_format,
        dilations=list(dilations), name=name,
    )  # fmt: skip


@api("compat.v1.nn.convolution", dispatch=False)
def convolution(
    input,
    filter,
    padding,
    strides=None,
    dilation_rate=None,
    name=None,
    data_format=None,
    filters=None,
    dilations=None,
) -> Tensor:
    """As `tf.nn.convolution`, with the arguments in another order; `dilation_rate` is the older name of `dilations`."""
    filters = _filters("convolution", filters, filter)
    dilations = renamed("convolution", "dilations", dilations, "dilation_rate", dilation_rate)
    return conv_functions.convolution(input, filters, strides, padding, data_format, dilations, name)


@api("compat.v1.nn.pool", dispatch=False)
def pool(
    input,
    window_shape,
    pooling_type,
    padding,
    dilation_rate=None,
    strides=None,
    name=None,
    data_format=None,
    dilations=None,
) -> Tensor:
    """As `tf.nn.pool`, with the arguments in another order; `dilation_rate` is the older name of `dilations`."""
    dilations = renamed("pool", "dilations", dilations, "dilation_rate", dilation_rate)
    return pool_functions.pool(input, window_shape, pooling_type, strides, padding, data_format, dilations, name)


@api("compat.v1.nn.depthwise_conv2d", dispatch=False)
def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None) -> Tensor:
    """As `tf.nn.depthwise_conv2d`; `rate` is the older name of `dilations`."""
    dilations = renamed("depthwise_conv2d", "dilations", dilations, "rate", rate)
    return depthwise_conv.depthwise_conv2d(input, filter, strides, padding, data_format, dilations, name)


@api("compat.v1.nn.depthwise_conv2d_native", dispatch=False)
def depthwise_conv2d_native(
    input, filter, strides, padding, data_format="NHWC", dilations=(1, 1, 1, 1), name=None
) -> Any:
    """The op behind `tf.nn.depthwise_conv2d`."""
    return DEPTHWISE_CONV2D(
        input, filter, strides=list(strides), padding=padding, data_format=data_format, dilations=list(dilations),
        name=name,
    )  # fmt: skip


@api("compat.v1.nn.separable_conv2d", dispatch=False)
def separable_conv2d(
    input,
    depthwise_filter,
    pointwise_filter,
    strides,
    padding,
    rate=None,
    name=None,
    data_format=None,
    dilations=None,
) -> Tensor:
    """As `tf.nn.separable_conv2d`; `rate` is the older name of `dilations`."""
    dilations = renamed("separable_conv2d", "dilations", dilations, "rate", rate)
    return depthwise_conv.separable_conv2d(
        input, depthwise_filter, pointwise_filter, strides, padding, data_format, dilations, name
    )


@api("compat.v1.nn.max_pool", dispatch=False)
def max_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None) -> Tensor:
    """As `tf.nn.max_pool2d`; `value` is the older name of `input`."""
    x = renamed("max_pool", "input", input, "value", value)
    return pool_functions.max_pool2d(x, ksize, strides, padding, data_format, name)


@api("compat.v1.nn.avg_pool", "compat.v1.nn.avg_pool2d", dispatch=False)
def avg_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None) -> Tensor:
    """As `tf.nn.avg_pool2d`; `value` is the older name of `input`."""
    x = renamed("avg_pool", "input", input, "value", value)
    return pool_functions.avg_pool2d(x, ksize, strides, padding, data_format, name)


@api("compat.v1.nn.max_pool_with_argmax", dispatch=False)
def max_pool_with_argmax(
    input,
    ksize,
    strides,
    padding,
    data_format="NHWC",
    Targmax=None,
    name=None,
    output_dtype=None,
    include_batch_in_index=False,
) -> Any:
    """As `tf.nn.max_pool_with_argmax`; `Targmax` is the older name of `output_dtype`."""
    dtype = renamed("max_pool_with_argmax", "output_dtype", output_dtype, "Targmax", Targmax)
    return pool_functions.max_pool_with_argmax(
        input, ksize, strides, padding, data_format, dtypes.int64 if dtype is None else dtype, include_batch_in_index,
        name,
    )  # fmt: skip


@api("compat.v1.nn.dilation2d", dispatch=False)
def dilation2d(
    input, filter=None, strides=None, rates=None, padding=None, name=None, filters=None, dilations=None
) -> Tensor:
    """As `tf.nn.dilation2d`; `filter` and `rates` are older names of `filters` and `dilations`."""
    filters = _filters("dilation2d", filters, filter)
    dilations = renamed("dilation2d", "dilations", dilations, "rates", rates)
    return morphology.dilation2d(input, filters, strides, padding, "NHWC", dilations, name)


@api("compat.v1.nn.erosion2d", dispatch=False)
def erosion2d(value, kernel, strides, rates, padding, name=None) -> Tensor:
    """As `tf.nn.erosion2d`, with older names of the arguments."""
    return morphology.erosion2d(value, kernel, strides, padding, "NHWC", rates, name)


def _fractional(name, op):
    def pool(
        value,
        pooling_ratio,
        pseudo_random=False,
        overlapping=False,
        deterministic=False,
        seed=0,
        seed2=0,
        name=None,
    ) -> Any:
        return op(
            value, pooling_ratio=[float(x) for x in pooling_ratio], pseudo_random=pseudo_random,
            overlapping=overlapping, deterministic=deterministic, seed=seed, seed2=seed2, name=name,
        )  # fmt: skip

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"As `tf.nn.{name}`, with both seeds of the op."
    return api(f"compat.v1.nn.{name}", dispatch=False)(pool)


fractional_max_pool = _fractional("fractional_max_pool", FRACTIONAL_MAX_POOL)
fractional_avg_pool = _fractional("fractional_avg_pool", FRACTIONAL_AVG_POOL)
