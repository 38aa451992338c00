"""`tf.data.experimental.SqlDataset`: the rows that a query of a database gives."""

from __future__ import annotations

import re
import urllib.parse
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors, file_access
from headrace._src.core.lazy import sqlite3
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import DatasetV2, build, dataset_op
from headrace._src.data.running.stages import Cursor, Stage, shapes_of
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor

_TYPES = (
    dtypes.string, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.bool,
    dtypes.float64,
)  # fmt: skip
_INTEGER, _REAL = re.compile(rb"\s*[+-]?\d+"), re.compile(rb"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class SqlStage(Stage):
    """The rows of a query.

    Args:
        database: the path of an SQLite database.
        query: in SQL.
        types: the dtypes of the columns.
        shapes: of the components.
    """

    method = "SqlDataset"

    def __init__(self, database: str, query: str, types: list, shapes):
        super().__init__(shapes)
        self.database = database
        self.query = query
        self.types = types

    def walk(self, run):
        return _SqlCursor(self)


class _SqlCursor(Cursor):
    def __init__(self, stage):
        self._stage = stage
        self._connection: Any = None
        self._rows: Any = None
        self._number = 0
        self._is_over = False

    def _open(self):
        stage = self._stage
        file_access.check(stage.database)
        try:
            # Threads take turns: a cursor belongs to one at a time.
            address = f"file:{urllib.parse.quote(stage.database)}?mode=ro"
            self._connection = sqlite3.connect(address, uri=True, check_same_thread=False)
            self._connection.text_factory = bytes
            self._rows = self._connection.execute(stage.query)
        except (sqlite3.Error, sqlite3.Warning) as error:
            self.close()
            raise errors.unknown(f"SqlDataset: {error}: {stage.database}: {stage.query}") from error
        found = len(self._rows.description or ())
        if found != len(stage.types):
            self.close()
            raise errors.invalid_argument(
                f"SqlDataset: the number of columns in the query ({found}) must match the number of elements in "
                f"output_types ({len(stage.types)}): {stage.query}"
            )

    def _row(self):
        if self._is_over:
            return None
        if self._rows is None:
            self._open()
        try:
            row = self._rows.fetchone()
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise errors.unknown(f"SqlDataset: {error}: {self._stage.query}") from error
        if row is None:
            self._is_over = True
            self.close()
            return None
        self._number += 1
        return row

    def next(self):
        row = self._row()
        if row is None:
            return None
        return tuple([_converted(value, dtype) for value, dtype in zip(row, self._stage.types)])

    def skip(self, count):
        for done in range(count):
            if self._row() is None:
                return done
        return count

    def state(self):
        return {"number": self._number, "is_over": self._is_over}

    def restore(self, state):
        """Databases cannot go to a row: those before it are read once more."""
        self.close()
        self._number, self._is_over = 0, state["is_over"]
        if not self._is_over:
            self.skip(state["number"])
        self._number = state["number"]

    def close(self):
        connection, self._connection, self._rows = self._connection, None, None
        if connection is not None:
            connection.close()


def _converted(value, dtype):
    """TF: as SQLite converts, and integers are cut to the size of their type."""
    if dtype._kind == "s":
        array = np.empty((), object)
        array[()] = _text(value)
        return array
    if dtype == dtypes.float64:
        return np.array(_real(value), np.float64)
    if dtype == dtypes.bool:
        return np.array(_integer(value) != 0)
    return np.array(_integer(value), np.int64).astype(dtype._np)


def _text(value) -> bytes:
    if value is None:
        return b""
    if isinstance(value, float):
        text = f"{value:.15g}"
        return (text if any(mark in text for mark in ".en") else f"{text}.0").encode()
    return value if isinstance(value, bytes) else str(value).encode()


def _integer(value) -> int:
    if value is None:
        return 0
    if isinstance(value, bytes):
        found = _INTEGER.match(value)
        value = int(found.group()) if found else 0
    elif isinstance(value, float):
        value = 0 if value != value else int(max(-(2.0**63), min(value, 2.0**63 - 1024)))
    return max(-(2**63), min(value, 2**63 - 1))


def _real(value) -> float:
    if value is None:
        return 0.0
    if isinstance(value, bytes):
        found = _REAL.match(value)
        return float(found.group()) if found else 0.0
    return float(value)


def _make(driver_name, data_source_name, query, output_types, output_shapes):
    driver = driver_name[()].decode(errors="replace")
    if driver != "sqlite":
        raise errors.invalid_argument(f"SqlDataset: the driver must be 'sqlite', got {driver!r}.")
    for dtype in output_types:
        if dtype not in _TYPES:
            raise errors.invalid_argument(
                f"SqlDataset: each of output_types must be one of {', '.join(x.name for x in _TYPES)}, got "
                f"{dtype.name}."
            )
    return SqlStage(data_source_name[()].decode(), query[()].decode(), output_types, shapes_of(output_shapes))


SQL_DATASET = dataset_op(
    "SqlDataset",
    "driver_name: string, data_source_name: string, query: string, *, output_types: list(type), "
    "output_shapes: list(shape)",
    _make,
    stateful=True,
)


@api("data.experimental.SqlDataset", dispatch=False)
class SqlDatasetV2(DatasetV2):
    """The rows that a query of an SQLite database gives: tuples of scalars.

    Args:
        driver_name: "sqlite".
        data_source_name: the path of the database.
        query: in SQL.
        output_types: a tuple of the dtypes of the columns: string, bool, float64, and integers up to 64 (signed) or 16
            bits (unsigned). Missing values are empty strings and zeros.

    >>> import sqlite3
    >>> with sqlite3.connect("/tmp/headrace_doc.sqlite") as database:
    ...     _ = database.executescript("drop table if exists a; create table a(x); insert into a values (1), (2);")
    >>> dataset = tf.data.experimental.SqlDataset("sqlite", "/tmp/headrace_doc.sqlite", "select x from a", (tf.int32,))
    >>> list(dataset.as_numpy_iterator())
    [(np.int32(1),), (np.int32(2),)]
    """

    def __init__(self, driver_name, data_source_name, query, output_types) -> None:
        types = output_types if isinstance(output_types, (tuple, list)) else None
        self._spec: Any = (
            TensorSpec([], dtypes.as_dtype(output_types))
            if types is None
            else tuple(TensorSpec([], dtypes.as_dtype(dtype)) for dtype in types)
        )
        made = build(
            "SqlDatasetV2",
            SQL_DATASET,
            to_tensor(driver_name, dtypes.string),
            to_tensor(data_source_name, dtypes.string),
            to_tensor(query, dtypes.string),
            spec=self._spec,
        )
        super().__init__(made._variant_tensor)

    @property
    def element_spec(self) -> tuple[TensorSpec, ...]:
        return self._spec
