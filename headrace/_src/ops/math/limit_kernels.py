"""Kernels of the maximum and minimum of large arrays and one number, and of keeping elements by a condition."""

import numpy as np

from headrace._src.core import large_arrays
from headrace._src.core.parts import LONG_PART, in_long_slices

# From so many elements on, what is done once per call does not count.
_MANY = 8192
# From so many on, what takes the same time for any condition takes less than branches of which half go wrong.
_MANY_CHOICES = 512
_ROW = 2048
# From so many elements on, several threads take parts of an extreme, and of a gradient, which is three functions.
_DIVIDED, _DIVIDED_GRADIENT = 5 << 18, LONG_PART
_WORDS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


def _beside_number(extreme):
    """A kernel of two arrays, quick also where the second is a single number; it may write into a large `out`.

    NumPy has vector instructions for the extremes of two arrays, but not of an array and a number, which is
    therefore repeated in a row.
    """

    def kernel(x, y, out=None):
        if x.size < _MANY or y.size != 1 or y.ndim > x.ndim or x.dtype.kind not in "fiu" or x.dtype.itemsize < 4:
            return extreme(x, y)
        flat = np.ascontiguousarray(x).reshape(-1)
        result = np.empty(x.shape, x.dtype) if out is None else out
        out = result.reshape(-1)
        whole = flat.size // _ROW * _ROW
        number = np.asarray(y).reshape(())
        row = np.full(_ROW, number, x.dtype)
        rows, targets = flat[:whole].reshape(-1, _ROW), out[:whole].reshape(-1, _ROW)
        if whole < _DIVIDED:
            extreme(rows, row, out=targets)
        else:
            in_long_slices(lambda part: extreme(rows[part], row, out=targets[part]), len(rows), _ROW)
        extreme(flat[whole:], number, out=out[whole:])
        return result

    return kernel


maximum = _beside_number(np.maximum)
minimum = _beside_number(np.minimum)


def between(x, low, high):
    """`x` with greater values lowered to `high` and smaller ones then raised to `low`."""
    lowered = minimum(x, high)
    return maximum(lowered, low, lowered if lowered.flags.c_contiguous and lowered.flags.owndata else None)


def mask_of(condition, itemsize):
    """All bits set where the condition holds, none elsewhere, in words of `itemsize` bytes."""
    mask = np.negative(condition.view(np.int8))
    return mask.astype(_WORDS[itemsize], copy=False)


def kept(condition, x):
    """`x` where a condition that broadcasts to it holds, 0 elsewhere: without branches, which a processor guesses."""
    if x.size < _MANY_CHOICES or x.dtype.itemsize not in _WORDS or x.dtype.hasobject:
        return np.where(condition, x, np.zeros((), x.dtype))
    mask = mask_of(condition, x.dtype.itemsize)
    word = mask.dtype
    if x.shape == mask.shape and x.flags.c_contiguous and mask.flags.c_contiguous:
        return np.bitwise_and(mask, x.view(word), out=mask).view(x.dtype)
    return (mask & np.ascontiguousarray(x).view(word)).view(x.dtype)


def gradient_where(holds):
    """A kernel of gradients and data of one shape: the gradients where `holds(data)`, 0 elsewhere."""

    def kernel(dy, x):
        contiguous = x.flags.c_contiguous and dy.flags.c_contiguous
        if x.size < _DIVIDED_GRADIENT or not contiguous or dy.dtype.kind not in "fiu":
            return kept(holds(x), dy)
        result = large_arrays.empty(dy.shape, dy.dtype)
        word = _WORDS[dy.dtype.itemsize]
        data, grads, bits = x.reshape(-1), dy.reshape(-1).view(word), result.reshape(-1).view(word)

        def compute(part):
            words = bits[part]
            np.copyto(words, np.negative(holds(data[part]).view(np.int8)))
            np.bitwise_and(words, grads[part], out=words)

        in_long_slices(compute, x.size)
        return result

    return kernel


def chosen(condition, x, y):
    """`x` where the condition holds, `y` elsewhere; all of the same shape and of x's dtype."""
    if x.size < _MANY_CHOICES or x.dtype.itemsize not in _WORDS or x.dtype.hasobject:
        return np.where(condition, x, y)
    mask = mask_of(condition, x.dtype.itemsize)
    word = mask.dtype
    first, second = np.ascontiguousarray(x).view(word), np.ascontiguousarray(y).view(word)
    bits = first ^ second
    bits &= mask
    bits ^= second
    return bits.view(x.dtype)
