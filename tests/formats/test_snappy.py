"""Snappy blocks and files."""

import random

import numpy as np
import pytest

from headrace._src.core import errors
from headrace._src.formats import snappy

SAMPLES = [
    b"", b"a", b"abc" * 1000, bytes(100_000), np.random.default_rng(0).bytes(70_000), np.arange(30_000).tobytes(),
    b"hello world " * 9 + b"x", b"x" * 65_536 + b"y" * 65_536,
]  # fmt: skip


@pytest.mark.parametrize("data", SAMPLES, ids=range(len(SAMPLES)))
def test_there_and_back(data):
    assert snappy.decompress(snappy.compress(data)) == data


def test_repetitive_data_becomes_small():
    assert len(snappy.compress(bytes(100_000))) < 5_000
    assert len(snappy.compress(b"some words, and again: " * 1000)) < 2_000


def test_random_data():
    rng = random.Random(1)
    for _ in range(300):
        data = bytes(rng.choice(b"abcd") for _ in range(rng.randrange(400)))
        assert snappy.decompress(snappy.compress(data)) == data


# By the format description: a length, then literals (tag 0) and copies with offsets of 11, 16 and 32 bits.
@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"\x00", b""),
        (b"\x01\x00a", b"a"),
        (b"\x06\x04ab\x01\x02", b"ababab"),
        (b"\x05\x00a\x01\x01", b"aaaaa"),
        (b"\x04\x04ab\x06\x02\x00", b"abab"),
        (b"\x04\x04ab\x07\x02\x00\x00\x00", b"abab"),
        (b"\x03\xf0\x02abc", b"abc"),
        (b"\x03\xf4\x02\x00abc", b"abc"),
    ],
)
def test_blocks(block, expected):
    assert snappy.decompress(block) == expected


@pytest.mark.parametrize(
    "block",
    [b"", b"\xff", b"\xff\xff\xff\xff\xff\x01a", b"\x05\x00a", b"\x01\x04ab", b"\x05\x00a\x01\x02",
     b"\x05\x00a\x01\x00", b"\x05\x10abc", b"\xf0\xff\xff\xff\x0f\x00a", b"\x05\x00a\x01", b"\x02\x00a\x03\x01"],
)  # fmt: skip
def test_malformed_blocks(block):
    with pytest.raises(snappy.Malformed):
        snappy.decompress(block)


@pytest.mark.slow
def test_mutated_blocks():
    rng = random.Random(2)
    blocks = [snappy.compress(data[:2000]) for data in SAMPLES]
    for _ in range(5000):
        block = bytearray(rng.choice(blocks))
        for _ in range(rng.randrange(1, 4)):
            if block:
                block[rng.randrange(len(block))] = rng.randrange(256)
        try:
            result = snappy.decompress(bytes(block))
        except snappy.Malformed:
            continue
        assert len(result) <= len(block) * 22


def test_files(tmp_path):
    path = tmp_path / "file"
    data = np.random.default_rng(0).bytes(300_000) + bytes(300_000)
    output = snappy.SnappyOutput(path)
    output.write(data)
    output.write(b"the end")
    output.close()
    data += b"the end"
    source = snappy.SnappyInput(path)
    assert source.read_exactly(10) == data[:10]
    assert source.position == 10
    assert source.read_exactly(10**6) == data[10:]
    assert source.read() == b""
    for position in (0, 5, 262_144, 300_001, len(data) - 1, len(data)):
        source.seek(position)
        assert source.position == position
        assert source.read_exactly(20) == data[position : position + 20]
    source.close()
    stored = path.read_bytes()
    for damaged in (stored[:2], stored[:100], b"\xff" * 4 + stored[4:], stored[:4] + b"\xff" * 9 + stored[13:]):
        path.write_bytes(damaged)
        with pytest.raises(errors.DataLossError, match="SNAPPY block at byte 0"):
            snappy.SnappyInput(path).read()
