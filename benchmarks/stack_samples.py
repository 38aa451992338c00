"""Where a program is, looked at a thousand times a second: shares of functions and of parts of headrace and Keras.

A profiler that counts calls makes small functions look large, and they are what small steps are made of. A signal
interrupts the main thread between two instructions of the interpreter, so that what a function of C takes counts for
the Python function that has called it.
"""

import collections
import contextlib
import os
import signal
import sys

_INTERVAL = 0.001
# Where the files of a library are, what it is called, and how many folders below make a part.
_LIBRARIES = {"headrace/_src/": ("headrace", 2), "keras/src/": ("keras", 1)}


class Samples:
    """How many of the samples have a function on the stack, and how many at its end."""

    def __init__(self):
        self.count = 0
        self.inside: collections.Counter = collections.Counter()  # by function: it or what it calls
        self.itself: collections.Counter = collections.Counter()
        self.parts: collections.Counter = collections.Counter()  # by part: it is the last on the stack
        self.elsewhere: collections.Counter = collections.Counter()  # functions at the end of other threads' stacks

    @contextlib.contextmanager
    def taken(self):
        """Look, while the block runs; only in the main thread."""
        before = signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, _INTERVAL, _INTERVAL)
        try:
            yield self
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _look(self, number, frame):
        self.count += 1
        here = frame
        self.itself[here.f_code] += 1
        self.parts[part_of(here.f_code.co_filename)] += 1
        seen = set()
        while frame is not None:
            seen.add(frame.f_code)
            frame = frame.f_back
        self.inside.update(code for code in seen if os.path.dirname(__file__) not in code.co_filename)
        for other in sys._current_frames().values():
            if other.f_code is not self._look.__func__.__code__ and other is not here:
                self.elsewhere[other.f_code] += 1

    def shares(self, counter, most) -> list[tuple[float, str]]:
        """The largest of a counter, each as a share of all samples and what it is."""
        return [(count / max(self.count, 1), named(what)) for what, count in counter.most_common(most)]


def part_of(path: str) -> str:
    """The part of a library that a file belongs to: `headrace/graph/compiling`, `keras/optimizers`, `numpy`."""
    path = path.replace(os.sep, "/")
    for root, (library, depth) in _LIBRARIES.items():
        _, found, rest = path.rpartition(root)
        if found:
            return "/".join([library, *rest.split("/")[:-1][:depth]])
    _, found, rest = path.rpartition("site-packages/")
    return rest.partition("/")[0] if found else "the row, and Python's own library"


def named(what) -> str:
    """A function as `file.py: name`; a part as it is."""
    if isinstance(what, str):
        return what
    folders = what.co_filename.replace(os.sep, "/").split("/")
    return f"{'/'.join(folders[-2:])}: {what.co_qualname}"
