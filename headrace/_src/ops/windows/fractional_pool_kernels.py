"""Fractional pooling of NumPy arrays: random pooling sequences, and pools over regions of any widths."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from headrace._src.core import errors
from headrace._src.ops.random.bits import Philox


class _Words:
    """The 32-bit words of a stream, one by one."""

    def __init__(self, stream: Philox):
        self.stream = stream
        self._used = 4
        self._block: tuple[int, ...] = ()

    def __call__(self) -> int:
        if self._used == 4:
            self._block = self.stream.block()
            self.stream = self.stream.skip(1)
            self._used = 0
        self._used += 1
        return self._block[self._used - 1]

    def below(self, n: int) -> int:
        """A number below `n`; words that would favour small numbers are passed over."""
        if n & (n - 1) == 0:
            return self() & (n - 1)
        rejected = (2**32 - 1) % n + 1
        while True:
            word = self()
            if word >= rejected:
                return word % n

    def fraction(self) -> float:
        """A double from 0 to 1, of 52 random bits."""
        high, low = self(), self()
        return ((high & 0xFFFFF) << 32 | low) / 2**52


def pooling_sequences(
    rows: tuple[int, int], columns: tuple[int, int], pseudo_random: bool, stream: Philox
) -> tuple[np.ndarray, np.ndarray]:
    """Where the pooling regions begin along rows and columns, each with the end as its last entry.

    Args:
        rows: The input's and the output's number of rows.
        columns: The same for columns.
        pseudo_random: True for a sequence from one random number, False for shuffled widths.
        stream: The source of randomness.
    """
    first, stream = _sequence(*rows, pseudo_random, stream)
    second, _ = _sequence(*columns, pseudo_random, stream)
    return first, second


def _sequence(size: int, parts: int, pseudo_random: bool, stream: Philox) -> tuple[np.ndarray, Philox]:
    width, wider = divmod(size, parts)
    # TF: a sequence reserves its words from the stream even if it needs none, or passed some over.
    rest = stream.skip(1 if pseudo_random else -(-parts // 4))
    if wider == 0:
        return np.arange(parts + 1, dtype=np.int64) * width, rest
    words = _Words(stream)
    if pseudo_random:
        # Graham, "Fractional max-pooling": ceil(alpha * (i + u)), with u such that the widths are right.
        alpha = size / parts
        limit = min((width + 2) / alpha - 1, (size + 1 - width) / alpha - (parts - 1))
        offset = words.fraction() * limit
        inner = [ceil(alpha * (i + offset)) - 1 for i in range(1, parts)]
        return np.array([0, *inner, size], np.int64), rest
    widths = [width + 1] * wider + [width] * (parts - wider)
    for i in range(parts - 1):
        j = i + words.below(parts - i)
        widths[i], widths[j] = widths[j], widths[i]
    return np.concatenate([[0], np.cumsum(widths)]).astype(np.int64), rest


def output_sizes(op: str, shape: Sequence[int], ratio: Sequence[float]) -> tuple[int, ...]:
    """The output's shape for an input of `shape`, after checking the pooling ratios."""
    if len(shape) != 4:
        raise errors.invalid_argument(f"{op}: value must have 4 dimensions, got shape {tuple(shape)}.")
    check_ratio(op, ratio)
    for axis, (size, each) in enumerate(zip(shape, ratio, strict=True)):
        if size is not None and size < each:
            raise errors.invalid_argument(
                f"{op}: pooling_ratio {each} is larger than dimension {axis} of value, which is {size}."
            )
    return tuple(None if size is None else int(size / each) for size, each in zip(shape, ratio, strict=True))


def check_ratio(op: str, ratio: Sequence[float]) -> None:
    """Refuses ratios below 1 and ratios for the batch and the channels."""
    if len(ratio) != 4:
        raise errors.invalid_argument(f"{op}: pooling_ratio must have 4 entries, got {tuple(ratio)}.")
    if not min(ratio) >= 1:
        raise errors.invalid_argument(f"{op}: pooling_ratio must be at least 1, got {tuple(ratio)}.")
    if ratio[0] != 1 or ratio[3] != 1:
        raise errors.unimplemented(
            f"{op}: pooling_ratio must be 1 for the batch and the channels, got {tuple(ratio)}."
        )


def _regions(sequence: np.ndarray, size: int, overlapping: bool) -> tuple[np.ndarray, np.ndarray]:
    """First and last position of each region; overlapping regions include the next one's first."""
    begin = sequence[:-1]
    end = np.minimum(sequence[1:], size - 1) if overlapping else sequence[1:] - 1
    return begin, end


