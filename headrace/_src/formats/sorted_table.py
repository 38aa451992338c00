"""Sorted tables of keys and values (LevelDB's format), as TensorFlow stores the index of a checkpoint.

A table is a row of blocks, each followed by its kind (plain or Snappy) and a checksum. In a block, a key is stored
without what it shares with the key before it, except at restart points. The last blocks are the metaindex, which is
empty here, and the index: for each block of data, a key that is not before its last one, and where the block is. A
footer of fixed size says where these two are.
"""

import bisect
import struct
from collections.abc import Callable, Iterator
from typing import Protocol

from headrace._src.core import errors
from headrace._src.formats import checksums, snappy
from headrace._src.formats.wire import varint

MAGIC = 0xDB4775248B80FB57
FOOTER_SIZE = 48
_BLOCK_SIZE = 256 << 10  # TF: a block ends with the entry that makes it this large
_RESTART_INTERVAL = 16
_TRAILER_SIZE = 5
_PLAIN, _SNAPPY = 0, 1
_SMALL = [varint(number) for number in range(1 << 12)]
# Keys of a block take this many bytes at most for each byte of the block. Where restart points are, it is below 17.
_MOST_KEY_BYTES = 64


class Source(Protocol):
    """Bytes of which any part can be read, such as a file."""

    size: int

    def read_at(self, offset: int, size: int) -> bytes:
        """The bytes there; fewer only at the end."""


class BytesSource:
    """Bytes in memory, as a source."""

    def __init__(self, data: bytes):
        self._data = data
        self.size = len(data)

    def read_at(self, offset, size):
        return self._data[offset : offset + size]


class TableWriter:
    """Writes a table, from its first byte to its last.

    Args:
        write: called with the bytes, in order.
    """

    def __init__(self, write: Callable[[bytes], object]):
        self._write = write
        self._offset = 0
        self._block = _BlockWriter(_RESTART_INTERVAL)
        self._index = _BlockWriter(1)
        self._last: bytes | None = None
        self._pending: bytes | None = None  # where the last block is, until the key after it is known

    def add(self, key: bytes, value: bytes) -> None:
        """Adds an entry. Keys must come in increasing order."""
        if self._last is not None:
            if key <= self._last:
                raise ValueError(f"Keys of a table must increase, but {key!r} comes after {self._last!r}.")
            if self._pending is not None:
                self._index.add(_separator(self._last, key), self._pending)
                self._pending = None
        self._last = key
        if self._block.add(key, value) >= _BLOCK_SIZE:
            self._end_block()

    def finish(self) -> None:
        """Writes what is left. Nothing can be added afterwards."""
        if not self._block.empty:
            self._end_block()
        metaindex = self._write_block(_BlockWriter(_RESTART_INTERVAL))
        if self._pending is not None:
            self._index.add(_successor(self._last or b""), self._pending)
        places = metaindex + self._write_block(self._index)
        self._write(places.ljust(FOOTER_SIZE - 8, b"\0") + struct.pack("<Q", MAGIC))

    def _end_block(self):
        self._pending = self._write_block(self._block)
        self._block = _BlockWriter(_RESTART_INTERVAL)

    def _write_block(self, block) -> bytes:
        """Writes a block, and returns its place as tables store it."""
        data = block.finish() + bytes([_PLAIN])
        place = varint(self._offset) + varint(len(data) - 1)
        self._write(data)
        self._write(struct.pack("<I", checksums.masked_crc32c(data)))
        self._offset += len(data) + 4
        return place


class _BlockWriter:
    """Entries of one block."""

    def __init__(self, restart_interval):
        self._interval = restart_interval
        self._pieces: list[bytes] = []
        self._size = 0
        self._restarts = [0]
        self._since = 0  # entries since the last restart point
        self._last = b""

    @property
    def empty(self) -> bool:
        return not self._pieces

    def add(self, key: bytes, value: bytes) -> int:
        """Adds an entry, and returns the size that the block has now."""
        if self._since < self._interval:
            shared = _shared_length(self._last, key)
        else:
            shared, self._since = 0, 0
            self._restarts.append(self._size)
        fresh, size = len(key) - shared, len(value)
        if shared | fresh | size < len(_SMALL):
            head = _SMALL[shared] + _SMALL[fresh] + _SMALL[size]
        else:
            head = varint(shared) + varint(fresh) + varint(size)
        self._pieces += (head, key[shared:], value)
        self._size += len(head) + fresh + size
        self._last = key
        self._since += 1
        return self._size + 4 * len(self._restarts) + 4

    def finish(self) -> bytes:
        count = len(self._restarts)
        return b"".join(self._pieces) + struct.pack(f"<{count + 1}I", *self._restarts, count)


def _shared_length(one: bytes, other: bytes) -> int:
    """How many bytes at the beginning of the two are the same."""
    size = min(len(one), len(other))
    difference = int.from_bytes(one[:size], "big") ^ int.from_bytes(other[:size], "big")
    return size - (difference.bit_length() + 7 >> 3)


def _separator(start: bytes, limit: bytes) -> bytes:
    """A short key from `start` up to, but not including, `limit`."""
    shared = _shared_length(start, limit)
    if shared < min(len(start), len(limit)) and start[shared] < 0xFF and start[shared] + 1 < limit[shared]:
        return start[:shared] + bytes([start[shared] + 1])
    return start


def _successor(key: bytes) -> bytes:
    """A short key that is not before `key`."""
    for at, byte in enumerate(key):
        if byte != 0xFF:
            return key[:at] + bytes([byte + 1])
    return key


