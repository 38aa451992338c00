"""Examples that were parsed together, from which each of them, and any batch of them, can be had."""

import math

import numpy as np

from headrace._src.core import dtypes
from headrace._src.formats.example_payloads import Column
from headrace._src.ops.parsing.example_layouts import KINDS, example_layout, row_splits, sparse_indices, wrong_count


class ParsedBlock:
    """Records that were parsed together, from which the outputs of ParseExampleV2 for some of them can be had.

    Args:
        layout: the features.
        columns: what the records have of them.
        count: how many records there are.
        names: of the examples; they have none.
        defaults: of dense features.

    Raises:
        InvalidArgumentError: a record is not as described.
    """

    def __init__(self, layout, columns, count, names, defaults):
        self._layout, self._columns = layout, columns
        self._names, self._defaults = names, defaults
        # Features that are filled up have other sizes in each batch.
        self._dense = [
            None if shape and shape[0] is None else layout.dense_values(i, columns[key], count, names, default)
            for i, ((key, _, shape), default) in enumerate(zip(layout.dense, defaults))
        ]
        cut = {key for key, *_ in (*layout.sparse, *layout.ragged)}
        cut.update(key for (key, _, _), whole in zip(layout.dense, self._dense) if whole is None)
        self._offsets = {key: row_splits(columns[key].counts, dtypes.int64).tolist() for key in cut}
        self._indices = {key: sparse_indices(columns[key].counts) for key, _ in layout.sparse}

    @classmethod
    def parsed(cls, inputs, attrs):
        """The block of inputs and attributes of the op. In place of the first input, there may be `RecordSpans`."""
        serialized, names, sparse_keys, dense_keys, ragged_keys, *defaults = inputs
        layout = example_layout(
            "ParseExampleV2", sparse_keys.tolist(), dense_keys.tolist(), ragged_keys.tolist(), defaults,
            attrs["sparse_types"], attrs["ragged_value_types"], attrs["ragged_split_types"], attrs["dense_shapes"],
        )  # fmt: skip
        layout.check_defaults(defaults)
        records = serialized.tolist() if isinstance(serialized, np.ndarray) else serialized
        return cls(layout, layout.columns(records, names), len(records), names, defaults)

    def outputs(self, start, stop) -> list:
        """The outputs for the records from `start` to `stop`, as a flat list."""
        layout, count = self._layout, stop - start
        indices, values, shapes = [], [], []
        for key, _ in layout.sparse:
            first, last = self._offsets[key][start], self._offsets[key][stop]
            own = self._indices[key][first:last].copy()
            own[:, 0] -= start
            indices.append(own)
            values.append(self._columns[key].values[first:last])
            longest = int(self._columns[key].counts[start:stop].max(initial=0))
            shapes.append(np.array([count, longest], np.int64))
        dense = [
            self._cut_dense(i, start, stop) if whole is None else whole[start:stop]
            for i, whole in enumerate(self._dense)
        ]
        ragged, splits = [], []
        for key, _, kind in layout.ragged:
            offsets = self._offsets[key]
            ragged.append(self._columns[key].values[offsets[start] : offsets[stop]])
            splits.append(row_splits(self._columns[key].counts[start:stop], kind))
        return [*indices, *values, *shapes, *dense, *ragged, *splits]

    def single(self, index) -> list:
        """The outputs for one record, without a dimension for the batch, as a flat list."""
        layout = self._layout
        indices, values, shapes = [], [], []
        for key, _ in layout.sparse:
            first, last = self._offsets[key][index], self._offsets[key][index + 1]
            indices.append(self._indices[key][first:last, 1:])
            values.append(self._columns[key].values[first:last])
            shapes.append(np.array([last - first], np.int64))
        dense = [
            self._sequence(i, index) if whole is None else whole[index, ...]
            for i, whole in enumerate(self._dense)
        ]
        ragged, splits = [], []
        for key, _, kind in layout.ragged:
            offsets = self._offsets[key]
            ragged.append(self._columns[key].values[offsets[index] : offsets[index + 1]])
            splits.append(np.empty(0, kind._np))
        return [*indices, *values, *shapes, *dense, *ragged, *splits]

    def _sequence(self, number, index):
        """The values of one record for a feature of any length."""
        layout = self._layout
        key, dtype, shape = layout.dense[number]
        first, last = self._offsets[key][index], self._offsets[key][index + 1]
        stride = math.prod(shape[1:])
        if first != last and (not stride or (last - first) % stride):
            raise wrong_count(layout.op, key, KINDS[dtype], last - first, shape, self._names, 0)
        values = self._columns[key].values[first:last]
        return values.reshape((last - first) // stride if stride else 0, *shape[1:])

    def _cut_dense(self, number, start, stop):
        key = self._layout.dense[number][0]
        column, offsets = self._columns[key], self._offsets[key]
        present = None if column.present is None else column.present[start:stop]
        part = Column(column.values[offsets[start] : offsets[stop]], column.counts[start:stop], present)
        return self._layout.dense_values(number, part, stop - start, self._names, self._defaults[number])
