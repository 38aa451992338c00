"""The header of safetensors files: a length, then names, dtypes, shapes and places of tensors as JSON.

A file is eight bytes with the length of the header, the header, and the bytes of the tensors, one behind the other
without gaps. Any header that is not of this form is refused before anything else is read.
"""

import json
import math
from collections.abc import Mapping
from typing import NamedTuple

from headrace._src.core import dtypes, errors

PREFIX_SIZE = 8
_LONGEST = 100_000_000  # as other readers: more than any model has
_METADATA = "__metadata__"
_ALIGNMENT = 8
_MOST_DIMENSIONS = 64  # of NumPy's arrays
_LARGEST = 2**63

# In the order in which the format's own library writes tensors: the first ones stand last in a file.
_DTYPES = {
    "BOOL": dtypes.bool, "U8": dtypes.uint8, "I8": dtypes.int8, "F8_E5M2": dtypes.float8_e5m2,
    "F8_E4M3": dtypes.float8_e4m3fn, "F8_E4M3FNUZ": dtypes.float8_e4m3fnuz, "F8_E5M2FNUZ": dtypes.float8_e5m2fnuz,
    "I16": dtypes.int16, "U16": dtypes.uint16, "F16": dtypes.float16, "BF16": dtypes.bfloat16, "I32": dtypes.int32,
    "U32": dtypes.uint32, "F32": dtypes.float32, "C64": dtypes.complex64, "F64": dtypes.float64, "I64": dtypes.int64,
    "U64": dtypes.uint64,
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_RANKS = {name: rank for rank, name in enumerate(_DTYPES)}
_OTHERS = ("F4", "F6_E2M3", "F6_E3M2", "F8_E8M0")  # for which tensors have no dtype


class Place(NamedTuple):
    """A tensor of a file: its dtype and shape, and where its bytes begin and end, counted from those of the first."""

    dtype: dtypes.DType
    shape: tuple[int, ...]
    start: int
    stop: int


class Header(NamedTuple):
    """What a file holds: tensors by name, in the order of their bytes, and texts by name."""

    places: dict[str, Place]
    metadata: dict[str, str]


def dtype_name(dtype: dtypes.DType, name: str) -> str:
    """What a dtype is called in files.

    Raises:
        InvalidArgumentError: no file can have a tensor of it.
    """
    if dtype not in _NAMES:
        raise errors.invalid_argument(
            f"safetensors: tensor {name!r} is {dtype.name}, which the format does not have. It has "
            f"{', '.join(each.name for each in _NAMES)}."
        )
    return _NAMES[dtype]


def planned(tensors: Mapping[str, tuple[dtypes.DType, tuple[int, ...]]]) -> dict[str, Place]:
    """Where tensors stand in a file, in that order: the largest elements first, so that all are aligned; then by name.

    Raises:
        InvalidArgumentError: a tensor cannot be in a file.
    """
    ordered = sorted(tensors, key=lambda name: (-_RANKS[dtype_name(tensors[name][0], name)], name))
    places, end = {}, 0
    for name in ordered:
        dtype, shape = tensors[name]
        if name == _METADATA:
            raise errors.invalid_argument(f"safetensors: no tensor can have the name {_METADATA!r}.")
        start, end = end, end + math.prod(shape) * dtype._np.itemsize
        places[name] = Place(dtype, tuple(shape), start, end)
    return places


def encode(header: Header) -> bytes:
    """The beginning of a file, up to the bytes of the first tensor."""
    fields: dict = {}
    if header.metadata:
        fields[_METADATA] = header.metadata
    for name, (dtype, shape, start, stop) in header.places.items():
        fields[name] = {"dtype": _NAMES[dtype], "shape": shape, "data_offsets": (start, stop)}
    try:
        text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise errors.invalid_argument(f"safetensors: a name or a metadata text is no UTF-8 text: {error}.") from None
    text += b" " * (-len(text) % _ALIGNMENT)
    if len(text) > _LONGEST:
        raise errors.invalid_argument(
            f"safetensors: the header would have {len(text)} bytes, and {_LONGEST} are the most that readers take. "
            "Save the tensors into several files, or shorten the metadata."
        )
    return len(text).to_bytes(PREFIX_SIZE, "little") + text


def header_length(data: bytes, size: int, where: str) -> int:
    """The length that the first bytes of a file say the header has.

    Args:
        data: these bytes.
        size: that of the file.
        where: what errors call it.

    Raises:
        DataLossError: no file begins so.
    """
    if len(data) < PREFIX_SIZE:
        raise _damaged(where, f"it has {size} bytes, and the length of the header alone takes {PREFIX_SIZE}")
    length = int.from_bytes(data, "little")
    if length > _LONGEST:
        raise _damaged(where, f"its header is said to have {length} bytes, more than the {_LONGEST} that are possible")
    if PREFIX_SIZE + length > size:
        raise _damaged(where, f"its header is said to have {length} bytes, but the file ends at {size}: is it cut off?")
    return length


def decode(data: bytes, size: int, where: str) -> Header:
    """What a header says, after it was checked.

    Args:
        data: the header, without its length.
        size: the number of bytes that follow it.
        where: what errors call the file.

    Raises:
        DataLossError: it is not sound.
        UnimplementedError: a tensor is of a dtype that there is no tensor of here.
    """
    fields = _object(data, where)
    metadata = _metadata(fields.pop(_METADATA, {}), where)
    places = {name: _place(name, value, where) for name, value in fields.items()}
    ordered = dict(sorted(places.items(), key=lambda item: (item[1].start, item[1].stop)))
    end = 0
    for name, place in ordered.items():
        if place.start != end:
            what = "overlaps the one before it" if place.start < end else "does not follow the one before it"
            raise _damaged(where, f"tensor {name!r} at offset {place.start} {what}, which ends at {end}")
        end = place.stop
    if end != size:
        short = "it is truncated" if end > size else "what comes behind them belongs to none"
        raise _damaged(where, f"its tensors end at offset {end}, but {size} bytes follow the header: {short}")
    return Header(ordered, metadata)


def _damaged(where, what):
    return errors.data_loss(f"{where}: this is no sound safetensors file: {what}.")


class _Repeated(ValueError):
    pass


def _once(pairs):
    found = {}
    for key, value in pairs:
        if key in found:
            raise _Repeated(f"{key!r} stands twice in it")
        found[key] = value
    return found


def _object(data, where):
    if data[:1] != b"{":
        raise _damaged(where, f"its header begins with {data[:1]!r} and not with {{")
    try:
        fields = json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_refused)
    except RecursionError:
        raise _damaged(where, "its header is nested too deeply") from None
    except ValueError as error:  # of the encoding, of JSON, or of the hooks above
        raise _damaged(where, f"its header cannot be read: {error}") from None
    if not isinstance(fields, dict):
        raise _damaged(where, "its header is no JSON object")
    return fields


