"""Hash functions of byte strings, bit-equal everywhere: FarmHash's Fingerprint64, MurmurHash64A, SipHash-2-4.

Strings of one length are hashed together: their bytes are a matrix with one row per string, and every step is
one NumPy operation on the column of states.
"""

import numpy as np

_MASK = 2**64 - 1
# From so many strings on they are grouped by sorting.
_MANY = 256
# FarmHash's constants.
_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F


def hash_strings(function, items: list[bytes]) -> np.ndarray:
    """`function` of every string, as uint64.

    Args:
        function: from a matrix of uint8, one row per string, to a vector of uint64.
        items: the strings.
    """
    result = np.empty(len(items), np.uint64)
    if len(items) < _MANY:
        groups: dict[int, list[int]] = {}
        for index, item in enumerate(items):
            groups.setdefault(len(item), []).append(index)
        for length, members in groups.items():
            data = np.frombuffer(b"".join([items[i] for i in members]), np.uint8)
            result[members] = function(data.reshape(len(members), length))
        return result
    lengths = np.fromiter(map(len, items), np.int64, len(items))
    longest = lengths.max(initial=0)
    # NumPy sorts such small numbers quickest.
    order = np.argsort(lengths.astype(np.uint16) if longest < 2**16 else lengths, kind="stable")
    data = np.frombuffer(b"".join(map(items.__getitem__, order.tolist())), np.uint8)
    at = done = 0
    distinct, counts = np.unique(lengths[order], return_counts=True)
    for length, count in zip(distinct.tolist(), counts.tolist()):
        rows = data[at : at + count * length].reshape(count, length)
        result[order[done : done + count]] = function(rows)
        at += count * length
        done += count
    return result


def _word(rows, at, size=8):
    """The little-endian integers at byte `at` of every row."""
    part = np.ascontiguousarray(rows[:, at : at + size])
    return part.view(f"<u{size}")[:, 0].astype(np.uint64)


def _rotate_right(x, bits):
    return (x >> bits) | (x << (64 - bits))


def _shift_mix(x):
    return x ^ (x >> 47)


def _mix_pair(u, v, multiplier):
    a = _shift_mix((u ^ v) * multiplier)
    b = _shift_mix((v ^ a) * multiplier)
    return b * multiplier


def _up_to_16(rows, length):
    multiplier = (_K2 + length * 2) & _MASK
    if length >= 8:
        a = _word(rows, 0) + _K2
        b = _word(rows, length - 8)
        c = _rotate_right(b, 37) * multiplier + a
        d = (_rotate_right(a, 25) + b) * multiplier
        return _mix_pair(c, d, multiplier)
    if length >= 4:
        return _mix_pair((_word(rows, 0, 4) << 3) + length, _word(rows, length - 4, 4), multiplier)
    if length:
        first, middle, last = (rows[:, i].astype(np.uint64) for i in (0, length >> 1, length - 1))
        return _shift_mix((first + (middle << 8)) * _K2 ^ ((last << 2) + length) * _K0) * _K2
    return np.full(len(rows), _K2, np.uint64)


def _up_to_64(rows, length):
    multiplier = (_K2 + length * 2) & _MASK
    a = _word(rows, 0) * (_K1 if length <= 32 else _K2)
    b = _word(rows, 8)
    c = _word(rows, length - 8) * multiplier
    d = _word(rows, length - 16) * _K2
    y = _rotate_right(a + b, 43) + _rotate_right(c, 30) + d
    z = _mix_pair(y, a + _rotate_right(b + _K2, 18) + c, multiplier)
    if length <= 32:
        return z
    e = _word(rows, 16) * multiplier
    f = _word(rows, 24)
    g = (y + _word(rows, length - 32)) * multiplier
    h = (z + _word(rows, length - 24)) * multiplier
    return _mix_pair(
        _rotate_right(e + f, 43) + _rotate_right(g, 30) + h, e + _rotate_right(f + a, 18) + g, multiplier
    )


def _weak_32(rows, at, a, b):
    w, x, y, z = (_word(rows, at + 8 * i) for i in range(4))
    a = a + w
    b = _rotate_right(b + a + z, 21)
    c = a
    a = a + x + y
    b = b + _rotate_right(a, 44)
    return a + z, b + c


