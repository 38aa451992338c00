"""Convolutional layers: plain, transposed and separable ones, with their functions."""

from typing import Any

from headrace._src.compat.layers.base import InputSpec, Layer
from headrace._src.compat.layers.dense import check_format
from headrace._src.compat.variables.initializers import Zeros
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.arrays import joining, measuring, padding, shaping
from headrace._src.ops.nn import bias
from headrace._src.ops.windows import conv_functions, depthwise_conv

_ZEROS = Zeros()


def numbers(value, count: int, label: str) -> tuple[int, ...]:
    """One whole number for each dimension of space.

    Raises:
        ValueError: these are not as many numbers, or they are below 1.
    """
    found = (value,) * count if isinstance(value, int) else tuple(value) if hasattr(value, "__iter__") else ()
    if len(found) != count or not all(isinstance(n, int) and n > 0 for n in map(_whole, found)):
        raise ValueError(f"{label} must be a positive integer, or a tuple of {count} of them, got {value!r}.")
    return tuple(map(_whole, found))


def _whole(number):
    return int(number) if hasattr(number, "__index__") else number


def check_padding(name: str) -> str:
    """The padding in small letters.

    Raises:
        ValueError: there is none of that name.
    """
    lower = name.lower() if isinstance(name, str) else name
    if lower not in ("valid", "same", "causal"):
        raise ValueError(f'padding must be "valid" or "same" (in one dimension also "causal"), got {name!r}.')
    return lower


def layout(data_format: str, rank: int) -> str:
    """TensorFlow's name of a layout: NHWC and its like."""
    space = "DHW"[3 - rank :]
    return f"NC{space}" if data_format == "channels_first" else f"N{space}C"


class _Convolution(Layer):
    """What plain, transposed and separable convolutions share."""

    rank = 2

    def __init__(self, filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                 bias_initializer, bias_regularizer, bias_constraint, activity_regularizer, trainable, name, **kwargs):
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.filters = filters
        self.kernel_size = numbers(kernel_size, self.rank, "kernel_size")
        self.strides = numbers(strides, self.rank, "strides")
        self.padding = check_padding(padding)
        if self.padding == "causal" and self.rank != 1:
            raise ValueError('padding="causal" is for convolutions in one dimension, Conv1D and SeparableConv1D.')
        self.data_format = check_format(data_format)
        self.dilation_rate = numbers(dilation_rate, self.rank, "dilation_rate")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError("strides and dilation_rate cannot both be greater than 1, got "
                             f"strides={self.strides} and dilation_rate={self.dilation_rate}.")
        self.activation = activation
        self.use_bias = use_bias
        self.bias_initializer = bias_initializer
        self.bias_regularizer = bias_regularizer
        self.bias_constraint = bias_constraint
        self.bias: Any = None
        self.input_spec = InputSpec(min_ndim=self.rank + 2)

    @property
    def _channel_axis(self):
        return 1 if self.data_format == "channels_first" else -1

    @property
    def _layout(self):
        return layout(self.data_format, self.rank)

    def _channels(self, input_shape):
        input_shape = TensorShape(input_shape)
        channels = input_shape.as_list()[self._channel_axis]
        if channels is None:
            raise ValueError(f"{type(self).__name__}: the number of channels (axis {self._channel_axis}) must be "
                             f"known, for the shape of the kernel. Got inputs of shape {input_shape}.")
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={self._channel_axis: channels})
        return channels

    def _add_bias(self):
        if self.use_bias:
            self.bias = self.add_weight("bias", [self.filters], None, self.bias_initializer, self.bias_regularizer,
                                        True, self.bias_constraint)

    def _finished(self, outputs):
        if self.bias is not None:
            outputs = bias.bias_add(outputs, self.bias, "NCHW" if self.data_format == "channels_first" else "NHWC")
        return outputs if self.activation is None else self.activation(outputs)

    def _before(self, inputs):
        """Zeros before the first element, for a causal convolution."""
        missing = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        around = [[0, 0], [missing, 0], [0, 0]]
        if self.data_format == "channels_first":
            around = [[0, 0], [0, 0], [missing, 0]]
        return padding.pad(inputs, around)


