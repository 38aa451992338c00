"""Windows on jax values, tap by tap: what each tap reads, which tap has the maximum, and the way back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from headrace._src.core.lazy import jnp, lax
from headrace._src.ops.windows.placement import Windows, tap_slices


def lowest(dtype):
    """What is below every number of the dtype."""
    return jnp.iinfo(dtype).min if jnp.issubdtype(dtype, jnp.integer) else -jnp.inf


def _pad(x, fill, edges):
    """`x` with edges of `fill`, once for all taps: the barrier keeps XLA from padding anew for each."""
    if all(edge == (0, 0, 0) for edge in edges):
        return x
    return lax.optimization_barrier(lax.pad(x, jnp.asarray(fill, x.dtype), edges))


def _outside(axes, w: Windows, tap, rank) -> np.ndarray | None:
    """For which windows a tap lies outside the data, in a shape that broadcasts; None if for none."""
    valid, _ = tap_slices(w, tap)
    if all((v.start, v.stop) == (0, n) for v, n in zip(valid, w.output, strict=True)):
        return None
    inside = np.ones((1,) * rank, bool)
    for axis, v, n in zip(axes, valid, w.output, strict=True):
        along = (np.arange(n) >= v.start) & (np.arange(n) < v.stop)
        inside = inside & along.reshape([-1 if a == axis else 1 for a in range(rank)])
    return ~inside


def tap_values(x, axes: Sequence[int], w: Windows, fill, addend=None) -> Iterator[tuple[int, object]]:
    """For each tap its number and what it reads for all windows, `fill` where that is outside.

    Args:
        x: the data.
        axes: the axes of the windows.
        w: the windows.
        fill: stands for what is outside the data.
        addend: None, or what is added to each tap, of the shape (*window, channels).
    """
    edges = [(0, 0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        reach = (w.output[i] - 1) * w.stride[i] + (w.window[i] - 1) * w.dilation[i] + 1
        edges[axis] = (w.before[i], max(0, reach - w.before[i] - w.input[i]), 0)
    padded = _pad(x, fill, edges)
    for number, tap in enumerate(product(*map(range, w.window))):
        start, stop, step = [0] * x.ndim, list(padded.shape), [1] * x.ndim
        for i, axis in enumerate(axes):
            start[axis] = tap[i] * w.dilation[i]
            stop[axis] = start[axis] + (w.output[i] - 1) * w.stride[i] + 1
            step[axis] = w.stride[i]
        value = lax.slice(padded, start, stop, step)
        if addend is not None:
            value = value + addend[tap]
            outside = _outside(axes, w, tap, x.ndim)
            value = value if outside is None else jnp.where(outside, jnp.asarray(fill, x.dtype), value)
        yield number, value


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
            best, chosen = value, jnp.zeros(value.shape, np.min_scalar_type(-math.prod(w.window)))
            continue
        larger = value > best
        if (firsts == number).any():
            # What lies inside the data comes before any padding, even if it is NaN or as low as can be.
            larger = larger | (firsts == number)
        best = jnp.where(larger, value, best)
        chosen = jnp.where(larger, number, chosen)
    return chosen


def readers(axes: Sequence[int], w: Windows, *arrays) -> Iterator[tuple]:
    """For each tap its number and, for every position, the values of the window that reads it by the tap.

    Args:
        axes: the axes of the windows.
        w: the windows.
        *arrays: pairs of values of the windows, and what stands for no window.
    """
    spread = []
    for values, fill in arrays:
        edges = [(0, 0, 0)] * values.ndim
        for i, axis in enumerate(axes):
            reach = (w.window[i] - 1) * w.dilation[i]
            last = w.input[i] - 1 + w.before[i] - (w.output[i] - 1) * w.stride[i]
            edges[axis] = (max(0, reach - w.before[i]), max(0, last), w.stride[i] - 1)
        spread.append(_pad(values, fill, edges))
    for number, tap in enumerate(product(*map(range, w.window))):
        parts = []
        for each in spread:
            start, stop = [0] * each.ndim, list(each.shape)
            for i, axis in enumerate(axes):
                reach = (w.window[i] - 1) * w.dilation[i]
                start[axis] = w.before[i] - tap[i] * w.dilation[i] + max(0, reach - w.before[i])
                stop[axis] = start[axis] + w.input[i]
            parts.append(lax.slice(each, start, stop))
        yield (number, *parts)


def are_apart(w: Windows) -> bool:
    """Whether windows do not overlap."""
    return all(
        (size - 1) * dilation < stride or output == 1
        for size, dilation, stride, output in zip(w.window, w.dilation, w.stride, w.output, strict=True)
    )


class _Apart:
    """Windows that do not overlap: each position is read by one window at most, so that no gradients are added up.

    What each window has is spread over its positions by broadcasting: an axis of the windows becomes two, the first for
    the windows, the second for the positions from one to the next.
    """

    def __init__(self, axes: Sequence[int], w: Windows):
        self._axes, self._windows = axes, w
        self._reach = [
            max(stride, (size - 1) * dilation + 1)
            for size, dilation, stride in zip(w.window, w.dilation, w.stride, strict=True)
        ]
        self._inner = tuple(axis + sum(other < axis for other in axes) + 1 for axis in axes)

    def tap_numbers(self, rank, dtype) -> np.ndarray:
        """By which tap each position is read; -1 where by none."""
        w = self._windows
        numbers = np.zeros((1,) * (rank + len(self._axes)), dtype)
        for i, axis in enumerate(self._inner):
            along = np.full(self._reach[i], -1)
            along[: (w.window[i] - 1) * w.dilation[i] + 1 : w.dilation[i]] = np.arange(w.window[i])
            along = along.reshape([-1 if a == axis else 1 for a in range(numbers.ndim)])
            numbers = np.where((numbers < 0) | (along < 0), -1, numbers * w.window[i] + along)
        return numbers.astype(dtype)

    def of_windows(self, values):
        """Values of windows, to be broadcast to their positions."""
        return jnp.expand_dims(values, self._inner)

    def of_positions(self, x, fill):
        """Data by window and position, with `fill` where windows reach beyond it."""
        edges, shape = [(0, 0, 0)] * x.ndim, []
        for axis, size in enumerate(x.shape):
            if axis in self._axes:
                before, after, parts = self._place(axis)
                edges[axis] = (before, after, 0)
                shape += parts
            else:
                shape.append(size)
        return lax.pad(x, jnp.asarray(fill, x.dtype), edges).reshape(shape)

    def as_data(self, spread):
        """The way back: values by window and position in the shape of the data, zero where nothing reads."""
        shape = [size for axis, size in enumerate(spread.shape) if axis not in self._inner]
        edges = [(0, 0, 0)] * len(shape)
        for axis in self._axes:
            before, after, (windows, positions) = self._place(axis)
            shape[axis] = windows * positions
            edges[axis] = (-before, -after, 0)
        return lax.pad(spread.reshape(shape), jnp.zeros((), spread.dtype), edges)

    def _place(self, axis):
        """How many positions there are before and after the data; how many windows, with how many positions."""
        i = list(self._axes).index(axis)
        w, parts = self._windows, (self._windows.output[i], self._reach[i])
        return w.before[i], parts[0] * parts[1] - w.before[i] - w.input[i], parts


def to_chosen(chosen, grads, axes: Sequence[int], w: Windows):
    """The gradient by the data: each window's goes to the position that its chosen tap reads."""
    zero = jnp.zeros((), grads.dtype)
    if are_apart(w):
        apart = _Apart(axes, w)
        picked = apart.of_windows(chosen) == apart.tap_numbers(grads.ndim, chosen.dtype)
        return apart.as_data(jnp.where(picked, apart.of_windows(grads), zero))
    total = None
    for number, tap, grad in readers(axes, w, (chosen, -1), (grads, 0)):
        part = jnp.where(tap == number, grad, zero)
        total = part if total is None else total + part
    return total


