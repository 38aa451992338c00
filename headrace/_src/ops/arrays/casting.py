"""Changing the dtype of a tensor, by value (cast) or by bits (bitcast)."""

import logging

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.lazy import jnp, lax
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import on_last_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.graph_rules import same_elements
from headrace._src.op.infer import UNKNOWN, same_as_input
from headrace._src.op.registry import lookup
from headrace._src.op.traits import ELEMENTWISE
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.math.half_kernels import converted

logger = logging.getLogger("headrace")

CASTABLE = dtypes.NUMBER | dtypes.BOOL | dtypes.QUANTIZED | dtypes.FLOAT8 | dtypes.SMALL_INTEGER | {
    dtypes.float4_e2m1fn
}


def _float_to_integer(x, dtype):
    """What a processor's conversion gives: truncation, and outside the range the bits of a wider integer.

    TF: its vectorised and scalar code disagree outside the range; this is what the scalar code does.
    """
    size = dtype.itemsize
    if dtype.kind == "i" and size >= 4:
        return converted(x, dtype)
    if dtype.kind == "u" and size == 8:
        y = x.astype(dtype)
        large = x >= 18446744073709551616.0
        if large.any():
            y = np.where(large, dtype.type(2**63), y)
        return y
    return x.astype(np.int64 if size == 4 else np.int32).astype(dtype)


# How many bits of the fraction a narrower type lacks. TF: those are dropped by Truncate, in these pairs only.
_DROPPED_BITS = {
    ("float64", "float32"): 29,
    ("float64", "float16"): 42,
    ("float32", "float16"): 13,
    ("float32", "bfloat16"): 16,
    ("complex128", "complex64"): 29,
}


def _without_low_bits(x, count):
    kind = np.float64 if x.dtype.name in ("float64", "complex128") else np.float32
    bits = np.ascontiguousarray(x).view(f"u{np.dtype(kind).itemsize}")
    mask = np.array(-1 << count).astype(bits.dtype)
    return (bits & mask).view(x.dtype).reshape(x.shape)


def _cast(x, DstT, Truncate):
    dtype, source = DstT._np, x.dtype
    if source.hasobject or DstT not in CASTABLE:
        shown = "string" if source.hasobject else source.name
        raise errors.unimplemented(f"Cast {shown} to {DstT.name} is not supported")
    if source == dtype:
        return x
    kind = source.kind
    if kind == "c" and dtype.kind != "c":
        if dtype.kind == "b":
            return x.astype(bool)
        x = x.real
        source, kind = x.dtype, "f"
    if kind == "f" and dtype.kind in "iu":
        return _float_to_integer(x, dtype)
    if kind == "V" and DstT._kind in "iuq":  # bfloat16, float8
        wide = x.astype(np.float32)
        return _float_to_integer(wide, dtype) if dtype.kind in "iu" else wide.astype(dtype)
    if Truncate and (source.name, dtype.name) in _DROPPED_BITS:
        x = _without_low_bits(x, _DROPPED_BITS[source.name, dtype.name])
    if kind == "V" and dtype.kind == "V":
        return x.astype(np.float32).astype(dtype)
    return converted(x, dtype)


def _lower_cast(ctx, x, DstT, Truncate):
    dtype, source = DstT._np, np.dtype(x.dtype)
    if source.kind == "c" and dtype.kind != "c":
        if dtype.kind == "b":
            return x != 0
        x = x.real
        source = np.dtype(x.dtype)
    if source.kind in "fV" and source.itemsize > 1 and dtype.kind in "iu" and dtype.itemsize > 0:
        if source.itemsize == 2:
            x = x.astype(jnp.float32)
        return _lower_float_to_integer(x, dtype)
    if Truncate and (source.name, dtype.name) in _DROPPED_BITS:
        count = _DROPPED_BITS[source.name, dtype.name]
        if source.kind == "c":
            parts = [_lower_without_low_bits(part, count) for part in (x.real, x.imag)]
            return lax.complex(*parts).astype(dtype)
        x = _lower_without_low_bits(x, count)
    if dtype.kind == "b":
        return x != 0
    return x.astype(dtype)


def _lower_without_low_bits(x, count):
    kind = np.dtype(f"u{x.dtype.itemsize}")
    mask = np.array(-1 << count).astype(kind)
    return lax.bitcast_convert_type(lax.bitcast_convert_type(x, kind) & mask, x.dtype)


