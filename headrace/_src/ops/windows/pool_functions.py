"""The public pools: `max_pool`, `avg_pool`, their forms for one to three dims, and `pool`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.windows.conv_functions import expand, is_channels_first, sequence, split_padding, squeeze
from headrace._src.ops.windows.pool import AVG_POOL, AVG_POOL3D, MAX_POOL, MAX_POOL3D, MAX_POOL_WITH_ARGMAX
from headrace._src.ops.windows.space_batch import with_space_to_batch

if TYPE_CHECKING:
    from headrace._src.attached import MaxPoolWithArgmax


def _plain_padding(function, padding):
    if not isinstance(padding, str):
        raise TypeError(f"{function}: padding must be 'SAME' or 'VALID', got {padding!r}.")
    return padding


def _sizes(ksize, strides, dims, data_format):
    channel = 1 if is_channels_first(data_format) else dims + 1
    return {
        "ksize": sequence(ksize, dims, channel, "ksize"),
        "strides": sequence(strides, dims, channel, "strides"),
    }


def _format_1d(function, data_format):
    try:
        return {"NWC": "NHWC", "NCW": "NCHW"}[data_format]
    except KeyError:
        raise errors.invalid_argument(
            f"{function}: data_format must be 'NWC' or 'NCW', got {data_format!r}."
        ) from None


def _pool_1d(function, op, input, ksize, strides, padding, explicit, data_format, name):
    """Pools rows of height 1."""
    wide = _format_1d(function, data_format)
    at = 2 if wide == "NCHW" else 1
    attrs = {key: [1, *sizes] for key, sizes in _sizes(ksize, strides, 1, data_format).items()}
    if explicit:
        explicit[2 * at : 2 * at] = [0, 0]
        attrs["explicit_paddings"] = explicit
    x = to_tensor(input)
    if x.shape.rank is not None and x.shape.rank != 3:
        raise errors.invalid_argument(f"{function}: input must have 3 dimensions, got shape {x.shape}.")
    return squeeze(op(expand(x, at), padding=padding, data_format=wide, name=name, **attrs), at)


@api("nn.max_pool1d")
def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None) -> Tensor:
    """The maximum of each window along one axis.

    Args:
        input: data of shape (batch, width, channels), or (batch, channels, width) for "NCW".
        ksize: the size of the window: a number, or a list of 1 or 3.
        strides: the step of the window: a number, or a list of 1 or 3.
        padding: "SAME", "VALID", or a list of (before, after) pairs for all three dimensions.
        data_format: "NWC" or "NCW".
        name: a name for the operation.

    >>> tf.nn.max_pool1d([[[1.0], [5.0], [2.0], [0.0]]], 2, 2, "VALID").numpy().tolist()
    [[[5.0], [2.0]]]
    """
    padding, explicit = split_padding(padding, 3)
    return _pool_1d("max_pool1d", MAX_POOL, input, ksize, strides, padding, explicit, data_format, name)


@api("nn.max_pool2d")
def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None) -> Tensor:
    """The maximum of each window of rows and columns.

    Args:
        input: data of shape (batch, rows, columns, channels), or (batch, channels, rows, columns) for "NCHW".
        ksize: the size of the window: a number, or a list of 1, 2 or 4.
        strides: the step of the window: a number, or a list of 1, 2 or 4.
        padding: "SAME", "VALID", or a list of (before, after) pairs for all four dimensions; padding takes no
            part in the maximum.
        data_format: "NHWC" or "NCHW".
        name: a name for the operation.

    >>> x = tf.reshape(tf.range(16.0), (1, 4, 4, 1))
    >>> tf.nn.max_pool2d(x, ksize=2, strides=2, padding="SAME")[0, :, :, 0].numpy().tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """
    padding, explicit = split_padding(padding, 4)
    data_format = "NHWC" if data_format is None else data_format
    sizes = _sizes(ksize, strides, 2, data_format)
    return MAX_POOL(
        input, padding=padding, explicit_paddings=explicit, data_format=data_format, name=name, **sizes
    )


@api("nn.max_pool3d")
def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None) -> Tensor:
    """The maximum of each window of depth, rows and columns.

    Args:
        input: data of shape (batch, depth, rows, columns, channels), or channels second for "NCDHW".
        ksize: the size of the window: a number, or a list of 1, 3 or 5.
        strides: the step of the window: a number, or a list of 1, 3 or 5.
        padding: "SAME" or "VALID"; padding takes no part in the maximum.
        data_format: "NDHWC" or "NCDHW".
        name: a name for the operation.

    >>> tf.nn.max_pool3d(tf.ones((1, 4, 4, 4, 1)), 2, 2, "VALID").shape
    TensorShape([1, 2, 2, 2, 1])
    """
    data_format = "NDHWC" if data_format is None else data_format
    sizes = _sizes(ksize, strides, 3, data_format)
    padding = _plain_padding("max_pool3d", padding)
    return MAX_POOL3D(input, padding=padding, data_format=data_format, name=name, **sizes)


@api("nn.avg_pool1d")
def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None) -> Tensor:
    """The mean of each window along one axis; padding is not counted.

    Args:
        input: data of shape (batch, width, channels), or (batch, channels, width) for "NCW".
        ksize: the size of the window: a number, or a list of 1 or 3.
        strides: the step of the window: a number, or a list of 1 or 3.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW".
        name: a name for the operation.

    >>> tf.nn.avg_pool1d([[[1.0], [5.0], [2.0], [0.0]]], 2, 2, "VALID").numpy().tolist()
    [[[3.0], [1.0]]]
    """
    padding = _plain_padding("avg_pool1d", padding)
    return _pool_1d("avg_pool1d", AVG_POOL, input, ksize, strides, padding, None, data_format, name)


@api("nn.avg_pool2d")
def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None) -> Tensor:
    """The mean of each window of rows and columns; padding is not counted.

    Args:
        input: data of shape (batch, rows, columns, channels), or (batch, channels, rows, columns) for "NCHW".
        ksize: the size of the window: a number, or a list of 1, 2 or 4.
        strides: the step of the window: a number, or a list of 1, 2 or 4.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".
        name: a name for the operation.

    >>> x = tf.reshape(tf.range(16.0), (1, 4, 4, 1))
    >>> tf.nn.avg_pool2d(x, ksize=2, strides=2, padding="SAME")[0, :, :, 0].numpy().tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """
    data_format = "NHWC" if data_format is None else data_format
    sizes = _sizes(ksize, strides, 2, data_format)
    padding = _plain_padding("avg_pool2d", padding)
    return AVG_POOL(input, padding=padding, data_format=data_format, name=name, **sizes)


@api("nn.avg_pool3d")
def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None) -> Tensor:
    """The mean of each window of depth, rows and columns; padding is not counted.

    Args:
        input: data of shape (batch, depth, rows, columns, channels), or channels second for "NCDHW".
        ksize: the size of the window: a number, or a list of 1, 3 or 5.
        strides: the step of the window: a number, or a list of 1, 3 or 5.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        name: a name for the operation.

    >>> tf.nn.avg_pool3d(tf.ones((1, 4, 4, 4, 1)), 2, 2, "VALID").shape
    TensorShape([1, 2, 2, 2, 1])
    """
    data_format = "NDHWC" if data_format is None else data_format
    sizes = _sizes(ksize, strides, 3, data_format)
    padding = _plain_padding("avg_pool3d", padding)
    return AVG_POOL3D(input, padding=padding, data_format=data_format, name=name, **sizes)


_DEFAULT_FORMATS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
_MAX_POOLS = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}
_AVG_POOLS = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}


def _dims(function, x):
    rank = x.shape.rank
    if rank is None or not 3 <= rank <= 5:
        raise ValueError(f"{function}: input must have 3, 4 or 5 dimensions, got shape {x.shape}.")
    return rank - 2


@api("nn.max_pool")
def max_pool(input, ksize, strides, padding, data_format=None, name=None) -> Tensor:
    """The maximum of each window, in one, two or three spatial dimensions.

    Args:
        input: data of shape (batch, *space, channels), or (batch, channels, *space) if `data_format`
            begins with "NC".
        ksize: the size of the window: a number, or a list with one per spatial dimension or per dimension.
        strides: the step of the window, given like `ksize`.
        padding: "SAME", "VALID", or, for one or two spatial dimensions, a list of (before, after) pairs
            for all dimensions.
        data_format: None or the format's name.
        name: a name for the operation.

    >>> tf.nn.max_pool(tf.ones((1, 4, 4, 1)), ksize=2, strides=2, padding="SAME").shape
    TensorShape([1, 2, 2, 1])
    """
    input = to_tensor(input)
    dims = _dims("max_pool", input)
    if dims == 3 and not isinstance(padding, str):
        raise ValueError(f"max_pool: padding must be 'SAME' or 'VALID' in three dimensions, got {padding!r}.")
    data_format = _DEFAULT_FORMATS[dims] if data_format is None else data_format
    return _MAX_POOLS[dims](input, ksize, strides, padding, data_format, name=name)


@api("nn.avg_pool")
def avg_pool(input, ksize, strides, padding, data_format=None, name=None) -> Tensor:
    """The mean of each window, in one, two or three spatial dimensions; padding is not counted.

    Args:
        input: data of shape (batch, *space, channels), or (batch, channels, *space) if `data_format`
            begins with "NC".
        ksize: the size of the window: a number, or a list with one per spatial dimension or per dimension.
        strides: the step of the window, given like `ksize`.
        padding: "SAME" or "VALID".
        data_format: None or the format's name.
        name: a name for the operation.

    >>> tf.nn.avg_pool(tf.ones((1, 4, 4, 1)), ksize=2, strides=2, padding="SAME").shape
    TensorShape([1, 2, 2, 1])
    """
    input = to_tensor(input)
    dims = _dims("avg_pool", input)
    data_format = _DEFAULT_FORMATS[dims] if data_format is None else data_format
    return _AVG_POOLS[dims](input, ksize, strides, padding, data_format, name=name)


@api("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input,
    ksize,
    strides,
    padding,
    data_format="NHWC",
    output_dtype=dtypes.int64,
    include_batch_in_index=False,
    name=None,
) -> MaxPoolWithArgmax:
    """The maximum of each window of rows and columns, and where it is.

    Args:
        input: data of shape (batch, rows, columns, channels).
        ksize: the size of the window: a number, or a list of 1, 2 or 4.
        strides: the step of the window: a number, or a list of 1, 2 or 4.
        padding: "SAME" or "VALID".
        data_format: "NHWC".
        output_dtype: the type of the positions, int32 or int64.
        include_batch_in_index: whether positions count over the whole batch, or within each image.
        name: a name for the operation.

    Returns:
        The maxima, and their positions in the flattened input.

    >>> x = [[[[1.0], [5.0], [2.0], [0.0]]]]
    >>> maxima, positions = tf.nn.max_pool_with_argmax(x, (1, 2), (1, 2), "VALID")
    >>> positions.numpy().ravel()
    array([1, 2])
    """
    if data_format != "NHWC":
        raise ValueError(f"max_pool_with_argmax: data_format must be 'NHWC', got {data_format!r}.")
    padding = _plain_padding("max_pool_with_argmax", padding)
    return MAX_POOL_WITH_ARGMAX(
        input,
        Targmax=dtypes.as_dtype(output_dtype),
        padding=padding,
        include_batch_in_index=include_batch_in_index,
        name=name,
        **_sizes(ksize, strides, 2, data_format),
    )


def _spatial(name, values, dims):
    values = [1] * dims if values is None else [int(v) for v in values]
    if len(values) != dims:
        raise ValueError(f"pool: {name} must have {dims} entries, as window_shape has, got {values}.")
    if min(values) < 1:
        raise ValueError(f"pool: {name} must be positive, got {values}.")
    return values


@api("nn.pool")
def pool(
    input,
    window_shape,
    pooling_type,
    strides=None,
    padding="VALID",
    data_format=None,
    dilations=None,
    name=None,
) -> Tensor:
    """Maxima or means of windows in one, two or three spatial dimensions, with gaps if wanted.

    Args:
        input: data of shape (batch, *space, channels), or (batch, channels, *space) if `data_format`
            begins with "NC".
        window_shape: the window's size in each spatial dimension.
        pooling_type: "AVG" or "MAX".
        strides: the window's steps; None for 1.
        padding: "SAME" or "VALID"; with dilations only "VALID".
        data_format: None or the format's name.
        dilations: the distances between the positions of a window; None for 1.
        name: a name for the operation.

    Raises:
        ValueError: the arguments do not fit, or `strides` and `dilations` are both more than 1.

    >>> tf.nn.pool([[[1.0], [5.0], [2.0], [0.0]]], [2], "MAX", dilations=[2]).numpy().ravel()
    array([2., 5.], dtype=float32)
    """
    dims = len(window_shape)
    if dims not in (1, 2, 3):
        raise ValueError(f"pool: window_shape must have 1, 2 or 3 entries, got {window_shape}.")
    if pooling_type not in ("AVG", "MAX"):
        raise ValueError(f"pool: pooling_type must be 'AVG' or 'MAX', got {pooling_type!r}.")
    steps, rates = _spatial("strides", strides, dims), _spatial("dilations", dilations, dims)
    if max(steps) > 1 and max(rates) > 1:
        raise ValueError(
            f"pool: strides and dilations must not both be more than 1, got {steps} and {rates}."
        )
    if any(step > size for step, size in zip(steps, window_shape, strict=True)):
        raise ValueError(f"pool: strides must not exceed window_shape, got {steps} and {list(window_shape)}.")
    if max(rates) > 1 and padding == "SAME":
        raise ValueError("pool: padding 'SAME' goes with dilations of 1 only, pad the input instead.")
    input = to_tensor(input)
    if input.shape.rank is not None and input.shape.rank != dims + 2:
        raise ValueError(f"pool: input must have {dims + 2} dimensions, got shape {input.shape}.")
    function = (_MAX_POOLS if pooling_type == "MAX" else _AVG_POOLS)[dims]
    data_format = _DEFAULT_FORMATS[dims] if data_format is None else data_format

    def apply(x, num_spatial_dims, padding):
        return function(x, list(window_shape), steps, padding, data_format, name=name)

    return with_space_to_batch(input, rates, padding, apply, window_shape, data_format=data_format)
