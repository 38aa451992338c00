"""Floats of two bytes, float16 and bfloat16, to and from float32, and arithmetic with them: many at a time.

NumPy converts float16 one by one, and ml_dtypes converts bfloat16 under the interpreter's lock. Here NumPy's functions
of integers move the bits, with the same results, and several threads can do that at the same time. See
docs/decisions/0046-threads-of-one-operation.md.
"""

import math

import ml_dtypes
import numpy as np

HALF, BFLOAT16, SINGLE = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)

# Below so many elements, conversion one by one takes no longer, or to bfloat16 not much.
_FEW, _FEW_TO_BFLOAT16 = 1024, 1 << 17
_SMALLEST_NORMAL = np.full(4096, 2.0**-14, np.float32)  # of halves
_SIGN, _MAGNITUDE, _EXPONENT = 0x8000, 0x7FFFFFFF, 0x7F800000


def convert(source: np.ndarray, target: np.ndarray) -> None:
    """`target[...] = source`, for arrays of one shape: float32 and a float of two bytes, or float16 and bfloat16."""
    if source.dtype == SINGLE:
        narrow(source, target)
    elif target.dtype == SINGLE:
        widen(source, target)
    else:
        wide = np.empty(source.shape, SINGLE)
        widen(source, wide)
        narrow(wide, target)


def widen(source: np.ndarray, target: np.ndarray) -> None:
    """A float of two bytes to float32.

    The exponent of a half is then too small by 112, which a multiplication puts right, for subnormal numbers too.
    """
    if source.size < _FEW:
        target[...] = source
        return
    wide = target.view(np.int32)
    if source.dtype == BFLOAT16:
        wide[...] = source.view(np.int16)
        wide <<= 16
        return
    bits = source.view(np.int16)
    if np.bitwise_and(bits, 0x7FFF).max() >= 0x7C00:
        target[...] = source  # something is infinite or no number
        return
    wide[...] = bits
    wide <<= 13
    wide &= ~0x70000000
    target *= np.float32(2.0**112)


def narrow(source: np.ndarray, target: np.ndarray) -> None:
    """float32 to a float of two bytes."""
    few = _FEW_TO_BFLOAT16 if target.dtype == BFLOAT16 else _FEW
    if source.size < few or not source.flags.c_contiguous:
        target[...] = source
    elif target.dtype == BFLOAT16:
        _narrow_to_bfloat16(source, target)
    else:
        _narrow_to_half(source, target)


def _narrow_to_bfloat16(source, target):
    """The upper half of the bits, after half of its last place was added, or the next less if that place is even."""
    if math.isnan(source.max()):
        target[...] = source
        return
    bits = source.view(np.uint32)
    rounded = bits >> 16
    rounded &= 1
    rounded += bits
    rounded += 0x7FFF
    rounded >>= 16
    np.copyto(target.view(np.uint16), rounded, casting="unsafe")


def _narrow_to_half(source, target):
    """Let 2^e be the power of two in |x|, or 2^-14 if that is greater. Adding 2^(e + 13) rounds |x| to a multiple k of
    2^(e - 10), ties to even, and k is found in the low bits of the sum. The half is (e + 14) * 1024 + k, for subnormal
    ones too, and the sign. The sum has the exponent e + 140: moved down by 13 bits it stands where that of a half does,
    and is too large by 126, which is -2 in the six bits there: so k is made greater by 2048 from the beginning.
    """
    bits = source.view(np.int32)
    power = np.empty(source.shape, SINGLE)
    exponent = power.view(np.int32)
    np.bitwise_and(bits, _EXPONENT, out=exponent)
    _at_least(power, _SMALLEST_NORMAL)
    if power.max() > 2.0**15:  # too large for a half, infinite or no number
        target[...] = source
        return
    exponent += (13 << 23) + 2048
    other = np.bitwise_and(bits, _MAGNITUDE)
    power += other.view(SINGLE)
    half = exponent  # of which the low 16 bits count
    half += np.right_shift(half, 13, out=other)
    np.right_shift(bits, 16, out=other)
    other &= _SIGN
    half += other
    np.copyto(target.view(np.int16), half, casting="unsafe")


def _at_least(a, bounds):
    """`np.maximum` in place, for equal bounds: NumPy is three times faster with an array of them than with a number."""
    width = math.gcd(a.size, bounds.size)
    if width >= 64:
        a, bounds = a.reshape(-1, width), bounds[:width]
    else:
        bounds = bounds[0]
    np.maximum(a, bounds, out=a)


# What float32 rounds and two bytes round again is what two bytes round at once.
EXACT_IN_FLOAT32 = frozenset((np.add, np.subtract, np.multiply, np.divide, np.square))


def in_float32(function):
    """One of these functions for floats of two bytes, with an argument `out`."""

    def compute(*arrays, out):
        wide = []
        for array in arrays:
            wide.append(np.empty(array.shape, SINGLE))
            widen(array, wide[-1])
        result = np.empty(out.shape, SINGLE)
        narrow(function(*wide, out=result), out)

    return compute
