"""Parts of tensors in checkpoints: the text that says which part, and the key under which its bytes stand.

A text such as "10 20 0,5:-" has the sizes of the whole tensor, then for each dimension "start,length", or "-" for all
of it.
"""

import re
from typing import NamedTuple

from headrace._src.core import errors

_LARGEST = 2**63 - 1
_ESCAPED = {b"\x00": b"\x00\xff", b"\xff": b"\xff\x00"}
_SPECIAL = re.compile(rb"[\x00\xff]")


class Slice(NamedTuple):
    """A part of a tensor. A length of -1 means the whole dimension, as in TensorFlow's files."""

    starts: tuple[int, ...]
    lengths: tuple[int, ...]

    def __str__(self):
        return ":".join("-" if n == -1 else f"{start},{n}" for start, n in zip(self.starts, self.lengths))

    def bounded(self, shape: tuple[int, ...]) -> "Slice":
        """The same part with its lengths in numbers.

        Raises:
            InvalidArgumentError: it is not a part of a tensor of that shape.
        """
        if len(self.starts) != len(shape):
            raise errors.invalid_argument(f"Mismatching ranks: shape = {_text(shape)}, slice = {self}")
        lengths = tuple(size if n == -1 else n for n, size in zip(self.lengths, shape))
        for axis, (start, length, size) in enumerate(zip(self.starts, lengths, shape)):
            if start + length > size:
                raise errors.invalid_argument(
                    f"Extent in dimension {axis} out of bounds: shape = {_text(shape)}, slice = {self}"
                )
        return Slice(self.starts, lengths)

    def is_whole(self, shape: tuple[int, ...]) -> bool:
        """Whether the part is all of a tensor of that shape."""
        return self.bounded(shape) == Slice((0,) * len(shape), tuple(shape))

    def indices(self) -> tuple[slice, ...]:
        """What picks this part out of an array."""
        return tuple(slice(start, start + n) if n >= 0 else slice(None) for start, n in zip(self.starts, self.lengths))

    def overlap(self, other: "Slice") -> "Slice | None":
        """What two parts with lengths in numbers have in common; None if that is nothing."""
        starts = tuple(map(max, self.starts, other.starts))
        ends = [min(a + n, b + m) for a, n, b, m in zip(self.starts, self.lengths, other.starts, other.lengths)]
        lengths = tuple(end - start for start, end in zip(starts, ends))
        return Slice(starts, lengths) if all(n > 0 for n in lengths) else None

    def shifted(self, origin: tuple[int, ...]) -> "Slice":
        """The same part, counted from `origin`."""
        return Slice(tuple(start - first for start, first in zip(self.starts, origin)), self.lengths)


def whole(rank: int) -> Slice:
    """All of a tensor, as TensorFlow writes it."""
    return Slice((0,) * rank, (-1,) * rank)


def parse_part(text: str) -> tuple[tuple[int, ...], Slice]:
    """The shape of the whole tensor, and which part of it: from "10 20 0,5:-".

    Raises:
        InvalidArgumentError: the text says no part.
    """
    *sizes, last = text.split(" ")
    if not sizes:
        raise errors.invalid_argument(f"Need least two elements in shape_and_slice specification: {text}")
    if not all(_is_number(size) for size in sizes):
        raise errors.invalid_argument(f"Non numerical dimension in shape_and_slice: {text}")
    return tuple(map(int, sizes)), parse_slice(last)


def parse_slice(text: str) -> Slice:
    """A part from "0,5:-"."""
    starts, lengths = [], []
    for item in text.split(":") if text else ():
        start, comma, length = item.partition(",")
        if item == "-":
            start, length = "0", "-1"
        elif not (comma and _is_number(start) and _is_number(length)):
            raise errors.invalid_argument(f"Expected a pair of numbers or '-' but got '{item}': string = {text}")
        elif length == "0":
            raise errors.invalid_argument(
                f"Expected non-negative start and positive length but got '{item}': string = {text}"
            )
        starts.append(int(start))
        lengths.append(int(length))
    return Slice(tuple(starts), tuple(lengths))


def part_text(shape, part: Slice) -> str:
    """The inverse of `parse_part`."""
    return " ".join([*map(str, shape), str(part)])


def _is_number(text):
    return text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= _LARGEST


def _text(shape):
    return "[" + ",".join(map(str, shape)) + "]"


# Keys that sort as what they stand for: TensorFlow's "ordered code".


def slice_key(name: bytes, part: Slice) -> bytes:
    """The key in a table under which the bytes of a part of a tensor stand."""
    numbers = b"".join(_signed(start) + _signed(length) for start, length in zip(part.starts, part.lengths))
    return _unsigned(0) + _string(name) + _unsigned(len(part.starts)) + numbers


def _unsigned(number):
    size = (number.bit_length() + 7) // 8
    return bytes([size]) + number.to_bytes(size, "big")


def _string(data):
    return _SPECIAL.sub(lambda match: _ESCAPED[match[0]], data) + b"\x00\x01"


def _signed(number):
    # One bit per byte of length in front, inverted for negative numbers, so that bytes sort as numbers do.
    magnitude = ~number if number < 0 else number
    size = magnitude.bit_length() // 7 + 1
    header = ((1 << size) - 1) << (7 * size)
    return ((number & ((1 << (8 * size)) - 1)) ^ header).to_bytes(size, "big")
