"""Changes of bytes that know nothing of what these mean: bits, lengths, pieces left out, doubled or taken elsewhere."""

import struct

NUMBERS = [0, 1, 2, 127, 128, 255, 256, 0x7FFF, 0xFFFF, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32,
           1 << 40, (1 << 62) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 17, (1 << 64) - 1]  # fmt: skip
FORMS = ["<B", "<H", ">H", "<I", ">I", "<Q", ">Q"]


def varint(number):
    """The bytes of a number, seven bits to each."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def place_in(rng, data):
    """Anywhere in some bytes; their beginning and end, where the numbers are, more often."""
    kind = rng.random()
    if kind < 0.2:
        return rng.randrange(min(len(data), 64) + 1)
    if kind < 0.4:
        return max(0, len(data) - rng.randrange(min(len(data), 64) + 1))
    return rng.randrange(len(data) + 1)


def _flip(rng, data, others):
    if data:
        data[min(place_in(rng, data), len(data) - 1)] ^= 1 << rng.randrange(8)


def _set(rng, data, others):
    if data:
        data[min(place_in(rng, data), len(data) - 1)] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])


def _truncate(rng, data, others):
    del data[place_in(rng, data) :]


def _cut_out(rng, data, others):
    place = place_in(rng, data)
    del data[place : place + rng.choice([1, 1, 2, 4, 8, rng.randrange(1, 64)])]


def _insert(rng, data, others):
    place = place_in(rng, data)
    count = rng.choice([1, 1, 2, 4, 8, rng.randrange(1, 40)])
    data[place:place] = rng.randbytes(count) if rng.random() < 0.7 else bytes([rng.choice([0, 255])]) * count


def _number(rng, data, others):
    place = place_in(rng, data)
    form = rng.choice(FORMS)
    value = (rng.choice(NUMBERS) + rng.choice([0, 0, 1, -1])) % (1 << 8 * struct.calcsize(form))
    packed = struct.pack(form, value)
    data[place : place + len(packed)] = packed


def _varint(rng, data, others):
    """Another number where one of seven bits to a byte seems to stand."""
    place = place_in(rng, data)
    end = place
    while end < len(data) and data[end] >= 0x80 and end - place < 9:
        end += 1
    data[place : end + 1] = varint((rng.choice(NUMBERS) + rng.choice([0, 0, 1, -1])) % (1 << 64))


def _double(rng, data, others):
    start, end = sorted((place_in(rng, data), place_in(rng, data)))
    data[end:end] = data[start : min(end, start + 4096)]


def _copy_within(rng, data, others):
    start, target, count = place_in(rng, data), place_in(rng, data), rng.choice([1, 4, 8, rng.randrange(1, 200)])
    data[target : target + count] = data[start : start + count]


def _copy_from(rng, data, others):
    other = rng.choice(others) if others else bytes(data)
    start, place = place_in(rng, other), place_in(rng, data)
    count = rng.choice([4, 16, rng.randrange(1, 400)])
    data[place : place + rng.choice([0, count])] = other[start : start + count]


def _splice(rng, data, others):
    other = rng.choice(others) if others else bytes(data)
    data[place_in(rng, data) :] = other[place_in(rng, other) :]


_KINDS = [
    _flip,
    _flip,
    _set,
    _truncate,
    _cut_out,
    _insert,
    _number,
    _varint,
    _double,
    _copy_within,
    _copy_from,
    _splice,
]


def any_bytes(rng, data, others=()):
    """The data after one to four such changes."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        rng.choice(_KINDS)(rng, data, others)
    return bytes(data[: 1 << 22])


def same_length(rng, data):
    """The data with some of its bytes changed, and none added or taken away."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        rng.choice([_flip, _set])(rng, data, ())
    return bytes(data)
