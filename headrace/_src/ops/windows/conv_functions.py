"""The public convolutions: `conv1d`, `conv2d`, `conv3d`, their transposes, and the N-dimensional ones."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes, types
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.infer import whole
from headrace._src.op.options import real
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE
from headrace._src.ops.windows.conv import CONV2D, CONV2D_BACKPROP_INPUT, CONV3D, CONV3D_BACKPROP_INPUT


def sequence(value, dims: int, channel: int, name: str, number=int) -> list:
    """Strides and the like as users give them, with one entry per dimension of the data.

    Args:
        value: None for 1, a number, or a list of 1, `dims` or `dims + 2` numbers.
        dims: the number of spatial dimensions.
        channel: the axis of the channels.
        name: the argument's name, for the message.
        number: `int` or `float`.
    """
    if value is None:
        value = [1]
    elif type(value) is int:
        value = [value]
    elif isinstance(value, (types.Tensor, set, frozenset, dict)):  # TF: sizes are no tensors
        raise TypeError(f"{name} must be a number or a list of numbers, got {value!r}.")
    elif np.ndim(value) == 0:
        value = [whole(value, name) if number is int else real(name, value)]
    value = [number(v) for v in value]
    if len(value) == dims + 2:
        return value
    if len(value) == 1:
        value = value * dims
    elif len(value) != dims:
        raise ValueError(f"{name} must have 1, {dims} or {dims + 2} entries, got {value}.")
    one = number(1)
    return [one, one, *value] if channel == 1 else [one, *value, one]


def split_padding(padding, rank: int) -> tuple[str, list[int]]:
    """A `padding` argument as the attributes `padding` and `explicit_paddings`."""
    if isinstance(padding, str):
        if padding == "EXPLICIT":
            raise ValueError("padding must be 'SAME', 'VALID' or a list of pairs, got 'EXPLICIT'.")
        return padding, []
    if not isinstance(padding, (list, tuple, np.ndarray)):
        raise TypeError(f"padding must be a string or a list of pairs, got {padding!r}.")
    for pair in padding:
        if not isinstance(pair, (list, tuple, np.ndarray)) or len(pair) != 2:
            raise ValueError(f"padding must be a list of pairs, got {padding}.")
    if len(padding) != rank:
        raise ValueError(f"padding must have {rank} pairs, one per dimension, got {padding}.")
    return "EXPLICIT", [int(n) for pair in padding for n in pair]


def is_channels_first(data_format) -> bool:
    return data_format is not None and data_format.startswith("NC")


def expand(x, axis: int):
    """`x` with an axis of length 1 put in."""
    shape = x.shape
    if shape.is_fully_defined():
        dims = shape.as_list()
        at = axis if axis >= 0 else axis + len(dims) + 1
        return RESHAPE(x, (*dims[:at], 1, *dims[at:]))
    return EXPAND_DIMS(x, axis)


def squeeze(x, axis: int):
    """`x` without an axis of length 1."""
    shape = x.shape
    if shape.is_fully_defined():
        dims = shape.as_list()
        at = axis % len(dims)
        return RESHAPE(x, (*dims[:at], *dims[at + 1 :]))
    return SQUEEZE(x, squeeze_dims=[axis])


def with_one_batch_dim(x, rank: int, convolve):
    """Applies `convolve` to `x` with all dims before the last `rank - 1` made one."""
    found = x.shape.rank
    if found is None or found <= rank:
        return convolve(x)
    batch_dims = found - rank + 1
    if x.shape.is_fully_defined():
        dims = x.shape.as_list()
        y = convolve(RESHAPE(x, (-1, *dims[batch_dims:]) if 0 not in dims else _flattened(dims, batch_dims)))
        return RESHAPE(y, (*dims[:batch_dims], *y.shape.as_list()[1:]))
    y = convolve(RESHAPE(x, CONCAT([[-1], SHAPE(x)[batch_dims:]], 0)))
    return RESHAPE(y, CONCAT([SHAPE(x)[:batch_dims], SHAPE(y)[1:]], 0))


def _flattened(dims, batch_dims):
    return (int(np.prod(dims[:batch_dims])), *dims[batch_dims:])


def dtype_of(x):
    """The dtype of a tensor, variable or array; None for what has none."""
    dtype = getattr(x, "dtype", None)
    return None if dtype is None else dtypes.as_dtype(dtype)


@api("nn.conv2d")
def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None) -> Tensor:
    """A 2-D convolution.

    Args:
        input: data of shape (..., rows, columns, channels), or (..., channels, rows, columns) for "NCHW".
        filters: of shape (rows, columns, channels / groups, outputs): where the filters have fewer channels
            than the input, groups of channels are convolved separately.
        strides: the step of the window: a number, or a list of 1, 2 or 4.
        padding: "SAME", "VALID", or a list of (before, after) pairs for all four dimensions.
        data_format: "NHWC" or "NCHW".
        dilations: the distance between taps of the window, given as strides are.
        name: a name for the operation.

    Returns:
        A tensor of shape (..., rows, columns, outputs), of the input's type.

    Raises:
        InvalidArgumentError: shapes, strides or dilations do not fit.

    >>> x = tf.reshape(tf.range(9.0), (1, 3, 3, 1))
    >>> tf.nn.conv2d(x, tf.ones((2, 2, 1, 1)), strides=1, padding="VALID")[0, :, :, 0].numpy().tolist()
    [[8.0, 12.0], [20.0, 24.0]]
    """
    data_format = "NHWC" if data_format is None else data_format
    channel = 1 if is_channels_first(data_format) else 3
    strides = sequence(strides, 2, channel, "strides")
    dilations = sequence(dilations, 2, channel, "dilations")
    padding, explicit = split_padding(padding, 4)
    if type(input) is not EagerTensor:
        input = to_tensor(input, hint=dtype_of(filters))

    def convolve(x):
        return CONV2D(
            x,
            filters,
            strides=strides,
            padding=padding,
            explicit_paddings=explicit,
            data_format=data_format,
            dilations=dilations,
            use_cudnn_on_gpu=True,  # all attributes given: none to fill in
            name=name,
        )

    return with_one_batch_dim(input, 4, convolve)


_FORMATS_1D = {None: "NHWC", "NWC": "NHWC", "NHWC": "NHWC", "NCW": "NCHW", "NCHW": "NCHW"}


def _format_1d(data_format):
    try:
        return _FORMATS_1D[data_format]
    except KeyError:
        raise ValueError(f"conv1d: data_format must be 'NWC' or 'NCW', got {data_format!r}.") from None


def _padding_1d(padding, at):
    """Explicit padding of three dimensions for four, of which the one at `at` has length 1."""
    padding, explicit = split_padding(padding, 3)
    if explicit:
        explicit[2 * at : 2 * at] = [0, 0]
    return padding, explicit


@api("nn.conv1d")
def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None) -> Tensor:
    """A 1-D convolution.

    Args:
        input: data of shape (..., width, channels), or (..., channels, width) for "NCW".
        filters: of shape (width, channels / groups, outputs).
        stride: the step of the window: a number, or a list of 1 or 3.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW".
        dilations: the distance between taps of the window.
        name: a name for the operation.

    >>> tf.nn.conv1d(tf.reshape(tf.range(4.0), (1, 4, 1)), tf.ones((2, 1, 1)), 1, "VALID")[0, :, 0].numpy()
    array([1., 3., 5.], dtype=float32)
    """
    data_format = _format_1d(data_format)
    channel, at = (1, 2) if data_format == "NCHW" else (2, 1)
    strides = sequence(stride, 1, channel, "stride")
    rates = sequence(dilations, 1, channel, "dilations")
    padding, explicit = _padding_1d(padding, at)
    strides.insert(at, 1)
    rates.insert(at, 1)
    axis = -2 if data_format == "NCHW" else -3
    input = to_tensor(input, hint=dtype_of(filters))
    filters = to_tensor(filters, hint=input.dtype)

    def convolve(x):
        return CONV2D(
            x,
            expand(filters, 0),
            strides=strides,
            padding=padding,
            explicit_paddings=explicit,
            data_format=data_format,
            dilations=rates,
            name=name,
        )

    return squeeze(with_one_batch_dim(expand(input, axis), 4, convolve), axis)


@api("nn.conv3d")
def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None) -> Tensor:
    """A 3-D convolution.

    Args:
        input: data of shape (..., depth, rows, columns, channels), or (..., channels, depth, rows, columns)
            for "NCDHW".
        filters: of shape (depth, rows, columns, channels / groups, outputs).
        strides: the steps of the window, five numbers.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        dilations: the distances between taps of the window, five numbers.
        name: a name for the operation.

    >>> tf.nn.conv3d(tf.ones((1, 3, 3, 3, 1)), tf.ones((2, 2, 2, 1, 4)), [1, 1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 2, 4])
    """
    if not isinstance(padding, str):
        raise TypeError(f"conv3d: padding must be 'SAME' or 'VALID', got {padding!r}.")
    dilations = [1] * 5 if dilations is None else dilations
    input = to_tensor(input, hint=dtype_of(filters))

    def convolve(x):
        return CONV3D(
            x,
            filters,
            strides=strides,
            padding=padding,
            data_format="NDHWC" if data_format is None else data_format,
            dilations=dilations,
            name=name,
        )

    return with_one_batch_dim(input, 5, convolve)


@api("nn.conv2d_transpose")
def conv2d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NHWC", dilations=None, name=None
) -> Tensor:
    """The transpose of `conv2d`: what its gradient by the input computes, "deconvolution".

    Args:
        input: data of shape (batch, rows, columns, channels), or (batch, channels, rows, columns) for "NCHW".
        filters: of shape (rows, columns, outputs, channels).
        output_shape: the result's shape, which `conv2d` would map to the input's.
        strides: the step of the window: a number, or a list of 1, 2 or 4.
        padding: "SAME", "VALID", or a list of (before, after) pairs for all four dimensions.
        data_format: "NHWC" or "NCHW".
        dilations: the distance between taps of the window, given as strides are.
        name: a name for the operation.

    >>> x = tf.ones((1, 2, 2, 1))
    >>> tf.nn.conv2d_transpose(x, tf.ones((2, 2, 3, 1)), (1, 4, 4, 3), strides=2).shape
    TensorShape([1, 4, 4, 3])
    """
    data_format = "NHWC" if data_format is None else data_format
    channel = 1 if is_channels_first(data_format) else 3
    padding, explicit = split_padding(padding, 4)
    return CONV2D_BACKPROP_INPUT(
        output_shape,
        filters,
        input,
        strides=sequence(strides, 2, channel, "strides"),
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=sequence(dilations, 2, channel, "dilations"),
        name=name,
    )


@api("nn.conv1d_transpose")
def conv1d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None, name=None
) -> Tensor:
    """The transpose of `conv1d`.

    Args:
        input: data of shape (batch, width, channels), or (batch, channels, width) for "NCW".
        filters: of shape (width, outputs, channels).
        output_shape: the result's shape, which `conv1d` would map to the input's.
        strides: the step of the window: a number, or a list of 1 or 3.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW".
        dilations: the distance between taps of the window.
        name: a name for the operation.

    >>> tf.nn.conv1d_transpose(tf.ones((1, 3, 1)), tf.ones((2, 1, 1)), (1, 6, 1), 2)[0, :, 0].numpy()
    array([1., 1., 1., 1., 1., 1.], dtype=float32)
    """
    data_format = _format_1d(data_format)
    channel, at = (1, 2) if data_format == "NCHW" else (2, 1)
    strides = sequence(strides, 1, channel, "strides")
    rates = sequence(dilations, 1, channel, "dilations")
    strides.insert(at, 1)
    rates.insert(at, 1)
    padding, explicit = _padding_1d(padding, at)
    if isinstance(output_shape, (list, tuple)):
        output_shape = [*output_shape[:at], 1, *output_shape[at:]]
    else:
        output_shape = to_tensor(output_shape)
        output_shape = CONCAT([output_shape[:at], [1], output_shape[at:]], 0)
    input = to_tensor(input, hint=dtype_of(filters))
    filters = to_tensor(filters, hint=input.dtype)
    y = CONV2D_BACKPROP_INPUT(
        output_shape,
        expand(filters, 0),
        expand(input, at),
        strides=strides,
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=rates,
        name=name,
    )
    return squeeze(y, at)


@api("nn.conv3d_transpose")
def conv3d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=None, name=None
) -> Tensor:
    """The transpose of `conv3d`.

    Args:
        input: data of shape (batch, depth, rows, columns, channels), or channels second for "NCDHW".
        filters: of shape (depth, rows, columns, outputs, channels).
        output_shape: the result's shape, which `conv3d` would map to the input's.
        strides: the step of the window: a number, or a list of 1, 3 or 5.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        dilations: the distance between taps of the window, given as strides are.
        name: a name for the operation.

    >>> x = tf.ones((1, 2, 2, 2, 1))
    >>> tf.nn.conv3d_transpose(x, tf.ones((2, 2, 2, 1, 1)), (1, 4, 4, 4, 1), 2).shape
    TensorShape([1, 4, 4, 4, 1])
    """
    data_format = "NDHWC" if data_format is None else data_format
    channel = 1 if is_channels_first(data_format) else 4
    return CONV3D_BACKPROP_INPUT(
        output_shape,
        filters,
        input,
        strides=sequence(strides, 3, channel, "strides"),
        padding=padding,
        data_format=data_format,
        dilations=sequence(dilations, 3, channel, "dilations"),
        name=name,
    )


_TRANSPOSES = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}


@api("nn.conv_transpose")
def conv_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format=None, dilations=None, name=None
) -> Tensor:
    """The transpose of a convolution in as many spatial dimensions as `output_shape` says.

    Args:
        input: data of shape (batch, *space, channels), or (batch, channels, *space) if `data_format`
            begins with "NC".
        filters: of shape (*window, outputs, channels).
        output_shape: the result's shape: 3, 4 or 5 numbers.
        strides: the step of the window.
        padding: "SAME" or "VALID".
        data_format: None or the format's name.
        dilations: the distance between taps of the window.
        name: a name for the operation.

    >>> tf.nn.conv_transpose(tf.ones((1, 3, 1)), tf.ones((2, 1, 1)), (1, 6, 1), 2).shape
    TensorShape([1, 6, 1])
    """
    if hasattr(output_shape, "shape"):
        length = output_shape.shape[0] if len(output_shape.shape) == 1 else 0
    else:
        length = len(output_shape)
    if length not in (3, 4, 5):
        raise ValueError(f"conv_transpose: output_shape must have 3, 4 or 5 entries, got {output_shape}.")
    dims = length - 2
    if data_format is None:
        data_format = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[dims]
    return _TRANSPOSES[dims](
        input, filters, output_shape, strides, padding, data_format, dilations, name=name
    )


@api("nn.convolution")
def convolution(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None) -> Tensor:
    """A convolution in one, two or three spatial dimensions, as many as the filters have.

    Args:
        input: data of shape (..., *space, channels), or (..., channels, *space) if `data_format`
            begins with "NC".
        filters: of shape (*window, channels / groups, outputs).
        strides: the step of the window: a number, or one per spatial dimension.
        padding: "SAME" or "VALID".
        data_format: None or the format's name.
        dilations: the distance between taps of the window, given as strides are.
        name: a name for the operation.

    Raises:
        ValueError: the filters have no or more than three spatial dimensions.

    >>> tf.nn.convolution(tf.ones((1, 5, 5, 2)), tf.ones((3, 3, 2, 4)), padding="SAME").shape
    TensorShape([1, 5, 5, 4])
    """
    input = to_tensor(input, hint=dtype_of(filters))
    filters = to_tensor(filters, hint=input.dtype)
    rank = filters.shape.rank
    if rank is None:
        rank = input.shape.rank
    if rank is None:
        raise ValueError("convolution: the rank of input or of filters must be known.")
    dims = rank - 2
    if dims not in (1, 2, 3):
        raise ValueError(f"convolution: filters must have 3, 4 or 5 dimensions, got shape {filters.shape}.")
    if dims == 1:
        return conv1d(input, filters, strides, padding, data_format, dilations, name=name)
    if not isinstance(padding, str):
        raise TypeError(f"padding must be 'SAME' or 'VALID', got {padding!r}.")
    channel = 1 if is_channels_first(data_format) else dims + 1
    strides = sequence(strides, dims, channel, "strides")
    dilations = sequence(dilations, dims, channel, "dilations")
    convolve = conv2d if dims == 2 else conv3d
    return convolve(input, filters, strides, padding, data_format, dilations, name=name)


@api("nn.atrous_conv2d")
def atrous_conv2d(value, filters, rate, padding, name=None) -> Tensor:
    """A 2-D convolution whose window has holes: its taps are `rate` positions apart.

    Args:
        value: data of shape (batch, rows, columns, channels).
        filters: of shape (rows, columns, channels, outputs).
        rate: the distance between taps, at least 1.
        padding: "SAME" or "VALID".
        name: a name for the operation.

    >>> tf.nn.atrous_conv2d(tf.ones((1, 5, 5, 1)), tf.ones((3, 3, 1, 1)), 2, "VALID").numpy().tolist()
    [[[[9.0]]]]
    """
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"atrous_conv2d: padding must be 'SAME' or 'VALID', got {padding!r}.")
    if rate < 1:
        raise ValueError(f"atrous_conv2d: rate must be at least 1, got {rate}.")
    return conv2d(value, filters, 1, padding, dilations=rate, name=name)


@api("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None) -> Tensor:
    """The transpose of `atrous_conv2d`.

    Args:
        value: data of shape (batch, rows, columns, channels).
        filters: of shape (rows, columns, outputs, channels).
        output_shape: the result's shape, four numbers.
        rate: the distance between taps, at least 1.
        padding: "SAME" or "VALID".
        name: a name for the operation.

    >>> filters = tf.ones((3, 3, 1, 1))
    >>> tf.nn.atrous_conv2d_transpose(tf.ones((1, 1, 1, 1)), filters, (1, 5, 5, 1), 2, "VALID").shape
    TensorShape([1, 5, 5, 1])
    """
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"atrous_conv2d_transpose: padding must be 'SAME' or 'VALID', got {padding!r}.")
    if rate < 1:
        raise ValueError(f"atrous_conv2d_transpose: rate must be at least 1, got {rate}.")
    value = to_tensor(value, hint=dtype_of(filters))
    filters = to_tensor(filters, hint=value.dtype)
    if value.shape.rank == 4 and filters.shape.rank == 4 and value.shape[3] != filters.shape[3]:
        raise ValueError(
            "atrous_conv2d_transpose: value and filters must have the same channels, "
            f"got shapes {value.shape} and {filters.shape}."
        )
    output_shape = to_tensor(output_shape)
    if output_shape.shape.rank != 1 or output_shape.shape[0] != 4:
        raise ValueError(
            f"atrous_conv2d_transpose: output_shape must have 4 entries, got shape {output_shape.shape}."
        )
    return conv2d_transpose(value, filters, output_shape, 1, padding, dilations=rate, name=name)
