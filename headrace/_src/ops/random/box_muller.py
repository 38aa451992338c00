"""The Box-Muller transform from random words to normal numbers, with the C library's float32 rounding.

TensorFlow calls `logf` and `sincosf` of the C library; on Linux these are within 0.9 and 0.6 units in the
last place, not correctly rounded, so about one normal in thirty would differ in its last bit if the
logarithm, sine and cosine were computed in any other way. The same minimax polynomials, evaluated in float64
as that library does, give the same bits for every possible input (there are 2**23 of them).
"""

from __future__ import annotations

import math

import numpy as np

from headrace._src.ops.random import c_library

# TF: the smallest number whose logarithm is taken.
_SMALLEST = 1e-7
_MANTISSA = np.uint64(0x7FFFFF)
_LN2 = math.log(2.0)

# log(x) = k ln2 - log(c) + log1p(r), r = z c - 1: the reciprocals c of the midpoints of 16 intervals of z,
# and the coefficients of log1p(r) = r + p2 r**2 + p1 r**3 + p0 r**4.
_RECIPROCALS = np.array(
    [
        float.fromhex(digits)
        for digits in (
            "0x1.661ec79f8f3bep+0 0x1.571ed4aaf883dp+0 0x1.49539f0f010b0p+0 0x1.3c995b0b80385p+0 "
            "0x1.30d190c8864a5p+0 0x1.25e227b0b8ea0p+0 0x1.1bb4a4a1a343fp+0 0x1.12358f08ae5bap+0 "
            "0x1.0953f419900a7p+0 0x1.0000000000000p+0 0x1.e608cfd9a47acp-1 0x1.ca4b31f026aa0p-1 "
            "0x1.b2036576afce6p-1 0x1.9c2d163a1aa2dp-1 0x1.886e6037841edp-1 0x1.767dcf5534862p-1"
        ).split()
    ]
)
_LOGARITHMS = np.array([-math.log(c) for c in _RECIPROCALS])
_LOG1P = [
    float.fromhex(digits)
    for digits in ("-0x1.00ea348b88334p-2", "0x1.5575b0be00b6ap-2", "-0x1.ffffef20a4123p-2")
]
# Bits of the float32 at which the 16 intervals begin (about 0.699, so that z is near 1).
_INTERVALS = np.int32(0x3F330000)
_EXPONENT = np.int32(-0x800000)

# sin(x) = x + s0 x**3 + ..., cos(x) = 1 + c0 x**2 + ..., for |x| <= pi/4.
_SINE = [
    float.fromhex(digits)
    for digits in ("-0x1.555545995a603p-3", "0x1.1107605230bc4p-7", "-0x1.994eb3774cf24p-13")
]
_COSINE = [
    float.fromhex(digits)
    for digits in (
        "-0x1.ffffffd0c621cp-2",
        "0x1.55553e1068f19p-5",
        "-0x1.6c087e89a359dp-10",
        "0x1.99343027bf8c3p-16",
    )
]
_HALF_PI = math.pi / 2
_PER_HALF_PI = np.float64(2 / math.pi)  # as a NumPy scalar it makes float64 of float32


def box_muller_float32(radial: np.ndarray, angular: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turns pairs of random words into pairs of normal numbers.

    Args:
        radial, angular: random words (32-bit values in uint64 arrays, of which 23 bits are used), of any
            shape; they are overwritten.

    Returns:
        Two independent standard normal float32 arrays of that shape.
    """
    radial &= _MANTISSA
    angular &= _MANTISSA
    length = _radius(radial)
    sine, cosine = _sine_and_cosine(angular)
    first, second = sine.astype(np.float32), cosine.astype(np.float32)
    first *= length
    second *= length
    return first, second


def box_muller_float64(uniform: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same for two float64 arrays that are uniform on [0, 1)."""
    length = np.sqrt(-2.0 * c_library.log(np.maximum(uniform, _SMALLEST)))
    turn = 2.0 * math.pi * angle
    return np.sin(turn) * length, np.cos(turn) * length


def _radius(mantissas: np.ndarray) -> np.ndarray:
    """sqrt(-2 log(mantissa / 2**23)) in float32."""
    x = mantissas.astype(np.int32).astype(np.float32)
    x *= np.float32(2.0**-23)
    np.maximum(x, np.float32(_SMALLEST), out=x)
    return np.sqrt(np.float32(-2.0) * log_float32(x))


def log_float32(x: np.ndarray) -> np.ndarray:
    """The logarithm of positive, normal float32 numbers, with the bits of the C library's `logf`.

    `x` is overwritten.
    """
    bits = x.view(np.int32)
    offset = bits - _INTERVALS
    interval = ((offset >> np.int32(19)) & np.int32(15)).astype(np.intp)
    whole = (offset >> np.int32(23)) * _LN2
    offset &= _EXPONENT
    bits -= offset  # x is now z, the number scaled to the intervals
    r = _RECIPROCALS.take(interval)
    r *= x
    r -= 1.0
    whole += _LOGARITHMS.take(interval)
    whole += r
    result = r * _LOG1P[1]
    result += _LOG1P[2]
    r *= r
    result += r * _LOG1P[0]
    result *= r
    result += whole
    return result.astype(np.float32)


def _sine_and_cosine(mantissas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sine and cosine, in float64, of the float32 nearest to 2 pi mantissa / 2**23."""
    angle = (mantissas.view(np.int64) * (2.0 * math.pi * 2.0**-23)).astype(np.float32)
    turns = angle * _PER_HALF_PI
    np.rint(turns, out=turns)
    quadrant = turns.astype(np.int64)
    turns *= _HALF_PI
    x = np.subtract(angle, turns, out=turns)
    square = x * x

    power = x * square
    sine = power * _SINE[0]
    sine += x
    tail = np.multiply(square, _SINE[2], out=x)
    tail += _SINE[1]
    power *= square
    power *= tail
    sine += power

    np.multiply(square, square, out=power)
    cosine = square * _COSINE[0]
    cosine += 1.0
    cosine += np.multiply(power, _COSINE[1], out=tail)
    np.multiply(square, _COSINE[3], out=tail)
    tail += _COSINE[2]
    power *= square
    power *= tail
    cosine += power

    # In an odd quadrant sine and cosine change places; then each takes its quadrant's sign. On the bits, this
    # is several times quicker than selecting.
    sine_bits, cosine_bits = sine.view(np.int64), cosine.view(np.int64)
    swap = quadrant & 1
    np.negative(swap, out=swap)
    swap &= sine_bits ^ cosine_bits
    sine_bits ^= swap
    cosine_bits ^= swap
    sine_bits ^= (quadrant & 2) << 62
    quadrant += 1
    cosine_bits ^= (quadrant & 2) << 62
    return sine, cosine
