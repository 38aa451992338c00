"""Tensors of small integers that stand for floats in a range: quantizing, going back, changing the range."""

from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import SCALAR, UNKNOWN
from headrace._src.ops.nn.fake_quantization import QUANTIZE_AND_DEQUANTIZE, QUANTIZE_AND_DEQUANTIZE_V4

if TYPE_CHECKING:
    from headrace._src.attached import QuantizedConcat, QuantizeV2

_MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
_F = np.float32


def _check_mode(op, mode):
    if mode not in _MODES:
        raise errors.invalid_argument(f"{op}: mode must be one of {list(_MODES)}, got {mode!r}.")


def _check_quantized(op, name, dtype):
    if dtype not in dtypes.QUANTIZED:
        names = ", ".join(sorted(each.name for each in dtypes.QUANTIZED))
        raise errors.invalid_argument(f"{op}: {name} must be one of {names}, got {dtype.name}.")


def _ranges(op, input, min_range, max_range, axis):
    """The range, in a shape that broadcasts to the input."""
    if axis < -1 or axis >= input.ndim:
        raise errors.invalid_argument(
            f"{op}: axis must be -1 or an axis of input, which has shape {input.shape}, got {axis}."
        )
    count = 1 if axis == -1 else input.shape[axis]
    for name, bound in (("min_range", min_range), ("max_range", max_range)):
        if bound.size != count or (axis != -1 and bound.ndim != 1):
            raise errors.invalid_argument(
                f"{op}: {name} must be a vector with one entry for each of {count} slices, got shape {bound.shape}."
                if axis != -1
                else f"{op}: {name} must be a scalar, got shape {bound.shape}."
            )
    shape = () if axis == -1 else [-1 if i == axis else 1 for i in range(input.ndim)]
    return min_range.reshape(shape), max_range.reshape(shape)


def _saturated(xp, x, storage):
    """Floats that are whole numbers as integers; those that do not fit become the nearest that do."""
    info = np.iinfo(storage)
    if storage.itemsize < 4:
        return xp.clip(x, _F(info.min), _F(info.max)).astype(storage)
    return xp.clip(x.astype(np.float64), info.min, info.max).astype(np.int64).astype(storage)


def _round_away(xp, x):
    """Halves go away from zero."""
    return xp.trunc(x + xp.copysign(_F(0.5), x))


def _steps(storage):
    """(lowest, highest, number of steps) of an integer type."""
    info = np.iinfo(storage)
    return info.min, info.max, float(info.max) - float(info.min) + 1.0


def to_integers(xp, x, low, high, storage):
    """Floats in [low, high] as integers, by the rule MIN_FIRST: the float's steps are rounded, not its "
    "place."""
    lowest, highest, number = _steps(storage)
    span = high - low
    scale = xp.where(span == 0, _F(0), _F(number - 1.0) / xp.where(span == 0, _F(1), span)).astype(np.float32)
    first = _round_away(xp, low * scale)
    y = _round_away(xp, x * scale) - (first - _F(lowest))
    # The largest float that is not above the highest integer.
    top = _F(highest) if storage.itemsize < 4 else np.nextafter(_F(highest), _F(0))
    return _saturated(xp, xp.minimum(xp.maximum(y, _F(lowest)), top), storage)


def to_floats(xp, x, low, high, exact=False):
    """The inverse of `to_integers`."""
    storage = np.dtype(x.dtype)
    lowest, _, number = _steps(storage)
    kind = np.float64 if exact else np.float32
    scale = ((high - low).astype(kind) * kind(number / (number - 1.0)) / kind(number)).astype(kind)
    safe = xp.where(scale == 0, kind(1), scale)
    first = xp.where(scale == 0, low.astype(kind), _round_away(xp, (low / safe).astype(kind)) * scale)
    return (first + (x.astype(kind) - kind(lowest)) * scale).astype(np.float32)


