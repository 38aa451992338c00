"""Logarithms and powers of float64 arrays as the C library rounds them, which TensorFlow's samplers use.

On processors with AVX-512, NumPy has its own, which differ from the C library's in the last bit for some numbers.
"""

import functools
import math

import numpy as np

from headrace._src.core.lazy import scipy_special

# Enough numbers in (0, 1) to notice a NumPy that rounds otherwise: of these, more than ten differ.
_PROBES = (np.arange(1 << 14) + 0.5) / (1 << 14)


@functools.cache
def _numpy_rounds_as_c(ufunc, function, *parameters):
    expected = [function(x, *parameters) for x in _PROBES.tolist()]
    return np.array_equal(ufunc(_PROBES, *parameters), expected)


def log(x: np.ndarray) -> np.ndarray:
    """The natural logarithm of positive numbers."""
    if _numpy_rounds_as_c(np.log, math.log):
        return np.log(x)
    return scipy_special.xlogy(1.0, x)  # SciPy calls the C library


def log1p(x: np.ndarray) -> np.ndarray:
    """log(1 + x) for x > -1."""
    if _numpy_rounds_as_c(np.log1p, math.log1p):
        return np.log1p(x)
    return np.fromiter(map(math.log1p, x.tolist()), np.float64, x.size)


def power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x to the power of y, of vectors."""
    if _numpy_rounds_as_c(np.power, math.pow, 1.7):
        return x**y
    return np.fromiter(map(_power, x.tolist(), y.tolist()), np.float64, x.size)


def _power(x, y):
    try:
        return math.pow(x, y)
    except (OverflowError, ValueError):  # Python raises where C returns an infinity or NaN
        return np.power(x, y)
