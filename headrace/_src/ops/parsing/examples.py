"""Parsing encoded Examples: `tf.io.parse_example`, `parse_single_example`, and the ops behind them."""

import functools
import math
import reprlib
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.formats.example_fields import BYTES, FLOAT, INT64, KIND_NAMES, MalformedExample
from headrace._src.formats.example_payloads import Column
from headrace._src.formats.example_wire import ExampleParser, WrongKind
from headrace._src.op.api import api
from headrace._src.op.batching import Rule, unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.shaping import ENSURE_SHAPE
from headrace._src.ops.parsing.example_batches import check_dense, vectorize_parse, vectorize_ragged_parse
from headrace._src.ops.parsing.requests import EXAMPLE_FEATURES, Request, keys_tensor
from headrace._src.ops.parsing.results import assemble
from headrace._src.ops.strings.kernel_arrays import attribute_bytes

KINDS = {dtypes.string: BYTES, dtypes.float32: FLOAT, dtypes.int64: INT64}
VALUE_TYPES = frozenset(KINDS)
SPLIT_TYPES = frozenset({dtypes.int32, dtypes.int64})


def called(names, index) -> str:
    """How a message calls an example: by its number, and its name if there is one."""
    names = names.ravel()
    return f"example {index}" + (f" ({names[index].decode('utf-8', 'replace')!r})" if index < names.size else "")


def not_parsed(op, error, record, names, index):
    """The error for bytes that are no such message."""
    return errors.invalid_argument(
        f"{op}: Could not parse example input, value: {reprlib.repr(record)}, {called(names, index)}: {error}."
    )


def wrong_kind(op, error, names):
    """The error for values of another kind than asked for."""
    return errors.invalid_argument(
        f"{op}: Key: {error.key.decode('utf-8', 'replace')}, {called(names, error.index)}: Data types don't match: "
        f"{KIND_NAMES[error.stored]} values are stored, {KIND_NAMES[error.asked]} was asked for."
    )


def wrong_count(op, key, kind, got, shape, names, index):
    """The error for too many or too few values."""
    text = "x".join("?" if n is None else str(n) for n in shape) if shape else "1 (a scalar)"
    return errors.invalid_argument(
        f"{op}: Key: {key.decode('utf-8', 'replace')}, {called(names, index)}: {got} {KIND_NAMES[kind]} values are "
        f"stored, but the shape {tuple(shape)} was asked for, which takes {text}."
    )


def missing(op, key, kind, names, index):
    """The error for a feature that is not there and has no default."""
    return errors.invalid_argument(
        f"{op}: Feature: {key.decode('utf-8', 'replace')} (data type: {KIND_NAMES[kind]}) is required but could not be "
        f"found in {called(names, index)}. Give it a default_value if it may be missing."
    )


