"""The ops of lookup tables: making them, filling them, looking up."""

import weakref

import numpy as np

from headrace._src.core import errors
from headrace._src.core.context import context
from headrace._src.formats import files as filesystem
from headrace._src.op.batching import NoRule, Ragged, Rule, unstacked
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, UNKNOWN
from headrace._src.op.traits import NONE, READS_RESOURCE
from headrace._src.ops.strings.kernel_arrays import attribute_bytes, scalar_string
from headrace._src.ops.strings.numbers import parse_number
from headrace._src.state.table_storage import (
    KEY_TYPES,
    VALUE_TYPES,
    DenseStorage,
    StaticStorage,
    TableStorage,
    storage_of,
)

# Tables that were made under a name, to be found again under it as long as somebody has them.
_shared: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def _named(op, container, shared_name, make):
    """The table of that name, or a new one."""
    table = make()
    if not shared_name:
        return table
    resources = _shared if context.resources is None else context.resources  # a session keeps its own
    known = resources.setdefault(("table", container, shared_name), table)
    if (known.key_dtype, known.value_dtype) != (table.key_dtype, table.value_dtype):
        raise errors.invalid_argument(
            f"{op}: the table {shared_name!r} is from {known.key_dtype.name} to {known.value_dtype.name}, "
            f"not from {table.key_dtype.name} to {table.value_dtype.name}."
        )
    return known


def _make_static(container, shared_name, use_node_name_sharing, key_dtype, value_dtype):
    return _named(
        "HashTableV2", container, shared_name, lambda: StaticStorage(key_dtype, value_dtype, (), shared_name)
    )


def _make_mutable(container, shared_name, use_node_name_sharing, key_dtype, value_dtype, value_shape=()):
    if value_shape is None or len(value_shape) > 1 or None in value_shape:
        raise errors.invalid_argument(
            f"MutableHashTableOfTensorsV2: value_shape must be a known vector shape, got {value_shape}."
        )
    return _named(
        "MutableHashTableV2",
        container,
        shared_name,
        lambda: TableStorage(key_dtype, value_dtype, value_shape, shared_name),
    )


def _make_dense(
    empty_key,
    deleted_key,
    container,
    shared_name,
    use_node_name_sharing,
    value_dtype,
    value_shape,
    initial_num_buckets,
    max_load_factor,
):
    key_dtype = _dtype_of(empty_key)
    return _named(
        "MutableDenseHashTableV2",
        container,
        shared_name,
        lambda: DenseStorage(
            key_dtype,
            value_dtype,
            value_shape or (),
            shared_name,
            empty_key,
            deleted_key,
            initial_num_buckets,
            max_load_factor,
        ),
    )


def _dtype_of(array):
    return next(dtype for dtype in KEY_TYPES if dtype._np == array.dtype)


_NAMES = "container: string = '', shared_name: string = '', use_node_name_sharing: bool = False"


def _table_op(name, text, kernel, **types):
    """An op that makes a table and returns its handle."""
    return Op(
        name,
        f"{text} -> table_handle: resource",
        infer=lambda *inputs, **attrs: SCALAR,
        kernel=kernel,
        lower=None,  # tables live on the host
        stateful=True,
        grad=None,
        **types,
    )


