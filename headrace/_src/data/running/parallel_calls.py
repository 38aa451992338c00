"""`Dataset.map` with several calls at the same time."""

import collections
import time

from headrace._src.core import operating_system
from headrace._src.data.datasets import AUTOTUNE
from headrace._src.data.running import random_streams
from headrace._src.data.running.batch_rows import Rows, put, rows_for
from headrace._src.data.running.stages import Cursor
from headrace._src.data.running.threads import Call, Workers

# With AUTOTUNE: how long one number of threads is tried, after how many trials another one is tried again, at first
# and later, and what a new rate counts against those before.
_TRIAL_SECONDS = 0.03
_TRIALS_KEPT, _MOST_KEPT = 8, 64
_WEIGHT = 0.4
# How many processors calls must keep busy to be made in threads without asking whether one at a time is faster, and
# for which part of their time at most, to be made in more threads than there are processors.
_WORTH_THREADS = 1.4
_MOSTLY_WAITING = 0.4
# Which part of the reader's time calls must take, one at a time, to be made in threads at all.
_WORTH_TRYING = 0.25
# Rates that differ by less are taken for equal.
_NEARLY = 0.9
# How long the calls may take that a thread is given at a time, and how many they may be; and how long those that the
# reader makes at a time, who waits for all of them: a step of a training must not take several times as long as others.
_SECONDS_TOGETHER, _SECONDS_HERE = 0.005, 0.0005
_MOST_TOGETHER = 64


class ParallelMap(Cursor):
    """Calls of a function in threads, while the reader works on results before them.

    Elements are pulled from the input by whoever reads, in order, and results are handed out in the same order (unless
    the user does not mind). So the result is that of one call after another. A thread is given several elements at a
    time when calls are short: handing them over costs time as well.

    Args:
        stage: a `MapStage`.
        run: the walk that this belongs to.
        function: the stage's, or one that has Python functions called in other processes.
        inner: the elements that it is called with.
    """

    def __init__(self, stage, run, function, inner):
        self._stage = stage
        self._run = run
        self._function = function
        self._inner = inner
        self._results: collections.deque = collections.deque()  # (number, result or failure), to be handed out
        self._waiting: collections.deque = collections.deque()  # calls of `_all_of`, in order
        self._number = 0
        self._is_over = False
        self._processes = getattr(function, "processes", None)
        self._width = self._width_for(stage)
        # Functions that draw random numbers have no other effects, or they would not be called in threads.
        self._is_pure = not function.calls_python and (function.draws or not stage.is_stateful)
        self._together = _Together(_MOST_TOGETHER if self._is_pure else 1)
        self._workers = Workers()
        self._draws = function.draws
        self._distance = None  # how far one call moves the streams of random numbers
        options = run.options
        keeps_order = stage.keeps_order and getattr(options, "deterministic", None) is not False
        self._any_order = not keeps_order
        self._batch, self._batch_start = 0, 0
        self._rows: Rows | None = None

    def stack_by(self, size):
        """So many results each will be stacked: they are put into one array from the beginning."""
        if not self._any_order:
            self._batch = size

    def _width_for(self, stage):
        if stage.parallel != AUTOTUNE:
            return _FixedWidth(stage.parallel)
        if self._processes is not None:  # twice as many calls as processes, so that these need not wait
            return _FixedWidth(2 * self._processes.count)
        return _MeasuredWidth(stage)

    def next(self):
        if not self._results and not self._wait():
            return None
        number, result = self._results.popleft()
        if type(result) is _FailedCall:
            try:
                if number is None:  # the error of the input, which came after the results before it
                    raise result.error
                self._stage.failed(number, result.error, result.element)
            finally:
                del result  # or the error, its traceback and this walk would keep each other
        self._width.note(number, self._number)
        return result

    def _wait(self):
        """Get results; whether there are any."""
        waiting = self._waiting
        self._fill(self._width.current())
        if not waiting:
            return False
        place = 0
        if self._any_order:
            place = next((i for i, call in enumerate(waiting) if call.is_done), 0)
        call = waiting[place]
        del waiting[place]
        results, seconds, busy = call.wait()
        self._results.extend(results)
        self._together.note(len(results), seconds)
        self._width.note_time(seconds, busy)
        width = self._width.current()
        if width > 1:  # the threads go on while these results are handed out
            self._fill(width)
        if self._rows is None and self._batch:
            self._rows = rows_for(self._batch, self._batch_start, results[0][1])
        return True

    def _fill(self, width):
        # What has no effects may be called earlier than asked for: then a thread that is done finds more to do at once.
        ahead = 2 * width if self._is_pure and width > 1 else width
        while not self._is_over and len(self._waiting) < ahead:
            is_first = self._draws and self._distance is None
            here = width == 1 or is_first
            calls = self._pulled(1 if is_first else self._together.count(here))
            if calls and here:
                self._waiting.append(_made(_all_of, calls))
            elif calls:
                self._workers.grow(width)
                self._waiting.append(self._workers.call(_all_of, calls))

    def _pulled(self, count):
        """The calls for the next elements, as `(number, element, function, arguments)`; fewer of a slow input."""
        calls: list[tuple] = []
        until = time.perf_counter() + _SECONDS_TOGETHER
        while len(calls) < count:
            try:
                element = self._inner.next()
            except Exception as error:
                calls.append((None, None, _raise, (error.with_traceback(None),)))
                break
            if element is None:
                self._is_over = True
                break
            function, arguments = self._call_of(element)
            if self._rows is not None:
                function, arguments = _call_into, (self._rows.row(self._number), function, arguments)
            calls.append((self._number, element, function, arguments))
            self._number += 1
            if time.perf_counter() > until:
                break
        return calls

    def _call_of(self, element):
        """What is called for an element; with random numbers, at the streams as the call before leaves them."""
        if not self._draws:
            return self._function, (element,)
        site = self._function.site
        if self._distance is None:  # the first call shows how many numbers calls draw
            return self._first_drawing, (element, site)
        copy = random_streams.copied(site)
        random_streams.advance(site, self._distance)
        return self._function.call_at, (copy, element)

    def _first_drawing(self, element, site):
        before = random_streams.copied(site)
        result = self._function(element)
        self._distance = random_streams.steps(before, site)
        return result

    # Saving: results that wait are part of the position.

    def state(self):
        results = [*self._results]
        for call in self._waiting:
            results += call.wait()[0]
        failed = next((result for _, result in results if type(result) is _FailedCall), None)
        if failed is not None:
            raise failed.error
        return {
            "number": self._number, "is_over": self._is_over, "random": self._function.state(),
            "done": [[number, list(result)] for number, result in results], "inner": self._inner.state(),
        }  # fmt: skip

    def restore(self, state):
        self._number, self._is_over = state["number"], state["is_over"]
        self._function.restore(state["random"])
        self._waiting.clear()
        self._results = collections.deque((number, tuple(result)) for number, result in state["done"])
        self._inner.restore(state["inner"])
        self._batch_start, self._rows = self._number - len(self._results), None

    def close(self):
        self._waiting.clear()
        self._results.clear()
        if self._processes is not None and self._run.stopped.is_set():
            self._processes.close()  # nobody waits for the calls that they make
        self._workers.close()
        self._inner.close()


