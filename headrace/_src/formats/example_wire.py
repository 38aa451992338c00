"""Parsing many encoded `Example`s or `SequenceExample`s at once, without a Python object per value.

The records of a batch stand in one buffer. They are walked through in step: at each step, all records whose next map
entry has a given key are recognised by one comparison (see example_headers.py), which also tells where the payload is.
Keys are tried in the order in which records were seen to have them, so records that lack some wait until their turn.
What no comparison recognises, such as unusual but valid encodings, is read field by field (see example_fields.py), and
its payload is put behind the buffer in the usual form. Then the payloads of each feature are decoded together.
"""

import functools

import numpy as np

from headrace._src.formats.example_fields import (
    BYTES,
    FLOAT,
    INT64,
    KIND_NAMES,
    MalformedExample,
    entries,
    features_of,
    fields,
    integers,
    values_of,
)
from headrace._src.formats.example_headers import Header, encoded, lengths_at, windows

FEW = 16  # so many records are read one by one: the steps would take longer
_PASSES = 6  # how often the keys are tried in order, before the rest is read one by one
_MARGIN = 16  # bytes that must be readable behind the last record
MISSING = -1
_KNOWN_KEYS = 4096  # how many keys are kept in order


class WrongKind(ValueError):
    """A feature holds values of another kind than asked for."""

    def __init__(self, index, key, stored, asked):
        super().__init__(f"{KIND_NAMES[stored]} values are stored, {KIND_NAMES[asked]} was asked for")
        self.index, self.key, self.stored, self.asked = index, key, stored, asked


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
    """Where the values of a key are in the buffer: one span per record; the start is -1 where there is none."""

    __slots__ = ("start", "stop")

    def __init__(self, count):
        self.start = np.full(count, MISSING, np.int64)
        self.stop = np.full(count, MISSING, np.int64)


class Buffer:
    """The bytes of all records, and what is put behind them: payloads in the usual form."""

    def __init__(self, data: np.ndarray):
        self.data = data
        self._extra: list[bytes] = []
        self._size = data.size

    def add(self, content: bytes) -> tuple[int, int]:
        """The span that the content will have once `settle` was called."""
        start = self._size
        self._extra.append(content)
        self._size += len(content)
        return start, self._size

    def settle(self):
        if self._extra:
            extra = b"".join([*self._extra, bytes(_MARGIN)])
            self.data = np.concatenate([self.data, np.frombuffer(extra, np.uint8)])
            self._size = self.data.size
            self._extra = []


class MapWalk:
    """Finds the values of some keys in many encoded maps from strings to messages.

    Args:
        wanted: the keys, as bytes.
    """

    def __init__(self, wanted):
        self.wanted = frozenset(wanted)
        self._order: tuple[bytes, ...] = ()  # replaced, never changed: several threads may walk at once

    @functools.lru_cache(maxsize=_KNOWN_KEYS)  # noqa: B019  # walks live as long as the ops that made them
    def _header(self, key) -> Header:
        named = b"\x0a" + encoded(len(key)) + key
        return Header(b"\x0a", named + b"\x12") if key in self.wanted else Header(b"\x0a", tail=named)

    def _learn(self, data, at, stop):
        """Put the keys of a map into the order, each behind the one before it."""
        order, place = list(self._order), 0
        known = {key: i for i, key in enumerate(order)}
        fresh = False
        for key, _ in entries(data, at, stop):
            if key in known:
                place = order.index(key) + 1 if fresh else known[key] + 1
            elif len(order) < _KNOWN_KEYS:
                order.insert(place, key)
                known[key] = place
                place += 1
                fresh = True
        self._order = tuple(order)

    def run(self, data, starts, stops, rows, count):
        """Walk through the maps between `starts` and `stops`, of the records `rows` of `count`.

        Returns:
            Key to `Spans` of the encoded values, and the rows that have to be read field by field.
        """
        found = {key: Spans(count) for key in self.wanted}
        odd: list[np.ndarray] = []
        pending = _Pending(data, rows, starts, stops)
        pending.read(None)
        for _ in range(_PASSES):
            for key in self._order:
                if not pending.rows.size:
                    break
                matched, sizes = self._header(key).match(data, pending.at, pending.totals, *pending.limits())
                chosen = None if matched.all() else np.flatnonzero(matched)
                if chosen is not None and not chosen.size:
                    continue
                if key in found:
                    spans = found[key]
                    if chosen is None:
                        spans.start[pending.rows] = pending.at + sizes
                        spans.stop[pending.rows] = pending.at + pending.totals
                    else:
                        at = pending.at[chosen]
                        own = sizes if isinstance(sizes, int) else sizes[chosen]
                        spans.start[pending.rows[chosen]] = at + own
                        spans.stop[pending.rows[chosen]] = at + pending.totals[chosen]
                pending.read(chosen)
            if pending.rows.size < FEW:
                break
            try:
                start, stop = int(pending.at[0]), int(pending.stops[0])
                self._learn(data[start:stop].tobytes(), 0, stop - start)
            except MalformedExample:
                odd.append(pending.rows[:1])
                pending.drop(np.arange(pending.rows.size) > 0)
        odd.append(pending.rows)
        return found, np.concatenate([*odd, *pending.odd])


