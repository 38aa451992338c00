"""Kernels for large float32 arrays of functions that NumPy computes number by number: expm1, log1p, elu, softplus, erf.

NumPy has vector instructions for sums and products, and on few processors for these functions. Here they are a few sums
and products each, computed in blocks that stay in the cache of a processor. They are within one or two units in the
last place (three where NumPy's own are taken, four in erf, where TensorFlow has six), and agree with the functions they
replace for infinities, NaN and signed zeros.
"""

import functools
import math
import threading

import numpy as np

from headrace._src.core.lazy import LazyModule, scipy_special
from headrace._src.op.lanes import MANY

large_arrays = LazyModule("headrace._src.core.large_arrays")  # many programs have none
parts = LazyModule("headrace._src.core.parts")

# From so many elements on the blocks pay; below, calls cost more than elements.
_MANY = 2048
_BLOCK = 32768
_SCRATCH = 4
_thread = threading.local()


def _single(number):
    """A float32 constant in the form that costs least beside an array."""
    return np.array(number, np.float32)


@functools.cache
def _has_vectors():
    """Whether NumPy has vector instructions for expm1 and log1p after all: on processors with AVX-512 it does."""
    found = np.lib.introspect.opt_func_info("^(expm1|log1p)$", "float32")
    current = [kinds.get("ff", {}).get("current", "") for kinds in found.values()]
    return len(current) == 2 and not any(name == "" or name.startswith("baseline") for name in current)


def in_blocks(function, otherwise, vectors=None):
    """A kernel: `function` over the blocks of large float32 arrays, `otherwise` for others.

    Args:
        function: takes a block of each input, where to write, and four arrays of the same size to compute in.
        otherwise: the kernel of all other arrays.
        vectors: is taken in the place of `function` where NumPy has vector instructions for expm1 and log1p.
    """

    def kernel(*inputs):
        x = inputs[0]
        size = x.size
        if size < _MANY or x.dtype != np.float32:
            return otherwise(*inputs)
        chosen = function if vectors is None or not _has_vectors() else vectors
        flat = [np.ascontiguousarray(array).reshape(-1) for array in inputs]
        if size > MANY:
            result = large_arrays.empty(x.shape, x.dtype)
            out = result.reshape(-1)
            parts.in_slices(lambda part: _compute(chosen, flat, out, part), size, large_arrays.BLOCK)
            return result
        result = np.empty(x.shape, x.dtype)
        out = result.reshape(-1)
        for start in range(0, size, _BLOCK):
            _compute(chosen, flat, out, slice(start, min(start + _BLOCK, size)))
        return result

    return kernel


def _compute(function, flat, out, part):
    size = part.stop - part.start
    # A call that interrupts this one finds none.
    arrays = _thread.__dict__.pop("arrays", None)
    if arrays is None or arrays.shape[1] < size:
        arrays = np.empty((_SCRATCH, size), np.float32)
    function(*[array[part] for array in flat], out[part], *arrays[:, :size])
    _thread.arrays = arrays


_ZERO, _HALF, _ONE, _TWO, _INFINITY = map(_single, (0, 0.5, 1, 2, np.inf))
# x = k ln 2 + r with an integer k: adding 1.5 * 2^23 leaves k in the low bits of a float32.
_FRACTION_BITS = 23
_ROUNDING = 1.5 * 2.0**_FRACTION_BITS
_ONE_OVER_LN2 = _single(1 / math.log(2))
# ln 2 in two parts; the first has 15 bits, so that its product with k is exact.
_LN2_FIRST = _single(round(math.log(2) * 2.0**15) / 2.0**15)
_LN2_SECOND = _single(math.log(2) - round(math.log(2) * 2.0**15) / 2.0**15)
# r / 2 coth(r / 2) = 1 + r^2 (A + B r^2) to 8e-9 for |r| <= ln 2 / 2.
_COTH_A, _COTH_B = _single(0.33333308 / 4), _single(-0.0221563 / 16)


def _reduced(x, magic, scale, part, r, other):
    """Writes 2^(k + bias) into `scale` and e^r - 1 into `part`, for e^x = 2^k e^r; `magic` holds the bias."""
    np.multiply(x, _ONE_OVER_LN2, scale)
    np.add(scale, magic, scale)
    np.subtract(scale, magic, other)
    bits = scale.view(np.int32)
    np.left_shift(bits, _FRACTION_BITS, bits)
    np.multiply(other, _LN2_FIRST, part)
    np.subtract(x, part, r)
    np.multiply(other, _LN2_SECOND, part)
    np.subtract(r, part, r)
    # e^r - 1 = r / (1 - w) = r + r w / (1 - w), with w = r / 2 - r^2 (A + B r^2): small, so that errors are
    np.multiply(r, r, part)
    np.multiply(part, _COTH_B, other)
    np.add(other, _COTH_A, other)
    np.multiply(other, part, other)
    np.multiply(r, _HALF, part)
    np.subtract(part, other, part)
    np.subtract(_ONE, part, other)
    np.divide(part, other, part)
    np.multiply(part, r, part)
    np.add(part, r, part)


