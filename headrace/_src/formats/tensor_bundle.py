"""Checkpoints as TensorFlow writes them ("tensor bundles"): a table of tensors, and files with their bytes.

`BundleReader` reads what is asked for, and verifies it. `BundleWriter` and `write_bundle` write tensor after tensor,
so that no more memory is taken than for one.
"""

import contextlib
import math
import sys
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.formats import bundle_files, durable_files, files, folder_locks
from headrace._src.formats.bundle_entries import Entry, decode_entry, decode_header, encode_entry, encode_header
from headrace._src.formats.bundle_strings import read_strings, read_variants, write_strings, write_variants
from headrace._src.formats.checksums import extend_checksum, masked
from headrace._src.formats.durable_files import NewFile, folder_of
from headrace._src.formats.random_access import RandomAccessFile
from headrace._src.formats.sorted_table import Table, TableWriter
from headrace._src.formats.tensor_slices import TensorSlice, disjoint, whole

_PIECE = 1 << 20
_SMALL = 1 << 14  # tensors of so many bytes are read together with their neighbours
_ATTEMPTS = 50
_MOST_OPENED = 64  # of more files of data, only those are opened that are asked for
_HEADER_KEY = b""


class BundleReader:
    """The tensors of a checkpoint.

    Strings are arrays of bytes; variants are arrays of encoded `VariantTensorDataProto` messages.

    Args:
        prefix: of the checkpoint's files; one of these files is understood too.

    Attributes:
        prefix: without the ending of a file.
        entries: key to `Entry`, for all tensors.

    Raises:
        NotFoundError: there is no such checkpoint.
        DataLossError: a file is damaged; from all methods.
    """

    def __init__(self, prefix):
        self.prefix = bundle_files.plain_prefix(prefix)
        self._data: dict[int, RandomAccessFile] = {}
        for attempt in range(_ATTEMPTS):
            # Another process may just now put a checkpoint in the place of this one. Once all files are open, they
            # stay what they are.
            identity = bundle_files.identity(self.prefix)
            try:
                self._open()
                if attempt == _ATTEMPTS - 1 or identity == bundle_files.identity(self.prefix):
                    break
            except errors.OpError:
                self.close()
                if attempt == _ATTEMPTS - 1 or identity == bundle_files.identity(self.prefix):
                    raise
            self.close()
        self.entries: Mapping[str, Entry] = _Entries(self._raw, self._decode)

    def _open(self):
        self._ending = bundle_files.current_ending(self.prefix)
        self._where = bundle_files.index_path(self.prefix) + self._ending
        try:
            index = RandomAccessFile(self._where)
        except errors.NotFoundError:
            raise errors.not_found(
                f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {self.prefix}: "
                f"there is no {self._where}."
            ) from None
        with contextlib.closing(index):
            self._raw, self._parts = self._read_index(index)
        if self._shards <= _MOST_OPENED:
            for shard in range(self._shards):
                with contextlib.suppress(errors.NotFoundError):
                    self._open_data(shard)

    def _read_index(self, file):
        """Key to encoded entry, for tensors, and for slices of them."""
        table = Table(file, self._where).items()
        key, header = next(table, (None, b""))
        if key != _HEADER_KEY:
            raise errors.data_loss(f"{self._where}: Failed to seek to header entry: this is no index of a checkpoint.")
        try:
            self._shards, self._order = decode_header(header)
        except ValueError as error:
            raise errors.data_loss(f"{self._where}: the header cannot be read: {error}.") from None
        raw, parts = {}, {}
        for key, value in table:
            if key[0]:
                raw[key.decode("utf-8", "surrogateescape")] = value
            else:  # the data of a slice of a tensor
                parts[key] = value
        return raw, parts

    def _open_data(self, shard):
        file = self._data.get(shard)
        if file is None:
            path = bundle_files.data_path(self.prefix, shard, self._shards)
            if self._ending and files.exists(path + self._ending):
                path += self._ending
            file = self._data[shard] = RandomAccessFile(path)
        return file

    def _decode(self, key, data):
        try:
            return decode_entry(data)
        except ValueError as error:
            raise errors.data_loss(f"{self._where}: the entry of key {key!r} cannot be read: {error}.") from None

    def keys(self) -> KeysView[str]:
        """The names of the tensors, sorted."""
        return self._raw.keys()

    def __contains__(self, key):
        return key in self._raw

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self):
        return len(self._raw)

    def entry(self, key: str) -> Entry:
        """What the index says about a tensor.

        Raises:
            NotFoundError: there is no such tensor.
        """
        try:
            return self.entries[key]
        except KeyError:
            raise errors.not_found(f"Key {key} not found in checkpoint {self.prefix}.") from None

    def read(self, key: str, part: TensorSlice | None = None) -> np.ndarray:
        """A tensor, or a part of it, as an array of its own. Partitioned ones are put together."""
        entry = self.entry(key)
        if part is None and not entry.slices:
            return self._read_entry(entry, key)
        try:
            part = (part or whole(len(entry.shape))).resolved(entry.shape)
        except ValueError as error:
            raise errors.invalid_argument(f"Key {key} of checkpoint {self.prefix}: {error}.") from None
        if entry.slices:
            return self._joined(key, entry, part)
        array = self._read_entry(entry, key)
        return array if part.lengths == entry.shape else array[part.indices()].copy()

    def read_many(self, keys: Sequence[str]) -> list[np.ndarray]:
        """Several tensors, as arrays of their own. Small ones that lie together are read together."""
        entries = [self.entry(key) for key in keys]
        arrays: list[Any] = [None] * len(keys)
        together: list[int] = []
        for number in sorted(range(len(keys)), key=lambda n: (entries[n].shard, entries[n].offset)):
            entry = entries[number]
            if entry.slices or entry.dtype._kind in "sv" or entry.size > _SMALL or not entry.size:
                arrays[number] = self.read(keys[number])
                continue
            first = entries[together[0]] if together else entry
            last = entries[together[-1]] if together else entry
            end = entry.offset + entry.size
            if entry.shard != first.shard or end - first.offset > _PIECE or entry.offset - last.offset > 2 * _SMALL:
                self._read_together(keys, entries, together, arrays)
                together = []
            together.append(number)
        self._read_together(keys, entries, together, arrays)
        return arrays

    def _read_together(self, keys, entries, together, arrays):
        """Read a part of a file that has several small tensors, and take these from it."""
        if not together:
            return
        for number in together:
            file = self._sized_data_of(entries[number], keys[number])
        start = entries[together[0]].offset
        data = file.read_at(start, max(entries[n].offset + entries[n].size for n in together) - start)
        for number in together:
            entry = entries[number]
            at = entry.offset - start
            piece = data[at : at + entry.size]
            self._verify(entry, keys[number], extend_checksum(0, piece))
            array = np.frombuffer(piece, entry.dtype._np).reshape(entry.shape)
            arrays[number] = array.byteswap() if self._order == ">" else array.copy()

    def verify(self, key: str) -> None:
        """Reads a tensor to see whether it is as it was written, in little memory; strings as a whole.

        Raises:
            NotFoundError: there is no such tensor.
            DataLossError: it is damaged.
        """
        entry = self.entry(key)
        if entry.slices or entry.dtype._kind in "sv":
            self.read(key)
            return
        file, piece = self._sized_data_of(entry, key), np.empty(min(entry.size, _PIECE), np.uint8)
        value = 0
        for start in range(0, entry.size, _PIECE):
            part = piece[: entry.size - start]
            file.read_into(entry.offset + start, part)
            value = extend_checksum(value, part)
        self._verify(entry, key, value)

    @property
    def shards(self) -> int:
        """The number of files of data."""
        return self._shards

    def slice_entries(self) -> dict[bytes, Entry]:
        """The entries of slices of partitioned tensors, by their keys in the table."""
        return {key: self._decode(repr(key), data) for key, data in self._parts.items()}

    def close(self) -> None:
        """Closes the files."""
        for file in self._data.values():
            file.close()
        self._data.clear()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def _damage(self, key, entry, text):
        path = bundle_files.data_path(self.prefix, entry.shard, self._shards)
        return errors.data_loss(f"{path}: key {key!r} at offset {entry.offset}: {text}.")

    def _read_entry(self, entry, key):
        count = math.prod(entry.shape)
        kind = entry.dtype._kind
        if kind in "sv":
            if entry.size < (count + 4 if kind == "s" else 5 * count):  # before memory is taken for so many
                raise self._damage(key, entry, f"{count} elements of {entry.dtype.name} in {entry.size} bytes")
            return self._read_objects(entry, key, count)
        file = self._sized_data_of(entry, key)
        array = np.empty(entry.shape, entry.dtype._np)
        view, value = array.reshape(-1).view(np.uint8), 0
        for start in range(0, entry.size, _PIECE):  # what was just read is in the cache when it is summed up
            piece = view[start : start + _PIECE]
            file.read_into(entry.offset + start, piece)
            value = extend_checksum(value, piece)
        self._verify(entry, key, value)
        return array.byteswap() if self._order == ">" else array

    def _sized_data_of(self, entry, key):
        """The file that a tensor of numbers is in, which has as many bytes for it as it takes."""
        size = math.prod(entry.shape) * entry.dtype._np.itemsize
        if entry.size != size:
            raise self._damage(
                key,
                entry,
                f"it is said to have {entry.size} bytes, but {entry.dtype.name} of shape {list(entry.shape)} "
                f"takes {size}",
            )
        return self._data_of(entry, key)

    def _data_of(self, entry, key):
        """The file that a tensor is in, which is long enough."""
        if entry.shard >= self._shards:
            raise errors.data_loss(
                f"{self._where}: key {key!r} is said to be in file {entry.shard} of data, but there are {self._shards}."
            )
        try:
            file = self._open_data(entry.shard)
        except errors.NotFoundError as error:
            raise errors.not_found(
                f"{error.message}. It should have key {key!r} of checkpoint {self.prefix}, whose index is there. Copy "
                "all files that begin with the prefix."
            ) from None
        if entry.offset + entry.size > file.size:
            raise self._damage(
                key, entry, f"it needs {entry.size} bytes, but the file ends at {file.size}: it is truncated"
            )
        return file

    def _verify(self, entry, key, value):
        computed = masked(value)
        if computed != entry.checksum:
            raise self._damage(
                key,
                entry,
                f"checksum does not match: {entry.checksum:#010x} is stored, {computed:#010x} is that of its "
                f"{entry.size} bytes",
            )

    def _read_objects(self, entry, key, count):
        data = self._data_of(entry, key).read_at(entry.offset, entry.size)
        reading = read_strings if entry.dtype._kind == "s" else read_variants
        try:
            elements, value = reading(data, count, self._order)
        except ValueError as error:
            raise self._damage(key, entry, str(error)) from None
        self._verify(entry, key, value)
        array = np.empty(count, object)
        array[:] = elements
        return array.reshape(entry.shape)

    def _joined(self, key, entry, wanted):
        """A part of a partitioned tensor, of the slices that there are."""
        pieces = []
        for part in entry.slices:
            piece = self._part(key, entry, part)
            overlap = piece[0].overlap(wanted)
            if overlap is not None:
                pieces.append((*piece, overlap))
        overlaps = [overlap for *_, overlap in pieces]
        covered = sum(math.prod(overlap.lengths) for overlap in overlaps)
        if covered != math.prod(wanted.lengths) or not disjoint(overlaps):
            raise errors.data_loss(
                f"{self._where}: the slices of key {key!r} do not cover its shape {list(entry.shape)} once."
            )
        for _, inner, name, _ in pieces:
            self._check_size(inner, name)
        result = np.empty(wanted.lengths, entry.dtype._np)
        for part, inner, name, overlap in pieces:
            array = self._read_entry(inner, name)
            result[overlap.shifted(wanted.starts).indices()] = array[overlap.shifted(part.starts).indices()]
        return result

    def _check_size(self, entry, name):
        file = self._data_of(entry, name)
        if entry.dtype._kind in "sv":
            return
        size = math.prod(entry.shape) * entry.dtype._np.itemsize
        if size > file.size:
            raise self._damage(name, entry, f"it takes {size} bytes, and the file has {file.size}")

    def _part(self, key, entry, part):
        """A slice that the index lists: resolved, its entry, and what errors call it."""
        name = f"{key} [{part}]"
        data = self._parts.get(part.key(key))
        if data is None:
            raise errors.data_loss(f"{self._where}: the slice {part} of key {key!r} is listed, but not there.")
        inner = self._decode(name, data)
        try:
            resolved = part.resolved(entry.shape)
        except ValueError as error:
            raise errors.data_loss(f"{self._where}: key {key!r}: {error}.") from None
        if inner.dtype is not entry.dtype or inner.shape != resolved.lengths or inner.slices:
            raise errors.data_loss(
                f"{self._where}: the slice {part} of key {key!r} is {inner.dtype.name} of shape {list(inner.shape)}, "
                f"but {entry.dtype.name} of shape {list(resolved.lengths)} was expected."
            )
        return resolved, inner, name


