"""Promotion of dtypes by `dtype_conversion_mode`: the rules of "all" and "safe", with weak types.

Python's numbers, and tensors made of them without a dtype, are weak: another operand's dtype counts before theirs. In
the mode "all", any two dtypes have a result. In the mode "safe", one operand must have the dtype of the result already,
and the other fit into it exactly.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.dtypes import DType

# The modes of `experimental_enable_numpy_behavior`.
MODES = ("off", "legacy", "safe", "all")

# What a weak operand may be, from the narrowest to the widest.
_WEAK_ORDER = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)
_KINDS = "buifc"  # bool, unsigned, signed, floating, complex

# The widest integers, in bits, that a floating dtype has exactly.
_EXACT_BITS = {dtypes.bfloat16: 8, dtypes.float16: 8, dtypes.float32: 16, dtypes.float64: 32}


class Kind(NamedTuple):
    """What promotion asks of an operand."""

    dtype: DType
    weak: bool = False


def promoted(kinds: list[Kind], safe: bool) -> Kind:
    """The dtype of a result of these operands.

    Raises:
        TypeError: in the mode "safe", when something could be lost.
    """

    def both(a, b):
        result = _of_two(a, b)
        if safe and not _is_safe(a, b, result):
            names = " and ".join(f"{k.dtype.name}{' (weak)' * k.weak}" for k in (a, b))
            raise TypeError(
                f"dtype_conversion_mode 'safe': {names} have no common dtype that holds both without loss. Cast one "
                "of them with tf.cast, or use the mode 'all'."
            )
        return result

    return reduce(both, kinds)


def _of_two(a: Kind, b: Kind) -> Kind:
    if a.weak and b.weak:
        return max(a, b, key=lambda kind: _WEAK_ORDER.index(kind.dtype))
    if a.weak or b.weak:
        return _with_weak(*(a, b) if b.weak else (b, a))
    return Kind(_of_strong(a.dtype, b.dtype))


def _with_weak(strong: Kind, weak: Kind) -> Kind:
    """The other operand's dtype, or the smallest of the weak one's kind that goes with it."""
    if strong.dtype is dtypes.bool:
        return weak
    mine, other = _rank(strong.dtype), _rank(weak.dtype)
    if other <= mine or (other == _KINDS.index("i") and mine == _KINDS.index("u")):
        return strong
    if weak.dtype._kind == "f":  # with integers
        return Kind(dtypes.float64, weak=True)
    if strong.dtype._kind != "f":  # integers with complex numbers
        return Kind(dtypes.complex128, weak=True)
    return Kind(dtypes.complex128 if strong.dtype is dtypes.float64 else dtypes.complex64)


def _of_strong(a: DType, b: DType) -> DType:
    if a is b:
        return a
    low, high = sorted((a, b), key=_rank)
    if low is dtypes.bool or (low._kind in "ui" and high._kind in "fc"):
        return high
    if {low, high} == {dtypes.bfloat16, dtypes.float16}:
        return dtypes.float32
    if dtypes.bfloat16 in (low, high):  # NumPy asks who made it
        other = low if high is dtypes.bfloat16 else high
        return other
    return dtypes.as_dtype(np.promote_types(low.as_numpy_dtype, high.as_numpy_dtype))


def _rank(dtype: DType) -> int:
    return _KINDS.index(dtype._kind)


def _is_safe(a: Kind, b: Kind, result: Kind) -> bool:
    if a.dtype is b.dtype or (a.weak and b.weak):
        return True
    for one, other in ((a, b), (b, a)):
        if one.weak and one.dtype._kind in "ui":
            return True  # a Python integer goes with everything
        if one.dtype is result.dtype and _fits(other.dtype, result.dtype, other.weak):
            return True
    return False


def _fits(dtype: DType, wide: DType, weak: bool) -> bool:
    """Whether all values of a dtype are values of another one, its components for complex numbers."""
    if dtype is dtypes.bool or (weak and _rank(dtype) <= _rank(wide)):
        return True
    if wide._kind == "c":
        wide = dtypes.float32 if wide is dtypes.complex64 else dtypes.float64
        if dtype._kind == "c":
            dtype = dtypes.float32 if dtype is dtypes.complex64 else dtypes.float64
    if wide._kind == "f" and dtype._kind in "ui":
        return dtype.size * 8 <= _EXACT_BITS[wide]
    return dtype.size < wide.size or dtype is wide
