"""The Python functions that `Dataset.map` calls, in processes of their own, when `tf.data.Options` ask for that.

Only `tf.py_function` and `tf.numpy_function` move: the rest of the graph runs in this process as always, and a call
from within it hands its arguments to a process and waits. So order, positions, errors and random numbers are the
business of whoever calls. Arguments and results travel in shared memory, one block for each process. See
docs/decisions/0031-generators-in-processes.md.
"""

from __future__ import annotations

import atexit
import pickle
import threading
import weakref
from typing import Any

from headrace._src.core import errors, operating_system
from headrace._src.core.context import context
from headrace._src.core.lazy import multiprocessing_util
from headrace._src.data.running.stages import Run
from headrace._src.data.saving.element_bytes import buffers, unpacked
from headrace._src.data.sources.generator_processes import END_WAIT, EXIT_WAIT, end_process
from headrace._src.graph.control.python_functions import arrays_of_call

_FIRST_BYTES = 1 << 20
_lock, _walks_lock = threading.Lock(), threading.Lock()
_of_walk: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _put(memory, parts) -> int:
    """Write buffers one after another."""
    at = 0
    for part in parts:
        memory.buf[at : at + len(part)] = part
        at += len(part)
    return at


# In the process.


def _serve(pipe) -> None:
    """What a process does: make calls until nobody asks for more."""
    operating_system.ignore_interrupts()  # the process that started this one ends it
    memory = _Attached()
    calls: dict = {}
    try:
        while True:
            number, pickled, memory_name, size = pipe.recv()
            block = memory.named(memory_name)
            try:
                if pickled is not None:
                    calls[number] = _loaded(pickled)
                # A copy: the function may keep its arguments, or write into them.
                result = arrays_of_call(calls[number], unpacked(bytearray(block.buf[:size])))
            except errors.OpError as error:
                pipe.send(("error", error.error_code, error.message))
                continue
            parts = buffers(tuple(result))
            size = sum(map(len, parts))
            if size > block.size:
                pipe.send(("large", size))
                block = memory.named(pipe.recv())
            pipe.send(("done", _put(block, parts)))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # nobody asks any more
    finally:
        memory.close()
        pipe.close()


class _Attached:
    """The block of memory that is shared now."""

    def __init__(self):
        self._block = None

    def named(self, name):
        """The block of a name; another one is given up."""
        if self._block is None or self._block.name != name:
            self.close()
            self._block = operating_system.attached_shared_memory(name)
        return self._block

    def close(self):
        if self._block is not None:
            self._block.close()


def _loaded(pickled):
    try:
        return pickle.loads(pickled)
    except Exception as error:
        raise errors.invalid_argument(
            f"the Python function cannot be loaded in another process: {type(error).__name__}: {error}"
        ) from error


# In the process that asks.


class _Process:
    """One process, and the memory that it shares."""

    def __init__(self):
        start = operating_system.new_processes()
        self.memory = operating_system.new_shared_memory(_FIRST_BYTES)
        self.pipe, other = start.Pipe()
        self.process = start.Process(target=_serve, args=(other,), name="headrace-python", daemon=True)
        self.process.start()
        other.close()
        self._known: set = set()  # the calls that were sent

    def call(self, number, pickled, element) -> tuple:
        """Have a function called.

        Raises:
            OpError: what it raised.
            EOFError, OSError: the process has ended.
        """
        parts = buffers(element)
        size = sum(map(len, parts))
        if size > self.memory.size:
            self._grow(size)
        _put(self.memory, parts)
        self.pipe.send((number, None if number in self._known else pickled, self.memory.name, size))
        self._known.add(number)
        kind, *rest = self.pipe.recv()
        if kind == "large":
            self._grow(rest[0])
            self.pipe.send(self.memory.name)
            kind, *rest = self.pipe.recv()
        if kind == "error":
            if rest[0] == errors.INVALID_ARGUMENT and "cannot be loaded" in rest[1]:
                self._known.discard(number)
            raise errors.from_code(*rest)
        return unpacked(bytearray(self.memory.buf[: rest[0]]))

    def _grow(self, size):
        """Share a larger block from now on."""
        self.memory.close()
        self.memory.unlink()
        self.memory = operating_system.new_shared_memory(2 * size)

    def end(self):
        end_process(self.process, self.pipe, self.memory)