def to_all(grads, axes: Sequence[int], w: Windows):
    """The gradient by the data: each window's goes to all positions that it reads."""
    if are_apart(w):
        apart = _Apart(axes, w)
        is_read = apart.tap_numbers(grads.ndim, np.int32) >= 0
        return apart.as_data(jnp.where(is_read, apart.of_windows(grads), jnp.zeros((), grads.dtype)))
    parts = (grad for _, grad in readers(axes, w, (grads, 0)))
    return sum(parts, next(parts))


def to_maxima(x, maxima, grads, axes: Sequence[int], w: Windows):
    """The gradient by the data: each window's goes to all positions that have its maximum."""
    zero = jnp.zeros((), grads.dtype)
    if are_apart(w):
        apart = _Apart(axes, w)
        equal = apart.of_positions(x, np.nan) == apart.of_windows(maxima)
        equal = equal & (apart.tap_numbers(x.ndim, np.int32) >= 0)
        return apart.as_data(jnp.where(equal, apart.of_windows(grads), zero))
    total = jnp.zeros(x.shape, grads.dtype)
    # NaN equals nothing, so what no window reads gets nothing.
    for _, maximum, grad in readers(axes, w, (maxima, np.nan), (grads, 0)):
        total = total + jnp.where(x == maximum, grad, zero)
    return total