def _lower_float_to_integer(x, dtype):
    # XLA saturates, so what is out of range is chosen here as in the kernel.
    if dtype.kind == "u" and dtype.itemsize == 8:
        small = _lower_float_to_integer(x, np.dtype(np.int64)).astype(jnp.uint64)
        large = x >= 9223372036854775808.0
        huge = ~(x < 18446744073709551616.0)
        return jnp.where(large & ~huge, x.astype(jnp.uint64), jnp.where(huge, jnp.uint64(2**63), small))
    wide = np.dtype(np.int64 if dtype.itemsize == 8 or dtype == np.uint32 else np.int32)
    limit = -float(np.iinfo(wide).min)
    inside = (x >= -limit) & (x < limit)
    return jnp.where(inside, x.astype(wide), jnp.asarray(np.iinfo(wide).min, wide)).astype(dtype)


def _grad_cast(node, dy):
    source = node.x_dtype
    if source not in dtypes.DIFFERENTIABLE or node.attrs["DstT"] not in dtypes.DIFFERENTIABLE:
        return (None,)
    return (CAST(dy, DstT=source),)


def _can_cast_fail(step, constants):
    """Numbers can be cast to any numbers; strings cannot."""
    return step.inputs[0].dtype._kind not in "fciub" or step.outputs[0].dtype._kind not in "fciub"


CAST = Op(
    "Cast",
    "x: SrcT, *, DstT: type, Truncate: bool = False -> y: DstT",
    traits=ELEMENTWISE,
    partial=same_elements,
    can_fail=_can_cast_fail,
    infer=same_as_input,
    kernel=_cast,
    lower=_lower_cast,
    saves=("x_dtype",),
    grad=_grad_cast,
)


@api("cast", "dtypes.cast", elementwise=1)
def cast(x, dtype, name=None) -> Tensor:
    """`x` with elements of another dtype.

    Floats become integers by dropping the fraction, complex numbers real by dropping the imaginary part.

    >>> tf.cast([1.8, -2.2], tf.int32)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -2], dtype=int32)>

    Args:
        x: a tensor, or a sparse tensor or indexed slices, of which the values are cast.
        dtype: the wanted dtype.
        name: accepted for compatibility.

    Raises:
        TypeError: when `x` cannot become a tensor or strings would have to be numbers.
    """
    wanted = dtype if type(dtype) is dtypes.DType else dtypes.as_dtype(dtype)
    wanted = wanted.base_dtype
    if type(x) is not EagerTensor:
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, wanted), x.indices, x.dense_shape)
        if isinstance(x, CompositeTensor):
            raise TypeError(f"cast: x must be a tensor, got {type(x).__name__}.")
        x = to_tensor(x)
    source = x.dtype
    if source is wanted:
        return x
    if (wanted not in CASTABLE or source not in CASTABLE) and context.graph is None:  # TF: in a graph when it runs
        hint = ""
        if source is dtypes.string:
            hint = ". Use tf.strings.to_number(x, dtype) for texts of numbers."
        elif wanted is dtypes.string:
            hint = ". Use tf.strings.as_string(x)."
        raise errors.unimplemented(f"Cast {source.name} to {wanted.name} is not supported{hint} [Op:Cast]")
    if source._kind == "c" and wanted._kind in "fiuq":
        logger.warning(
            "cast: %s to %s drops the imaginary part, which may not be what you intended.",
            source.name,
            wanted.name,
        )
    if context.mode is None and type(x) is EagerTensor:
        # The way of plain eager execution, without the general one through `apply`.
        return EagerTensor(context.run_quietly(CAST.eager_kernel, x._a, DstT=wanted, Truncate=False), wanted)
    return CAST(x, DstT=wanted, name=name)


@api("saturate_cast", "dtypes.saturate_cast", elementwise=1)
def saturate_cast(value, dtype, name=None) -> Tensor:
    """`value` clipped to the range of `dtype`, then cast.

    >>> tf.saturate_cast([-5, 300], tf.uint8).numpy().tolist()
    [0, 255]
    """
    value = to_tensor(value, name="value")
    wanted = dtypes.as_dtype(dtype).base_dtype
    source = value.dtype
    if wanted._kind not in "fiucq":
        raise TypeError(f"saturate_cast: dtype must be numeric, got {wanted.name}.")
    if source._kind not in "fiucq":
        raise TypeError(f"saturate_cast: value must be numeric, got {source.name}.")
    if source._kind == "c":
        if wanted._kind == "c":
            if wanted is source or wanted is dtypes.complex128:
                return cast(value, wanted, name)
            parts = [lookup(part)(value, Tout=source.real_dtype) for part in ("Real", "Imag")]
            real, imag = (saturate_cast(part, wanted.real_dtype) for part in parts)
            return lookup("Complex")(real, imag, Tout=wanted, name=name)
        logger.warning("saturate_cast: the imaginary part of %s is dropped for %s.", source.name, wanted.name)
        value = lookup("Real")(value, Tout=source.real_dtype)
        source = value.dtype
    if source._kind in "fiu" and wanted._kind in "fiuc":
        low, high = source.min, source.max
        target_low, target_high = wanted.real_dtype.min, wanted.real_dtype.max
        if low < target_low:
            value = lookup("Maximum")(value, _bound(target_low, source, up=True))
        if high > target_high:
            value = lookup("Minimum")(value, _bound(target_high, source, up=False))
    return cast(value, wanted, name)


