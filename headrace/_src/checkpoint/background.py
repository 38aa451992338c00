"""Saving while the program goes on: a thread that writes, one save at a time, and errors that are not lost."""

import atexit
import logging
import threading
import weakref
from collections.abc import Callable

from headrace._src.core import operating_system

_logger = logging.getLogger("tensorflow")


class Background:
    """What writes the checkpoints of one object in the background. Jobs run in the order in which they came.

    The thread is not a daemon: leaving the program waits for it.
    """

    def __init__(self):
        self._order = threading.Lock()  # held while a job is handed over, so that two threads cannot swap theirs
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        _all.add(self)

    def submit(self, job: Callable[[], None]) -> None:
        """Runs `job` in another thread as soon as the one before has ended.

        Raises:
            What the job before raised; then `job` is not run.
            RuntimeError: a job wants this.
        """
        if threading.current_thread() is self._thread:
            raise RuntimeError("A function that is called when a checkpoint has been written cannot save another one.")
        with self._order:
            self._join()
            self._raise()
            thread = threading.Thread(target=self._run, args=(job,), name="headrace-save")
            _unfinished.add(self)
            self._thread = thread
            try:
                thread.start()
            except RuntimeError:  # no thread starts any more when the program is about to end
                self._thread = None
                self._run(job)
                self._raise()

    def wait(self) -> None:
        """Returns when all jobs have ended.

        Raises:
            What a job raised, once.
        """
        if threading.current_thread() is self._thread:
            return  # a function that the job calls, which cannot wait for itself
        with self._order:
            self._join()
            self._raise()

    @property
    def is_busy(self) -> bool:
        """Whether a job is running."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def _run(self, job):
        try:
            job()
        except BaseException as error:
            self._error = error
            _logger.error("Saving in the background failed; the next call of save, restore or sync raises: %s", error)
        else:
            _unfinished.discard(self)

    def _join(self):
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _raise(self):
        error, self._error = self._error, None
        if error is not None:
            _unfinished.discard(self)
            raise error


_all: "weakref.WeakSet[Background]" = weakref.WeakSet()
_unfinished: set[Background] = set()  # with a job that runs, or an error that nobody has seen


@atexit.register
def _report() -> None:
    """At the end of the program: raises what nobody has asked for. The threads have ended by then."""
    failed = [background._error for background in list(_unfinished) if background._error is not None]
    _unfinished.clear()
    if failed:
        raise failed[0] if len(failed) == 1 else BaseExceptionGroup("Checkpoints could not be saved", failed)


def _forget() -> None:
    """In a forked process: the thread is in the other one, which does the writing and raises the errors."""
    _unfinished.clear()
    for background in list(_all):
        background._order = threading.Lock()
        background._thread = background._error = None


operating_system.at_fork(in_child=_forget)
