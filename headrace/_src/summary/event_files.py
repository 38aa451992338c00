"""Event files: a queue of events before a file, flushed by count, by time, on demand and at exit."""

import atexit
import itertools
import logging
import os
import platform
import threading
import time
import weakref

from headrace._src.core import errors, operating_system
from headrace._src.formats import event_wire, files, streams
from headrace._src.formats.records import framed, framed_together
from headrace._src.formats.remote_files import RemoteFiles

_numbers = itertools.count()  # of the files that this process has made
_open_files: "weakref.WeakSet[EventFile]" = weakref.WeakSet()
_ROLL_OVER = 8 << 20  # bytes after which a file that is stored as a whole is followed by another one


class EventFile:
    """Events on their way into a file of a folder. May be used by several threads.

    Attributes:
        folder: of the file.

    Readers see what was flushed. If the program is killed, what was not flushed is lost, and nothing else. In a process
    that was forked, events go into a file of that process; those that were waiting are written by the parent alone.

    Args:
        folder: where the file is made, now; folders are made as needed. Any path that `tf.io.gfile` knows.
        suffix: the end of the file's name.
        max_queue: as soon as more events wait than this, they are flushed.
        flush_seconds: no event waits longer than this.
        numbered: whether process and number are part of the name. TF: those of 1.x have neither.

    Raises:
        FailedPreconditionError, PermissionDeniedError ...: the file cannot be made.
    """

    def __init__(
        self, folder: str, suffix: str = ".v2", max_queue: int = 10, flush_seconds: float = 120, numbered: bool = True
    ):
        self.folder = folder
        self._suffix = suffix
        self._max_queue = max(0, max_queue)
        self._flush_seconds = flush_seconds
        self._numbered = numbered
        self._queue: list[bytes] = []
        self._lock = threading.RLock()  # for the file; an event is added without it
        self._scheduled = False
        self._error: errors.OpError | None = None  # of a flush in the background
        self._output: _Output | None = None
        self._closed = False
        self._second = 0  # in the name of the last file
        self._open()
        _open_files.add(self)
        _watch_process()

    @property
    def path(self) -> str:
        """The file; after it has become too large for its store, the next one."""
        return self._output.path

    def _open(self):
        files.make_directories(self.folder)
        now = time.time()
        # Readers go from file to file in the order of their names.
        self._second = max(int(now), self._second + 1)
        name = f"events.out.tfevents.{self._second:010d}.{platform.node()}"
        if self._numbered:
            name += f".{os.getpid()}.{next(_numbers)}"
        path = files.join(self.folder, name + self._suffix)
        kind = _StoredWhole if isinstance(files.system_of(path)[0], RemoteFiles) else _Appended
        self._output = kind(path)
        self._output.write(framed(event_wire.first_event(now)))

    def add(self, event: bytes) -> None:
        """Adds an encoded event.

        Raises:
            FailedPreconditionError: the file was closed.
        """
        queue = self._queue
        queue.append(event)
        if len(queue) > self._max_queue:
            if self._output is None or self._output.is_fast:
                self.flush()
            else:
                flusher.schedule(self, 0)
        elif not self._scheduled:
            self._scheduled = True
            flusher.schedule(self, self._flush_seconds)

    def flush(self) -> None:
        """Makes all events that were added visible to readers of the file."""
        with self._lock:
            if self._closed:
                return
            error, self._error = self._error, None
            if error is not None:
                raise error
            if self._output is None:
                self._open()  # this process was forked
            self._write_out()

    def _write_out(self):
        # Other threads may add to the end of the list meanwhile.
        events = self._queue[:]
        del self._queue[: len(events)]
        if events:
            if self._output.size > _ROLL_OVER and not self._output.is_fast:
                self._output.close()
                self._open()
            self._output.write(framed_together(events))

    def flush_in_background(self) -> None:
        """What the flushing thread does: an error is raised by the next `flush` or `close`."""
        self._scheduled = False
        try:
            if self._queue:
                self.flush()
        except errors.OpError as error:
            self._error = error

    def close(self) -> None:
        """Flushes and closes the file; a second time nothing happens."""
        with self._lock:
            if self._closed:
                return
            try:
                self.flush()
            finally:
                self._closed = True
                self._queue = _ClosedQueue(self.folder)
                output, self._output = self._output, None
                if output is not None:
                    output.close()

    def reopen(self) -> None:
        """After `close`: events go into a new file of the same folder."""
        with self._lock:
            if self._closed:
                self._open()
                self._queue = []
                self._closed = False

    def __del__(self):
        # What was written is in the file also when close is forgotten. Attributes are missing where __init__ failed.
        if getattr(self, "_output", None) is not None:
            self.close()

    # A fork happens while no thread is writing, so that no half of a record is in a buffer of both processes.

    def before_fork(self) -> None:
        self._lock.acquire()

    def after_fork_in_parent(self) -> None:
        self._lock.release()

    def after_fork_in_child(self) -> None:
        self._lock = threading.RLock()
        self._scheduled = False
        self._error = None
        if not self._closed:
            self._queue.clear()
            self._output = None


class _ClosedQueue(list):
    """In place of the queue of a file that was closed."""

    def __init__(self, folder: str):
        super().__init__()
        self.folder = folder

    def append(self, event):
        raise errors.failed_precondition(f"The summary writer of {self.folder} is closed: make a new one.")


class _Output:
    """The file of events that were flushed."""

    is_fast: bool  # whether writing takes so little time that the thread that adds events may do it
    path: str
    size: int

    def write(self, data: bytes) -> None:
        """Adds bytes, for readers to see."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing more will be written."""


class _Appended(_Output):
    """A file that grows."""

    is_fast = True

    def __init__(self, path: str):
        self.path = path
        self.size = 0
        self._file = streams.PlainOutput(path)

    def write(self, data):
        self.size += len(data)
        self._file.write(data)
        self._file.flush()

    def close(self):
        self._file.close()


class _StoredWhole(_Output):
    """An object of a store that only takes whole ones: it is stored anew each time."""

    is_fast = False

    def __init__(self, path: str):
        self.path = path
        self.size = 0
        self._contents = bytearray()

    def write(self, data):
        self._contents += data
        self.size = len(self._contents)
        files.write(self.path, bytes(self._contents))


class _Flusher:
    """A thread that flushes files when their time has come. It is started with the first that asks for it."""

    def __init__(self):
        self._wakes = threading.Condition()
        self._times: dict[weakref.ref, float] = {}
        self._thread: threading.Thread | None = None

    def schedule(self, file: EventFile, seconds: float) -> None:
        """Flush a file after so many seconds, or when it was to be flushed anyway, if that is earlier."""
        due = time.monotonic() + seconds
        with self._wakes:
            reference = weakref.ref(file)
            self._times[reference] = min(due, self._times.get(reference, due))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="headrace summaries", daemon=True)
                self._thread.start()
            self._wakes.notify()

    def _run(self):
        while True:
            with self._wakes:
                due = [reference for reference, when in self._times.items() if when <= time.monotonic()]
                for reference in due:
                    del self._times[reference]
                if not due:
                    self._wakes.wait(max(0.0, min(self._times.values()) - time.monotonic()) if self._times else None)
            for reference in due:
                file = reference()
                if file is not None:
                    file.flush_in_background()
                del file


flusher = _Flusher()
_watched = False


def _watch_process():
    """Flush at exit, and be asked at forks; from the first file on."""
    global _watched
    if _watched:
        return
    _watched = True
    atexit.register(_flush_all)
    operating_system.at_fork(before=_before_fork, in_parent=_after_fork_in_parent, in_child=_after_fork_in_child)


def _flush_all():
    for file in list(_open_files):
        try:
            file.flush()
        except errors.OpError as error:
            logging.getLogger("headrace").error("Summaries could not be written: %s", error)


_forking: list[EventFile] = []


def _before_fork():
    _forking[:] = list(_open_files)
    for file in _forking:
        file.before_fork()


def _after_fork_in_parent():
    for file in _forking:
        file.after_fork_in_parent()
    _forking.clear()


def _after_fork_in_child():
    global flusher
    flusher = _Flusher()
    for file in _forking:
        file.after_fork_in_child()
    _forking.clear()
