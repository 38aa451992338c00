"""Snappy compression: single blocks, and files of blocks with their lengths in front as TensorFlow writes them."""

import bisect
import struct

import numpy as np

from headrace._src.core import errors, limits
from headrace._src.formats import streams

_LARGEST_OUTPUT_BLOCK = 64 << 10  # matches reach 65535 bytes back
_BEST_RATIO = 22  # three bytes copy at most 64
_SHORTEST_MATCH = 8  # shorter ones gain too little for what they cost here
_LENGTH = struct.Struct(">I")


class Malformed(ValueError):
    """Bytes that are no Snappy block."""


def length_of(data: bytes) -> tuple[int, int]:
    """The length of a block after decompression, and where its contents begin.

    Raises:
        Malformed: there is none, or it is more than such a block can hold.
    """
    length = shift = at = 0
    while True:
        if at >= len(data) or shift > 28:
            raise Malformed("it does not begin with a length")
        byte = data[at]
        at += 1
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if length > (len(data) - at) * _BEST_RATIO:
        raise Malformed(f"{len(data)} bytes cannot stand for {length}")
    return length, at


def decompress(data: bytes) -> bytes:
    """The bytes that a block stands for.

    Raises:
        Malformed: it is no Snappy block.
        ResourceExhaustedError: it holds more than the limit allows.
    """
    length, at = length_of(data)
    limits.check("decompressed_bytes", length, f"{len(data)} bytes of Snappy")
    out = bytearray()
    size = len(data)
    try:
        while at < size:
            tag = data[at]
            kind = tag & 3
            at += 1
            if kind == 0:  # bytes as they are
                count = (tag >> 2) + 1
                if count > 60:
                    wide = count - 60
                    count = int.from_bytes(data[at : at + wide], "little") + 1
                    at += wide
                if at + count > size:
                    raise Malformed(f"{count} bytes are said to follow, but {size - at} are left")
                out += data[at : at + count]
                at += count
                continue
            if kind == 1:
                count = (tag >> 2 & 7) + 4
                offset = (tag >> 5) << 8 | data[at]
                at += 1
            elif kind == 2:
                count = (tag >> 2) + 1
                offset = data[at] | data[at + 1] << 8
                at += 2
            else:
                count = (tag >> 2) + 1
                offset = int.from_bytes(data[at : at + 4], "little")
                at += 4
                if at > size:
                    raise Malformed("it ends within a copy")
            start = len(out) - offset
            if offset == 0 or start < 0:
                raise Malformed(f"a copy from {offset} bytes back, of {len(out)}")
            if offset >= count:
                out += out[start : start + count]
            else:  # it repeats itself
                piece = bytes(out[start:])
                out += (piece * (count // offset + 1))[:count]
            if len(out) > length:
                break
    except IndexError:
        raise Malformed("it ends within a copy") from None
    if len(out) != length:
        raise Malformed(f"{length} bytes were announced, but there are {'more' if len(out) > length else len(out)}")
    return bytes(out)


def compress(data: bytes) -> bytes:
    """A block that stands for these bytes."""
    pieces = [_varint(len(data))]
    for start in range(0, len(data), _LARGEST_OUTPUT_BLOCK):
        _compress_part(data[start : start + _LARGEST_OUTPUT_BLOCK], pieces)
    return b"".join(pieces)


def _compress_part(part, pieces):
    """Add the elements for one part, whose matches all lie within it."""
    done, size = 0, len(part)
    if size > 2 * _SHORTEST_MATCH:
        before, places = _matches(part)
        ordered, index = places.tolist(), 0
        while index < len(ordered):
            place = ordered[index]
            earlier = int(before[place])
            length = _match_length(part, earlier, place)
            if place > done:
                _add_literal(part[done:place], pieces)
            _add_copy(place - earlier, length, pieces)
            done = place + length
            index = bisect.bisect_left(ordered, done, index)
    if done < size:
        _add_literal(part[done:], pieces)


def _matches(part):
    """For each place the latest one before it with the same next bytes (or -1), and the places that have one."""
    data = np.frombuffer(part, np.uint8)
    words = np.ndarray((len(data) - 7,), "<u8", part, strides=(1,))
    # Sorting 16 bits takes a tenth of the time of sorting 64.
    hashes = (words * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(48)).astype(np.uint16)
    order = np.argsort(hashes, kind="stable")
    ordered = words[order]
    same = ordered[1:] == ordered[:-1]
    before = np.full(len(words), -1, np.int64)
    before[order[1:][same]] = order[:-1][same]
    return before, np.flatnonzero(before >= 0)


def _match_length(part, earlier, place):
    """How many bytes from both places on are equal; those from `earlier` may run into the others."""
    length, most = _SHORTEST_MATCH, len(part) - place
    step = 32
    while length < most:
        one = part[earlier + length : earlier + length + step]
        two = part[place + length : place + length + step]
        one = one[: len(two)]  # which may end before
        if one != two:
            # The lowest bit in which they differ says in which byte.
            bits = int.from_bytes(one, "little") ^ int.from_bytes(two, "little")
            return length + ((bits & -bits).bit_length() - 1) // 8
        length += len(two)
        step = min(2 * step, 4096)
    return length


def _add_literal(piece, pieces):
    count = len(piece) - 1
    if count < 60:
        pieces.append(bytes([count << 2]))
    else:
        wide = (count.bit_length() + 7) // 8
        pieces.append(bytes([(59 + wide) << 2]) + count.to_bytes(wide, "little"))
    pieces.append(piece)


def _add_copy(offset, length, pieces):
    back = offset.to_bytes(2, "little")
    while length > 64:
        pieces.append(b"\xfe" + back)  # 64 bytes
        length -= 64
    pieces.append(bytes([(length - 1) << 2 | 2]) + back)


def _varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


# Files: each block is its length in four bytes, the first the highest, and its data.


class SnappyInput:
    """The bytes that a file of Snappy blocks was made of; positions are among these.

    Attributes:
        path: the file.
        position: of the next byte.
    """

    def __init__(self, path, buffer_size: int = streams.DEFAULT_BUFFER):
        self._source = streams.PlainInput(path, buffer_size)
        self.path = self._source.path
        self.buffer_size = buffer_size
        self.position = 0
        self._waiting = b""  # decompressed, and not given out

    def _next_block(self) -> bytes | None:
        """The next block as it is stored; None at the end."""
        start = self._source.position
        head = self._source.read_exactly(4)
        if not head:
            return None
        if len(head) < 4:
            raise self._lost(start, "the file ends within the length of a block")
        (size,) = _LENGTH.unpack(head)
        bound = self._source.bound()
        if bound is not None and size > bound:
            raise self._lost(start, f"the block should have {size} bytes, but {bound} are left")
        data = self._source.read_exactly(size)
        if len(data) < size:
            raise self._lost(start, f"the block should have {size} bytes, but {len(data)} are left")
        return data

    def _lost(self, start, what):
        return errors.data_loss(f"{self.path}; broken SNAPPY block at byte {start}: {what}.")

    def read(self) -> bytes:
        """The next bytes, a block of them; none at the end."""
        data, self._waiting = self._waiting, b""
        while not data:
            start = self._source.position
            block = self._next_block()
            if block is None:
                return b""
            try:
                data = decompress(block)
            except Malformed as error:
                raise self._lost(start, str(error)) from error
        self.position += len(data)
        return data

    def read_exactly(self, size: int) -> bytes:
        """`size` bytes, or fewer at the end."""
        parts = []
        self.check_size(size)
        while size:
            part = self.read()
            if not part:
                break
            if len(part) > size:
                self._waiting = part[size:]
                self.position -= len(self._waiting)
                part = part[:size]
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def check_size(self, size: int) -> None:
        """Refuse a piece of so many bytes if that is more than the limit for what is decompressed as one.

        Raises:
            ResourceExhaustedError: it is.
        """
        limits.check("decompressed_bytes", size, f"{self.path}; a piece of the SNAPPY blocks")

    def bound(self) -> int | None:
        """At most this many bytes are still to come; None if nobody knows."""
        compressed = self._source.bound()
        return None if compressed is None else compressed * _BEST_RATIO + len(self._waiting)

    def seek(self, position: int) -> None:
        """Goes on from there; blocks before it are not decompressed."""
        self._source.seek(0)
        self._waiting, self.position = b"", 0
        while self.position < position:
            start = self._source.position
            block = self._next_block()
            if block is None:
                return
            try:
                length, _ = length_of(block)
                if self.position + length > position:
                    data = decompress(block)
                    self._waiting = data[position - self.position :]
                    self.position = position
                    return
            except Malformed as error:
                raise self._lost(start, str(error)) from error
            self.position += length

    def close(self) -> None:
        """Closes the file."""
        self._source.close()


class SnappyOutput(streams.PlainOutput):
    """Bytes into a file of Snappy blocks."""

    def write(self, data: bytes) -> None:
        """Adds bytes."""
        for start in range(0, len(data), streams.DEFAULT_BUFFER):
            block = compress(data[start : start + streams.DEFAULT_BUFFER])
            super().write(_LENGTH.pack(len(block)) + block)