class Table:
    """A table that is read.

    Args:
        source: its bytes, or a `Source` of them.
        where: what errors call it, such as the path of the file.

    Raises:
        DataLossError: it is not a table, or is damaged; also from the methods.
    """

    def __init__(self, source: bytes | Source, where: str):
        self._source = BytesSource(source) if isinstance(source, bytes) else source
        self._where = where
        self._index = self._read_index()
        self._ends = [key for key, _ in self._index]
        self._cached: tuple[int, list[tuple[bytes, bytes]]] = (-1, [])

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """All entries, in the order of their keys."""
        last = None
        for number in range(len(self._index)):
            block = self._block(number)
            if block and last is not None and block[0][0] <= last:
                raise self._damage(self._index[number][1][0], f"the key {block[0][0]!r} comes after {last!r}")
            yield from block
            last = block[-1][0] if block else last

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None where it is not there."""
        number = bisect.bisect_left(self._ends, key)
        if number == len(self._index):
            return None
        block = self._block(number)
        at = bisect.bisect_left(block, key, key=lambda entry: entry[0])
        return block[at][1] if at < len(block) and block[at][0] == key else None

    def _block(self, number):
        if self._cached[0] != number:
            offset, size = self._index[number][1]
            self._cached = number, self._entries(offset, self._read_block(offset, size))
        return self._cached[1]

    def _damage(self, offset, text):
        return errors.data_loss(f"{self._where}: damaged at offset {offset}: {text}.")

    def _read_index(self):
        size = self._source.size
        if size < FOOTER_SIZE:
            raise errors.data_loss(
                f"{self._where}: file is too short to be an sstable: it has {size} bytes, and the end alone takes "
                f"{FOOTER_SIZE}. It was probably not written to its end; use an older checkpoint or a copy."
            )
        start = size - FOOTER_SIZE
        footer = self._source.read_at(start, FOOTER_SIZE)
        if footer[-8:] != struct.pack("<Q", MAGIC):
            raise errors.data_loss(
                f"{self._where}: not an sstable (bad magic number): it ends in {footer[-8:].hex()}, and a table in "
                f"{struct.pack('<Q', MAGIC).hex()}. The file is cut off, or is no index of a checkpoint."
            )
        _, at = self._place(footer, 0, start)
        (offset, length), _ = self._place(footer, at, start)
        blocks = []
        for key, value in self._entries(offset, self._read_block(offset, length)):
            blocks.append((key, self._place(value, 0, offset)[0]))
        return blocks

    def _place(self, data, at, offset):
        """The place of a block that stands in `data`, and where that ends. `offset` is told in errors."""
        begin, at = self._number(data, at, offset)
        size, at = self._number(data, at, offset)
        if begin + size + _TRAILER_SIZE > self._source.size:
            raise self._damage(offset, f"a block is said to have {size} bytes at {begin}, beyond the end of the file")
        return (begin, size), at

    def _number(self, data, at, offset):
        result = shift = 0
        while True:
            if at >= len(data) or shift > 63:
                raise self._damage(offset, "a number is cut off or too long")
            byte = data[at]
            result |= (byte & 0x7F) << shift
            at += 1
            if byte < 0x80:
                return result, at
            shift += 7

    def _read_block(self, offset, size):
        data = self._source.read_at(offset, size + _TRAILER_SIZE)
        if len(data) < size + _TRAILER_SIZE:
            raise self._damage(offset, f"truncated block read: {len(data)} bytes instead of {size + _TRAILER_SIZE}")
        stored = int.from_bytes(data[-4:], "little")
        computed = checksums.masked_crc32c(data[:-4])
        if stored != computed:
            raise self._damage(
                offset, f"block checksum mismatch: {stored:#010x} is stored, {computed:#010x} is that of its bytes"
            )
        kind = data[size]
        if kind == _PLAIN:
            return data[:size]
        if kind != _SNAPPY:
            raise self._damage(offset, f"a block has the unknown kind {kind}")
        try:
            return snappy.decompress(data[:size])
        except snappy.Malformed as error:
            raise self._damage(offset, f"corrupted compressed block contents: {error}") from None

    def _entries(self, offset, block):
        """The (key, value) pairs of the block that was read at `offset`."""
        restarts = int.from_bytes(block[-4:], "little")
        limit = len(block) - 4 - 4 * restarts
        if len(block) < 4 or limit < 0:
            raise self._damage(offset, f"bad block contents: {restarts} restart points in {len(block)} bytes")
        entries: list[tuple[bytes, bytes]] = []
        key, at, first = b"", 0, True
        budget = _MOST_KEY_BYTES * len(block)
        while at < limit:
            shared, fresh, size = block[at], block[at + 1], block[at + 2]
            if shared | fresh | size < 0x80:
                at += 3
            else:
                shared, at = self._number(block, at, offset)
                fresh, at = self._number(block, at, offset)
                size, at = self._number(block, at, offset)
            end = at + fresh + size
            if end > limit or shared > len(key):
                raise self._damage(offset, f"bad entry in block: its end is {end} of {limit}")
            before, key = key, key[:shared] + block[at : at + fresh]
            if key <= before and not first:
                raise self._damage(offset, f"the key {key!r} comes after {before!r}")
            budget -= len(key)
            if budget < 0:
                raise self._damage(offset, "keys share more than restart points allow")
            entries.append((key, block[end - size : end]))
            at, first = end, False
        return entries
