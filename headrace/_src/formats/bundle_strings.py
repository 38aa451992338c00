"""Strings and variants in the data of a checkpoint: their lengths, their bytes, and checksums between these."""

import numpy as np

from headrace._src.formats.checksums import extend_checksum, masked
from headrace._src.formats.wire import varint

_LARGEST_SHORT = 2**32 - 1
_PIECE = 1 << 20


def write_strings(elements: list[bytes], write) -> int:
    """Writes the elements of a tensor of strings: all lengths, their checksum, all bytes. Returns the checksum."""
    lengths = [len(element) for element in elements]
    short = max(lengths, default=0) < 0x80
    write(bytes(lengths) if short else b"".join(map(varint, lengths)))
    value = extend_checksum(0, _fixed_lengths(lengths, "<"))
    middle = masked(value).to_bytes(4, "little")
    write(middle)
    value = extend_checksum(value, middle)
    start = total = 0
    for end, length in enumerate(lengths, 1):  # in pieces, so that little memory is taken
        total += length
        if total >= _PIECE or end == len(lengths):
            piece = b"".join(elements[start:end])
            write(piece)
            value = extend_checksum(value, piece)
            start, total = end, 0
    return value


def read_strings(data: bytes, count: int, order: str = "<") -> tuple[list[bytes], int]:
    """The elements of a tensor of strings, and the checksum that its entry should have.

    Raises:
        ValueError: the bytes are not such a tensor.
    """
    lengths, at = _lengths(data, count)
    value = extend_checksum(0, _fixed_lengths(lengths, order))
    middle = data[at : at + 4]
    if int.from_bytes(middle, "little" if order == "<" else "big") != masked(value):
        raise ValueError("checksum mismatch: the lengths of its strings are not those that were written")
    at += 4
    if sum(lengths) != len(data) - at:
        raise ValueError(f"its strings have {sum(lengths)} bytes, but {len(data) - at} are there")
    elements = []
    for length in lengths:
        elements.append(data[at : at + length])
        at += length
    return elements, extend_checksum(0, b"".join((_fixed_lengths(lengths, order), middle, *elements)))


def _fixed_lengths(lengths, order) -> bytes:
    """What the checksum covers in the place of the stored lengths: four bytes each, eight where these do not do."""
    if max(lengths, default=0) <= _LARGEST_SHORT:
        return np.array(lengths, f"{order}u4").tobytes()
    side = "little" if order == "<" else "big"
    return b"".join(length.to_bytes(4 if length <= _LARGEST_SHORT else 8, side) for length in lengths)


def _lengths(data, count):
    """The first `count` numbers of seven bits to a byte, and where they end."""
    if len(data) < count + 4:
        raise ValueError(f"{count} strings cannot be in {len(data)} bytes")
    if not count:
        return [], 0
    stored = np.frombuffer(data, np.uint8, min(len(data), 10 * count))
    ends = np.flatnonzero(stored < 0x80)[:count]
    starts = np.concatenate([[0], ends[:-1] + 1])
    if len(ends) < count or (ends - starts).max() > 8:
        raise ValueError("the lengths of its strings are cut off or too large")
    stored = stored[: ends[-1] + 1]
    shifts = np.arange(len(stored)) - np.repeat(starts, ends - starts + 1)
    values = (stored & 0x7F).astype(np.int64) << 7 * shifts
    return np.add.reduceat(values, starts).tolist(), int(ends[-1]) + 1


def write_variants(elements: list[bytes], write) -> int:
    """Writes encoded `VariantTensorDataProto` messages, each with its length and a checksum. Returns the checksum."""
    value = 0
    for element in elements:
        write(varint(len(element)))
        write(element)
        value = extend_checksum(extend_checksum(value, len(element).to_bytes(8, "little")), element)
        middle = masked(value).to_bytes(4, "little")
        write(middle)
        value = extend_checksum(value, middle)
    return value


def read_variants(data: bytes, count: int, order: str = "<") -> tuple[list[bytes], int]:
    """The elements of a tensor of variants as encoded messages, and the checksum that its entry should have.

    Raises:
        ValueError: the bytes are not such a tensor.
    """
    if len(data) < 5 * count:
        raise ValueError(f"{count} variants cannot be in {len(data)} bytes")
    side = "little" if order == "<" else "big"
    elements, at, value = [], 0, 0
    for _ in range(count):
        (length,), used = _lengths(data[at : at + 14].ljust(14, b"\0"), 1)
        at += used
        element, middle = data[at : at + length], data[at + length : at + length + 4]
        value = extend_checksum(extend_checksum(value, length.to_bytes(8, side)), element)
        if len(middle) < 4 or int.from_bytes(middle, side) != masked(value):
            raise ValueError(f"checksum mismatch in its element {len(elements)}")
        value = extend_checksum(value, middle)
        elements.append(element)
        at += length + 4
    if at != len(data):
        raise ValueError(f"its elements have {at} bytes, but {len(data)} are there")
    return elements, value
