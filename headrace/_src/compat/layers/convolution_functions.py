"""`tf.compat.v1.layers.conv2d` and its like: each makes a layer of its class and calls it."""

from headrace._src.compat.layers.convolutions import (
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    SeparableConv1D,
    SeparableConv2D,
)
from headrace._src.compat.variables.initializers import Zeros
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api

_ZEROS = Zeros()


@api("compat.v1.layers.conv1d", dispatch=False)
def conv1d(
    inputs,
    filters,
    kernel_size,
    strides=1,
    padding="valid",
    data_format="channels_last",
    dilation_rate=1,
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer=_ZEROS,
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
) -> Tensor:
    """The output of a `Conv1D` layer; `reuse` shares the variables of its name.

    >>> tf.compat.v1.layers.conv1d(tf.ones([1, 8, 3]), 4, 3).shape
    TensorShape([1, 6, 4])
    """
    return Conv1D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
        kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
        kernel_constraint, bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip


@api("compat.v1.layers.conv2d", dispatch=False)
def conv2d(
    inputs,
    filters,
    kernel_size,
    strides=(1, 1),
    padding="valid",
    data_format="channels_last",
    dilation_rate=(1, 1),
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer=_ZEROS,
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
) -> Tensor:
    """The output of a `Conv2D` layer; `reuse` shares the variables of its name.

    >>> tf.compat.v1.layers.conv2d(tf.ones([1, 8, 8, 3]), 4, 3).shape
    TensorShape([1, 6, 6, 4])
    """
    return Conv2D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
        kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
        kernel_constraint, bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip


@api("compat.v1.layers.conv3d", dispatch=False)
def conv3d(
    inputs,
    filters,
    kernel_size,
    strides=(1, 1, 1),
    padding="valid",
    data_format="channels_last",
    dilation_rate=(1, 1, 1),
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer=_ZEROS,
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
) -> Tensor:
    """The output of a `Conv3D` layer; `reuse` shares the variables of its name."""
    return Conv3D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
        kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
        kernel_constraint, bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip


@api("compat.v1.layers.conv2d_transpose", dispatch=False)
def conv2d_transpose(
    inputs,
    filters,
    kernel_size,
    strides=(1, 1),
    padding="valid",
    data_format="channels_last",
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer=_ZEROS,
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
) -> Tensor:
    """The output of a `Conv2DTranspose` layer; `reuse` shares the variables of its name.

    >>> tf.compat.v1.layers.conv2d_transpose(tf.ones([1, 8, 8, 3]), 4, 3, strides=2).shape
    TensorShape([1, 17, 17, 4])
    """
    return Conv2DTranspose(
        filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip


@api("compat.v1.layers.conv3d_transpose", dispatch=False)
def conv3d_transpose(
    inputs,
    filters,
    kernel_size,
    strides=(1, 1, 1),
    padding="valid",
    data_format="channels_last",
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer=_ZEROS,
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
) -> Tensor:
    """The output of a `Conv3DTranspose` layer; `reuse` shares the variables of its name."""
    return Conv3DTranspose(
        filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip


@api("compat.v1.layers.separable_conv1d", dispatch=False)
def separable_conv1d(
    inputs,
    filters,
    kernel_size,
    strides=1,
    padding="valid",
    data_format="channels_last",
    dilation_rate=1,
    depth_multiplier=1,
    activation=None,
    use_bias=True,
    depthwise_initializer=None,
    pointwise_initializer=None,
    bias_initializer=_ZEROS,
    depthwise_regularizer=None,
    pointwise_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    depthwise_constraint=None,
    pointwise_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
) -> Tensor:
    """The output of a `SeparableConv1D` layer; `reuse` shares the variables of its name."""
    return SeparableConv1D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation,
        use_bias, depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer,
        pointwise_regularizer, bias_regularizer, activity_regularizer, depthwise_constraint,
        pointwise_constraint, bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip


@api("compat.v1.layers.separable_conv2d", dispatch=False)
def separable_conv2d(
    inputs,
    filters,
    kernel_size,
    strides=(1, 1),
    padding="valid",
    data_format="channels_last",
    dilation_rate=(1, 1),
    depth_multiplier=1,
    activation=None,
    use_bias=True,
    depthwise_initializer=None,
    pointwise_initializer=None,
    bias_initializer=_ZEROS,
    depthwise_regularizer=None,
    pointwise_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    depthwise_constraint=None,
    pointwise_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
) -> Tensor:
    """The output of a `SeparableConv2D` layer; `reuse` shares the variables of its name.

    >>> tf.compat.v1.layers.separable_conv2d(tf.ones([1, 8, 8, 3]), 4, 3).shape
    TensorShape([1, 6, 6, 4])
    """
    return SeparableConv2D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation,
        use_bias, depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer,
        pointwise_regularizer, bias_regularizer, activity_regularizer, depthwise_constraint,
        pointwise_constraint, bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip
