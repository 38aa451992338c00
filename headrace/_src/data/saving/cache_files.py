"""The files of `Dataset.cache`: the elements one after another, and an index that says where each ends.

The index is written last, so that it is there only when all elements are. It has a checksum of each element and one of
itself: what is damaged, or belongs to another index, is found before it is believed. Meanwhile a lock file keeps others
from writing the same files.
"""

import os
import struct
import time
import uuid

import numpy as np

from headrace._src.core import dtypes, errors, file_access
from headrace._src.core.shapes import TensorShape
from headrace._src.data.running.stages import Access
from headrace._src.data.saving.element_bytes import packed, unpacked
from headrace._src.data.saving.element_checks import ElementCheck
from headrace._src.formats import files as filesystem
from headrace._src.formats.checksums import checksum_function, masked_crc32c
from headrace._src.formats.local_files import typed_errors

_MAGIC = b"headrace cache 2\n"
_KIND = b"headrace cache "
_CHECKSUM = struct.Struct("<I")
_MENDING = "Delete the files of the cache: the next walk writes them anew."


def _index(path):
    return f"{path}.index"


def _data(path):
    return f"{path}.data-00000-of-00001"


def is_complete(path: str) -> bool:
    """Whether all elements were written."""
    return filesystem.exists(_index(path))


class CacheWriter:
    """Writes the files.

    Args:
        path: what their names begin with.
        token: what the lock file says, of a writer that this one goes on for.

    Raises:
        AlreadyExistsError: another walk is writing them, or was stopped in the middle.
    """

    def __init__(self, path: str, token: str | None = None):
        self._path = path
        self._lock = f"{path}_0.lockfile"
        self._part = f"{path}_0.data-00000-of-00001.part"
        self._ends: list[int] = []
        self._checksums: list[int] = []
        self._is_done = False
        self.token = token or uuid.uuid4().hex
        if token is None:
            self._take_lock()
        self._file = filesystem.open_file(self._part, "w" if token is None else "a")
        self._size = 0

    def _take_lock(self):
        text = f"Created at: {int(time.time())}\n{self.token}\n".encode()
        if filesystem.scheme_of(self._lock):
            taken = not filesystem.exists(self._lock)
            if taken:
                filesystem.write(self._lock, text)
        else:
            taken = _created(self._lock, text)
        if not taken:
            contents = filesystem.read(self._lock).decode("utf-8", "replace")
            raise errors.AlreadyExistsError(
                None, None,
                "There appears to be a concurrent caching iterator running - cache lockfile already exists "
                f"('{self._lock}'). If you are sure no other running computations are using this cache prefix, delete "
                f"the lockfile and re-initialize the iterator. Lockfile contents: {contents}",
            )  # fmt: skip

    @classmethod
    def taken_over(cls, path: str, state: dict) -> "CacheWriter | None":
        """A writer that goes on where another was; None when its files are gone."""
        lock, part = f"{path}_0.lockfile", f"{path}_0.data-00000-of-00001.part"
        if not (filesystem.exists(lock) and state["token"] in filesystem.read(lock).decode("utf-8", "replace")):
            return None
        ends = [int(end) for end in state["ends"]]
        size = ends[-1] if ends else 0
        if not filesystem.exists(part) or filesystem.stat(part).length < size:
            return None
        writer = cls(path, state["token"])
        writer._file.truncate(size)  # what was written after the state was taken
        writer._ends, writer._size = ends, size
        writer._checksums = [int(checksum) for checksum in state["checksums"]]
        return writer

    def write(self, element: tuple):
        """Write the next element."""
        data = packed(element)
        self._file.write(data)
        self._size += len(data)
        self._ends.append(self._size)
        self._checksums.append(checksum_function()(data))

    def finish(self):
        """Say that all elements are there."""
        self._file.close()
        filesystem.rename(self._part, _data(self._path), overwrite=True)
        index = _MAGIC + np.array(self._ends, "<i8").tobytes() + np.array(self._checksums, "<u4").tobytes()
        filesystem.write(_index(self._path), index + _CHECKSUM.pack(masked_crc32c(index)))
        filesystem.remove(self._lock)
        self._is_done = True

    def state(self) -> dict:
        self._file.flush()
        ends, checksums = np.array(self._ends, np.int64), np.array(self._checksums, np.int64)
        return {"token": self.token, "ends": ends, "checksums": checksums}

    def close(self):
        """Remove the files, unless all elements are there."""
        if self._is_done:
            return
        self._is_done = True
        self._file.close()
        for path in (self._part, self._lock):
            if filesystem.exists(path):
                filesystem.remove(path)


