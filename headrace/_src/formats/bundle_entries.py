"""What the index of a checkpoint says about a tensor: `BundleEntryProto`, written and read without protobuf."""

import math
import struct
from typing import NamedTuple

from headrace._src.core import dtypes
from headrace._src.formats.tensor_slices import TensorSlice
from headrace._src.formats.tensor_wire import fields
from headrace._src.formats.wire import integer, message, varint

_FIXED = struct.Struct("<I")
_LARGEST = 2**63
_MOST_DIMENSIONS = 64  # of NumPy's arrays


class Entry(NamedTuple):
    """A tensor of a checkpoint: its dtype and shape, and where its bytes are."""

    dtype: dtypes.DType
    shape: tuple[int, ...]
    shard: int = 0
    offset: int = 0
    size: int = 0
    checksum: int = 0
    slices: tuple[TensorSlice, ...] = ()


# What entries of a dtype and shape begin with, and the other way round. A model has few shapes, of many tensors each.
_beginnings: dict[tuple[dtypes.DType, tuple[int, ...]], bytes] = {}
_known: dict[bytes, tuple[dtypes.DType, tuple[int, ...]]] = {}
_MOST_KNOWN = 1 << 12


def encode_entry(entry: Entry) -> bytes:
    """An encoded `BundleEntryProto`."""
    beginning = _beginnings.get((entry.dtype, entry.shape))
    if beginning is None:
        beginning = _beginning(entry.dtype, entry.shape)
    parts = [beginning]
    if entry.shard:
        parts += b"\x18", varint(entry.shard)
    if entry.offset:
        parts += b"\x20", varint(entry.offset)
    if entry.size:
        parts += b"\x28", varint(entry.size)
    if entry.checksum:
        parts += b"\x35", _FIXED.pack(entry.checksum)
    parts += [message(7, part.encoded()) for part in entry.slices]
    return b"".join(parts)


def _beginning(dtype, shape):
    dims = b"".join(message(2, integer(1, size) if size else b"") for size in shape)
    beginning = b"".join((b"\x08", varint(dtype.as_datatype_enum), b"\x12", varint(len(dims)), dims))
    if len(_beginnings) >= _MOST_KNOWN:
        _beginnings.clear()
    _beginnings[dtype, shape] = beginning
    return beginning


def decode_entry(data: bytes) -> Entry:
    """The entry of an encoded `BundleEntryProto`.

    Raises:
        ValueError: it is not one, or says what cannot be.
    """
    # As usual writers write it: dtype and shape, which most entries share with others, then where the bytes are.
    if len(data) > 3 and data[2] == 0x12 and data[3] < 0x80:
        end = 4 + data[3]
        known = _known.get(data[:end])
        if known is not None:
            entry = _usual_entry(data, end, *known)
            if entry is not None:
                return entry
        entry = _any_entry(data)
        if data[0] == 0x08 and data[1] < 0x80 and _usual_entry(data, end, entry.dtype, entry.shape) == entry:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[data[:end]] = entry.dtype, entry.shape
        return entry
    return _any_entry(data)


def _usual_entry(data, at, dtype, shape):
    """The entry, after its dtype and shape, if it has each field at most once and no others; None otherwise."""
    end = len(data)
    shard = offset = size = checksum = last = 0
    while at < end:
        tag = data[at]
        if tag <= last:
            return None
        last = tag
        if tag == 0x35:
            checksum = int.from_bytes(data[at + 1 : at + 5], "little")
            at += 5
            continue
        value = shift = 0
        while True:
            at += 1
            if at >= end or shift > 56:  # nine bytes: below 2**63
                return None
            byte = data[at]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        at += 1
        if tag == 0x20:
            offset = value
        elif tag == 0x28:
            size = value
        elif tag == 0x18:
            shard = value
        else:
            return None
    return Entry(dtype, shape, shard, offset, size, checksum) if at == end else None


def _any_entry(data):
    number, shape, shard, offset, size, checksum = 0, (), 0, 0, 0, 0
    slices: list[TensorSlice] = []
    for field, kind, value in fields(data):
        if kind != _WIRE_TYPES.get(field, kind):
            raise ValueError(f"field {field} has the wire type {kind}")
        if field == 1:
            number = value
        elif field == 2:
            shape = _shape(value)
        elif field == 3:
            shard = value
        elif field == 4:
            offset = value
        elif field == 5:
            size = value
        elif field == 6:
            checksum = _FIXED.unpack(value)[0]
        elif field == 7:
            slices.append(_slice(value))
    if max(shard, offset, size) >= _LARGEST:
        raise ValueError("a shard, offset or size is negative")
    dtype = _dtype(number)
    # Also for a tensor without elements: no array has such a shape.
    if math.prod(filter(None, shape)) * dtype._np.itemsize >= _LARGEST:
        raise ValueError(f"the shape {list(shape[:16])} of {dtype.name} is too large")
    return Entry(dtype, shape, shard, offset, size, checksum, tuple(slices))


_WIRE_TYPES = {1: 0, 2: 2, 3: 0, 4: 0, 5: 0, 6: 5, 7: 2}


def _dtype(number):
    try:
        dtype = dtypes.as_dtype(number)
    except (TypeError, ValueError):
        raise ValueError(f"unknown dtype {number}") from None
    if dtype._kind == "r" or number > 100:
        raise ValueError(f"no tensor of dtype {dtype.name} can be in a checkpoint")
    return dtype


def _shape(data):
    dims = []
    for field, kind, value in fields(data):
        if field == 2 and kind == 2:
            sizes = [size for inner, inner_kind, size in fields(value) if inner == 1 and inner_kind == 0]
            dims.append(sizes[-1] if sizes else 0)
        elif field == 3 and value:
            raise ValueError("the shape has an unknown rank")
    if len(dims) > _MOST_DIMENSIONS:
        raise ValueError(f"the shape {dims[:16]} has {len(dims)} dimensions, arrays at most {_MOST_DIMENSIONS}")
    return tuple(dims)


def _slice(data):
    starts, lengths = [], []
    for field, kind, value in fields(data):
        if field != 1 or kind != 2:
            continue
        start, length = 0, -1
        for inner, inner_kind, number in fields(value):
            if inner == 1 and inner_kind == 0:
                start = number
            elif inner == 2 and inner_kind == 0:
                length = number
        starts.append(start)
        lengths.append(length)
    if max([0, *starts, *lengths]) >= _LARGEST:
        raise ValueError("a slice begins before the tensor, or has a negative length")
    return TensorSlice(tuple(starts), tuple(lengths))


def encode_header(shards: int) -> bytes:
    """An encoded `BundleHeaderProto` of this version, for numbers with their lowest byte first."""
    return integer(1, shards) + message(3, integer(1, 1))


def decode_header(data: bytes) -> tuple[int, str]:
    """The number of shards of a `BundleHeaderProto`, and the order of bytes, "<" or ">".

    Raises:
        ValueError: it is not one, or of a version that cannot be read.
    """
    shards, order, oldest_reader = 0, "<", 0
    for field, kind, value in fields(data):
        if field == 1 and kind == 0:
            shards = value
        elif field == 2 and kind == 0:
            order = ">" if value == 1 else "<"
        elif field == 3 and kind == 2:
            versions = {inner: number for inner, inner_kind, number in fields(value) if inner_kind == 0}
            oldest_reader = versions.get(2, 0)
    if oldest_reader > 1:
        raise ValueError(f"it needs a reader of version {oldest_reader}, and this is one of version 1")
    if not 0 < shards < 100_000:
        raise ValueError(f"it is said to have {shards} files of data")
    return shards, order
