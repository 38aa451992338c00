"""Resizing photographs: images of bytes, of a size for which a few calls of NumPy on each are worth it.

Each call is long, and few are made, since at each one another thread may have its turn: pipelines resize images in
several threads. Results are equal to TensorFlow's within rounding, and where an image is of one colour, exactly.
"""

from __future__ import annotations

import functools

import numpy as np

from headrace._src.core.lazy import scipy_sparse
from headrace._src.ops.images import resize_weights

f32 = np.float32
# How many numbers an image must have after resizing.
_SMALLEST = 1 << 14
_MOST_CHANNELS = 7
# Weights of so few bits, times bytes, are exact, in whatever way they are summed.
_SHORT = 10
# How many columns one product makes: so few that most weights in it are not zero.
_COLUMNS = 8
# About how long steps take, in nanoseconds per number: making floats of bytes, mixing two rows, and two columns.
_CONVERT, _MIX, _PICK = 0.1, 0.35, 2.0


def can_resize(images, new_height, new_width) -> bool:
    """Whether this is the way for such images."""
    channels = images.shape[3]
    if images.itemsize != 1 or not images.size or channels > _MOST_CHANNELS:
        return False
    return new_height * new_width * channels >= _SMALLEST


def resize_bilinear(images, new_height, new_width, align_corners, half_pixel_centers):
    """Interpolate between rows and between columns, in the order that takes less time."""
    batch, height, width, channels = images.shape
    used, mixture = _row_mixture(height, new_height, align_corners, half_pixel_centers)
    widened = _column_step(width, channels, new_width, align_corners, half_pixel_centers)
    rows = mixture.shape[1]
    rows_first = rows * width * _CONVERT + new_height * (width * _MIX + new_width * _PICK)
    columns_first = rows * new_width * _PICK + new_height * new_width * _MIX

    def resized(image):
        lines = np.ascontiguousarray(image).reshape(height, -1)
        if used is not None:
            lines = lines.take(used, 0)
        return widened(mixture @ lines.astype(f32)) if rows_first < columns_first else mixture @ widened(lines)

    result = resized(images[0]) if batch == 1 else np.stack([resized(image) for image in images])
    return result.reshape(batch, new_height, new_width, channels)


@functools.lru_cache(1024)
def _row_mixture(old, new, align_corners, half_pixel_centers):
    """The rows that are used, None for all, and a sparse matrix that makes new rows of these.

    It sums fraction * high - fraction * low + low in this order, so that what is equal stays so.
    """
    low, high, fraction = resize_weights.bilinear(old, new, align_corners, half_pixel_centers)
    used = None
    if 2 * new < old:
        used = np.unique(np.concatenate([low, high]))
        low, high, old = np.searchsorted(used, low), np.searchsorted(used, high), len(used)
    if _are_short(fraction):  # the sum is exact in any case
        weights, chosen = np.stack([1 - fraction, fraction], 1), np.stack([low, high], 1)
    else:
        weights = np.stack([fraction, -fraction, np.ones_like(fraction)], 1)
        chosen = np.stack([high, low, low], 1)
    starts = np.arange(0, weights.size + 1, weights.shape[1], dtype=np.int32)
    parts = (weights.astype(f32).ravel(), chosen.astype(np.int32).ravel(), starts)
    return used, scipy_sparse.csr_matrix(parts, shape=(new, old))


def _are_short(weights):
    return not (np.ldexp(weights, _SHORT) % 1).any()


@functools.lru_cache(1024)
def _column_step(old, channels, new, align_corners, half_pixel_centers):
    """A function of lines, as (height, old * channels), that returns them as (height, new * channels)."""
    low, high, fraction = resize_weights.bilinear(old, new, align_corners, half_pixel_centers)
    if new % _COLUMNS == 0 and new >= old and _are_short(fraction):
        return _by_products(old, channels, low, high, fraction)
    numbers = np.arange(channels)
    left, right = ((column[:, None] * channels + numbers).ravel() for column in (low, high))
    across = np.repeat(fraction, channels)

    def interpolated(lines):
        first = lines.take(left, 1, mode="clip").astype(f32, copy=False)
        second = lines.take(right, 1, mode="clip").astype(f32, copy=False)
        second -= first
        second *= across
        second += first
        return second

    return interpolated


def _by_products(old, channels, low, high, fraction):
    """The same by products of matrices: windows of lines times the weights for a few columns."""
    low, high, fraction = (part.reshape(-1, _COLUMNS) for part in (low, high, fraction))
    first = low.min(1)
    count = int((high.max(1) - first).max()) + 1
    first = np.minimum(first, old - count)
    block, output = np.ogrid[: len(low), :_COLUMNS]
    weights = np.zeros((len(low), count, channels, _COLUMNS, channels), f32)
    for channel in range(channels):
        np.add.at(weights, (block, low - first[:, None], channel, output, channel), 1 - fraction)
        np.add.at(weights, (block, high - first[:, None], channel, output, channel), fraction)
    inputs, outputs = count * channels, _COLUMNS * channels
    weights, first = weights.reshape(len(first), inputs, outputs), first * channels

    def interpolated(lines):
        height, length = lines.shape
        shape, strides = (height, length - inputs + 1, inputs), (*lines.strides, lines.itemsize)
        windows = np.ndarray(shape, lines.dtype, lines, strides=strides)[:, first].astype(f32, copy=False)
        result = np.empty((height, len(first), outputs), f32)
        np.matmul(windows.transpose(1, 0, 2), weights, out=result.transpose(1, 0, 2))
        return result.reshape(height, -1)

    return interpolated
