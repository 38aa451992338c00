"""Threads that work ahead of the reader of a pipeline, and end when there is no reader any more."""

import atexit
import collections
import queue
import threading
import time
import weakref

from headrace._src.core.context import context
from headrace._src.data.running.stages import Cursor, Run

_END = object()
# Seconds that an element takes to make, above which a thread makes the next ones.
_WORTH_A_THREAD = 300e-6
# After how many elements that a thread made it is asked whether that was worth it.
_MANY = 64
# How long a thread may take to end, in seconds, until it is left to itself: what it calls may be of any length.
_SECONDS_TO_END = 5
_running: weakref.WeakSet = weakref.WeakSet()


class _PrefetchWork:
    """What a thread and its reader share. The thread knows only this, so that the reader can be dropped."""

    def __init__(self, cursor, size, run):
        self.cursor = cursor
        self.size = size
        self.walk = run
        self.ready: collections.deque = collections.deque()  # elements, failures, and _END as the last
        self.changed = threading.Condition()
        self.is_stopped = False
        self.made, self.seconds = 0, 0.0  # how many elements the thread has made, and in what time

    def run(self):
        while True:
            with self.changed:
                while len(self.ready) >= self.size and not self.is_stopped:
                    self.changed.wait()
                if self.is_stopped:
                    return
            start = time.perf_counter()
            try:
                item = self.walk.call(self.cursor.next)
            except BaseException as error:  # raised again in the thread that reads
                item = _FailedElement(error)
            self.seconds += time.perf_counter() - start
            self.made += 1
            with self.changed:
                self.ready.append(_END if item is None else item)
                self.changed.notify_all()
                if item is None or self.is_stopped:
                    return

    def stop(self):
        with self.changed:
            self.is_stopped = True
            self.ready.clear()
            self.changed.notify_all()


class _FailedElement:
    __slots__ = ("error",)

    def __init__(self, error):
        self.error = error


def _stop(work, thread):
    work.stop()
    if thread is not threading.current_thread() and thread.is_alive():
        thread.join(_SECONDS_TO_END)
    work.cursor.close()


@atexit.register
def _stop_all():
    """Threads must not run while the interpreter is taken down."""
    for reader in list(_running):
        reader.close()