def _quantize(xp, input, min_range, max_range, T, mode, round_mode, narrow_range, axis, ensure_minimum_range):
    op = "QuantizeV2"
    _check_mode(op, mode)
    _check_quantized(op, "T", T)
    if round_mode not in ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"):
        raise errors.invalid_argument(
            f"{op}: round_mode must be HALF_AWAY_FROM_ZERO or HALF_TO_EVEN, got {round_mode!r}."
        )
    if round_mode == "HALF_TO_EVEN" and mode != "SCALED":
        raise errors.invalid_argument(f"{op}: round_mode HALF_TO_EVEN goes with mode SCALED only, not {mode}.")
    low, high = _ranges(op, input, min_range, max_range, axis)
    if xp is np and (low > high).any():
        raise errors.invalid_argument(f"{op}: min_range {low} is larger than max_range {high}.")
    storage = T._np
    lowest, highest, number = _steps(storage)
    # Zero is always in the range, and the range is never empty.
    low = xp.minimum(_F(0), low)
    epsilon = xp.maximum(_F(1), xp.maximum(xp.abs(low), xp.abs(high))) * _F(ensure_minimum_range)
    high = xp.maximum(_F(0), xp.maximum(high, low + epsilon))
    if mode == "MIN_COMBINED":
        scale = (_F(number - 1.0) / (high - low)).astype(np.float32)
        y = (xp.maximum(xp.minimum(input, high), low) - low) * scale
        if lowest < 0:
            y = _round_away(xp, y - _F(number / 2))
        else:
            y = xp.trunc(y + _F(0.5))
        output = _saturated(xp, y, storage)
    elif mode == "MIN_FIRST":
        output = to_integers(xp, input, low, high, storage)
    else:
        bottom, top = _F(lowest + (1 if narrow_range else 0)), _F(highest)
        infinite = np.finfo(np.float32).max
        from_low = xp.where(bottom * low > 0, bottom / low, infinite)
        from_high = xp.where(top * high > 0, top / high, infinite)
        scale = xp.minimum(from_low, from_high).astype(np.float32)
        low, high = bottom / scale, top / scale
        y = xp.maximum(xp.minimum(input, high), low) * scale
        y = xp.round(y) if round_mode == "HALF_TO_EVEN" else _round_away(xp, y)
        output = _saturated(xp, y, storage)
    shape = () if axis == -1 else (-1,)
    return output, low.reshape(shape).astype(np.float32), high.reshape(shape).astype(np.float32)


def _infer_quantize(input, min_range, max_range, axis, **attrs):
    bound = SCALAR
    if axis != -1:
        bound = TensorShape([None]) if input.shape.rank is None else TensorShape([input.shape[axis]])
    return input.shape, bound, bound


QUANTIZE = Op(
    "QuantizeV2",
    "input: float32, min_range: float32, max_range: float32, *, T: type, mode: string = 'MIN_COMBINED', "
    "round_mode: string = 'HALF_AWAY_FROM_ZERO', narrow_range: bool = False, axis: int = -1, "
    "ensure_minimum_range: float = 0.01 -> output: T, output_min: float32, output_max: float32",
    infer=_infer_quantize,
    kernel=lambda *arrays, **attrs: _quantize(np, *arrays, **attrs),
    lower=lambda ctx, *values, **attrs: _quantize(jnp, *values, **attrs),
    grad=unregistered,  # integers
    T=dtypes.QUANTIZED,
)


@api("quantization.quantize")
def quantize(
    input,
    min_range,
    max_range,
    T,
    mode="MIN_COMBINED",
    round_mode="HALF_AWAY_FROM_ZERO",
    name=None,
    narrow_range=False,
    axis=None,
    ensure_minimum_range=0.01,
) -> "QuantizeV2":
    """Floats as integers of a quantized dtype.

    Args:
        input: a float32 tensor.
        min_range: the float that the lowest integer stands for; zero is always made part of the range.
        max_range: the float that the highest integer stands for.
        T: a quantized dtype such as `tf.qint8`.
        mode: "MIN_COMBINED", "MIN_FIRST" (rounds so that zero is exact) or "SCALED" (zero stays zero).
        round_mode: "HALF_AWAY_FROM_ZERO", or for SCALED also "HALF_TO_EVEN".
        name: accepted for compatibility.
        narrow_range: in the mode SCALED, leave out the lowest integer.
        axis: None, or the axis along which each slice has a range of its own.
        ensure_minimum_range: how wide the range is at least, relative to its ends.

    Returns:
        A namedtuple (output, output_min, output_max), the range as it was used.

    >>> tf.quantization.quantize([0.0, 0.5, 1.0], 0.0, 1.0, tf.quint8).output_max.numpy()
    np.float32(1.0)
    """
    return QUANTIZE(
        input,
        min_range,
        max_range,
        T=dtypes.as_dtype(T),
        mode=mode,
        round_mode=round_mode,
        narrow_range=narrow_range,
        axis=_positive_axis(input, axis),
        ensure_minimum_range=float(ensure_minimum_range),
        name=name,
    )


def _positive_axis(input, axis):
    """The attribute: -1 for no axis."""
    if axis is None:
        return -1
    if axis < 0:
        rank = to_tensor(input).shape.rank
        if rank is None:
            raise ValueError("quantization: with a negative axis the rank of the input must be known.")
        return axis + rank
    return axis