def check_sequence(op: str, name: str, sequence: np.ndarray, size: int) -> np.ndarray:
    """A pooling sequence that begins at 0 or later, grows, and ends at `size`."""
    if sequence.ndim != 1 or len(sequence) < 2:
        raise errors.invalid_argument(
            f"{op}: {name} must be a vector of at least 2 entries, got shape {sequence.shape}."
        )
    if sequence[0] < 0 or sequence[-1] > size or (np.diff(sequence) <= 0).any():
        raise errors.invalid_argument(
            f"{op}: {name} must grow within 0 and {size}, got {sequence.tolist()[:20]}."
        )
    return sequence


def max_pool(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> np.ndarray:
    """The maximum of each region."""
    for axis, sequence in ((1, rows), (2, columns)):
        begin, end = _regions(sequence, x.shape[axis], overlapping)
        total = np.take(x, begin, axis)
        for i in range(1, int((end - begin).max()) + 1):
            # A region that is narrower than the widest looks at its last row or column again.
            np.maximum(total, np.take(x, np.minimum(begin + i, end), axis), out=total)
        x = total
    return x


def _weights(sequence: np.ndarray, size: int, overlapping: bool, dtype) -> tuple[np.ndarray, np.ndarray]:
    """A matrix (regions, size) that is 1 within each region, and the regions' sizes."""
    begin, end = _regions(sequence, size, overlapping)
    position = np.arange(size)
    inside = (position >= begin[:, None]) & (position <= end[:, None])
    return inside.astype(dtype), (end - begin + 1)


def avg_pool(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> np.ndarray:
    """The mean of each region of rows and columns; integers are divided towards zero."""
    counts = np.ones((1, 1, 1, 1), np.int64)
    sums = x
    for axis, sequence in ((1, rows), (2, columns)):
        inside, count = _weights(sequence, x.shape[axis], overlapping, x.dtype)
        sums = np.moveaxis(np.tensordot(inside, sums, (1, axis)), 0, axis)
        counts = counts * count.reshape((-1, 1) if axis == 2 else (-1, 1, 1))
    if x.dtype.kind in "iu":
        quotient = np.abs(sums) // counts
        return (np.sign(sums) * quotient).astype(x.dtype)
    return (sums / counts).astype(x.dtype)


def avg_pool_gradient(
    dy: np.ndarray, rows: np.ndarray, columns: np.ndarray, size: tuple[int, int], overlapping: bool
) -> np.ndarray:
    """The gradient by the input of `avg_pool`."""
    wide = np.float64
    dx = dy.astype(wide)
    for axis, sequence, extent in ((1, rows, size[0]), (2, columns, size[1])):
        inside, count = _weights(sequence, extent, overlapping, wide)
        dx = np.moveaxis(np.tensordot(inside / count[:, None], dx, (0, axis)), 0, axis)
    return dx.astype(dy.dtype)


def max_positions(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> np.ndarray:
    """For each region, the flat position within `x` of its first maximum, row by row."""
    batch, height, width, channels = x.shape
    row_begin, row_end = _regions(rows, height, overlapping)
    column_begin, column_end = _regions(columns, width, overlapping)
    shape = (batch, len(row_begin), len(column_begin), channels)
    best: np.ndarray | None = None
    chosen = np.zeros(shape, np.int64)
    base = np.arange(batch)[:, None, None, None] * height
    channel = np.arange(channels)
    for i in range(int((row_end - row_begin).max()) + 1):
        # A region that is narrower than the widest looks at its last row or column again.
        row = np.minimum(row_begin + i, row_end)
        for j in range(int((column_end - column_begin).max()) + 1):
            column = np.minimum(column_begin + j, column_end)
            value = x[:, row[:, None], column]
            position = ((base + row[:, None, None]) * width + column[:, None]) * channels + channel
            if best is None:
                best, chosen = value, np.broadcast_to(position, shape).copy()
                continue
            larger = value > best
            best = np.where(larger, value, best)
            chosen = np.where(larger, position, chosen)
    return chosen


def max_pool_gradient(
    x: np.ndarray, dy: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool
) -> np.ndarray:
    """The gradient by the input of `max_pool`: each region's goes to its first maximum."""
    if not x.size or not dy.size:
        return np.zeros(x.shape, dy.dtype)
    position = max_positions(x, rows, columns, overlapping)
    if dy.dtype.kind in "iu":
        dx = np.zeros(x.size, dy.dtype)
        np.add.at(dx, position.ravel(), dy.ravel())
        return dx.reshape(x.shape)
    sums = np.bincount(position.ravel(), weights=dy.astype(np.float64).ravel(), minlength=x.size)
    return sums.astype(dy.dtype).reshape(x.shape)
