"""The work of one large operation, in parts that several threads take, one after the other.

NumPy gives up the interpreter's lock while it computes, so its loops can run at the same time. The caller works too,
and takes whatever part is next: when another process keeps a processor busy, the thread there takes fewer parts
or none, and nobody waits for a thread that has not begun. How work is divided depends on its size only, never on the
number of threads or on the clock, so that results are equal to the last bit from run to run. See
docs/decisions/0046-threads-of-one-operation.md.
"""

import functools
import itertools
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from headrace._src.core import operating_system
from headrace._src.core.context import quiet_runner

# Elements of a part, for kernels that make arrays on their way to the result: fewer, and threads wait for each other at
# the interpreter's lock; more, and the arrays leave a processor's cache.
PART = 1 << 17

# The same for kernels that call many functions one after the other: parts are as long as that, or two halves.
LONG_PART = 1 << 19

# The environment variables that say how many threads an operation may use, the first that is set. TF: it reads the
# first one; the others are those of NumPy's matrix products, which came from a library that reads them.
_VARIABLES = ("TF_NUM_INTRAOP_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


class _Threads:
    """The threads that help: started when they are first needed, waiting for jobs afterwards."""

    def __init__(self):
        self.lock = threading.Lock()
        self.jobs: SimpleQueue = SimpleQueue()
        self.number = 0


_helpers = _Threads()
_setting = 0


def _after_fork():
    global _helpers
    _helpers = _Threads()  # those of the other process did not come along


operating_system.at_fork(in_child=_after_fork)


@functools.cache
def _usual_threads():
    processors = operating_system.processor_count()
    for name in _VARIABLES:
        text = os.environ.get(name, "")
        if text.isdecimal() and int(text):
            return min(int(text), processors)
    return processors


def thread_count() -> int:
    """How many threads one operation may use, the caller's among them."""
    return _setting or _usual_threads()


def set_thread_count(count: int) -> None:
    """Say how many threads one operation may use; 0 for one per processor."""
    global _setting
    _setting = count


class _Job:
    """Parts of which each is done by one thread."""

    __slots__ = ("_count", "_failed", "_finished", "_function", "_inside", "_lock", "_take")

    def __init__(self, function, count):
        self._function = function
        self._count = count
        self._take = itertools.count().__next__  # the interpreter's lock makes this one step
        self._lock = threading.Lock()
        self._finished = threading.Lock()
        self._finished.acquire()
        self._inside = 1  # the caller
        self._failed: tuple[int, BaseException] | None = None

    def run(self):
        """What the caller does."""
        self._work()
        if self._leave():
            self._finished.acquire()  # someone is still at a part
        self._function = None  # threads that come too late still hold this job, and must not hold its arrays
        if self._failed is not None:
            raise self._failed[1]

    def help(self):
        """What another thread does."""
        with self._lock:
            if not self._inside:
                return  # too late: all is done
            self._inside += 1
        self._work()
        if not self._leave():
            self._finished.release()

    def _work(self):
        take, function = self._take, self._function
        while (number := take()) < self._count:
            try:
                function(number)
            except BaseException as error:
                # Parts before this one were taken before it, so the error that is raised in the end is always that of
                # the first part that fails.
                with self._lock:
                    if self._failed is None or number < self._failed[0]:
                        self._failed = number, error
                self._count = 0

    def _leave(self):
        """How many are still inside."""
        with self._lock:
            self._inside -= 1
            return self._inside


def _serve(jobs):
    run = quiet_runner()
    while True:
        run(jobs.get().help)


def _ask_for_help(job, number):
    helpers = _helpers
    if helpers.number < number:
        with helpers.lock:
            while helpers.number < number:
                threading.Thread(
                    target=_serve, args=(helpers.jobs,), name="headrace part of an operation", daemon=True
                ).start()
                helpers.number += 1
    for _ in range(number):
        helpers.jobs.put(job)


def in_parts(function: Callable[[int], Any], count: int) -> None:
    """Call `function(0)` ... `function(count - 1)`, in any order and at the same time, with NumPy's warnings off.

    Raises:
        What the first part that fails raises.
    """
    helpers = min(thread_count(), count) - 1
    if helpers < 1:
        for number in range(count):
            function(number)
        return
    job = _Job(function, count)
    _ask_for_help(job, helpers)
    job.run()


def in_slices(function: Callable[[slice], Any], size: int, length: int) -> None:
    """Call the function with slices that cover `range(size)`, as `in_parts` does.

    Each has `length`, and the last one what is left over as well: kernels may do otherwise with a few elements.
    """
    count = size // length or (size > 0)
    last = count - 1
    in_parts(
        lambda number: function(slice(number * length, size if number == last else (number + 1) * length)), count
    )


def in_long_slices(function: Callable[[slice], Any], size: int, width: int = 1) -> None:
    """Call the function with at least two long slices that cover `range(size)`, as `in_slices` does.

    For kernels of many calls of NumPy: between two of them a thread needs the interpreter's lock, and one that finds it
    taken sleeps for longer than a short call takes.

    Args:
        function: of a slice.
        size: how many things there are.
        width: how many elements each of them has.
    """
    in_slices(function, size, max(1, size // max(2, size * width // LONG_PART)))
