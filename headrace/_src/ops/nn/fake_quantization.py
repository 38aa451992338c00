"""Rounding floats to what a quantized model could represent, with gradients that pass straight through."""

from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, same_as_input
from headrace._src.op.traits import ELEMENTWISE, EQUAL_SHAPES
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM
from headrace._src.ops.math.comparison import EQUAL, LOGICAL_AND
from headrace._src.ops.math.elementwise import FLOOR
from headrace._src.ops.math.limit_kernels import between

if TYPE_CHECKING:
    from headrace._src.attached import FakeQuantWithMinMaxVarsGradient, FakeQuantWithMinMaxVarsPerChannelGradient

_MANY = 4096
_ATTRIBUTES = "num_bits: int = 8, narrow_range: bool = False"


def _limits(op, num_bits, narrow_range):
    if not 2 <= num_bits <= 16:
        raise errors.invalid_argument(f"{op}: num_bits must be between 2 and 16, got {num_bits}.")
    return np.float32(1 if narrow_range else 0), np.float32((1 << num_bits) - 1)


def _nudged(xp, low, high, limits):
    """(scale, low, high), moved a little so that zero is represented exactly."""
    first, last = limits
    scale = (high - low) / (last - first)
    zero = first - low / scale
    zero = xp.where(zero < first, first, xp.where(zero > last, last, xp.floor(zero + np.float32(0.5))))
    return scale, (first - zero) * scale, (last - zero) * scale


def _quantized(xp, x, low, high, limits):
    scale, low, high = _nudged(xp, low, high, limits)
    inverse = np.float32(1) / scale
    zero = xp.floor(-low * inverse + np.float32(0.5))
    if xp is np and x.size >= _MANY:
        # The same, in one array.
        y = between(x, low, high)
        y -= low
        y *= inverse
        y -= zero
        y += np.float32(0.5)
        np.floor(y, out=y)
        y *= scale
        return y
    inside = xp.maximum(xp.minimum(x, high), low)
    return xp.floor((inside - low) * inverse - zero + np.float32(0.5)) * scale


def _check_args(op, min, max):
    if not min < max:
        raise errors.invalid_argument(f"{op}: min must be smaller than max, got {min} and {max}.")


def _args(xp, inputs, min, max, num_bits, narrow_range):
    op = "FakeQuantWithMinMaxArgs"
    _check_args(op, min, max)
    limits = _limits(op, num_bits, narrow_range)
    return _quantized(xp, inputs, np.float32(min), np.float32(max), limits)


def _args_gradient(xp, gradients, inputs, min, max, num_bits, narrow_range):
    op = "FakeQuantWithMinMaxArgsGradient"
    _check_args(op, min, max)
    _check_same(op, gradients, inputs)
    _, low, high = _nudged(xp, np.float32(min), np.float32(max), _limits(op, num_bits, narrow_range))
    return xp.where((inputs >= low) & (inputs <= high), gradients, np.float32(0))


def _check_same(op, gradients, inputs):
    if gradients.shape != inputs.shape:
        raise errors.invalid_argument(
            f"{op}: gradients and inputs must have the same shape, got {gradients.shape} and {inputs.shape}."
        )


FAKE_QUANT_ARGS = Op(
    "FakeQuantWithMinMaxArgs",
    f"inputs: float32, *, min: float = -6.0, max: float = 6.0, {_ATTRIBUTES} -> outputs: float32",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=lambda inputs, **attrs: _args(np, inputs, **attrs),
    lower=lambda ctx, inputs, **attrs: _args(jnp, inputs, **attrs),
    saves=("inputs",),
    grad=lambda node, dy: (FAKE_QUANT_ARGS_GRADIENT(dy, node.inputs, **node.attrs),),
)

FAKE_QUANT_ARGS_GRADIENT = Op(
    "FakeQuantWithMinMaxArgsGradient",
    f"gradients: float32, inputs: float32, *, min: float = -6.0, max: float = 6.0, {_ATTRIBUTES} -> backprops: float32",
    traits=ELEMENTWISE | EQUAL_SHAPES,
    infer=same_as_input,
    kernel=lambda gradients, inputs, **attrs: _args_gradient(np, gradients, inputs, **attrs),
    lower=lambda ctx, gradients, inputs, **attrs: _args_gradient(jnp, gradients, inputs, **attrs),
    saves=("inputs",),
    grad=lambda node, dy: (FAKE_QUANT_ARGS_GRADIENT(dy, node.inputs, **node.attrs), None),
)


