"""Pooling layers, and their functions."""

from headrace._src.compat.layers.base import InputSpec, Layer
from headrace._src.compat.layers.convolutions import check_padding, layout, numbers
from headrace._src.compat.layers.dense import check_format
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.arrays import shaping
from headrace._src.ops.windows import pool_functions


class _Pool(Layer):
    """A pool; the subclasses say which, and in how many dimensions."""

    rank = 2
    greatest = True

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs) -> None:
        super().__init__(True, name, **kwargs)
        self.pool_size = numbers(pool_size, self.rank, "pool_size")
        self.strides = numbers(pool_size if strides is None else strides, self.rank, "strides")
        self.padding = check_padding(padding)
        self.data_format = check_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs) -> Tensor:
        """The pooled inputs.

        Args:
            inputs: a tensor of the layer's layout.
        """
        last = self.data_format == "channels_last"
        pool_size, strides, rank = self.pool_size, self.strides, self.rank
        if rank == 1:  # as images of width 1
            axis = 2 if last else 3
            inputs, pool_size, strides, rank = shaping.expand_dims(inputs, axis), (*pool_size, 1), (*strides, 1), 2
        windows = [[1, *each, 1] if last else [1, 1, *each] for each in (pool_size, strides)]
        functions = pool_functions
        if rank == 3:
            function = functions.max_pool3d if self.greatest else functions.avg_pool3d
        else:
            function = functions.max_pool2d if self.greatest else functions.avg_pool2d
        outputs = function(inputs, *windows, self.padding.upper(), layout(self.data_format, rank))
        return shaping.squeeze(outputs, [2 if last else 3]) if self.rank == 1 else outputs


@api("compat.v1.layers.MaxPooling1D")
class MaxPooling1D(_Pool):
    """The greatest of each window, in one dimension.

    Args:
        pool_size, strides: a number.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".
        name: a name for the layer.
    """

    rank = 1


@api("compat.v1.layers.MaxPooling2D")
class MaxPooling2D(_Pool):
    """The greatest of each window, in two dimensions; the arguments are those of `MaxPooling1D`."""


@api("compat.v1.layers.MaxPooling3D")
class MaxPooling3D(_Pool):
    """The greatest of each window, in three dimensions; the arguments are those of `MaxPooling1D`."""

    rank = 3


@api("compat.v1.layers.AveragePooling1D")
class AveragePooling1D(_Pool):
    """The mean of each window, in one dimension; the arguments are those of `MaxPooling1D`."""

    rank = 1
    greatest = False


@api("compat.v1.layers.AveragePooling2D")
class AveragePooling2D(_Pool):
    """The mean of each window, in two dimensions; the arguments are those of `MaxPooling1D`."""

    greatest = False


@api("compat.v1.layers.AveragePooling3D")
class AveragePooling3D(_Pool):
    """The mean of each window, in three dimensions; the arguments are those of `MaxPooling1D`."""

    rank = 3
    greatest = False


@api("compat.v1.layers.max_pooling1d", dispatch=False)
def max_pooling1d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None) -> Tensor:
    """The output of a `MaxPooling1D` layer."""
    return MaxPooling1D(pool_size, strides, padding, data_format, name)(inputs)


@api("compat.v1.layers.max_pooling2d", dispatch=False)
def max_pooling2d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None) -> Tensor:
    """The output of a `MaxPooling2D` layer.

    >>> tf.compat.v1.layers.max_pooling2d(tf.ones([1, 4, 4, 2]), 2, 2).shape
    TensorShape([1, 2, 2, 2])
    """
    return MaxPooling2D(pool_size, strides, padding, data_format, name)(inputs)


@api("compat.v1.layers.max_pooling3d", dispatch=False)
def max_pooling3d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None) -> Tensor:
    """The output of a `MaxPooling3D` layer."""
    return MaxPooling3D(pool_size, strides, padding, data_format, name)(inputs)


@api("compat.v1.layers.average_pooling1d", dispatch=False)
def average_pooling1d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None) -> Tensor:
    """The output of an `AveragePooling1D` layer."""
    return AveragePooling1D(pool_size, strides, padding, data_format, name)(inputs)


@api("compat.v1.layers.average_pooling2d", dispatch=False)
def average_pooling2d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None) -> Tensor:
    """The output of an `AveragePooling2D` layer."""
    return AveragePooling2D(pool_size, strides, padding, data_format, name)(inputs)


@api("compat.v1.layers.average_pooling3d", dispatch=False)
def average_pooling3d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None) -> Tensor:
    """The output of an `AveragePooling3D` layer."""
    return AveragePooling3D(pool_size, strides, padding, data_format, name)(inputs)