class _Entries(Mapping):
    """Entries, which are decoded when they are first asked for."""

    def __init__(self, raw, decode):
        self._raw = raw
        self._decode = decode
        self._decoded: dict[str, Entry] = {}

    def __getitem__(self, key):
        entry = self._decoded.get(key)
        if entry is None:
            entry = self._decoded[key] = self._decode(key, self._raw[key])
        return entry

    def __iter__(self):
        return iter(self._raw)

    def __len__(self):
        return len(self._raw)


class BundleWriter:
    """Writes a checkpoint, tensor after tensor. It appears when `finish` returns, and then would survive a power cut.

    As a context manager it finishes at the end of the block, or leaves everything as it was if that raises.

    Args:
        prefix: of the files. A checkpoint that has it already stays until `finish`.
        shards: the number of files for data.
    """

    def __init__(self, prefix, shards: int = 1):
        self.prefix = files.path_string(prefix)
        if not 0 < shards < 100_000:
            raise ValueError(f"shards must be from 1 to 99999, got {shards}.")
        self._entries: dict[str, Entry] = {}
        self._parts: dict[bytes, Entry] = {}
        self._data: list[NewFile] = []
        self._lock = contextlib.ExitStack()
        place = durable_files.local_path(self.prefix)
        try:
            if place is not None:
                self._lock.enter_context(folder_locks.only_writer(folder_of(place)))
                durable_files.remove_leftovers(folder_of(place))
                bundle_files.finish_pending(self.prefix)
            for shard in range(shards):
                self._data.append(NewFile(bundle_files.data_path(self.prefix, shard, shards)))
        except BaseException:
            self.discard()
            raise

    def add(self, key: str, dtype: dtypes.DType, value: np.ndarray | Callable[[], np.ndarray], shard=None) -> None:
        """Writes a tensor.

        Args:
            key: its name.
            dtype: its dtype.
            value: an array as kernels use it for this dtype, or a function that makes it when it is time. Strings are
                bytes, variants are encoded `VariantTensorDataProto` messages.
            shard: the number of the file that it goes to; the shortest one if it is not said.
        """
        if key in self._entries:
            raise errors.invalid_argument(f"Adding duplicate key: {key}, in checkpoint {self.prefix}.")
        if not key or key[0] == "\0":
            raise errors.invalid_argument(
                f"A name in a checkpoint must not be empty or begin with a zero, got {key!r}."
            )
        self._entries[key] = self._write(dtype, value() if callable(value) else value, shard)

    def add_slice(self, key: str, dtype: dtypes.DType, value, shape: tuple[int, ...], part: TensorSlice, shard=None):
        """Writes a part of a tensor that is partitioned.

        Args:
            key, dtype, value, shard: as for `add`; the value is the part.
            shape: that of the whole tensor.
            part: which part this is. All parts together must cover the tensor once.
        """
        array = value() if callable(value) else value
        try:
            lengths = part.resolved(shape).lengths
        except ValueError as error:
            raise errors.invalid_argument(f"Key {key} of checkpoint {self.prefix}: {error}.") from None
        if tuple(array.shape) != lengths:
            raise errors.invalid_argument(
                f"Key {key} of checkpoint {self.prefix}: the slice {part} has the shape {list(lengths)}, but the value "
                f"has {list(array.shape)}."
            )
        whole = self._entries.get(key, Entry(dtype, tuple(shape)))
        if (whole.dtype, whole.shape) != (dtype, tuple(shape)) or (key in self._entries and not whole.slices):
            raise errors.invalid_argument(
                f"Key {key} of checkpoint {self.prefix}: its slices are of {whole.dtype.name} {list(whole.shape)} and "
                f"of {dtype.name} {list(shape)}."
            )
        if part.key(key) in self._parts:
            raise errors.invalid_argument(f"Adding duplicate slice {part} of key {key}, in checkpoint {self.prefix}.")
        self._parts[part.key(key)] = self._write(dtype, array, shard)
        self._entries[key] = whole._replace(slices=(*whole.slices, part))

    def _write(self, dtype, array, shard):
        if shard is None:
            shard = 0 if len(self._data) == 1 else min(range(len(self._data)), key=lambda n: self._data[n].size)
        file = self._data[shard]
        start = file.size
        kind = dtype._kind
        if kind == "s":
            value = write_strings(array.ravel().tolist(), file.write)
        elif kind == "v":
            value = write_variants(array.ravel().tolist(), file.write)
        else:
            value = _write_numbers(array, dtype, file.write)
        return Entry(dtype, tuple(array.shape), shard, start, file.size - start, masked(value))

    def finish(self) -> None:
        """Makes the checkpoint appear."""
        index = None
        try:
            for file in self._data:
                file.finish()
            index = NewFile(bundle_files.index_path(self.prefix))
            write_index(index, len(self._data), self._entries, self._parts)
            index.finish()
            bundle_files.publish(self.prefix, self._data, index)
        except BaseException:
            self.discard()
            if index is not None:
                index.discard()
            raise
        self._lock.close()

    def discard(self) -> None:
        """Forgets what was written."""
        for file in self._data:
            file.discard()
        self._lock.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is None:
            self.finish()
        else:
            self.discard()


