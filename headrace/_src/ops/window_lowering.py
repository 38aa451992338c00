"""Windows on jax values, tap by tap: what each tap reads, which tap has the maximum, and writing back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from headrace._src.core.lazy import jnp, lax
from headrace._src.ops.windows import Windows, tap_slices


def lowest(dtype):
    """What is below every number of the dtype."""
    return jnp.iinfo(dtype).min if jnp.issubdtype(dtype, jnp.integer) else -jnp.inf


def _index(axes, parts, rank):
    index = [slice(None)] * rank
    for axis, part in zip(axes, parts, strict=True):
        index[axis] = part
    return tuple(index)


def tap_values(x, axes: Sequence[int], w: Windows, fill, addend=None) -> Iterator[tuple[int, object]]:
    """For each tap its number and what it reads for all windows, `fill` where that is outside.

    Args:
        x: the data.
        axes: the axes of the windows.
        w: the windows.
        fill: stands for what is outside the data.
        addend: None, or what is added to each tap, of the shape (*window, channels).
    """
    for number, tap in enumerate(product(*map(range, w.window))):
        valid, read = tap_slices(w, tap)
        value = x[_index(axes, read, x.ndim)]
        if addend is not None:
            value = value + addend[tap]
        edges = [(0, 0, 0)] * x.ndim
        for axis, part, output in zip(axes, valid, w.output, strict=True):
            edges[axis] = (part.start, output - part.stop, 0)
        yield number, lax.pad(value, jnp.asarray(fill, x.dtype), edges)


def _firsts(axes, w: Windows, rank) -> np.ndarray:
    """The number of the first tap inside the data, for each window."""
    total = np.zeros((1,) * rank, np.int64)
    for i, axis in enumerate(axes):
        start = np.arange(w.output[i]) * w.stride[i] - w.before[i]
        first = np.maximum(0, -(start // w.dilation[i]))
        shape = [1] * rank
        shape[axis] = -1
        total = total * w.window[i] + first.reshape(shape)
    return total


def chosen_taps(x, axes: Sequence[int], w: Windows, addend=None):
    """The number of the tap that has each window's maximum: the first one, if several have it.

    Args:
        x: the data.
        axes: the axes of the windows.
        w: the windows.
        addend: None, or what is added to each tap, of the shape (*window, channels).
    """
    firsts = _firsts(axes, w, x.ndim)
    best = chosen = None
    for number, value in tap_values(x, axes, w, lowest(x.dtype), addend):
        if best is None:
            best, chosen = value, jnp.zeros(value.shape, jnp.int32)
            continue
        larger = value > best
        if (firsts == number).any():
            # What lies inside the data comes before any padding, even if it is NaN or as low as can be.
            larger = larger | (firsts == number)
        best = jnp.where(larger, value, best)
        chosen = jnp.where(larger, number, chosen)
    return chosen


def spread(values, tap: tuple[int, ...], axes: Sequence[int], w: Windows):
    """Values of one tap for all windows, each put where the tap reads; zeros elsewhere."""
    valid, read = tap_slices(w, tap)
    edges = [(0, 0, 0)] * values.ndim
    for i, axis in enumerate(axes):
        count = valid[i].stop - valid[i].start
        if count == 0:
            return jnp.zeros(_resized(values.shape, axes, w.input), values.dtype)
        start, stride = read[i].start, w.stride[i]
        edges[axis] = (start, w.input[i] - start - (count - 1) * stride - 1, stride - 1)
    return lax.pad(values[_index(axes, valid, values.ndim)], jnp.zeros((), values.dtype), edges)


def _resized(shape, axes, sizes):
    shape = list(shape)
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    return shape