@api("quantization.fake_quant_with_min_max_args")
def fake_quant_with_min_max_args(inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None) -> Tensor:
    """Round to the values that `num_bits` bits can represent between `min` and `max`.

    Args:
        inputs: a float32 tensor.
        min: the smallest value; moved a little so that zero is represented exactly.
        max: the largest value.
        num_bits: from 2 to 16.
        narrow_range: leave out the lowest of the quantized values.
        name: accepted for compatibility.

    Raises:
        InvalidArgumentError: when `min` is not smaller than `max`.

    >>> tf.quantization.fake_quant_with_min_max_args([0.2, 9.0], min=0, max=3, num_bits=2).numpy().tolist()
    [0.0, 3.0]
    """
    return FAKE_QUANT_ARGS(
        inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


@api("quantization.fake_quant_with_min_max_args_gradient")
def fake_quant_with_min_max_args_gradient(
    gradients, inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None
) -> Tensor:
    """The gradient of `tf.quantization.fake_quant_with_min_max_args`: `gradients` where inputs are in "
    "range."""
    return FAKE_QUANT_ARGS_GRADIENT(
        gradients,
        inputs,
        min=min,
        max=max,
        num_bits=num_bits,
        narrow_range=narrow_range,
        name=name,
    )


# The same with the range as tensors, one for all or one per channel of the last axis.


def _check_range(op, inputs, min, max, per_channel):
    for name, bound in (("min", min), ("max", max)):
        if bound.ndim != (1 if per_channel else 0):
            raise errors.invalid_argument(
                f"{op}: {name} must have rank {1 if per_channel else 0}, got shape {bound.shape}."
            )
        if per_channel:
            if not inputs.ndim:
                raise errors.invalid_argument(f"{op}: inputs must have rank 1 or more, got a scalar.")
            if bound.shape[0] != inputs.shape[-1]:
                raise errors.invalid_argument(
                    f"{op}: {name} must have one entry for each of {inputs.shape[-1]} channels, got {bound.shape[0]}."
                )


def _vars(xp, op, per_channel, inputs, min, max, num_bits, narrow_range):
    _check_range(op, inputs, min, max, per_channel)
    result = _quantized(xp, inputs, min, max, _limits(op, num_bits, narrow_range))
    # TF: an empty range at zero gives zeros.
    return xp.where((min == 0) & (max == 0), np.float32(0), result)


def _vars_gradient(xp, op, per_channel, gradients, inputs, min, max, num_bits, narrow_range):
    _check_same(op, gradients, inputs)
    _check_range(op, inputs, min, max, per_channel)
    _, low, high = _nudged(xp, min, max, _limits(op, num_bits, narrow_range))
    nothing = (min == 0) & (max == 0)
    zero = np.float32(0)
    axes = tuple(range(inputs.ndim - 1)) if per_channel else tuple(range(inputs.ndim))
    below = xp.where(~nothing & (inputs < low), gradients, zero)
    above = xp.where(~nothing & (inputs > high), gradients, zero)
    return (
        xp.where(nothing | ((inputs >= low) & (inputs <= high)), gradients, zero),
        xp.sum(below, axes, dtype=np.float32),
        xp.sum(above, axes, dtype=np.float32),
    )


def _nudged_tensors(low, high, num_bits, narrow_range):
    """As `_nudged`, on tensors."""
    first, last = 1.0 if narrow_range else 0.0, float((1 << num_bits) - 1)
    scale = (high - low) / (last - first)
    zero = FLOOR(first - low / scale + 0.5)
    zero = MAXIMUM(MINIMUM(zero, last), first)
    return (first - zero) * scale, (last - zero) * scale


def _grad_vars_gradient(node, d_inputs, d_min, d_max):
    """The gradient is linear in `gradients`: each entry went to one of the three outputs."""
    inputs, low, high = node.inputs, node.min, node.max
    nothing = LOGICAL_AND(EQUAL(low, 0.0), EQUAL(high, 0.0))
    low, high = _nudged_tensors(low, high, **node.attrs)
    select, zero = SELECT_V2, ZEROS_LIKE(inputs)
    outside = select(inputs < low, d_min + zero, select(inputs > high, d_max + zero, d_inputs))
    return select(nothing, d_inputs, outside), None, None, None


def _gradient_shapes(per_channel):
    def infer(gradients, inputs, min, max, **attrs):
        return inputs.shape, min.shape if per_channel else SCALAR, max.shape if per_channel else SCALAR

    return infer


def _range_ops(name, per_channel):
    """The op of that name and its gradient."""

    def grad(node, dy):
        return tuple(backward(dy, node.inputs, node.min, node.max, **node.attrs))

    forward = Op(
        name,
        f"inputs: float32, min: float32, max: float32, *, {_ATTRIBUTES} -> outputs: float32",
        infer=same_as_input,
        kernel=lambda *arrays, **attrs: _vars(np, name, per_channel, *arrays, **attrs),
        lower=lambda ctx, *values, **attrs: _vars(jnp, name, per_channel, *values, **attrs),
        saves=("inputs", "min", "max"),
        grad=grad,
    )
    backward = Op(
        f"{name}Gradient",
        f"gradients: float32, inputs: float32, min: float32, max: float32, *, {_ATTRIBUTES} "
        "-> backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32",
        infer=_gradient_shapes(per_channel),
        kernel=lambda *arrays, **attrs: _vars_gradient(np, f"{name}Gradient", per_channel, *arrays, **attrs),
        lower=lambda ctx, *values, **attrs: _vars_gradient(jnp, f"{name}Gradient", per_channel, *values, **attrs),
        saves=("inputs", "min", "max"),
        grad=_grad_vars_gradient,
    )
    return forward, backward


FAKE_QUANT_VARS, FAKE_QUANT_VARS_GRADIENT = _range_ops("FakeQuantWithMinMaxVars", False)
FAKE_QUANT_CHANNELS, FAKE_QUANT_CHANNELS_GRADIENT = _range_ops("FakeQuantWithMinMaxVarsPerChannel", True)


@api("quantization.fake_quant_with_min_max_vars")
def fake_quant_with_min_max_vars(inputs, min, max, num_bits=8, narrow_range=False, name=None) -> Tensor:
    """As `tf.quantization.fake_quant_with_min_max_args`, with a range of scalar tensors, which have gradients.

    >>> tf.quantization.fake_quant_with_min_max_vars([0.2, 0.7, 9.0], 0.0, 3.0, num_bits=2).numpy().tolist()
    [0.0, 1.0, 3.0]
    """
    return FAKE_QUANT_VARS(inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)


@api("quantization.fake_quant_with_min_max_vars_gradient")
def fake_quant_with_min_max_vars_gradient(
    gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None
) -> "FakeQuantWithMinMaxVarsGradient":
    """The gradients of `tf.quantization.fake_quant_with_min_max_vars` by inputs, min and max."""
    return FAKE_QUANT_VARS_GRADIENT(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


@api("quantization.fake_quant_with_min_max_vars_per_channel")
def fake_quant_with_min_max_vars_per_channel(inputs, min, max, num_bits=8, narrow_range=False, name=None) -> Tensor:
    """As `tf.quantization.fake_quant_with_min_max_vars`, with one range per entry of the last axis."""
    return FAKE_QUANT_CHANNELS(inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)


@api("quantization.fake_quant_with_min_max_vars_per_channel_gradient")
def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None
) -> "FakeQuantWithMinMaxVarsPerChannelGradient":
    """The gradients of `tf.quantization.fake_quant_with_min_max_vars_per_channel` by inputs, min and max."""
    return FAKE_QUANT_CHANNELS_GRADIENT(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


# Quantizing to a number of steps that is symmetric around zero, and back.


def _check_bits(op, num_bits, signed_input):
    limit = 62 if signed_input else 63
    if not 0 < num_bits < limit:
        raise errors.invalid_argument(f"{op}: num_bits must be between 1 and {limit - 1}, got {num_bits}.")


def _along(xp, bound, rank, axis):
    """A range per entry of an axis, in a shape that broadcasts."""
    if axis == -1:
        return bound.reshape(())
    return bound.reshape([-1 if i == axis else 1 for i in range(rank)])


def _check_axis(op, input, axis):
    if axis < -1 or axis >= input.ndim:
        raise errors.invalid_argument(
            f"{op}: axis must be -1 or an axis of input, which has shape {input.shape}, got {axis}."
        )


def _range_of(xp, op, x, input_min, input_max, range_given, axis):
    if range_given:
        count = 1 if axis == -1 else x.shape[axis]
        for name, bound in (("input_min", input_min), ("input_max", input_max)):
            if bound.size != count:
                raise errors.invalid_argument(f"{op}: {name} must have {count} entries, got shape {bound.shape}.")
        return tuple(_along(xp, bound, x.ndim, axis).astype(x.dtype) for bound in (input_min, input_max))
    axes = tuple(i for i in range(x.ndim) if i != axis)
    if not x.size:
        return (xp.zeros((1,) * x.ndim, x.dtype),) * 2
    return xp.min(x, axes, keepdims=True), xp.max(x, axes, keepdims=True)


def _there_and_back(xp, x, low, high, range_given, signed_input, num_bits, round_mode, narrow_range):
    lowest = -(1 << (num_bits - 1)) + (1 if narrow_range else 0) if signed_input else 0
    highest = (1 << (num_bits - 1)) - 1 if signed_input else (1 << num_bits) - 1
    lowest, highest = (np.asarray(n, x.dtype) for n in (lowest, highest))
    # The side that needs the larger steps decides; zero stays zero.
    infinite = np.asarray(np.finfo(x.dtype).max, x.dtype)
    from_low = xp.where(lowest * low > 0, lowest / low, infinite)
    from_high = xp.where(highest * high > 0, highest / high, infinite)
    by_low = from_low < from_high
    scale = xp.where(by_low, from_low, from_high)
    step = xp.where(by_low, low / lowest, high / highest)
    if range_given:
        bottom, top = xp.where(by_low, low, lowest * step), xp.where(by_low, highest * step, high)
        x = xp.maximum(xp.minimum(x, top), bottom)
    y = x * scale
    y = xp.floor(y + np.asarray(0.5, x.dtype)) if round_mode == "HALF_UP" else xp.round(y)
    return y * step


def _quantize_and_dequantize(
    xp, op, input, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range, axis
):
    _check_bits(op, num_bits, signed_input)
    _check_axis(op, input, axis)
    if round_mode not in ("HALF_TO_EVEN", "HALF_UP"):
        raise errors.invalid_argument(f"{op}: round_mode must be HALF_TO_EVEN or HALF_UP, got {round_mode!r}.")
    x = input.astype(np.float32) if input.dtype.itemsize == 2 else input
    low, high = _range_of(xp, op, x, input_min, input_max, range_given, axis)
    if xp is np and not (low <= high).all():
        raise errors.invalid_argument(f"{op}: input_min {low} is larger than input_max {high}.")
    result = _there_and_back(xp, x, low, high, range_given, signed_input, num_bits, round_mode, narrow_range)
    return result.astype(input.dtype)


_QUANTIZE_TEXT = (
    "input: T, input_min: T, input_max: T, *, signed_input: bool = True, num_bits: int = 8, "
    "range_given: bool = False, round_mode: string = 'HALF_TO_EVEN', narrow_range: bool = False, "
    "axis: int = -1 -> output: T"
)


def _straight_through(node, dy):
    return dy, None, None


QUANTIZE_AND_DEQUANTIZE = Op(
    "QuantizeAndDequantizeV2",
    _QUANTIZE_TEXT,
    T=dtypes.FLOATING,
    infer=same_as_input,
    kernel=lambda *a, **attrs: _quantize_and_dequantize(np, "QuantizeAndDequantizeV2", *a, **attrs),
    lower=lambda ctx, *v, **attrs: _quantize_and_dequantize(jnp, "QuantizeAndDequantizeV2", *v, **attrs),
    grad=_straight_through,
)


def _v1(xp, input, signed_input, num_bits, range_given, input_min, input_max):
    bounds = (np.asarray(bound, np.float32) for bound in (input_min, input_max))
    options = (signed_input, num_bits, range_given, "HALF_TO_EVEN", False, -1)
    return _quantize_and_dequantize(xp, "QuantizeAndDequantize", input, *bounds, *options)


QUANTIZE_AND_DEQUANTIZE_V1 = Op(
    "QuantizeAndDequantize",
    "input: T, *, signed_input: bool = True, num_bits: int = 8, range_given: bool = False, "
    "input_min: float = 0.0, input_max: float = 0.0 -> output: T",
    T=dtypes.FLOATING,
    infer=same_as_input,
    kernel=lambda input, **attrs: _v1(np, input, **attrs),
    lower=lambda ctx, input, **attrs: _v1(jnp, input, **attrs),
    grad=lambda node, dy: (dy,),
)


def _v3(xp, input, input_min, input_max, num_bits, signed_input, range_given, narrow_range, axis):
    if num_bits.size != 1:
        raise errors.invalid_argument(
            f"QuantizeAndDequantizeV3: num_bits must be a scalar, got shape {num_bits.shape}."
        )
    options = (signed_input, int(num_bits.reshape(())), range_given, "HALF_TO_EVEN", narrow_range, axis)
    return _quantize_and_dequantize(xp, "QuantizeAndDequantizeV3", input, input_min, input_max, *options)


QUANTIZE_AND_DEQUANTIZE_V3 = Op(
    "QuantizeAndDequantizeV3",
    "input: T, input_min: T, input_max: T, num_bits: int32, *, signed_input: bool = True, "
    "range_given: bool = True, narrow_range: bool = False, axis: int = -1 -> output: T",
    T=dtypes.FLOATING,
    infer=same_as_input,
    kernel=lambda *arrays, **attrs: _v3(np, *arrays, **attrs),
    lower=lambda ctx, *values, **attrs: _v3(jnp, *values, **attrs),
    static=("num_bits",),
    grad=lambda node, dy: (dy, None, None, None),
)


def _grad_v4(node, dy):
    return tuple(
        QUANTIZE_AND_DEQUANTIZE_V4_GRAD(dy, node.input, node.input_min, node.input_max, axis=node.attrs["axis"])
    )


QUANTIZE_AND_DEQUANTIZE_V4 = Op(
    "QuantizeAndDequantizeV4",
    _QUANTIZE_TEXT,
    T=dtypes.FLOATING,
    infer=same_as_input,
    kernel=lambda *a, **attrs: _quantize_and_dequantize(np, "QuantizeAndDequantizeV4", *a, **attrs),
    lower=lambda ctx, *v, **attrs: _quantize_and_dequantize(jnp, "QuantizeAndDequantizeV4", *v, **attrs),
    saves=("input", "input_min", "input_max"),
    grad=_grad_v4,
)


def _v4_grad(xp, gradients, input, input_min, input_max, axis):
    op = "QuantizeAndDequantizeV4Grad"
    _check_same(op, gradients, input)
    _check_axis(op, input, axis)
    count = 1 if axis == -1 else input.shape[axis]
    for name, bound in (("input_min", input_min), ("input_max", input_max)):
        if bound.size != count:
            raise errors.invalid_argument(f"{op}: {name} must have {count} entries, got shape {bound.shape}.")
    low, high = (_along(xp, bound, input.ndim, axis) for bound in (input_min, input_max))
    inside = xp.where((input >= low) & (input <= high), gradients, xp.zeros((), gradients.dtype))
    # TF: the range itself gets no gradient.
    return inside, xp.zeros_like(input_min), xp.zeros_like(input_max)


def _grad_v4_grad(node, d_input, d_min, d_max):
    again = QUANTIZE_AND_DEQUANTIZE_V4_GRAD(
        d_input, node.input, node.input_min, node.input_max, axis=node.attrs["axis"]
    )
    return again.input_backprop, None, None, None


QUANTIZE_AND_DEQUANTIZE_V4_GRAD = Op(
    "QuantizeAndDequantizeV4Grad",
    "gradients: T, input: T, input_min: T, input_max: T, *, axis: int = -1 "
    "-> input_backprop: T, input_min_backprop: T, input_max_backprop: T",
    T=dtypes.FLOATING,
    infer=lambda gradients, input, input_min, input_max, axis: (
        input.shape,
        input_min.shape,
        input_max.shape,
    ),
    kernel=lambda *arrays, axis: _v4_grad(np, *arrays, axis),
    lower=lambda ctx, *values, axis: _v4_grad(jnp, *values, axis),
    saves=("input", "input_min", "input_max"),
    grad=_grad_v4_grad,
)