class _Pending:
    """The maps that are still being walked through: where each is, and how long its next entry is."""

    def __init__(self, data, rows, at, stops):
        self._data = data
        self.rows = rows
        self.at = at
        self.stops = stops
        self.totals = np.zeros(at.size, np.int64)
        self.odd: list[np.ndarray] = []
        self._limits = None

    def limits(self):
        """The smallest and largest length of an entry."""
        if self._limits is None:
            self._limits = int(self.totals.min()), int(self.totals.max())
        return self._limits

    def drop(self, keep):
        self.rows, self.at, self.stops = self.rows[keep], self.at[keep], self.stops[keep]
        self.totals = self.totals[keep]
        self._limits = None

    def read(self, chosen):
        """Step over the entries of the chosen maps (None: of all), and read the lengths of the next ones."""
        self._limits = None
        if chosen is None:
            self.at = self.at + self.totals
        else:
            self.at[chosen] += self.totals[chosen]
        going = self.at != self.stops
        if not going.all():
            if chosen is not None:
                moved = np.zeros(going.size, bool)
                moved[chosen] = True
                chosen = np.flatnonzero(moved[going])
            self.drop(going)
            if not self.rows.size:
                return
        at = self.at if chosen is None else self.at[chosen]
        tags, lengths, sizes = lengths_at(self._data, at)
        totals = lengths + sizes
        if chosen is None:
            self.totals = totals
            good = (tags == 0x0A) & (at + totals <= self.stops)
        else:
            self.totals[chosen] = totals
            good = np.ones(self.at.size, bool)
            good[chosen] = (tags == 0x0A) & (at + totals <= self.stops[chosen])
        if not good.all():
            self.odd.append(self.rows[~good])
            self.drop(good)


_NUMERIC = {kind: Header(bytes([kind << 3 | 2]), b"\x0a") for kind in (FLOAT, INT64)}
_STRINGS = Header(b"\x0a")


def narrow(data, spans, kind):
    """Narrow the spans of encoded features to their payloads; returns the records that this cannot be done for."""
    rows = np.flatnonzero(spans.start != MISSING)
    start, stop = (spans.start, spans.stop) if rows.size == spans.start.size else (spans.start[rows], spans.stop[rows])
    totals = stop - start
    odd = []
    if not rows.size:
        return rows
    least, most = int(totals.min()), int(totals.max())
    if least < 3:
        # Nothing in it, which counts as missing, or an empty list.
        empty = totals == 0
        spans.start[rows[empty]] = MISSING
        short = np.flatnonzero(totals == 2)
        tags = windows(data, 2)[start[short]].view("<u2") == (kind << 3 | 2)
        spans.start[rows[short[tags]]] = spans.stop[rows[short[tags]]]
        odd = [rows[short[~tags]], rows[totals == 1]]
        longer = totals > 2
        rows, start, totals = rows[longer], start[longer], totals[longer]
        if not rows.size:
            return np.concatenate(odd)
        least, most = int(totals.min()), int(totals.max())
    header = _STRINGS if kind == BYTES else _NUMERIC[kind]
    matched, sizes = header.match(data, start, totals, least, most)
    if not matched.all():
        odd.append(rows[~matched])
        rows, start = rows[matched], start[matched]
        sizes = sizes if isinstance(sizes, int) else sizes[matched]
    spans.start[rows] = start + sizes
    return np.concatenate(odd) if odd else rows[:0]


