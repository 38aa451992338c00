"""What a dispatcher has decided, in a file of its working folder, so that it can go on where another one ended.

A record is the length of an event, the event as JSON, and bytes (the graph of a dataset). When a dispatcher starts, the
file is written anew with what is still of interest. See docs/decisions/0035-data-service.md.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
from collections.abc import Iterable

from headrace._src.core import errors
from headrace._src.data.service.credentials import WHERE
from headrace._src.formats import durable_files, files
from headrace._src.formats.folder_locks import only_process
from headrace._src.formats.records import RecordReader, framed

_NAME = "dispatcher_journal"
_LENGTH = struct.Struct("<I")
_HEADER = struct.Struct("<Q")  # how a record begins: its length


class Journal:
    """The events of a dispatcher.

    Args:
        folder: its working folder, on a disk of this machine or one that is mounted.

    Raises:
        UnimplementedError: the folder is of another kind.
        AbortedError: another dispatcher uses it.
    """

    def __init__(self, folder: str):
        if durable_files.local_path(folder) is None:
            raise errors.unimplemented(
                f"{WHERE}.DispatchServer: work_dir must be a folder of a file system of this machine, got {folder!r}."
            )
        durable_files.make_folders(folder)
        self._path = files.join(folder, _NAME)
        self._claim = contextlib.ExitStack()
        self._claim.enter_context(only_process(folder, patience=0.0))
        self._file: int | None = None

    def events(self) -> list[tuple[dict, bytes]]:
        """The events so far. One that was being written when the dispatcher ended never happened.

        Raises:
            DataLossError: the file is damaged.
        """
        if not files.exists(self._path):
            return []
        reader, found = RecordReader(self._path), []
        try:
            for record in reader:
                found.append(_unpacked(record, self._path))
        except errors.DataLossError:
            if not _is_torn(self._path, reader.offset):
                raise
        return found

    def begin(self, events: Iterable[tuple[dict, bytes]]) -> None:
        """Replace what is there, and be ready for more."""
        durable_files.replace(self._path, b"".join(framed(_packed(*event)) for event in events))
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND)

    def add(self, event: dict, payload: bytes = b"", flush: bool = True) -> None:
        """Write an event down.

        Args:
            event: what can be written as JSON.
            payload: bytes that belong to it.
            flush: whether it must outlive a failure of the machine, too, not of the program alone.
        """
        if self._file is None:
            raise errors.failed_precondition(f"{WHERE}.DispatchServer: the dispatcher has ended.")
        with durable_files.saving_errors(self._path):
            durable_files.disk().write(self._file, framed(_packed(event, payload)))
            if flush:
                durable_files.disk().sync(self._file)

    def close(self) -> None:
        """Leave the file to another dispatcher."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
        self._claim.close()


def _packed(event, payload):
    text = json.dumps(event).encode()
    return _LENGTH.pack(len(text)) + text + payload


def _unpacked(record, path):
    try:
        (length,) = _LENGTH.unpack_from(record)
        text, payload = record[_LENGTH.size : _LENGTH.size + length], record[_LENGTH.size + length :]
        return json.loads(text), payload
    except (struct.error, ValueError, RecursionError) as error:
        raise errors.data_loss(f"{WHERE}.DispatchServer: {path} is no journal of a dispatcher: {error}.") from error


def _is_torn(path, offset):
    """Whether the file ends within the record at `offset`."""
    with files.open_file(path) as file:
        file.seek(offset)
        rest = file.read()
    if len(rest) < _HEADER.size + 4:
        return True
    (length,) = _HEADER.unpack_from(rest)
    return len(rest) < len(framed(b"")) + length
