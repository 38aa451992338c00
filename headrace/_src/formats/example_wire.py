"""Parsing many encoded `Example`s or `SequenceExample`s at once, without a Python object per value.

The records of a batch stand in one buffer. They are walked through in step: at each step, all records whose next map
entry has a given key are recognised by one comparison (see example_headers.py), which also tells where the payload is.
Keys are tried in the order in which records were seen to have them, so records that lack some wait until their turn.
What no comparison recognises, such as unusual but valid encodings, is read field by field (see example_fields.py), and
its payload is put behind the buffer in the usual form. Then the payloads of each feature are decoded together.
"""

from typing import NamedTuple

import numpy as np

from headrace._src.formats.example_fields import (
    BYTES,
    FLOAT,
    INT64,
    KIND_NAMES,
    MalformedExample,
    entries,
    features_of,
    values_of,
)
from headrace._src.formats.example_headers import Header, count_true, encoded, lengths_at, limits, windows
from headrace._src.formats.example_payloads import FEW, MARGIN, Buffer, Column, Spans, column_of, encoded_list
from headrace._src.formats.records import RecordSpans

_PASSES = 6  # how often the keys are tried in order, before the rest is read one by one
_KNOWN_KEYS = 4096  # how many keys are kept in order


class WrongKind(ValueError):
    """A feature holds values of another kind than asked for."""

    def __init__(self, index, key, stored, asked):
        super().__init__(f"{KIND_NAMES[stored]} values are stored, {KIND_NAMES[asked]} was asked for")
        self.index, self.key, self.stored, self.asked = index, key, stored, asked


class _Headers(NamedTuple):
    """What stands before the payload of an entry with a certain key, if it is a feature that is wanted, and before
    its value."""

    payload: Header | None
    value: Header


class MapWalk:
    """Finds the values of some keys in many encoded maps from strings to messages.

    Args:
        wanted: key (bytes) to the kind of the Feature that is its value, or to None where the value is another message.
    """

    def __init__(self, wanted):
        self._wanted = dict(wanted)
        self._headers: dict[bytes, _Headers] = {}
        self._order: tuple[bytes, ...] = ()  # replaced, never changed: several threads may walk at once

    def _headers_of(self, key) -> _Headers:
        headers = self._headers.get(key)
        if headers is None:
            named = b"\x0a" + encoded(len(key)) + key
            kind = self._wanted.get(key)
            inner = () if kind is None else (bytes([kind << 3 | 2]),) if kind == BYTES else _NUMBERS[kind]
            payload = Header(b"\x0a", named + b"\x12", *inner) if inner else None
            headers = _Headers(payload, Header(b"\x0a", named + b"\x12"))
            self._headers[key] = headers
        return headers

    def _learn(self, data, at, stop):
        """Put the keys of a map into the order, each behind the one before it."""
        order, place = list(self._order), 0
        known = set(order)
        for key, _ in entries(data, at, stop):
            if key in known:
                place = order.index(key) + 1
            elif len(order) < _KNOWN_KEYS:
                order.insert(place, key)
                known.add(key)
                place += 1
        self._order = tuple(order)

    def run(self, data, starts, stops, rows, count):
        """Walk through the maps between `starts` and `stops`, of the records `rows` (None: all) of `count`.

        Returns:
            Key to `Spans`, of the payloads of features or of other values, and the rows that have to be read field by
            field.
        """
        found = {key: Spans(count) for key in self._wanted}
        pending = _Pending(data, rows, starts, stops)
        pending.read(None)
        for _ in range(_PASSES):
            for key in self._order:
                if not pending.at.size:
                    break
                self._step(key, pending, found.get(key))
            if pending.at.size < FEW:
                break
            try:
                start, stop = int(pending.at[0]), int(pending.stops[0])
                self._learn(data[start:stop].tobytes(), 0, stop - start)
            except MalformedExample:
                pending.give_up(np.arange(pending.at.size) == 0)
        if pending.at.size:
            pending.give_up(np.ones(pending.at.size, bool))
        return found, pending.odd

    def _step(self, key, pending, spans):
        """Step over the entries with that key, and note where their values are."""
        headers = self._headers_of(key)
        header = headers.payload or headers.value
        size, totals = pending.at.size, pending.totals
        matched, sizes = header.match(pending.data, pending.at, totals, *pending.limits())
        count = count_true(matched)
        if count == size:
            if spans is not None:
                spans.put(pending.rows, pending.at + sizes, pending.at + totals)
            pending.read(None)
            return
        if count:
            chosen = matched.nonzero()[0]
            if spans is not None:
                at = pending.at[chosen]
                own = sizes if isinstance(sizes, int) else sizes[chosen]
                spans.put(pending.numbers(chosen), at + own, at + totals[chosen])
        if headers.payload is not None:
            # Features that hold something else than usual: nothing, no values, or values of another kind.
            others = (~matched).nonzero()[0]
            at, lengths = pending.at[others], totals[others]
            again, sizes = headers.value.match(pending.data, at, lengths, *limits(lengths))
            if count_true(again):
                others = others[again]
                start = at[again] + (sizes if isinstance(sizes, int) else sizes[again])
                spans.put(pending.numbers(others), start, at[again] + lengths[again])
                bad = narrow(pending.data, spans, self._wanted[key], pending.numbers(others))
                pending.odd += bad.tolist()
                chosen = np.concatenate([chosen, others]) if count else others
                count = chosen.size
        if count:
            pending.read(chosen)


