"""Comparing what stands before the payload of many messages at once, in a buffer that holds them all.

Given where a message begins and how long it is, everything up to its payload is determined, if it was written the
usual way: tags, lengths and keys. So one gather of as many bytes as that takes, and one comparison with what is
expected, replace reading field by field. What differs is left to the field-by-field reader.
"""

import bisect
import functools

import numpy as np

_CHUNK = 256  # so many lengths in a row have their headers in one table
_TABLES = 16  # how many tables a header keeps
_LARGEST = 2**28  # messages from this size on are read field by field


@functools.lru_cache(maxsize=4096)
def _bytes_type(width):
    return np.dtype(f"V{width}")


_WORD = np.dtype("<u8")


def windows(data: np.ndarray, width: int) -> np.ndarray:
    """For each position, the `width` bytes that begin there, as one item; indexing copies them."""
    return np.ndarray((data.size - width + 1,), _bytes_type(width), data, 0, (1,))


def count_true(mask: np.ndarray) -> int:
    """How many elements are true; cheaper than `all` and `any`, which matters for small batches."""
    return np.count_nonzero(mask)


def limits(numbers: np.ndarray) -> tuple[int, int]:
    """The smallest and largest number, of at least one."""
    first = int(numbers[0])
    if np.count_nonzero(numbers == first) == numbers.size:
        return first, first
    return int(np.minimum.reduce(numbers)), int(np.maximum.reduce(numbers))


def encoded(number: int) -> bytes:
    """A varint."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def lengths_at(data: np.ndarray, at: np.ndarray):
    """The tag and the length behind it at each position.

    Returns:
        Tags as uint64, lengths as int64, and how many bytes both take together (a number or an array). A length that
        takes more than four bytes comes out as a huge one.
    """
    words = windows(data, 8)[at].view(_WORD)
    tags = words & 0xFF
    words >>= 8
    if not np.count_nonzero(words & 0x80):
        return tags, (words & 0x7F).view(np.int64), 2
    if not np.count_nonzero((words & 0x8080) ^ 0x80):  # two bytes each, as most messages of some size have
        return tags, ((words & 0x7F) | ((words >> 1) & 0x3F80)).view(np.int64), 3
    marks = ~words & 0x80808080
    lowest = marks & (~marks + np.uint64(1))  # the mark of the last byte
    words &= lowest - np.uint64(1)
    lengths = words & 0x7F
    for i in range(1, 4):
        lengths |= (words >> i) & (0x7F << 7 * i)
    sizes = 2 + (lowest > 0x80).astype(np.int64) + (lowest > 0x8000) + (lowest > 0x800000)
    lengths = lengths.view(np.int64)
    lengths[marks == 0] = 2**60
    return tags, lengths, sizes


class Header:
    """What stands before the payload: constants, each followed by the length of all that comes after.

    Args:
        constants: the constant parts; a length stands behind each of them.
    """

    def __init__(self, *constants: bytes):
        self._constants = constants
        # Where the layout changes: up to total length limits[i] it is layouts[i], a tuple of (size of the header,
        # [(column, size, bytes up to and including the length)]), or None.
        self._limits: list[int] = []
        self._layouts: list = []
        total = 0
        while total < _LARGEST:
            layout, last = self._layout(total)
            self._limits.append(min(last, _LARGEST))
            self._layouts.append(layout)
            total = last + 1
        self._rows: dict[int, np.ndarray] = {}
        self._tables: dict[tuple[int, int], tuple] = {}

    def _layout(self, total):
        """The layout for a total length, and the largest total that has it."""
        rest, lengths, last = total, [], _LARGEST
        for constant in self._constants:
            rest -= len(constant)
            size = 1
            while rest - size >= 128**size:
                size += 1
            rest -= size
            last = min(last, 128**size - 1 + total - rest)
            lengths.append((total - rest - size, size, total - rest))
        if rest < 0:
            return None, total
        return (total - rest, tuple(lengths)), last

    def _row(self, total):
        """The header of a message of that total length, as one item of a window."""
        row = self._rows.get(total)
        if row is None:
            rest, parts = total, []
            size, lengths = self._layouts[bisect.bisect_left(self._limits, total)]
            for constant, (_, width, used) in zip(self._constants, lengths):
                rest = total - used
                short = bytearray(encoded(rest))
                if len(short) < width:  # a total that only a wasteful writer arrives at
                    short[-1] |= 128
                    short += bytes(width - len(short))
                parts += [constant, bytes(short)]
            row = np.frombuffer(b"".join(parts), f"V{size}")
            if len(self._rows) < 1024:
                self._rows[total] = row
        return row

    def match(self, data, at, totals, least, most):
        """Which of the messages at these positions begin with this header.

        Args:
            data: the buffer.
            at: where the messages begin.
            totals: how long they are.
            least, most: the smallest and largest of `totals`.

        Returns:
            A boolean array, and the sizes of the headers: a number or an array.
        """
        first = bisect.bisect_left(self._limits, least)
        last = bisect.bisect_left(self._limits, most)
        if first == last:
            return self._match_alike(data, at, totals, least, most, first)
        if last == len(self._limits):
            return np.zeros(at.size, bool), 0
        matched = np.zeros(at.size, bool)
        sizes = np.zeros(at.size, np.int64)
        layouts = np.searchsorted(self._limits, totals)
        for i in range(first, last + 1):
            rows = (layouts == i).nonzero()[0]
            if rows.size:
                chosen = totals[rows]
                found, size = self._match_alike(data, at[rows], chosen, *limits(chosen), i)
                matched[rows] = found
                sizes[rows] = size
        return matched, sizes

    def _match_alike(self, data, at, totals, least, most, layout):
        if layout == len(self._limits) or self._layouts[layout] is None:
            return np.zeros(at.size, bool), 0
        size = self._layouts[layout][0]
        found = windows(data, size)[at]
        if least == most:
            return found == self._row(least), size
        if least // _CHUNK == most // _CHUNK:
            first, rows = self._table(least // _CHUNK, layout)
            return found == rows[totals - first], size
        return found == self._headers(totals, layout), size

    def _table(self, chunk, layout):
        """The headers of all total lengths of a chunk that have the layout, and the first of these lengths."""
        table = self._tables.get((chunk, layout))
        if table is None:
            first = max(chunk * _CHUNK, self._limits[layout - 1] + 1 if layout else 0)
            last = min(chunk * _CHUNK + _CHUNK - 1, self._limits[layout])
            table = first, self._headers(np.arange(first, last + 1), layout)
            if len(self._tables) < _TABLES:
                self._tables[chunk, layout] = table
        return table

    def _headers(self, totals, layout):
        """The headers of messages of these total lengths, which all have the layout."""
        size, lengths = self._layouts[layout]
        rows = np.empty((totals.size, size), np.uint8)
        rows[:] = self._row(int(totals[0])).view(np.uint8)
        for column, width, used in lengths:
            rest = totals - used
            for i in range(width - 1):
                rows[:, column + i] = (rest >> 7 * i) & 0x7F | 0x80
            rows[:, column + width - 1] = rest >> 7 * (width - 1)
        return rows.view(_bytes_type(size))[:, 0]