class _PlainConvolution(_Convolution):
    """A convolution; the subclasses say in how many dimensions."""

    def __init__(
        self,
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
        **kwargs,
    ) -> None:
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, bias_initializer,
            bias_regularizer, bias_constraint, activity_regularizer, trainable, name, **kwargs,
        )  # fmt: skip
        self.kernel_initializer = kernel_initializer
        self.kernel_regularizer = kernel_regularizer
        self.kernel_constraint = kernel_constraint

    def build(self, input_shape) -> None:
        """Make kernel and bias.

        Args:
            input_shape: the shape of the input.
        """
        channels = self._channels(input_shape)
        self.kernel = self.add_weight(
            "kernel", [*self.kernel_size, channels, self.filters], None, self.kernel_initializer,
            self.kernel_regularizer, True, self.kernel_constraint,
        )  # fmt: skip
        self._add_bias()
        self.built = True

    def call(self, inputs) -> Tensor:
        """The convolved inputs.

        Args:
            inputs: a tensor of the layer's layout.
        """
        padded = self._before(inputs) if self.padding == "causal" else inputs
        outputs = conv_functions.convolution(
            padded, self.kernel, self.strides, "VALID" if self.padding == "causal" else self.padding.upper(),
            self._layout, self.dilation_rate, f"Conv{self.rank}D",
        )  # fmt: skip
        return self._finished(outputs)


@api("compat.v1.layers.Conv1D")
class Conv1D(_PlainConvolution):
    """A convolution in one dimension.

    Args:
        filters: how many channels the output has.
        kernel_size, strides, dilation_rate: a number.
        padding: "valid", "same" or "causal".
        data_format: "channels_last" or "channels_first".
        activation: a function, or None.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: initial values.
        kernel_regularizer, bias_regularizer, activity_regularizer: functions whose results are losses.
        kernel_constraint, bias_constraint: functions that optimizers apply after updates.
        trainable: whether the variables are trained.
        name: a name for the layer.
    """

    rank = 1


@api("compat.v1.layers.Conv2D")
class Conv2D(_PlainConvolution):
    """A convolution in two dimensions; the arguments are those of `Conv1D`, with one or two numbers."""


@api("compat.v1.layers.Conv3D")
class Conv3D(_PlainConvolution):
    """A convolution in three dimensions; the arguments are those of `Conv1D`, with one or three numbers."""

    rank = 3


class _TransposedConvolution(_PlainConvolution):
    """A transposed convolution; the subclasses say in how many dimensions."""

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
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
        **kwargs,
    ) -> None:
        super().__init__(
            filters, kernel_size, strides, padding, data_format, 1, activation, use_bias, kernel_initializer,
            bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
            bias_constraint, trainable, name, **kwargs,
        )  # fmt: skip

    def build(self, input_shape) -> None:
        """Make kernel and bias.

        Args:
            input_shape: the shape of the input.
        """
        channels = self._channels(input_shape)
        self.kernel = self.add_weight(
            "kernel", [*self.kernel_size, self.filters, channels], None, self.kernel_initializer,
            self.kernel_regularizer, True, self.kernel_constraint,
        )  # fmt: skip
        self._add_bias()
        self.built = True

    def _length(self, length, axis):
        """How long an axis of space becomes."""
        if length is None:
            return None
        stride, size = self.strides[axis], self.kernel_size[axis]
        return length * stride + (max(size - stride, 0) if self.padding == "valid" else 0)

    def call(self, inputs) -> Tensor:
        """The convolved inputs.

        Args:
            inputs: a tensor of the layer's layout.
        """
        sizes = measuring.shape(inputs)
        static = inputs.shape.as_list()
        first = 2 if self.data_format == "channels_first" else 1
        space = range(first, first + self.rank)
        lengths = [self._length(sizes[axis] if static[axis] is None else static[axis], i)
                   for i, axis in enumerate(space)]
        known = [self._length(static[axis], i) for i, axis in enumerate(space)]
        batch = sizes[0] if static[0] is None else static[0]
        if self.data_format == "channels_first":
            shape, static_shape = [batch, self.filters, *lengths], [static[0], self.filters, *known]
        else:
            shape, static_shape = [batch, *lengths, self.filters], [static[0], *known, self.filters]
        transposed = conv_functions.conv2d_transpose if self.rank == 2 else conv_functions.conv3d_transpose
        outputs = transposed(inputs, self.kernel, joining.stack(shape), self.strides, self.padding.upper(),
                             self._layout)
        outputs.set_shape(static_shape)
        return self._finished(outputs)


