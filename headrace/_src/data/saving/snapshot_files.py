"""The folders of saved datasets and snapshots, as TensorFlow lays them out.

    path/snapshot.metadata                          which run is the valid one, when, and what it holds
    path/dataset_spec.pb                            the spec of elements (of saved datasets only)
    path/<run>/00000003.shard/00000000.snapshot     the elements of a shard: TFRecords, compressed as a whole
"""

from __future__ import annotations

import random
import re
import time
from dataclasses import dataclass, field

from headrace._src.core import errors
from headrace._src.formats import files as filesystem
from headrace._src.formats import streams, wire
from headrace._src.formats.block_reader import BlockReader
from headrace._src.formats.records import RecordReader, framed_together
from headrace._src.formats.snappy import SnappyInput, SnappyOutput
from headrace._src.formats.tensor_wire import fields

METADATA, SPEC = "snapshot.metadata", "dataset_spec.pb"
VERSION = 2  # TensorFlow's number of this format
_FINISHED = 1000
_SHARD, _CHUNK = re.compile(r"\d{8,}\.shard"), re.compile(r"\d{8,}\.snapshot")
_GATHERED = 256 << 10


def checked_compression(compression, where: str) -> str:
    """"", "GZIP" or "SNAPPY".

    Raises:
        ValueError: for another one.
    """
    kind = "" if compression in (None, "NONE") else compression
    kind = "SNAPPY" if kind == "AUTO" else kind
    if kind not in ("", "GZIP", "SNAPPY"):
        raise ValueError(f"{where}: compression must be None, 'GZIP', 'SNAPPY' or 'AUTO', got {compression!r}.")
    return kind


@dataclass
class Metadata:
    """What `snapshot.metadata` says."""

    run: str = ""
    graph_hash: str = ""
    created: int = 0  # microseconds since 1970
    version: int = VERSION
    types: list = field(default_factory=list)  # TensorFlow's numbers of dtypes
    count: int = 0  # of elements; 0 when it was not counted
    is_finished: bool = False

    def encoded(self) -> bytes:
        """The message."""
        parts = [
            wire.text(1, self.graph_hash) if self.graph_hash else b"",
            wire.text(2, self.run),
            wire.integer(3, self.created),
            wire.integer(4, self.version),
            wire.integers(5, self.types),
            wire.integer(6, self.count) if self.count else b"",
            wire.integer(_FINISHED, 1) if self.is_finished else b"",
        ]
        return b"".join(parts)

    @staticmethod
    def decoded(data: bytes) -> Metadata:
        """From the message.

        Raises:
            ValueError: it is none.
        """
        found = Metadata(version=0)
        for number, kind, value in fields(data):
            if number == 1 and kind == 2:
                found.graph_hash = bytes(value).decode()
            elif number == 2 and kind == 2:
                found.run = bytes(value).decode()
            elif number == 3 and kind == 0:
                found.created = value
            elif number == 4 and kind == 0:
                found.version = value
            elif number == 5:
                found.types += [value] if kind == 0 else _varints(bytes(value))
            elif number == 6 and kind == 0:
                found.count = value
            elif number == _FINISHED and kind == 0:
                found.is_finished = bool(value)
        return found


def _varints(data):
    numbers, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(number)
            number = shift = 0
    return numbers


def read_metadata(folder: str) -> Metadata:
    """What `snapshot.metadata` in a folder says.

    Raises:
        NotFoundError: there is none.
        DataLossError: it is damaged.
    """
    path = filesystem.join(folder, METADATA)
    data = filesystem.read(path)
    try:
        found = Metadata.decoded(data)
    except (ValueError, IndexError) as error:
        raise errors.data_loss(f"{path}; damaged metadata: {error}.") from error
    if not found.run or "/" in found.run or found.run in (".", ".."):
        raise errors.data_loss(f"{path}; damaged metadata: it names the run {found.run!r}.")
    return found


def write_metadata(folder: str, metadata: Metadata) -> None:
    """Write `snapshot.metadata`; another one in its place is replaced at once."""
    filesystem.make_directories(folder)
    filesystem.write(filesystem.join(folder, METADATA), metadata.encoded())


def new_run() -> str:
    """The name of a new run."""
    return str(random.SystemRandom().getrandbits(63) + (1 << 62))


def now() -> int:
    """The time for metadata."""
    return int(time.time() * 1e6)


def shard_folders(folder: str, run: str) -> list[str]:
    """The folders of the shards of a run, in order."""
    place = filesystem.join(folder, run)
    if not filesystem.exists(place):
        return []  # of no elements
    names = [name.rstrip("/") for name in filesystem.names_in(place)]
    return [filesystem.join(place, name) for name in sorted(names) if _SHARD.fullmatch(name)]


def chunk_files(shard: str) -> list[str]:
    """The files of a shard, in order."""
    names = [name.rstrip("/") for name in filesystem.names_in(shard)]
    return [filesystem.join(shard, name) for name in sorted(names) if _CHUNK.fullmatch(name)]


class SnappyRecordReader(RecordReader):
    """The records of a file of Snappy blocks."""

    def __init__(self, path, buffer_size=None):
        self._input = SnappyInput(path, buffer_size or streams.DEFAULT_BUFFER)
        self.path = self._input.path
        self._forget(0, 0)


def open_chunk(path: str, compression: str) -> BlockReader:
    """A reader of the records of a file."""
    return SnappyRecordReader(path) if compression == "SNAPPY" else RecordReader(path, compression)


class ShardWriter:
    """Writes the files of one run.

    Args:
        folder: of the snapshot.
        run: the name of the run.
        compression: "", "GZIP" or "SNAPPY".
        chunk: the number of the files that are written; those before it belong to earlier parts of the run.
    """

    def __init__(self, folder: str, run: str, compression: str, chunk: int = 0):
        self._place = filesystem.join(folder, run)
        self._compression = compression
        self._chunk = chunk
        self._outputs: dict[int, streams.PlainOutput] = {}
        self._waiting: dict[int, list] = {}
        self._sizes: dict[int, int] = {}

    def add(self, shard: int, records: list[bytes]) -> None:
        """Add records to a shard."""
        if shard not in self._outputs:
            self._open(shard)
        self._waiting[shard] += records
        self._sizes[shard] += sum(map(len, records))
        if self._sizes[shard] >= _GATHERED:
            self._write_out(shard)

    def _open(self, shard):
        folder = filesystem.join(self._place, f"{shard:08d}.shard")
        filesystem.make_directories(folder)
        path = filesystem.join(folder, f"{self._chunk:08d}.snapshot")
        if self._compression == "SNAPPY":
            output = SnappyOutput(path)
        elif self._compression:
            output = streams.CompressedOutput(path, self._compression)
        else:
            output = streams.PlainOutput(path)
        self._outputs[shard], self._waiting[shard], self._sizes[shard] = output, [], 0

    def _write_out(self, shard):
        records, self._waiting[shard], self._sizes[shard] = self._waiting[shard], [], 0
        if records:
            self._outputs[shard].write(framed_together(records))

    def close(self) -> None:
        """Write what is waiting and close the files."""
        for shard, output in self._outputs.items():
            self._write_out(shard)
            output.close()
        self._outputs.clear()

    def next_chunk(self) -> int:
        """Close the files, to go on in new ones.

        Returns:
            The number of the new ones.
        """
        self.close()
        self._chunk += 1
        return self._chunk
