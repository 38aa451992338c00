"""Random Examples and SequenceExamples: as messages, as odd but valid encodings of them, and broken."""

import struct

import numpy as np

from headrace._src.formats.example_fields import BYTES, FLOAT, INT64
from headrace._src.formats.example_headers import encoded
from headrace._src.formats.example_messages import Example, SequenceExample

KINDS = {b"label": INT64, b"ids": INT64, b"weights": FLOAT, b"image": BYTES, b"words": BYTES, b"long" * 40: INT64}


def fill(feature, kind, rng, count=None):
    """Give a Feature random values."""
    count = int(rng.choice([0, 1, 1, 1, 2, 3, 8, 40])) if count is None else count
    if kind == INT64:
        bits = rng.integers(0, 64, count)
        values = [int(rng.integers(-(2**62), 2**62)) >> int(shift) for shift in bits]
        feature.int64_list.value.extend(values)
        feature.int64_list.SetInParent()
    elif kind == FLOAT:
        feature.float_list.value.extend(rng.standard_normal(count).astype(np.float32).tolist())
        feature.float_list.SetInParent()
    else:
        lengths = rng.choice([0, 1, 5, 20, 200, 3000], count, p=[0.1, 0.2, 0.3, 0.3, 0.09, 0.01])
        feature.bytes_list.value.extend([rng.bytes(int(n)) for n in lengths])
        feature.bytes_list.SetInParent()


def random_example(rng, alike=False):
    """An Example; `alike`: with all features, each with one value."""
    example = Example()
    for key, kind in KINDS.items():
        if alike or rng.random() < 0.8:
            feature = example.features.feature[key.decode()]
            if alike or rng.random() < 0.95:
                fill(feature, kind, rng, 1 if alike else None)
    if rng.random() < 0.3 and not alike:
        fill(example.features.feature[f"other{rng.integers(5)}"], int(rng.integers(1, 4)), rng)
    return example


def random_sequence(rng):
    """A SequenceExample."""
    example = SequenceExample()
    for key, kind in KINDS.items():
        if rng.random() < 0.6:
            fill(example.context.feature[key.decode()], kind, rng)
        if rng.random() < 0.6:
            items = example.feature_lists.feature_list[key.decode()]
            for _ in range(int(rng.integers(0, 6))):
                fill(items.feature.add(), kind, rng, int(rng.integers(0, 4)))
    return example


def field(number, data):
    return encoded(number << 3 | 2) + encoded(len(data)) + data


def wasteful(number):
    """A varint with a byte more than needed."""
    plain = bytearray(encoded(number))
    plain[-1] |= 128
    return bytes(plain) + b"\0"


def unknown_field(rng):
    return [field(9, b"zz"), b"\x58\x07", b"\x61" + bytes(8), b"\x6d" + bytes(4)][rng.integers(4)]


def odd_encoding(example, rng):
    """The same Example, encoded in a way that no usual writer would choose, but protobuf and TensorFlow allow."""
    entries = []
    for key, feature in example.features.feature.items():
        kind = feature.WhichOneof("kind")
        content = b""
        if kind == "int64_list":
            numbers = [encoded(v & (2**64 - 1)) for v in feature.int64_list.value]
            cut = int(rng.integers(0, len(numbers) + 1)) if rng.random() < 0.5 else 0
            content = field(1, b"".join(numbers[:cut])) if cut else b""
            content = field(3, content + b"".join(b"\x08" + n for n in numbers[cut:]))
        elif kind == "float_list":
            numbers = [struct.pack("<f", v) for v in feature.float_list.value]
            cut = int(rng.integers(0, len(numbers) + 1))
            content = field(1, b"".join(numbers[:cut])) + b"".join(b"\x0d" + n for n in numbers[cut:])
            content = field(2, content)
        elif kind == "bytes_list":
            parts = [b"\x0a" + wasteful(len(v)) + v for v in feature.bytes_list.value]
            content = field(1, b"".join(parts))
        if rng.random() < 0.3 and content:
            content += unknown_field(rng)
        parts = [field(1, key.encode()), field(2, content)]
        if rng.random() < 0.3:
            parts.reverse()
        if rng.random() < 0.2:  # an earlier entry, which does not count
            entries.append(field(1, field(1, key.encode()) + field(2, field(3, field(1, b"\x63")))))
        entries.append(field(1, b"".join(parts)))
    cut = int(rng.integers(0, len(entries) + 1))
    whole = field(1, b"".join(entries[:cut])) + field(1, b"".join(entries[cut:]))
    return whole + unknown_field(rng) if rng.random() < 0.5 else whole


def mutated(data, rng):
    """The bytes with a few changes: flipped, cut, repeated, or with huge lengths in them."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        if not data:
            break
        at = int(rng.integers(0, len(data)))
        choice = rng.integers(0, 6)
        if choice == 0:
            data[at] ^= 1 << int(rng.integers(0, 8))
        elif choice == 1:
            data[at] = int(rng.integers(0, 256))
        elif choice == 2:
            del data[at:]
        elif choice == 3:
            data[at:at] = data[at : at + int(rng.integers(1, 20))]
        elif choice == 4:
            data[at:at] = b"\xff" * 8 + b"\x0f"  # a length of about 2^60
        else:
            del data[at : at + int(rng.integers(1, 5))]
    return bytes(data)
