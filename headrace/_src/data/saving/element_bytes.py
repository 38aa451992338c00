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
_DEEPEST = 16  # variants in variants
_EXTENDED = [getattr(ml_dtypes, name) for name in dir(ml_dtypes)]
_DTYPES = {
    dtype.name: dtype
    for dtype in [
        *[np.dtype(code) for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?"],
        *[np.dtype(kind) for kind in _EXTENDED if isinstance(kind, type) and issubclass(kind, np.generic)],
    ]
}


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
    """The element in bytes, or in a view of them: arrays of numbers share its memory.

    Raises:
        DataLossError: it is no element. This is found out before memory is taken for it.
    """
    try:
        element, at = _unpacked_element(data, 0, 0)
    except (struct.error, IndexError, UnicodeDecodeError):
        raise errors.data_loss(f"{len(data)} bytes that end within an element.") from None
    if at != len(data):
        raise errors.data_loss(f"An element of {len(data)} bytes ends after {at}.")
    return element


def _unpacked_element(data, at, depth):
    (count,) = struct.unpack_from("<I", data, at)
    at += 4
    element = []
    for _ in range(count):
        array, at = _unpacked(data, at, depth)
        element.append(array)
    return tuple(element), at


def _unpacked(data, at, depth):
    kind = data[at]
    at += 1
    dtype = None
    if kind == _NUMBERS:
        length = data[at]
        name = bytes(data[at + 1 : at + 1 + length]).decode()
        dtype = _DTYPES.get(name)
        if dtype is None:
            raise errors.data_loss(f"There is no dtype {name!r}.")
        at += 1 + length
    rank = data[at]
    shape = struct.unpack_from(f"<{rank}q", data, at + 1)
    at += 1 + 8 * rank
    count, left = math.prod(shape), len(data) - at
    least = dtype.itemsize if kind == _NUMBERS else 8 if kind == _STRINGS else 1
    if min(shape, default=0) < 0 or count * least > left or rank > 64:
        raise errors.data_loss(f"The shape {list(shape)} is impossible: {left} bytes are left.")
    if not count and math.prod(size or 1 for size in shape) >> 48:  # NumPy refuses these, whatever the zero beside them
        raise errors.data_loss(f"The shape {list(shape)} is impossible.")
    if kind == _NUMBERS:
        return np.frombuffer(data, dtype, count, at).reshape(shape), at + count * dtype.itemsize
    if kind == _STRINGS:
        return _strings(data, at, count, shape)
    if kind == _VARIANTS:
        return _variants(data, at, count, shape, depth + 1)
    raise errors.data_loss(f"There is no kind {kind} of components.")


def _strings(data, at, count, shape):
    items = np.empty(count, object)
    lengths = np.frombuffer(data, np.int64, count, at).tolist()
    at += 8 * count
    if min(lengths, default=0) < 0 or sum(lengths) > len(data) - at:
        raise errors.data_loss(f"The lengths of {count} strings do not fit the {len(data) - at} bytes that are left.")
    for i, length in enumerate(lengths):
        items[i] = bytes(data[at : at + length])
        at += length
    return items.reshape(shape), at


def _variants(data, at, count, shape, depth):
    if depth > _DEEPEST:
        raise errors.data_loss("Variants are nested too deeply.")
    items = np.empty(count, object)
    for i in range(count):
        which = data[at]
        if which == _ARRAY:
            array, at = _unpacked(data, at + 1, depth)
            items[i] = TensorVariant(array)
        elif which == _RAGGED:
            parts, at = _unpacked_element(data, at + 1, depth)
            items[i] = _ragged(parts)
        else:
            raise errors.data_loss(f"There is no kind {which} of variants.")
    return items.reshape(shape), at


def _ragged(parts):
    if not parts:
        raise errors.data_loss("A ragged tensor has no values.")
    splits, values = list(parts[:-1]), parts[-1]
    for outer, inner in zip(splits, [*splits[1:], values]):
        # Splits end where the rows below them do: splits are one more than these.
        rows = (inner.shape[0] - (inner is not values)) if inner.ndim else -1
        is_right = (
            outer.dtype in (np.int32, np.int64) and outer.ndim == 1 and outer.size
            and outer[0] == 0 and outer[-1] == rows and (outer[1:] >= outer[:-1]).all()
        )  # fmt: skip
        if not is_right:
            raise errors.data_loss("The rows of a ragged tensor do not fit its values.")
    return RaggedVariant(splits, values)
