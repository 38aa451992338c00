"""Grey-scale dilation and erosion: the ops and the public functions."""

from __future__ import annotations

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.ops.arrays.rearranging import REVERSE
from headrace._src.ops.math.arithmetic import negative
from headrace._src.ops.windows import conv_rules, morphology_kernels
from headrace._src.ops.windows.lowering import chosen_taps, tap_values, to_chosen
from headrace._src.ops.windows.placement import LAYOUTS, check_elements, resolve, spatial_entries

_NHWC = LAYOUTS["NHWC"]


def _windows(op, input_shape, filter_shape, strides, rates, padding):
    if len(input_shape) != 4 or len(filter_shape) != 3:
        raise errors.invalid_argument(
            f"{op}: input must have 4 dimensions and filter 3, got shapes {input_shape} and {filter_shape}."
        )
    if input_shape[3] != filter_shape[2]:
        raise errors.invalid_argument(
            f"{op}: input and filter must have the same channels, got {input_shape} and {filter_shape}."
        )
    if padding not in ("SAME", "VALID"):
        raise errors.invalid_argument(f"{op}: padding must be 'SAME' or 'VALID', got {padding!r}.")
    stride = spatial_entries(op, "strides", strides, _NHWC)
    rate = spatial_entries(op, "rates", rates, _NHWC)
    windows = resolve(op, tuple(input_shape[1:3]), tuple(filter_shape[:2]), stride, rate, padding, None)
    check_elements(op, "the result's shape", (input_shape[0], *windows.output, input_shape[3]))
    return windows


def _gradient_windows(op, input_shape, filter_shape, dy_shape, strides, rates, padding):
    windows = _windows(op, input_shape, filter_shape, strides, rates, padding)
    wanted = (input_shape[0], *windows.output, input_shape[3])
    if tuple(dy_shape) != wanted:
        raise errors.invalid_argument(f"{op}: out_backprop must have shape {wanted}, got {tuple(dy_shape)}.")
    return windows


def _dilation(input, filter, **attrs):
    windows = _windows("Dilation2D", input.shape, filter.shape, **attrs)
    return morphology_kernels.dilation(input, filter, windows)


def _input_gradient(input, filter, out_backprop, **attrs):
    windows = _gradient_windows(
        "Dilation2DBackpropInput", input.shape, filter.shape, out_backprop.shape, **attrs
    )
    return morphology_kernels.input_gradient(input, filter, out_backprop, windows)


def _filter_gradient(input, filter, out_backprop, **attrs):
    windows = _gradient_windows(
        "Dilation2DBackpropFilter", input.shape, filter.shape, out_backprop.shape, **attrs
    )
    return morphology_kernels.filter_gradient(input, filter, out_backprop, windows)


_AXES = (1, 2)


def _lower_dilation(ctx, input, filter, **attrs):
    windows = _windows("Dilation2D", input.shape, filter.shape, **attrs)
    shape = (input.shape[0], *windows.output, input.shape[3])
    lowest = (jnp.iinfo if jnp.issubdtype(input.dtype, jnp.integer) else jnp.finfo)(input.dtype).min
    best = jnp.full(shape, lowest, input.dtype)
    if best.size == 0:
        return best
    for _, value in tap_values(input, _AXES, windows, lowest, filter):
        best = jnp.maximum(best, value)
    return best


def _lower_input_gradient(ctx, input, filter, out_backprop, **attrs):
    windows = _gradient_windows(
        "Dilation2DBackpropInput", input.shape, filter.shape, out_backprop.shape, **attrs
    )
    if out_backprop.size == 0 or filter.size == 0:
        return jnp.zeros_like(input)
    return to_chosen(chosen_taps(input, _AXES, windows, filter), out_backprop, _AXES, windows)


def _lower_filter_gradient(ctx, input, filter, out_backprop, **attrs):
    windows = _gradient_windows(
        "Dilation2DBackpropFilter", input.shape, filter.shape, out_backprop.shape, **attrs
    )
    if out_backprop.size == 0 or filter.size == 0:
        return jnp.zeros_like(filter)
    chosen = chosen_taps(input, _AXES, windows, filter)
    zero = jnp.zeros((), input.dtype)
    sums = [
        jnp.where(chosen == number, out_backprop, zero).sum((0, 1, 2), dtype=filter.dtype)
        for number in range(filter.shape[0] * filter.shape[1])
    ]
    return jnp.stack(sums).reshape(filter.shape)


