"""CRC-32C (Castagnoli), as records, event files and checkpoints store it."""

import functools
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from headrace._src.core import lazy

_POLYNOMIAL = 0x82F63B78  # the lowest bit stands for the highest power
_MASK = 0xA282EAD8
_PIECE = 1 << 20  # more is not taken at a time without native code, so that little memory is used
_SHORT = 512  # below this many bytes a plain loop is quicker than arrays


@functools.cache
def _table() -> tuple[int, ...]:
    entries = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        entries.append(value)
    return tuple(entries)


def _times(columns: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A 32 by 32 matrix of bits, given by its columns, times many vectors of 32 bits."""
    result = np.zeros_like(values)
    for bit in range(32):
        result ^= columns[bit] * (values >> np.uint32(bit) & np.uint32(1))
    return result


def _crc32c_by_arrays(data: bytes, before: int = 0) -> int:
    """The checksum with NumPy: the data in equal lanes side by side, which are then joined two by two."""
    lanes = 1 << max(1, len(data).bit_length() // 2 + 1)
    steps = -(-len(data) // lanes)
    # Zeros in front change nothing as long as the remainder starts at zero; starting at all ones, or at that of the
    # bytes before, is the same as flipping bits of the first four bytes.
    padded = np.zeros(lanes * steps, np.uint8)
    padded[-len(data) :] = np.frombuffer(data, np.uint8)
    padded[len(padded) - len(data) :][:4] ^= np.frombuffer((before ^ 0xFFFFFFFF).to_bytes(4, "little"), np.uint8)
    table = np.array(_table(), np.uint32)
    states = np.zeros(lanes, np.uint32)
    for column in padded.reshape(lanes, steps).T:
        states = table[(states ^ column) & np.uint32(0xFF)] ^ states >> np.uint32(8)
    unit = np.uint32(1) << np.arange(32, dtype=np.uint32)
    one_byte = table[unit & np.uint32(0xFF)] ^ unit >> np.uint32(8)
    passing, power = unit, one_byte
    while steps:  # the matrix that moves a remainder over one lane, by repeated squaring
        if steps & 1:
            passing = _times(power, passing)
        power, steps = _times(power, power), steps >> 1
    while len(states) > 1:
        states = _times(passing, states[0::2]) ^ states[1::2]
        passing = _times(passing, passing)
    return int(states[0]) ^ 0xFFFFFFFF


def _crc32c_in_python(data: bytes, before: int = 0) -> int:
    """The checksum without native code, of bytes that come after others with the checksum `before`."""
    if len(data) >= _SHORT:
        return _crc32c_by_arrays(data, before)
    table, value = _table(), before ^ 0xFFFFFFFF
    for byte in data:
        value = table[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


@functools.cache
def checksum_function() -> Callable[[bytes], int]:
    """The quickest function here from `bytes` (no other buffer) to their CRC-32C."""
    with warnings.catch_warnings():
        # Without its native part the package warns and is slower than the arrays above.
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            if lazy.google_crc32c.implementation == "c":
                return lazy.google_crc32c.value
        except ImportError:
            pass
    return _crc32c_in_python


def _extend_in_python(value: int, data) -> int:
    view = memoryview(data)
    for start in range(0, len(view), _PIECE):
        value = _crc32c_in_python(bytes(view[start : start + _PIECE]), value)
    return value


@functools.cache
def _extending_function() -> Callable:
    return _extend_in_python if checksum_function() is _crc32c_in_python else lazy.google_crc32c.extend


def extend_checksum(value: int, data: bytes | np.ndarray) -> int:
    """The checksum of bytes that come after others, which have the checksum `value`.

    Args:
        value: zero if nothing comes before.
        data: bytes, or an array of uint8, of which no copy is made.
    """
    return _extending_function()(value, data)


def masked(value: int) -> int:
    """A checksum as files store it: mixed, since checksums of data with checksums in it are weak."""
    return ((value >> 15 | value << 17) + _MASK) & 0xFFFFFFFF


def masked_crc32c(data: bytes) -> int:
    """The checksum of bytes as files store it."""
    return masked(checksum_function()(data))


def masked_checksums(pieces: Sequence[bytes]) -> np.ndarray:
    """`masked_crc32c` of each piece, as an array of uint32."""
    values = np.fromiter(map(checksum_function(), pieces), np.uint32, len(pieces))
    return (values >> np.uint32(15) | values << np.uint32(17)) + np.uint32(_MASK)