def _magic(bias):
    return _single(_ROUNDING + 127 + bias)


_MAGIC = _magic(0)
_MINUS_ONE_BELOW = _single(-17.5)  # there e^x - 1 is -1 in float32


def _expm1_of_small(x, out, scale, part, r, other):
    """e^x - 1 for x in [-17.5, 88]; `out` may be `x`."""
    _reduced(x, _MAGIC, scale, part, r, other)
    np.multiply(part, scale, part)
    np.subtract(_ONE, scale, scale)
    np.subtract(part, scale, out)


_SIGN = np.array(-(2**31), np.int32)


def _take_sign(x, out, spare):
    """Gives a zero in `out` the sign it has in `x`; the others have it."""
    bits = spare.view(np.int32)
    np.bitwise_and(x.view(np.int32), _SIGN, bits)
    np.bitwise_or(out.view(np.int32), bits, out.view(np.int32))


def _elu(x, out, scale, part, r, other, expm1=_expm1_of_small):
    np.clip(x, _MINUS_ONE_BELOW, _ZERO, out=out)
    expm1(out, out, scale, part, r, other)
    np.maximum(out, x, out=out)  # e^x - 1 is never below x
    _take_sign(x, out, part)


_SELU_SCALE, _SELU_SCALE_ALPHA = _single(1.0507009873554805), _single(1.7580993408473766)


def _selu(x, out, scale, part, r, other, expm1=_expm1_of_small):
    np.clip(x, _MINUS_ONE_BELOW, _ZERO, out=out)
    expm1(out, out, scale, part, r, other)
    np.multiply(out, _SELU_SCALE_ALPHA, out)
    np.clip(x, _ZERO, _INFINITY, out=part)
    np.multiply(part, _SELU_SCALE, part)
    np.add(out, part, out)
    _take_sign(x, out, part)


_LARGE = 88  # so that 2^k is finite
_LARGE_LIMIT = _single(_LARGE)


def _expm1(x, out, scale, part, r, other):
    if not x.max() < _LARGE:
        np.expm1(x, out)
        return
    np.clip(x, _MINUS_ONE_BELOW, _LARGE_LIMIT, out=out)
    _expm1_of_small(out, out, scale, part, r, other)
    _take_sign(x, out, part)


# 2 artanh(s) = 2s + s^3 P(s^2), to 1e-9 of it for |s| <= 0.172 and to 5e-9 for |s| <= 1/3; greatest power first
_ARTANH = tuple(map(_single, (0.2987917, 0.39977287, 0.6666678)))
_ARTANH_TO_THIRD = tuple(map(_single, (0.28029912, 0.27998119, 0.40021756, 0.66666412)))


def _polynomial(coefficients, x, out):
    """The polynomial with the `coefficients`, greatest power first."""
    first, second, *others = coefficients
    np.multiply(x, first, out)
    np.add(out, second, out)
    for coefficient in others:
        np.multiply(out, x, out)
        np.add(out, coefficient, out)


def _log1p_excess(f, artanh, out, s, square):
    """f - log(1 + f)."""
    # With s = f / (2 + f): log(1 + f) = 2 artanh(s) and 2s = f - s f.
    np.add(f, _TWO, s)
    np.divide(f, s, s)
    np.multiply(s, s, square)
    _polynomial(artanh, square, out)
    np.multiply(out, square, out)
    np.subtract(f, out, out)
    np.multiply(out, s, out)


_SQUARE_ROOT_OF_2 = np.array(math.sqrt(2), np.float32).view(np.int32)
_EXPONENT_OF_1 = np.array(127 << _FRACTION_BITS, np.int32)
_HUGE = 2.0**126


def _log1p(x, out, scale, excess, s, other):
    if not (x.min() > -1 and x.max() < _HUGE):
        np.log1p(x, out)
        return
    # 1 + x = 2^k (1 + f), computed with -k: for k = 0 a zero keeps its sign.
    np.add(x, _ONE, scale)
    bits = scale.view(np.int32)
    np.subtract(_SQUARE_ROOT_OF_2, bits, bits)
    np.right_shift(bits, _FRACTION_BITS, bits)
    minus_k = other
    np.copyto(minus_k, bits, casting="unsafe")
    np.left_shift(bits, _FRACTION_BITS, bits)
    np.add(bits, _EXPONENT_OF_1, bits)
    np.multiply(x, scale, out)
    np.subtract(_ONE, scale, scale)
    np.subtract(out, scale, out)
    f = out
    _log1p_excess(f, _ARTANH, excess, s, scale)
    np.multiply(minus_k, _LN2_SECOND, s)
    np.add(excess, s, excess)
    np.subtract(f, excess, out)
    np.multiply(minus_k, _LN2_FIRST, s)
    np.subtract(out, s, out)


_ZERO_BELOW = _single(-104)
_RAISE, _LOWER = 24, _single(2.0**-24)
_MAGIC_RAISED = _magic(_RAISE)


