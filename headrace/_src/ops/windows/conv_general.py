"""The op Conv: a convolution in one to three dims, with any number of batch dims."""

from __future__ import annotations

from functools import partial

from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.op.traits import CONVOLUTION
from headrace._src.ops.arrays.box_slices import SLICE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE, known_rank
from headrace._src.ops.arrays.padding import PAD
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.windows import conv, conv_kernels, conv_rules
from headrace._src.ops.windows.placement import CHANNELS_FIRST, CHANNELS_LAST


def _dims(rank, batch_dims):
    if batch_dims < 1 or not 1 <= rank - batch_dims - 1 <= 3:
        raise errors.invalid_argument(
            f"Conv: input of rank {rank} with batch_dims {batch_dims} must leave 1 to 3 spatial dimensions."
        )
    return rank - batch_dims - 1


def _format(data_format, dims):
    if data_format not in ("CHANNELS_FIRST", "CHANNELS_LAST"):
        raise errors.invalid_argument(
            f"Conv: data_format must be 'CHANNELS_FIRST' or 'CHANNELS_LAST', got {data_format!r}."
        )
    return (CHANNELS_FIRST if data_format == "CHANNELS_FIRST" else CHANNELS_LAST)[dims]


def _plan(x_shape, f_shape, strides, padding, explicit_paddings, data_format, dilations, groups):
    """The plan of the convolution with the batch dims made one."""
    dims = len(x_shape) - 2
    layout, windows = conv_rules.plan(
        "Conv",
        dims,
        tuple(x_shape),
        tuple(f_shape),
        tuple(strides),
        padding,
        tuple(explicit_paddings or ()),
        _format(data_format, dims),
        tuple(dilations or (1,) * len(x_shape)),
    )
    found = x_shape[layout.channel] // f_shape[-2]
    if groups not in (1, found):
        raise errors.invalid_argument(
            f"Conv: groups must be {found}, the channels of input over those of filter, got {groups}."
        )
    return layout, windows


def _flat_shape(shape, batch_dims):
    batch = 1
    for n in shape[:batch_dims]:
        batch *= n
    return (batch, *shape[batch_dims:])


def _convolve(apply, input, filter, batch_dims, **attrs):
    _dims(len(input.shape), batch_dims)
    x = input.reshape(_flat_shape(input.shape, batch_dims))
    layout, windows = _plan(x.shape, filter.shape, **attrs)
    y = apply(x, filter, layout, windows)
    return y.reshape(*input.shape[:batch_dims], *y.shape[1:])


def _kernel(x, filter, layout, windows):
    order, back = layout.to_channels_last, layout.from_channels_last
    y = conv_kernels.forward(x if order is None else x.transpose(order), filter, windows)
    return y if back is None else y.transpose(back)


def _infer(input, filter, strides, padding, explicit_paddings, data_format, dilations, batch_dims, groups):
    if input.shape.rank is None:
        return UNKNOWN
    shape = input.shape.as_list()
    dims = _dims(len(shape), batch_dims)
    layout = conv_rules.layout_of("Conv", _format(data_format, dims), dims)
    flat = conv_rules.infer_windows(
        "Conv",
        layout,
        TensorShape([None, *shape[batch_dims:]]),
        filter.shape,
        strides,
        padding,
        explicit_paddings,
        dilations or [1] * layout.rank,
    )
    return TensorShape([*shape[:batch_dims], *flat.as_list()[1:]])


