"""`tf.data.experimental.CsvDataset`: the records of files of comma-separated values."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.data.datasets import DatasetV2, build, constant, dataset_op, integer
from headrace._src.data.running.reading_ahead import AheadCursor
from headrace._src.data.running.stages import Cursor, Stage, shapes_of, split
from headrace._src.formats.csv_fields import MalformedLine, fields_of
from headrace._src.formats.csv_records import CsvRecordReader
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.parsing.csv_lines import read_column

_OP = "CsvDataset"
_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)
_SKIPPED_AT_ONCE = 4096


class CsvStage(Stage):
    """The records of files of comma-separated values.

    Args:
        paths: of the files.
        open_reader: from a path, a `CsvRecordReader`.
        header: whether the first record of each file is passed over.
        delimiter: between fields.
        fields: from a record, its fields.
        kept: the numbers of the fields that are wanted; None for all.
        dropped: the numbers of the fields that are not wanted; None for none.
        defaults: for each wanted field, an array of its default value, empty if there is none.
        absent: strings that stand for a missing value.
        shapes: of the components.
    """

    method = "CsvDataset"

    def __init__(self, paths, open_reader, header, delimiter, fields, kept, dropped, defaults, absent, shapes):
        super().__init__(shapes)
        self.paths = paths
        self.open_reader = open_reader
        self.header = header
        self.delimiter = delimiter
        self.fields = fields
        self.kept = kept
        self.dropped = dropped
        self.defaults = defaults
        self.absent = absent

    @property
    def has_blocks(self):
        return True

    @property
    def reads_ahead(self):
        return True

    def walk(self, run):
        return AheadCursor(_CsvCursor(self), True)

    def columns(self, records: list[bytes]) -> tuple:
        """The block of some records.

        Raises:
            InvalidArgumentError: one of them has other fields, or a field that is not a number.
        """
        columns = self._plain_columns(records)
        if columns is None:
            columns = list(zip(*[self._row(record) for record in records]))
        return tuple([
            read_column(_OP, column, self._number(i), default.dtype, default, self.absent)
            for i, (column, default) in enumerate(zip(columns, self.defaults))
        ])  # fmt: skip

    def _plain_columns(self, records):
        """The columns of records that are cut with few steps: without quotes, and all of the same number of fields."""
        delimiter = self.delimiter
        text = delimiter.join(records)
        if b'"' in text or self.dropped is not None:
            return None
        marks = records[0].count(delimiter)
        if any(record.count(delimiter) != marks or not record for record in records):
            return None
        fields, width = text.split(delimiter), marks + 1
        if self.kept is not None:
            return None if self.kept[-1] >= width else [fields[i::width] for i in self.kept]
        return None if width != len(self.defaults) else [fields[i::width] for i in range(width)]

    def _number(self, i):
        return self.kept[i] if self.kept is not None else i

    def _row(self, record):
        try:
            found = self.fields(record) or [b""]
        except MalformedLine as error:
            raise errors.invalid_argument(f"{_OP}: {error}.") from None
        count = len(self.defaults)
        if self.dropped is not None:
            found = [field for i, field in enumerate(found) if i not in self.dropped]
        if self.kept is not None:
            found = [found[i] for i in self.kept if i < len(found)]
        if len(found) != count:
            if record == b"":
                raise errors.invalid_argument(f"{_OP}: Field 0 is required but missing in record!")
            found_text = f"more in record: {len(found)}" if len(found) > count else f"{len(found)} in record"
            raise errors.invalid_argument(
                f"{_OP}: Expect {count} fields but have {found_text}. Expected is one for each of record_defaults; "
                "select_cols chooses columns."
            )
        return found


class _CsvCursor(Cursor):
    def __init__(self, stage):
        self._stage = stage
        self._file = 0
        self._reader = None
        self._number = 0
        self._waiting: list = []  # records that were read together with one that failed

    def _records(self, count):
        stage = self._stage
        while True:
            if self._reader is None:
                if self._file >= len(stage.paths):
                    return []
                self._open()
            try:
                records = self._reader.read_many(count)
            except errors.OpError as error:
                self._fail(error)
            if records:
                return records
            self._advance()

    def _open(self):
        try:
            self._reader = self._stage.open_reader(self._stage.paths[self._file])
            if self._stage.header and not self._reader.read_many(1):
                raise errors.invalid_argument(f"{self._reader.path}; can't read header of file: it is empty.")
        except errors.OpError as error:
            self._fail(error)

    def _advance(self):
        self.close()
        self._file += 1

    def _fail(self, error):
        self._advance()
        self._stage.failed(self._number, error)

    def next(self):
        block = self.block(1)
        return None if block is None else split(block)[0]

    def block(self, count):
        records = self._waiting[:count]
        if records:
            del self._waiting[: len(records)]
        else:
            records = self._records(count)
            if not records:
                return None
        try:
            block = self._stage.columns(records)
        except errors.OpError as error:
            if len(records) == 1:
                self._number += 1
                line = self._reader.record_number - len(self._waiting)
                counted = f"record {line}{' (the header is record 1)' if self._stage.header else ''}"
                self._stage.failed(None, errors.invalid_argument(f"{self._reader.path}; {counted}: {error.message}"))
            # Those before it are given out first, and then it fails alone.
            self._waiting = records + self._waiting
            return self.block(len(records) // 2)
        self._number += len(records)
        return block

    def skip(self, count):
        left = count - len(self._waiting[:count])
        del self._waiting[:count]
        while left:
            done = len(self._records(min(left, _SKIPPED_AT_ONCE)))
            if not done:
                break
            left -= done
        self._number += count - left
        return count - left

    def state(self):
        state = {"file": self._file, "number": self._number, "waiting": list(self._waiting)}
        if self._reader is not None:
            state["offset"], state["record"] = self._reader.state
        return state

    def restore(self, state):
        self.close()
        self._file, self._number, self._waiting = state["file"], state["number"], list(state["waiting"])
        if "offset" in state:
            self._reader = self._stage.open_reader(self._stage.paths[self._file])
            self._reader.seek((state["offset"], state["record"]))

    def close(self):
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _columns(numbers, what):
    if not numbers.size:
        return None
    found = numbers.ravel().tolist()
    if any(a >= b for a, b in zip(found, found[1:])):
        raise errors.invalid_argument(f"{_OP}: {what} should be strictly increasing indices, got {found}.")
    if found[0] < 0:
        raise errors.invalid_argument(f"{_OP}: {what} should be non-negative indices, got {found}.")
    return found


def _make(
    filenames, compression_type, buffer_size, header, field_delim, use_quote_delim, na_value, select_cols,
    record_defaults, exclude_cols, output_shapes,
):  # fmt: skip
    delimiter, quotes = field_delim[()], bool(use_quote_delim)
    if len(delimiter) != 1:
        raise errors.invalid_argument(f"{_OP}: field_delim should be only 1 char, got {delimiter!r}.")
    kept, dropped = _columns(select_cols, "select_cols"), _columns(exclude_cols, "exclude_cols")
    if kept is not None and len(kept) != len(record_defaults):
        raise errors.invalid_argument(
            f"{_OP}: select_cols should match output size: {len(kept)} columns, {len(record_defaults)} record_defaults."
        )
    if kept is not None and dropped is not None:
        raise errors.invalid_argument(f"{_OP}: either select_cols or exclude_cols should be empty.")
    for i, default in enumerate(record_defaults):
        if default.ndim > 1 or default.size > 1:
            raise errors.invalid_argument(
                f"{_OP}: There should only be 1 default per field but field {i} has {default.size}."
            )
    compression, size = compression_type[()].decode(), integer(buffer_size, "buffer_size")
    return CsvStage(
        filenames.ravel().tolist(),
        lambda path: CsvRecordReader(path, compression, max(0, size), delimiter, quotes),
        bool(header),
        delimiter,
        lambda record: fields_of(record, delimiter, quotes),
        kept,
        None if dropped is None else frozenset(dropped),
        record_defaults,
        {b"", na_value[()]},
        shapes_of(output_shapes),
    )


def _make_first(*inputs, **attrs):
    return _make(*inputs, np.empty(0, np.int64), **attrs)


_INPUTS = (
    "filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, "
    "use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: list(output_types)"
)

CSV_DATASET = dataset_op(
    "CSVDatasetV2", f"{_INPUTS}, exclude_cols: int64, *, output_shapes: list(shape)", _make, stateful=True,
    vectors=("select_cols", "exclude_cols"), output_types=frozenset(_TYPES),
)  # fmt: skip

CSV_DATASET_FIRST = dataset_op(
    "CSVDataset", f"{_INPUTS}, *, output_shapes: list(shape)", _make_first, stateful=True,
    vectors=("select_cols",), output_types=frozenset(_TYPES),
)  # fmt: skip


def default_tensor(value) -> Tensor:
    """What a record default stands for: a vector of the default value; an empty one for a dtype, a required field."""
    if isinstance(value, dtypes.DType) or (isinstance(value, type) and issubclass(value, np.generic)):
        dtype = dtypes.as_dtype(value)
        if dtype not in _TYPES:
            raise ValueError(
                f"{_OP}: fields must be float32, float64, int32, int64 or string, got {dtype.name} in record_defaults."
            )
        return EagerTensor(np.empty(0, dtype._np), dtype)
    return to_tensor(value)


@api("data.experimental.CsvDataset", dispatch=False)
class CsvDatasetV2(DatasetV2):
    r"""The records of files of comma-separated values: tuples of scalars.

    Args:
        filenames: a path, or a list or tensor of paths.
        record_defaults: for each wanted column a dtype (float32, float64, int32, int64 or string), which makes it
            required, or a list of the one value that stands for a missing one.
        compression_type: "" or None, "ZLIB" or "GZIP".
        buffer_size: how many bytes are read at once; None for 4 MiB.
        header: whether the first line of each file is passed over.
        field_delim: the character between fields.
        use_quote_delim: whether fields may stand in double quotes.
        na_value: another string, besides the empty one, that stands for a missing value.
        select_cols: the numbers of the wanted columns, ascending; None for all.
        exclude_cols: the numbers of the columns that are not wanted, ascending.

    >>> tf.io.write_file("/tmp/headrace_dataset.csv", "name,age\nann,30\nbob,\n")
    >>> dataset = tf.data.experimental.CsvDataset("/tmp/headrace_dataset.csv", [tf.string, [0]], header=True)
    >>> list(dataset.as_numpy_iterator())
    [(b'ann', np.int32(30)), (b'bob', np.int32(0))]
    """

    def __init__(
        self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False, field_delim=",",
        use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None,
    ) -> None:  # fmt: skip
        if isinstance(filenames, DatasetV2):
            raise ValueError(f"{_OP}: filenames must be strings, got a dataset: use its `flat_map`.")
        defaults = [default_tensor(value) for value in record_defaults]
        self._spec = tuple(TensorSpec([], default.dtype) for default in defaults)
        made = build(
            "CsvDatasetV2",
            CSV_DATASET,
            to_tensor(filenames, dtypes.string),
            to_tensor("" if compression_type is None else compression_type, dtypes.string),
            constant(4 << 20 if buffer_size is None else buffer_size, dtypes.int64),
            to_tensor(header, dtypes.bool),
            to_tensor(field_delim, dtypes.string),
            to_tensor(use_quote_delim, dtypes.bool),
            to_tensor(na_value, dtypes.string),
            to_tensor([] if select_cols is None else select_cols, dtypes.int64),
            defaults,
            to_tensor([] if exclude_cols is None else exclude_cols, dtypes.int64),
            spec=self._spec,
        )
        super().__init__(made._variant_tensor)

    @property
    def element_spec(self) -> tuple[TensorSpec, ...]:
        return self._spec
