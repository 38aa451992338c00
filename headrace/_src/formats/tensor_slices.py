"""Parts of tensors in checkpoints: how a slice is written in text, in messages and in keys.

A text such as "10 20 0,5:-" has the sizes of the whole tensor, then for each dimension "start,length", or "-" for all
of it.
"""

import re
from typing import NamedTuple

import numpy as np

from headrace._src.core import errors
from headrace._src.formats.wire import integer, message

_WHOLE = -1  # the length that stands for all of a dimension
_LARGEST = 2**63 - 1


class TensorSlice(NamedTuple):
    """A part of a tensor: for each dimension where it starts, and its length, or -1 for all of that dimension."""

    starts: tuple[int, ...]
    lengths: tuple[int, ...]

    def resolved(self, shape: tuple[int, ...]) -> "TensorSlice":
        """The same with the lengths that whole dimensions have in a tensor of this shape.

        Raises:
            ValueError: the slice does not fit into the shape.
        """
        if len(self.starts) != len(shape):
            raise ValueError(f"Mismatching ranks: shape = {_text(shape)}, slice = {self}")
        lengths = tuple(size if length == _WHOLE else length for length, size in zip(self.lengths, shape))
        for axis, (start, length, size) in enumerate(zip(self.starts, lengths, shape)):
            if start < 0 or length < 0 or start + length > size:
                raise ValueError(f"Extent in dimension {axis} out of bounds: shape = {_text(shape)}, slice = {self}")
        return TensorSlice(self.starts, lengths)

    def is_whole(self, shape: tuple[int, ...]) -> bool:
        """Whether this is all of a tensor of that shape."""
        return self.resolved(shape) == TensorSlice((0,) * len(shape), tuple(shape))

    def indices(self) -> tuple[slice, ...]:
        """What indexes an array; of a resolved slice."""
        return tuple(slice(start, start + length) for start, length in zip(self.starts, self.lengths))

    def overlap(self, other: "TensorSlice") -> "TensorSlice | None":
        """What two resolved slices have in common; None if that is nothing."""
        starts = tuple(map(max, self.starts, other.starts))
        ends = [min(a + n, b + m) for a, n, b, m in zip(self.starts, self.lengths, other.starts, other.lengths)]
        lengths = tuple(end - start for start, end in zip(starts, ends))
        return TensorSlice(starts, lengths) if all(length > 0 for length in lengths) else None

    def shifted(self, origin: tuple[int, ...]) -> "TensorSlice":
        """The same part, counted from `origin`."""
        return TensorSlice(tuple(start - first for start, first in zip(self.starts, origin)), self.lengths)

    def __str__(self):
        """As TensorFlow writes it, `0,2:-`."""
        parts = zip(self.starts, self.lengths)
        return ":".join("-" if length == _WHOLE else f"{start},{length}" for start, length in parts)

    def key(self, name: str) -> bytes:
        """The key under which a checkpoint has this slice of the tensor `name`."""
        # A zero byte ends the name, so that one within it, and 0xff, need a mark.
        text = name.encode("utf-8", "surrogateescape")
        text = re.sub(b"[\0\xff]", lambda match: match[0] + bytes([match[0][0] ^ 0xFF]), text)
        numbers = [number for extent in zip(self.starts, self.lengths) for number in extent]
        return b"".join((_unsigned(0), text, b"\0\1", _unsigned(len(self.starts)), *map(_signed, numbers)))

    def encoded(self) -> bytes:
        """The fields of a `TensorSliceProto`."""
        return b"".join(
            message(1, b"" if length == _WHOLE else (integer(1, start) if start else b"") + integer(2, length))
            for start, length in zip(self.starts, self.lengths)
        )


def whole(rank: int) -> TensorSlice:
    """All of a tensor, as TensorFlow writes it."""
    return TensorSlice((0,) * rank, (_WHOLE,) * rank)


def disjoint(parts: list[TensorSlice]) -> bool:
    """Whether no two of some resolved slices, all with elements, have one in common."""
    if len(parts) < 2 or not parts[0].starts:
        return len(parts) < 2
    starts = np.array([part.starts for part in parts])
    ends = starts + [part.lengths for part in parts]
    return not any(
        np.any(np.all((starts[number] < ends[:number]) & (starts[:number] < ends[number]), axis=1))
        for number in range(1, len(parts))
    )


def _unsigned(number: int) -> bytes:
    """A number as keys hold it: the count of its bytes, then these, the highest first."""
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return bytes([len(data)]) + data


def _signed(number: int) -> bytes:
    """A signed number as keys hold it: it sorts as the number does, and takes a byte for each seven bits."""
    bits = (~number if number < 0 else number).bit_length()
    length = bits // 7 + 1
    value = number & (1 << 8 * length) - 1
    # The first bits say how many bytes there are; they are flipped for numbers below zero.
    return (value ^ ((1 << length) - 1) << 7 * length).to_bytes(length, "big")


def parse_shape_and_slice(text: str) -> tuple[tuple[int, ...], TensorSlice]:
    """The whole shape and the slice of a text such as `4 3 0,2:-`: a shape of 4 by 3, its first two rows.

    Raises:
        InvalidArgumentError: the text is not of this form, or the slice does not fit into the shape.
    """
    *sizes, last = text.split(" ")
    if not sizes:
        raise errors.invalid_argument(f"Need least two elements in shape_and_slice specification: {text}")
    if not all(_is_number(size) for size in sizes):
        raise errors.invalid_argument(f"Non numerical dimension in shape_and_slice: {text}")
    shape, part = tuple(map(int, sizes)), parse_slice(last)
    try:
        part.resolved(shape)
    except ValueError as error:
        raise errors.invalid_argument(str(error)) from None
    return shape, part


def parse_slice(text: str) -> TensorSlice:
    """A part from `0,5:-`."""
    starts, lengths = [], []
    for item in text.split(":") if text else ():
        start, comma, length = item.partition(",")
        if item == "-":
            start, length = "0", str(_WHOLE)
        elif not (comma and _is_number(start) and _is_number(length)):
            raise errors.invalid_argument(f"Expected a pair of numbers or '-' but got '{item}': string = {text}")
        elif not int(length):
            raise errors.invalid_argument(
                f"Expected non-negative start and positive length but got '{item}': string = {text}"
            )
        starts.append(int(start))
        lengths.append(int(length))
    return TensorSlice(tuple(starts), tuple(lengths))


def shape_and_slice_text(shape, part: TensorSlice) -> str:
    """The inverse of `parse_shape_and_slice`."""
    return " ".join([*map(str, shape), str(part)])


def _is_number(text):
    return text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= _LARGEST


def _text(shape):
    return "[" + ",".join(map(str, shape)) + "]"
