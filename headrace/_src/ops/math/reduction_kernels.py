"""Reductions of large arrays: sums, axes where NumPy would go through very short rows, and several threads."""

import math

import numpy as np

from headrace._src.core.lazy import LazyModule

parts = LazyModule("headrace._src.core.parts")  # many programs have no large arrays

_MANY = 4096
# Sums are made of pieces of at most so many elements.
_PIECE = 1024
# Reductions wait for memory: so many bytes take several threads, so many of them at a time.
_MANY_BYTES, _BYTES_OF_A_PART = 10 << 20, 1 << 22
# Rows up to so many elements are reduced column by column.
_SHORT = 16
# Rows below so many elements are put together to rows of at most _LONG.
_NARROW = 64
_LONG = 2048
_QUICK = frozenset("fdbhilqBHILQ")


def reduced(ufunc: np.ufunc, x: np.ndarray, axes: tuple, keep_dims: bool = False, dtype=None):
    """`ufunc.reduce(x, axes, dtype, keepdims=keep_dims)` for an associative function.

    Args:
        ufunc: add, multiply, maximum, minimum.
        x: any array.
        axes: sorted, none negative.
        keep_dims: leave axes of length 1.
        dtype: that of the result where it is not NumPy's choice.
    """
    if x.size < _MANY or not axes or not x.flags.c_contiguous or x.dtype.char not in _QUICK:
        return ufunc.reduce(x, axes, dtype, None, keep_dims)
    if dtype is None and x.dtype.kind in "iu" and ufunc in (np.add, np.multiply):  # NumPy widens
        return ufunc.reduce(x, axes, dtype, None, keep_dims)
    shape, first, last = x.shape, axes[0], axes[-1]
    if (dtype is not None and dtype != x.dtype) or last - first + 1 != len(axes):
        return ufunc.reduce(x, axes, dtype, None, keep_dims)
    before = math.prod(shape[:first])
    count = math.prod(shape[first : last + 1])
    after = math.prod(shape[last + 1 :])
    blocks = x.reshape(before, count, after)
    if after == 1:
        rows = blocks[:, :, 0]
        if ufunc is np.add and x.dtype.kind == "f":
            found = _sums_of_rows(rows)
        elif x.nbytes >= _MANY_BYTES and before > 1:
            found = _of_many_rows(ufunc, rows)
        else:
            found = _of_short_rows(ufunc, rows)
    else:
        found = _of_narrow_rows(ufunc, blocks)
    if found is None:
        return ufunc.reduce(x, axes, dtype, None, keep_dims)
    middle = (1,) * len(axes) if keep_dims else ()
    return found.reshape(shape[:first] + middle + shape[last + 1 :])


def _sums_of_rows(rows):
    """By einsum, which takes a third of the time of np.add.reduce, and a fifth where rows are short.

    It adds up all of a row in a few sums, so longer rows are taken in pieces. The bits of a row's sum depend on the row
    only, not on where it stands.
    """
    count, width = rows.shape
    if width <= _PIECE:
        return _sums(rows)
    whole = width // _PIECE * _PIECE
    found = np.add.reduce(_sums(rows[:, :whole].reshape(count, -1, _PIECE)), 1)
    if whole < width:
        found += _sums(rows[:, whole:])
    return found


def _sums(rows):
    """Along the last axis; where these are very many, in several threads."""
    if rows.nbytes < _MANY_BYTES or not rows.flags.c_contiguous:
        return np.einsum("...i->...", rows)
    found = np.empty(rows.shape[:-1], rows.dtype)
    flat, target = rows.reshape(-1, rows.shape[-1]), found.reshape(-1)
    length = max(1, _BYTES_OF_A_PART // flat[:1].nbytes)
    parts.in_slices(lambda part: np.einsum("ij->i", flat[part], out=target[part]), len(flat), length)
    return found


def _of_many_rows(ufunc, rows):
    """In several threads. Each row is reduced by itself, in the same order."""
    found = np.empty(len(rows), rows.dtype)

    def reduce(part):
        short = _of_short_rows(ufunc, rows[part])
        found[part] = ufunc.reduce(rows[part], 1) if short is None else short

    parts.in_slices(reduce, len(rows), max(1, _BYTES_OF_A_PART // rows[:1].nbytes))
    return found


def _of_short_rows(ufunc, rows):
    count, width = rows.shape
    if ufunc is np.multiply and width >= 4 * _NARROW:
        # NumPy multiplies the numbers of a row one after the other, but rows in several numbers at a time.
        step = _LONG if width >= 2 * _LONG else _NARROW
        whole = width // step * step
        found = ufunc.reduce(ufunc.reduce(rows[:, :whole].reshape(count, -1, step), 1, rows.dtype), 1, rows.dtype)
        return ufunc(found, ufunc.reduce(rows[:, whole:], 1, rows.dtype), out=found)
    if not 1 < width <= _SHORT or count < _MANY // _SHORT:
        return None
    found = ufunc(rows[:, 0], rows[:, 1])
    for column in range(2, width):
        ufunc(found, rows[:, column], out=found)
    return found


def _of_narrow_rows(ufunc, blocks):
    before, count, after = blocks.shape
    if after >= _NARROW or count < _NARROW:
        return None
    together = min(_LONG // after, math.isqrt(count))
    whole = count // together * together
    if whole != count and before > 1:
        together = next((n for n in range(together, 1, -1) if count % n == 0), 1)
        whole = count
    if together * after < _NARROW:
        return None
    long = blocks[:, :whole].reshape(before, whole // together, together * after)
    found = ufunc.reduce(ufunc.reduce(long, 1, blocks.dtype).reshape(before, together, after), 1, blocks.dtype)
    if whole != count:
        ufunc(found, ufunc.reduce(blocks[:, whole:], 1, blocks.dtype), out=found)
    return found
