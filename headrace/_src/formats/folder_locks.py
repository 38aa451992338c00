"""One writer at a time in a folder: threads and processes that save into it wait for each other."""

import contextlib
import json
import os
import socket
import threading
import time
import weakref
from collections.abc import Iterator

from headrace._src.core import errors, operating_system
from headrace._src.formats import durable_files

LOCK_NAME = ".headrace-writer"
_PATIENCE = 600.0  # seconds
_PAUSE = 0.02

_guard = threading.Lock()
# Held by those who have or want them: there may be any number of folders.
_held: weakref.WeakValueDictionary[str, threading.RLock] = weakref.WeakValueDictionary()
_depth: dict[str, int] = {}
_handles: set[int] = set()  # of the folders that this process has locked


@contextlib.contextmanager
def only_writer(folder: str, patience: float = _PATIENCE) -> Iterator[None]:
    """While the block runs, no other one that writes into this local folder does, in any process. Blocks may nest.

    The folder itself is locked where the system can do that: nothing is left behind when a process dies. Elsewhere
    (network file systems, Windows) a file in it says who writes; if that process is gone, it is taken over.

    Raises:
        AbortedError: another one still writes when patience has ended.
    """
    folder = os.path.realpath(folder)
    with _guard:
        lock = _held.setdefault(folder, threading.RLock())
    if not lock.acquire(timeout=patience):
        raise errors.aborted(f"{folder}: another thread of this process has been writing for {patience:.0f} seconds.")
    process = os.getpid()
    try:
        _depth[folder] = _depth.get(folder, 0) + 1
        with only_process(folder, patience) if _depth[folder] == 1 else contextlib.nullcontext():
            yield
    finally:
        if os.getpid() == process:  # not in a child that was forked meanwhile
            _depth[folder] -= 1
            if not _depth[folder]:
                del _depth[folder]
            lock.release()


@contextlib.contextmanager
def only_process(folder: str, patience: float = _PATIENCE) -> Iterator[None]:
    """The same for processes alone: the block may end in another thread than it began in, and does not nest.

    Raises:
        AbortedError: another one still has the folder when patience has ended.
    """
    with durable_files.saving_errors(folder):
        handle = _lock_folder(folder, patience)
        path = None if handle is not None else _make_lock_file(folder, patience)
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:  # a child that was forked meanwhile: the lock is its parent's
            pass
        elif handle is not None:
            _handles.discard(handle)
            operating_system.unlock_folder(handle)
        else:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _lock_folder(folder, patience):
    """The locked folder, open; None where folders cannot be locked."""
    handle = operating_system.lockable_folder(folder)
    if handle is None:
        return None
    is_locked: bool | None = False
    try:
        end = time.monotonic() + patience
        while not (is_locked := operating_system.lock_folder(handle)):
            if is_locked is None:
                return None
            if time.monotonic() > end:
                raise errors.aborted(
                    f"{folder}: another process has been writing into this folder for {patience:.0f} seconds. "
                    "Save to another folder, or end that process."
                )
            time.sleep(_PAUSE)
        _handles.add(handle)
        return handle
    finally:
        if not is_locked:
            os.close(handle)


def _make_lock_file(folder, patience):
    path = os.path.join(folder, LOCK_NAME)
    owner = json.dumps({"host": socket.gethostname(), "pid": os.getpid()}).encode()
    end = time.monotonic() + patience
    while True:
        try:
            file = os.open(path, operating_system.creating_flags())
        except OSError as error:
            if not (isinstance(error, FileExistsError) or operating_system.may_be_vanishing(error)):
                raise
        else:
            os.write(file, owner)
            os.close(file)
            return path
        holder = _holder(path)
        if holder is not None and _is_gone(holder):
            _take_away(path, holder)
        elif time.monotonic() > end:
            raise errors.aborted(
                f"{folder}: process {holder and holder.get('pid')} on {holder and holder.get('host')} has been "
                f"writing into this folder for {patience:.0f} seconds. If it is gone, remove {path}."
            )
        else:
            time.sleep(_PAUSE)


def _holder(path):
    """Who wrote a lock file: {"host", "pid"}; None where that cannot be read (yet)."""
    try:
        with open(path, "rb") as file:
            holder = json.loads(file.read(4096))
    except (OSError, ValueError):
        return None
    return holder if isinstance(holder, dict) and isinstance(holder.get("pid"), int) else None


def _is_gone(holder):
    return holder.get("host") == socket.gethostname() and not operating_system.is_running(holder["pid"])


def _take_away(path, holder):
    """Removes the lock file of a process that is gone; of several that try, one does it."""
    aside = f"{path}.{os.getpid()}.{threading.get_ident()}"
    with contextlib.suppress(OSError):
        operating_system.replace(path, aside)
        if _holder(aside) == holder:
            os.unlink(aside)
        else:  # somebody else took it over meanwhile: this is theirs
            operating_system.link(aside, path)
            os.unlink(aside)


def _forget() -> None:
    """In a forked process: what other threads were writing, they write in the other process, which has the locks."""
    global _guard
    _guard = threading.Lock()
    _held.clear()
    _depth.clear()
    for handle in _handles:
        # It is the same lock as in the other process: it must not live on here when that one is killed.
        with contextlib.suppress(OSError):
            os.close(handle)
    _handles.clear()


operating_system.at_fork(in_child=_forget)
