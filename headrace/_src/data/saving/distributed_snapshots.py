"""The folders that the workers of a data service write, as TensorFlow lays them out.

    path/snapshot.metadata      the spec of elements and the compression, as text
    path/dataset_spec.pb        the spec of elements
    path/chunks/chunk_2_0_50    stream 2, its first file, 50 elements: TFRecords, compressed as a whole
    path/streams/stream_2/      what a worker has not finished
    path/DONE, path/ERROR       it is complete, or why it never will be
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from headrace._src.core import errors
from headrace._src.data.saving.element_records import records_of
from headrace._src.data.saving.saved_contents import SavedFile
from headrace._src.data.saving.snapshot_files import METADATA, SPEC, checked_compression, open_chunk
from headrace._src.formats import files as filesystem
from headrace._src.formats.records import framed_together

_CHUNK = re.compile(r"chunk_(\d+)_(\d+)_(\d+)")
_COMPRESSION = re.compile(rb'^\s*compression:\s*"(\w*)"\s*$', re.MULTILINE)
_ESCAPED = re.compile(rb'[^ !#-\[\]-~]|["\\]')
_PAUSE = 0.1
_LARGEST = 256 << 20  # of a file, before compression


def is_distributed(folder: str) -> bool:
    """Whether a folder is one of these."""
    path = filesystem.join(folder, METADATA)
    return filesystem.exists(path) and _COMPRESSION.search(filesystem.read(path)) is not None


def begin(folder: str, spec: bytes, compression: str) -> None:
    """Make the folder of a snapshot that is to be written.

    Args:
        folder: where.
        spec: of the elements, as bytes.
        compression: "", "GZIP" or "SNAPPY".

    Raises:
        AlreadyExistsError: there is a snapshot.
    """
    if filesystem.exists(filesystem.join(folder, METADATA)):
        raise errors.already_exists(f"Failed to snapshot: a snapshot at {folder} is already started or completed.")
    filesystem.make_directories(filesystem.join(folder, "chunks"))
    filesystem.write(filesystem.join(folder, SPEC), spec)
    text = _ESCAPED.sub(lambda found: b"\\%03o" % found[0][0], spec)
    filesystem.write(
        filesystem.join(folder, METADATA), b'element_spec: "%s"\ncompression: "%s"\n' % (text, compression.encode())
    )


def compression_of(folder: str) -> str:
    """How the elements are compressed."""
    found = _COMPRESSION.search(filesystem.read(filesystem.join(folder, METADATA)))
    return checked_compression(found[1].decode() if found else "", "Dataset.load")


def uncommitted(folder: str, stream: int) -> str:
    """Where a worker writes what does not count yet."""
    return filesystem.join(folder, "streams", f"stream_{stream}", "uncommitted_chunks")


def commit(folder: str, stream: int) -> None:
    """Let the files of a stream count. Nothing is lost when this is done twice, or only in part at first."""
    place = uncommitted(folder, stream)
    for name in filesystem.names_in(place) if filesystem.exists(place) else []:
        if _CHUNK.fullmatch(name):
            filesystem.rename(filesystem.join(place, name), filesystem.join(folder, "chunks", name), overwrite=True)
    filesystem.write(filesystem.join(folder, "streams", f"stream_{stream}", "DONE"), b"")


def finish(folder: str, error: str | None) -> None:
    """Say that the snapshot is complete, or what went wrong."""
    filesystem.write(filesystem.join(folder, "DONE" if error is None else "ERROR"), (error or "").encode())


def wait_for(folder: str, is_patient: bool, where: str) -> None:
    """Wait until a snapshot is complete.

    Args:
        folder: where it is, or will be.
        is_patient: whether to wait at all.
        where: what the user called.

    Raises:
        FailedPreconditionError: it is not complete, and nobody wants to wait.
        AbortedError: it never will be.
    """
    while not filesystem.exists(filesystem.join(folder, "DONE")):
        problem = filesystem.join(folder, "ERROR")
        if filesystem.exists(problem):
            text = filesystem.read(problem).decode("utf-8", "replace")
            raise errors.aborted(f"{where}: {folder} could not be written: {text}")
        if not is_patient:
            raise errors.failed_precondition(
                f"{where}: the snapshot at {folder} is still being written; wait=True waits for its end."
            )
        time.sleep(_PAUSE)


def chunks_of(folder: str, width: int) -> list[list[SavedFile]]:
    """The files of a snapshot, each a shard of its own.

    Args:
        folder: of the snapshot.
        width: how many records an element has.
    """
    place = filesystem.join(folder, "chunks")
    found = [match for name in filesystem.names_in(place) if (match := _CHUNK.fullmatch(name.rstrip("/")))]
    found.sort(key=lambda match: [int(number) for number in match.groups()])
    return [
        [SavedFile(path := filesystem.join(place, match[0]), int(match[3]) * width, None, f"the name of {path}")]
        for match in found
    ]


def write_stream(folder: str, stream: int, compression: str, blocks: Callable[[], tuple | None], types: list) -> None:
    """Write what a worker makes, to files that do not count yet.

    Args:
        folder: of the snapshot.
        stream: the number of the stream.
        compression: "", "GZIP" or "SNAPPY".
        blocks: gives arrays of elements, one for each component, and None at the end.
        types: the dtypes of the components.
    """
    place = uncommitted(folder, stream)
    if filesystem.exists(place):  # of an attempt that has ended
        filesystem.remove_tree(place)
    filesystem.make_directories(place)
    number, block = 0, blocks()
    while block is not None:
        path = filesystem.join(place, f"unfinished_{number}")
        output, size, count = open_chunk(path, compression), 0, 0
        try:
            while block is not None and size < _LARGEST:
                data = framed_together(records_of(block, types))
                output.write(data)
                size += len(data)
                count += block[0].shape[0]
                block = blocks()
        finally:
            output.close()
        filesystem.rename(path, filesystem.join(place, f"chunk_{stream}_{number}_{count}"))
        number += 1