def write_index(file, shards: int, entries: dict[str, Entry], parts: dict[bytes, Entry]) -> None:
    """Writes the table of tensors, and of parts of tensors by their encoded keys, into a `NewFile`."""
    table = TableWriter(file.write)
    table.add(_HEADER_KEY, encode_header(shards))
    for key in sorted(parts):
        table.add(key, encode_entry(parts[key]))
    for data, key in sorted((key.encode("utf-8", "surrogateescape"), key) for key in entries):
        table.add(data, encode_entry(entries[key]))
    table.finish()


def _write_numbers(array, dtype, write):
    """Writes the bytes of an array, and returns their checksum."""
    if array.dtype != dtype._np:
        raise TypeError(f"An array of {array.dtype} cannot be saved as {dtype.name}.")
    if not array.flags.c_contiguous and array.nbytes > _PIECE:
        return _write_rows(array, write)
    return _write_contiguous(np.ascontiguousarray(array), write, 0)


def _write_contiguous(array, write, value):
    if sys.byteorder == "big":
        array = array.byteswap()
    data = array.reshape(-1).view(np.uint8)
    # In pieces: what was just summed up is in the cache when it is written, and other threads have their turn.
    for start in range(0, len(data), _PIECE):
        piece = data[start : start + _PIECE]
        value = extend_checksum(value, piece)
        write(piece)
    return value


