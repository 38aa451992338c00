"""Elements as the records of saved datasets and snapshots: one `TensorProto` for each component."""

from __future__ import annotations

import functools

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.specs import TensorSpec
from headrace._src.formats import wire
from headrace._src.formats.tensor_wire import fields, parse_tensor
from headrace._src.ops.ragged.variant import RaggedVariant
from headrace._src.ops.sparse.serialization import TensorVariant

_CONTENT = wire.varint(4 << 3 | 2)
_TENSOR_NAME, _RAGGED_NAME = "tensorflow::Tensor", "RaggedTensorVariant"
_DEEPEST = 16


# Writing.


@functools.lru_cache(4096)
def _head(shape, dtype) -> bytes:
    dims = b"".join(wire.message(2, wire.integer(1, size)) for size in shape)
    return wire.integer(1, dtype.as_datatype_enum) + wire.message(2, dims) + _CONTENT


def record_of(array: np.ndarray, dtype: dtypes.DType) -> bytes:
    """The record of one component."""
    if dtype._kind not in "srv":
        size = array.size * array.itemsize
        return b"".join([_head(array.shape, dtype), wire.varint(size), _little(array).tobytes()])
    if dtype._kind == "s":
        items = array.ravel().tolist()
    else:
        items = [_variant_message(item) for item in array.ravel().tolist()]
    content = b"".join([*[wire.varint(len(item)) for item in items], *items])
    return b"".join([_head(array.shape, dtype), wire.varint(len(content)), content])


def _little(array):
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _variant_message(item) -> bytes:
    if isinstance(item, TensorVariant):
        name, parts = _TENSOR_NAME, [item.array]
    elif isinstance(item, RaggedVariant):
        name, parts = _RAGGED_NAME, [*item.splits, item.values]
    else:
        raise errors.invalid_argument(
            f"Elements that hold {type(item).__name__} cannot be saved: only tensors, ragged and sparse tensors."
        )
    return wire.text(1, name) + b"".join(wire.message(3, record_of(part, _dtype_of(part))) for part in parts)


def _dtype_of(array) -> dtypes.DType:
    return dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)


def records_of(block: tuple, types) -> list[bytes]:
    """The records of the elements of a block, those of the first element first."""
    count = block[0].shape[0]
    columns = [_column(part, dtype, count) for part, dtype in zip(block, types)]
    if len(columns) == 1:
        return columns[0]
    return [record for records in zip(*columns) for record in records]


def _column(part, dtype, count):
    if dtype._kind in "srv":
        return [record_of(part[i, ...], dtype) for i in range(count)]
    raw, size = _little(np.ascontiguousarray(part)).tobytes(), part.nbytes // count
    head = _head(part.shape[1:], dtype) + wire.varint(size)
    return [head + raw[at : at + size] for at in range(0, count * size, size)] if size else [head] * count


# Reading.


class Malformed(ValueError):
    """A record that does not hold a component of the wanted kind."""


class RecordColumn:
    """Reads one component of elements.

    Args:
        spec: of the component.
    """

    def __init__(self, spec: TensorSpec):
        self._spec = spec
        self._dtype = spec.dtype
        self._known: dict[bytes, tuple] = {}  # what comes before the contents, and their shape

    def read(self, record: bytes) -> np.ndarray:
        """The array of one record.

        Raises:
            Malformed: it is none, or does not fit the spec.
        """
        try:
            array, dtype = _parsed(record)
        except (ValueError, IndexError, OverflowError, UnicodeDecodeError) as error:
            raise Malformed(f"no tensor ({error})") from error
        if dtype != self._dtype:
            raise Malformed(f"a tensor of {dtype.name}, expected {self._dtype.name}")
        self._check(array.shape)
        return array

    def _check(self, shape):
        if not self._spec.shape.is_compatible_with(shape):
            raise Malformed(f"a tensor of shape {list(shape)}, expected {self._spec.shape}")

    def read_many(self, records: list[bytes]) -> np.ndarray | None:
        """The stacked arrays of records, when they are numbers and alike; None when they must be read one by one.

        Raises:
            Malformed: the first is not a tensor, or does not fit the spec.
        """
        if self._dtype._kind in "srv":
            return None
        first, size = records[0], len(records[0])
        array = self.read(first)
        start = size - array.nbytes
        # Only when the contents are the last field, and so nothing but them differs between records.
        head = _head(array.shape, self._dtype) + wire.varint(array.nbytes)
        if start != len(head) or not first.startswith(head) or any(len(record) != size for record in records):
            return None
        rows = np.frombuffer(b"".join(records), np.uint8).reshape(len(records), size)
        if not (rows[:, :start] == rows[0, :start]).all():
            return None
        plain = self._dtype._np
        contents = np.ascontiguousarray(rows[:, start:])
        if not array.nbytes:
            return np.empty((len(records), *array.shape), plain)
        return contents.view(plain.newbyteorder("<")).astype(plain, copy=False).reshape(len(records), *array.shape)


def _parsed(record, depth=0):
    kind = next((value for number, wire_type, value in fields(record) if number == 1 and wire_type == 0), 0)
    if kind != dtypes.variant.as_datatype_enum:
        return parse_tensor(record)
    if depth > _DEEPEST:
        raise Malformed("variants are nested too deeply")
    shape, content = (), b""
    for number, wire_type, value in fields(record):
        if number == 2 and wire_type == 2:
            shape = _shape(bytes(value))
        elif number == 4 and wire_type == 2:
            content = bytes(value)
    count = 1
    for size in shape:
        count *= size
    if count > len(content):
        raise Malformed(f"{len(content)} bytes for {count} variants")
    items = np.empty(count, object)
    for i, data in enumerate(_split(content, count)):
        items[i] = _variant(data, depth + 1)
    return items.reshape(shape), dtypes.variant


def _shape(data):
    dims = []
    for number, wire_type, value in fields(data):
        if number == 2 and wire_type == 2:
            size = next((v for n, k, v in fields(bytes(value)) if n == 1 and k == 0), 0)
            if size >> 31:
                raise Malformed(f"a dimension is {size}")
            dims.append(size)
    return tuple(dims)


def _split(content, count):
    lengths, at = [], 0
    for _ in range(count):
        length = shift = 0
        while True:
            byte = content[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        lengths.append(length)
    if sum(lengths) != len(content) - at:
        raise Malformed("the lengths of variants do not fit their bytes")
    for length in lengths:
        yield content[at : at + length]
        at += length


def _variant(data, depth):
    name, parts = "", []
    for number, wire_type, value in fields(data):
        if number == 1 and wire_type == 2:
            name = bytes(value).decode()
        elif number == 3 and wire_type == 2:
            parts.append(_parsed(bytes(value), depth)[0])
    if name == _TENSOR_NAME and len(parts) == 1:
        return TensorVariant(parts[0])
    if name == _RAGGED_NAME and parts:
        return RaggedVariant(parts[:-1], parts[-1])
    raise Malformed(f"a variant of the type {name!r} with {len(parts)} tensors")
