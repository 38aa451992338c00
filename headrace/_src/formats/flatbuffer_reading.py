"""Reading flatbuffers that may be broken: every place is checked, and the work is bounded by the size of the file."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

_FORMATS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
    "uint64": "Q", "float32": "f",
}  # fmt: skip


class BrokenFlatbuffer(ValueError):
    """Something in the file points to where it cannot."""


class FlatbufferFile:
    """A file with tables.

    Args:
        data: its bytes.
        identifier: the four letters that must be in it.

    Raises:
        BrokenFlatbuffer: it is no such file.
    """

    def __init__(self, data: bytes, identifier: bytes):
        self.data = memoryview(data)
        self._left = len(data)  # tables and vectors that may still be read: parts of a broken file may share places
        if len(data) < 8 or bytes(data[4:8]) != identifier:
            raise BrokenFlatbuffer(f"it does not begin as a file of {identifier.decode()} does")
        self.root = FlatbufferTable(self, self.offset(0))

    def spend(self, count: int) -> None:
        """Take note of work."""
        self._left -= count
        if self._left < 0:
            raise BrokenFlatbuffer("its parts refer to each other over and over")

    def number(self, place: int, kind: str) -> Any:
        """A number at a place."""
        layout = f"<{_FORMATS[kind]}"
        if not 0 <= place <= len(self.data) - struct.calcsize(layout):
            raise BrokenFlatbuffer(f"place {place} is outside of the file, which has {len(self.data)} bytes")
        return struct.unpack_from(layout, self.data, place)[0]

    def offset(self, place: int) -> int:
        """The place that an offset points to."""
        target = place + self.number(place, "uint32")
        if target > len(self.data) - 4:
            raise BrokenFlatbuffer(f"an offset at place {place} points outside of the file")
        return target

    def items(self, place: int, size: int) -> tuple[int, int]:
        """Where the items of a vector begin, and how many there are."""
        count = self.number(place, "uint32")
        if count * size > len(self.data) - place - 4:
            raise BrokenFlatbuffer(f"a vector at place {place} is longer than the file")
        return place + 4, count


class FlatbufferTable:
    """A table of a file. What is in a slot is read when it is asked for."""

    def __init__(self, file: FlatbufferFile, place: int):
        file.spend(1)
        self._file = file
        self._place = place
        self._index = place - file.number(place, "int32")
        size = file.number(self._index, "uint16")
        if size < 4 or size % 2 or self._index + size > len(file.data):
            raise BrokenFlatbuffer(f"a table at place {place} has no index")
        self._slots = size // 2 - 2
        self._size = file.number(self._index + 2, "uint16")
        if self._size < 4 or place + self._size > len(file.data):
            raise BrokenFlatbuffer(f"a table at place {place} is longer than the file")

    def _at(self, slot, size):
        """Where a slot is; None when it is empty."""
        if slot >= self._slots:
            return None
        offset = self._file.number(self._index + 4 + 2 * slot, "uint16")
        if offset == 0:
            return None
        if offset + size > self._size:
            raise BrokenFlatbuffer(f"a slot of the table at place {self._place} is outside of it")
        return self._place + offset

    def number(self, slot: int, kind: str, default: Any = 0) -> Any:
        """The number in a slot."""
        place = self._at(slot, struct.calcsize(f"<{_FORMATS[kind]}"))
        return default if place is None else self._file.number(place, kind)

    def _target(self, slot):
        place = self._at(slot, 4)
        return None if place is None else self._file.offset(place)

    def table(self, slot: int) -> FlatbufferTable | None:
        """The table in a slot; None for none."""
        place = self._target(slot)
        return None if place is None else FlatbufferTable(self._file, place)

    def tables(self, slot: int) -> list[FlatbufferTable]:
        """The tables of a vector; none when the slot is empty."""
        place = self._target(slot)
        if place is None:
            return []
        begin, count = self._file.items(place, 4)
        self._file.spend(count)
        return [FlatbufferTable(self._file, self._file.offset(begin + 4 * number)) for number in range(count)]

    def numbers(self, slot: int, dtype: str) -> np.ndarray | None:
        """The numbers of a vector; None when the slot is empty."""
        place = self._target(slot)
        if place is None:
            return None
        kind = np.dtype(dtype).newbyteorder("<")
        begin, count = self._file.items(place, kind.itemsize)
        return np.frombuffer(self._file.data, kind, count, begin)

    def text(self, slot: int) -> str | None:
        """The string in a slot; None for none."""
        place = self._target(slot)
        if place is None:
            return None
        begin, count = self._file.items(place, 1)
        self._file.spend(1 + count // 64)
        try:
            return bytes(self._file.data[begin : begin + count]).decode()
        except UnicodeDecodeError as error:
            raise BrokenFlatbuffer(f"the string at place {place} is no UTF-8") from error