def computed_once(compute, shape, given):
    """What `compute` returns, an array of a shape, in memory.

    XLA else puts sums over taps into every loop that reads them, and computes them there for each reader anew; what
    stands in a branch stays apart. (A barrier does not help: XLA takes it away before it makes loops.)

    Args:
        compute: takes nothing.
        shape: of the result, whose dtype is that of `given`.
        given: an array of floats that is not known while compiling, so that XLA does not know which branch it will be.
    """
    bits = lax.bitcast_convert_type(given[(0,) * given.ndim], f"int{8 * given.dtype.itemsize}")
    return lax.cond((bits | 1) != 0, compute, lambda: jnp.zeros(shape, given.dtype))


def _with_sizes(shape, axes, sizes) -> list[int]:
    """A shape with other sizes of some axes."""
    changed = dict(zip(axes, sizes, strict=True))
    return [changed.get(axis, size) for axis, size in enumerate(shape)]


def by_taps(x, filters, channel: int, axes: Sequence[int], w: Windows):
    """A convolution tap by tap and channel by channel, for few of them; filters are (*window, channels, outputs)."""
    taps = filters.reshape(-1, *filters.shape[-2:])
    shape, result = [1] * x.ndim, _with_sizes(x.shape, axes, w.output)
    shape[channel], result[channel] = -1, filters.shape[-1]

    def total():
        parts = (
            lax.slice_in_dim(value, k, k + 1, axis=channel) * taps[number, k].reshape(shape)
            for number, value in tap_values(x, axes, w, 0)
            for k in range(filters.shape[-2])
        )
        return sum(parts, next(parts))

    return computed_once(total, result, x)


# With one input channel to a filter, XLA's convolutions take 3 to 50 times as long as sums over taps, of which it makes
# one loop. What is summed over images and positions is cut into this many parts, which are added element by element:
# its sums over several axes are slow as well, so that the rest is a product with ones.
_PARTS = 8


def depthwise(x, filters, axes: Sequence[int], w: Windows):
    """A convolution of each channel with filters of its own, tap by tap; channels are last, filters (*window, c, m)."""
    channels, multiplier = filters.shape[-2:]
    taps = filters.reshape(-1, channels, multiplier)

    def total():
        results = []
        for k in range(multiplier):
            parts = (value * taps[number, :, k] for number, value in tap_values(x, axes, w, 0))
            results.append(sum(parts, next(parts)))
        stacked = jnp.stack(results, -1)
        return stacked.reshape(*stacked.shape[:-2], channels * multiplier)

    return computed_once(total, (*_with_sizes(x.shape, axes, w.output)[:-1], channels * multiplier), x)


def depthwise_input_gradient(dy, filters, axes: Sequence[int], w: Windows):
    """The gradient of `depthwise` by the data."""
    channels, multiplier = filters.shape[-2:]
    taps = filters.reshape(-1, channels, multiplier)
    grads = dy.reshape(*dy.shape[:-1], channels, multiplier)

    def total():
        parts = (
            grad * taps[number, :, k]
            for k in range(multiplier)
            for number, grad in readers(axes, w, (grads[..., k], 0))
        )
        return sum(parts, next(parts))

    return computed_once(total, (*_with_sizes(dy.shape, axes, w.input)[:-1], channels), dy)


def depthwise_filter_gradient(x, dy, multiplier: int, axes: Sequence[int], w: Windows):
    """The gradient of `depthwise` by filters of the shape (*window, channels, multiplier)."""
    channels = x.shape[-1]
    grads = dy.reshape(*dy.shape[:-1], channels, multiplier)
    sums = []
    for _, value in tap_values(x, axes, w, 0):
        sums.append(jnp.stack([_sum_of_products(value, grads[..., k]) for k in range(multiplier)], -1))
    return jnp.stack(sums).reshape(*w.window, channels, multiplier)


def _sum_of_products(a, b):
    """The products of two arrays, summed over all but the last axis."""
    rows = len(a) // _PARTS
    starts = range(0, rows * _PARTS, rows) if rows else ()
    terms = [a[i : i + rows] * b[i : i + rows] for i in starts]
    rest = a[rows * _PARTS :] * b[rows * _PARTS :]
    total = jnp.zeros(a.shape[-1:], a.dtype)
    for part in (sum(terms[1:], terms[0]) if terms else None, rest):
        if part is not None and part.size:
            flat = part.reshape(-1, part.shape[-1])
            total = total + lax.dot_general(jnp.ones((len(flat),), flat.dtype), flat, (((0,), (0,)), ((), ())))
    return total
