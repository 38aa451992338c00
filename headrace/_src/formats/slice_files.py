"""Checkpoint files of TensorFlow's first version: a sorted table with the list of tensors and their values as messages.

A checkpoint of several shards is several such files, which are found by a pattern such as "model-?????-of-00002".
"""

import math
import os
from collections.abc import Iterable, KeysView, Sequence
from typing import NamedTuple

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import LazyModule, protobuf_message
from headrace._src.formats import durable_files, files
from headrace._src.formats.bundle_entries import Entry
from headrace._src.formats.sorted_table import Table, TableWriter
from headrace._src.formats.tensor_slices import TensorSlice, disjoint, whole

_messages = LazyModule("headrace._src.formats.checkpoint_messages")
_protos = LazyModule("headrace._src.formats.tensor_protos")

_VERSION = 1
# The field of `TensorProto` that holds the values, by dtype. TF: other dtypes cannot be in such files.
_FIELDS = {
    **dict.fromkeys(["int8", "int16", "int32", "uint8", "uint16", "qint8", "quint8", "qint32"], "int_val"),
    "float32": "float_val", "float64": "double_val", "int64": "int64_val", "bool": "bool_val", "string": "string_val",
    "complex64": "scomplex_val", "complex128": "dcomplex_val", "float16": "half_val",
}  # fmt: skip


class _Stored(NamedTuple):
    """A tensor of the files: its parts, and for each the table that it is in and the path of that."""

    dtype: dtypes.DType
    shape: tuple[int, ...]
    parts: list[tuple[TensorSlice, Table, str]]


class SliceFiles:
    """Reads the tensors of the files that match a pattern; with the methods of `BundleReader` that list them too.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: a file is damaged, or is no checkpoint.
    """

    def __init__(self, pattern: str):
        paths = files.matching(pattern)
        if not paths:
            raise errors.not_found(
                f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {pattern}"
            )
        self.pattern = self.prefix = pattern
        self.tensors: dict[str, _Stored] = {}
        for path in paths:
            self._add(path)
        self.entries = {
            name: Entry(stored.dtype, stored.shape, slices=tuple(part for part, *_ in stored.parts))
            for name, stored in sorted(self.tensors.items())
        }

    def _add(self, path):
        table = Table(files.read(path), path)
        entries = _message(table.get(b""), path, "the list of tensors").meta.tensor
        for entry in entries:
            try:
                dtype = dtypes.as_dtype(entry.type)
                shape = _protos.proto_to_shape(entry.shape)
            except (TypeError, ValueError) as error:
                raise errors.data_loss(f"{path}: tensor {entry.name!r}: {error}") from None
            if shape is None or None in shape or dtype.name not in _FIELDS:
                raise errors.data_loss(f"{path}: tensor {entry.name!r} has dtype {dtype.name} and shape {shape}.")
            stored = self.tensors.setdefault(entry.name, _Stored(dtype, shape, []))
            if (stored.dtype, stored.shape) != (dtype, shape):
                raise errors.data_loss(
                    f"{path}: tensor {entry.name!r} has dtype {dtype.name} and shape {shape}, in another file "
                    f"{stored.dtype.name} and {stored.shape}."
                )
            stored.parts.extend((_slice_of(proto), table, path) for proto in entry.slice)

    def __contains__(self, name: str) -> bool:
        return name in self.tensors

    def __len__(self):
        return len(self.entries)

    def keys(self) -> KeysView[str]:
        """The names of the tensors, sorted."""
        return self.entries.keys()

    def entry(self, name: str) -> Entry:
        """The dtype, the shape and the parts of a tensor."""
        self.stored(name)
        return self.entries[name]

    def stored(self, name: str) -> _Stored:
        """What the files say of a tensor."""
        if name not in self.tensors:
            raise errors.not_found(f'Tensor name "{name}" not found in checkpoint files {self.pattern}')
        return self.tensors[name]

    def read(self, name: str, part: TensorSlice | None = None) -> np.ndarray:
        """A tensor, or a part of it, put together from the parts in the files.

        Raises:
            NotFoundError: the tensor is not in the files, or not all of it.
            DataLossError: a part is damaged.
        """
        stored = self.stored(name)
        wanted = (part or whole(len(stored.shape))).resolved(stored.shape)
        pieces = [_Piece(name, stored, *each) for each in stored.parts]
        exact = next((piece for piece in pieces if piece.resolved == wanted), None)
        if exact is not None:
            return exact.values()
        overlaps = [(piece, piece.resolved.overlap(wanted)) for piece in pieces]
        overlaps = [(piece, common) for piece, common in overlaps if common is not None]
        covered = sum(math.prod(common.lengths) for _, common in overlaps)
        if covered != math.prod(wanted.lengths) or not disjoint([common for _, common in overlaps]):
            raise errors.not_found(
                f"{self.pattern}: the parts in the files do not cover {wanted} of the tensor {name!r} once."
            )
        result = np.empty(wanted.lengths, stored.dtype._np)
        for piece, common in overlaps:
            values = piece.values()[common.shifted(piece.resolved.starts).indices()]
            result[common.shifted(wanted.starts).indices()] = values
        return result

    def read_many(self, names: Sequence[str]) -> list[np.ndarray]:
        """Several tensors."""
        return [self.read(name) for name in names]

    def verify(self, name: str) -> None:
        """Reads a tensor to see whether it is as it was written.

        Raises:
            NotFoundError: the tensor is not in the files, or not all of it.
            DataLossError: a part is damaged.
        """
        self.read(name)

    def close(self) -> None:
        """The files were read as a whole: there is nothing to close."""


