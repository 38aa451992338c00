"""NumPy kernels that resize images: rows and columns one after the other, on whole arrays."""

from __future__ import annotations

import functools
import math

import numpy as np

from headrace._src.core import parts
from headrace._src.ops.images import photo_kernels, resize_weights

f32 = np.float32
# How many numbers are worked on at a time: few stay in the processor's caches, many need fewer calls of NumPy, each of
# which lets another thread have its turn.
_AT_ONCE = 1 << 19
# From so many bytes on, pixels are copied as a whole.
_WIDE = 16


def resize_nearest(images, rows, columns):
    """`images[:, rows][:, :, columns]`, by rows first, since whole rows are copied fast."""
    batch, _, width, channels = images.shape
    chosen = images.take(rows, 1)
    shape = (batch * len(rows), width, channels)
    return take_pixels(chosen.reshape(shape), columns).reshape(batch, len(rows), len(columns), channels)


def take_pixels(lines, columns):
    """`lines[:, columns]` for lines of pixels, (lines, width, channels), with the last two axes made one."""
    count, width, channels = lines.shape
    if channels * lines.itemsize >= _WIDE:
        return lines.take(columns, 1, mode="clip").reshape(count, -1)
    # NumPy copies single numbers faster than groups of a few.
    return lines.reshape(count, width * channels).take(_elements(columns, channels), 1, mode="clip")


def _elements(columns, channels):
    """Positions of the numbers of these pixels in a row."""
    if channels == 1:
        return columns
    return (columns[:, None] * channels + np.arange(channels)).ravel()


@functools.lru_cache(1024)
def _bilinear_plan(height, width, channels, itemsize, new_height, new_width, align_corners, half_pixel_centers):
    """Which rows are used at all, the rows among these, and the columns, as places of numbers if pixels are small."""
    low, high, down = resize_weights.bilinear(height, new_height, align_corners, half_pixel_centers)
    used = None
    if 2 * new_height < height:
        used = np.unique(np.concatenate([low, high]))
        low, high = np.searchsorted(used, low), np.searchsorted(used, high)
    left, right, across = resize_weights.bilinear(width, new_width, align_corners, half_pixel_centers)
    if channels * itemsize < _WIDE:
        left, right = _elements(left, channels), _elements(right, channels)
    return used, (low, high, down[:, None]), (left, right, np.repeat(across, channels))


