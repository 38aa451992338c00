"""Large arrays of floats of two bytes: conversion to and from float32, and functions of them by table."""

import sys

import ml_dtypes
import numpy as np

from headrace._src.core.lazy import LazyModule
from headrace._src.op.lanes import MANY

# Many programs have none.
half_floats = LazyModule("headrace._src.core.half_floats")
large_arrays = LazyModule("headrace._src.core.large_arrays")
parts = LazyModule("headrace._src.core.parts")

_HALF, _SINGLE, _BFLOAT16 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)
# So many become float32 in one thread: others read that next, and what one processor has written and another has read
# takes longer to be written over the next time than to convert.
_STAYS_IN_CACHE = 1 << 21
# Elements from which on bits are moved many at a time; several threads move more than MANY. bfloat16 and float32 become
# each other quicker one by one as long as that is done by one thread.
_MANY = 4096
_WORTH = {
    (_HALF, _SINGLE): _MANY, (_SINGLE, _HALF): _MANY, (_HALF, _BFLOAT16): _MANY,
    (_SINGLE, _BFLOAT16): MANY, (_BFLOAT16, _SINGLE): _STAYS_IN_CACHE,
}  # fmt: skip
_BLOCK = 65536
# From so many elements on, the function of all numbers of two bytes costs less than that of the elements.
_MORE_THAN_ALL = 1 << 17
_ALL = 1 << 16


def converted(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """`x.astype(dtype)`, where between float16, bfloat16 and float32 bits are moved many at a time."""
    if x.size < _MANY or x.size < _WORTH.get((x.dtype, dtype), sys.maxsize):
        return x.astype(dtype) if x.size < MANY else large_arrays.cast(x, dtype)
    source = np.ascontiguousarray(x).reshape(-1)
    result = large_arrays.empty(x.shape, dtype)
    target = result.reshape(-1)

    def convert(part):
        half_floats.convert(source[part], target[part])

    _by_parts(convert, x.size, _STAYS_IN_CACHE if dtype == _SINGLE else MANY)
    return result


def widened(x: np.ndarray) -> np.ndarray:
    """`x` in float32."""
    return converted(x, _SINGLE)


def through_float32(function, takes_out: bool = False):
    """`function` of one array, with floats of two bytes computed in float32, where NumPy is quicker and more exact.

    Args:
        function: of an array.
        takes_out: it has an argument `out`, as NumPy's functions have; then large arrays take several threads.
    """
    tables: dict = {}
    many = MANY if takes_out or isinstance(function, np.ufunc) else sys.maxsize

    def kernel(x):
        dtype = x.dtype
        if dtype.itemsize != 2 or dtype.kind not in "fV":
            return large_arrays.divided(function, x) if x.size > many else function(x)
        if x.size < _MORE_THAN_ALL:
            return function(x.astype(_SINGLE)).astype(dtype)
        table = tables.get(dtype)
        if table is None:
            numbers = np.arange(_ALL, dtype=np.uint16).view(dtype)
            table = tables[dtype] = function(numbers.astype(_SINGLE)).astype(dtype)
        return _looked_up(table, x)

    return kernel


def _looked_up(table, x):
    source = np.ascontiguousarray(x).reshape(-1).view(np.uint16)
    result = large_arrays.empty(x.shape, x.dtype)
    target, table = result.reshape(-1).view(np.uint16), table.view(np.uint16)

    def look_up(part):
        np.take(table, source[part].astype(np.intp), out=target[part], mode="clip")

    _by_parts(look_up, x.size)
    return result


def _by_parts(function, size, many=MANY):
    """Call the function with slices of so many elements, in several threads where these are more than `many`."""
    if size > many:
        parts.in_long_slices(function, size)
    else:
        for start in range(0, size, _BLOCK):
            function(slice(start, start + _BLOCK))
