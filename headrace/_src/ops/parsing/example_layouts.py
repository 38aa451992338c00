"""`Layout`: the features that an op asks of Examples, the arrays that they give, and the errors of both."""

import functools
import math
import reprlib

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.formats.example_fields import BYTES, FLOAT, INT64, KIND_NAMES, MalformedExample
from headrace._src.formats.example_wire import ExampleParser, WrongKind

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


def example_layout(op, sparse_keys, dense_keys, ragged_keys, defaults, sparse_types, ragged_types, splits, shapes):
    """The layout of an op, from its inputs and attributes; dense features have the dtypes of their defaults."""
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
