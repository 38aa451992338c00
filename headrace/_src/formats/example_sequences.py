"""Parsing many encoded `SequenceExample`s at once: their context, and lists of features of different lengths."""

import numpy as np

from headrace._src.formats.example_fields import (
    BYTES,
    MalformedExample,
    feature_list,
    feature_lists_of,
    features_of,
    payload,
)
from headrace._src.formats.example_headers import encoded, lengths_at
from headrace._src.formats.example_payloads import FEW, Spans, column_of, encoded_list, split
from headrace._src.formats.example_wire import MapWalk, WrongKind, buffer_of, joined, narrow, put_payload


class ListColumn:
    """One feature list of all records.

    Attributes:
        values: all values: float32, int64, or bytes objects.
        counts: how many values each feature has, for the features of all records one behind the other.
        lengths: how many features each record has in this list.
        present: which records have the list; None when all have it.
    """

    __slots__ = ("counts", "lengths", "present", "values")

    def __init__(self, values, counts, lengths, present):
        self.values = values
        self.counts = counts
        self.lengths = lengths
        self.present = present


class SequenceExampleParser:
    """Parses SequenceExamples that should have certain features.

    Args:
        context: key (bytes) of a context feature to its kind: BYTES, FLOAT or INT64.
        lists: key of a feature list to the kind of its features.
    """

    def __init__(self, context, lists):
        self._context = dict(context)
        self._lists = dict(lists)
        self._context_walk = MapWalk(self._context)
        self._lists_walk = MapWalk(dict.fromkeys(self._lists))

    def parse_batch(self, records) -> tuple[dict, dict]:
        """Key to `Column` for the context, and key to `ListColumn` for the lists, of a list of records.

        Raises:
            MalformedExample: a record is no SequenceExample; its number is `index`.
            WrongKind: a feature has values of another kind than wanted.
        """
        return self._parse(*joined(records))

    def parse_buffer(self, data, starts, stops) -> tuple[dict, dict]:
        """The same for records that stand in one buffer of bytes (uint8), from `starts` to `stops` (int64)."""
        return self._parse(buffer_of(data, stops), starts, stops)

    def _parse(self, buffer, starts, stops):
        count = starts.size
        rows = np.flatnonzero(starts != stops)
        context = {key: Spans(count) for key in self._context}
        lists = {key: Spans(count) for key in self._lists}
        odd = rows.tolist()
        if count >= FEW:
            (rows, *spans), (list_rows, *list_spans), strange = _parts(buffer.data, starts, stops, rows)
            context, odd = self._context_walk.run(buffer.data, *spans, rows, count)
            lists, others = self._lists_walk.run(buffer.data, *list_spans, list_rows, count)
            odd += [*others, *strange.tolist()]
        if odd:
            self._read_fields(buffer, context, lists, sorted(set(odd)), starts, stops)
        return (
            {key: column_of(buffer, context[key], kind) for key, kind in self._context.items()},
            {key: _list_column(buffer, key, lists[key], kind) for key, kind in self._lists.items()},
        )

    def _read_fields(self, buffer, context, lists, rows, starts, stops):
        """Read the records `rows` field by field, and put what they hold where the spans say."""
        for row in rows:
            record = buffer.raw[starts[row] : stops[row]]
            try:
                features = features_of(record, self._context, in_order=True)
                sequences = feature_lists_of(record, self._lists)
            except MalformedExample as error:
                error.index = row
                raise
            for key, asked in self._context.items():
                put_payload(buffer, context[key], row, key, features.get(key), asked)
            for key, spans in lists.items():
                items = sequences.get(key)
                if items is None:
                    spans.remove(row)
                else:
                    spans.put(row, *buffer.add(encoded_list([_encoded_feature(*item) for item in items])))
        buffer.settle()


def _parts(data, starts, stops, rows):
    """Where contexts and feature lists are: (rows, starts, stops) of each, and the rows where that is not plain."""
    first, last = starts[rows], stops[rows]
    empty = rows[:0]
    contexts = (empty, empty, empty)
    odd = []
    if not rows.size:
        return contexts, contexts, empty
    tags, lengths, sizes = lengths_at(data, first)
    start = first + sizes
    stop = start + lengths
    has_context = (tags == 0x0A) & (stop <= last)
    if has_context.any():
        contexts = (rows[has_context], start[has_context], stop[has_context])
    lists = [((tags == 0x12) & (stop == last), start)]
    odd.append(~has_context & ~lists[0][0])
    more = np.flatnonzero(has_context & (stop < last))
    rest = np.zeros(rows.size, bool)
    if more.size:
        tags, lengths, sizes = lengths_at(data, stop[more])
        second = stop[more] + sizes
        good = (tags == 0x12) & (second + lengths == last[more])
        start = start.copy()
        start[more] = second
        rest[more[good]] = True
        bad = np.zeros(rows.size, bool)
        bad[more[~good]] = True
        odd.append(bad)
    found = lists[0][0] | rest
    strange = np.logical_or.reduce(odd)
    if strange.any():
        contexts = tuple(part[~strange[has_context]] for part in contexts)
        found &= ~strange
    return contexts, (rows[found], start[found], last[found]), rows[strange]


def _encoded_feature(kind, content):
    if not kind:
        return b""
    inner = encoded_list(content if kind == BYTES else [content] if content else [])
    return bytes([kind << 3 | 2]) + encoded(len(inner)) + inner


def _list_column(buffer, key, spans, kind):
    present = spans.present()
    start, stop = (spans.start, spans.stop) if present is None else (spans.start[present], spans.stop[present])
    numbers = np.arange(spans.start.size) if present is None else np.flatnonzero(present)
    first, last, lengths, odd = split(buffer.data, start, stop)
    if odd:  # lengths that are written in another way
        start, stop = start.copy(), stop.copy()
        for row in odd:
            try:
                items = feature_list(buffer.data[start[row] : stop[row]].tobytes())
            except MalformedExample as error:
                error.index = int(numbers[row])
                raise
            start[row], stop[row] = buffer.add(encoded_list([_encoded_feature(*item) for item in items]))
        buffer.settle()
        first, last, lengths, odd = split(buffer.data, start, stop)
    steps = Spans(first.size)
    steps.put(None, first.copy(), last)
    owners = numbers.repeat(lengths)
    for step in narrow(buffer.data, steps, kind, np.arange(first.size)).tolist():
        row = int(owners[step])
        try:
            stored = payload(buffer.data[first[step] : last[step]].tobytes(), in_list=True)
        except MalformedExample as error:
            error.index = row
            raise
        try:
            put_payload(buffer, steps, step, key, stored, kind)
        except WrongKind as error:
            error.index = row
            raise
    buffer.settle()
    try:
        column = column_of(buffer, steps, kind)
    except MalformedExample as error:
        error.index = int(owners[error.index])
        raise
    if present is not None:
        full = np.zeros(spans.start.size, np.int64)
        full[present] = lengths
        lengths = full
    return ListColumn(column.values, column.counts, lengths, present)

