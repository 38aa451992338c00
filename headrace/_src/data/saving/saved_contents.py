"""What the metadata of a saved dataset or a snapshot promise, and whether the files are there that hold it.

Metadata written here list all files, each with its number of records and a checksum of them all. Those of TensorFlow
have the number of elements only (and those of its snapshots not even that): then the files that are found are read, and
when all of them were, the elements are counted.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from headrace._src.core import errors
from headrace._src.data.saving.snapshot_files import METADATA, Metadata, chunk_files, shard_folders
from headrace._src.formats import files as filesystem


@dataclass(frozen=True)
class SavedFile:
    """A file of a shard, with what it must hold where that is known.

    Attributes:
        path: of the file.
        records: how many there are in it.
        checksum: of these, as they stand in it (before compression), where that is known.
        said_by: the path of the metadata that say so.
    """

    path: str
    records: int | None = None
    checksum: int | None = None
    said_by: str = ""

    def check(self, records: int, checksum: int | None, is_whole: bool) -> None:
        """Compare with what was read of it.

        Args:
            records: how many were read.
            checksum: of what was read; None when that was not the whole file.
            is_whole: whether this is the end of the file.

        Raises:
            DataLossError: it holds something else.
        """
        if self.records is None:
            return
        if records > self.records or (is_whole and records < self.records):
            more = "more" if records > self.records else "no more"
            raise errors.data_loss(
                f"{self.path}; {self.said_by} promises {self.records} records, but there are "
                f"{more} than {min(records, self.records)}."
            )
        if is_whole and None not in (checksum, self.checksum) and checksum != self.checksum:
            raise errors.data_loss(
                f"{self.path}; its {records} records are not those that {self.said_by} promises: the checksum of all "
                "of them is another one. Is the file from another run?"
            )


def shard_count(folder: str, metadata: Metadata) -> int:
    """How many shards there are."""
    if metadata.chunks is not None:
        return len({chunk.name.partition("/")[0] for chunk in metadata.chunks})
    return len(shard_folders(folder, metadata.run))


def saved_shards(folder: str, metadata: Metadata, width: int) -> list[list[SavedFile]]:
    """The files of each shard, in order.

    Args:
        folder: where the metadata are.
        metadata: what they say.
        width: how many records an element has.

    Raises:
        NotFoundError: a file is missing.
        DataLossError: the metadata contradict themselves.
    """
    said_by = filesystem.join(folder, METADATA)
    place = filesystem.join(folder, metadata.run)
    if metadata.chunks is not None:
        return _promised(place, metadata, width, said_by)
    if not filesystem.exists(place):
        raise errors.not_found(
            f"{place}; No such file or directory. {said_by} names it as the folder of the elements"
            f"{f', {metadata.count} of them' if metadata.count else ''}."
        )
    shards = []
    for shard in shard_folders(folder, metadata.run):
        files = [SavedFile(path) for path in chunk_files(shard)]
        if not files:
            raise errors.not_found(
                f"{filesystem.join(shard, '00000000.snapshot')}; No such file or directory. The folder of this shard "
                f"is there, but it holds no elements."
            )
        shards.append(files)
    if metadata.count and not shards:
        raise errors.not_found(f"{place}; there is no shard in it, but {said_by} promises {metadata.count} elements.")
    return shards


def _promised(place, metadata, width, said_by):
    records = sum(chunk.records for chunk in metadata.chunks)
    if records % width or (metadata.count and records != metadata.count * width):
        raise errors.data_loss(
            f"{said_by}; damaged metadata: {records} records in all files, for {metadata.count} elements of {width} "
            "components."
        )
    shards: dict[str, list] = {}
    for chunk in sorted(metadata.chunks, key=lambda chunk: chunk.name):
        path = filesystem.join(place, chunk.name)
        if not filesystem.exists(path):
            raise errors.not_found(
                f"{path}; No such file or directory. {said_by} promises {chunk.records} records in it, "
                f"of {records} in {len(metadata.chunks)} files."
            )
        shard = shards.setdefault(chunk.name.partition("/")[0], [])
        shard.append(SavedFile(path, chunk.records, chunk.checksum, said_by))
    return list(shards.values())


class ElementCount:
    """Compares the elements of all shards with their promised number, once each shard was read to its end.

    Args:
        said_by: the path of the metadata.
        place: the folder of the shards.
        promised: the number of elements.
        shards: how many shards there are.
    """

    def __init__(self, said_by: str, place: str, promised: int, shards: int):
        self._said_by = said_by
        self._place = place
        self._promised = promised
        self._shards = shards
        self._counts: dict[int, int] = {}
        self._lock = threading.Lock()

    def add(self, shard: int, count: int) -> None:
        """A shard was read to its end.

        Raises:
            NotFoundError: it was the last one, and elements are missing.
            DataLossError: there are more elements than promised.
        """
        with self._lock:
            self._counts[shard] = count
            found, is_all = sum(self._counts.values()), len(self._counts) == self._shards
        said = f"{self._said_by} promises {self._promised} elements, but there are "
        if found > self._promised:
            raise errors.data_loss(f"{self._place}; {said}at least {found}. Is a shard there twice, or of another run?")
        if is_all and found < self._promised:
            raise errors.not_found(f"{self._place}; {said}only {found} in {self._shards} shards: a file is missing.")

