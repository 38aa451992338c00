"""`tf.data.experimental.make_csv_dataset`: batches of the columns of files of comma-separated values."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.data.datasets import DatasetV2
from headrace._src.data.sources.csv_datasets import CsvDatasetV2
from headrace._src.formats import files as filesystem
from headrace._src.formats.csv_fields import fields_of
from headrace._src.formats.csv_records import CsvRecordReader
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor

_NUMBERS: list[tuple[Any, Callable]] = [
    (dtypes.int32, int), (dtypes.int64, int), (dtypes.float32, float), (dtypes.float64, float),
]  # fmt: skip


def matching_files(file_pattern) -> list[str]:
    """The files that match a pattern or a list of patterns, sorted.

    Raises:
        ValueError: there are none.
    """
    patterns = list(file_pattern) if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    if not patterns:
        raise ValueError("Argument `file_pattern` should not be empty.")
    names = sorted(name for pattern in patterns for name in filesystem.matching(pattern))
    if not names:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    return names


def shuffled_and_repeated(dataset: DatasetV2, num_epochs, shuffle, buffer_size, seed) -> DatasetV2:
    """The steps that both functions of this kind have in common."""
    if shuffle:
        dataset = dataset.shuffle(buffer_size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


class _Table:
    """What is known of the files before they are read."""

    def __init__(self, paths, compression, delimiter, quotes, encoding):
        self._paths = paths
        self._compression = compression or ""
        self._delimiter = delimiter.encode()
        self._quotes = quotes
        self._encoding = encoding

    def rows(self, path):
        """The rows of a file, as text."""
        with CsvRecordReader(path, self._compression, None, self._delimiter, self._quotes) as reader:
            for record in reader:
                yield [field.decode(self._encoding) for field in fields_of(record, self._delimiter, self._quotes)]

    def names(self):
        """The column names, which must be the same in all files."""
        first = next(self.rows(self._paths[0]), None)
        if first is None:
            raise ValueError(f"Received an empty CSV file: {self._paths[0]} has no header row.")
        for path in self._paths[1:]:
            if next(self.rows(path), None) != first:
                raise ValueError(
                    "All input CSV files should have the same column names in the header row. File "
                    f"{path} has different column names."
                )
        return first

    def types(self, columns, count, has_header, na_value, most):
        """The narrowest dtype of each of these columns that takes all of its values in the first rows."""
        places = [0] * len(columns)
        kinds: list = [None] * len(columns)
        for row in self._first_rows(has_header, most):
            if len(row) != count:
                raise ValueError(
                    f"Problem inferring types: CSV row {row} has {len(row)} number of fields. Expected: {count}."
                )
            for i, column in enumerate(columns):
                value = row[column]
                if value in ("", na_value):
                    continue
                while places[i] < len(_NUMBERS) and not _fits(value, *_NUMBERS[places[i]]):
                    places[i] += 1
                kinds[i] = _NUMBERS[places[i]][0] if places[i] < len(_NUMBERS) else dtypes.string
        return [kind or dtypes.string for kind in kinds]

    def _first_rows(self, has_header, most):
        left = most
        for path in self._paths:
            rows = self.rows(path)
            if has_header:
                next(rows, None)
            for row in rows:
                if left is not None:
                    if left <= 0:
                        return
                    left -= 1
                yield row


def _fits(text, dtype, parse):
    try:
        number = parse(text)
    except ValueError:
        return False
    if parse is int:
        # TF: the two ends of the range are left out.
        return dtype.min < number < dtype.max
    return bool(dtype.min <= number <= dtype.max)


def _selected(select_columns, names):
    """The numbers of the selected columns, ascending."""
    numbers = {name: i for i, name in enumerate(names)}
    found = []
    for column in select_columns:
        if isinstance(column, int):
            found.append(column)
        elif column in numbers:
            found.append(numbers[column])
        else:
            raise ValueError(
                f"Column {column} specified in `select_columns` must be of one of the columns: {numbers.keys()}."
            )
    found.sort()
    if len(set(found)) != len(found):
        raise ValueError(f"`select_columns` cannot contain duplicates. Received {select_columns}.")
    if found and (found[0] < 0 or found[-1] >= len(names)):
        raise ValueError(
            f"`select_columns` must be a list of column indices between 0 and {len(names) - 1}. Received "
            f"{select_columns}."
        )
    return found


def _zero(dtype) -> Tensor:
    return to_tensor([""] if dtype == dtypes.string else np.zeros(1, dtype._np), dtype)


@api("data.experimental.make_csv_dataset", dispatch=False)
def make_csv_dataset(
    file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None, select_columns=None,
    field_delim=",", use_quote_delim=True, na_value="", header=True, num_epochs=None, shuffle=True,
    shuffle_buffer_size=10000, shuffle_seed=None, prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False,
    num_rows_for_inference=100, compression_type=None, ignore_errors=False, encoding="utf-8",
) -> DatasetV2:  # fmt: skip
    r"""Batches of the records of files of comma-separated values: dictionaries from column names to vectors.

    Args:
        file_pattern: a pattern, or a list of patterns, of paths.
        batch_size: how many records make a batch.
        column_names: the names of the columns; None to take them from the first line of the files.
        column_defaults: for each column (or each selected one) its dtype, or a list of the value that stands for a
            missing one; None to find the dtypes out, with zero or the empty string in place of what is missing.
        label_name: the column that is not in the dictionary, but the second part of elements.
        select_columns: the names or numbers of the wanted columns; None for all.
        field_delim: the character between fields.
        use_quote_delim: whether fields may stand in double quotes.
        na_value: another string, besides the empty one, that stands for a missing value.
        header: whether the first line of each file holds the names.
        num_epochs: how many times the files are read; None for without end, where there are full batches only.
        shuffle: whether files and records come in random order.
        shuffle_buffer_size: how many records are drawn from.
        shuffle_seed: an integer for the same order in each run of the program.
        prefetch_buffer_size: how many batches are made ahead of time; None for `tf.data.AUTOTUNE`.
        num_parallel_reads: how many files are read in turns.
        sloppy: whether records of several files may come in any order.
        num_rows_for_inference: how many records are read to find dtypes out; None for all.
        compression_type: "" or None, "ZLIB" or "GZIP".
        ignore_errors: whether records that cannot be read are left out.
        encoding: of the column names.

    >>> tf.io.write_file("/tmp/headrace_people.csv", "name,age\nann,30\nbob,40\n")
    >>> dataset = tf.data.experimental.make_csv_dataset(
    ...     "/tmp/headrace_people.csv", batch_size=2, num_epochs=1, shuffle=False, label_name="age")
    >>> for columns, ages in dataset:
    ...     print(columns["name"].numpy(), ages.numpy())
    [b'ann' b'bob'] [30 40]
    """
    paths = matching_files(file_pattern)
    table = _Table(paths, compression_type, field_delim, use_quote_delim, encoding)
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = table.names()
    if len(set(column_names)) != len(column_names):
        twice = {name for name in column_names if list(column_names).count(name) > 1}
        raise ValueError(f"Either `column_names` argument or CSV header row contains duplicate column names: {twice}.")
    columns = None if select_columns is None else _selected(select_columns, column_names)
    if column_defaults is None:
        every = list(range(len(column_names))) if columns is None else columns
        types = table.types(every, len(column_names), header, na_value, num_rows_for_inference)
        column_defaults = [_zero(dtype) for dtype in types]
    if columns is not None:
        column_names = [column_names[i] for i in columns]
    if label_name is not None and label_name not in column_names:
        raise ValueError(f"`label_name` provided must be one of the columns: {column_names}. Received: {label_name}.")

    def read(path):
        return CsvDatasetV2(
            path, column_defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, columns
        )

    def named(*fields):
        features = collections.OrderedDict(zip(column_names, fields))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    dataset = DatasetV2.from_tensor_slices(paths)
    if shuffle:
        dataset = dataset.shuffle(len(paths), shuffle_seed)
    if num_parallel_reads in (None, 1):
        dataset = dataset.flat_map(read)
    else:
        dataset = dataset.interleave(read, cycle_length=num_parallel_reads, block_length=1)
    if ignore_errors:
        dataset = dataset.ignore_errors()
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(named)
    return dataset.prefetch(prefetch_buffer_size)