_KINDS = "key_dtype: type, value_dtype: type"
_SHAPE = "value_shape: shape = ()"
_DENSE = f"value_dtype: type, {_SHAPE}, initial_num_buckets: int = 131072, max_load_factor: float = 0.8"
HASH_TABLE = _table_op("HashTableV2", f"*, {_NAMES}, {_KINDS}", _make_static)
MUTABLE_HASH_TABLE = _table_op("MutableHashTableV2", f"*, {_NAMES}, {_KINDS}", _make_mutable)
MUTABLE_HASH_TABLE_OF_TENSORS = _table_op(
    "MutableHashTableOfTensorsV2", f"*, {_NAMES}, {_KINDS}, {_SHAPE}", _make_mutable
)
MUTABLE_DENSE_HASH_TABLE = _table_op(
    "MutableDenseHashTableV2",
    f"empty_key: key_dtype, deleted_key: key_dtype, *, {_NAMES}, {_DENSE}",
    _make_dense,
    key_dtype=KEY_TYPES,
)
ANONYMOUS_HASH_TABLE = _table_op(
    "AnonymousHashTable", f"*, {_KINDS}", lambda **attrs: _make_static("", "", False, **attrs)
)
ANONYMOUS_MUTABLE_HASH_TABLE = _table_op(
    "AnonymousMutableHashTable", f"*, {_KINDS}", lambda **attrs: _make_mutable("", "", False, **attrs)
)
ANONYMOUS_MUTABLE_HASH_TABLE_OF_TENSORS = _table_op(
    "AnonymousMutableHashTableOfTensors",
    f"*, {_KINDS}, {_SHAPE}",
    lambda **attrs: _make_mutable("", "", False, **attrs),
)
ANONYMOUS_MUTABLE_DENSE_HASH_TABLE = _table_op(
    "AnonymousMutableDenseHashTable",
    f"empty_key: key_dtype, deleted_key: key_dtype, *, {_DENSE}",
    lambda empty, deleted, **attrs: _make_dense(empty, deleted, "", "", False, **attrs),
    key_dtype=KEY_TYPES,
)


def _use_op(name, text, infer, kernel, traits=NONE, vectorize=None, **types):
    """An op that uses a table."""
    return Op(
        name,
        text,
        traits=traits,
        infer=infer,
        kernel=kernel,
        lower=None,  # tables live on the host
        stateful=True,
        grad=None,
        vectorize=vectorize,
        **types,
    )


def _nothing(*inputs, **attrs):
    return ()


def _infer_find(table_handle, keys, default_value):
    # Keys may be vectors (of a dense table), and defaults may be given for each key: the handle knows more.
    return UNKNOWN


def _vectorize_find(batch, node, table, keys, default):
    return batch.apply(node, [table, keys, unstacked(default, "default value")])


def _vectorize_ragged_find(batch, node, table, keys, default):
    if not isinstance(keys, Ragged):
        raise NoRule("its default values differ")
    return keys.like(batch.apply(node, [unstacked(table, "table"), keys, unstacked(default, "default value")])[0])


LOOKUP_TABLE_FIND = _use_op(
    "LookupTableFindV2",
    "table_handle: resource, keys: Tin, default_value: Tout -> values: Tout",
    _infer_find,
    lambda handle, keys, default: storage_of("LookupTableFindV2", handle).find(keys, default),
    READS_RESOURCE,
    Rule(_vectorize_find, _vectorize_ragged_find),
    Tin=KEY_TYPES,
    Tout=VALUE_TYPES,
)
LOOKUP_TABLE_INSERT = _use_op(
    "LookupTableInsertV2",
    "table_handle: resource, keys: Tin, values: Tout -> ",
    _nothing,
    lambda handle, keys, values: storage_of("LookupTableInsertV2", handle).insert(keys, values),
    Tin=KEY_TYPES,
    Tout=VALUE_TYPES,
)
LOOKUP_TABLE_REMOVE = _use_op(
    "LookupTableRemoveV2",
    "table_handle: resource, keys: Tin -> ",
    _nothing,
    lambda handle, keys: storage_of("LookupTableRemoveV2", handle).remove(keys),
    Tin=KEY_TYPES,
)
LOOKUP_TABLE_SIZE = _use_op(
    "LookupTableSizeV2",
    "table_handle: resource -> size: int64",
    lambda handle: SCALAR,
    lambda handle: np.int64(storage_of("LookupTableSizeV2", handle).size()),
    READS_RESOURCE,
)


def _export(handle, Tkeys, Tvalues):
    storage = storage_of("LookupTableExportV2", handle)
    if (storage.key_dtype, storage.value_dtype) != (Tkeys, Tvalues):
        raise errors.invalid_argument(
            f"LookupTableExportV2: the table is from {storage.key_dtype.name} to {storage.value_dtype.name}, "
            f"not from {Tkeys.name} to {Tvalues.name}."
        )
    return storage.export()