def _long(rows, length):
    count = len(rows)
    y = np.full(count, (81 * _K1 + 113) & _MASK, np.uint64)
    z = _shift_mix(y * _K2 + 113) * _K2
    v = w = (np.zeros(count, np.uint64),) * 2
    x = _word(rows, 0) + (81 * _K2 & _MASK)
    end = (length - 1) // 64 * 64
    multiplier, nine, extra = _K1, 1, 0
    for at in [*range(0, end, 64), None]:
        if at is None:  # the last 64 bytes once more, with another multiplier
            at = end + ((length - 1) & 63) - 63
            multiplier, nine, extra = ((z & 0xFF) << 1) + _K1, 9, (length - 1) & 63
            w = (w[0] + extra, w[1])
            v = (v[0] + w[0], v[1])
            w = (w[0] + v[0], w[1])
        x = _rotate_right(x + y + v[0] + _word(rows, at + 8), 37) * multiplier
        y = _rotate_right(y + v[1] + _word(rows, at + 48), 42) * multiplier
        x = x ^ (w[1] * nine)
        y = y + v[0] * nine + _word(rows, at + 40)
        z = _rotate_right(z + w[0], 33) * multiplier
        v = _weak_32(rows, at, v[1] * multiplier, x + w[0])
        w = _weak_32(rows, at + 32, z + w[1], y + _word(rows, at + 16))
        x, z = z, x
    return _mix_pair(
        _mix_pair(v[0], w[0], multiplier) + _shift_mix(y) * _K0 + z,
        _mix_pair(v[1], w[1], multiplier) + x,
        multiplier,
    )


def fingerprint64(rows: np.ndarray) -> np.ndarray:
    """FarmHash's Fingerprint64 of every row."""
    length = rows.shape[1]
    if length <= 16:
        return _up_to_16(rows, length)
    return _up_to_64(rows, length) if length <= 64 else _long(rows, length)


def murmur64(rows: np.ndarray) -> np.ndarray:
    """MurmurHash64A of every row, with the seed that TensorFlow's `Hash64` has."""
    length = rows.shape[1]
    multiplier = 0xC6A4A7935BD1E995
    state = np.full(len(rows), 0xDECAFCAFFE ^ (length * multiplier & _MASK), np.uint64)
    for at in range(0, length - 7, 8):
        word = _word(rows, at) * multiplier
        state = (state ^ (_shift_mix(word) * multiplier)) * multiplier
    rest = length & 7
    if rest:
        for i in range(rest):
            state = state ^ (rows[:, length - rest + i].astype(np.uint64) << (8 * i))
        state = state * multiplier
    return _shift_mix(_shift_mix(state) * multiplier)


def _sip_round(v0, v1, v2, v3):
    v0, v2 = v0 + v1, v2 + v3
    v1, v3 = _rotate_right(v1, 51) ^ v0, _rotate_right(v3, 48) ^ v2
    v0 = _rotate_right(v0, 32)
    v2, v0 = v2 + v1, v0 + v3
    v1, v3 = _rotate_right(v1, 47) ^ v2, _rotate_right(v3, 43) ^ v0
    return v0, v1, _rotate_right(v2, 32), v3


def siphash(rows: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    """SipHash-2-4 of every row under a key of two 64-bit words."""
    count, length = rows.shape
    padded = np.zeros((count, length // 8 * 8 + 8), np.uint8)
    padded[:, :length] = rows
    padded[:, -1] = length & 0xFF
    low, high = (word & _MASK for word in key)
    constants = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    v0, v1, v2, v3 = (
        np.full(count, word ^ constant, np.uint64)
        for word, constant in zip((low, high, low, high), constants)
    )
    for at in range(0, padded.shape[1], 8):
        word = _word(padded, at)
        v3 = v3 ^ word
        v0, v1, v2, v3 = _sip_round(*_sip_round(v0, v1, v2, v3))
        v0 = v0 ^ word
    v2 = v2 ^ 0xFF
    for _ in range(4):
        v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3
