"""Rules for `Op(neutral=...)`: the constants `c` for which `x op c` is `x`, to the last bit."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Neutral(NamedTuple):
    """Which constants leave the other input as it is.

    Attributes:
        test: tells whether an array is such a constant; it includes signs of zeros.
        kinds: of dtypes for which that holds. Complex numbers are left out where parts mix: infinity times 0 is NaN.
        first: whether it holds for the first input, too.
        scalars: whether it holds for scalars only.
    """

    test: Callable
    kinds: str
    first: bool = False
    scalars: bool = False


def is_one(array) -> bool:
    """Whether all are 1."""
    return bool((array == 1).all())


def is_zero_to_add(array) -> bool:
    """Whether all are 0: -0.0 for floating numbers, since -0.0 + 0.0 is 0.0."""
    if (array != 0).any():
        return False
    return array.dtype.kind in "iu" or bool(_signs(array).all())


def is_zero_to_subtract(array) -> bool:
    """Whether all are 0, and none is -0.0."""
    if (array != 0).any():
        return False
    return array.dtype.kind in "iu" or not _signs(array).any()


def _signs(array):
    """Whether each number (each part of a complex one) has its sign bit set."""
    if array.dtype.kind == "c":
        return np.concatenate([np.signbit(array.real).ravel(), np.signbit(array.imag).ravel()])
    return np.signbit(array.astype(np.float64))
