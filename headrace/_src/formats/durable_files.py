"""Files that are there as a whole or not at all, also after a crash or a power cut: what saving does to the disk.

A file is written beside its place under a name of its own, flushed to the disk, and gets its name by renaming. What
follows in a program may rely on a rename only after its folder has been flushed too. All of this goes through one
object, the `Disk`, so that a harness can fail, count or record each step.

Stores that are reached through fsspec have no such renames: there a file appears, as a whole, when it is closed.
"""

import contextlib
import errno
import os
import re
import secrets
import socket
import time
from collections.abc import Iterator
from typing import Any

from headrace._src.core import errors, operating_system
from headrace._src.formats import files
from headrace._src.formats.local_files import LocalFiles, typed

_PIECE = 1 << 20  # smaller writes are collected up to this size
_LONGEST = 1 << 30  # some systems refuse more in one call
_DAY = 24 * 3600


class Disk:
    """Each effect that saving has on the files of this machine. Paths are local; errors are OSErrors."""

    def create(self, path: str) -> int:
        """Makes a new file, and opens it for writing."""
        return os.open(path, operating_system.creating_flags(), 0o666)

    def write(self, file: int, data) -> None:
        """Writes all of a buffer."""
        view = memoryview(data).cast("B")
        while view:
            view = view[os.write(file, view[:_LONGEST]) :]

    def sync(self, file: int) -> None:
        """Returns when what was written would survive a power cut."""
        operating_system.sync_file(file)

    def close(self, file: int) -> None:
        os.close(file)

    def rename(self, source: str, target: str) -> None:
        """Gives a file another name. A file of that name is replaced, in one step."""
        operating_system.replace(source, target)

    def exchange(self, a: str, b: str) -> None:
        """Gives each of two folders the name of the other, in one step where the system can do that."""
        operating_system.exchange(a, b)

    def link(self, source: str, target: str) -> None:
        """Gives a file a second name; where the file system has no such links, it is copied."""
        operating_system.link(source, target)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def make_folder(self, path: str) -> None:
        os.mkdir(path)

    def remove_folder(self, path: str) -> None:
        """Removes an empty folder."""
        os.rmdir(path)

    def sync_folder(self, path: str) -> None:
        """Returns when the names in a folder would survive a power cut."""
        operating_system.sync_folder(path)


_disk = Disk()


def disk() -> Disk:
    """The disk that saving works on."""
    return _disk


@contextlib.contextmanager
def disk_replaced(other: Disk) -> Iterator[None]:
    """Lets all saving of this process work on another disk, for harnesses."""
    global _disk
    before, _disk = _disk, other
    try:
        yield
    finally:
        _disk = before


def local_path(path: str) -> str | None:
    """The path on this machine, or None where it is on another system, without renames and flushes."""
    system, place = files.system_of(path)
    return place if isinstance(system, LocalFiles) else None


def folder_of(path: str) -> str:
    """The folder that a local file is in."""
    return os.path.dirname(path) or "."


_ADVICE = {
    errors.RESOURCE_EXHAUSTED: "Nothing that was saved before has changed. Free some space, or save to another place.",
    errors.PERMISSION_DENIED: "Nothing that was saved before has changed. Make the folder writable, or save to another "
    "place.",
    errors.OUT_OF_RANGE: "Nothing that was saved before has changed. Where files cannot be that large, save several: "
    "tf.train.CheckpointOptions(experimental_sharding_callback=tf.train.experimental.MaxShardSizePolicy(...)).",
    errors.NOT_FOUND: "The folder is not there. Make it with tf.io.gfile.makedirs.",
    errors.UNKNOWN: "Nothing that was saved before has changed.",
}
_TOO_MANY_FILES = (
    "Nothing that was saved before has changed. The program has too many files open. Close some, or raise the limit "
    "(ulimit -n)."
)


@contextlib.contextmanager
def saving_errors(path: str) -> Iterator[None]:
    """Turns failures of the block, which saves to `path`, into `tf.errors` that say what to do."""
    try:
        yield
    except (OSError, MemoryError) as error:
        described = typed(error, path)
        advice = _ADVICE.get(described.error_code, "")
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            advice = _TOO_MANY_FILES
        text = f"Could not save {described.message.rstrip('.')}. {advice}".rstrip()
        raise errors.from_code(described.error_code, text) from error


class NewFile:
    """A file that is being written, and appears under its name only when it is complete.

    `write` as often as needed, then `finish`, which flushes, then `appear`. Where the file system has no renames, it
    appears in `finish`. `discard` forgets what was written.
    """

    def __init__(self, path: str):
        self.path = path
        self._pieces: list = []
        self._waiting = 0
        self.size = 0
        self._remote: Any = None
        self._file: int | None = None
        self._place = local_path(path)
        with saving_errors(path):
            if self._place is None:
                self._remote = files.open_file(path, "w")
            else:
                self._temporary = _temporary_name(self._place)
                _active.add(self._temporary)
                self._file = disk().create(self._temporary)

    def write(self, data) -> None:
        """Adds a buffer of bytes, which must not change before the next call of a method."""
        size = data.nbytes if hasattr(data, "nbytes") else len(data)
        self.size += size
        if size >= _PIECE:
            self._flush()
            with saving_errors(self.path):
                self._write(data)
            return
        self._pieces.append(bytes(data))
        self._waiting += size
        if self._waiting >= _PIECE:
            self._flush()

    def _flush(self):
        if self._pieces:
            data = b"".join(self._pieces)
            self._pieces, self._waiting = [], 0
            with saving_errors(self.path):
                self._write(data)

    def _write(self, data):
        if self._remote is not None:
            self._remote.write(data)
        else:
            disk().write(self._file, data)

    def finish(self) -> None:
        """Writes what is left, and flushes it to the disk."""
        self._flush()
        with saving_errors(self.path):
            if self._remote is not None:
                self._remote.close()
            else:
                disk().sync(self._file)
                file, self._file = self._file, None
                disk().close(file)

    def appear(self, ending: str = "") -> None:
        """Gives the finished file its name, and an ending. Whoever relies on this flushes the folder next."""
        if self._place is not None:
            with saving_errors(self.path):
                disk().rename(self._temporary, self._place + ending)
            _active.discard(self._temporary)

    def discard(self) -> None:
        """Removes what was written; nothing happens if it has appeared. Raises no errors."""
        if self._place is None or self._temporary not in _active:
            return
        _active.discard(self._temporary)
        with contextlib.suppress(OSError):
            if self._file is not None:
                file, self._file = self._file, None
                os.close(file)
        with contextlib.suppress(OSError):
            disk().remove(self._temporary)


