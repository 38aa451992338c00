"""The folders of saved datasets and snapshots, as TensorFlow lays them out.

    path/snapshot.metadata                          which run is the valid one, when, and what it holds
    path/dataset_spec.pb                            the spec of elements (of saved datasets only)
    path/<run>/00000003.shard/00000000.snapshot     the elements of a shard: TFRecords, compressed as a whole

Metadata written here also list these files, in a field that TensorFlow does not know and passes over.
"""

from __future__ import annotations

import random
import re
import time
from dataclasses import dataclass, field

from headrace._src.core import errors
from headrace._src.formats import files as filesystem
from headrace._src.formats import streams, wire
from headrace._src.formats.checksums import extend_checksum
from headrace._src.formats.records import RecordReader, framed_together
from headrace._src.formats.snappy import SnappyInput, SnappyOutput
from headrace._src.formats.tensor_wire import fields

METADATA, SPEC = "snapshot.metadata", "dataset_spec.pb"
VERSION = 2  # TensorFlow's number of this format
_FINISHED = 1000
_CHUNKS = 51217  # headrace's own field
_SHARD, _CHUNK = re.compile(r"\d{8,}\.shard"), re.compile(r"\d{8,}\.snapshot")
_CHUNK_NAME = re.compile(r"\d{8,}\.shard/\d{8,}\.snapshot")
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


@dataclass(frozen=True)
class Chunk:
    """What metadata say of a file: its name below the folder of the run, what is in it, and a checksum of that."""

    name: str
    records: int
    checksum: int

    def encoded(self) -> bytes:
        """The message."""
        return wire.text(1, self.name) + wire.integer(2, self.records) + wire.integer(3, self.checksum)

    @staticmethod
    def decoded(data: bytes) -> Chunk:
        """From the message.

        Raises:
            ValueError: it is none.
        """
        name, numbers = "", {}
        for number, kind, value in fields(data):
            if number == 1 and kind == 2:
                name = bytes(value).decode()
            elif kind == 0:
                numbers[number] = value
        if not _CHUNK_NAME.fullmatch(name) or not {2, 3} <= numbers.keys():
            raise ValueError(f"{name!r} is no file of a shard")
        return Chunk(name, numbers[2], numbers[3])


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
    chunks: list[Chunk] | None = None  # None when they are not listed

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
        if self.chunks is not None:
            parts.append(wire.message(_CHUNKS, b"".join(wire.message(1, chunk.encoded()) for chunk in self.chunks)))
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
            elif number == _CHUNKS and kind == 2:
                found.chunks = [Chunk.decoded(bytes(part)) for n, k, part in fields(bytes(value)) if (n, k) == (1, 2)]
                if len({chunk.name for chunk in found.chunks}) < len(found.chunks):
                    raise ValueError("a file is listed twice")
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
    names = [name.rstrip("/") for name in filesystem.names_in(place)]
    return [filesystem.join(place, name) for name in sorted(names) if _SHARD.fullmatch(name)]


def chunk_files(shard: str) -> list[str]:
    """The files of a shard, in order."""
    names = [name.rstrip("/") for name in filesystem.names_in(shard)]
    return [filesystem.join(shard, name) for name in sorted(names) if _CHUNK.fullmatch(name)]


class _ChecksummedInput:
    """Another input, and the checksum of what was read of it."""

    def __init__(self, source):
        self._source = source
        self.path = source.path
        self.checksum: int | None = 0  # of all bytes so far; None when some were passed over
        self.bound = source.bound
        self.check_size = source.check_size
        self.close = source.close

    @property
    def buffer_size(self):
        return self._source.buffer_size

    def _counted(self, data):
        if self.checksum is not None and data:
            self.checksum = extend_checksum(self.checksum, data)
        return data

    def read(self):
        return self._counted(self._source.read())

    def read_exactly(self, size):
        return self._counted(self._source.read_exactly(size))

    def seek(self, position):
        self._source.seek(position)
        self.checksum = None if position else 0


class ChunkReader(RecordReader):
    """The records of a file of a shard.

    Args:
        path: of the file.
        compression: "", "GZIP" or "SNAPPY".
    """

    def __init__(self, path: str, compression: str):
        source = SnappyInput(path) if compression == "SNAPPY" else streams.open_input(path, compression)
        self._input = _ChecksummedInput(source)
        self.path = source.path
        self._forget(0, 0)

    @property
    def checksum(self) -> int | None:
        """Of what was read of the file; None if that was not all from its beginning."""
        return self._input.checksum


def open_chunk(path: str, compression: str) -> streams.PlainOutput:
    """A new file of a shard, to write records to.

    Args:
        path: of the file.
        compression: "", "GZIP" or "SNAPPY".
    """
    if compression == "SNAPPY":
        return SnappyOutput(path)
    return streams.CompressedOutput(path, compression) if compression else streams.PlainOutput(path)


class ShardWriter:
    """Writes the files of one run.

    Args:
        folder: of the snapshot.
        run: the name of the run.
        compression: "", "GZIP" or "SNAPPY".
        chunk: the number of the files that are written; those before it belong to earlier parts of the run.

    Attributes:
        chunks: the files that are closed.
    """

    def __init__(self, folder: str, run: str, compression: str, chunk: int = 0):
        self._place = filesystem.join(folder, run)
        self._compression = compression
        self._chunk = chunk
        self._outputs: dict[int, streams.PlainOutput] = {}
        self._waiting: dict[int, list] = {}
        self._sizes: dict[int, int] = {}
        self._written: dict[int, tuple] = {}  # records, and their checksum
        self.chunks: list[Chunk] = []

    def add(self, shard: int, records: list[bytes]) -> None:
        """Add records to a shard."""
        if shard not in self._outputs:
            self._open(shard)
        self._waiting[shard] += records
        self._sizes[shard] += sum(map(len, records))
        if self._sizes[shard] >= _GATHERED:
            self._write_out(shard)

    def _open(self, shard):
        filesystem.make_directories(filesystem.join(self._place, f"{shard:08d}.shard"))
        output = open_chunk(filesystem.join(self._place, self._name(shard)), self._compression)
        self._outputs[shard], self._waiting[shard], self._sizes[shard] = output, [], 0
        self._written[shard] = 0, 0

    def _name(self, shard):
        return f"{shard:08d}.shard/{self._chunk:08d}.snapshot"

    def _write_out(self, shard):
        records, self._waiting[shard], self._sizes[shard] = self._waiting[shard], [], 0
        if records:
            data = framed_together(records)
            self._outputs[shard].write(data)
            count, checksum = self._written[shard]
            self._written[shard] = count + len(records), extend_checksum(checksum, data)

    def close(self) -> None:
        """Write what is waiting and close the files."""
        for shard, output in self._outputs.items():
            self._write_out(shard)
            output.close()
            self.chunks.append(Chunk(self._name(shard), *self._written[shard]))
        self._outputs.clear()