class _Pending:
    """The maps that are still being walked through: where each is, and how long its next entry is.

    `rows` are the numbers of their records, None as long as it is all of them; `odd` collects those that have to be
    read field by field.
    """

    def __init__(self, data, rows, at, stops):
        self.data = data
        self.rows = rows
        self.at = at
        self.stops = stops
        self.totals = np.zeros(at.size, np.int64)
        self.odd: list[int] = []
        self._limits = None

    def numbers(self, chosen):
        """The records of the chosen maps."""
        return chosen if self.rows is None else self.rows[chosen]

    def limits(self):
        """The smallest and largest length of an entry."""
        if self._limits is None:
            self._limits = limits(self.totals)
        return self._limits

    def _keep(self, keep):
        self.rows = keep.nonzero()[0] if self.rows is None else self.rows[keep]
        self.at, self.stops, self.totals = self.at[keep], self.stops[keep], self.totals[keep]
        self._limits = None

    def give_up(self, bad):
        """Leave some maps to the field-by-field reader."""
        self.odd += self.numbers(bad.nonzero()[0]).tolist()
        self._keep(~bad)

    def read(self, chosen):
        """Step over the entries of the chosen maps (None: of all), and read the lengths of the next ones."""
        self._limits = None
        if chosen is None:
            self.at = self.at + self.totals
        else:
            self.at[chosen] += self.totals[chosen]
        going = self.at != self.stops
        left = count_true(going)
        if left != going.size:
            if chosen is not None:
                moved = np.zeros(going.size, bool)
                moved[chosen] = True
                chosen = moved[going].nonzero()[0]
            self._keep(going)
            if not left:
                return
        at = self.at if chosen is None else self.at[chosen]
        tags, lengths, sizes = lengths_at(self.data, at)
        totals = lengths + sizes
        bad = (tags != 0x0A) | (at + totals > (self.stops if chosen is None else self.stops[chosen]))
        if chosen is None:
            self.totals = totals
        else:
            self.totals[chosen] = totals
        if count_true(bad):
            if chosen is not None:
                worse = np.zeros(self.at.size, bool)
                worse[chosen[bad]] = True
                bad = worse
            self.give_up(bad)


_NUMBERS = {kind: (bytes([kind << 3 | 2]), b"\x0a") for kind in (FLOAT, INT64)}
_PAYLOADS = {BYTES: Header(b"\x0a"), **{kind: Header(*constants) for kind, constants in _NUMBERS.items()}}


def narrow(data, spans, kind, rows):
    """Narrow the spans of some records from encoded features to their payloads; returns those that stay as they are."""
    if not rows.size:
        return rows
    start = spans.start[rows]
    totals = spans.stop[rows] - start
    least, most = limits(totals)
    odd = []
    if least < 3:
        # Nothing in it, which counts as missing, or an empty list.
        empty = totals == 0
        if count_true(empty):
            spans.remove(rows[empty])
        short = (totals == 2).nonzero()[0]
        plain = windows(data, 2)[start[short]].view("<u2") == (kind << 3 | 2)
        spans.start[rows[short[plain]]] = spans.stop[rows[short[plain]]]
        odd = [rows[short[~plain]], rows[totals == 1]]
        longer = totals > 2
        rows, start, totals = rows[longer], start[longer], totals[longer]
        if not rows.size:
            return np.concatenate(odd)
        least, most = limits(totals)
    matched, sizes = _PAYLOADS[kind].match(data, start, totals, least, most)
    if count_true(matched) != matched.size:
        odd.append(rows[~matched])
        rows, start = rows[matched], start[matched]
        sizes = sizes if isinstance(sizes, int) else sizes[matched]
    spans.start[rows] = start + sizes
    return np.concatenate(odd) if odd else rows[:0]


