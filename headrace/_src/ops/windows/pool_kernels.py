"""Pooling of NumPy arrays over any axes: maxima and means, their gradients, and where the maxima are.

Nothing is padded: a tap outside the data takes no part. Windows are reduced axis by axis where the result
does not depend on the order (maxima, sums), and tap by tap where it does (positions of maxima).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from headrace._src.core import errors
from headrace._src.core.parts import in_parts
from headrace._src.ops.windows.placement import Windows, tap_slices

# Blocks of the batch of this size stay in the cache over all taps.
_BLOCK_BYTES, _LONG_BLOCK_BYTES = 1 << 20, 1 << 21


def _wide(dtype: np.dtype) -> np.dtype:
    """The dtype to compute in: NumPy is slow in the small floats, and sums lose digits there."""
    return dtype if dtype.kind in "iuc" or dtype in (np.float32, np.float64) else np.dtype(np.float32)


def _bits(a: np.ndarray) -> np.ndarray:
    """The array seen as integers, in which multiplying by a mask is exact even for infinities and NaN."""
    return a if a.dtype.kind in "iu" else a.view(f"u{a.itemsize}")


def _blocks(*arrays: np.ndarray) -> Iterator[slice]:
    """Cuts the batch into blocks by the size of the largest array."""
    batch = len(arrays[0])
    if batch:
        largest = max(a.nbytes for a in arrays)
        step = max(1, batch * _BLOCK_BYTES // max(largest, 1))
        for start in range(0, batch, step):
            yield slice(start, min(start + step, batch))


def _each_block(function: Callable[[slice], object], *arrays: np.ndarray) -> None:
    """Calls the function with the blocks of the batch, which several threads take."""
    parts = list(_blocks(*arrays))
    in_parts(lambda number: function(parts[number]), len(parts))


def _long_blocks(x: np.ndarray) -> list[slice]:
    """Cuts the batch for a function of many calls, at each of which threads may meet at the interpreter's lock.

    Blocks are as many for each of two threads, and of the same size.
    """
    batch, count = len(x), x.nbytes // _LONG_BLOCK_BYTES
    count = min(batch, max(1 + (x.nbytes > _BLOCK_BYTES), count - count % 2))
    return [slice(k * batch // count, (k + 1) * batch // count) for k in range(count)]


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, part)


def _at(axes: Sequence[int], parts: Sequence[slice], rank: int) -> tuple[slice, ...]:
    index = [slice(None)] * rank
    for axis, part in zip(axes, parts, strict=True):
        index[axis] = part
    return tuple(index)


@lru_cache(maxsize=1024)
def _axis_windows(w: Windows, i: int) -> Windows:
    return Windows(*((field[i],) for field in w))


def output_shape(shape: Sequence[int], axes: Sequence[int], w: Windows) -> tuple[int, ...]:
    """The shape of an array after pooling."""
    result = list(shape)
    for axis, size in zip(axes, w.output, strict=True):
        result[axis] = size
    return tuple(result)


def _lowest(dtype: np.dtype):
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _reduced(x: np.ndarray, axis: int, w: Windows, combine: Callable, neutral) -> np.ndarray:
    """Combines the windows along one axis."""
    taps = [tap_slices(w, (k,)) for k in range(w.window[0])]
    taps = [(valid, read) for (valid,), (read,) in taps if valid.start < valid.stop]
    shape = (*x.shape[:axis], w.output[0], *x.shape[axis + 1 :])
    # A tap that all windows have can start the result, which saves filling it.
    whole = next((t for t in taps if t[0] == slice(0, w.output[0])), None)
    if whole is None:
        out = np.full(shape, neutral, x.dtype)
    elif len(taps) == 1:
        return x[_along(axis, whole[1])]
    else:
        out = None
        taps.remove(whole)
    for valid, read in taps:
        source = x[_along(axis, read)]
        if out is None:
            if valid == whole[0]:
                out = combine(x[_along(axis, whole[1])], source)
                continue
            out = np.array(x[_along(axis, whole[1])], order="C")
        target = out[_along(axis, valid)]
        combine(target, source, out=target)
    return out


def _pool(x: np.ndarray, axes: Sequence[int], w: Windows, combine: Callable, neutral) -> np.ndarray:
    for i, axis in enumerate(axes):
        along = _axis_windows(w, i)
        if not _is_trivial(along):
            x = _reduced(x, axis, along, combine, neutral)
    return x


def max_pool(x: np.ndarray, axes: Sequence[int], w: Windows) -> np.ndarray:
    """The maximum of each window over `axes`; NaN if the window holds one."""
    out = np.empty(output_shape(x.shape, axes, w), x.dtype)
    if out.size:
        wide = _wide(x.dtype)

        def pool(part):
            out[part] = _pool(x[part].astype(wide, copy=False), axes, w, np.maximum, _lowest(wide))

        _each_block(pool, x, out)
    return out


@lru_cache(maxsize=256)
def window_counts(axes: tuple[int, ...], w: Windows, rank: int, dtype: np.dtype) -> np.ndarray:
    """How many positions inside the data each window has, in a shape that broadcasts against the result."""
    if not any(w.before) and not any(w.after):
        return np.full((1,) * rank, prod(w.window), dtype)
    counts = np.ones((1,) * rank, dtype)
    for i, axis in enumerate(axes):
        start = np.arange(w.output[i]) * w.stride[i] - w.before[i]
        held = np.minimum(start + w.window[i], w.input[i]) - np.maximum(start, 0)
        shape = [1] * rank
        shape[axis] = w.output[i]
        counts = counts * np.maximum(held, 1).astype(dtype).reshape(shape)
    counts.setflags(write=False)
    return counts


def avg_pool(x: np.ndarray, axes: Sequence[int], w: Windows) -> np.ndarray:
    """The mean of each window over `axes`, padding not counted."""
    out = np.empty(output_shape(x.shape, axes, w), x.dtype)
    if out.size:
        wide = _wide(x.dtype)
        counts = window_counts(axes, w, x.ndim, wide)

        def pool(part):
            out[part] = _pool(x[part].astype(wide, copy=False), axes, w, np.add, 0) / counts

        _each_block(pool, x, out)
    return out


def avg_pool_gradient(dy: np.ndarray, axes: Sequence[int], w: Windows) -> np.ndarray:
    """The gradient by the input of `avg_pool`: each window's share, added up over the windows."""
    shape = list(dy.shape)
    for axis, size in zip(axes, w.input, strict=True):
        shape[axis] = size
    dx = np.zeros(shape, dy.dtype)
    if dx.size and dy.size:
        wide = _wide(dy.dtype)
        counts = window_counts(axes, w, dy.ndim, wide)

        def spread(part):
            block = dy[part].astype(wide, copy=False) / counts
            # The outermost axis last: its taps then add long contiguous runs.
            for i in reversed(range(len(axes))):
                block = _spread(block, axes[i], _axis_windows(w, i))
            dx[part] = block

        _each_block(spread, dx, dy)
    return dx


