"""TFRecord framing: lengths and data, each followed by a masked CRC32C."""

import functools
import struct


@functools.cache
def _table() -> tuple[int, ...]:
    entries = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        entries.append(value)
    return tuple(entries)


def crc32c(data: bytes) -> int:
    """The CRC-32C (Castagnoli) checksum."""
    table, value = _table(), 0xFFFFFFFF
    for byte in data:
        value = table[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def masked_crc32c(data: bytes) -> int:
    """The checksum as records store it: mixed, since checksums of data with checksums in it are weak."""
    value = crc32c(data)
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def framed(data: bytes) -> bytes:
    """One record."""
    length = struct.pack("<Q", len(data))
    return b"".join(
        [length, struct.pack("<I", masked_crc32c(length)), data, struct.pack("<I", masked_crc32c(data))]
    )
