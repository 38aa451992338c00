"""Elements as bytes, for caches on disk.

A component is its kind (a byte), the name of its dtype, its dimensions, and its contents: numbers as they are in
memory, strings with their lengths in front, ragged and sparse tensors as the components that they consist of.
"""

import math
import struct

import ml_dtypes
import numpy as np

from headrace._src.core import errors
from headrace._src.ops.ragged.variant import RaggedVariant
from headrace._src.ops.sparse.serialization import TensorVariant

_NUMBERS, _STRINGS, _VARIANTS = range(3)
_ARRAY, _RAGGED = range(2)
_LARGE = 4096
_EXTENDED = {
    np.dtype(getattr(ml_dtypes, name)).name: np.dtype(getattr(ml_dtypes, name)) for name in dir(ml_dtypes)
    if isinstance(getattr(ml_dtypes, name), type) and issubclass(getattr(ml_dtypes, name), np.generic)
}  # fmt: skip


def packed(element: tuple) -> bytes:
    """An element as bytes."""
    return b"".join(buffers(element))


def buffers(element: tuple) -> list:
    """An element as bytes, in parts: large arrays are not copied."""
    parts: list = [struct.pack("<I", len(element))]
    for array in element:
        _pack(array, parts)
    return parts


def _pack(array, parts):
    dims = struct.pack(f"<B{array.ndim}q", array.ndim, *array.shape)
    if array.dtype != object:
        name = array.dtype.name.encode()
        parts.append(b"".join([struct.pack("<BB", _NUMBERS, len(name)), name, dims]))
        is_large = array.nbytes > _LARGE and array.flags.c_contiguous
        parts.append(array.reshape(-1).view(np.uint8).data if is_large else array.tobytes())
        return
    items = array.ravel().tolist()
    if all(type(item) is bytes for item in items):
        lengths = np.array([len(item) for item in items], np.int64).tobytes()
        parts.append(b"".join([bytes([_STRINGS]), dims, lengths, *items]))
        return
    parts.append(bytes([_VARIANTS]) + dims)
    for item in items:
        _pack_variant(item, parts)


def _pack_variant(item, parts):
    if isinstance(item, TensorVariant):
        parts.append(bytes([_ARRAY]))
        _pack(item.array, parts)
    elif isinstance(item, RaggedVariant):
        parts.append(bytes([_RAGGED]))
        parts.extend(buffers((*item.splits, item.values)))
    else:
        raise errors.invalid_argument(
            f"Elements that hold {type(item).__name__} cannot be written to disk, nor sent to another process: only "
            "tensors, ragged and sparse tensors."
        )


def unpacked(data) -> tuple:
    """The element in bytes, or in a view of them: arrays of numbers share its memory."""
    element, at = _unpacked_element(data, 0)
    if at != len(data):
        raise errors.DataLossError(None, None, f"An element of {len(data)} bytes ends after {at}.")
    return element


def _unpacked_element(data, at):
    (count,) = struct.unpack_from("<I", data, at)
    at += 4
    element = []
    for _ in range(count):
        array, at = _unpacked(data, at)
        element.append(array)
    return tuple(element), at


def _unpacked(data, at):
    kind = data[at]
    at += 1
    dtype = None
    if kind == _NUMBERS:
        length = data[at]
        name = bytes(data[at + 1 : at + 1 + length]).decode()
        dtype = _EXTENDED.get(name) or np.dtype(name)
        at += 1 + length
    rank = data[at]
    shape = struct.unpack_from(f"<{rank}q", data, at + 1)
    at += 1 + 8 * rank
    count = math.prod(shape)
    if min(shape, default=0) < 0 or (kind != _NUMBERS and count > len(data)):
        raise errors.DataLossError(None, None, f"The shape {shape} is impossible.")
    if kind == _NUMBERS:
        size = count * dtype.itemsize
        return np.frombuffer(data, dtype, count, at).reshape(shape), at + size
    items = np.empty(count, object)
    if kind == _STRINGS:
        lengths = np.frombuffer(data, np.int64, count, at).tolist()
        at += 8 * count
        for i, length in enumerate(lengths):
            items[i] = bytes(data[at : at + length])
            at += length
        return items.reshape(shape), at
    for i in range(count):
        which = data[at]
        if which == _ARRAY:
            array, at = _unpacked(data, at + 1)
            items[i] = TensorVariant(array)
        else:
            parts, at = _unpacked_element(data, at + 1)
            items[i] = RaggedVariant(list(parts[:-1]), parts[-1])
    return items.reshape(shape), at