class _Piece:
    """A part of a tensor in a file."""

    def __init__(self, name, stored, written, table, path):
        self._name, self._dtype, self._written, self._table, self._path = name, stored.dtype, written, table, path
        try:
            self.resolved = written.resolved(stored.shape)
        except ValueError as error:
            raise errors.data_loss(f"{path}: tensor {name!r}: {error}") from None

    def values(self) -> np.ndarray:
        dtype = self._dtype
        where = f"the part {self._written} of tensor {self._name!r}" if self._written.starts else repr(self._name)
        proto = _message(self._table.get(self._written.key(self._name)), self._path, where).data.data
        numbers = getattr(proto, _FIELDS[dtype.name])
        size = math.prod(self.resolved.lengths)
        if len(numbers) != size * (2 if dtype._kind == "c" else 1):
            raise errors.data_loss(f"{self._path}: {where} has {len(numbers)} values, {size} are expected.")
        if dtype._kind == "s":
            values = np.empty(size, object)
            values[:] = list(numbers)
        elif dtype._kind == "c":
            values = np.array(numbers, dtype.real_dtype._np).view(dtype._np)
        elif dtype.name == "float16":
            values = np.array(numbers, np.uint16).view(np.float16)
        else:
            values = np.array(numbers, np.float64 if dtype._kind == "f" else np.int64).astype(dtype._np)
        return values.reshape(self.resolved.lengths)


def _slice_of(proto):
    lengths = tuple(extent.length if extent.HasField("length") else -1 for extent in proto.extent)
    return TensorSlice(tuple(extent.start for extent in proto.extent), lengths)


def _message(data, path, what):
    if data is None:
        raise errors.data_loss(f"{path}: {what} is missing: this is no checkpoint file of version 1.")
    message = _messages.SavedTensorSlices()
    try:
        message.ParseFromString(data)
    except protobuf_message.DecodeError as error:
        raise errors.data_loss(f"{path}: {what} cannot be decoded: {error}") from None
    return message


def write_slice_file(path: str, tensors: Iterable[tuple[str, dtypes.DType, np.ndarray, tuple, TensorSlice]]) -> None:
    """Writes tensors, or parts of them, as one file.

    Args:
        path: the file; it is replaced in one step.
        tensors: (name, dtype, array, shape of the whole tensor, which part of it the array is).
    """
    meta = _messages.SavedTensorSlices()
    meta.meta.versions.producer = _VERSION
    listed: dict = {}
    entries = {}
    for name, dtype, array, shape, part in tensors:
        if dtype.name not in _FIELDS:
            raise errors.unimplemented(
                f"Saving data type {dtype.name} not yet supported by checkpoints of version 1: use SaveV2."
            )
        if name not in listed:
            listed[name] = _messages.SavedSliceMeta(
                name=name, type=dtype.as_datatype_enum, shape=_protos.shape_to_proto(shape)
            )
        key = part.key(name)
        if key in entries:
            raise errors.invalid_argument(f"Adding duplicate key: {name} {part}")
        _fill_slice(listed[name].slice.add(), part)
        entries[key] = _data_message(name, dtype, array, part)
    meta.meta.tensor.extend(listed[name] for name in sorted(listed))
    pieces: list[bytes] = []
    writer = TableWriter(pieces.append)
    writer.add(b"", meta.SerializeToString())
    for key in sorted(entries):
        writer.add(key, entries[key])
    writer.finish()
    durable_files.make_folders(os.path.dirname(path))
    durable_files.replace(path, b"".join(pieces))


def _fill_slice(proto, part):
    for start, length in zip(part.starts, part.lengths):
        extent = proto.extent.add(start=start)
        if length != -1:
            extent.length = length


def _data_message(name, dtype, array, part):
    message = _messages.SavedTensorSlices()
    message.data.name = name
    message.data.slice.SetInParent()  # TF: also for scalars
    _fill_slice(message.data.slice, part)
    message.data.data.SetInParent()
    flat = np.ascontiguousarray(array).reshape(-1)
    if dtype._kind == "c":
        flat = flat.view(dtype.real_dtype._np)
    elif dtype.name == "float16":
        flat = flat.view(np.uint16)
    getattr(message.data.data, _FIELDS[dtype.name]).extend(flat.tolist())
    return message.SerializeToString()
