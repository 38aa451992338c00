"""`tf.train.Coordinator`: threads that stop together."""

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

from headrace._src.core import errors
from headrace._src.op.api import api

_LOOK = 0.1


@api("train.Coordinator")
class Coordinator:
    """Tells threads to stop, waits until they have, and passes on what one of them raised.

    Args:
        clean_stop_exception_types: exceptions that mean that all is done; otherwise `OutOfRangeError`.

    >>> coordinator, seen = tf.train.Coordinator(), []
    >>> def count():
    ...     while not coordinator.should_stop():
    ...         seen.append(len(seen))
    ...         if len(seen) == 3:
    ...             coordinator.request_stop()
    >>> import threading
    >>> thread = threading.Thread(target=count)
    >>> thread.start()
    >>> coordinator.join([thread])
    >>> seen
    [0, 1, 2]
    """

    def __init__(self, clean_stop_exception_types=None) -> None:
        kinds = (errors.OutOfRangeError,) if clean_stop_exception_types is None else clean_stop_exception_types
        self._clean = tuple(kinds)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error = None
        self._joined = False
        self._threads: set = set()

    @property
    def joined(self) -> bool:
        """Whether `join` is done."""
        return self._joined

    def request_stop(self, ex=None) -> None:
        """Ask the threads to stop.

        Args:
            ex: the exception that is the reason, or what `sys.exc_info()` gives; `join` raises it. After `join` it is
                raised here.
        """
        if isinstance(ex, tuple):
            ex = ex[1]
        if ex is not None and not isinstance(ex, BaseException):
            raise TypeError(f"request_stop: ex must be an exception, got {ex!r}.")
        if isinstance(ex, self._clean):
            ex = None
        with self._lock:
            if self._joined:
                if ex is not None:
                    raise ex
                return
            if not self._stop.is_set():
                self._error = ex
                self._stop.set()

    def clear_stop(self) -> None:
        """Forget that a stop was asked for, and why."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether a stop was asked for."""
        return self._stop.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """What is raised within this block asks for a stop."""
        try:
            yield
        except BaseException:
            self.request_stop(sys.exc_info())

    def wait_for_stop(self, timeout=None) -> bool:
        """Wait until a stop is asked for, so many seconds at most; returns whether it was."""
        return self._stop.wait(timeout)

    def register_thread(self, thread) -> None:
        """Let `join` wait for this thread, too."""
        with self._lock:
            self._threads.add(thread)

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False) -> None:
        """Wait until the threads have ended.

        Args:
            threads: to wait for, besides the registered ones.
            stop_grace_period_secs: how long they may run on after a stop was asked for.
            ignore_live_threads: whether it is no error that one does.

        Raises:
            RuntimeError: when a thread still runs after that time.
            Exception: what was given to `request_stop`.
        """
        with self._lock:
            waited = list(self._threads.union(threads or ()))
        while any(thread.is_alive() for thread in waited) and not self.wait_for_stop(_LOOK):
            pass
        last = time.monotonic() + stop_grace_period_secs
        while any(thread.is_alive() for thread in waited) and time.monotonic() < last:
            for thread in waited:
                thread.join(max(0.0, min(_LOOK, last - time.monotonic())))
        alive = [thread.name for thread in waited if thread.is_alive()]
        with self._lock:
            self._joined = True
            self._threads = set()
            error = self._error
        if error is not None:
            raise error
        if alive and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(alive)}")

    def raise_requested_exception(self) -> None:
        """Raise what was given to `request_stop`, if anything was."""
        with self._lock:
            if self._error is not None:
                raise self._error
