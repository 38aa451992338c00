"""What is written down while a profile is recorded: for each thread, what ran from when to when.

An event is four numbers: start, end, a key that stands for its name and statistics, and the place in the user's code.
They are put together in arrays, so that a million events take 32 MB, and one takes less than a microsecond. Names of
files and numbers of lines are looked up when all is over.
"""

import os
import threading
import time
from typing import Any

import numpy as np

from headrace._src.graph.building.source_lines import is_ours

clock = time.perf_counter_ns

# How many events are kept. Later ones are counted only: a page with more cannot be looked at anyway.
LIMIT = 1_000_000
# How many events of a thread are put into an array at once.
PACKED = 2048
# How far from the op the user's line is looked for: eager Keras layers are some thirty calls deep.
_DEPTH = 40
_KERAS = f"{os.sep}keras{os.sep}src{os.sep}"

INTERPRETED, COMPILED = 1, 2


class Line:
    """The events of a thread, or of something that is like one: each (start, end, key, place)."""

    def __init__(self, recorder: "Recorder", number: int, name: str):
        self.number = number
        self.name = name
        self.rows: list[tuple[int, int, int, int]] = []
        self._packed: list[np.ndarray] = []
        self._recorder = recorder
        recorder.lines.append(self)

    def add(self, start: int, end: int, key: int, place: int = 0) -> None:
        """Something ran."""
        self.rows.append((start, end, key, place))
        self.pack_when_full()

    def pack_when_full(self) -> None:
        """To be called now and then by those who append to `rows` themselves, which is faster."""
        if len(self.rows) >= PACKED:
            self.pack()

    def pack(self) -> None:
        """Put the rows into an array, or count them if there are enough."""
        rows = self.rows[:]
        del self.rows[: len(rows)]
        room = self._recorder.take(len(rows))
        if room:
            self._packed.append(np.array(rows[:room], np.int64))

    def events(self) -> np.ndarray:
        """All events in the order of their starts; what contains others comes before them."""
        self.pack()
        events = np.concatenate(self._packed) if self._packed else np.zeros((0, 4), np.int64)
        return events[np.lexsort((-events[:, 1], events[:, 0]))]


class _Thread(threading.local):
    """Of each thread: its line, and what the call that runs is."""

    functions: tuple = ()  # the names of the functions of which graphs run, outermost first
    tiers = 0  # how the function that runs was run so far: the sum of INTERPRETED and COMPILED

    def __init__(self, recorder):
        name = threading.current_thread().name
        self.line = Line(recorder, threading.get_native_id(), "python" if name == "MainThread" else name)


class Recorder:
    """Events of all threads, from its making until `stop`."""

    def __init__(self, limit: int = LIMIT):
        self.lines: list[Line] = []
        self.thread = _Thread(self)
        self.keys: list[tuple[str, dict]] = []  # by key, name and statistics
        self.codes: list[Any] = [None]  # by number, code of the user's
        self.running = True
        self.kept = self.dropped = 0
        self._limit = limit
        self._key_of: dict = {}
        self._number_of_code: dict = {}  # code to its number; 0 for code of ours
        self._lock = threading.Lock()
        self.begin = clock()
        self.begin_unix = time.time_ns()
        self.end = self.begin

    def stop(self) -> None:
        """Take no more events."""
        for line in self.lines[:]:
            line.pack()
        self.running = False
        self.end = clock()

    def add(self, start: int, end: int, key: int, place: int = 0) -> None:
        """Something ran in this thread."""
        self.thread.line.add(start, end, key, place)

    def take(self, count: int) -> int:
        """How many of so many events are to be kept; counts them."""
        with self._lock:
            if not self.running:
                return 0
            room = min(count, self._limit - self.kept)
            self.kept += room
            self.dropped += count - room
            return room

    def key(self, name: str, /, **stats) -> int:
        """The number that stands for a name with these statistics."""
        entry = name, *((stat, type(value), value) for stat, value in stats.items())
        key = self._key_of.get(entry)
        if key is None:
            with self._lock:
                key = self._key_of.setdefault(entry, len(self.keys))
                if key == len(self.keys):
                    self.keys.append((name, stats))
        return key

    def place(self, frame) -> int:
        """Where the user's code is that led to this frame: outside of headrace, and of Keras where that can be."""
        numbers, nearest = self._number_of_code, 0
        for _ in range(_DEPTH):
            if frame is None:
                break
            code = frame.f_code
            try:
                number = numbers[code]
            except KeyError:
                number = self._number(code)
            if number > 0:
                return number << 32 | frame.f_lasti
            if number < 0 and not nearest:
                nearest = -number << 32 | frame.f_lasti
            frame = frame.f_back
        return nearest

    def _number(self, code) -> int:
        """0 for code of headrace, below 0 for that of Keras."""
        if is_ours(code.co_filename) or code.co_filename.startswith("<frozen"):
            number = 0
        else:
            with self._lock:
                number = len(self.codes)
                self.codes.append(code)
            if _KERAS in code.co_filename:
                number = -number
        self._number_of_code[code] = number
        return number

    def text_of_place(self, place: int) -> str:
        """A place as `train.py:17`."""
        code, last = self.codes[place >> 32], place & 0xFFFFFFFF
        line = next((line for start, end, line in code.co_lines() if start <= last < end and line), code.co_firstlineno)
        return source_text(code.co_filename, line)


def source_text(file: str, line: int) -> str:
    """A line of a file as time lines show it: the path from the working directory where it is below that."""
    here = os.getcwd() + os.sep
    return f"{file.removeprefix(here)}:{line}"


class _Current:
    """The recorder of the profile that is recorded now, for what is written by the user's own `Trace`."""

    recorder: Recorder | None = None


current = _Current()
