"""Files of tensors in the safetensors format, alone or as shards with an index: read by name, written durably.

Several files belong together through an index such as `model.safetensors.index.json`, which says in which file each
tensor is.
"""

import contextlib
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.formats import durable_files, files, folder_locks
from headrace._src.formats.durable_files import NewFile, folder_of, local_path, sync_folder_of
from headrace._src.formats.random_access import RandomAccessFile
from headrace._src.formats.safetensors_headers import (
    PREFIX_SIZE,
    Header,
    Place,
    decode,
    encode,
    header_length,
    planned,
)

ENDING = ".safetensors"
INDEX_ENDING = ".safetensors.index.json"
_PIECE = 16 << 20
_MOST_DATA = 1 << 28  # bytes of an index
_SHARD = re.compile(r"(?:-r\d+)?-\d{5}-of-\d{5}\.safetensors")

Value = tuple[dtypes.DType, tuple[int, ...], Callable[[], np.ndarray]]  # dtype, shape, and what makes the array


class TensorFile:
    """A safetensors file that is open for reading.

    Args:
        path: of the file.

    Attributes:
        path: as text.
        places: name to `Place`, in the order of the bytes.
        metadata: texts by name.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: it is not sound.
    """

    def __init__(self, path):
        self.path = files.path_string(path)
        self._file = RandomAccessFile(self.path)
        try:
            length = header_length(self._file.read_at(0, PREFIX_SIZE), self._file.size, self.path)
            self._begin = PREFIX_SIZE + length
            data = self._file.read_at(PREFIX_SIZE, length)
            self.places, self.metadata = decode(data, self._file.size - self._begin, self.path)
        except BaseException:
            self.close()
            raise

    def read(self, name: str) -> np.ndarray:
        """A tensor, as an array of its own."""
        place = self.places[name]
        array = np.empty(place.shape, place.dtype._np)
        view = array.reshape(-1).view(np.uint8)
        for start in range(0, len(view), _PIECE):
            self._file.read_into(self._begin + place.start + start, view[start : start + _PIECE])
        return _native(array)

    def read_rows(self, name: str, start: int, stop: int) -> np.ndarray:
        """Some rows of a tensor that has dimensions; nothing else is read."""
        place = self.places[name]
        row = (place.stop - place.start) // place.shape[0] if place.shape[0] else 0
        array = np.empty((stop - start, *place.shape[1:]), place.dtype._np)
        if array.size:
            self._file.read_into(self._begin + place.start + start * row, array.reshape(-1).view(np.uint8))
        return _native(array)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def _native(array):
    return array.byteswap(inplace=True) if sys.byteorder == "big" else array


class TensorFiles:
    """The tensors of a file, of an index and the files that it names, or of a folder that has one of these.

    Args:
        path: of the file, the index or the folder.

    Attributes:
        places: name to `Place`, sorted by name.
        metadata: texts by name, of all files together; those of the index too, if they are texts.

    Raises:
        NotFoundError: a file is not there.
        DataLossError: one is not sound, or the index does not fit the files.
    """

    def __init__(self, path):
        self.path = _chosen(files.path_string(path))
        self._homes: dict[str, TensorFile] = {}
        self.metadata: dict[str, str] = {}
        self._open: list[TensorFile] = []
        try:
            if self.path.endswith(".json"):
                self._add_index()
            else:
                self._add(TensorFile(self.path))
        except BaseException:
            self.close()
            raise
        self.places: dict[str, Place] = {name: self._homes[name].places[name] for name in sorted(self._homes)}

    def _add(self, file, names=None):
        self._open.append(file)
        self.metadata.update(file.metadata)
        self._homes.update(dict.fromkeys(file.places if names is None else names, file))

    def _add_index(self):
        weights, metadata = read_index(self.path)
        self.metadata.update({key: value for key, value in metadata.items() if isinstance(value, str)})
        folder = os.path.dirname(self.path)
        by_file: dict[str, list[str]] = {}
        for name, file in weights.items():
            by_file.setdefault(file, []).append(name)
        for file_name, names in by_file.items():
            place = files.join(folder, file_name) if folder else file_name
            try:
                file = TensorFile(place)
            except errors.NotFoundError as error:
                raise errors.not_found(
                    f"{error.message}. {self.path} says that {names[0]!r} and {len(names) - 1} other tensors are in "
                    "it. Copy all files of the model."
                ) from None
            self._add(file, names)
            for missing in set(names) - set(file.places):
                raise errors.data_loss(f"{self.path}: tensor {missing!r} should be in {file.path}, but is not.")

    def read(self, name: str) -> np.ndarray:
        """A tensor.

        Raises:
            NotFoundError: there is none of this name.
        """
        return self._home(name).read(name)

    def read_rows(self, name: str, start: int, stop: int) -> np.ndarray:
        """Some rows of a tensor."""
        return self._home(name).read_rows(name, start, stop)

    def _home(self, name):
        if name not in self._homes:
            raise errors.not_found(f"{self.path}: there is no tensor {name!r} in it.")
        return self._homes[name]

    def close(self) -> None:
        """Closes the files."""
        for file in self._open:
            file.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def _chosen(path):
    """The file to read for a path, which may be that of a folder."""
    if not files.is_directory(path):
        return path
    names = sorted(files.names_in(path))
    indices = [name for name in names if name.endswith(INDEX_ENDING)]
    found = indices or [name for name in names if name.endswith(ENDING)]
    if len(found) != 1:
        what = f"several: {', '.join(found[:5])}" if found else "none"
        raise errors.not_found(f"{path}: a folder must have one safetensors file or index, and this one has {what}.")
    return files.join(path, found[0])