LOOKUP_TABLE_EXPORT = _use_op(
    "LookupTableExportV2",
    "table_handle: resource, *, Tkeys: type, Tvalues: type -> keys: Tkeys, values: Tvalues",
    lambda handle, **attrs: (UNKNOWN, UNKNOWN),
    _export,
    READS_RESOURCE,
)
LOOKUP_TABLE_IMPORT = _use_op(
    "LookupTableImportV2",
    "table_handle: resource, keys: Tin, values: Tout -> ",
    _nothing,
    lambda handle, keys, values: storage_of("LookupTableImportV2", handle).replace(keys, values),
    Tin=KEY_TYPES,
    Tout=VALUE_TYPES,
)


def _static_storage(op, handle):
    storage = storage_of(op, handle)
    if not isinstance(storage, StaticStorage):
        raise errors.invalid_argument(f"{op}: this table is filled by inserting, not by an initializer.")
    return storage


INITIALIZE_TABLE = _use_op(
    "InitializeTableV2",
    "table_handle: resource, keys: Tkey, values: Tval -> ",
    _nothing,
    lambda handle, keys, values: _static_storage("InitializeTableV2", handle).initialize(
        keys, values, "InitializeTableV2"
    ),
    Tkey=KEY_TYPES,
    Tval=VALUE_TYPES,
)

WHOLE_LINE, LINE_NUMBER = -2, -1


def _read_lines(path, vocab_size):
    """The lines of a vocabulary file, at most `vocab_size` of them unless that is -1."""
    op = "InitializeTableFromTextFileV2"
    data = filesystem.read(path)
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if not lines:
        raise errors.out_of_range(f"{op}: {path!r} is empty.")
    lines = [line.removesuffix(b"\r") for line in lines]
    if vocab_size >= 0:
        if len(lines) < vocab_size:
            raise errors.invalid_argument(
                f"{op}: {path!r} must have vocab_size = {vocab_size} lines, got {len(lines)}."
            )
        lines = lines[:vocab_size]
    for number, line in enumerate(lines):
        if not line:
            raise errors.invalid_argument(f"{op}: {path!r} has an empty line, number {number + 1}.")
    return lines


def _column(lines, index, delimiter, dtype, offset, path):
    """What the lines say in one column, as an array."""
    op = "InitializeTableFromTextFileV2"
    if index == LINE_NUMBER:
        return np.arange(len(lines), dtype=np.int64).astype(dtype._np) + dtype._np.type(offset)
    texts = lines
    if index != WHOLE_LINE:
        parts = [line.split(delimiter) for line in lines]
        for number, part in enumerate(parts):
            if len(part) <= index:
                raise errors.invalid_argument(
                    f"{op}: {path!r} must have at least {index + 1} columns, got {len(part)} in line "
                    f"{number + 1}."
                )
        texts = [part[index] for part in parts]
    if dtype._kind == "s":
        column = np.empty(len(texts), object)
        column[:] = texts
        return column
    return np.array([parse_number(op, text, dtype._np) for text in texts], dtype._np)


def _initialize_from_file(handle, filename, key_index, value_index, vocab_size, delimiter, offset):
    op = "InitializeTableFromTextFileV2"
    storage = _static_storage(op, handle)
    path = scalar_string(op, "filename", filename)
    separator = attribute_bytes(delimiter)
    if len(separator) != 1:
        raise errors.invalid_argument(f"{op}: delimiter must be one character, got {delimiter!r}.")
    for label, index in (("key_index", key_index), ("value_index", value_index)):
        if index < -2:
            raise errors.invalid_argument(f"{op}: {label} must be at least -2, got {index}.")
    if storage.initialized:
        return
    lines = _read_lines(path, vocab_size)
    keys = _column(lines, key_index, separator, storage.key_dtype, 0, path)
    values = _column(lines, value_index, separator, storage.value_dtype, offset, path)
    storage.initialize(keys, values, op)


INITIALIZE_TABLE_FROM_TEXT_FILE = _use_op(
    "InitializeTableFromTextFileV2",
    "table_handle: resource, filename: string, *, key_index: int, value_index: int, vocab_size: int = -1, "
    "delimiter: string = '\\t', offset: int = 0 -> ",
    _nothing,
    _initialize_from_file,
)
