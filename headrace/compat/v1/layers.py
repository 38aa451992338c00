"""The public names of `tf.compat.v1.layers`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.layers.base import InputSpec as InputSpec
    from headrace._src.compat.layers.base import Layer as Layer
    from headrace._src.compat.layers.batch_normalization import BatchNormalization as BatchNormalization
    from headrace._src.compat.layers.batch_normalization import batch_normalization as batch_normalization
    from headrace._src.compat.layers.convolution_functions import conv1d as conv1d
    from headrace._src.compat.layers.convolution_functions import conv2d as conv2d
    from headrace._src.compat.layers.convolution_functions import conv2d_transpose as conv2d_transpose
    from headrace._src.compat.layers.convolution_functions import conv3d as conv3d
    from headrace._src.compat.layers.convolution_functions import conv3d_transpose as conv3d_transpose
    from headrace._src.compat.layers.convolution_functions import separable_conv1d as separable_conv1d
    from headrace._src.compat.layers.convolution_functions import separable_conv2d as separable_conv2d
    from headrace._src.compat.layers.convolutions import Conv1D as Conv1D
    from headrace._src.compat.layers.convolutions import Conv2D as Conv2D
    from headrace._src.compat.layers.convolutions import Conv2DTranspose as Conv2DTranspose
    from headrace._src.compat.layers.convolutions import Conv3D as Conv3D
    from headrace._src.compat.layers.convolutions import Conv3DTranspose as Conv3DTranspose
    from headrace._src.compat.layers.convolutions import SeparableConv1D as SeparableConv1D
    from headrace._src.compat.layers.convolutions import SeparableConv2D as SeparableConv2D
    from headrace._src.compat.layers.dense import Dense as Dense
    from headrace._src.compat.layers.dense import Dropout as Dropout
    from headrace._src.compat.layers.dense import Flatten as Flatten
    from headrace._src.compat.layers.dense import dense as dense
    from headrace._src.compat.layers.dense import dropout as dropout
    from headrace._src.compat.layers.dense import flatten as flatten
    from headrace._src.compat.layers.pools import AveragePooling1D as AveragePooling1D
    from headrace._src.compat.layers.pools import AveragePooling2D as AveragePooling2D
    from headrace._src.compat.layers.pools import AveragePooling3D as AveragePooling3D
    from headrace._src.compat.layers.pools import MaxPooling1D as MaxPooling1D
    from headrace._src.compat.layers.pools import MaxPooling2D as MaxPooling2D
    from headrace._src.compat.layers.pools import MaxPooling3D as MaxPooling3D
    from headrace._src.compat.layers.pools import average_pooling1d as average_pooling1d
    from headrace._src.compat.layers.pools import average_pooling2d as average_pooling2d
    from headrace._src.compat.layers.pools import average_pooling3d as average_pooling3d
    from headrace._src.compat.layers.pools import max_pooling1d as max_pooling1d
    from headrace._src.compat.layers.pools import max_pooling2d as max_pooling2d
    from headrace._src.compat.layers.pools import max_pooling3d as max_pooling3d
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