def _gathered(data, start, stop, lengths):
    """The bytes of all spans, one behind the other."""
    least, most = int(lengths.min()), int(lengths.max())
    if least == most:
        if not most:
            return np.empty(0, np.uint8)
        if most == 1:
            return data[start]
        if start.size == 1 or bool((start[1:] == stop[:-1]).all()):
            return data[start[0] : stop[-1]]
        return windows(data, most)[start].view(np.uint8)
    if lengths.size * 32 < int(lengths.sum()):
        view = memoryview(data)
        return np.frombuffer(b"".join([view[a:b] for a, b in zip(start.tolist(), stop.tolist())]), np.uint8)
    ends = lengths.cumsum()
    places = np.arange(int(ends[-1]))
    places += np.repeat(start - (ends - lengths), lengths)
    return data[places]


def _numbers(data, spans, kind):
    """The values and counts of packed numbers."""
    present = spans.start != MISSING
    if present.all():
        present, start, stop = None, spans.start, spans.stop
    else:
        start, stop = spans.start[present], spans.stop[present]
    if not start.size:
        return _column(np.empty(0, np.float32 if kind == FLOAT else np.int64), start, present)
    lengths = stop - start
    gathered = _gathered(data, start, stop, lengths)
    if kind == FLOAT:
        if np.bitwise_and(lengths, 3).any():
            raise _malformed(present, np.flatnonzero(lengths & 3)[0], "packed floating numbers are cut off")
        return _column(gathered.view("<f4"), lengths >> 2, present)
    last = np.flatnonzero(gathered < 128)
    if last.size == gathered.size:
        return _column(gathered.astype(np.int64), lengths, present)
    ends = lengths.cumsum()
    cut = (gathered[ends - 1] > 127) & (lengths > 0)
    if cut.any():
        raise _malformed(present, np.flatnonzero(cut)[0], "packed integers are cut off")
    try:
        values = integers(gathered)
    except MalformedExample:
        sizes = np.diff(last, prepend=-1)
        row = np.searchsorted(ends, last[np.flatnonzero(sizes > 10)[0]], side="right")
        raise _malformed(present, row, "an integer is too long") from None
    return _column(values, np.diff(np.searchsorted(last, ends), prepend=0), present)


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
    rows = np.flatnonzero(starts < stops)
    at, ends = starts[rows], stops[rows]
    step = 0
    while rows.size:
        if rows.size < FEW:
            parts += _split_one_by_one(data, rows, at, ends, step, odd)
            break
        tags, lengths, sizes = lengths_at(data, at)
        first = at + sizes
        at = first + lengths
        good = (tags == 0x0A) & (at <= ends)
        if not good.all():
            odd += rows[~good].tolist()
            rows, at, ends, first = rows[good], at[good], ends[good], first[good]
        parts.append((rows, first, at, step))
        going = at != ends
        if not going.all():
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
            found = list(fields(content, 0, len(content)))
        except MalformedExample:
            found = [(0, 0, 0)]
        if any(tag != 10 for tag, _, _ in found):
            odd.append(row)
            continue
        spans = np.array([(first, last) for _, first, last in found], np.int64) + start
        parts.append((np.full(len(found), row), spans[:, 0], spans[:, 1], np.arange(step, step + len(found))))
    return parts


def _strings(data, starts, stops):
    """The strings of spans, as an object array."""
    view = data.tobytes() if data.size < 1 << 16 else memoryview(data)
    spans = zip(starts.tolist(), stops.tolist())
    items = [view[a:b] for a, b in spans] if type(view) is bytes else [view[a:b].tobytes() for a, b in spans]
    result = np.empty(len(items), object)
    result[:] = items
    return result


def _string_column(buffer, spans):
    present = spans.start != MISSING
    present = None if present.all() else present
    start, stop = (spans.start, spans.stop) if present is None else (spans.start[present], spans.stop[present])
    first, last, counts, odd = split(buffer.data, start, stop)
    if odd:  # unknown fields among the strings
        start, stop = start.copy(), stop.copy()
        for row in odd:
            content = buffer.data[start[row] : stop[row]].tobytes()
            try:
                items = [content[a:b] for tag, a, b in fields(content, 0, len(content)) if tag == 10]
            except MalformedExample as error:
                raise _malformed(present, row, str(error)) from None
            start[row], stop[row] = buffer.add(encoded_list(items))
        buffer.settle()
        first, last, counts, odd = split(buffer.data, start, stop)
    return _column(_strings(buffer.data, first, last), counts, present)


