"""The payloads of one feature of many records, in one buffer, decoded together into a column of values."""

import numpy as np

from headrace._src.formats.example_fields import (
    BYTES,
    FLOAT,
    MalformedExample,
    delimited,
    integers,
    list_payload,
)
from headrace._src.formats.example_headers import count_true, encoded, lengths_at, limits, windows

FEW = 24  # so many records are read one by one: steps through all of them together would take longer
MARGIN = 16  # bytes that must be readable behind the last record
MISSING = -1
_SIMILAR, _MANY = 8, 512  # strings of so few different lengths, and so many of them, are taken length by length


class Column:
    """One feature of all records.

    Attributes:
        values: all values in the order of the records: float32, int64, or bytes objects.
        counts: how many values each record has, as int64; 0 where the feature is missing.
        present: which records have the feature; None when all have it.
    """

    __slots__ = ("counts", "present", "values")

    def __init__(self, values, counts, present):
        self.values = values
        self.counts = counts
        self.present = present


class Spans:
    """Where the values of a key are in the buffer: one span per record; the start is -1 where there is none.

    `complete`: no record is without.
    """

    __slots__ = ("complete", "start", "stop")

    def __init__(self, count):
        self.start = np.full(count, MISSING, np.int64)
        self.stop = self.start
        self.complete = False

    def put(self, rows, start, stop):
        """Set the spans of some records; `rows` None means all."""
        if rows is None:
            self.start, self.stop, self.complete = start, stop, True
            return
        if self.stop is self.start:
            self.stop = self.start.copy()
        self.start[rows] = start
        self.stop[rows] = stop

    def remove(self, rows):
        """Let some records have none."""
        if self.stop is self.start:
            self.stop = self.start.copy()
        self.start[rows] = MISSING
        self.complete = False

    def present(self):
        """Which records have one; None when all have."""
        if self.complete:
            return None
        present = self.start != MISSING
        if count_true(present) == present.size:
            return None
        return present


class Buffer:
    """The bytes of all records, and what is put behind them: payloads in the usual form.

    Args:
        data: the bytes, as uint8.
        raw: the same as one string, if it exists.
    """

    def __init__(self, data: np.ndarray, raw: bytes | None = None):
        self.data = data
        self._raw = raw
        self._extra: list[bytes] = []
        self._size = data.size

    @property
    def raw(self) -> bytes:
        if self._raw is None:
            self._raw = self.data.tobytes()
        return self._raw

    def add(self, content: bytes) -> tuple[int, int]:
        """The span that the content will have once `settle` was called."""
        start = self._size
        self._extra.append(content)
        self._size += len(content)
        return start, self._size

    def settle(self):
        if self._extra:
            extra = b"".join([*self._extra, bytes(MARGIN)])
            self.data = np.concatenate([self.data, np.frombuffer(extra, np.uint8)])
            self._size = self.data.size
            self._extra, self._raw = [], None


def _gathered(data, start, stop, lengths):
    """The bytes of all spans, one behind the other."""
    least, most = limits(lengths)
    if least == most:
        if not most:
            return np.empty(0, np.uint8)
        return data[start] if most == 1 else windows(data, most)[start].view(np.uint8)
    ends = lengths.cumsum()
    total = int(ends[-1])
    if lengths.size * 32 < total:
        view = memoryview(data)
        return np.frombuffer(b"".join([view[a:b] for a, b in zip(start.tolist(), stop.tolist())]), np.uint8)
    places = np.arange(total)
    places += (start - (ends - lengths)).repeat(lengths)
    return data[places]


def _numbers(data, spans, kind):
    """The values and counts of packed numbers."""
    present = spans.present()
    start, stop = (spans.start, spans.stop) if present is None else (spans.start[present], spans.stop[present])
    if not start.size:
        return _column(np.empty(0, np.float32 if kind == FLOAT else np.int64), start, present)
    lengths = stop - start
    gathered = _gathered(data, start, stop, lengths)
    if kind == FLOAT:
        if count_true(lengths & 3):
            raise _malformed(present, (lengths & 3).nonzero()[0][0], "packed floating numbers are cut off")
        return _column(gathered.view("<f4"), lengths >> 2, present)
    last = (gathered < 128).nonzero()[0]
    if last.size == gathered.size:
        return _column(gathered.astype(np.int64), lengths, present)
    ends = lengths.cumsum()
    cut = (gathered[ends - 1] > 127) & (lengths > 0)
    if count_true(cut):
        raise _malformed(present, cut.nonzero()[0][0], "packed integers are cut off")
    try:
        values = integers(gathered)
    except MalformedExample:
        sizes = np.diff(last, prepend=-1)
        row = np.searchsorted(ends, last[np.flatnonzero(sizes > 10)[0]], side="right")
        raise _malformed(present, row, "an integer is too long") from None
    passed = last.searchsorted(ends)
    counts = passed.copy()
    counts[1:] -= passed[:-1]
    return _column(values, counts, present)