class _FailedCall:
    __slots__ = ("element", "error")

    def __init__(self, error, element):
        self.error = error
        self.element = element


def _all_of(calls):
    """Make calls, one after another.

    Returns:
        Their `(number, result or failure)`, how long they took, and how much of that the processor worked.
    """
    start, busy = time.perf_counter(), time.thread_time()
    results = []
    for number, element, function, arguments in calls:
        try:
            results.append((number, function(*arguments)))
        except Exception as error:
            results.append((number, _FailedCall(error, element)))
    return results, time.perf_counter() - start, time.thread_time() - busy


def _raise(error):
    raise error


def _call_into(row, function, arguments):
    """Call a function, and move what it returns to a row of a batch."""
    result = function(*arguments)
    return row if put(row, result) else result


def _made(function, *arguments) -> Call:
    """A call that is made at once."""
    call = Call(function, arguments)
    call.run()
    return call


class _Together:
    """How many elements are handed over at a time: as many as take about `_SECONDS_TOGETHER`, or `_SECONDS_HERE`.

    Threads begin with one, and take up to twice as many each time: as long as there are no results that wait for the
    reader, the reader waits for all that were handed over together.

    Args:
        most: the largest number.
    """

    def __init__(self, most):
        self._most = most
        self._in_threads = 1
        self._seconds = _SECONDS_TOGETHER  # of a call

    def count(self, here) -> int:
        """How many to make now, by the reader or by a thread."""
        if here:
            self._in_threads = 1
            return max(1, min(int(_SECONDS_HERE / self._seconds), self._most))
        count = self._in_threads
        self._in_threads = max(1, min(int(_SECONDS_TOGETHER / self._seconds), 2 * count, self._most))
        return min(count, self._in_threads)

    def note(self, count, seconds):
        """So many calls took so long."""
        self._seconds = max(seconds / count, 1e-6)


