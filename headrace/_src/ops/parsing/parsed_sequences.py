"""SequenceExamples that were parsed together, from which each of them can be had."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes
from headrace._src.ops.parsing.example_layouts import KINDS, row_splits
from headrace._src.ops.parsing.parsed_examples import ParsedBlock
from headrace._src.ops.parsing.sequences import sequence_layout


class ParsedSequences:
    """Records that were parsed together, from which the outputs of ParseSequenceExampleV2 for one can be had.

    Args:
        inputs: of the op, as a flat list of arrays; the records are a vector, and have no names.
        attrs: of the op.

    Raises:
        InvalidArgumentError: a record is not as described.
    """

    def __init__(self, inputs, attrs):
        serialized, names, *keys, missing = inputs[:9]
        defaults = inputs[9:]
        self._layout = layout = sequence_layout(serialized, names, *keys, missing, defaults, **attrs)
        records = serialized.tolist()
        context, self._lists = layout.columns(records, names, defaults)
        self._context = ParsedBlock(layout.context, context, len(records), names, defaults)
        for key, dtype, shape in layout.dense:
            layout.check_dense(key, KINDS[dtype], shape, self._lists[key], names)
        wanted = {key for key, *_ in (*layout.sparse, *layout.dense, *layout.ragged)}
        self._steps = {key: row_splits(self._lists[key].lengths, dtypes.int64).tolist() for key in wanted}
        self._values = {key: row_splits(self._lists[key].counts, dtypes.int64).tolist() for key in wanted}
        self._indices = {key: layout.sparse_values(self._lists[key], len(records))[0] for key, _ in layout.sparse}

    @classmethod
    def parsed(cls, inputs, attrs):
        """The block of inputs and attributes of the op."""
        return cls(inputs, attrs)

    def _limits(self, key, index):
        """From which to which step, and from which to which value, the list of a record goes."""
        first, last = self._steps[key][index], self._steps[key][index + 1]
        return first, last, self._values[key][first], self._values[key][last]

    def single(self, index) -> list:
        """The outputs for one record, without a dimension for the batch, as a flat list."""
        layout, lists = self._layout, self._lists
        indices, values, shapes = [], [], []
        for key, _ in layout.sparse:
            first, last, start, stop = self._limits(key, index)
            indices.append(self._indices[key][start:stop, 1:])
            values.append(lists[key].values[start:stop])
            longest = lists[key].counts[first:last].max(initial=0)
            shapes.append(np.array([last - first, longest], np.int64))
        dense, lengths = [], []
        for key, _, shape in layout.dense:
            first, last, start, stop = self._limits(key, index)
            dense.append(lists[key].values[start:stop].reshape(last - first, *shape))
            lengths.append(np.array(last - first, np.int64))
        ragged, outer, inner = [], [], []
        for key, _, kind in layout.ragged:
            first, last, start, stop = self._limits(key, index)
            ragged.append(lists[key].values[start:stop])
            outer.append(np.empty(0, kind._np))
            inner.append(row_splits(lists[key].counts[first:last], kind))
        return [
            *self._context.single(index), *indices, *values, *shapes, *dense, *lengths, *ragged, *outer, *inner,
        ]  # fmt: skip