def _dequantize(xp, input, min_range, max_range, mode, narrow_range, axis, dtype):
    op = "Dequantize"
    _check_mode(op, mode)
    if dtype not in (dtypes.float32, dtypes.bfloat16):
        raise errors.invalid_argument(f"{op}: dtype must be float32 or bfloat16, got {dtype.name}.")
    if dtype is dtypes.bfloat16 and mode != "MIN_COMBINED":
        raise errors.invalid_argument(f"{op}: for dtype bfloat16 the mode must be MIN_COMBINED, got {mode}.")
    low, high = _ranges(op, input, min_range, max_range, axis)
    lowest, highest, number = _steps(np.dtype(input.dtype))
    x = input.astype(np.float32)
    if mode == "MIN_COMBINED":
        half = _F(number / 2) if lowest < 0 else _F(0)
        y = (x + half) * ((high - low) / _F(number - 1.0)) + low
    elif mode == "MIN_FIRST":
        y = to_floats(xp, input, low, high)
    else:
        bottom = lowest + (1 if narrow_range else 0)
        scale = high / _F(highest)
        if lowest < 0:
            scale = xp.maximum(low / _F(bottom), scale)
        y = x * scale
    return y.astype(dtype._np)


DEQUANTIZE = Op(
    "Dequantize",
    "input: T, min_range: float32, max_range: float32, *, mode: string = 'MIN_COMBINED', "
    "narrow_range: bool = False, axis: int = -1, dtype: type = float32 -> output: dtype",
    T=dtypes.QUANTIZED,
    infer=lambda input, min_range, max_range, **attrs: input.shape,
    kernel=lambda *arrays, **attrs: _dequantize(np, *arrays, **attrs),
    lower=lambda ctx, *values, **attrs: _dequantize(jnp, *values, **attrs),
    grad=unregistered,  # integers
    dtype=frozenset({dtypes.bfloat16, dtypes.float32}),
)


@api("quantization.dequantize")
def dequantize(
    input,
    min_range,
    max_range,
    mode="MIN_COMBINED",
    name=None,
    axis=None,
    narrow_range=False,
    dtype=dtypes.float32,
) -> Tensor:
    """Floats from integers of a quantized dtype; the inverse of `tf.quantization.quantize`.

    Args:
        input: a tensor of a quantized dtype.
        min_range: the float that the lowest integer stands for.
        max_range: the float that the highest integer stands for.
        mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED".
        name: accepted for compatibility.
        axis: None, or the axis along which each slice has a range of its own.
        narrow_range: in the mode SCALED, the lowest integer was left out.
        dtype: float32, or for MIN_COMBINED also bfloat16.

    >>> q = tf.quantization.quantize([0.0, 0.5, 1.0], 0.0, 1.0, tf.quint8)
    >>> np.round(tf.quantization.dequantize(*q).numpy(), 2).tolist()
    [0.0, 0.5, 1.0]
    """
    axis = _positive_axis(input, axis)
    if mode != "SCALED" and axis != -1:
        raise ValueError(f"dequantize: an axis goes with mode SCALED only, not {mode}.")
    return DEQUANTIZE(
        input,
        min_range,
        max_range,
        mode=mode,
        narrow_range=narrow_range,
        axis=axis,
        dtype=dtypes.as_dtype(dtype),
        name=name,
    )


@api("quantization.quantize_and_dequantize")
def quantize_and_dequantize(
    input,
    input_min,
    input_max,
    signed_input=True,
    num_bits=8,
    range_given=False,
    round_mode="HALF_TO_EVEN",
    name=None,
    narrow_range=False,
    axis=None,
) -> Tensor:
    """Round to the values that `num_bits` bits can represent, with zero among them; the gradient passes through.

    Args:
        input: a floating tensor.
        input_min: the smallest value, if `range_given`.
        input_max: the largest value, if `range_given`.
        signed_input: use negative quantized values too.
        num_bits: the number of bits.
        range_given: use the given range, rather than that of the input.
        round_mode: "HALF_TO_EVEN" or "HALF_UP".
        name: accepted for compatibility.
        narrow_range: leave out the lowest quantized value.
        axis: None, or the axis along which each slice has a range of its own.

    >>> tf.quantization.quantize_and_dequantize([0.2, 0.7, 3.0], 0.0, 3.0, False, 2, True).numpy().tolist()
    [0.0, 1.0, 3.0]
    """
    return QUANTIZE_AND_DEQUANTIZE(
        input,
        input_min,
        input_max,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        axis=_positive_axis(input, axis),
        name=name,
    )