def _bound(limit, source, up):
    """A limit of the target in the source's dtype, on the inner side when it is not exactly there."""
    number = np.asarray(limit).astype(source._np)
    if source._kind == "f" and number.astype(np.float64) != float(limit):
        wide = number.astype(np.float64)
        if (up and wide < float(limit)) or (not up and wide > float(limit)):
            toward = np.asarray(0, source._np)
            number = np.nextafter(number, toward)
    return EagerTensor(np.asarray(number), source)


def _bitcast(input, type):
    out = type._np
    size, wanted = input.dtype.itemsize, out.itemsize
    if wanted > size:
        _bitcast_shape(TensorShape(input.shape), size, wanted)
    array = np.ascontiguousarray(input)
    if wanted == size:
        return array.view(out).reshape(input.shape)
    if wanted < size:
        return array.reshape(*input.shape, 1).view(out)
    return array.view(out).reshape(input.shape[:-1])


def _bitcast_shape(shape, size, wanted):
    if wanted == size or shape.rank is None:
        return shape
    if wanted < size:
        return shape.concatenate([size // wanted])
    ratio = wanted // size
    if shape.rank == 0:
        raise errors.invalid_argument(
            f"Bitcast: a scalar of {size} bytes cannot become an element of {wanted} bytes; the last "
            f"dimension of input must be {ratio}."
        )
    if shape[-1] is not None and shape[-1] != ratio:
        raise errors.invalid_argument(
            f"Bitcast: from {size} to {wanted} bytes, the last dimension of input must be {ratio}, "
            f"got shape {shape}."
        )
    return shape[:-1]


def _infer_bitcast(input, type):
    if input.shape.rank is None:
        return UNKNOWN
    return _bitcast_shape(input.shape, input.dtype._np.itemsize, type._np.itemsize)


def _lower_bitcast(ctx, input, type):
    dtype = np.dtype(input.dtype)
    if dtype.kind == "c" or type._np.kind == "c":
        real = np.dtype(f"f{(dtype if dtype.kind == 'c' else type._np).itemsize // 2}")
        if dtype.kind == "c" and type._np.kind == "c":
            return input
        if dtype.kind == "c":
            parts = jnp.stack([input.real, input.imag], -1)
            if type._np.itemsize <= real.itemsize:
                parts = lax.bitcast_convert_type(parts, type._np)
                flat = parts.reshape(*input.shape, -1)
                return flat
            return lax.bitcast_convert_type(parts, type._np)
        parts = lax.bitcast_convert_type(
            input if dtype.itemsize >= real.itemsize else input.reshape(*input.shape[:-1], 2, -1), real
        )
        return lax.complex(parts[..., 0], parts[..., 1])
    return lax.bitcast_convert_type(input, type._np)


BITS = dtypes.NUMBER | dtypes.QUANTIZED

BITCAST = Op(
    "Bitcast",
    "input: T, *, type: type -> output: type",
    T=BITS,
    type=BITS,
    infer=_infer_bitcast,
    kernel=_bitcast,
    lower=_lower_bitcast,
    grad=unregistered,
    vectorize=on_last_axes(),
)


@api("bitcast", ragged=1)
def bitcast(input, type, name=None) -> Tensor:
    """The same bytes read as another dtype, without copying.

    When the new dtype is narrower there is one more dimension, when it is wider the last one goes.

    >>> tf.bitcast(1.0, tf.int32).numpy() == 0x3f800000
    np.True_

    Raises:
        InvalidArgumentError: when the last dimension is not the ratio of the sizes.
    """
    wanted = dtypes.as_dtype(type).base_dtype
    if wanted not in BITS:
        raise errors.invalid_argument(f"Bitcast: type must be a number type, got {wanted.name}. [Op:Bitcast]")
    return BITCAST(input, type=wanted, name=name)
