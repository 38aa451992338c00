"""Convolution of NumPy arrays in one to three spatial dims: forward, input gradient and filter gradient.

Data is (batch, *space, channels), filters are (*window, channels / groups, outputs), and `Windows` says
where the windows lie. Each window's values are copied into the row of a matrix, which BLAS multiplies with
the filter; the batch is cut into blocks whose matrix bounds the memory, and which several threads take. What the
blocks are depends on sizes only, and what they give is added in their order.
docs/decisions/0046-threads-of-one-operation.md has figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import gcd, prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from headrace._src.core.parts import in_parts, in_slices
from headrace._src.core.product_threads import one_thread
from headrace._src.ops.linalg.product_kernels import blas_product
from headrace._src.ops.windows import depthwise_kernels
from headrace._src.ops.windows.placement import Windows, reversed_windows, tap_slices

# Each matrix is three calls of NumPy: with more and smaller ones, threads meet more often at the interpreter's lock,
# with larger ones, short runs take longer to be copied.
# Where each adds a filter of millions of numbers, they are larger.
_BLOCK_BYTES, _LARGE_BLOCK_BYTES = 1 << 21, 1 << 23
# From so many multiplications on several threads take the blocks. Filter gradients are summed in so many parts, or
# fewer where those would be more numbers than this.
_DIVIDED = 1 << 23
_SUMS, _SUMMED_NUMBERS = 8, 1 << 21
# The numbers that lie together in a window, one row of it, are copied together. Where they are fewer than so many, each
# tap of all windows is copied instead, which makes runs as long as a row of the result.
_SHORT_RUN = 12
# The input gradient by taps adds up in the cache; all taps of an image are one product of this size at most.
_TAPS_BYTES, _LARGEST_PRODUCT = 1 << 20, 1 << 25
# From so many numbers on several threads turn filters round.
_LONG_COPY = 1 << 18
# Above this ratio of outputs to channels, adding one product per tap beats a convolution of the gradient.
_TAPS_RATIO = 4


def _computation_dtype(a: np.ndarray, b: np.ndarray, terms: int) -> np.dtype:
    """The dtype in which products of `a` and `b` are summed: one that BLAS knows, if it is exact enough."""
    dtype = a.dtype
    if dtype == np.float32 or dtype == np.float64 or dtype.kind == "c":
        return dtype
    if dtype.kind in "iu":
        # Integers go through float64 where every sum is exact there; otherwise they wrap around, slowly.
        bound = _magnitude(a) * _magnitude(b) * terms
        return np.dtype(np.float64) if bound < 2**53 else dtype
    return np.dtype(np.float32)


def _magnitude(a: np.ndarray) -> int:
    return max(abs(int(a.min())), abs(int(a.max()))) if a.size else 0


def _cast(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if values.dtype == dtype:
        return values
    if values.dtype.kind == "f" and dtype.kind in "iu":
        # A sum beyond the integer's range wraps around, as it does in integer arithmetic.
        return values.astype(np.int64).astype(dtype)
    return values.astype(dtype)


def _blocks(
    batch: int, rows: int, row_bytes: int, divided: bool, size: int | None = None
) -> list[tuple[int, int, int, int]]:
    """Cuts `batch` images of `rows` output rows into blocks of about one size: (first image, end, first row, end)."""
    count = -(-batch * rows * row_bytes // (size or _BLOCK_BYTES))
    if divided:
        count = 2 if count <= 2 else -(-count // 4) * 4  # as many for each thread
    if count <= batch:
        return [(start, end, 0, rows) for start, end in _runs(batch, max(1, count))]
    cuts = list(_runs(rows, min(rows, -(-count // batch))))
    return [(image, image + 1, start, end) for image in range(batch) for start, end in cuts]


def _runs(size: int, count: int) -> Iterator[tuple[int, int]]:
    """So many runs of almost the same length that cover `range(size)`: (start, end)."""
    for k in range(count):
        yield k * size // count, (k + 1) * size // count


class _Patches:
    """The rows of window values of `x`, block by block."""

    def __init__(self, x: np.ndarray, w: Windows, dtype: np.dtype):
        self.x, self.windows, self.dtype = x, w, dtype
        self.channels = x.shape[-1]
        self.length = prod(w.window) * self.channels
        self.padded = any(w.before) or any(w.after)
        self.trivial = prod(w.window) == 1 and not self.padded and set(w.stride) == {1}
        self.by_taps = w.window[-1] * self.channels < _SHORT_RUN
        self._stage: np.ndarray | None = None
        self._stage_images = (-1, -1)
        self._values: np.ndarray | None = None
        self._room: np.ndarray | None = None

    def blocks(self, divided: bool, size: int | None = None) -> list[tuple[int, int, int, int]]:
        """The blocks of so many bytes, of which several threads take the same share if the work is divided."""
        out, row = self.windows.output, self.length * self.dtype.itemsize
        return _blocks(self.x.shape[0], out[0], prod(out[1:]) * row, divided, size)

    def another(self) -> _Patches:
        """The same, with memory of its own."""
        return _Patches(self.x, self.windows, self.dtype)

    def block(self, start: int, end: int, row: int, row_end: int) -> np.ndarray:
        """The patches of one block as a matrix; valid until the next call."""
        w = self.windows
        if self.trivial:
            part = self.x[start:end, row:row_end]
            if part.dtype != self.dtype or not part.flags.c_contiguous:
                part = np.ascontiguousarray(part, self.dtype)
            return part.reshape(-1, self.channels)
        source = self._staged(start, end)
        strides = source.strides
        spatial = strides[1:-1]
        places = (end - start, row_end - row, *w.output[1:])
        steps = (strides[0], *(a * b for a, b in zip(spatial, w.stride, strict=True)))
        taps = (*w.window, self.channels)
        tap_steps = (*(a * b for a, b in zip(spatial, w.dilation, strict=True)), strides[-1])
        if self.by_taps:
            shape, strides, matrix = taps + places, tap_steps + steps, (self.length, prod(places))
        else:
            shape, strides, matrix = places + taps, steps + tap_steps, (prod(places), self.length)
        if source.flags.c_contiguous:
            # The same view as below makes, in a tenth of the time.
            view = np.ndarray(shape, self.dtype, source, row * steps[1], strides)
        else:
            view = as_strided(source[:, row * w.stride[0] :], shape, strides, writeable=False)
        count = prod(matrix)
        if self._values is None or len(self._values) < count:
            self._values = np.empty(count, self.dtype)
        values = self._values[:count]
        np.copyto(values.reshape(shape), view)
        rows = values.reshape(matrix)
        return rows.T if self.by_taps else rows

    def room(self, rows: int, columns: int) -> np.ndarray:
        """Memory for a matrix that is made of a block; valid until the next call."""
        size = rows * columns
        if self._room is None or self._room.size < size:
            self._room = np.empty(size, self.dtype)
        return self._room[:size].reshape(rows, columns)

    def _staged(self, start: int, end: int) -> np.ndarray:
        """The images of a block, padded and in the dtype of the computation."""
        part = self.x[start:end]
        if not self.padded and part.dtype == self.dtype and part.strides[-1] == part.itemsize:
            return part
        if self._stage_images == (start, end):
            return self._stage[: end - start]
        w = self.windows
        if self._stage is None or len(self._stage) < end - start:
            sides = zip(w.before, w.input, w.after, strict=True)
            shape = (end - start, *(sum(side) for side in sides), self.channels)
            self._stage = np.zeros(shape, self.dtype) if self.padded else np.empty(shape, self.dtype)
        stage = self._stage[: end - start]
        inner = tuple(slice(b, b + n) for b, n in zip(w.before, w.input, strict=True))
        stage[(slice(None), *inner)] = part
        self._stage_images = (start, end)
        return stage


def forward(x: np.ndarray, filters: np.ndarray, w: Windows) -> np.ndarray:
    """Convolves `x` with `filters`; the number of groups follows from the two channel counts."""
    inputs, outputs = filters.shape[-2:]
    out_shape = (x.shape[0], *w.output, outputs)
    if prod(out_shape) == 0 or filters.size == 0:
        return np.zeros(out_shape, x.dtype)
    groups = x.shape[-1] // inputs
    if groups > 1:
        if inputs == 1:
            return depthwise_kernels.forward(x, _as_depthwise(filters, groups), w)
        parts = [
            forward(each, kernel, w)
            for each, kernel in zip(np.split(x, groups, -1), np.split(filters, groups, -1), strict=True)
        ]
        return np.concatenate(parts, -1)
    dtype = _computation_dtype(x, filters, filters.size // outputs)
    divided = prod(out_shape) * (filters.size // outputs) >= _DIVIDED
    if divided and dtype == x.dtype and (blocks := _blocks_of_rows(x, filters, w)):
        return _forward_by_rows(x, filters, w, blocks)
    patches = _Patches(x, w, dtype)
    matrix = np.ascontiguousarray(filters.reshape(-1, outputs), dtype)
    out = np.empty(out_shape, x.dtype)

    def convolve(patches, blocks, multiply):
        for start, end, row, row_end in blocks:
            rows = patches.block(start, end, row, row_end)
            target = out[start:end, row:row_end]
            if out.dtype == dtype:
                # A block is either whole images or rows of one image, so the target is contiguous.
                multiply(rows, matrix, target.reshape(-1, outputs))
            else:
                target[...] = _cast(multiply(rows, matrix), out.dtype).reshape(target.shape)

    blocks = patches.blocks(divided)
    if divided and len(blocks) > 1:
        _by_threads(convolve, patches, [[block] for block in blocks])
    else:
        convolve(patches, blocks, blas_product)
    return out


def _blocks_of_rows(x, filters, w) -> list | None:
    """The blocks of images for a convolution by the rows of windows; None where that does not pay.

    A window has `rows * columns * channels` numbers to be copied. By rows it is `columns * channels`, and the products
    are `rows * outputs` numbers. Products are made for all rows of an image, also where no window begins.
    """
    rows, row_length = w.window[0], prod(w.window[1:]) * filters.shape[-2]
    each = row_length + rows * filters.shape[-1]
    if w.stride[0] != 1 or 6 * w.output[0] < 5 * w.input[0] or 3 * each > 2 * rows * row_length:
        return None
    size = prod(w.output[1:]) * each * x.dtype.itemsize
    blocks = _blocks(len(x), w.input[0], size, divided=True)
    return blocks if blocks[0][3] == w.input[0] else None


def _forward_by_rows(x, filters, w, blocks) -> np.ndarray:
    """The convolution where the first axis is left to sums: rows of windows times all rows of the filters."""
    outputs = filters.shape[-1]
    rows = w.window[0]
    along = Windows(*((field[0],) for field in w))
    taps = [(number, *(part for (part,) in tap_slices(along, (number,)))) for number in range(rows)]
    taps.sort(key=lambda tap: tap[1] != slice(0, w.output[0]))  # one that all windows have comes first
    matrix = np.ascontiguousarray(np.moveaxis(filters, 0, -2)).reshape(-1, rows * outputs)
    firsts = (w.input[:1], (1,), (1,), (1,), (0,), (0,), w.input[:1])
    in_row = Windows(*(first + field[1:] for first, field in zip(firsts, w, strict=True)))
    out = np.empty((len(x), *w.output, outputs), x.dtype)

    def convolve(patches, block, multiply):
        start, end = block[:2]
        values = patches.block(*block)
        products = multiply(values, matrix, patches.room(len(values), rows * outputs))
        products = products.reshape(end - start, *in_row.output, rows, outputs)
        target = out[start:end]
        number, valid, read = taps[0]
        if valid == slice(0, w.output[0]):
            target[...] = products[:, read, ..., number, :]
        else:
            target[...] = 0
            number = None
        for other, valid, read in taps:
            if other != number and valid.start < valid.stop:
                place = target[:, valid]
                np.add(place, products[:, read, ..., other, :], out=place)

    _by_threads(convolve, _Patches(x, in_row, x.dtype), blocks)
    return out


def _by_threads(function, patches: _Patches, parts: list) -> list:
    """The results of `function(patches, part, multiply)` for all parts, which several threads take."""
    free, results = [patches], [None] * len(parts)

    def run(number):
        try:
            mine = free.pop()  # the interpreter's lock makes this one step
        except IndexError:
            mine = patches.another()
        results[number] = function(mine, parts[number], np.matmul)
        free.append(mine)

    with one_thread:
        in_parts(run, len(parts))
    return results


def filter_gradient(x: np.ndarray, dy: np.ndarray, inputs: int, w: Windows) -> np.ndarray:
    """The gradient of a loss by the filters, from the one by the outputs.

    Args:
        x: The data that was convolved.
        dy: The gradient by the result.
        inputs: The channels of a filter: all of `x`, or those of one group.
        w: The windows of the convolution.
    """
    outputs = dy.shape[-1]
    shape = (*w.window, inputs, outputs)
    if x.size == 0 or dy.size == 0 or prod(shape) == 0:
        return np.zeros(shape, x.dtype)
    groups = x.shape[-1] // inputs
    if groups > 1:
        if inputs == 1:
            return depthwise_kernels.filter_gradient(x, dy, outputs // groups, w).reshape(shape)
        parts = [
            filter_gradient(each, grad, inputs, w)
            for each, grad in zip(np.split(x, groups, -1), np.split(dy, groups, -1), strict=True)
        ]
        return np.concatenate(parts, -1)
    dtype = _computation_dtype(x, dy, dy.size // outputs)
    patches = _Patches(x, w, dtype)

    def total(patches, blocks, multiply):
        result: np.ndarray | None = None
        for start, end, row, row_end in blocks:
            rows = patches.block(start, end, row, row_end)
            grads = dy[start:end, row:row_end].reshape(-1, outputs).astype(dtype, copy=False)
            product_ = multiply(rows.T, grads)
            result = product_ if result is None else np.add(result, product_, out=result)
        return result

    divided = dy.size * patches.length >= _DIVIDED
    most = min(_SUMS, _SUMMED_NUMBERS // prod(shape))
    blocks = patches.blocks(divided) if most > 1 else patches.blocks(False, _LARGE_BLOCK_BYTES)
    count = _shares(len(blocks), most)
    if divided and count > 1:
        parts = [blocks[start:end] for start, end in _runs(len(blocks), count)]
        first, *others = _by_threads(total, patches, parts)
        for other in others:
            np.add(first, other, out=first)
    else:
        first = total(patches, blocks, blas_product)
    return _cast(first, x.dtype).reshape(shape)


def _shares(count: int, most: int) -> int:
    """Into how many shares to divide so many blocks: equal ones, as many for each of two threads, if possible."""
    if min(count, most) < 2:
        return 1
    return max(2, gcd(count, 1 << (min(count, most).bit_length() - 1)))


def input_gradient(dy: np.ndarray, filters: np.ndarray, channels: int, w: Windows) -> np.ndarray:
    """The gradient of a loss by the input, from the one by the outputs: a transposed convolution.

    Args:
        dy: The gradient by the result of the convolution.
        filters: The filters.
        channels: The channels of the input.
        w: The windows of the convolution.
    """
    inputs, outputs = filters.shape[-2:]
    shape = (dy.shape[0], *w.input, channels)
    if prod(shape) == 0 or dy.size == 0 or filters.size == 0:
        return np.zeros(shape, dy.dtype)
    groups = channels // inputs
    if groups > 1:
        if inputs == 1:
            return depthwise_kernels.input_gradient(dy, _as_depthwise(filters, groups), w)
        parts = [
            input_gradient(grad, kernel, inputs, w)
            for grad, kernel in zip(np.split(dy, groups, -1), np.split(filters, groups, -1), strict=True)
        ]
        return np.concatenate(parts, -1)
    back = reversed_windows(w)
    if back is not None and outputs <= _TAPS_RATIO * channels:
        return forward(dy, _turned(filters), back)
    return _input_gradient_by_taps(dy, filters, w)


def _turned(filters: np.ndarray) -> np.ndarray:
    """The filters of the convolution over the gradient: the last tap first, inputs and outputs changed."""
    taps = np.swapaxes(filters.reshape(-1, *filters.shape[-2:])[::-1], -1, -2)
    result = np.empty(taps.shape, filters.dtype)
    if filters.size < _LONG_COPY:
        np.copyto(result, taps)
    else:
        rows = taps.shape[1]
        in_slices(lambda part: np.copyto(result[:, part], taps[:, part]), rows, max(1, rows // 2))
    return result.reshape(*filters.shape[:-2], *taps.shape[1:])


def _as_depthwise(filters: np.ndarray, groups: int) -> np.ndarray:
    """Filters with one input channel per group, as a depthwise convolution has them."""
    return filters.reshape(*filters.shape[:-2], groups, -1)


def _input_gradient_by_taps(dy: np.ndarray, filters: np.ndarray, w: Windows) -> np.ndarray:
    """Adds, for each tap of the window, the gradients times the tap's filter to the positions it reads."""
    batch, outputs = dy.shape[0], dy.shape[-1]
    channels = filters.shape[-2]
    dtype = _computation_dtype(dy, filters, filters.size // channels)
    taps = [(number, *tap_slices(w, tap)) for number, tap in enumerate(product(*map(range, w.window)))]
    taps = [tap for tap in taps if all(v.start < v.stop for v in tap[1])]
    dx = np.empty((batch, *w.input, channels), dy.dtype)
    # Few channels are short runs to add: then each of them is an image of its own, and all taps are one product.
    places = prod(w.output) * dtype.itemsize
    by_channels = channels < _SHORT_RUN and places * filters[..., 0].size <= _LARGEST_PRODUCT
    matrices = filters.reshape(-1, channels, outputs).astype(dtype, copy=False)
    columns = channels * (len(matrices) if by_channels else 1)
    count = min(batch, -(-batch * places * columns // _TAPS_BYTES))
    divided = count > 1 and dy.size * filters[..., 0].size >= _DIVIDED
    multiply = np.matmul if divided else blas_product
    blocks = list(_runs(batch, min(batch, count + count % 2) if divided else count))

    def spread(number):
        start, end = blocks[number]
        grads = np.ascontiguousarray(dy[start:end], dtype).reshape(-1, outputs)
        if by_channels:
            products = multiply(matrices.reshape(-1, outputs), grads.T)
            products = products.reshape(-1, channels, end - start, *w.output)
            total = np.zeros((channels, end - start, *w.input), dtype)
            for tap, valid, read in taps:
                target = total[(slice(None), slice(None), *read)]
                np.add(target, products[tap][(slice(None), slice(None), *valid)], out=target)
            total = np.moveaxis(total, 0, -1)
        else:
            total = np.zeros((end - start, *w.input, channels), dtype)
            room = np.empty((len(grads), channels), dtype)
            for tap, valid, read in taps:
                target = total[(slice(None), *read)]
                result = multiply(grads, matrices[tap].T, room).reshape(-1, *w.output, channels)
                np.add(target, result[(slice(None), *valid)], out=target)
        dx[start:end] = _cast(total, dx.dtype)

    if divided:
        with one_thread:
            in_parts(spread, len(blocks))
    else:
        for number in range(len(blocks)):
            spread(number)
    return dx