class Layout:
    """The features that an op is asked for; made once for each set of them, since it learns the order of keys."""

    def __init__(self, op, sparse, dense, ragged):
        self.op = op
        self.sparse = sparse  # ((key, dtype), ...)
        self.dense = dense  # ((key, dtype, shape), ...)
        self.ragged = ragged  # ((key, dtype, dtype of splits), ...)
        wanted = {}
        for key, dtype, *_ in (*sparse, *dense, *ragged):
            if wanted.setdefault(key, KINDS[dtype]) != KINDS[dtype]:
                raise errors.invalid_argument(
                    f"{op}: Key: {key.decode('utf-8', 'replace')} is asked for with two types."
                )
        self.parser = ExampleParser(wanted)

    def check_defaults(self, defaults):
        """Refuse defaults that do not fit the shapes."""
        for (key, _, shape), default in zip(self.dense, defaults):
            name = key.decode("utf-8", "replace")
            if shape is None or any(n is None for n in shape[1:]):
                raise errors.invalid_argument(f"{self.op}: Key: {name}: the shape {shape} is not known.")
            if shape and shape[0] is None:
                if default.size != 1:
                    raise errors.invalid_argument(
                        f"{self.op}: Key: {name}: a default of one element is needed to fill up, got {default.size}."
                    )
            elif default.size and default.shape != shape:
                raise errors.invalid_argument(
                    f"{self.op}: Key: {name}: the default has shape {default.shape}, expected {shape}."
                )

    def parse_batch(self, records, names, defaults):
        """The outputs of ParseExampleV2 for a list of records."""
        return self.outputs(self.columns(records, names), len(records), names, defaults)

    def columns(self, records, names):
        """Key to `Column`, of a list of records."""
        try:
            return self.parser.parse_batch(records)
        except MalformedExample as error:
            raise not_parsed(self.op, error, records[error.index], names, error.index) from None
        except WrongKind as error:
            raise wrong_kind(self.op, error, names) from None

    def outputs(self, columns, count, names, defaults):
        """The outputs of ParseExampleV2 from what was parsed: key to `Column`."""
        indices, values, shapes = [], [], []
        for key, _ in self.sparse:
            column = columns[key]
            indices.append(sparse_indices(column.counts))
            values.append(column.values)
            shapes.append(np.array([count, column.counts.max(initial=0)], np.int64))
        dense = [
            self.dense_values(i, columns[key], count, names, default)
            for i, ((key, _, _), default) in enumerate(zip(self.dense, defaults))
        ]
        ragged, splits = [], []
        for key, _, kind in self.ragged:
            ragged.append(columns[key].values)
            splits.append(row_splits(columns[key].counts, kind))
        return indices, values, shapes, dense, ragged, splits

    def dense_values(self, number, column, count, names, default):
        """The values of a dense feature of all examples."""
        key, dtype, shape = self.dense[number]
        kind = KINDS[dtype]
        counts, present = column.counts, column.present
        if shape and shape[0] is None:
            return self._padded(key, kind, shape, column, count, names, default)
        size = math.prod(shape)
        wrong = counts != size
        if present is None:
            if wrong.any():
                index = int(np.flatnonzero(wrong)[0])
                raise wrong_count(self.op, key, kind, int(counts[index]), shape, names, index)
            return column.values.reshape(count, *shape)
        wrong &= present
        if wrong.any():
            index = int(np.flatnonzero(wrong)[0])
            raise wrong_count(self.op, key, kind, int(counts[index]), shape, names, index)
        if not default.size:
            raise missing(self.op, key, kind, names, int(np.flatnonzero(~present)[0]))
        result = np.empty((count, size), column.values.dtype)
        result[present] = column.values.reshape(-1, size)
        result[~present] = default.reshape(-1)
        return result.reshape(count, *shape)

    def _padded(self, key, kind, shape, column, count, names, default):
        stride = math.prod(shape[1:])
        counts = column.counts
        if stride == 0:
            raise errors.invalid_argument(
                f"{self.op}: Key: {key.decode('utf-8', 'replace')}: items of the shape {shape[1:]} hold nothing."
            )
        uneven = counts % stride
        if uneven.any():
            index = int(np.flatnonzero(uneven)[0])
            raise wrong_count(self.op, key, kind, int(counts[index]), shape, names, index)
        most = int(counts.max(initial=0))
        check_padded_size(self.op, key, count * most, column.values.size)
        result = np.empty((count, most), column.values.dtype)
        inside = np.arange(most) < counts[:, None]
        if inside.all():
            result = column.values
        else:
            result[...] = default.reshape(-1)[0]
            result[inside] = column.values
        return result.reshape(count, most // stride, *shape[1:])

    def parse_single(self, record, names, defaults):
        """The outputs of ParseExampleV2 for one record: tensors without a dimension for the batch."""
        try:
            found = self.parser.parse_one(record)
        except MalformedExample as error:
            raise not_parsed(self.op, error, record, names, 0) from None
        except WrongKind as error:
            raise wrong_kind(self.op, error, names) from None
        indices, values, shapes, dense, ragged, splits = [], [], [], [], [], []
        for key, dtype in self.sparse:
            stored = _array(found.get(key), dtype)
            indices.append(np.arange(stored.size).reshape(-1, 1))
            values.append(stored)
            shapes.append(np.array([stored.size], np.int64))
        for (key, dtype, shape), default in zip(self.dense, defaults):
            stored = found.get(key)
            if stored is None:
                if shape and shape[0] is None:
                    dense.append(_array(None, dtype).reshape(0, *shape[1:]))
                elif default.size:
                    dense.append(default)
                else:
                    raise missing(self.op, key, KINDS[dtype], names, 0)
                continue
            stored = _array(stored, dtype)
            if shape and shape[0] is None:
                stride = math.prod(shape[1:])
                if not stride or stored.size % stride:
                    raise wrong_count(self.op, key, KINDS[dtype], stored.size, shape, names, 0)
                dense.append(stored.reshape(stored.size // stride, *shape[1:]))
            elif stored.size != math.prod(shape):
                raise wrong_count(self.op, key, KINDS[dtype], stored.size, shape, names, 0)
            else:
                dense.append(stored.reshape(shape))
        for key, dtype, kind in self.ragged:
            ragged.append(_array(found.get(key), dtype))
            splits.append(np.empty(0, kind._np))
        return indices, values, shapes, dense, ragged, splits


def _array(values, dtype):
    """The values of one record as an array of the dtype's kind."""
    if values is None:
        return np.empty(0, dtype._np)
    if type(values) is list:
        array = np.empty(len(values), object)
        array[:] = values
        return array
    return values


def check_padded_size(op, key, padded, stored):
    """Refuse to fill up to a size that no honest data has: one long record among very many short ones."""
    if padded > 2**31 and padded > 1024 * max(stored, 1):
        raise errors.ResourceExhaustedError(
            None, None, f"{op}: Key: {key.decode('utf-8', 'replace')}: {stored} values would be filled up to {padded}."
        )


def sparse_indices(counts):
    """The indices of a sparse tensor whose rows begin with so many values."""
    total = int(counts.sum())
    result = np.empty((total, 2), np.int64)
    result[:, 0] = np.repeat(np.arange(counts.size), counts)
    places = np.arange(total)
    places -= np.repeat(counts.cumsum() - counts, counts)
    result[:, 1] = places
    return result


def row_splits(counts, dtype):
    """Counts of values as positions between rows."""
    result = np.zeros(counts.size + 1, dtype._np)
    counts.cumsum(out=result[1:])
    return result


def check_names(op, names, serialized, argument="names"):
    """Names are one for each example, or none."""
    if names.size and names.shape != serialized.shape:
        raise errors.invalid_argument(
            f"{op}: {argument} must be empty or have the shape of serialized, {serialized.shape}, got {names.shape}."
        )


@functools.lru_cache(maxsize=256)
def _layout(op, sparse_keys, sparse_types, dense_keys, dense_types, dense_shapes, ragged_keys, ragged_types, splits):
    for what, keys, types in (
        ("sparse", sparse_keys, sparse_types), ("dense", dense_keys, dense_types), ("ragged", ragged_keys, ragged_types)
    ):  # fmt: skip
        if len(keys) != len(types):
            raise errors.invalid_argument(f"{op}: {len(keys)} {what} keys, but {len(types)} types.")
    if len(dense_shapes) != len(dense_keys) or len(splits) != len(ragged_keys):
        raise errors.invalid_argument(f"{op}: the numbers of keys, shapes and types do not fit.")
    return Layout(
        op,
        tuple(zip(sparse_keys, sparse_types)),
        tuple(zip(dense_keys, dense_types, dense_shapes)),
        tuple(zip(ragged_keys, ragged_types, splits)),
    )


def _example_layout(op, sparse_keys, dense_keys, ragged_keys, defaults, sparse_types, ragged_types, splits, shapes):
    return _layout(
        op,
        tuple(sparse_keys),
        tuple(sparse_types),
        tuple(dense_keys),
        tuple(value_type(op, default) for default in defaults),
        tuple(shapes),
        tuple(ragged_keys),
        tuple(ragged_types),
        tuple(splits),
    )


def value_type(op, default):
    """The dtype of a default, which says that of the feature."""
    if default.dtype == object:
        return dtypes.string
    dtype = dtypes.FROM_NUMPY[default.dtype]
    if dtype not in KINDS:
        raise errors.invalid_argument(f"{op}: dense_defaults must be float32, int64 or string, got {dtype.name}.")
    return dtype


def vector_of_keys(op, argument, array):
    """The keys of an input that must be a vector."""
    if array.ndim != 1:
        raise errors.invalid_argument(f"{op}: {argument} must be a vector, got shape {array.shape}.")
    return array.tolist()


def _parse(layout, serialized, names, defaults):
    layout.check_defaults(defaults)
    if serialized.ndim == 0:
        return layout.parse_single(serialized[()], names, defaults)
    check_names(layout.op, names, serialized)
    return layout.parse_batch(serialized.tolist(), names, defaults)


def _parse_example_kernel(
    serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults,
    num_sparse, sparse_types, ragged_value_types, ragged_split_types, dense_shapes,
):  # fmt: skip
    op = "ParseExampleV2"
    if serialized.ndim > 1:
        raise errors.invalid_argument(f"{op}: serialized must be a scalar or a vector, got shape {serialized.shape}.")
    layout = _example_layout(
        op, vector_of_keys(op, "sparse_keys", sparse_keys), vector_of_keys(op, "dense_keys", dense_keys),
        vector_of_keys(op, "ragged_keys", ragged_keys), dense_defaults, sparse_types, ragged_value_types,
        ragged_split_types, dense_shapes,
    )  # fmt: skip
    return _parse(layout, serialized, names, dense_defaults)


def _batch_dims(op, serialized):
    """The dimension of the batch, none for one record; None when the rank is unknown."""
    rank = serialized.shape.rank
    if rank is not None and rank > 1:
        raise errors.invalid_argument(f"{op}: serialized must be a scalar or a vector, got shape {serialized.shape}.")
    return None if rank is None else serialized.shape.as_list()


def dense_shape(batch, shape):
    """The shape of a parsed dense feature, as far as it is known."""
    if batch is None or shape is None:
        return TensorShape(None)
    return TensorShape([*batch, *shape])


def _parse_example_infer(
    serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults,
    num_sparse, sparse_types, ragged_value_types, ragged_split_types, dense_shapes,
):  # fmt: skip
    batch = _batch_dims("ParseExampleV2", serialized)
    sparse, dense = _shapes(batch, len(sparse_types), dense_shapes)
    count = None if batch is None else [0] if not batch else [None if batch[0] is None else batch[0] + 1]
    splits = [TensorShape(None if count is None else count)] * len(ragged_split_types)
    return *sparse, dense, [TensorShape([None])] * len(ragged_value_types), splits


def _shapes(batch, sparse, dense_shapes):
    rank = None if batch is None else len(batch) + 1
    return (
        [TensorShape([None, rank])] * sparse,
        [TensorShape([None])] * sparse,
        [TensorShape([rank])] * sparse,
    ), [dense_shape(batch, shape) for shape in dense_shapes]


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
        layout = _example_layout(
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


PARSE_EXAMPLE = Op(
    "ParseExampleV2",
    "serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, "
    "dense_defaults: list(Tdense), *, num_sparse: int, sparse_types: list(type), ragged_value_types: list(type), "
    "ragged_split_types: list(type), dense_shapes: list(shape) -> sparse_indices: num_sparse*int64, "
    "sparse_values: list(sparse_types), sparse_shapes: num_sparse*int64, dense_values: list(Tdense), "
    "ragged_values: list(ragged_value_types), ragged_row_splits: list(ragged_split_types)",
    Tdense=VALUE_TYPES,
    sparse_types=VALUE_TYPES,
    ragged_value_types=VALUE_TYPES,
    ragged_split_types=SPLIT_TYPES,
    infer=_parse_example_infer,
    kernel=_parse_example_kernel,
    lower=None,  # strings exist on the host only
    grad=None,
    vectorize=Rule(vectorize_parse, vectorize_ragged_parse, makes_ragged=True),
)


def _parse_example_first_kernel(serialized, names, sparse_keys, dense_keys, dense_defaults, sparse_types, dense_shapes):
    op = "ParseExample"
    if serialized.ndim != 1:
        raise errors.invalid_argument(f"{op}: serialized must be a vector, got shape {serialized.shape}.")
    keys = [[scalar_key(op, key) for key in group] for group in (sparse_keys, dense_keys)]
    layout = _example_layout(op, *keys, [], dense_defaults, sparse_types, [], [], dense_shapes)
    return _parse(layout, serialized, names, dense_defaults)[:4]


def scalar_key(op, key):
    """The key of an input that must be a scalar."""
    if key.ndim:
        raise errors.invalid_argument(f"{op}: keys must be scalars, got shape {key.shape}.")
    return key[()]


def _parse_example_first_infer(serialized, names, sparse_keys, dense_keys, dense_defaults, sparse_types, dense_shapes):
    batch = [serialized.shape[0] if serialized.shape.rank else None]
    sparse, dense = _shapes(batch, len(sparse_types), dense_shapes)
    return *sparse, dense


PARSE_EXAMPLE_FIRST = Op(
    "ParseExample",
    "serialized: string, names: string, sparse_keys: Nsparse*string, dense_keys: Ndense*string, "
    "dense_defaults: list(Tdense), *, sparse_types: list(type), dense_shapes: list(shape) -> "
    "sparse_indices: Nsparse*int64, sparse_values: list(sparse_types), sparse_shapes: Nsparse*int64, "
    "dense_values: list(Tdense)",
    Tdense=VALUE_TYPES,
    sparse_types=VALUE_TYPES,
    infer=_parse_example_first_infer,
    kernel=_parse_example_first_kernel,
    lower=None,  # strings exist on the host only
    grad=None,
)


def _parse_single_kernel(serialized, dense_defaults, num_sparse, sparse_keys, dense_keys, sparse_types, dense_shapes):
    op = "ParseSingleExample"
    if serialized.ndim:
        raise errors.invalid_argument(f"{op}: serialized must be a scalar, got shape {serialized.shape}.")
    keys = [[attribute_bytes(key) for key in group] for group in (sparse_keys, dense_keys)]
    layout = _example_layout(op, *keys, [], dense_defaults, sparse_types, [], [], dense_shapes)
    return _parse(layout, serialized, np.empty(0, object), dense_defaults)[:4]


def _parse_single_infer(serialized, dense_defaults, num_sparse, sparse_keys, dense_keys, sparse_types, dense_shapes):
    sparse, dense = _shapes([], len(sparse_types), dense_shapes)
    return *sparse, dense


def _vectorize_parse_single(batch, node, serialized, defaults):
    attrs = node.attrs
    check_dense(serialized, attrs["dense_shapes"], attrs["num_sparse"])
    none, keys = to_tensor([], dtypes.string), to_tensor(list(attrs["dense_keys"]), dtypes.string)
    features = dict(num_sparse=0, sparse_types=[], ragged_value_types=[], ragged_split_types=[])
    return batch.apply(
        node,
        [serialized, none, none, keys, none, [unstacked(value, "defaults") for value in defaults]],
        {**features, "dense_shapes": attrs["dense_shapes"]},
        PARSE_EXAMPLE,
    )


PARSE_SINGLE_EXAMPLE = Op(
    "ParseSingleExample",
    "serialized: string, dense_defaults: list(Tdense), *, num_sparse: int, sparse_keys: list(string), "
    "dense_keys: list(string), sparse_types: list(type), dense_shapes: list(shape) -> "
    "sparse_indices: num_sparse*int64, sparse_values: list(sparse_types), sparse_shapes: num_sparse*int64, "
    "dense_values: list(Tdense)",
    Tdense=VALUE_TYPES,
    sparse_types=VALUE_TYPES,
    infer=_parse_single_infer,
    kernel=_parse_single_kernel,
    lower=None,  # strings exist on the host only
    grad=None,
    vectorize=_vectorize_parse_single,
)


def _parsed(function, serialized, features, example_names, name):
    if not features:
        raise ValueError(f"{function}: features must describe at least one feature, got {features!r}.")
    serialized = to_tensor(serialized, dtypes.string)
    request = Request(function, features, EXAMPLE_FEATURES)
    outputs = PARSE_EXAMPLE(
        serialized,
        to_tensor([] if example_names is None else example_names, dtypes.string),
        keys_tensor(request.sparse),
        keys_tensor(request.dense),
        keys_tensor(request.ragged),
        request.dense_defaults,
        num_sparse=len(request.sparse),
        sparse_types=request.sparse_types,
        ragged_value_types=request.ragged_types,
        ragged_split_types=request.split_types,
        dense_shapes=request.dense_shapes,
        name=name or "ParseExample/ParseExampleV2",
    )
    return assemble(features, request, outputs, batched=serialized.shape.rank != 0)


@api("io.parse_example")
def parse_example(serialized, features, example_names=None, name=None) -> dict[str, Any]:
    """Parses encoded `Example` messages into a dictionary of tensors.

    Args:
        serialized: a vector of strings, each an encoded Example (or one string, as in `parse_single_example`).
        features: a dictionary from keys to `FixedLenFeature` (a dense tensor), `VarLenFeature` (sparse),
            `FixedLenSequenceFeature` (dense, filled up), `RaggedFeature` (ragged) or `SparseFeature` (sparse, from
            several features).
        example_names: names of the examples, for messages.
        name: a name for the operation.

    Returns:
        A dictionary from the same keys to tensors.

    Raises:
        ValueError: a feature is not described well.
        InvalidArgumentError: a string is no Example, or its features are not as described.

    >>> Feature, Int64List = tf.train.Feature, tf.train.Int64List
    >>> def example(*values):
    ...     feature = Feature(int64_list=Int64List(value=values))
    ...     return tf.train.Example(features=tf.train.Features(feature={"a": feature})).SerializeToString()
    >>> tf.io.parse_example([example(1), example(2, 3)], {"a": tf.io.RaggedFeature(tf.int64)})
    {'a': <tf.RaggedTensor [[1], [2, 3]]>}
    """
    return _parsed("io.parse_example", serialized, features, example_names, name)


@api("io.parse_single_example")
def parse_single_example(serialized, features, example_names=None, name=None) -> dict[str, Any]:
    """Parses one encoded `Example`. The same as `parse_example`, without a dimension for the batch.

    Args:
        serialized: one string.
        features: a dictionary from keys to descriptions, see `parse_example`.
        example_names: the name of the example, for messages.
        name: a name for the operation.

    Returns:
        A dictionary from the same keys to tensors.
    """
    return _parsed(
        "io.parse_single_example", one_string("io.parse_single_example", serialized), features, example_names, name
    )


def one_string(function, serialized):
    """A string tensor that must be a scalar; in a graph of unknown rank it is taken for one."""
    serialized = to_tensor(serialized, dtypes.string)
    if serialized.shape.rank is None:
        serialized = _ensured_scalar(serialized)
    if serialized.shape.rank:
        raise ValueError(f"{function}: serialized must be a scalar, got shape {serialized.shape}.")
    return serialized


def _ensured_scalar(tensor):
    """The tensor, checked to be a scalar when the graph runs."""
    return ENSURE_SHAPE(tensor, shape=())

