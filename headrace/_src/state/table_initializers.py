"""What fills static tables: keys and values in memory, or the lines of a file."""

from typing import TYPE_CHECKING, Any

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.trackable import Trackable
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.strings.kernel_arrays import attribute_text
from headrace._src.state.assets import Asset
from headrace._src.state.table_ops import (
    INITIALIZE_TABLE_FROM_TEXT_FILE,
    LINE_NUMBER,
    LOOKUP_TABLE_IMPORT,
    WHOLE_LINE,
)

if TYPE_CHECKING:
    from headrace._src.core.dtypes import DType


class TableInitializerBase(Trackable):
    """Base of initializers: they know the dtypes of the table, and fill it."""

    def __init__(self, key_dtype, value_dtype) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> "DType":
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> "DType":
        """The dtype of the values."""
        return self._value_dtype

    def initialize(self, table) -> Any:
        """Fill `table`."""
        raise NotImplementedError

    def check_table(self, table) -> None:
        """Refuse a table of other dtypes."""
        if (table.key_dtype, table.value_dtype) != (self._key_dtype, self._value_dtype):
            raise TypeError(
                f"{type(self).__name__}: the table is from {table.key_dtype.name} to "
                f"{table.value_dtype.name}, the initializer from {self._key_dtype.name} to "
                f"{self._value_dtype.name}."
            )


@api("lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with keys and values.

    >>> init = tf.lookup.KeyValueTensorInitializer(keys=["a", "b"], values=[1, 2])
    >>> tf.lookup.StaticHashTable(init, default_value=-1).lookup(tf.constant(["b", "c"])).numpy().tolist()
    [2, -1]

    Args:
        keys: the keys.
        values: as many values.
        key_dtype, value_dtype: the dtypes of the table; those of the keys and values when None.
        name: a name for the operation.
    """

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None) -> None:
        self._keys = to_tensor(keys, None if key_dtype is None else dtypes.as_dtype(key_dtype))
        self._values = to_tensor(values, None if value_dtype is None else dtypes.as_dtype(value_dtype))
        self._name = name if name is not None else "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table) -> Any:
        """Fill `table`.

        Raises:
            FailedPreconditionError: when a key is there twice with different values.
        """
        self.check_table(table)
        return LOOKUP_TABLE_IMPORT(table.resource_handle, self._keys, self._values)


@api("lookup.TextFileIndex")
class TextFileIndex:
    """What a line of a text file gives besides its columns: itself, or its number, counted from 0."""

    WHOLE_LINE = WHOLE_LINE
    LINE_NUMBER = LINE_NUMBER


@api("lookup.TextFileInitializer")
class TextFileInitializer(TableInitializerBase):
    """Fills a table from the lines of a file.

    Args:
        filename: the file; a path or a scalar string tensor.
        key_dtype, value_dtype: the dtypes of the table.
        key_index, value_index: the column that has the keys or values, counted from 0, or
            `tf.lookup.TextFileIndex.WHOLE_LINE` or `LINE_NUMBER`.
        vocab_size: how many lines to read; all when None.
        delimiter: the character between columns.
        name: a name for the operation.
        value_index_offset: added to line numbers that are values.

    Raises:
        ValueError: for indices and dtypes that do not go together.
    """

    def __init__(
        self,
        filename,
        key_dtype,
        key_index,
        value_dtype,
        value_index,
        vocab_size=None,
        delimiter="\t",
        name=None,
        value_index_offset=0,
    ) -> None:
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("lookup.TextFileInitializer: filename must be given.")
        who = "lookup.TextFileInitializer"
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        for label, index, dtype in (("key", key_index, key_dtype), ("value", value_index, value_dtype)):
            if index < WHOLE_LINE:
                raise ValueError(f"{who}: {label}_index must be at least -2, got {index}.")
            if index == LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(f"{who}: {label}_dtype must be int64 for line numbers, got {dtype.name}.")
        if key_index == WHOLE_LINE and not key_dtype.is_integer and key_dtype != dtypes.string:
            raise ValueError(
                f"{who}: key_dtype must be string or an integer type for whole lines, got {key_dtype.name}."
            )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"{who}: vocab_size must be above 0, got {vocab_size}.")
        if isinstance(filename, Tensor) and not isinstance(filename, EagerTensor):
            self._filename = filename  # in a graph, where it may be computed
        else:
            self._filename = self._track_trackable(Asset(filename), "_filename")
        self._key_index = key_index
        self._value_index = value_index
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._name = name
        self._offset = value_index_offset
        super().__init__(key_dtype, value_dtype)

    def initialize(self, table) -> Any:
        """Fill `table`.

        Raises:
            NotFoundError: when there is no such file.
            InvalidArgumentError: when it has empty lines, too few lines or columns, or no numbers.
            FailedPreconditionError: when a key is there twice with different values.
        """
        self.check_table(table)
        path = self._path()
        graph = context.graph
        if graph is not None and not graph.building_function:
            graph.add_to_collection("asset_filepaths", graph.inside(path))  # files that a 1.x SavedModel needs
        return INITIALIZE_TABLE_FROM_TEXT_FILE(
            table.resource_handle,
            path,
            key_index=int(self._key_index),
            value_index=int(self._value_index),
            vocab_size=-1 if self._vocab_size is None else int(self._vocab_size),
            delimiter=attribute_text(self._delimiter),
            offset=int(self._offset),
        )

    def _path(self):
        return self._filename.asset_path if isinstance(self._filename, Asset) else self._filename

    @property
    def _shared_name(self):
        """A name by which tables of one file and the same columns recognise each other."""
        path = self._path()
        text = path.numpy().decode("utf-8", "replace") if isinstance(path, EagerTensor) else path.name
        parts = [text, self._vocab_size, self._key_index, self._value_index, self._offset or None]
        return "_".join(["hash_table", *(str(part) for part in parts if part is not None)])