@api("quantization.quantize_and_dequantize_v2")
def quantize_and_dequantize_v2(
    input,
    input_min,
    input_max,
    signed_input=True,
    num_bits=8,
    range_given=False,
    round_mode="HALF_TO_EVEN",
    name=None,
    narrow_range=False,
    axis=None,
) -> Tensor:
    """As `tf.quantization.quantize_and_dequantize`, with a gradient of zero outside the given range."""
    return QUANTIZE_AND_DEQUANTIZE_V4(
        input,
        input_min,
        input_max,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        axis=_positive_axis(input, axis),
        name=name,
    )


# Changing the range


def _scalars(op, **bounds):
    for name, bound in bounds.items():
        if bound.size != 1 or bound.ndim:
            raise errors.invalid_argument(f"{op}: {name} must be a scalar, got shape {bound.shape}.")


def _requantized(xp, input, low, high, new_low, new_high, storage):
    """Integers of one range as integers of another."""
    if np.dtype(input.dtype) == np.int32 and storage == np.uint8:
        return _narrowed(xp, input, *(bound.astype(np.float64) for bound in (low, high, new_low, new_high)))
    return to_integers(xp, to_floats(xp, input, low, high, exact=True), new_low, new_high, storage)


def _narrowed(xp, input, low, high, new_low, new_high):
    """TF: 32-bit to 8-bit integers in fixed-point arithmetic, with 16 bits after the point."""
    span = new_high - new_low
    empty = span == 0
    safe = xp.where(empty, 1.0, span)
    scale = xp.where(empty, 0.0, 255.0 * 65536.0 * (high - low) / safe).astype(np.int64)
    offset = xp.where(empty, 0.0, (low + high) / 2.0 * (255.0 / safe) * 65536.0).astype(np.int64)
    first = xp.where(empty, 0.0, xp.round(65536.0 * (new_low * 255.0) / safe)).astype(np.int64)
    value = ((input.astype(np.int64) * scale) >> 32) + offset - first + 32768
    return xp.clip(value >> 16, 0, 255).astype(np.uint8)


def _used_range(xp, input, low, high):
    """The range of floats that occur, with zero in it."""
    if not input.size:
        return xp.zeros((), np.float32), xp.zeros((), np.float32)
    ends = [to_floats(xp, end, low, high, exact=True) for end in (xp.min(input), xp.max(input))]
    return xp.minimum(_F(0), ends[0]), xp.maximum(_F(0), ends[1])


def _requantize(xp, input, input_min, input_max, requested_output_min, requested_output_max, out_type):
    op = "Requantize"
    _scalars(
        op,
        input_min=input_min,
        input_max=input_max,
        requested_output_min=requested_output_min,
        requested_output_max=requested_output_max,
    )
    _check_quantized(op, "out_type", out_type)
    if xp is np:
        if requested_output_min > 0:
            raise errors.invalid_argument(
                f"{op}: requested_output_min must not be positive, got {requested_output_min}."
            )
        if requested_output_max < requested_output_min:
            raise errors.invalid_argument(
                f"{op}: requested_output_max {requested_output_max} is below requested_output_min "
                f"{requested_output_min}."
            )
    output = _requantized(xp, input, input_min, input_max, requested_output_min, requested_output_max, out_type._np)
    return output, requested_output_min, requested_output_max


REQUANTIZE = Op(
    "Requantize",
    "input: Tinput, input_min: float32, input_max: float32, requested_output_min: float32, "
    "requested_output_max: float32, *, out_type: type "
    "-> output: out_type, output_min: float32, output_max: float32",
    Tinput=dtypes.QUANTIZED,
    infer=lambda input, *bounds, out_type: (input.shape, SCALAR, SCALAR),
    kernel=lambda *arrays, out_type: _requantize(np, *arrays, out_type),
    lower=lambda ctx, *values, out_type: _requantize(jnp, *values, out_type),
    grad=unregistered,  # integers
    out_type=dtypes.QUANTIZED,
)


def _requantization_range(xp, input, input_min, input_max):
    _scalars("RequantizationRange", input_min=input_min, input_max=input_max)
    return _used_range(xp, input, input_min, input_max)


REQUANTIZATION_RANGE = Op(
    "RequantizationRange",
    "input: Tinput, input_min: float32, input_max: float32 -> output_min: float32, output_max: float32",
    Tinput=dtypes.QUANTIZED,
    infer=lambda input, input_min, input_max: (SCALAR, SCALAR),
    kernel=lambda *arrays: _requantization_range(np, *arrays),
    lower=lambda ctx, *values: _requantization_range(jnp, *values),
    grad=unregistered,  # integers
)


