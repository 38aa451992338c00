"""Positions of iterators in checkpoints that TensorFlow wrote: the numbers that its own iterators remember.

TensorFlow saves what each of its iterators holds, buffers included, under the names of its iterators. Which iterators
these are depends on how it rearranged the pipeline: a `map` before a `batch` is one iterator, a prefetch is added. Here
they are read as a tree, from the last step of the pipeline to its sources.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.data.saving.position_entries import DIVIDER
from headrace._src.formats import snappy
from headrace._src.formats.tensor_wire import fields, parse_tensor, shape_of
from headrace._src.ops.strings.kernel_arrays import string_array

_COMPRESSED = b"tensorflow.data.CompressedElement"
_FULL_NAME = re.compile(r"[0-9a-f]{32}\|(.*):([^:]*)", re.DOTALL)  # of keys that name their iterator once more
_PART = re.compile(r"(?P<kind>[A-Za-z]\w*?)(?:\[(?P<input>\d+)\])?")
_ROOT = ("Iterator", "Root")
_SEVERAL = ("current_elements", "future_elements")  # in names: datasets that an iterator has open
_BYTES, _NUMBER = 2, 0  # kinds of fields


class Position:
    """What one iterator of TensorFlow remembers.

    Attributes:
        kind: its class: "Range", "BatchV2" ...
        values: its numbers, by key.
        arrays: all of its values that are arrays, numbers included.
        inputs: the iterators that it pulls from, by number. Most have one, without a number (None).
        buffer: for one that reads ahead, its elements by number: the values of their keys.
        parts: what it has several of, by name and number, such as datasets that are read at the same time.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.values: dict[str, int] = {}
        self.arrays: dict[str, np.ndarray] = {}
        self.inputs: dict[int | None, Position] = {}
        self.buffer: dict[int, dict[str, Any]] = {}
        self.parts: dict[tuple[str, int], dict[str, Any]] = {}

    def waiting(self) -> list[tuple[np.ndarray, ...]]:
        """The elements in its buffer.

        Raises:
            ValueError: one of them cannot be read.
        """
        return [self._element(self.buffer[number]) for number in sorted(self.buffer)]

    def _element(self, values):
        parts = tuple(values.get(f"buffer[{i}]") for i in range(int(values.get("buffer.size", 0))))
        if values.get("status.code") or not parts or any(part is None for part in parts):
            raise ValueError(f"an element in the buffer of {self.kind} is of a kind that cannot be read")
        return parts

    def input(self) -> Position | None:
        """The only iterator that it pulls from, or the last one; None when that is at its end, and therefore gone."""
        if None in self.inputs:
            return self.inputs[None]
        return self.inputs[max(number for number in self.inputs if number is not None)] if self.inputs else None


def read_positions(elements: list[tuple[bytes, list[bytes]]]) -> Position:
    """The last iterator of a pipeline.

    Args:
        elements: the names and the tensors of variants of the type `TYPE`.

    Raises:
        ValueError: these are not such.
    """
    root = Position("Root")
    for names, tensors in elements:
        owner, *keys = names.decode("utf-8").split(DIVIDER)
        values = [value for tensor in tensors for value in _components(tensor)]
        if len(values) != len(keys):
            raise ValueError(f"{owner} has {len(keys)} keys and {len(values)} values")
        for key, value in zip(keys, values):
            name, key = _FULL_NAME.fullmatch(key).groups() if _FULL_NAME.fullmatch(key) else (owner, key)
            _put(root, name, key, value)
    inner = root.input()
    if inner is None:
        raise ValueError("it names no iterators")
    return inner


def _put(root, name, key, value):
    """Give a value to the iterator of that name, which is made with those around it if need be."""
    full = _FULL_NAME.fullmatch(name)
    if full:  # what stands in a buffer
        return
    parts = name.split("::")
    if tuple(parts[:2]) != _ROOT:
        raise ValueError(f"an iterator is called {name!r}")
    position: Position = root
    place: int | None = None
    for at, part in enumerate(parts[2:], 3):
        match = _PART.fullmatch(part)
        if part in _SEVERAL and at < len(parts) and parts[at].isdecimal():
            position.parts.setdefault((part, int(parts[at])), {})[key] = value
            return
        if match is None:  # an element in a buffer: "Prefetch::0", "Shuffle:buffer::0"
            if part.isdecimal():
                position.buffer.setdefault(int(part), {})[key] = value
            return
        kind = match["kind"]
        if kind.endswith("_invocation_results"):  # "ParallelMapV2_invocation_results[0]" is beside "ParallelMapV2"
            position = _input(position, place, kind.removesuffix("_invocation_results"))
            key = f"invocation_results[{match['input']}].{key}"
            break
        position = _input(position, place, kind)
        place = int(match["input"]) if match["input"] else None
    if value is not None:
        position.arrays[key] = value
        if value.dtype == np.int64 and not value.ndim:
            position.values[key] = int(value)


def _input(position, place, kind):
    known = position.inputs.get(place)
    if known is None:
        known = position.inputs[place] = Position(kind)
    if known.kind != kind:
        # The parts of a cache have names of their own: "MemoryCache" and "MemoryCacheImpl" stand side by side.
        if {known.kind, kind} <= {"MemoryCache", "MemoryCacheImpl"}:
            return known
        raise ValueError(f"{position.kind} pulls from both {known.kind} and {kind}")
    return known


def _components(tensor: bytes) -> list[np.ndarray | None]:
    """The components of an element that TensorFlow compressed; None for those that are no arrays.

    Args:
        tensor: an encoded `TensorProto` with one variant, which holds a `CompressedElement`; or an array, as we write
            it, and TensorFlow where it is told not to compress.
    """
    message = _compressed_element(tensor)
    if message is None:
        return [parse_tensor(tensor)[0]]
    packed, descriptions = b"", []
    for number, kind, value in fields(message):
        if number == 1 and kind == _BYTES:
            packed = value
        elif number == 2 and kind == _BYTES:
            descriptions.append(_description(value))
    data, at, arrays = snappy.decompress(packed), 0, []
    for dtype, shape, sizes in descriptions:
        arrays.append(_array(data[at : at + sum(sizes)], dtype, shape, sizes))
        at += sum(sizes)
    return arrays


def _array(data, dtype, shape, sizes):
    if dtype is dtypes.string:
        ends = list(itertools.accumulate(sizes))
        return string_array([data[end - size : end] for size, end in zip(sizes, ends)], shape)
    if dtype._kind not in "biufc" or len(sizes) != 1:
        return None
    return np.frombuffer(data, dtype._np).reshape(shape)


def _compressed_element(tensor):
    for number, kind, value in fields(tensor):
        if number == 15 and kind == _BYTES:  # variant_val
            parts = {number: content for number, kind, content in fields(value) if kind == _BYTES}
            if parts.get(1) == _COMPRESSED:
                return parts.get(2, b"")
            raise ValueError("a value is not compressed as TensorFlow does it")
    return None


def _description(message):
    """The dtype, the shape and the numbers of bytes of a component: one number, or one for each string."""
    dtype, shape, sizes = 0, (), []
    for number, kind, value in fields(message):
        if number == 1 and kind == _NUMBER:
            dtype = value
        elif number == 2 and kind == _BYTES:
            shape = shape_of(value)
        elif number == 4:
            sizes += _packed_numbers(value) if kind == _BYTES else [value]
    return dtypes.as_dtype(dtype), shape, sizes


def _packed_numbers(data):
    number = shift = 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number
            number = shift = 0