def _write_rows(array, write, value=0):
    """Writes an array that does not lie in memory as it is written, in parts that take little memory."""
    if array.nbytes <= _PIECE or not array.ndim:
        return _write_contiguous(np.ascontiguousarray(array), write, value)
    step = max(1, _PIECE // max(1, array[0].nbytes))
    for start in range(0, len(array), step):
        rows = array[start : start + step]
        value = (
            _write_rows(rows[0], write, value)
            if len(rows) == 1
            else _write_contiguous(np.ascontiguousarray(rows), write, value)
        )
    return value


def write_bundle(
    prefix,
    tensors: Iterable[tuple[str, dtypes.DType, Any] | tuple[str, dtypes.DType, Any, tuple[Any, TensorSlice]]],
    shards: int = 1,
) -> None:
    """Writes a checkpoint. When this returns, it would survive a power cut. If it fails, all is as it was before.

    Args:
        prefix: of the files.
        tensors: (key, dtype, array) tuples, written in this order. The array may be a function that makes it. A fourth
            entry, (shape, slice), says that the array is this part of a tensor of that shape.
        shards: the number of files for data.
    """
    with BundleWriter(prefix, shards) as writer:
        for key, dtype, value, *place in tensors:
            if place:
                writer.add_slice(key, dtype, value, *place[0])
            else:
                writer.add(key, dtype, value)