def _shrink(xp, input, input_min, input_max, out_type):
    op = "QuantizeDownAndShrinkRange"
    _scalars(op, input_min=input_min, input_max=input_max)
    _check_quantized(op, "out_type", out_type)
    low, high = _used_range(xp, input, input_min, input_max)
    return _requantized(xp, input, input_min, input_max, low, high, out_type._np), low, high


QUANTIZE_DOWN_AND_SHRINK_RANGE = Op(
    "QuantizeDownAndShrinkRange",
    "input: Tinput, input_min: float32, input_max: float32, *, out_type: type "
    "-> output: out_type, output_min: float32, output_max: float32",
    Tinput=dtypes.QUANTIZED,
    infer=lambda input, input_min, input_max, out_type: (input.shape, SCALAR, SCALAR),
    kernel=lambda *arrays, out_type: _shrink(np, *arrays, out_type),
    lower=lambda ctx, *values, out_type: _shrink(jnp, *values, out_type),
    grad=unregistered,  # integers
    out_type=dtypes.QUANTIZED,
)


def _concat(xp, concat_dim, values, input_mins, input_maxes):
    op = "QuantizedConcat"
    if concat_dim.ndim:
        raise errors.invalid_argument(f"{op}: concat_dim must be a scalar, got shape {concat_dim.shape}.")
    if not len(values) == len(input_mins) == len(input_maxes):
        raise errors.invalid_argument(
            f"{op}: {len(values)} values need as many ranges, got {len(input_mins)} and {len(input_maxes)}."
        )
    for low, high in zip(input_mins, input_maxes):
        _scalars(op, input_mins=low, input_maxes=high)
    rank, axis = values[0].ndim, int(concat_dim)
    if not 0 <= axis < rank:
        raise errors.invalid_argument(f"{op}: concat_dim must be in [0, {rank}), got {axis}.")
    for value in values:
        if value.ndim != rank or any(n != m for i, (n, m) in enumerate(zip(value.shape, values[0].shape)) if i != axis):
            raise errors.invalid_argument(
                f"{op}: shapes must be equal but for axis {axis}, got {[each.shape for each in values]}."
            )
    low = xp.minimum(_F(0), xp.min(xp.stack(input_mins)))
    high = xp.max(xp.stack(input_maxes))
    storage = np.dtype(values[0].dtype)
    if storage == np.int32:
        # TF: 32-bit ranges are kept symmetric.
        high = xp.maximum(-low, high)
        low = -high
    parts = []
    for value, one, other in zip(values, input_mins, input_maxes):
        changed = to_integers(xp, to_floats(xp, value, one, other), low, high, storage)
        parts.append(xp.where((one == low) & (other == high), value, changed))
    return xp.concatenate(parts, axis), low.astype(np.float32), high.astype(np.float32)


def _infer_concat(concat_dim, values, input_mins, input_maxes):
    shapes = [spec.shape for spec in values]
    if concat_dim.value is None or any(shape.rank is None for shape in shapes):
        return UNKNOWN, SCALAR, SCALAR
    axis = int(concat_dim.value)
    if not 0 <= axis < shapes[0].rank:
        raise errors.invalid_argument(f"QuantizedConcat: concat_dim must be in [0, {shapes[0].rank}), got {axis}.")
    dims = shapes[0].as_list()
    lengths = [shape[axis] for shape in shapes]
    dims[axis] = None if None in lengths else sum(lengths)
    return TensorShape(dims), SCALAR, SCALAR


QUANTIZED_CONCAT = Op(
    "QuantizedConcat",
    "concat_dim: int32, values: N*T, input_mins: N*float32, input_maxes: N*float32 "
    "-> output: T, output_min: float32, output_max: float32",
    T=dtypes.QUANTIZED,
    infer=_infer_concat,
    kernel=lambda *arrays: _concat(np, *arrays),
    lower=lambda ctx, *values: _concat(jnp, *values),
    static=("concat_dim",),
    grad=unregistered,  # integers
)


@api("quantization.quantized_concat")
def quantized_concat(concat_dim, values, input_mins, input_maxes, name=None) -> "QuantizedConcat":
    """Join quantized tensors along an axis, in a range that holds all of theirs.

    Args:
        concat_dim: the axis.
        values: two or more tensors of one quantized dtype.
        input_mins: for each the float that its lowest integer stands for.
        input_maxes: for each the float that its highest integer stands for.
        name: accepted for compatibility.

    Returns:
        A namedtuple (output, output_min, output_max).
    """
    return QUANTIZED_CONCAT(concat_dim, values, input_mins, input_maxes, name=name)