def resize_bilinear(images, new_height, new_width, align_corners, half_pixel_centers):
    """TF: along each row first, then along columns, so that results are equal to the last bit."""
    batch, height, width, channels = images.shape
    if photo_kernels.can_resize(images, new_height, new_width):
        return photo_kernels.resize_bilinear(images, new_height, new_width, align_corners, half_pixel_centers)
    used, (low, high, down), (left, right, across) = _bilinear_plan(
        height, width, channels, images.itemsize, new_height, new_width, align_corners, half_pixel_centers
    )
    result = np.empty((batch, new_height, new_width * channels), f32)
    if not result.size:
        return result.reshape(batch, new_height, new_width, channels)
    small = channels * images.itemsize < _WIDE
    lines = images.reshape(batch, height, width * channels) if small else images
    if used is not None:
        lines = lines.take(used, 1)
    together = max(1, _AT_ONCE // max(1, max(lines.shape[1], new_height) * len(across)))

    def resize(part):
        group = lines[part]
        narrowed = _between_columns(group.reshape(-1, *group.shape[2:]), left, right, across)
        _between_rows(narrowed.reshape(len(group), lines.shape[1], -1), low, high, down, result[part])

    parts.in_slices(resize, batch, together)
    return result.reshape(batch, new_height, new_width, channels)


def _between_columns(lines, left, right, across):
    """Lines (lines, numbers), or (lines, pixels, channels), to lines of interpolated numbers."""
    result = np.empty((len(lines), len(across)), f32)
    at_once = max(1, _AT_ONCE // len(across))
    for start in range(0, len(lines), at_once):
        part = lines[start : start + at_once]
        first = part.take(left, 1, mode="clip").reshape(len(part), -1)
        if first.dtype != f32:
            first = first.astype(f32)
        second = result[start : start + at_once]
        if lines.dtype == f32:
            part.take(right, 1, second.reshape(*second.shape[:1], len(right), *part.shape[2:]), "clip")
        else:
            second[...] = part.take(right, 1, mode="clip").reshape(second.shape)
        second -= first
        second *= across
        second += first
    return result


def _between_rows(lines, low, high, down, result):
    count = lines.shape[1]
    steps = None
    if len(low) > count:
        # Fewer differences than results; those of a row with itself stand at the end.
        steps = np.zeros_like(lines)
        np.subtract(lines[:, 1:], lines[:, :-1], out=steps[:, :-1])
        high = np.where(high > low, low, count - 1)
    at_once = max(1, _AT_ONCE // (lines.shape[0] * lines.shape[2]))
    for start in range(0, len(low), at_once):
        rows = slice(start, start + at_once)
        first = lines.take(low[rows], 1)
        if steps is None:
            second = lines.take(high[rows], 1)
            second -= first
        else:
            second = steps.take(high[rows], 1)
        second *= down[rows]
        np.add(second, first, out=result[:, rows])


def apply_taps(images, rows, columns):
    """Weighted sums of rows and of columns, with `Taps` for both; float32."""
    batch, height, width, channels = images.shape
    shape = (batch, rows.outputs, columns.outputs, channels)
    if not images.size or 0 in shape:
        return np.zeros(shape, f32)
    x = images.astype(f32, copy=False)
    steps = [(_sum_rows, rows), (_sum_columns, columns)]
    if rows.outputs * width > height * columns.outputs:
        steps.reverse()
    result = np.empty(shape, f32)

    def apply(part):
        group = x[part]
        for step, taps in steps:
            group = step(np.ascontiguousarray(group), taps)
        result[part] = group

    size = max(height, rows.outputs) * max(width, columns.outputs) * channels
    parts.in_slices(apply, batch, max(1, _AT_ONCE // size))
    if images.dtype.kind not in "iu" and not np.isfinite(result).all():
        # In products of matrices, what is infinite reaches pixels that it has no weight in.
        return _tap_by_tap(_tap_by_tap(x, rows, 1), columns, 2)
    return result


# OpenBLAS gives larger products to several threads, which is slow for those of a few microseconds, the more so when
# other threads resize other images.
_PRODUCT = 1 << 18


def _block_size(taps, width, channels=1):
    """How many outputs one product makes: few have fewer zeros among the weights, many need fewer calls of NumPy.

    Args:
        taps: the weights.
        width: the size of the other axis of the product.
        channels: how many numbers a pixel has along this one.
    """
    inputs_per_output = max(taps.inputs / taps.outputs, 0.5) * channels**2
    most = math.sqrt(_PRODUCT / (width * inputs_per_output))
    return 2 ** int(np.clip(math.log2(max(most, 1)), 1, 4))


def _sum_rows(images, taps):
    batch, height, width, channels = images.shape
    lines = images.reshape(batch, height, width * channels)
    result = np.empty((batch, taps.outputs, width * channels), f32)
    for outputs, inputs, matrix in taps.blocks(_block_size(taps, width * channels)):
        np.matmul(matrix, lines[:, inputs], out=result[:, outputs])
    return result.reshape(batch, -1, width, channels)


def _sum_columns(images, taps):
    batch, height, width, channels = images.shape
    if channels >= 8:
        pixels = images.reshape(batch * height, width, channels)
        result = np.empty((batch * height, taps.outputs, channels), f32)
        for outputs, inputs, matrix in taps.blocks(_block_size(taps, channels)):
            np.matmul(matrix, pixels[:, inputs], out=result[:, outputs])
    else:
        # One product for all channels; the zeros between them cost less than moving the channels apart.
        lines = images.reshape(batch * height, width * channels)
        result = np.empty((batch * height, taps.outputs * channels), f32)
        for outputs, inputs, matrix in taps.blocks(_block_size(taps, batch * height, channels), channels):
            np.matmul(lines[:, inputs], matrix.T, out=result[:, outputs])
    return result.reshape(batch, height, taps.outputs, channels)


def _tap_by_tap(images, taps, axis):
    shape = [-1 if i == axis else 1 for i in range(4)]
    total = None
    for index, weight in zip(taps.index.T, taps.weight.T):
        part = images.take(index, axis) * weight.reshape(shape)
        total = part if total is None else total + part
    return total
