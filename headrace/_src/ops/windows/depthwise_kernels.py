"""Depthwise convolution of NumPy arrays, in any number of spatial dims: forward and both gradients.

Data is (batch, *space, channels), filters are (*window, channels, multiplier), and output channel
`c * multiplier + m` is input channel `c` convolved with filter `(..., c, m)`. The taps of the window are
summed one by one over blocks of the batch that stay in the cache, and which several threads take. What the blocks
are depends on sizes only.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any

import numpy as np

from headrace._src.core.parts import in_parts
from headrace._src.ops.linalg.product_kernels import column_sums
from headrace._src.ops.windows.placement import Windows, reversed_windows

_BLOCK_BYTES = 1 << 20


def _computation_dtype(dtype: np.dtype) -> np.dtype:
    """Small floats are summed in float32; all others, wrapping integers included, in themselves."""
    return dtype if dtype.kind in "iuc" or dtype in (np.float32, np.float64) else np.dtype(np.float32)


def _each_block(function: Callable[[slice], Any], batch: int, elements: int, dtype: np.dtype) -> list:
    """The results of a function of blocks of a batch, given the elements of one image."""
    count = -(-batch * elements * dtype.itemsize // _BLOCK_BYTES)
    count = min(batch, max(1, count + count % 2 * (count > 1)))  # as many for each of two threads
    results = [None] * count

    def compute(number):
        results[number] = function(slice(number * batch // count, (number + 1) * batch // count))

    in_parts(compute, count)
    return results


class _Padded:
    """Blocks of images with their padding, so that every tap reads whole rows of windows: twice as fast."""

    def __init__(self, w: Windows, channels: int, dtype: np.dtype):
        sizes = tuple(sum(side) for side in zip(w.before, w.input, w.after, strict=True))
        self.shape = (*sizes, channels)
        self.dtype = dtype
        self.padded = any(w.before) or any(w.after)
        self.inner = tuple(slice(b, b + n) for b, n in zip(w.before, w.input, strict=True))
        self.taps = [
            (
                tap,
                tuple(
                    slice(k * d, k * d + (n - 1) * s + 1, s)
                    for k, d, n, s in zip(tap, w.dilation, w.output, w.stride, strict=True)
                ),
            )
            for tap in product(*map(range, w.window))
        ]

    def of(self, part: np.ndarray) -> np.ndarray:
        """A block with its padding, contiguous and in the dtype of the computation."""
        if not self.padded:
            return np.ascontiguousarray(part, self.dtype)
        stage = self.zeros(len(part))
        self.inside(stage)[...] = part
        return stage

    def zeros(self, images: int) -> np.ndarray:
        return np.zeros((images, *self.shape), self.dtype)

    def inside(self, stage: np.ndarray) -> np.ndarray:
        return stage[(slice(None), *self.inner)]


def _tiled(filters: np.ndarray, width: int, dtype: np.dtype) -> np.ndarray:
    """Filters repeated along the innermost axis of space, which makes inner loops long: 1.7 times as fast."""
    shape = (filters.shape[-1], *filters.shape[:-2], width, filters.shape[-2])
    moved = np.moveaxis(filters, -1, 0)
    return np.ascontiguousarray(np.broadcast_to(moved[..., None, :], shape), dtype)


def forward(x: np.ndarray, filters: np.ndarray, w: Windows) -> np.ndarray:
    """Convolves each channel of `x` with its own `multiplier` filters."""
    channels, multiplier = filters.shape[-2:]
    dtype = _computation_dtype(x.dtype)
    out = np.empty((x.shape[0], *w.output, channels, multiplier), x.dtype)
    if out.size and not filters.size:
        out[...] = 0
    elif out.size:
        tiled = _tiled(filters, w.output[-1], dtype)
        padded = _Padded(w, channels, dtype)

        def convolve(images):
            part = padded.of(x[images])
            scratch = np.empty((len(part), *w.output, channels), dtype)
            # With one filter per channel, the sum can grow in the result itself.
            in_place = multiplier == 1 and out.dtype == dtype
            total = out[images][..., 0] if in_place else np.empty_like(scratch)
            for m in range(multiplier):
                for i, (tap, read) in enumerate(padded.taps):
                    target = scratch if i else total
                    np.multiply(part[(slice(None), *read)], tiled[m][tap], out=target)
                    if i:
                        np.add(total, scratch, out=total)
                if not in_place:
                    out[images][..., m] = total

        _each_block(convolve, len(x), prod(w.output) * channels, dtype)
    return out.reshape(*out.shape[:-2], channels * multiplier)


def input_gradient(dy: np.ndarray, filters: np.ndarray, w: Windows) -> np.ndarray:
    """The gradient of a loss by the input, from the one by the result."""
    channels, multiplier = filters.shape[-2:]
    back = reversed_windows(w)
    if back is not None and multiplier == 1:
        flip = tuple(slice(None, None, -1) for _ in w.window)
        return forward(dy, filters[flip], back)
    dtype = _computation_dtype(dy.dtype)
    dx = np.zeros((dy.shape[0], *w.input, channels), dy.dtype)
    if dx.size and dy.size and filters.size:
        grads = dy.reshape(*dy.shape[:-1], channels, multiplier)
        tiled = _tiled(filters, w.output[-1], dtype)
        padded = _Padded(w, channels, dtype)

        def spread(images):
            total = padded.zeros(images.stop - images.start)
            for m in range(multiplier):
                part = np.ascontiguousarray(grads[images][..., m], dtype)
                scratch = np.empty_like(part)
                for tap, read in padded.taps:
                    target = total[(slice(None), *read)]
                    np.multiply(part, tiled[m][tap], out=scratch)
                    np.add(target, scratch, out=target)
            dx[images] = padded.inside(total)

        _each_block(spread, len(dy), prod(w.output) * channels, dtype)
    return dx


def filter_gradient(x: np.ndarray, dy: np.ndarray, multiplier: int, w: Windows) -> np.ndarray:
    """The gradient of a loss by the filters, from the one by the result."""
    channels = x.shape[-1]
    dtype = _computation_dtype(x.dtype)
    shape = (*w.window, channels, multiplier)
    total = np.zeros(shape, dtype)
    if total.size and dy.size and x.size:
        grads = dy.reshape(*dy.shape[:-1], channels, multiplier)
        padded = _Padded(w, channels, dtype)

        def sums(images):
            result = np.empty(shape, dtype)
            part = padded.of(x[images])
            scratch = np.empty((len(part), *w.output, channels), dtype)
            rows = scratch.reshape(-1, channels)
            for m in range(multiplier):
                grad = np.ascontiguousarray(grads[images][..., m], dtype)
                for tap, read in padded.taps:
                    np.multiply(part[(slice(None), *read)], grad, out=scratch)
                    result[(*tap, slice(None), m)] = column_sums(rows)
            return result

        for each in _each_block(sums, len(x), prod(w.output) * channels, dtype):
            total += each
    return total.astype(x.dtype, copy=False)
