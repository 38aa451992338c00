"""Parsing many encoded `SequenceExample`s at once: their context, and lists of features of different lengths."""

import numpy as np

from headrace._src.formats.example_fields import (
    BYTES,
    MalformedExample,
    feature_lists_of,
    features_of,
    fields,
    payload,
)
from headrace._src.formats.example_headers import encoded, lengths_at
from headrace._src.formats.example_wire import (
    FEW,
    MISSING,
    Buffer,
    MapWalk,
    Spans,
    WrongKind,
    column_of,
    encoded_list,
    joined,
    narrow,
    split,
    with_margin,
)


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
        self._lists_walk = MapWalk(self._lists)

    def parse_batch(self, records) -> tuple[dict, dict]:
        """Key to `Column` for the context, and key to `ListColumn` for the lists, of a list of records.

        Raises:
            MalformedExample: a record is no SequenceExample; its number is `index`.
            WrongKind: a feature has values of another kind than wanted.
        """
        data, starts, stops = joined(records)
        return self.parse_buffer(data, starts, stops)

    def parse_buffer(self, data, starts, stops) -> tuple[dict, dict]:
        """The same for records that stand in one buffer of bytes (uint8), from `starts` to `stops` (int64)."""
        buffer = Buffer(with_margin(data, stops))
        count = starts.size
        rows = np.flatnonzero(starts != stops)
        context = {key: Spans(count) for key in self._context}
        lists = {key: Spans(count) for key in self._lists}
        odd = rows
        if count >= FEW:
            parts, odd = _parts(buffer.data, starts, stops, rows)
            context, lists, others = self._walk(buffer.data, parts, count)
            odd = np.concatenate([odd, *others])
        if odd.size:
            self._read_fields(buffer, context, lists, np.unique(odd).tolist(), starts, stops)
        return (
            {key: column_of(buffer, context[key], kind) for key, kind in self._context.items()},
            {key: _list_column(buffer, key, lists[key], kind) for key, kind in self._lists.items()},
        )

    def _walk(self, data, parts, count):
        (rows, start, stop), (list_rows, list_start, list_stop) = parts
        context, odd = self._context_walk.run(data, start, stop, rows, count)
        others = [odd]
        for key, kind in self._context.items():
            others.append(narrow(data, context[key], kind))
        lists, odd = self._lists_walk.run(data, list_start, list_stop, list_rows, count)
        return context, lists, [*others, odd]

    def _read_fields(self, buffer, context, lists, rows, starts, stops):
        """Read the records `rows` field by field, and put what they hold where the spans say."""
        for row in rows:
            record = buffer.data[starts[row] : stops[row]].tobytes()
            try:
                features = features_of(record, self._context, 1)
                sequences = feature_lists_of(record, self._lists)
            except MalformedExample as error:
                error.index = row
                raise
            for key, asked in self._context.items():
                kind, content = features.get(key, (0, b""))
                spans = context[key]
                spans.start[row] = MISSING
                if kind:
                    if kind != asked:
                        raise WrongKind(row, key, kind, asked)
                    spans.start[row], spans.stop[row] = buffer.add(
                        encoded_list(content) if kind == BYTES else content
                    )
            for key, spans in lists.items():
                items = sequences.get(key)
                spans.start[row] = MISSING
                if items is not None:
                    content = encoded_list([_encoded_feature(*item) for item in items])
                    spans.start[row], spans.stop[row] = buffer.add(content)
        buffer.settle()


def _parts(data, starts, stops, rows):
    """Where contexts and feature lists are: (rows, starts, stops) of each, and the rows where that is not plain."""
    first, last = starts[rows], stops[rows]
    empty = rows[:0]
    contexts = (empty, empty, empty)
    odd = []
    if not rows.size:
        return (contexts, contexts), empty
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
    return (contexts, (rows[found], start[found], last[found])), rows[strange]


def _encoded_feature(kind, content):
    if not kind:
        return b""
    inner = encoded_list(content if kind == BYTES else [content] if content else [])
    return bytes([kind << 3 | 2]) + encoded(len(inner)) + inner


def _list_column(buffer, key, spans, kind):
    present = spans.start != MISSING
    present = None if present.all() else present
    start, stop = (spans.start, spans.stop) if present is None else (spans.start[present], spans.stop[present])
    numbers = np.arange(spans.start.size) if present is None else np.flatnonzero(present)
    first, last, lengths, odd = split(buffer.data, start, stop)
    if odd:  # unknown fields in the list
        start, stop = start.copy(), stop.copy()
        for row in odd:
            content = buffer.data[start[row] : stop[row]].tobytes()
            try:
                items = [payload(content[a:b]) for tag, a, b in fields(content, 0, len(content)) if tag == 10]
            except MalformedExample as error:
                error.index = int(numbers[row])
                raise
            start[row], stop[row] = buffer.add(encoded_list([_encoded_feature(*item) for item in items]))
        buffer.settle()
        first, last, lengths, odd = split(buffer.data, start, stop)
    steps = Spans(first.size)
    steps.start, steps.stop = first.copy(), last
    owners = numbers.repeat(lengths)
    again = narrow(buffer.data, steps, kind)
    for step in again.tolist():
        try:
            stored, content = payload(buffer.data[first[step] : last[step]].tobytes())
        except MalformedExample as error:
            error.index = int(owners[step])
            raise
        steps.start[step] = MISSING
        if stored:
            if stored != kind:
                raise WrongKind(int(owners[step]), key, stored, kind)
            steps.start[step], steps.stop[step] = buffer.add(encoded_list(content) if kind == BYTES else content)
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

