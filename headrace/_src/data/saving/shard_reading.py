"""The shards of saved datasets and snapshots as stages."""

from __future__ import annotations

import numpy as np

from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.data.running.reading_ahead import AheadCursor
from headrace._src.data.running.stages import Access, Cursor, Stage, stacked, variant_of
from headrace._src.data.saving.element_records import Malformed, RecordColumn
from headrace._src.data.saving.saved_contents import ElementCount, SavedFile
from headrace._src.data.saving.snapshot_files import ChunkReader

_SKIPPED_AT_ONCE = 4096


class SavedShardStage(Stage):
    """The elements in the files of one shard.

    Args:
        method: what the user called.
        files: of the shard.
        compression: "", "GZIP" or "SNAPPY".
        specs: of the components.
        number: of the shard.
        count: of the elements of all shards, where that is all that is known of them.
    """

    def __init__(
        self, method: str, files: list[SavedFile], compression: str, specs: list[TensorSpec], number: int,
        count: ElementCount | None = None,
    ):  # fmt: skip
        super().__init__([spec.shape for spec in specs])
        self.method = method
        self.files = files
        self.compression = compression
        self.specs = specs
        self.number = number
        self.count = count

    @property
    def has_blocks(self):
        return all(spec.dtype._kind not in "srv" and spec.shape.is_fully_defined() for spec in self.specs)

    @property
    def reads_ahead(self):
        return True

    def walk(self, run):
        cursor = _SavedShardCursor(self)
        return AheadCursor(cursor, True) if self.has_blocks else cursor


class _SavedShardCursor(Cursor):
    def __init__(self, stage):
        self._stage = stage
        self._columns = [RecordColumn(spec) for spec in stage.specs]
        self._file = 0
        self._reader = None
        self._number = 0
        self._is_counted = stage.count is None  # whether the number of elements was looked at, or must not be

    def _records(self, count):
        """The records of between one and `count` elements; none at the end."""
        width = len(self._columns)
        while True:
            if self._reader is None:
                if self._file >= len(self._stage.files):
                    self._count()
                    return []
                self._reader = self._guarded(ChunkReader, self._stage.files[self._file].path, self._stage.compression)
            first = self._reader.record_number
            records = self._guarded(self._reader.read_many, count * width)
            self._guarded(self._compare, not records)
            if records:
                left = len(records) % width
                if left and len(records) < width:
                    self._fail(errors.data_loss(
                        f"{self._reader.path}; the file ends in the middle of an element: {left} of {width} components "
                        f"follow record {first + len(records) - left}."
                    ))  # fmt: skip
                if left:  # what follows is damaged: the next read says how
                    path, place = self._reader.path, first + len(records) - left
                    self._pending = f"{path}; the element that begins at record {place} is not complete."
                    records = records[:-left]
                return records
            self._close_reader()
            self._file += 1

    def _compare(self, is_whole):
        """What was read of the file with what was promised of it."""
        reader = self._reader
        self._stage.files[self._file].check(reader.record_number, reader.checksum, is_whole)

    def _count(self):
        """The elements of this shard, at its end."""
        if not self._is_counted:
            self._is_counted = True
            try:
                self._stage.count.add(self._stage.number, self._number)
            except errors.OpError as error:
                self._stage.failed(self._number, error)

    _pending: str | None = None

    def _guarded(self, function, *arguments):
        if self._pending is not None:
            message, self._pending = self._pending, None
            try:
                function(*arguments)
            except errors.OpError as error:
                self._fail(error)
            self._fail(errors.data_loss(message))
        try:
            return function(*arguments)
        except errors.OpError as error:
            self._fail(error)

    def _fail(self, error):
        self._close_reader()
        self._file += 1
        self._is_counted = True  # elements are missing, and this error says so
        self._stage.failed(self._number, error)

    def _element(self, records):
        self._number += 1
        try:
            return tuple([column.read(record) for column, record in zip(self._columns, records)])
        except Malformed as error:
            path = self._reader.path
            number = self._reader.record_number
            self._stage.failed(self._number - 1, errors.data_loss(f"{path}; before record {number}: {error}."))

    def next(self):
        records = self._records(1)
        return self._element(records) if records else None

    def block(self, count):
        records = self._records(count)
        if not records:
            return None
        width = len(self._columns)
        number = self._number
        try:
            parts = [column.read_many(records[i::width]) for i, column in enumerate(self._columns)]
        except Malformed:
            parts = [None]
        if all(part is not None for part in parts):
            self._number += len(records) // width
            return tuple(parts)
        self._number = number
        return stacked([self._element(records[at : at + width]) for at in range(0, len(records), width)])

    def skip(self, count):
        left, width = count, len(self._columns)
        while left:
            done = len(self._records(min(left, _SKIPPED_AT_ONCE))) // width
            if not done:
                break
            left -= done
        self._number += count - left
        return count - left

    def state(self):
        state = {"file": self._file, "number": self._number, "is_counted": self._is_counted}
        if self._reader is not None:
            state["offset"], state["record"] = self._reader.state
        return state

    def restore(self, state):
        self._close_reader()
        self._file, self._number, self._is_counted = state["file"], state["number"], state["is_counted"]
        if "offset" in state:
            self._reader = ChunkReader(self._stage.files[self._file].path, self._stage.compression)
            self._reader.seek((state["offset"], state["record"]))

    def _close_reader(self):
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def close(self):
        self._close_reader()


class _Variants(Access):
    def __init__(self, stages):
        self._stages = stages
        self.size = len(stages)

    def get(self, index):
        return (variant_of(self._stages[index]),)

    def gather(self, indices):
        block = np.empty(len(indices), object)
        for i, index in enumerate(indices):
            block[i] = self._stages[index]
        return (block,)


class NestedStage(Stage):
    """A dataset whose elements are datasets."""

    method = "Dataset.load"

    def __init__(self, stages: list[Stage]):
        super().__init__([TensorShape([])])
        self._access = _Variants(stages)

    @property
    def access(self):
        return self._access

    def cardinality(self):
        return self._access.size


class CountedStage(Stage):
    """Another stage with a known number of elements."""

    def __init__(self, source: Stage, count: int, method: str):
        super().__init__(source.shapes, [source])
        self.source = source
        self.count = count
        self.method = method

    def cardinality(self):
        return self.count

    @property
    def access(self):
        return self.source.access

    @property
    def has_blocks(self):
        return self.source.has_blocks

    @property
    def reads_ahead(self):
        return self.source.reads_ahead

    def walk(self, run):
        return self.source.cursor(run)