def _spread(block: np.ndarray, axis: int, w: Windows) -> np.ndarray:
    """Adds each window's value to all its positions along one axis."""
    if _is_trivial(w):
        return block
    out = np.zeros((*block.shape[:axis], w.input[0], *block.shape[axis + 1 :]), block.dtype)
    for k in range(w.window[0]):
        (valid,), (read,) = tap_slices(w, (k,))
        target = out[_along(axis, read)]
        np.add(target, block[_along(axis, valid)], out=target)
    return out


def _first_taps(w: Windows) -> list[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Which windows begin inside the data at which tap."""
    per_axis = []
    for i in range(len(w.window)):
        start = np.arange(w.output[i]) * w.stride[i] - w.before[i]
        first = np.maximum(0, -(start // w.dilation[i]))
        ranges = []
        for k in range(w.window[i]):
            found = np.flatnonzero(first == k)
            if len(found):
                ranges.append((k, slice(int(found[0]), int(found[-1]) + 1)))
        per_axis.append(ranges)
    return [(tuple(k for k, _ in each), tuple(part for _, part in each)) for each in product(*per_axis)]


def _positions(w: Windows, tap: Sequence[int], windows: Sequence[slice]) -> tuple[slice, ...]:
    """The positions that some windows read for one tap, all of them inside the data."""
    parts = []
    for i, (k, part) in enumerate(zip(tap, windows, strict=True)):
        start = part.start * w.stride[i] + k * w.dilation[i] - w.before[i]
        parts.append(slice(start, start + (part.stop - part.start - 1) * w.stride[i] + 1, w.stride[i]))
    return tuple(parts)


def _taps(axes: Sequence[int], w: Windows, rank: int) -> list[tuple[int, tuple, tuple, tuple]]:
    """All taps that some window finds inside the data: (number, tap, windows, positions)."""
    result = []
    for number, tap in enumerate(product(*map(range, w.window))):
        valid, read = tap_slices(w, tap)
        if all(v.start < v.stop for v in valid):
            result.append((number, tap, _at(axes, valid, rank), _at(axes, read, rank)))
    return result


def best_taps(
    x: np.ndarray, axes: Sequence[int], w: Windows, addend: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The maximum of each window and the number of the tap that has it, the first one if several have.

    A NaN is larger than nothing: it is the maximum only as the first value of its window.

    Args:
        x: Some images, in a dtype that NumPy is fast in.
        axes: The axes of the windows.
        w: The windows.
        addend: None, or what is added to each tap, of the shape (*window, channels).
    """
    taps = _taps(axes, w, x.ndim)
    firsts = _first_taps(w)
    best, chosen = _best_taps(x, axes, w, addend, taps, firsts, np.maximum)
    if best.dtype.kind == "f" and np.isnan(best).any():
        return _best_taps(x, axes, w, addend, taps, firsts, None)
    return best, chosen


def _best_taps(x, axes, w, addend, taps, firsts, maximum) -> tuple[np.ndarray, np.ndarray]:
    shape = output_shape(x.shape, axes, w)
    number_dtype = np.min_scalar_type(max(prod(w.window) - 1, 0))
    best = np.full(shape, _lowest(x.dtype), x.dtype)
    chosen = np.zeros(shape, number_dtype)
    for tap, windows in firsts:
        at = _at(axes, windows, x.ndim)
        value = x[_at(axes, _positions(w, tap, windows), x.ndim)]
        best[at] = value if addend is None else value + addend[tap]
        chosen[at] = np.ravel_multi_index(tap, w.window)
    scratch = np.empty(shape, number_dtype)
    for number, tap, windows, read in taps:
        value = x[read] if addend is None else x[read] + addend[tap]
        target = best[windows]
        larger = value > target
        if maximum is None:
            np.copyto(target, value, where=larger)
        else:
            maximum(target, value, out=target)
        # Tap numbers grow, so the last tap that was larger is the maximum of those that were.
        numbers = np.multiply(larger.view(np.uint8), number_dtype.type(number), out=scratch[windows])
        np.maximum(chosen[windows], numbers, out=chosen[windows])
    return best, chosen


def max_pool_gradient(x: np.ndarray, dy: np.ndarray, axes: Sequence[int], w: Windows) -> np.ndarray:
    """The gradient by the input of `max_pool`: each window's goes to its first maximum."""
    dx = np.empty(x.shape, x.dtype)
    if dx.size and not dy.size:
        dx[...] = 0
    elif dx.size:
        wide = _wide(x.dtype)

        def scatter(part):
            values, target = x[part].astype(wide, copy=False), dx[part]
            grads = np.add(dy[part].astype(wide, copy=False), wide.type(0), order="C")  # a zero loses its sign
            if dx.dtype == wide:
                _to_first_maxima(values, grads, axes, w, target)
            else:
                target[...] = _to_first_maxima(values, grads, axes, w, np.empty(values.shape, wide))

        parts = _long_blocks(x)
        in_parts(lambda number: scatter(parts[number]), len(parts))
    return dx


def _to_first_maxima(x, grads, axes, w, out) -> np.ndarray:
    """Each window's gradient at its first maximum, in `out`; gradients that meet are added.

    The first maximum of a window is in the first of its rows that has the maximum. So maxima are looked for axis by
    axis, the innermost first, and gradients handed down the other way: fewer and longer loops than tap by tap.
    """
    best, steps = x, []
    for i in reversed(range(len(axes))):
        along = _axis_windows(w, i)
        if not _is_trivial(along):
            best, chosen = _best_along(best, axes[i], along)
            steps.append((axes[i], along, chosen))
    if best.dtype.kind == "f" and np.isnan(best).any():
        # Here the order of the taps decides.
        _, chosen = best_taps(x, axes, w)
        out[...] = 0
        _add_masked(out, grads, _taps(axes, w, x.ndim), lambda number, windows, _: chosen[windows] == number)
        return out
    if not steps:
        out[...] = grads
    while steps:
        axis, along, chosen = steps.pop()
        grads = _to_chosen(grads, chosen, axis, along, None if steps else out)
    return out


def _is_trivial(w: Windows) -> bool:
    """Whether the windows along one axis are its positions."""
    return (w.window, w.stride, w.before, w.output) == ((1,), (1,), (0,), w.input)


def _is_tiled(w: Windows) -> bool:
    """Whether the windows along one axis lie side by side from its beginning, all inside the data."""
    (window,), (stride,), (output,), (size,) = w.window, w.stride, w.output, w.input
    return window == stride and w.dilation == (1,) and w.before == (0,) and output * stride <= size


def _best_along(x, axis, w) -> tuple[np.ndarray, np.ndarray]:
    """The maxima of windows along one axis, NaN where there is one, and the numbers of the first taps with them."""
    taps = _taps((axis,), w, x.ndim)
    whole = [number for number, _, windows, _ in taps if windows[axis] == slice(0, w.output[0])]
    if whole[:2] != [0, 1]:
        return _best_taps(x, (axis,), w, None, taps, _first_taps(w), np.maximum)
    number_dtype = np.min_scalar_type(w.window[0] - 1)
    first, second = (x[read] for _, _, _, read in taps[:2])
    best, chosen = np.maximum(second, first), np.greater(second, first).view(np.uint8).astype(number_dtype, copy=False)
    for number, _, windows, read in taps[2:]:
        value, target, numbers = x[read], best[windows], chosen[windows]
        larger = np.greater(value, target).view(np.uint8)
        np.maximum(target, value, out=target)
        # Tap numbers grow, so the last tap that was larger is the maximum of those that were.
        np.maximum(numbers, larger * number_dtype.type(number), out=numbers)
    return best, chosen


def _to_chosen(grads, chosen, axis, w, out=None) -> np.ndarray:
    """The gradients of windows along one axis at their chosen taps."""
    if out is None:
        out = np.empty((*grads.shape[:axis], w.input[0], *grads.shape[axis + 1 :]), grads.dtype)
    taps = _taps((axis,), w, grads.ndim)
    if not _is_tiled(w):
        out[...] = 0
        _add_masked(out, grads, taps, lambda number, windows, _: chosen[windows] == number)
        return out
    out[_along(axis, slice(w.output[0] * w.stride[0], None))] = 0  # positions that are in no window
    target, rest = _bits(out), _bits(grads)
    first = target[taps[0][3]]
    for number, _, _, read in taps[1:]:
        place = target[read]
        np.multiply(_bits(grads), chosen.view(bool) if len(taps) == 2 else chosen == number, out=place)
        rest = np.bitwise_xor(rest, place, out=first)
    return out


def max_pool_gradient_to_ties(
    x: np.ndarray, y: np.ndarray, dy: np.ndarray, axes: Sequence[int], w: Windows
) -> np.ndarray:
    """Like `max_pool_gradient`, but all values of a window that equal its maximum get its gradient."""
    dx = np.zeros(x.shape, dy.dtype)
    if x.size and dy.size:
        wide = _wide(dy.dtype)
        taps = _taps(axes, w, x.ndim)
        for part in _blocks(x, dy):
            block, maxima = x[part], y[part]
            target = np.zeros(block.shape, wide)
            grads = np.ascontiguousarray(dy[part], wide)
            _add_masked(target, grads, taps, lambda _, at, read, b=block, m=maxima: b[read] == m[at])
            dx[part] = target
    return dx


def _add_masked(target: np.ndarray, grads: np.ndarray, taps: list, mask: Callable) -> None:
    """Adds, tap by tap, the windows' gradients to the positions that the tap's mask selects."""
    bits = _bits(grads)
    scratch = np.empty_like(grads)
    scratch_bits = _bits(scratch)
    for number, _, windows, read in taps:
        np.multiply(bits[windows], mask(number, windows, read), out=scratch_bits[windows])
        place = target[read]
        np.add(place, scratch[windows], out=place)


def max_pool_gather(x: np.ndarray, values: np.ndarray, axes: Sequence[int], w: Windows) -> np.ndarray:
    """What `values`, shaped like `x`, has at the first maximum of each window: the gradient's gradient."""
    out = np.zeros(output_shape(x.shape, axes, w), values.dtype)
    if out.size:
        wide = _wide(x.dtype)
        taps = _taps(axes, w, x.ndim)
        for part in _blocks(x, out):
            _, chosen = best_taps(x[part].astype(wide, copy=False), axes, w)
            source, target = _bits(np.ascontiguousarray(values[part])), _bits(out[part])
            for number, _, windows, read in taps:
                place = target[windows]
                np.bitwise_or(place, source[read] * (chosen[windows] == number), out=place)
    return out


def argmax_origins(
    shape: Sequence[int], axes: Sequence[int], w: Windows, include_batch: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The flat position of tap 0 of each window, and how far each tap lies from it.

    Positions are counted per image or over the whole batch.
    """
    rank = len(shape)
    steps = [prod(shape[a + 1 :]) for a in range(rank)]
    origin = np.zeros((1,) * rank, np.int64)
    for axis, step in enumerate(steps):
        if axis in axes:
            i = list(axes).index(axis)
            along = np.arange(w.output[i]) * w.stride[i] - w.before[i]
        else:
            along = np.arange(shape[axis]) * (include_batch or axis > 0)
        origin = origin + (along * step).reshape([-1 if a == axis else 1 for a in range(rank)])
    offsets = [
        sum(k * d * steps[a] for k, d, a in zip(tap, w.dilation, axes, strict=True))
        for tap in product(*map(range, w.window))
    ]
    return origin, np.array(offsets, np.int64)


def max_pool_with_argmax(
    x: np.ndarray, axes: Sequence[int], w: Windows, include_batch: bool, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """The maxima of the windows and their flat positions, counted per image or over the whole batch."""
    shape = output_shape(x.shape, axes, w)
    out, positions = np.empty(shape, x.dtype), np.empty(shape, dtype)
    if out.size:
        wide = _wide(x.dtype)
        origin, offsets = argmax_origins(x.shape, axes, w, include_batch)
        for part in _blocks(x, out, positions):
            best, chosen = best_taps(x[part].astype(wide, copy=False), axes, w)
            out[part] = best
            positions[part] = origin[part] + offsets[chosen]
    return out, positions


def _flat_positions(op: str, argmax: np.ndarray, shape: Sequence[int], include_batch: bool) -> np.ndarray:
    """Positions within the whole batch, each checked to lie in its own image."""
    per_image = prod(shape[1:])
    index = argmax.reshape(len(argmax), prod(argmax.shape[1:])).astype(np.int64)
    first = np.arange(len(index), dtype=np.int64)[:, None] * per_image
    local = index - first if include_batch else index
    if local.size and (local.min() < 0 or local.max() >= per_image):
        raise errors.invalid_argument(
            f"{op}: argmax must hold positions of the same image, below {per_image}, got values from "
            f"{int(index.min())} to {int(index.max())}."
        )
    return local + first


def scatter_to_argmax(
    op: str, dy: np.ndarray, argmax: np.ndarray, shape: Sequence[int], include_batch: bool
) -> np.ndarray:
    """Adds each gradient to the position that `argmax` gives for it."""
    index = _flat_positions(op, argmax, shape, include_batch)
    if dy.dtype.kind in "iu":
        dx = np.zeros(prod(shape), dy.dtype)
        np.add.at(dx, index.ravel(), dy.ravel())
        return dx.reshape(shape)
    sums = np.bincount(index.ravel(), weights=dy.astype(np.float64).ravel(), minlength=prod(shape))
    return sums.astype(dy.dtype).reshape(shape)


def gather_from_argmax(op: str, values: np.ndarray, argmax: np.ndarray, include_batch: bool) -> np.ndarray:
    """What `values` has at the positions that `argmax` gives."""
    index = _flat_positions(op, argmax, values.shape, include_batch)
    return np.take(values.reshape(-1), index).reshape(argmax.shape)
