"""The files of `Dataset.cache`: the elements one after another, and an index that says where each begins.

The index is written last, so that it is there only when all elements are. Meanwhile a lock file keeps others from
writing the same files.
"""

import os
import struct
import time
import uuid

import numpy as np

from headrace._src.core import errors, file_access
from headrace._src.data.running.stages import Access
from headrace._src.data.saving.element_bytes import packed, unpacked
from headrace._src.formats import files as filesystem

_MAGIC = b"headrace cache 1\n"


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
        return writer

    def write(self, element: tuple):
        """Write the next element."""
        data = packed(element)
        self._file.write(data)
        self._size += len(data)
        self._ends.append(self._size)

    def finish(self):
        """Say that all elements are there."""
        self._file.close()
        filesystem.rename(self._part, _data(self._path), overwrite=True)
        filesystem.write(_index(self._path), _MAGIC + np.array(self._ends, "<i8").tobytes())
        filesystem.remove(self._lock)
        self._is_done = True

    def state(self) -> dict:
        self._file.flush()
        return {"token": self.token, "ends": np.array(self._ends, np.int64)}

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
    """

    def __init__(self, path: str, types):
        index = filesystem.read(_index(path))
        if not index.startswith(_MAGIC) or (len(index) - len(_MAGIC)) % 8:
            raise errors.DataLossError(
                None, None, f"{_index(path)}: this is no index of a cache that was written by this package."
            )
        self._path = path
        self._types = types
        self._ends = [0, *np.frombuffer(index, "<i8", offset=len(_MAGIC)).tolist()]
        self.size = len(self._ends) - 1
        self._file = filesystem.open_file(_data(path)) if self.size else None

    def get(self, index):
        start, end = self._ends[index], self._ends[index + 1]
        self._file.seek(start)
        data = self._file.read(end - start)
        try:
            element = unpacked(data)
        except (struct.error, IndexError, TypeError, ValueError, errors.DataLossError) as error:
            raise errors.DataLossError(
                None, None, f"{_data(self._path)}: element {index} at byte {start} cannot be read: {error}"
            ) from error
        if len(element) != len(self._types):
            raise errors.invalid_argument(
                f"{_data(self._path)}: elements have {len(element)} components, expected {len(self._types)}."
            )
        for number, (array, dtype) in enumerate(zip(element, self._types)):
            stored = dtype._np if dtype._np is not None else np.dtype(object)
            if array.dtype != stored:
                raise errors.invalid_argument(
                    f"Data type mismatch at component {number}: expected {dtype.name} but got {array.dtype.name}."
                )
        return element

    def close(self):
        """Close the file."""
        if self._file is not None:
            self._file.close()
