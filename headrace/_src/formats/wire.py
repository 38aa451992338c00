"""Protobuf's wire format by hand, for messages that are written where protobuf should not be imported."""

import struct

import numpy as np

from headrace._src.core import dtypes

_SHORT = [bytes([number]) for number in range(0x80)]


def varint(number: int) -> bytes:
    """An integer, seven bits to a byte; negative ones as 64-bit two's complement."""
    if 0 <= number < 0x80:
        return _SHORT[number]
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def integer(field: int, number: int) -> bytes:
    """A field of an integer or enum type."""
    return varint(field << 3) + varint(number)


def integers(field: int, numbers) -> bytes:
    """A packed repeated field of an integer type; nothing when there are none."""
    numbers = list(numbers)
    return message(field, b"".join(varint(number) for number in numbers)) if numbers else b""


def single(field: int, number: float) -> bytes:
    return varint(field << 3 | 5) + struct.pack("<f", number)


def double(field: int, number: float) -> bytes:
    return varint(field << 3 | 1) + struct.pack("<d", number)


def message(field: int, data: bytes) -> bytes:
    """A field whose value is an encoded message, bytes or text."""
    return varint(field << 3 | 2) + varint(len(data)) + data


def text(field: int, value: str) -> bytes:
    return message(field, value.encode("utf-8", "surrogateescape"))


def tensor_proto(array: np.ndarray, dtype: dtypes.DType) -> bytes:
    """An encoded `TensorProto`."""
    dims = b"".join(message(2, integer(1, size) if size else b"") for size in array.shape)
    head = integer(1, dtype.as_datatype_enum) + message(2, dims)
    if dtype._kind == "s":
        return head + b"".join(message(8, item) for item in array.ravel().tolist())
    if not array.size:
        return head
    little = np.ascontiguousarray(array)
    return head + message(4, little.astype(little.dtype.newbyteorder("<"), copy=False).tobytes())