class _FixedWidth:
    """As many calls at the same time as the user says."""

    def __init__(self, width):
        self._width = width

    def current(self):
        return self._width

    def note(self, number, pulled):
        pass

    def note_time(self, seconds, busy):
        pass


class _MeasuredWidth:
    """As many calls at the same time as give the most results per second, as far as measured."""

    def __init__(self, stage):
        # Of the stage: later walks begin with what was found.
        self._rates: _Rates = stage.__dict__.setdefault("measured_rates", _Rates())
        self._begin(0)

    def _begin(self, pulled):
        self._width = self._rates.next_width()
        self._first = pulled  # calls that began before, with another width, do not count
        self._count, self._since = 0, 0.0
        self._seconds = self._busy = 0.0

    def current(self):
        return self._width

    def note(self, number, pulled):
        """The result of a number was handed out, and so many elements have been pulled."""
        if number < self._first:
            return
        if not self._count:
            self._since = time.perf_counter()
        self._count += 1
        if self._count % 8:
            return
        elapsed = time.perf_counter() - self._since
        if elapsed >= _TRIAL_SECONDS:
            self._rates.note(self._width, (self._count - 1) / elapsed)
            self._rates.note_use(self._width, self._seconds / elapsed, self._busy / elapsed)
            self._begin(pulled)

    def note_time(self, seconds, busy):
        """Calls took so long, and the processor worked on them so long."""
        self._seconds += seconds
        self._busy += busy
        self._rates.note_time(self._width, seconds, busy)


class _Rates:
    """Results per second for each number of calls at the same time, and which number to take."""

    def __init__(self):
        self._cores = operating_system.processor_count()
        self._share = 1.0  # of the time of calls, as many as processors, in which the processor works on them
        self._used = float(self._cores)  # how many processors all of these calls together keep busy
        self._load = 0.0  # which part of the reader's time calls take, one at a time
        self._rates: dict[int, float] = {}
        self._trials = 0
        self._others = 0  # how often another number than the best one was tried, and when it will be again
        self._next_other = _TRIALS_KEPT

    def note(self, width, rate):
        """Remember a rate. The very first one counts for nothing: much is done for the first time then."""
        self._trials += 1
        if self._trials > 1:
            before = self._rates.get(width, rate)
            self._rates[width] = before + _WEIGHT * (rate - before)

    def note_time(self, width, seconds, busy):
        """Calls took so long, and the processor worked on them so long."""
        if width == self._cores and seconds > 0:
            self._share += 0.1 * (busy / seconds - self._share)

    def note_use(self, width, load, processors):
        """Calls took such a part of the time, and kept so many processors busy.

        The latter also while some waited for Python's lock to begin.
        """
        if width == 1:
            self._load = load
        if width == self._cores:
            self._used += _WEIGHT * (processors - self._used)

    def _candidates(self):
        """What is worth trying, by how calls fare that are as many as the processors.

        When they wait for each other, which they do for Python's lock, one at a time may be as fast. When they wait for
        something else, such as a disk, more of them may be faster.
        """
        widths = [self._cores]
        if min(self._cores * self._share, self._used) < _WORTH_THREADS:
            widths.append(1)
        if self._share < _MOSTLY_WAITING:
            widths += [2 * self._cores, 4 * self._cores]
        return list(dict.fromkeys(widths))

    def next_width(self):
        """What to try next: the best one, and now and then, ever more seldom, another one, since things change.

        As long as the reader's own work takes most of the time, there is nothing to gain from threads, which the reader
        has to share Python's lock with.
        """
        if self._load < _WORTH_TRYING:
            return 1
        candidates = self._candidates()
        untried = [width for width in candidates if width not in self._rates]
        if untried:
            return untried[0]
        # More threads only where they clearly pay: they take turns.
        enough = _NEARLY * max(self._rates[width] for width in candidates)
        best = min(width for width in candidates if self._rates[width] >= enough)
        if self._trials < self._next_other:
            return best
        self._others += 1
        self._next_other = self._trials + min(_TRIALS_KEPT + self._others, _MOST_KEPT)
        others = [width for width in candidates if width != best]
        return others[self._others % len(others)] if others else best