def _softplus(x, out, scale, part, r, other):
    # max(x, 0) + log(1 + exp(-|x|))
    np.absolute(x, out)
    np.negative(out, out)
    np.clip(out, _ZERO_BELOW, _ZERO, out=out)
    # powers of two are raised, for the least ones are not normal numbers
    _reduced(out, _MAGIC_RAISED, scale, part, r, other)
    np.multiply(part, scale, part)
    np.add(part, scale, part)
    np.multiply(part, _LOWER, part)
    _log1p_excess(part, _ARTANH_TO_THIRD, scale, r, other)
    np.subtract(part, scale, part)
    np.clip(x, _ZERO, _INFINITY, out=out)
    np.add(out, part, out)



def _softplus_by_vectors(x, out, part, *_):
    np.absolute(x, out)
    np.negative(out, out)
    np.exp(out, part)
    np.log1p(part, part)
    np.clip(x, _ZERO, _INFINITY, out=out)
    np.add(out, part, out)


# erf(x) = tanh(x P(x^2)) to 1e-7, and 1 from 3.93 on; greatest power first.
_ERF = tuple(map(_single, (1.4185227258174847e-07, -5.668476448437236e-06, 8.763733249731218e-05)))
_ERF += tuple(map(_single, (-6.197846728185274e-04, -1.918307856247502e-04, 0.10276905578494369, 1.1283792743070933)))
_ERF_LOW, _ERF_HIGH = _single(-3.93), _single(3.93)


def _erf(x, out, square, *_):
    np.clip(x, _ERF_LOW, _ERF_HIGH, out=square)
    np.multiply(square, square, square)
    _polynomial(_ERF, square, out)
    np.multiply(out, x, out)
    np.tanh(out, out)


def _choose(condition, x, y, out, spare):
    """Into `out`, which may be `y`: `x` where the condition holds, `y` elsewhere; without branches."""
    mask = spare.view(np.int32)
    np.copyto(mask, np.negative(condition.view(np.int8)))
    bits, result = y.view(np.int32), out.view(np.int32)
    np.bitwise_xor(bits, x.view(np.int32), result)
    np.bitwise_and(result, mask, result)
    np.bitwise_xor(result, bits, result)


def _elu_grad(dy, y, out, slope, spare, *_):
    np.add(y, _ONE, slope)
    np.multiply(slope, dy, slope)
    _choose(y < 0, slope, dy, out, spare)


def _selu_grad(dy, y, out, slope, spare, other, _):
    np.add(y, _SELU_SCALE_ALPHA, slope)
    np.multiply(slope, dy, slope)
    np.multiply(dy, _SELU_SCALE, other)
    _choose(y < 0, slope, other, out, spare)


def _softplus_grad(dy, x, out, bottom, *_):
    np.negative(x, bottom)
    np.exp(bottom, bottom)
    np.add(bottom, _ONE, bottom)
    np.divide(dy, bottom, out)


def _sigmoid_grad(y, dy, out, slope, product, *_):
    np.multiply(dy, y, product)
    np.subtract(_ONE, y, slope)
    np.multiply(product, slope, out)


def _tanh_grad(y, dy, out, slope, *_):
    np.multiply(y, y, slope)
    np.subtract(_ONE, slope, slope)
    np.multiply(dy, slope, out)


def _elu_of_others(x):
    return np.where(x < 0, np.expm1(np.minimum(x, x.dtype.type(0))), x)


def _selu_of_others(x):
    number = x.dtype.type
    below = number(1.7580993408473766) * np.expm1(np.minimum(x, number(0)))
    return np.where(x < 0, below, number(1.0507009873554805) * x)


def _elu_grad_of_others(dy, y):
    return np.where(y < 0, (y + y.dtype.type(1)) * dy, dy)


def _selu_grad_of_others(dy, y):
    number = y.dtype.type
    return np.where(y < 0, (y + number(1.7580993408473766)) * dy, number(1.0507009873554805) * dy)


def _expm1_by_vectors(x, out, *_):
    np.expm1(x, out)


def _log1p_by_vectors(x, out, *_):
    np.log1p(x, out)


elu = in_blocks(_elu, _elu_of_others, functools.partial(_elu, expm1=_expm1_by_vectors))
selu = in_blocks(_selu, _selu_of_others, functools.partial(_selu, expm1=_expm1_by_vectors))
softplus = in_blocks(_softplus, lambda x: np.logaddexp(x, x.dtype.type(0)), _softplus_by_vectors)
expm1 = in_blocks(_expm1, np.expm1, _expm1_by_vectors)
log1p = in_blocks(_log1p, np.log1p, _log1p_by_vectors)
erf = in_blocks(_erf, lambda x: scipy_special.erf(x))
elu_grad = in_blocks(_elu_grad, _elu_grad_of_others)
selu_grad = in_blocks(_selu_grad, _selu_grad_of_others)
softplus_grad = in_blocks(_softplus_grad, lambda dy, x: dy / (np.exp(-x) + x.dtype.type(1)))
sigmoid_grad = in_blocks(_sigmoid_grad, lambda y, dy: dy * y * (y.dtype.type(1) - y))
# NumPy before 2.2 widens bfloat16 beside a Python number.
tanh_grad = in_blocks(_tanh_grad, lambda y, dy: dy * (y.dtype.type(1) - y * y))