def _grad(node, dy):
    """Through the ops of the 2-D and 3-D convolution; one dim counts as two."""
    attrs = node.attrs
    batch_dims = attrs["batch_dims"]
    x, f, x_shape = node.input, node.filter, node.input_shape
    rank = known_rank("conv", "input", x)
    dims = _dims(rank, batch_dims)
    first = attrs["data_format"] == "CHANNELS_FIRST"
    strides, dilations = list(attrs["strides"]), list(attrs["dilations"] or [1] * (dims + 2))
    explicit = list(attrs["explicit_paddings"] or ())
    if batch_dims > 1:
        tail = SHAPE(x)[batch_dims:]
        x = RESHAPE(x, CONCAT([[-1], tail], 0))
        dy = RESHAPE(dy, CONCAT([[-1], SHAPE(dy)[batch_dims:]], 0))
    at = 2 if first else 1
    if dims == 1:
        # A row of height 1; padding is none there.
        x, dy, f = (EXPAND_DIMS(t, axis) for t, axis in ((x, at), (dy, at), (f, 0)))
        strides.insert(at, 1)
        dilations.insert(at, 1)
        explicit[2 * at : 2 * at] = [0, 0] if explicit else []
    shared = {
        "strides": strides,
        "dilations": dilations,
        "data_format": (CHANNELS_FIRST if first else CHANNELS_LAST)[max(dims, 2)],
        "padding": attrs["padding"],
    }
    grown = x
    if dims == 3 and shared["padding"] == "EXPLICIT":
        # The 3-D ops know no explicit padding, so it becomes part of the data.
        pairs = [explicit[i : i + 2] for i in range(0, len(explicit), 2)]
        grown, shared["padding"] = PAD(x, pairs), "VALID"
    elif dims < 3:
        shared["explicit_paddings"] = explicit
    to_input, to_filter = (
        (conv.CONV3D_BACKPROP_INPUT, conv.CONV3D_BACKPROP_FILTER)
        if dims == 3
        else (conv.CONV2D_BACKPROP_INPUT, conv.CONV2D_BACKPROP_FILTER)
    )
    dx = df = None
    if node.wants(0):
        dx = to_input(SHAPE(grown), f, dy, **shared)
        if grown is not x:
            dx = SLICE(dx, [pair[0] for pair in pairs], SHAPE(x))
        dx = RESHAPE(dx, x_shape)
    if node.wants(1):
        df = RESHAPE(to_filter(grown, SHAPE(f), dy, **shared), node.filter_shape)
    return dx, df


CONV = Op(
    "Conv",
    "input: T, filter: T, *, strides: list(int), padding: string, explicit_paddings: list(int) = [], "
    'data_format: string = "CHANNELS_LAST", dilations: list(int) = [], batch_dims: int = 1, groups: int = 1 '
    "-> output: T",
    T=conv.FLOAT_OR_INT32,
    infer=_infer,
    kernel=partial(_convolve, _kernel),
    lower=lambda ctx, input, filter, **attrs: _convolve(conv_rules.xla_forward, input, filter, **attrs),
    saves=("input", "filter", "input_shape", "filter_shape"),
    grad=_grad,
    traits=CONVOLUTION,
)


@api("conv")
def conv_nd(
    input,
    filter,
    strides,
    padding,
    explicit_paddings=[],
    data_format="CHANNELS_LAST",
    dilations=[],
    batch_dims=1,
    groups=1,
    name=None,
) -> Tensor:
    """A convolution in one to three spatial dimensions.

    Args:
        input: the data: batch dimensions, then space and channels in the order of `data_format`.
        filter: the filters, of shape (*window, channels / groups, outputs).
        strides: steps of the window: one entry for the batch and each other dimension.
        padding: "SAME", "VALID" or "EXPLICIT".
        explicit_paddings: with "EXPLICIT", before and after for each dimension, in one flat list.
        data_format: "CHANNELS_LAST" or "CHANNELS_FIRST".
        dilations: distances between the taps of the window; empty for 1.
        batch_dims: the number of batch dimensions.
        groups: the number of groups of channels that are convolved separately.
        name: a name for the operation.

    >>> tf.conv(tf.ones((1, 4, 4, 1)), tf.ones((2, 2, 1, 1)), [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 3, 3, 1])
    """
    return CONV(
        input,
        filter,
        strides=strides,
        padding=padding,
        explicit_paddings=list(explicit_paddings),
        data_format=data_format,
        dilations=dilations,
        batch_dims=batch_dims,
        groups=groups,
        name=name,
    )
