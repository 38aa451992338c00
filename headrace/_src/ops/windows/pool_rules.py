"""The rules that pooling ops share: checks of shapes and attributes, inference, and lowering."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import jax, jnp, lax
from headrace._src.core.shapes import TensorShape
from headrace._src.ops.windows.lowering import are_apart, lowest, tap_values, to_all
from headrace._src.ops.windows.placement import (
    Layout,
    Windows,
    check_elements,
    explicit_entries,
    layout_of,
    output_size,
    resolve,
)
from headrace._src.ops.windows.pool_kernels import output_shape, window_counts


def check_entries(op: str, argument: str, values: Sequence[int], layout: Layout) -> tuple[int, ...]:
    """A window size or stride for each dimension: positive, and 1 for the batch."""
    values = tuple(int(v) for v in values)
    if len(values) != layout.rank:
        raise errors.invalid_argument(
            f"{op}: {argument} must have {layout.rank} entries, one per dimension of the input, got {values}."
        )
    if min(values) < 1:
        raise errors.invalid_argument(f"{op}: {argument} must be positive, got {values}.")
    if max(values) >= 2**31:
        raise errors.invalid_argument(f"{op}: {argument} must be less than 2**31, got {values}.")
    if values[0] != 1:
        raise errors.unimplemented(f"{op}: {argument} must be 1 for the batch, got {values}.")
    return values


def _check_padding(op, padding, pairs, ksize, layout):
    """Padding as wide as the window would make windows of nothing."""
    if pairs is not None:
        for pair, axis in zip(pairs, layout.spatial, strict=True):
            if max(pair) >= ksize[axis]:
                raise errors.invalid_argument(
                    f"{op}: explicit_paddings must be smaller than the window, got {pair} for a window of "
                    f"{ksize[axis]}."
                )


def _check_depth(op, ksize, strides, layout, channels):
    """Pooling over channels has narrow bounds, and only maxima have it."""
    depth = ksize[layout.channel]
    if "Max" not in op or len(layout.spatial) != 2:
        raise errors.unimplemented(
            f"{op}: ksize and strides must be 1 for the channels, got {ksize}, {strides}."
        )
    if any(ksize[a] != 1 or strides[a] != 1 for a in layout.spatial):
        raise errors.unimplemented(
            f"{op}: a window covers either channels or rows and columns, not both, got ksize {ksize}."
        )
    if depth != strides[layout.channel] or (channels is not None and channels % depth):
        raise errors.unimplemented(
            f"{op}: over channels, ksize must equal strides and divide the {channels} channels, "
            f"got {ksize}, {strides}."
        )


@functools.lru_cache(maxsize=512)
def _plan(op, dims, shape, ksize, strides, padding, explicit, data_format) -> tuple[tuple[int, ...], Windows]:
    layout = layout_of(op, data_format, dims)
    if len(shape) != layout.rank:
        raise errors.invalid_argument(
            f"{op}: the input must have {layout.rank} dimensions, got shape {shape}."
        )
    ksize = check_entries(op, "ksize", ksize, layout)
    strides = check_entries(op, "strides", strides, layout)
    pairs = explicit_entries(op, padding, explicit, layout)
    _check_padding(op, padding, pairs, ksize, layout)
    axes = layout.spatial
    if (ksize[layout.channel], strides[layout.channel]) != (1, 1):
        _check_depth(op, ksize, strides, layout, shape[layout.channel])
        axes, pairs, padding = (layout.channel,), None, "VALID"
    windows = resolve(
        op,
        tuple(shape[a] for a in axes),
        tuple(ksize[a] for a in axes),
        tuple(strides[a] for a in axes),
        (1,) * len(axes),
        padding,
        pairs,
    )
    check_elements(op, "the result's shape", output_shape(shape, axes, windows))
    return axes, _trimmed(windows)


def _trimmed(w: Windows) -> Windows:
    """The windows without taps that lie in the padding of all of them: a window may be far larger than the data."""
    window, before, after = list(w.window), list(w.before), list(w.after)
    for i, size in enumerate(w.input):
        lead = max(0, before[i] - (w.output[i] - 1) * w.stride[i]) if w.output[i] else 0
        kept = max(1, min(window[i] - lead, before[i] - lead + size))
        if kept < window[i]:
            window[i], before[i] = kept, before[i] - lead
            after[i] = max(0, (w.output[i] - 1) * w.stride[i] - before[i] + kept - size)
    return w._replace(window=tuple(window), before=tuple(before), after=tuple(after))


def plan(op: str, dims: int, shape, ksize, strides, padding, data_format, explicit_paddings=()):
    """The axes and the windows of a pool, after checking everything."""
    return _plan(
        op,
        dims,
        tuple(shape),
        tuple(ksize),
        tuple(strides),
        padding,
        tuple(explicit_paddings or ()),
        data_format,
    )


def check_like(op: str, argument: str, shape, wanted) -> None:
    """Refuses a shape that is not what the other arguments imply."""
    if tuple(shape) != tuple(wanted):
        raise errors.invalid_argument(
            f"{op}: {argument} must have shape {tuple(wanted)}, which the other arguments give, "
            f"got {tuple(shape)}."
        )


def vector(op: str, name: str, value: np.ndarray, length: int) -> list[int]:
    """An input that stands for a list of window sizes or strides."""
    if value.size != length:
        raise errors.invalid_argument(f"{op}: {name} must have {length} entries, got shape {value.shape}.")
    return [int(v) for v in np.ravel(value)]


def infer(op: str, dims: int, x, ksize, strides, padding, data_format, explicit_paddings=()) -> TensorShape:
    """The shape of the pooled input, as far as it is known."""
    layout = layout_of(op, data_format, dims)
    shape = [None] * layout.rank if x.shape.rank is None else x.shape.as_list()
    if None not in shape:
        axes, windows = plan(op, dims, shape, ksize, strides, padding, data_format, explicit_paddings)
        return TensorShape(output_shape(shape, axes, windows))
    if len(shape) != layout.rank:
        raise errors.invalid_argument(
            f"{op}: the input must have {layout.rank} dimensions, got shape {x.shape}."
        )
    ksize = check_entries(op, "ksize", ksize, layout)
    strides = check_entries(op, "strides", strides, layout)
    pairs = explicit_entries(op, padding, explicit_paddings, layout)
    _check_padding(op, padding, pairs, ksize, layout)
    if (ksize[layout.channel], strides[layout.channel]) != (1, 1):
        _check_depth(op, ksize, strides, layout, shape[layout.channel])
        channels = shape[layout.channel]
        shape[layout.channel] = None if channels is None else channels // ksize[layout.channel]
        return TensorShape(shape)
    for i, axis in enumerate(layout.spatial):
        shape[axis] = output_size(
            op, shape[axis], ksize[axis], strides[axis], 1, padding, pairs and pairs[i]
        )[0]
    return TensorShape(shape)


# Up to so many taps, windows are looked at tap by tap, of which XLA makes one loop, with what computes the data in it.
# Its own windows take two to seven times as long (docs/decisions/0049), except along the last axis.
_FEW_TAPS = 32


def _over_windows(x, axes, w: Windows, joined, init, combine):
    """The values of each window, combined by XLA; `joined`: as windows of XLA's."""
    init = np.asarray(init, x.dtype)
    if math.prod(w.window) <= _FEW_TAPS and x.ndim - 1 not in axes and not joined:
        return functools.reduce(combine, (value for _, value in tap_values(x, axes, w, init)))
    return _reduce_window(x, axes, w, init, combine)