class ThreadAhead(Cursor):
    """Reads another cursor in a thread, up to `size` elements ahead.

    The thread begins once an element takes long to make: handing it from thread to thread costs time as well, the more
    so as only one thread at a time runs Python code. It ends when many elements have turned out to be made quickly.

    Args:
        inner: the other cursor.
        size: how many elements may wait.
        run: the walk that it belongs to.
    """

    def __init__(self, inner: Cursor, size: int, run: Run):
        self._work = _PrefetchWork(inner, size, run)
        self._thread: threading.Thread | None = None
        self._is_over = False
        self._spent = 0.0  # on the last few elements
        self._worth = 3 * _WORTH_A_THREAD  # how much must have been spent for a thread to begin
        self._finalizer = None

    def _start(self):
        work = self._work
        self._thread = threading.Thread(target=work.run, name="headrace-prefetch", daemon=True)
        self._finalizer = weakref.finalize(self, _stop, work, self._thread)
        self._finalizer.atexit = False  # `_stop_all` does it, before threads are in danger
        _running.add(self)
        self._thread.start()

    def next(self):
        if self._is_over:
            return None
        work = self._work
        if self._thread is None and not work.ready:
            return self._next_here()
        with work.changed:
            while not work.ready:
                work.changed.wait()
            item = work.ready.popleft()
            work.changed.notify_all()
        if item is _END:
            self._is_over = True
            self.close()
            return None
        if type(item) is _FailedElement:
            raise item.error
        if work.made >= _MANY and self._thread is not None:
            self._reconsider()
        return item

    def _reconsider(self):
        """End the thread when it is not worth it: some elements took long, but most do not."""
        work = self._work
        if work.seconds < work.made * _WORTH_A_THREAD / 2:
            self._pause()
            self._finalizer.detach()
            self._thread = self._finalizer = None
            work.is_stopped = False
            self._worth = min(4 * self._worth, 60 * _WORTH_A_THREAD)
        work.made, work.seconds = 0, 0.0

    def _next_here(self):
        """The next element, made in the thread that asks for it."""
        start = time.perf_counter()
        element = self._work.cursor.next()
        if element is None:
            self._is_over = True
            self.close()
        else:
            # What takes long once may have been interrupted; what takes very long, or long again and again, is slow.
            self._spent = 0.75 * self._spent + min(time.perf_counter() - start, 20 * _WORTH_A_THREAD)
            if self._spent > self._worth:
                self._start()
        return element

    def state(self):
        """The elements that wait are part of the position: they are kept in the state."""
        work, is_running = self._work, self._thread is not None
        if is_running:
            self._pause()
        ready = [item for item in work.ready if item is not _END]
        failed = next((item for item in ready if type(item) is _FailedElement), None)
        if failed is not None:
            raise failed.error
        ready = [list(item) for item in ready]
        state = {"ready": ready, "is_over": self._is_over, "inner": work.cursor.state()}
        if is_running:
            self._resume()
        return state

    def _pause(self):
        """Let the thread end; what it has made stays."""
        work = self._work
        with work.changed:
            work.is_stopped = True
            work.changed.notify_all()
        self._thread.join()

    def _resume(self):
        work = self._work
        work.is_stopped = False
        if not (work.ready and work.ready[-1] is _END):
            self._finalizer.detach()
            self._start()

    def restore(self, state):
        work = self._work
        if self._thread is not None:
            self._pause()
            self._finalizer.detach()
        inner = work.cursor
        inner.restore(state["inner"])
        self._work = _PrefetchWork(inner, work.size, work.walk)
        self._work.ready.extend(tuple(item) for item in state["ready"])
        self._is_over = state["is_over"]
        self._thread = None

    def close(self):
        _running.discard(self)
        if self._finalizer is not None:
            self._finalizer()
        else:
            self._work.cursor.close()


class Call:
    """A call that a worker makes, and its result once it is there."""

    __slots__ = ("arguments", "error", "function", "is_done", "lock", "result")

    def __init__(self, function, arguments):
        self.function = function
        self.arguments = arguments
        self.result = self.error = None
        self.is_done = False
        self.lock = threading.Lock()
        self.lock.acquire()

    def run(self):
        try:
            self.result = context.run_quietly(self.function, *self.arguments)
        except BaseException as error:  # raised again in the thread that waits
            self.error = error
        self.function = self.arguments = None
        self.is_done = True
        self.lock.release()

    def wait(self):
        """Wait for the result.

        Raises:
            whatever the function raised.
        """
        with self.lock:
            pass
        if self.error is not None:
            raise self.error
        return self.result


class Workers:
    """Threads that make calls, as many as asked for; they end when this object is dropped or closed."""

    def __init__(self):
        self._calls: queue.SimpleQueue = queue.SimpleQueue()
        self._threads: list = []
        self._finalizer = weakref.finalize(self, _end_workers, self._calls, self._threads)
        self._finalizer.atexit = False
        _running.add(self)

    def grow(self, count: int):
        """Start threads until there are at least `count`."""
        while len(self._threads) < count:
            thread = threading.Thread(target=_work, args=(self._calls,), name="headrace-map", daemon=True)
            self._threads.append(thread)
            thread.start()

    def call(self, function, *arguments) -> Call:
        """Have a thread call a function."""
        call = Call(function, arguments)
        self._calls.put(call)
        return call

    def close(self):
        """End the threads; calls that have not begun are not made."""
        _running.discard(self)
        self._finalizer()


def _work(calls):
    while (call := calls.get()) is not None:
        call.run()
        del call  # or the last result would be kept while waiting


def _end_workers(calls, threads):
    try:
        while True:
            calls.get_nowait()
    except queue.Empty:
        pass
    for _ in threads:
        calls.put(None)
    for thread in threads:
        if thread is not threading.current_thread():
            thread.join(_SECONDS_TO_END)
