"""The records, lines and pieces of files as stages of a pipeline, for the datasets of `file_datasets.py`."""

import numpy as np

from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape
from headrace._src.data.datasets import dataset_op, integer
from headrace._src.data.running.stages import Cursor, Stage
from headrace._src.formats.line_files import FixedLengthReader, TextLineReader
from headrace._src.formats.records import RecordReader
from headrace._src.op.traits import FILE_DATASET

_SKIPPED_AT_ONCE = 4096


class FileStage(Stage):
    """What a reader finds in one file after another.

    Args:
        method: what the user called.
        paths: of the files.
        open_reader: from a path, a reader (see `formats.records.RecordReader`).
        starts: where to begin in each file, in bytes; None for at the beginning.
    """

    def __init__(self, method, paths, open_reader, starts=None):
        super().__init__([TensorShape([])])
        self.method = method
        self.paths = paths
        self.open_reader = open_reader
        self.starts = starts

    @property
    def has_blocks(self):
        return True

    @property
    def has_spans(self):
        return self.method == "TFRecordDataset"

    @property
    def reads_ahead(self):
        return True

    def cardinality(self):
        return super().cardinality() if self.paths else 0

    def walk(self, run):
        return _RecordsCursor(self)

    def count_before(self, file: int, offset: int) -> int:
        """How many records come before a place in one of the files."""
        count = 0
        for number, path in enumerate(self.paths[: file + 1]):
            reader = self.open_reader(path)
            try:
                if self.starts is not None:
                    reader.seek((self.starts[number], 0))
                while (number < file or reader.offset < offset) and reader.read_many(1):
                    count += 1
            finally:
                reader.close()
        return count


class _RecordsCursor(Cursor):
    def __init__(self, stage):
        self._stage = stage
        self._file = 0  # the number of the file that is read now, or next
        self._reader = None
        self._number = 0  # of elements before

    def _open(self):
        """The reader of the present file; None after the last."""
        if self._reader is None and self._file < len(self._stage.paths):
            stage = self._stage
            try:
                reader = stage.open_reader(stage.paths[self._file])
                if stage.starts is not None:
                    reader.seek((stage.starts[self._file], 0))
            except errors.OpError as error:
                self._failed(error)
            self._reader = reader
        return self._reader

    def _advance(self):
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._file += 1

    def _failed(self, error):
        # TF: the element after the error is from the next file.
        self._advance()
        self._stage.failed(self._number, error)

    def next(self):
        while (reader := self._reader or self._open()) is not None:
            try:
                for record in reader:
                    self._number += 1
                    element = np.empty((), object)
                    element[()] = record
                    return (element,)
            except errors.OpError as error:
                self._failed(error)
            self._advance()
        return None

    def _read(self, count):
        """Between one and `count` records; none at the end."""
        while (reader := self._reader or self._open()) is not None:
            try:
                records = reader.read_many(count)
            except errors.OpError as error:
                self._failed(error)
            if records:
                self._number += len(records)
                return records
            self._advance()
        return []

    def spans(self, multiple, size):
        """The next records where they stand in a file, up to its end; None after the last file.

        Args:
            multiple: so many records, or a multiple of that, if there are.
            size: about how many bytes to read.
        """
        while (reader := self._reader or self._open()) is not None:
            try:
                found = reader.read_spans(multiple, size)
            except errors.OpError as error:
                self._failed(error)
            if found is not None:
                self._number += len(found)
                return found
            self._advance()
        return None

    def block(self, count):
        records = self._read(count)
        if not records:
            return None
        block = np.empty(len(records), object)
        block[:] = records
        return (block,)

    def skip(self, count):
        left = count
        while left:
            done = len(self._read(min(left, _SKIPPED_AT_ONCE)))
            if not done:
                break
            left -= done
        return count - left

    def state(self):
        state = {"file": self._file, "number": self._number}
        if self._reader is not None:
            state["offset"], state["record"] = self._reader.state
        return state

    def restore(self, state):
        self.close()
        self._file, self._number = state["file"], state["number"]
        if "offset" in state:
            self._open().seek((state["offset"], state["record"]))

    def close(self):
        if self._reader is not None:
            self._reader.close()
            self._reader = None