def _reduce_window(x, axes, w, init, combine):
    window, stride, padding = [1] * x.ndim, [1] * x.ndim, [(0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        window[axis], stride[axis], padding[axis] = w.window[i], w.stride[i], (w.before[i], w.after[i])
    # A NumPy constant, by which jax recognises a plain maximum or sum.
    return lax.reduce_window(x, init, combine, window, stride, padding)


def xla_max_pool(x, axes, w: Windows, joined=False):
    """Maxima of windows by XLA."""
    return _over_windows(x, axes, w, joined, lowest(x.dtype), lax.max)


def xla_avg_pool(x, axes, w: Windows, joined=False):
    """Means of windows by XLA; small floats are summed as float32, as in the kernel."""
    wide = _wide(x.dtype)
    sums = _over_windows(x.astype(wide), axes, w, joined, 0, lax.add)
    return (sums / window_counts(axes, w, x.ndim, wide)).astype(x.dtype)


def xla_avg_pool_gradient(shape, grads, axes, w: Windows):
    """The gradient of `xla_avg_pool` by data of a shape."""
    wide = _wide(grads.dtype)
    shares = grads.astype(wide) / window_counts(axes, w, grads.ndim, wide)
    if are_apart(w) or math.prod(w.window) <= _FEW_TAPS:
        total = to_all(shares, axes, w)
    else:
        zero = np.zeros((), wide)
        sums = jax.linear_transpose(
            lambda x: _reduce_window(x, axes, w, zero, lax.add), jax.ShapeDtypeStruct(shape, wide)
        )
        (total,) = sums(shares)
    return total.astype(grads.dtype)


def _wide(dtype):
    return dtype if dtype.itemsize >= 4 else jnp.float32