def _infer(input, filter, strides, rates, padding):
    window = TensorShape(None) if filter.shape.rank is None else filter.shape.concatenate([None])
    channels = None if filter.shape.rank is None else filter.shape[-1]
    if channels is None and input.shape.rank is not None:
        channels = input.shape[-1]
    shape = conv_rules.infer_windows(
        "Dilation2D", _NHWC, input.shape, window, strides, padding, (), rates
    ).as_list()
    shape[3] = channels
    return TensorShape(shape)


def _grad_dilation(node, dy):
    dx = df = None
    if node.wants(0):
        dx = DILATION2D_BACKPROP_INPUT(node.input, node.filter, dy, **node.attrs)
    if node.wants(1):
        df = DILATION2D_BACKPROP_FILTER(node.input, node.filter, dy, **node.attrs)
    return dx, df


_ATTRIBUTES = "*, strides: list(int), rates: list(int), padding: string"

DILATION2D = Op(
    "Dilation2D",
    f"input: T, filter: T, {_ATTRIBUTES} -> output: T",
    T=dtypes.REAL,
    infer=_infer,
    kernel=_dilation,
    lower=_lower_dilation,
    saves=("input", "filter"),
    grad=_grad_dilation,
)

DILATION2D_BACKPROP_INPUT = Op(
    "Dilation2DBackpropInput",
    f"input: T, filter: T, out_backprop: T, {_ATTRIBUTES} -> in_backprop: T",
    T=dtypes.REAL,
    infer=lambda input, filter, out_backprop, **attrs: input.shape,
    kernel=_input_gradient,
    lower=_lower_input_gradient,
    grad=unregistered,  # TF: has none; no op gathers what a window chose
)

DILATION2D_BACKPROP_FILTER = Op(
    "Dilation2DBackpropFilter",
    f"input: T, filter: T, out_backprop: T, {_ATTRIBUTES} -> filter_backprop: T",
    T=dtypes.REAL,
    infer=lambda input, filter, out_backprop, **attrs: filter.shape,
    kernel=_filter_gradient,
    lower=_lower_filter_gradient,
    grad=unregistered,  # TF: has none; no op gathers what a window chose
)


def _check_format(function, data_format):
    if data_format != "NHWC":
        raise ValueError(f"{function}: data_format must be 'NHWC', got {data_format!r}.")


@api("nn.dilation2d")
def dilation2d(input, filters, strides, padding, data_format, dilations, name=None) -> Tensor:
    """Grey-scale dilation: the maximum over a window of data plus filter.

    Args:
        input: data of shape (batch, rows, columns, channels).
        filters: of shape (rows, columns, channels).
        strides: the steps of the window, four numbers.
        padding: "SAME" or "VALID"; padding takes no part in the maximum.
        data_format: "NHWC".
        dilations: the distances between taps, four numbers.
        name: a name for the operation.

    >>> x = tf.reshape(tf.range(9.0), (1, 3, 3, 1))
    >>> ones = [1, 1, 1, 1]
    >>> tf.nn.dilation2d(x, tf.zeros((2, 2, 1)), ones, "VALID", "NHWC", ones)[0, :, :, 0].numpy().tolist()
    [[4.0, 5.0], [7.0, 8.0]]
    """
    _check_format("dilation2d", data_format)
    return DILATION2D(
        input, filters, strides=strides, rates=dilations, padding=padding, name=name
    )


@api("nn.erosion2d")
def erosion2d(value, filters, strides, padding, data_format, dilations, name=None) -> Tensor:
    """Grey-scale erosion: the minimum over a window of data minus the filter turned round.

    Args:
        value: data of shape (batch, rows, columns, channels).
        filters: of shape (rows, columns, channels).
        strides: the steps of the window, four numbers.
        padding: "SAME" or "VALID"; padding takes no part in the minimum.
        data_format: "NHWC".
        dilations: the distances between taps, four numbers.
        name: a name for the operation.

    >>> x = tf.reshape(tf.range(9.0), (1, 3, 3, 1))
    >>> ones = [1, 1, 1, 1]
    >>> tf.nn.erosion2d(x, tf.zeros((2, 2, 1)), ones, "VALID", "NHWC", ones)[0, :, :, 0].numpy().tolist()
    [[0.0, 1.0], [3.0, 4.0]]
    """
    _check_format("erosion2d", data_format)
    value = to_tensor(value)
    turned = REVERSE(to_tensor(filters, hint=value.dtype), [0, 1])
    return negative(dilation2d(negative(value), turned, strides, padding, data_format, dilations), name=name)