def replace(path: str, contents: bytes) -> None:
    """Writes a whole file that is durable when this returns. A crash leaves the old one, or the new one."""
    file = NewFile(path)
    try:
        file.write(contents)
        file.finish()
        file.appear()
    except BaseException:
        file.discard()
        raise
    sync_folder_of(path)


@contextlib.contextmanager
def written_beside(path: str, ending: str) -> Iterator[str]:
    """Lets a library write a file that appears under its name when the block ends, as a whole.

    Args:
        path: the file, on this machine.
        ending: what the name must end with for the library to take it, such as ".h5".

    Yields:
        The path to write to. If the block raises, what is there is removed, and `path` stays as it was.
    """
    place = local_path(path)
    if place is None:
        raise errors.unimplemented(f"{path} is not a file of this machine.")
    remove_leftovers(folder_of(place))
    temporary = _temporary_name(place) + ending
    _active.add(temporary)
    try:
        yield temporary
        with saving_errors(path):
            file = os.open(temporary, os.O_RDWR)
            try:
                disk().sync(file)
            finally:
                disk().close(file)
            disk().rename(temporary, place)
    except BaseException as error:
        with contextlib.suppress(OSError):
            disk().remove(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            error.filename = path  # the other name would say nothing to whoever reads it
        raise
    finally:
        _active.discard(temporary)
    sync_folder_of(path)


def sync_folder_of(path: str) -> None:
    """Flushes the names in the folder of a file, where the file system has that."""
    place = local_path(path)
    if place is not None:
        with saving_errors(path):
            disk().sync_folder(folder_of(place))


def remove(path: str) -> None:
    """Removes a file; nothing happens if there is none."""
    place = local_path(path)
    if place is None:
        with contextlib.suppress(errors.NotFoundError):
            files.remove(path)
        return
    try:
        with saving_errors(path):
            disk().remove(place)
    except errors.NotFoundError:
        pass


def make_folders(path: str, flush: bool = True) -> None:
    """Makes a folder and its parents where they are not there, durably unless the caller flushes around it later."""
    place = local_path(path)
    if place is None:
        files.make_directories(path)
        return
    missing = []
    while place and not os.path.isdir(place):
        missing.append(place)
        place = os.path.dirname(place.rstrip(os.sep))
    for folder in reversed(missing):
        with saving_errors(path):
            with contextlib.suppress(FileExistsError):  # another process was first
                disk().make_folder(folder)
            if flush:
                disk().sync_folder(folder_of(folder.rstrip(os.sep)))


_active: set[str] = set()  # files that this process is writing
_PARTIAL = re.compile(r"\..*\.(?P<host>[\w.-]*)-(?P<pid>\d+)-[0-9a-f]{16}\.partial(\.\w+)*", re.DOTALL)


def _host() -> str:
    return re.sub(r"[^\w.-]", "_", socket.gethostname())[:64]


def _temporary_name(place: str) -> str:
    folder, name = os.path.split(place)
    return os.path.join(folder, f".{name[:64]}.{_host()}-{os.getpid()}-{secrets.token_hex(8)}.partial")


def remove_leftovers(folder: str) -> None:
    """Removes files and folders that a process began to write into a folder, and could not finish before it died."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        match = _PARTIAL.fullmatch(name)
        path = os.path.join(folder, name)
        if match and path not in _active and _is_left(path, match["host"], int(match["pid"])):
            with contextlib.suppress(OSError):
                _remove_tree(path)


def new_partial_folder(place: str) -> str:
    """Makes a folder beside a place, to be put there when it is complete."""
    temporary = _temporary_name(place)
    _active.add(temporary)
    with saving_errors(place):
        disk().make_folder(temporary)
    return temporary


def remove_partial_folder(temporary: str) -> None:
    """Removes a folder that was not put into its place, or the one that was there before. Raises no errors."""
    with contextlib.suppress(OSError):
        _remove_tree(temporary)
    _active.discard(temporary)


def _remove_tree(path):
    if not os.path.isdir(path) or os.path.islink(path):
        disk().remove(path)
        return
    for name in os.listdir(path):
        _remove_tree(os.path.join(path, name))
    disk().remove_folder(path)


def _is_left(path, host, pid):
    if host == _host() and (not operating_system.is_running(pid) or pid == os.getpid()):
        return True
    # Of a process elsewhere it is only known how long ago it last wrote; and here another may have got its number.
    with contextlib.suppress(OSError):
        return time.time() - os.stat(path).st_mtime > _DAY
    return False