def _refused(name):
    raise ValueError(f"it has the number {name}")


def _metadata(value, where):
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise _damaged(where, f"{_METADATA} must map texts to texts")
    return value


def _place(name, value, where):
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        what = f"the fields {sorted(value)}" if isinstance(value, dict) else _short(value)
        raise _damaged(where, f"tensor {name!r} has {what}, and should have dtype, shape and data_offsets")
    kind, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if kind in _OTHERS:
        raise errors.unimplemented(f"{where}: tensor {name!r} is {kind}, of which there are no tensors here.")
    dtype = _DTYPES.get(kind) if isinstance(kind, str) else None
    if dtype is None:
        raise _damaged(where, f"tensor {name!r} has the unknown dtype {_short(kind)}")
    if not _are_sizes(shape) or len(shape) > _MOST_DIMENSIONS:
        raise _damaged(where, f"tensor {name!r} has the shape {_short(shape)}")
    if not _are_sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise _damaged(where, f"tensor {name!r} has the data_offsets {_short(offsets)}")
    needed = math.prod(shape) * dtype._np.itemsize
    if offsets[1] - offsets[0] != needed:
        raise _damaged(
            where,
            f"tensor {name!r} has {offsets[1] - offsets[0]} bytes at offset {offsets[0]}, but {kind} of shape "
            f"{_short(shape)} takes {needed}",
        )
    if math.prod(filter(None, shape)) * dtype._np.itemsize >= _LARGEST:
        raise _damaged(where, f"tensor {name!r} has the shape {_short(shape)}, which no array can have")
    return Place(dtype, tuple(shape), *offsets)


def _are_sizes(values):
    return isinstance(values, list) and all(type(value) is int and 0 <= value < _LARGEST for value in values)


def _short(value):
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