def _created(path, text):
    """Whether a file could be made that was not there."""
    file_access.check(path)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        return False
    except FileNotFoundError as error:
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory") from error
    except PermissionError as error:
        raise errors.PermissionDeniedError(None, None, f"{path}; Permission denied") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(text)
    return True


class CacheReader(Access):
    """The elements in the files.

    Args:
        path: what their names begin with.
        types: the dtypes that the components must have.
        shapes: the shapes that they must have, as far as these are known.

    Raises:
        DataLossError: the files are damaged, or do not belong to each other.
        NotFoundError: there is an index without elements.
    """

    def __init__(self, path: str, types: list[dtypes.DType], shapes: list[TensorShape]):
        self._path = path
        self._check = ElementCheck(types, shapes, f"{_data(path)} was written by another pipeline. {_MENDING}")
        ends, self._checksums = _read_index(path)
        self._ends = [0, *ends]
        self.size = len(ends)
        self._file = None
        if self.size:
            self._file = self._open()

    def _open(self):
        data, promised = _data(self._path), self._ends[-1]
        what = f"{_index(self._path)} promises {promised} bytes of {self.size} elements"
        try:
            size = filesystem.stat(data).length
        except errors.NotFoundError as error:
            raise errors.not_found(f"{data}; No such file or directory. {what} in it. {_MENDING}") from error
        if size != promised:
            raise errors.data_loss(f"{data}; {what}, but it has {size}. {_MENDING}")
        return filesystem.open_file(data)

    def get(self, index):
        start, end = self._ends[index], self._ends[index + 1]
        with typed_errors(_data(self._path)):
            self._file.seek(start)
            data = self._file.read(end - start)
        if len(data) != end - start or checksum_function()(data) != self._checksums[index]:
            raise self._lost(index, "its checksum is not the one in the index")
        try:
            element = unpacked(data)
        except errors.DataLossError as error:
            raise self._lost(index, error.message) from error
        self._check(element)
        return element

    def _lost(self, index, what):
        return errors.data_loss(
            f"{_data(self._path)}; element {index} at byte {self._ends[index]} cannot be read: {what}. {_MENDING}"
        )

    def close(self):
        """Close the file."""
        if self._file is not None:
            self._file.close()


def _read_index(path) -> tuple[list[int], list[int]]:
    """Where each element ends, and the checksum of each."""
    name = _index(path)
    index = filesystem.read(name)
    if not index.startswith(_MAGIC):
        what = "a cache that another version of headrace wrote" if index.startswith(_KIND) else "no index of a cache"
        raise errors.data_loss(f"{name}; this is {what}. {_MENDING}")
    body = len(index) - len(_MAGIC) - _CHECKSUM.size
    stored = index[-_CHECKSUM.size :]
    if body < 0 or body % 12 or _CHECKSUM.pack(masked_crc32c(index[: -_CHECKSUM.size])) != stored:
        raise errors.data_loss(f"{name}; the index is damaged: its checksum does not match. {_MENDING}")
    count = body // 12
    ends = np.frombuffer(index, "<i8", count, len(_MAGIC))
    if count and (ends[0] < 0 or (np.diff(ends) < 0).any()):
        raise errors.data_loss(f"{name}; the index is damaged: elements end before they begin. {_MENDING}")
    checksums = np.frombuffer(index, "<u4", count, len(_MAGIC) + 8 * count)
    return ends.tolist(), checksums.tolist()