def joined(records):
    """The records as one buffer, and where each begins and ends."""
    lengths = np.fromiter(map(len, records), np.int64, len(records))
    stops = lengths.cumsum()
    raw = b"".join([*records, bytes(MARGIN)])
    return Buffer(np.frombuffer(raw, np.uint8), raw), stops - lengths, stops


def buffer_of(data, stops, raw=None):
    """A buffer of these bytes (uint8; `raw` is the same as one string), with readable ones behind the last record."""
    if data.size - int(stops.max(initial=0)) < MARGIN:
        return Buffer(np.concatenate([data, np.zeros(MARGIN, np.uint8)]))
    return Buffer(data, raw)


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
        """Key to `Column`, for a list of encoded Examples, or `RecordSpans` of them.

        Raises:
            MalformedExample: a record is no Example; its number is `index`.
            WrongKind: a feature has values of another kind than wanted.
        """
        if len(records) < FEW:
            return self._parse_few(records)
        if isinstance(records, RecordSpans):
            block = records.block
            buffer = buffer_of(np.frombuffer(block, np.uint8), records.stops, block)
            return self._parse(buffer, records.starts, records.stops)
        return self._parse(*joined(records))

    def parse_buffer(self, data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> dict:
        """The same for records that stand in one buffer of bytes (uint8), from `starts` to `stops` (int64)."""
        return self._parse(buffer_of(data, stops), starts, stops)

    def _parse(self, buffer, starts, stops):
        found = read_features(buffer, starts, stops, self.wanted, self._walk)
        return {key: column_of(buffer, found[key], kind) for key, kind in self.wanted.items()}

    def _parse_few(self, records):
        parsed = []
        for index in range(len(records)):
            try:
                parsed.append(self.parse_one(records[index]))
            except (MalformedExample, WrongKind) as error:
                error.index = index
                raise
        return {key: _joined_column([found.get(key) for found in parsed], kind) for key, kind in self.wanted.items()}


_EMPTY = {BYTES: np.empty(0, object), FLOAT: np.empty(0, np.float32), INT64: np.empty(0, np.int64)}


def _joined_column(parts, kind):
    """The values of single records, None where there are none, as one column."""
    there = [part for part in parts if part is not None]
    counts = np.array([0 if part is None else len(part) for part in parts], np.int64)
    present = None if len(there) == len(parts) else np.array([part is not None for part in parts])
    if kind == BYTES:
        items = [item for part in there for item in part]
        values = np.empty(len(items), object)
        values[:] = items
    else:
        values = np.concatenate(there) if there else _EMPTY[kind]
    return Column(values, counts, present)


def read_features(buffer, starts, stops, wanted, walk):
    """Key to spans of payloads, of the `Features` that are the only field of each record."""
    data, count = buffer.data, starts.size
    rows = (starts != stops).nonzero()[0]
    if count < FEW:
        found, odd = {key: Spans(count) for key in wanted}, rows.tolist()
    else:
        first, last = (starts, stops) if rows.size == count else (starts[rows], stops[rows])
        tags, lengths, sizes = lengths_at(data, first)
        inside = first + sizes
        good = (tags == 0x0A) & (inside + lengths == last)
        if count_true(good) == count:
            found, odd = walk.run(data, inside, last, None, count)
        else:
            found, odd = walk.run(data, inside[good], last[good], rows[good], count)
            odd += rows[~good].tolist()
    if odd:
        _read_fields(buffer, found, wanted, sorted(set(odd)), starts, stops)
    return found


def _read_fields(buffer, found, wanted, rows, starts, stops):
    """Read the records `rows` field by field, and put what they hold where the spans say."""
    for row in rows:
        record = buffer.raw[starts[row] : stops[row]]
        try:
            stored = features_of(record, wanted)
        except MalformedExample as error:
            error.index = row
            raise
        for key, asked in wanted.items():
            put_payload(buffer, found[key], row, key, stored.get(key), asked)
    buffer.settle()


def put_payload(buffer, spans, row, key, stored, asked):
    """Put what a record holds, (kind, payload) or None, behind the buffer."""
    kind, content = stored or (0, b"")
    if not kind:
        spans.remove(row)
    elif kind != asked:
        raise WrongKind(row, key, kind, asked)
    else:
        spans.put(row, *buffer.add(encoded_list(content) if kind == BYTES else content))