# Ops.


def _paths(filenames):
    if filenames.ndim > 1:
        raise errors.invalid_argument(f"`filenames` must be a scalar or a vector, got shape {list(filenames.shape)}.")
    return filenames.ravel().tolist()


def _text(value, what):
    if value.ndim:
        raise errors.invalid_argument(f"`{what}` must be a scalar, got shape {list(value.shape)}.")
    return value[()].decode(errors="replace")


def _buffer(buffer_size):
    # TF: no error for less than zero.
    return max(0, integer(buffer_size, "buffer_size"))


def _make_records(filenames, compression_type, buffer_size, metadata, byte_offsets=None):
    compression, size = _text(compression_type, "compression_type"), _buffer(buffer_size)
    paths = _paths(filenames)
    starts = None
    if byte_offsets is not None and byte_offsets.size:
        starts = byte_offsets.ravel().tolist()
        if len(starts) != len(paths):
            raise errors.invalid_argument(
                f"TFRecordDataset: there are {len(paths)} filenames, but {len(starts)} byte_offsets."
            )
    return FileStage("TFRecordDataset", paths, lambda path: RecordReader(path, compression, size), starts)


def _make_records_from(filenames, compression_type, buffer_size, byte_offsets, metadata):
    return _make_records(filenames, compression_type, buffer_size, metadata, byte_offsets)


TF_RECORD_DATASET = dataset_op(
    "TFRecordDataset",
    "filenames: string, compression_type: string, buffer_size: int64, *, metadata: string = ''",
    _make_records,
    stateful=True,
    traits=FILE_DATASET,
)

TF_RECORD_DATASET_AT = dataset_op(
    "TFRecordDatasetV2",
    "filenames: string, compression_type: string, buffer_size: int64, byte_offsets: int64, *, metadata: string = ''",
    _make_records_from,
    vectors=("byte_offsets",),
    stateful=True,
    traits=FILE_DATASET,
)


def _make_lines(filenames, compression_type, buffer_size, metadata):
    compression, size = _text(compression_type, "compression_type"), _buffer(buffer_size)
    return FileStage("TextLineDataset", _paths(filenames), lambda path: TextLineReader(path, compression, size))


TEXT_LINE_DATASET = dataset_op(
    "TextLineDataset",
    "filenames: string, compression_type: string, buffer_size: int64, *, metadata: string = ''",
    _make_lines,
    stateful=True,
    traits=FILE_DATASET,
)


def _make_pieces(filenames, header_bytes, record_bytes, footer_bytes, buffer_size, compression_type, metadata):
    compression, size = _text(compression_type, "compression_type"), _buffer(buffer_size)
    header, length, footer = (
        integer(value, what)
        for value, what in (
            (header_bytes, "header_bytes"), (record_bytes, "record_bytes"), (footer_bytes, "footer_bytes"),
        )
    )  # fmt: skip
    return FileStage(
        "FixedLengthRecordDataset",
        _paths(filenames),
        lambda path: FixedLengthReader(path, length, header, footer, compression, size),
    )


def _make_plain_pieces(filenames, header_bytes, record_bytes, footer_bytes, buffer_size, metadata):
    empty = np.array(b"", object)
    return _make_pieces(filenames, header_bytes, record_bytes, footer_bytes, buffer_size, empty, metadata)


_PIECES = "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64"

FIXED_LENGTH_RECORD_DATASET = dataset_op(
    "FixedLengthRecordDatasetV2",
    f"{_PIECES}, compression_type: string, *, metadata: string = ''",
    _make_pieces,
    stateful=True,
    traits=FILE_DATASET,
)

PLAIN_FIXED_LENGTH_RECORD_DATASET = dataset_op(
    "FixedLengthRecordDataset",
    f"{_PIECES}, *, metadata: string = ''",
    _make_plain_pieces,
    stateful=True,
    traits=FILE_DATASET,
)
