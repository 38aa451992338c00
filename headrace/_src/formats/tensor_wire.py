"""Reading encoded `TensorProto` messages: any bytes give an array or a ValueError."""

import math

import numpy as np

from headrace._src.core import dtypes, limits

# Fields of TensorProto that hold values, by their number: how they are read.
_VARINTS = {7: "int_val", 10: "int64_val", 11: "bool_val", 13: "half_val", 16: "uint32_val", 17: "uint64_val"}
_IMPOSSIBLE = 1 << 44  # bytes, which no machine has
_FLOATS = {5: ("<f4", 4), 9: ("<f4", 4), 6: ("<f8", 8), 12: ("<f8", 8)}


def _varint(data: bytes, at: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("a number in the message is cut off or too long")
        byte = data[at]
        result |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return result & (2**64 - 1), at
        shift += 7


def fields(data: bytes):
    """The fields of an encoded message: (number, wire type, value), values of messages and texts as bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at : at + size], at + size
        elif kind == 2:
            size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"a field has the unknown wire type {kind}")
        if at > len(data) or not number:
            raise ValueError("the message is cut off")
        yield number, kind, value


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def shape_of(data: bytes) -> tuple[int, ...]:
    """The sizes in an encoded `TensorShapeProto`."""
    dims = []
    for number, kind, value in fields(data):
        if number == 3 and value:
            raise ValueError("the shape has an unknown rank")
        if number == 2 and kind == 2:
            size = next((_signed(v) for n, k, v in fields(value) if n == 1 and k == 0), 0)
            if size < 0:
                raise ValueError(f"a dimension is {size}")
            dims.append(size)
    return tuple(dims)


def parse_tensor(data: bytes) -> tuple[np.ndarray, dtypes.DType]:
    """The array and dtype of an encoded `TensorProto`.

    Raises:
        ValueError: when the bytes are no such message, or its parts do not fit together.
        ResourceExhaustedError: the tensor is much larger than the message, and than the limit.
    """
    kind, shape, content, small = 0, (), None, None
    strings: list[bytes] = []
    numbers: list = []
    for number, wire, value in fields(data):
        if number == 1 and wire == 0:
            kind = value
        elif number == 2 and wire == 2:
            shape = shape_of(value)
        elif number == 4 and wire == 2:
            content = value
        elif number == 8 and wire == 2:
            strings.append(bytes(value))
        elif number == 18 and wire == 2:
            small = value
        elif number in _VARINTS:
            numbers.extend(_unpacked(value, wire))
        elif number in _FLOATS:
            numbers.extend(_unpacked_floats(number, value, wire))
    try:
        dtype = dtypes.as_dtype(kind)
    except (TypeError, ValueError):
        raise ValueError(f"unknown dtype {kind}") from None
    size = math.prod(shape)
    if size > len(data):  # one value stands for many
        found = size * (dtype._np.itemsize if dtype._kind not in "srv" else 8)
        if found > _IMPOSSIBLE:
            raise ValueError(f"the shape {shape} is too large for any tensor")
        limits.check("tensor_bytes", found, f"A tensor of {dtype.name} and shape {list(shape)} in {len(data)} bytes")
    if dtype._kind == "s":
        if content is not None:
            strings = _packed_strings(content, size)
        return _filled(strings, size, np.dtype(object), b"").reshape(shape), dtype
    if dtype._kind in "rv":
        raise ValueError(f"a tensor of {dtype.name} cannot be read from a message")
    plain = dtype._np
    if content is not None:
        if len(content) != size * plain.itemsize:
            raise ValueError(f"{len(content)} bytes for {size} elements of {dtype.name}")
        return np.frombuffer(content, plain.newbyteorder("<")).astype(plain).reshape(shape), dtype
    if small is not None and plain.itemsize == 1:
        return _filled(np.frombuffer(small, plain), size, plain, 0).reshape(shape), dtype
    try:
        return _from_numbers(numbers, size, dtype).reshape(shape), dtype
    except OverflowError as error:  # floating numbers where integers belong, say
        raise ValueError(f"a value does not fit {dtype.name}: {error}") from None


def _packed_strings(content, size):
    """Strings stored in one piece: all lengths, then all bytes."""
    lengths, at = [], 0
    for _ in range(size):
        length, at = _varint(content, at)
        lengths.append(length)
    if sum(lengths) != len(content) - at:
        raise ValueError("the lengths of strings do not fit their bytes")
    found = []
    for length in lengths:
        found.append(bytes(content[at : at + length]))
        at += length
    return found


def _unpacked(value, wire):
    if wire == 0:
        return [_signed(value)]
    if wire != 2:
        raise ValueError(f"an integer has the wire type {wire}")
    found, at = [], 0
    while at < len(value):
        number, at = _varint(value, at)
        found.append(_signed(number))
    return found


def _unpacked_floats(number, value, wire):
    form, size = _FLOATS[number]
    if wire not in (2, 5 if size == 4 else 1):
        raise ValueError(f"a floating number has the wire type {wire}")
    if len(value) % size:
        raise ValueError("packed numbers are cut off")
    return np.frombuffer(value, form).tolist()


def _filled(items, size, kind, missing):
    """As many items as needed: the last one stands for all that follow."""
    if len(items) > size:
        raise ValueError(f"{len(items)} values for {size} elements")
    result = np.empty(size, kind)
    result[: len(items)] = items
    result[len(items) :] = items[-1] if len(items) else missing
    return result


def _from_numbers(numbers, size, dtype):
    plain = dtype._np
    if dtype._kind == "c":
        pairs = list(zip(numbers[::2], numbers[1::2]))
        return _filled([complex(*pair) for pair in pairs], size, plain, 0)
    if plain.itemsize == 2 and dtype._kind == "f":
        # Small floats are stored as their bits.
        bits = np.array([int(number) & 0xFFFF for number in numbers], np.uint16)
        return _filled(bits, size, np.dtype(np.uint16), 0).view(plain)
    wide = np.float64 if dtype._kind == "f" else np.int64
    return _filled(np.array(numbers, wide).astype(plain), size, plain, 0)
