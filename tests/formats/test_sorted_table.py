"""Sorted tables: what is written is read, blocks of both kinds, and every kind of damage."""

import random
import struct

import pytest

import headrace as tf
from headrace._src.formats import checksums, snappy
from headrace._src.formats.sorted_table import MAGIC, Table, TableWriter


def table(entries):
    pieces = []
    writer = TableWriter(pieces.append)
    for key, value in entries:
        writer.add(key, value)
    writer.finish()
    return b"".join(pieces)


def compressed(data):
    """The same table, for one of one block, with that block compressed."""
    (end,) = [size for size in range(len(data)) if _is_block(data, size)][:1]
    block = snappy.compress(data[:end]) + b"\1"
    block += struct.pack("<I", checksums.masked_crc32c(block))
    empty = struct.pack("<IIB", 0, 1, 0)
    empty += struct.pack("<I", checksums.masked_crc32c(empty))
    index = b"\0\1\3z" + b"\0" + _varint(len(block) - 5) + struct.pack("<II", 0, 1) + b"\0"
    index += struct.pack("<I", checksums.masked_crc32c(index))
    start = len(block)
    footer = _varint(start) + b"\x08" + _varint(start + len(empty)) + _varint(len(index) - 5)
    return block + empty + index + footer.ljust(40, b"\0") + struct.pack("<Q", MAGIC)


def _is_block(data, size):
    return checksums.masked_crc32c(data[: size + 1]) == int.from_bytes(data[size + 1 : size + 5], "little")


def _varint(number):
    return bytes([number & 0x7F | 0x80, number >> 7])


FEW = [(b"", b"first"), *((f"key/{n:03}".encode(), bytes([n]) * n) for n in range(40))]
MANY = [(f"{n:07}/{'x' * (n % 50)}".encode(), random.Random(n).randbytes(100)) for n in range(9000)]


@pytest.mark.parametrize("entries", [[], [(b"", b"")], FEW, MANY, [(b"\xff\xff", b"a"), (b"\xff\xff\0", b"b")]])
def test_what_is_written_is_read(entries):
    reader = Table(table(entries), "t")
    assert list(reader.items()) == entries
    for key, value in entries[::97]:
        assert reader.get(key) == value
        assert reader.get(key + b"\0~") is None


def test_compressed_blocks():
    data = compressed(table(FEW))
    assert data != table(FEW)
    assert list(Table(data, "t").items()) == FEW
    assert Table(data, "t").get(b"key/007") == b"\7" * 7


def test_keys_must_increase():
    writer = TableWriter(lambda data: None)
    writer.add(b"b", b"")
    for key in (b"a", b"b"):
        with pytest.raises(ValueError, match="must increase"):
            writer.add(key, b"")


def test_every_truncation_and_every_changed_byte_is_noticed():
    data = table(FEW)
    for size in range(0, len(data), 3):
        with pytest.raises(tf.errors.DataLossError, match=r"^some/file: "):
            list(Table(data[:size], "some/file").items())
    footer_padding = range(len(data) - 48 + 6, len(data) - 8)
    for at in range(len(data)):
        damaged = data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]
        if at in footer_padding or _in_metaindex(data, at):  # which nobody reads
            continue
        with pytest.raises(tf.errors.DataLossError, match=r"^some/file: "):
            list(Table(damaged, "some/file").items())


def _in_metaindex(data, at):
    start = next(size for size in range(len(data)) if _is_block(data, size)) + 5
    return start <= at < start + 13 or at in (len(data) - 48, len(data) - 47, len(data) - 46)


def test_messages():
    with pytest.raises(tf.errors.DataLossError, match="file is too short to be an sstable: it has 3 bytes"):
        Table(b"abc", "t")
    with pytest.raises(tf.errors.DataLossError, match=r"not an sstable \(bad magic number\)"):
        Table(b"a" * 100, "t")
    data = table(FEW)
    with pytest.raises(tf.errors.DataLossError, match="damaged at offset 0: block checksum mismatch"):
        list(Table(b"\1" + data[1:], "t").items())


def test_keys_that_share_too_much_take_no_memory():
    # Each entry adds a byte to a key of many: the keys would take far more than the file.
    block, key = b"", b"\1" * 60000
    block += b"\0" + b"\xe0\xd4\3" + b"\0" + key
    for size in range(60000, 70000):
        block += _long(size) + b"\1\0" + b"\2"
    block += struct.pack("<II", 0, 1)
    writer = TableWriter(lambda data: None)
    writer._block = type("Block", (), {"empty": False, "finish": lambda self: block})()
    pieces = []
    writer._write, writer._last = pieces.append, b"\3"
    writer.finish()
    with pytest.raises(tf.errors.DataLossError, match="share more than restart points allow"):
        list(Table(b"".join(pieces), "t").items())


def _long(number):
    return bytes([number & 0x7F | 0x80, number >> 7 & 0x7F | 0x80, number >> 14])