@api("compat.v1.layers.Conv2DTranspose")
class Conv2DTranspose(_TransposedConvolution):
    """A transposed convolution in two dimensions; the arguments are those of `Conv2D` without `dilation_rate`."""


@api("compat.v1.layers.Conv3DTranspose")
class Conv3DTranspose(_TransposedConvolution):
    """A transposed convolution in three dimensions; the arguments are those of `Conv3D` without `dilation_rate`."""

    rank = 3


class _SeparableConvolution(_Convolution):
    """A convolution of each channel, then one of width 1 over the channels."""

    def __init__(
        self,
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
        **kwargs,
    ) -> None:
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, bias_initializer,
            bias_regularizer, bias_constraint, activity_regularizer, trainable, name, **kwargs,
        )  # fmt: skip
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = depthwise_initializer
        self.pointwise_initializer = pointwise_initializer
        self.depthwise_regularizer = depthwise_regularizer
        self.pointwise_regularizer = pointwise_regularizer
        self.depthwise_constraint = depthwise_constraint
        self.pointwise_constraint = pointwise_constraint

    def build(self, input_shape) -> None:
        """Make both kernels and the bias.

        Args:
            input_shape: the shape of the input.
        """
        channels = self._channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", [*self.kernel_size, channels, self.depth_multiplier], None,
            self.depthwise_initializer, self.depthwise_regularizer, True, self.depthwise_constraint,
        )  # fmt: skip
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel", [1] * self.rank + [channels * self.depth_multiplier, self.filters], None,
            self.pointwise_initializer, self.pointwise_regularizer, True, self.pointwise_constraint,
        )  # fmt: skip
        self._add_bias()
        self.built = True


@api("compat.v1.layers.SeparableConv2D")
class SeparableConv2D(_SeparableConvolution):
    """A separable convolution in two dimensions.

    Args:
        filters: how many channels the output has.
        kernel_size, strides, dilation_rate: one or two numbers.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".
        depth_multiplier: how many channels each channel becomes in the first convolution.
        activation: a function, or None.
        use_bias: whether there is a bias.
        depthwise_initializer, pointwise_initializer, bias_initializer: initial values.
        depthwise_regularizer, pointwise_regularizer, bias_regularizer, activity_regularizer: functions whose results
            are losses.
        depthwise_constraint, pointwise_constraint, bias_constraint: functions that optimizers apply after updates.
        trainable: whether the variables are trained.
        name: a name for the layer.
    """

    def call(self, inputs) -> Tensor:
        """The convolved inputs.

        Args:
            inputs: a tensor of the layer's layout.
        """
        strides = [1, *self.strides, 1] if self.data_format == "channels_last" else [1, 1, *self.strides]
        outputs = depthwise_conv.separable_conv2d(
            inputs, self.depthwise_kernel, self.pointwise_kernel, strides, self.padding.upper(), self._layout,
            self.dilation_rate,
        )  # fmt: skip
        return self._finished(outputs)


@api("compat.v1.layers.SeparableConv1D")
class SeparableConv1D(_SeparableConvolution):
    """A separable convolution in one dimension; the arguments are those of `SeparableConv2D`, with one number."""

    rank = 1

    def call(self, inputs) -> Tensor:
        """The convolved inputs.

        Args:
            inputs: a tensor of the layer's layout.
        """
        padded = self._before(inputs) if self.padding == "causal" else inputs
        axis = 1 if self.data_format == "channels_last" else 2
        strides = [1, *self.strides * 2, 1] if axis == 1 else [1, 1, *self.strides * 2]
        outputs = depthwise_conv.separable_conv2d(
            shaping.expand_dims(padded, axis), shaping.expand_dims(self.depthwise_kernel, 0),
            shaping.expand_dims(self.pointwise_kernel, 0), strides,
            "VALID" if self.padding == "causal" else self.padding.upper(), layout(self.data_format, 2),
            (1, *self.dilation_rate),
        )  # fmt: skip
        if self.bias is not None:
            outputs = bias.bias_add(outputs, self.bias, layout(self.data_format, 2))
        outputs = shaping.squeeze(outputs, [axis])
        return outputs if self.activation is None else self.activation(outputs)