class _Places:
    """The processes of a walk, up to a limit. Threads take one for a call and give it back."""

    def __init__(self, most):
        self.processes: list = [None] * most
        self.is_busy = [False] * most
        self.changed = threading.Condition()
        self.is_over = False

    def take(self, place) -> int:
        """Wait for a process: that at `place`, or with None any, those first that run already."""
        with self.changed:
            while True:
                if self.is_over:
                    raise errors.cancelled("Dataset.map: the walk through the dataset was given up.")
                free = [i for i, busy in enumerate(self.is_busy) if not busy and place in (None, i)]
                if free:
                    found = min(free, key=lambda i: self.processes[i] is None)
                    if self.processes[found] is None:
                        self.processes[found] = _Process()
                    self.is_busy[found] = True
                    return found
                self.changed.wait()

    def give_back(self, place):
        with self.changed:
            self.is_busy[place] = False
            self.changed.notify_all()

    def lose(self, place) -> Any:
        """Forget a process that has ended; its exit code."""
        with self.changed:
            lost, self.processes[place] = self.processes[place], None
        if lost is None:
            return None
        lost.process.join(EXIT_WAIT)
        code = lost.process.exitcode
        lost.end()
        return code

    def end(self):
        """End all processes. Calls that are being made are given up."""
        with self.changed:
            self.is_over = True
            self.changed.notify_all()
            for one, busy in zip(self.processes, self.is_busy):
                if one is not None and busy:
                    one.process.terminate()  # who waits for it hears of it, and gives it back
            self.changed.wait_for(lambda: not any(self.is_busy), END_WAIT)
            processes, self.processes = self.processes, [None] * len(self.processes)
        for one in processes:
            if one is not None:
                one.end()


_running: weakref.WeakSet = weakref.WeakSet()
_is_registered = False


def _end_with_program(processes):
    """Have processes ended before `multiprocessing` ends them, which would let new ones begin in their places."""
    global _is_registered
    with _lock:
        _running.add(processes)
        if not _is_registered:
            multiprocessing_util.is_exiting()  # it is there, and what is registered after it is called before it
            atexit.register(_end_all)
            _is_registered = True


def _end_all():
    for processes in list(_running):
        processes.close()


class Processes:
    """The processes in which the Python functions of a walk are called. They end with the walk.

    Args:
        most: how many there may be at a time; they begin when they are needed.
    """

    def __init__(self, most: int):
        self.count = most
        self._places = _Places(most)
        self._calls: dict = {}  # by identity: number, bytes, and the call itself so that its identity stays its own
        self._lock = threading.Lock()
        self._next_place = 0
        self._place_of: dict = {}
        self._finalizer = weakref.finalize(self, self._places.end)
        self._finalizer.atexit = False
        _end_with_program(self)

    def close(self):
        """End the processes."""
        self._finalizer()

    def place_for(self, function) -> int:
        """The process for a function whose calls come one after another: always the same, as it may remember things."""
        with self._lock:
            key = function.graph.base
            if key not in self._place_of:
                self._place_of[key] = self._next_place
                self._next_place = (self._next_place + 1) % self.count
            return self._place_of[key]

    def call(self, call, arrays, place=None) -> list:
        """Have a Python function called in a process."""
        number, pickled = self._sent(call)
        taken = self._places.take(place)
        try:
            one = self._places.processes[taken]
            return list(one.call(number, pickled, tuple(arrays)))
        except (EOFError, OSError) as error:
            code = self._places.lose(taken)
            raise errors.unavailable(
                f"Dataset.map: the process that called {call.function!r} has ended (exit code {code})."
            ) from error
        finally:
            self._places.give_back(taken)

    def _sent(self, call):
        with self._lock:
            if id(call) not in self._calls:
                try:
                    pickled = pickle.dumps(call)
                except Exception as error:
                    raise errors.invalid_argument(
                        "Dataset.map: with `headrace_worker_processes`, the functions of tf.py_function and "
                        f"tf.numpy_function must be picklable, but {call.function!r} is not ({error}). Use a function "
                        "at the top of a module, or an object of a class there that has `__call__`."
                    ) from error
                self._calls[id(call)] = (len(self._calls), pickled, call)
            return self._calls[id(call)][:2]


class FunctionElsewhere:
    """A function of elements whose Python functions are called in other processes.

    Args:
        function: an `ElementFunction`.
        processes: where to.
        place: which of the processes; None for any.
    """

    calls_python = True

    def __init__(self, function, processes: Processes, place: int | None):
        self._function = function
        self.processes = processes
        self._place = place
        self.draws = function.draws

    def _python(self, call, arrays):
        return self.processes.call(call, arrays, self._place)

    def _calling(self, function, *arguments):
        before, context.python_caller = context.python_caller, self._python
        try:
            return function(*arguments)
        finally:
            context.python_caller = before

    def __call__(self, element):
        return self._calling(self._function, element)

    def call_at(self, site, element):
        return self._calling(self._function.call_at, site, element)

    @property
    def site(self):
        return self._function.site

    def state(self):
        return self._function.state()

    def restore(self, state):
        self._function.restore(state)


def function_elsewhere(stage, run: Run) -> FunctionElsewhere:
    """A map's function for a walk that may use processes.

    Args:
        stage: a `MapStage`.
        run: of the walk.
    """
    most = run.options.headrace_worker_processes
    with _walks_lock:
        processes = _of_walk.get(run)
        if processes is None:
            processes = _of_walk[run] = Processes(most)
    place = processes.place_for(stage.function) if stage.parallel == 1 else None
    return FunctionElsewhere(stage.function, processes, place)
