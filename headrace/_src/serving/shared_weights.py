"""One copy of a model's values for all processes of a server: a file that each of them maps, and none can change.

The first process that loads a version writes the copy, with each value at an address that compiled programs can use
without copying it; the others wait for it. Who uses it says so by a file beside it, and the last one to go removes it.
A process that dies leaves such a file behind; it does not count, as there is no such process any more.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headrace._src.core import operating_system
from headrace._src.formats import bundle_files, folder_locks
from headrace._src.formats.bundle_entries import Entry
from headrace._src.formats.tensor_bundle import BundleReader

logger = logging.getLogger("headrace.serving")
_ALIGNMENT = 64  # what XLA wants of addresses
_SMALLEST = 1 << 12  # bytes; smaller values are read by each process
_ATTEMPTS = 5
_DATA, _INDEX, _USER = ".weights", ".json", ".user"


class SharedWeights:
    """The copies of a server.

    Args:
        folder: where they lie: best in memory.
    """

    def __init__(self, folder: str):
        self._folder = folder

    def open(self, prefix: str) -> SharedReader:
        """The values of a checkpoint: large ones are arrays over the copy.

        Raises:
            OpError: what reading the checkpoint raises.
        """
        return SharedReader(prefix, self)

    def copy_of(self, reader: BundleReader) -> WeightsCopy | None:
        """The copy of a checkpoint, made if it is not there; None where there is no room for it."""
        keys = [key for key, entry in reader.entries.items() if _is_shared(entry)]
        if not keys:
            return None
        identity = (reader.prefix, bundle_files.identity(reader.prefix), [entry_of(reader, key) for key in keys])
        name = hashlib.sha256(repr(identity).encode()).hexdigest()[:24]
        path = os.path.join(self._folder, name)
        user = f"{path}.{os.getpid()}-{id(reader):x}{_USER}"
        try:
            with open(user, "w"):
                pass
            for _ in range(_ATTEMPTS):
                with folder_locks.only_writer(self._folder):
                    if not os.path.exists(path + _INDEX):
                        _write(path, reader, keys)
                with contextlib.suppress(FileNotFoundError):  # its last user goes just now, who has not seen this one
                    return WeightsCopy(path, user)
            raise FileNotFoundError(f"it was removed {_ATTEMPTS} times")
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(user)
            logger.warning(
                "The values of %s are not shared, as they cannot be copied to %s: %s. Each process has its own.",
                reader.prefix, self._folder, error,
            )  # fmt: skip
            return None


def entry_of(reader: BundleReader, key: str) -> tuple:
    """What the identity of a copy depends on."""
    entry = reader.entry(key)
    return key, entry.dtype.name, tuple(entry.shape), entry.offset, entry.checksum


def _is_shared(entry):
    return entry.size >= _SMALLEST and entry.dtype._kind not in "sv"


def _write(path, reader, keys):
    index, end = {}, 0
    for key in keys:
        entry = reader.entry(key)
        index[key] = end
        size = int(np.prod(entry.shape)) * entry.dtype._np.itemsize
        end += -(-size // _ALIGNMENT) * _ALIGNMENT
    try:
        with open(path + _DATA, "wb") as file:
            operating_system.reserve(file.fileno(), end)
            for key in keys:
                file.seek(index[key])
                file.write(np.ascontiguousarray(reader.read(key)).view(np.uint8).data)
        with open(path + _DATA + _INDEX, "w") as file:
            json.dump(index, file)
        operating_system.replace(path + _DATA + _INDEX, path + _INDEX)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path + _DATA)
        raise


class WeightsCopy:
    """A copy that this process uses until `release`.

    Args:
        path: of its files, without their endings.
        user: the file that says that this process uses it.
    """

    def __init__(self, path: str, user: str):
        self._path = path
        self._user = user
        with open(path + _INDEX) as file:
            self.places: dict[str, int] = json.load(file)
        self._memory = operating_system.mapped_file(path + _DATA)

    def array(self, key: str, entry: Entry) -> np.ndarray:
        """A value, which cannot be changed."""
        count = int(np.prod(entry.shape))
        return np.frombuffer(self._memory, entry.dtype._np, count, self.places[key]).reshape(entry.shape)

    def release(self) -> None:
        """Say that this process uses the copy no more. Arrays over it stay as they are."""
        with contextlib.suppress(OSError):
            os.unlink(self._user)
        folder, name = os.path.split(self._path)
        with contextlib.suppress(OSError):
            if not any(_is_used(file) for file in os.listdir(folder) if file.startswith(name)):
                for ending in (_INDEX, _DATA):
                    os.unlink(self._path + ending)


def _is_used(file):
    if not file.endswith(_USER):
        return False
    return operating_system.is_running(int(file.rsplit(".", 2)[1].partition("-")[0]))


class SharedReader:
    """Reads a checkpoint like `BundleReader`; what is large comes from the copy.

    Args:
        prefix: of the checkpoint.
        weights: where copies are.

    Attributes:
        prefix: of the checkpoint.
        entries: what it holds.
        copy: the copy that is used; None if there is none.
    """

    def __init__(self, prefix: str, weights: SharedWeights):
        self._reader = BundleReader(prefix)
        self.prefix = self._reader.prefix
        self.entries: Mapping[str, Entry] = self._reader.entries
        try:
            self.copy = weights.copy_of(self._reader)
        except BaseException:
            self._reader.close()
            raise

    def __contains__(self, key):
        return key in self._reader

    def entry(self, key: str) -> Entry:
        """What the index says of a value."""
        return self._reader.entry(key)

    def read(self, key: str) -> np.ndarray:
        """A value."""
        if self.copy is not None and key in self.copy.places:
            return self.copy.array(key, self._reader.entry(key))
        return self._reader.read(key)

    def read_many(self, keys: Sequence[str]) -> list[np.ndarray]:
        """Several values."""
        shared = set() if self.copy is None else self.copy.places.keys()
        others = [key for key in keys if key not in shared]
        own = dict(zip(others, self._reader.read_many(others)))
        return [own[key] if key in own else self.read(key) for key in keys]

    def close(self) -> None:
        """Close the checkpoint. The copy stays in use."""
        self._reader.close()


def opened(weights: SharedWeights, copies: list[WeightsCopy]) -> Any:
    """What opens checkpoints, and notes the copies that are then used."""

    def open_checkpoint(prefix):
        reader = weights.open(prefix)
        if reader.copy is not None:
            copies.append(reader.copy)
        return reader

    return open_checkpoint