def encoded_list(strings):
    """Strings as an encoded list has them."""
    return b"".join([b"\x0a" + encoded(len(item)) + item for item in strings])


def joined(records):
    """The records as one buffer: the bytes, and where each begins and ends."""
    lengths = np.fromiter(map(len, records), np.int64, len(records))
    stops = lengths.cumsum()
    return np.frombuffer(b"".join([*records, bytes(_MARGIN)]), np.uint8), stops - lengths, stops


def with_margin(data, stops):
    if data.size - int(stops.max(initial=0)) >= _MARGIN:
        return data
    return np.concatenate([data, np.zeros(_MARGIN, np.uint8)])


class ExampleParser:
    """Parses Examples that should have certain features.

    Args:
        wanted: key (bytes) to kind: BYTES, FLOAT or INT64.
    """

    def __init__(self, wanted):
        self.wanted = dict(wanted)
        self._walk = MapWalk(self.wanted)

    def parse_one(self, record: bytes) -> dict:
        """Key to values (an array, or a list of strings) of the features that one record has.

        Raises:
            MalformedExample: the bytes are no Example.
            WrongKind: a feature has values of another kind than wanted.
        """
        result = {}
        for key, (kind, stored) in features_of(record, self.wanted).items():
            if kind:
                if kind != self.wanted[key]:
                    raise WrongKind(0, key, kind, self.wanted[key])
                result[key] = values_of(kind, stored)
        return result

    def parse_batch(self, records) -> dict:
        """Key to `Column`, for a list of encoded Examples.

        Raises:
            MalformedExample: a record is no Example; its number is `index`.
            WrongKind: a feature has values of another kind than wanted.
        """
        data, starts, stops = joined(records)
        return self.parse_buffer(data, starts, stops)

    def parse_buffer(self, data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> dict:
        """The same for records that stand in one buffer of bytes (uint8), from `starts` to `stops` (int64)."""
        buffer = Buffer(with_margin(data, stops))
        found = read_features(buffer, starts, stops, self.wanted, self._walk, 0x0A)
        return {key: column_of(buffer, found[key], kind) for key, kind in self.wanted.items()}


def read_features(buffer, starts, stops, wanted, walk, tag):
    """Key to spans of payloads, of the `Features` that are the only field of each record (with that tag)."""
    data, count = buffer.data, starts.size
    rows = np.flatnonzero(starts != stops)
    odd = rows
    found = {key: Spans(count) for key in wanted}
    if count >= FEW:
        first, last = starts[rows], stops[rows]
        tags, lengths, sizes = lengths_at(data, first)
        inside = first + sizes
        good = (tags == tag) & (inside + lengths == last)
        odd = rows[~good]
        if not odd.size:
            found, others = walk.run(data, inside, last, rows, count)
        else:
            found, others = walk.run(data, inside[good], last[good], rows[good], count)
        if others.size:
            odd = np.concatenate([odd, others])
        for key, kind in wanted.items():
            again = narrow(data, found[key], kind)
            if again.size:
                odd = np.concatenate([odd, again])
    if odd.size:
        _read_fields(buffer, found, wanted, np.unique(odd).tolist(), starts, stops)
    return found


def _read_fields(buffer, found, wanted, rows, starts, stops):
    """Read the records `rows` field by field, and put what they hold where the spans say."""
    for row in rows:
        record = buffer.data[starts[row] : stops[row]].tobytes()
        try:
            stored = features_of(record, wanted)
        except MalformedExample as error:
            error.index = row
            raise
        for key, asked in wanted.items():
            kind, content = stored.get(key, (0, b""))
            spans = found[key]
            spans.start[row] = MISSING
            if kind:
                if kind != asked:
                    raise WrongKind(row, key, kind, asked)
                spans.start[row], spans.stop[row] = buffer.add(encoded_list(content) if kind == BYTES else content)
    buffer.settle()


def column_of(buffer, spans, kind) -> Column:
    """The values of a feature, given the spans of its payloads."""
    return _string_column(buffer, spans) if kind == BYTES else _numbers(buffer.data, spans, kind)
