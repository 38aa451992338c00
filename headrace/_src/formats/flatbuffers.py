"""Writing flatbuffers: tables, vectors and strings, each after what refers to it.

A table is a dictionary of slots; what stands in a slot is a `Scalar`, another table, a string, a `Vector` of numbers,
or a list of tables and strings. Offsets in the file count forwards, so the root comes first, and its parts follow.
"""

from __future__ import annotations

import collections
import struct
from typing import Any, NamedTuple

import numpy as np

_FORMATS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q",
    "float32": "f",
}  # fmt: skip


class Scalar(NamedTuple):
    """A number in a slot of a table."""

    kind: str
    value: Any


class Vector(NamedTuple):
    """An array of numbers; its data begin at a multiple of `alignment`."""

    array: np.ndarray
    alignment: int = 0


def written(root: dict, identifier: bytes) -> bytes:
    """A file with a table.

    Args:
        root: the table.
        identifier: four letters that say what it is.
    """
    writer = _Writer(identifier)
    writer.waiting.append((0, root))
    while writer.waiting:
        place, value = writer.waiting.popleft()
        struct.pack_into("<I", writer.data, place, writer.add(value) - place)
    return bytes(writer.data)


class _Writer:
    def __init__(self, identifier):
        self.data = bytearray(4) + identifier
        self._indices: dict[bytes, int] = {}
        self.waiting: collections.deque = collections.deque()  # where an offset stands, and what it is to point to

    def _align(self, size, extra=0):
        """Fill up, so that what follows `extra` bytes from here begins at a multiple of `size`."""
        self.data += bytes(-(len(self.data) + extra) % size)

    def add(self, value) -> int:
        """Write a value; returns where it is."""
        if isinstance(value, dict):
            return self._table(value)
        if isinstance(value, str):
            return self._bytes(value.encode() + b"\0", len(value.encode()), 1)
        if isinstance(value, Vector):
            array = np.ascontiguousarray(value.array)
            array = array.astype(array.dtype.newbyteorder("<"), copy=False)
            return self._bytes(
                memoryview(array.reshape(-1)).cast("B"), array.size, max(array.itemsize, value.alignment)
            )
        return self._references(value)

    def _bytes(self, content, count, alignment):
        self._align(max(4, alignment), 4)
        place = len(self.data)
        self.data += struct.pack("<I", count)
        self.data += content
        return place

    def _references(self, values):
        self._align(4)
        place = len(self.data)
        self.data += struct.pack("<I", len(values)) + bytes(4 * len(values))
        for number, value in enumerate(values):
            self.waiting.append((place + 4 + 4 * number, value))
        return place

    def _index(self, content) -> int:
        """Write where the slots of a table are, once for all tables that are alike; returns the place."""
        if content not in self._indices:
            self._align(2)
            self._indices[content] = len(self.data)
            self.data += content
        return self._indices[content]

    def _table(self, slots):
        fields = sorted(slots.items(), key=lambda item: -_size(item[1]))  # the largest first need no filling up
        offsets, size = {}, 4
        for slot, value in fields:
            size += -size % _size(value)
            offsets[slot] = size
            size += _size(value)
        count = max(slots, default=-1) + 1
        table = [4 + 2 * count, size, *[offsets.get(slot, 0) for slot in range(count)]]
        index = self._index(struct.pack(f"<{len(table)}H", *table))
        self._align(8)
        place = len(self.data)
        self.data += struct.pack("<i", place - index) + bytes(size - 4)
        for slot, value in fields:
            if isinstance(value, Scalar):
                struct.pack_into(f"<{_FORMATS[value.kind]}", self.data, place + offsets[slot], value.value)
            else:
                self.waiting.append((place + offsets[slot], value))
        return place


def _size(value):
    return struct.calcsize(f"<{_FORMATS[value.kind]}") if isinstance(value, Scalar) else 4