def read_index(path: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The files of an index by the names of tensors, and what else it says.

    Raises:
        DataLossError: it is no index, or names files elsewhere.
    """
    size = files.stat(path).length
    if size > _MOST_DATA:
        raise errors.data_loss(f"{path}: it has {size} bytes, too many for an index of safetensors files.")
    try:
        content = json.loads(files.read(path).decode())
        weights, metadata = content["weight_map"], content.get("metadata", {})
        sound = isinstance(metadata, dict) and all(isinstance(name, str) for name in weights.values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise errors.data_loss(f"{path}: this is no index of safetensors files: {error!r}.") from None
    if not sound:
        raise errors.data_loss(f"{path}: this is no index of safetensors files: weight_map must name a file for each.")
    for name, file in weights.items():
        if not file or file != os.path.basename(file) or file in (".", "..") or "\\" in file or files.scheme_of(file):
            raise errors.data_loss(f"{path}: tensor {name!r} is said to be in {file!r}, which is not in its folder.")
    return weights, metadata


# Writing.


def write_file(path: str, tensors: Mapping[str, Value], metadata: Mapping[str, str] | None = None) -> None:
    """Writes a file. When this returns, it would survive a power cut. If it fails, what was there before is there.

    Args:
        path: of the file.
        tensors: name to (dtype, shape, function that makes the array). Arrays are made one at a time.
        metadata: texts by name.
    """
    _prepare(path)
    file = _written(path, tensors, metadata or {})
    try:
        file.appear()
    except BaseException:
        file.discard()
        raise
    sync_folder_of(path)


def _prepare(path):
    durable_files.make_folders(os.path.dirname(path))
    place = local_path(path)
    if place is not None:
        durable_files.remove_leftovers(folder_of(place))


def _written(path, tensors, metadata):
    """A file that is complete, but has not appeared."""
    places = planned({name: (dtype, shape) for name, (dtype, shape, _) in tensors.items()})
    begin = encode(Header(places, dict(metadata)))
    file = NewFile(path)
    try:
        file.write(begin)
        for name in places:
            for piece in _pieces(name, *tensors[name]):
                file.write(piece)
        file.finish()
    except BaseException:
        file.discard()
        raise
    return file


def _pieces(name, dtype, shape, make) -> Iterator[np.ndarray]:
    """The bytes of a tensor."""
    array = make()
    if array.shape != tuple(shape) or array.dtype != dtype._np:
        raise errors.invalid_argument(
            f"safetensors: tensor {name!r} should be {dtype.name} of shape {tuple(shape)}, and has become "
            f"{array.dtype} of shape {array.shape}."
        )
    array = np.ascontiguousarray(array)
    if sys.byteorder == "big":
        array = array.byteswap()
    yield array.reshape(-1).view(np.uint8)


def encoded(tensors: Mapping[str, Value], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a file with these tensors."""
    places = planned({name: (dtype, shape) for name, (dtype, shape, _) in tensors.items()})
    pieces: list = [encode(Header(places, dict(metadata or {})))]
    for name in places:
        pieces += [piece.tobytes() for piece in _pieces(name, *tensors[name])]
    return b"".join(pieces)


def decoded(data: bytes, where: str = "data") -> tuple[dict[str, tuple[dtypes.DType, np.ndarray]], dict[str, str]]:
    """The tensors of the bytes of a file, by name, as dtype and array; and its metadata."""
    length = header_length(data[:PREFIX_SIZE], len(data), where)
    begin = PREFIX_SIZE + length
    header = decode(bytes(data[PREFIX_SIZE:begin]), len(data) - begin, where)
    found = {}
    for name, place in header.places.items():
        array = np.empty(place.shape, place.dtype._np)
        part = data[begin + place.start : begin + place.stop]
        array.reshape(-1).view(np.uint8)[:] = np.frombuffer(part, np.uint8)
        found[name] = (place.dtype, _native(array))
    return found, header.metadata


def write_shards(
    path: str, tensors: Mapping[str, Value], most: int, metadata: Mapping[str, str] | None = None
) -> list[str]:
    """Writes tensors into files of at most so many bytes, and an index; or into one file, if that is enough.

    The index is replaced in one step, after all files are on the disk; files that only the old one names go then. Files
    that are there keep their names until then: the new ones get other names if need be.

    Args:
        path: of the file, if one is enough. `model.safetensors` becomes `model.safetensors.index.json` and
            `model-00001-of-00002.safetensors` otherwise.
        tensors, metadata: as for `write_file`.
        most: a tensor that is larger has a file of its own.

    Returns:
        The paths of the files, that of the index first if there is one.
    """
    parts = _parts(tensors, most)
    stem = path.removesuffix(ENDING)
    index = f"{stem}{INDEX_ENDING}"
    _prepare(path)
    place = local_path(path)
    with folder_locks.only_writer(folder_of(place)) if place is not None else contextlib.nullcontext():
        old = _shards_of(index)
        if len(parts) == 1:
            write_file(path, tensors, metadata)
            written = [path]
            durable_files.remove(index)
        else:
            written = _write_parts(stem, index, parts, metadata or {})
            durable_files.remove(path)
        for other in old:
            if other not in written:
                durable_files.remove(other)
    return written


def _parts(tensors, most):
    parts: list[dict] = [{}]
    size = 0
    for name, place in planned({name: value[:2] for name, value in tensors.items()}).items():
        length = place.stop - place.start
        if parts[-1] and size + length > most:
            parts.append({})
            size = 0
        parts[-1][name] = tensors[name]
        size += length
    return parts


def _write_parts(stem, index, parts, metadata):
    paths = _free_names(stem, len(parts))
    written: list[NewFile] = []
    try:
        for path, part in zip(paths, parts):
            written.append(_written(path, part, metadata))
        for file in written:
            file.appear()
        sync_folder_of(index)
        content = {
            "metadata": {"total_size": sum(map(_total_size, parts)), **metadata},
            "weight_map": {name: os.path.basename(path) for path, part in zip(paths, parts) for name in sorted(part)},
        }
        durable_files.replace(index, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
    except BaseException:
        for file in written:
            file.discard()
        raise
    return [index, *paths]


def _total_size(tensors):
    return sum(math.prod(shape) * dtype._np.itemsize for dtype, shape, _ in tensors.values())


def _free_names(stem, count):
    """Names for so many files, none of which is there."""
    revision = 1
    while True:
        middle = "" if revision == 1 else f"-r{revision}"
        paths = [f"{stem}{middle}-{number:05}-of-{count:05}{ENDING}" for number in range(1, count + 1)]
        if not any(files.exists(path) for path in paths):
            return paths
        revision += 1


def _shards_of(index):
    """The files of an index that were written by `write_shards`."""
    if not files.exists(index):
        return []
    folder, stem = os.path.dirname(index), os.path.basename(index).removesuffix(INDEX_ENDING)
    try:
        weights, _ = read_index(index)
    except errors.OpError:
        return []
    names = {name for name in weights.values() if name.startswith(stem) and _SHARD.fullmatch(name, len(stem))}
    return [files.join(folder, name) if folder else name for name in sorted(names)]
