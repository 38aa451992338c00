"""Grey-scale dilation of NumPy arrays, the maximum over a window of data plus filter, and its gradients.

Data is (batch, rows, columns, channels), filters are (rows, columns, channels).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from headrace._src.ops.windows import pool_kernels
from headrace._src.ops.windows.placement import Windows, tap_slices

_AXES = (1, 2)


def _computation_dtype(dtype: np.dtype) -> np.dtype:
    return dtype if dtype.kind in "iu" or dtype in (np.float32, np.float64) else np.dtype(np.float32)


def dilation(x: np.ndarray, filters: np.ndarray, w: Windows) -> np.ndarray:
    """The largest of data plus filter in each window."""
    shape = pool_kernels.output_shape(x.shape, _AXES, w)
    wide = _computation_dtype(x.dtype)
    lowest = np.iinfo(wide).min if wide.kind in "iu" else np.finfo(wide).min
    # TF: a window of no taps gives the lowest finite number.
    out = np.full(shape, lowest, wide)
    data, filters = x.astype(wide, copy=False), filters.astype(wide, copy=False)
    for tap in product(*map(range, w.window)):
        valid, read = tap_slices(w, tap)
        target = out[(slice(None), *valid)]
        np.maximum(target, data[(slice(None), *read)] + filters[tap], out=target)
    return out.astype(x.dtype, copy=False)


def _chosen(x: np.ndarray, filters: np.ndarray, w: Windows) -> np.ndarray:
    wide = _computation_dtype(x.dtype)
    addend = filters.astype(wide, copy=False)
    return pool_kernels.best_taps(x.astype(wide, copy=False), _AXES, w, addend)[1]


def _selected(dy: np.ndarray, chosen: np.ndarray, w: Windows) -> Iterator[tuple]:
    """For each tap: the tap, the positions it reads, and the gradients of the windows that chose it."""
    for number, tap in enumerate(product(*map(range, w.window))):
        valid, read = tap_slices(w, tap)
        at = (slice(None), *valid)
        yield tap, (slice(None), *read), np.where(chosen[at] == number, dy[at], dy.dtype.type(0))


def input_gradient(x: np.ndarray, filters: np.ndarray, dy: np.ndarray, w: Windows) -> np.ndarray:
    """The gradient by the data: each window's goes to the first position that has its maximum."""
    wide = _computation_dtype(x.dtype)
    dx = np.zeros(x.shape, wide)
    if x.size and dy.size:
        for _, read, grads in _selected(dy.astype(wide), _chosen(x, filters, w), w):
            dx[read] += grads
    return dx.astype(x.dtype, copy=False)


def filter_gradient(x: np.ndarray, filters: np.ndarray, dy: np.ndarray, w: Windows) -> np.ndarray:
    """The gradient by the filters: the sum over the windows that took their maximum at a tap."""
    wide = _computation_dtype(x.dtype)
    total = np.zeros(filters.shape, wide)
    if x.size and dy.size:
        for tap, _, grads in _selected(dy.astype(wide), _chosen(x, filters, w), w):
            total[tap] = grads.sum((0, 1, 2), dtype=wide)
    return total.astype(filters.dtype, copy=False)
