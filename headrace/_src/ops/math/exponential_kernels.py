"""Kernels for large float32 arrays of functions that NumPy computes number by number: expm1, log1p, elu, softplus, erf.

NumPy has vector instructions for sums and products, not for these functions. Here they are a few sums and products
each, computed in blocks that stay in the cache of a processor. They are within one or two units in the last place,
as the functions they replace, and agree with them for infinities, NaN and signed zeros.
"""

import math

import numpy as np

from headrace._src.core.lazy import LazyModule, scipy_special
from headrace._src.ops.math.half_kernels import MANY

parts = LazyModule("headrace._src.core.parts")  # many programs have no large arrays

# From so many elements on the blocks pay; below, calls cost more than elements.
_MANY = 2048
_BLOCK = 32768
_SCRATCH = 4


def _single(number):
    """A float32 constant in the form that costs least beside an array."""
    return np.array(number, np.float32)


def in_blocks(function, otherwise, scratch=np.float32, block=_BLOCK):
    """A kernel: `function` over the blocks of large float32 arrays, `otherwise` for others.

    Args:
        function: takes a block of each input, where to write, and four arrays of the same size to compute in.
        otherwise: the kernel of all other arrays.
        scratch: the dtype of those four arrays.
        block: the number of elements that go at once.
    """

    def kernel(*inputs):
        x = inputs[0]
        if x.size < _MANY or x.dtype != np.float32:
            return otherwise(*inputs)
        flat = [np.ascontiguousarray(array).reshape(-1) for array in inputs]
        result = np.empty(x.shape, x.dtype)
        out = result.reshape(-1)
        if x.size > MANY:
            parts.in_slices(lambda part: _compute(function, flat, out, part.start, part.stop, scratch), x.size, block)
            return result
        arrays = tuple(np.empty((_SCRATCH, min(block, x.size)), scratch))
        for start in range(0, x.size, block):
            end = min(start + block, x.size)
            if end - start < arrays[0].size:
                arrays = tuple(array[: end - start] for array in arrays)
            function(*[array[start:end] for array in flat], out[start:end], *arrays)
        return result

    return kernel


def _compute(function, flat, out, start, end, scratch):
    arrays = np.empty((_SCRATCH, end - start), scratch)
    function(*[array[start:end] for array in flat], out[start:end], *arrays)


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


def _elu(x, out, scale, part, r, other):
    np.clip(x, _MINUS_ONE_BELOW, _ZERO, out=out)
    _expm1_of_small(out, out, scale, part, r, other)
    np.maximum(out, x, out=out)  # e^x - 1 is never below x
    _take_sign(x, out, part)


_SELU_SCALE, _SELU_SCALE_ALPHA = _single(1.0507009873554805), _single(1.7580993408473766)


def _selu(x, out, scale, part, r, other):
    np.clip(x, _MINUS_ONE_BELOW, _ZERO, out=out)
    _expm1_of_small(out, out, scale, part, r, other)
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



# erf(x) = x N(x^2) / D(x^2) to 2e-8, and 1 to 5e-11 from 3.96 on; in float64, for errors of the terms add up.
_ERF_TOP = (2.017957460393227e-06, 2.8464346393443737e-04, 3.822801515048647e-03)
_ERF_TOP += (5.291929754108073e-02, 1.9194118233651172e-01, 1.1283791429066952)
_ERF_BOTTOM = (3.774725343331295e-05, 1.1735821757020387e-03, 1.5084682625314653e-02)
_ERF_BOTTOM += (1.147140588240303e-01, 5.034360967644501e-01, 1.0)
_ERF_N, _ERF_D = tuple(map(np.array, _ERF_TOP)), tuple(map(np.array, _ERF_BOTTOM))
_ERF_LOW, _ERF_HIGH = np.array(-3.96), np.array(3.96)


def _erf(x, out, wide, square, top, bottom):
    np.copyto(wide, x)
    np.clip(wide, _ERF_LOW, _ERF_HIGH, out=wide)
    np.multiply(wide, wide, square)
    _polynomial(_ERF_N, square, top)
    _polynomial(_ERF_D, square, bottom)
    np.divide(top, bottom, top)
    np.multiply(top, wide, top)
    np.copyto(out, top, casting="same_kind")


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


elu = in_blocks(_elu, _elu_of_others)
selu = in_blocks(_selu, _selu_of_others)
softplus = in_blocks(_softplus, lambda x: np.logaddexp(x, x.dtype.type(0)))
expm1 = in_blocks(_expm1, np.expm1)
log1p = in_blocks(_log1p, np.log1p)
erf = in_blocks(_erf, lambda x: scipy_special.erf(x), np.float64, _BLOCK // 2)
elu_grad = in_blocks(_elu_grad, _elu_grad_of_others)
selu_grad = in_blocks(_selu_grad, _selu_grad_of_others)
softplus_grad = in_blocks(_softplus_grad, lambda dy, x: dy / (np.exp(-x) + x.dtype.type(1)))
sigmoid_grad = in_blocks(_sigmoid_grad, lambda y, dy: dy * y * (y.dtype.type(1) - y))
# NumPy before 2.2 widens bfloat16 beside a Python number.
tanh_grad = in_blocks(_tanh_grad, lambda y, dy: dy * (y.dtype.type(1) - y * y))
