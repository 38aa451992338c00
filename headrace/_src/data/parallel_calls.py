"""`Dataset.map` with several calls at the same time."""

import collections
import os
import time

from headrace._src.data import random_streams
from headrace._src.data.stages import Cursor
from headrace._src.data.threads import Call, Workers

AUTOTUNE = -1
# With AUTOTUNE: how long one number of threads is tried, and after how many trials all are tried again.
_TRIAL_SECONDS = 0.03
_TRIALS_KEPT = 200
# Rates that differ by less are taken for equal.
_NEARLY = 0.9


class ParallelMap(Cursor):
    """Calls of a function in threads, while the reader works on results before them.

    Elements are pulled from the input by whoever reads, in order, and results are handed out in the same order (unless
    the user does not mind). So the result is that of one call after another.

    Args:
        stage: a `MapStage`.
        run: the walk that this belongs to.
        function: the stage's, or one that has Python functions called in other processes.
    """

    def __init__(self, stage, run, function):
        self._stage = stage
        self._run = run
        self._function = function
        self._inner = stage.source.cursor(run)
        self._waiting: collections.deque = collections.deque()  # (number, call)
        self._number = 0
        self._is_over = False
        self._processes = getattr(function, "processes", None)
        self._width = self._width_for(stage)
        self._workers = Workers()
        self._draws = function.draws
        self._distance = None  # how far one call moves the streams of random numbers
        options = run.options
        keeps_order = stage.keeps_order and getattr(options, "deterministic", None) is not False
        self._any_order = not keeps_order

    def _width_for(self, stage):
        if stage.parallel != AUTOTUNE:
            return _FixedWidth(stage.parallel)
        if self._processes is not None:  # twice as many calls as processes, so that these need not wait
            return _FixedWidth(2 * self._processes.count)
        return _MeasuredWidth(stage)

    def next(self):
        width = self._width.current()
        self._fill(width)
        waiting = self._waiting
        if not waiting:
            return None
        place = 0
        if self._any_order:
            place = next((i for i, (_, call) in enumerate(waiting) if call.is_done), 0)
        number, call = waiting[place]
        del waiting[place]
        try:
            result = call.wait()
        except Exception as error:
            call.error = None  # or the error, its traceback and this walk would keep each other
            if number is None:  # the error of the input, which came after the results before it
                raise
            self._stage.failed(number, error)
        self._width.note()
        return result

    def _fill(self, width):
        while not self._is_over and len(self._waiting) < width:
            try:
                element = self._inner.next()
            except Exception as error:
                self._waiting.append((None, _failed(error.with_traceback(None))))
                return
            if element is None:
                self._is_over = True
                return
            self._waiting.append((self._number, self._begin(element, width)))
            self._number += 1

    def _begin(self, element, width) -> Call:
        """Have the function called: by a thread, or here when there is only one."""
        if self._draws:
            return self._begin_drawing(element, width)
        if width == 1:
            return _made(self._function, element)
        self._workers.grow(width)
        return self._workers.call(self._function, element)

    def _begin_drawing(self, element, width):
        """The same for a function that draws random numbers: each call gets the streams as the one before left them."""
        site = self._function.site
        if self._distance is None:  # the first call shows how many numbers calls draw
            before = random_streams.copied(site)
            call = _made(self._function, element)
            if call.error is None:
                self._distance = random_streams.steps(before, site)
            return call
        copy = random_streams.copied(site)
        random_streams.advance(site, self._distance)
        if width == 1:
            return _made(self._function.call_at, copy, element)
        self._workers.grow(width)
        return self._workers.call(self._function.call_at, copy, element)

    # Saving: results that wait are part of the position.

    def state(self):
        done = [[number, list(call.wait())] for number, call in self._waiting]
        return {
            "number": self._number, "is_over": self._is_over, "done": done, "random": self._function.state(),
            "inner": self._inner.state(),
        }  # fmt: skip

    def restore(self, state):
        self._number, self._is_over = state["number"], state["is_over"]
        self._function.restore(state["random"])
        self._waiting = collections.deque((number, _made(tuple, result)) for number, result in state["done"])
        self._inner.restore(state["inner"])

    def close(self):
        self._waiting.clear()
        if self._processes is not None and self._run.stopped.is_set():
            self._processes.close()  # nobody waits for the calls that they make
        self._workers.close()
        self._inner.close()


def _failed(error) -> Call:
    """A call that has failed."""
    call = Call(None, ())
    call.error, call.is_done = error, True
    call.lock.release()
    return call


def _made(function, *arguments) -> Call:
    """A call that is made at once."""
    call = Call(function, arguments)
    call.run()
    return call


class _FixedWidth:
    """As many calls at the same time as the user says."""

    def __init__(self, width):
        self._width = width

    def current(self):
        return self._width

    def note(self):
        pass


class _MeasuredWidth:
    """As many calls at the same time as give the most results per second: tried, and tried again now and then.

    What was found stays with the stage: later walks begin with it.
    """

    def __init__(self, stage):
        cores = os.cpu_count() or 1
        self._candidates = list(dict.fromkeys([cores, 1, 2 * cores, 4 * cores]))
        self._rates: dict[int, float] = stage.__dict__.setdefault("measured_rates", {})
        self._kept = 0
        self._choose()

    def _choose(self):
        untried = [width for width in self._candidates if width not in self._rates]
        if untried:
            self._width = untried[0]
        else:  # more threads only where they clearly pay: they take turns
            enough = _NEARLY * max(self._rates.values())
            self._width = min(width for width, rate in self._rates.items() if rate >= enough)
        self._count, self._since = 0, time.perf_counter()

    def current(self):
        return self._width

    def note(self):
        """A result was handed out."""
        self._count += 1
        if self._count % 8:
            return
        elapsed = time.perf_counter() - self._since
        if elapsed < _TRIAL_SECONDS:
            return
        self._rates[self._width] = self._count / elapsed
        self._kept += 1
        if self._kept > _TRIALS_KEPT:
            self._rates.clear()
            self._kept = 0
        self._choose()