def _column(values, counts, present):
    if present is not None:
        full = np.zeros(present.size, np.int64)
        full[present] = counts
        counts = full
    return Column(values, counts, present)


def _malformed(present, row, text):
    error = MalformedExample(text)
    error.index = int(row if present is None else np.flatnonzero(present)[row])
    return error


def split(data, starts, stops):
    """The items of messages that hold nothing but a repeated field 1 of strings or messages.

    Returns:
        Starts and stops of the items, in the order of the messages, how many each message has, and the numbers of the
        messages that have something else (which then have no items).
    """
    count = starts.size
    parts: list = []  # (messages, starts, stops, numbers of the items in their messages)
    odd: list = []
    rows = (starts < stops).nonzero()[0]
    at, ends = (starts, stops) if rows.size == count else (starts[rows], stops[rows])
    step = 0
    while rows.size:
        if rows.size < FEW:
            parts += _split_one_by_one(data, rows, at, ends, step, odd)
            break
        tags, lengths, sizes = lengths_at(data, at)
        first = at + sizes
        at = first + lengths
        good = (tags == 0x0A) & (at <= ends)
        if count_true(good) != good.size:
            odd += rows[~good].tolist()
            rows, at, ends, first = rows[good], at[good], ends[good], first[good]
        parts.append((rows, first, at, step))
        going = at != ends
        if count_true(going) != going.size:
            rows, at, ends = rows[going], at[going], ends[going]
        step += 1
    if odd:
        parts = [_without(part, odd, count) for part in parts]
    if len(parts) == 1 and step == 1:
        rows, first, last, _ = parts[0]
        counts = np.zeros(count, np.int64)
        counts[rows] = 1
        return first, last, counts, odd
    counts = np.zeros(count, np.int64)
    for rows, _, _, place in parts:
        if isinstance(place, int):
            counts[rows] += 1
        else:
            counts[rows[0]] += rows.size
    offsets = counts.cumsum() - counts
    first = np.empty(int(counts.sum()), np.int64)
    last = np.empty_like(first)
    for rows, start, stop, place in parts:
        where = offsets[rows] + place
        first[where] = start
        last[where] = stop
    return first, last, counts, odd


def _without(part, odd, count):
    rows, first, last, place = part
    bad = np.zeros(count, bool)
    bad[odd] = True
    keep = ~bad[rows]
    return rows[keep], first[keep], last[keep], place if isinstance(place, int) else place[keep]


def _split_one_by_one(data, rows, at, ends, step, odd):
    """The rest of the items of few messages, one part for each."""
    parts = []
    for row, start, stop in zip(rows.tolist(), at.tolist(), ends.tolist()):
        content = data[start:stop].tobytes()
        try:
            found = list(delimited(content, 0, len(content), b"\x0a"))
        except MalformedExample:
            odd.append(row)
            continue
        spans = np.array([(first, last) for _, first, last in found], np.int64) + start
        parts.append((np.full(len(found), row), spans[:, 0], spans[:, 1], np.arange(step, step + len(found))))
    return parts


def _strings(buffer, starts, stops):
    """The strings of spans, as an object array."""
    result = np.empty(starts.size, object)
    if not starts.size:
        return result
    lengths = stops - starts
    least, most = limits(lengths)
    if least == most:
        result[:] = windows(buffer.data, most)[starts].tolist() if most else b""
        return result
    if most - least < _SIMILAR and starts.size >= _MANY:
        # All strings of one length at once.
        for length in (np.bincount(lengths - least).nonzero()[0] + least).tolist():
            rows = (lengths == length).nonzero()[0]
            result[rows] = windows(buffer.data, length)[starts[rows]].tolist() if length else b""
        return result
    raw = buffer.raw
    result[:] = [raw[a:b] for a, b in zip(starts.tolist(), stops.tolist())]
    return result


def _string_column(buffer, spans):
    present = spans.present()
    start, stop = (spans.start, spans.stop) if present is None else (spans.start[present], spans.stop[present])
    first, last, counts, odd = split(buffer.data, start, stop)
    if odd:  # lengths that are written in another way
        start, stop = start.copy(), stop.copy()
        for row in odd:
            content = buffer.data[start[row] : stop[row]].tobytes()
            try:
                items = list_payload(BYTES, content, 0, len(content))
            except MalformedExample as error:
                raise _malformed(present, row, str(error)) from None
            start[row], stop[row] = buffer.add(encoded_list(items))
        buffer.settle()
        first, last, counts, odd = split(buffer.data, start, stop)
    return _column(_strings(buffer, first, last), counts, present)


def encoded_list(strings):
    """Strings as an encoded list has them."""
    return b"".join([b"\x0a" + encoded(len(item)) + item for item in strings])


def column_of(buffer, spans, kind) -> Column:
    """The values of a feature, given the spans of its payloads."""
    return _string_column(buffer, spans) if kind == BYTES else _numbers(buffer.data, spans, kind)
