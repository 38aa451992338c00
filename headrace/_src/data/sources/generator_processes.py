"""Generators that run in processes of their own, when `tf.data.Options` ask for that.

A new Python process calls the generator and converts what it yields. Elements come back in shared memory, many at a
time: the memory is divided into slots, which the process fills and the reader hands back. Messages about them, and
errors, go through a pipe. See docs/decisions/0031-generators-in-processes.md.
"""

from __future__ import annotations

import collections
import pickle
import threading
import time
import weakref
from typing import Any

from headrace._src.core import errors, operating_system
from headrace._src.data.running.stages import Cursor, Run, stacked
from headrace._src.data.saving.element_bytes import packed, unpacked
from headrace._src.data.sources.generators import Generator, GeneratorCursor, GeneratorStage

_SLOTS = 4
_SLOT_BYTES = 1 << 20
_MOST_ELEMENTS = 256  # in a slot
_LONGEST_WAIT = 0.005  # seconds that an element waits for others to go with it
END_WAIT = 2.0  # seconds for a process that was asked to end
EXIT_WAIT = 60.0  # seconds for a process that has closed its pipe, which is the last thing it does

_lock = threading.Lock()
_in_use: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # by walk, how many processes it has


# In the process.


def _serve(pipe, job: bytes, memory_name: str) -> None:
    """What the process does: fill slots with elements until the end."""
    operating_system.ignore_interrupts()  # the reader ends it
    memory = operating_system.attached_shared_memory(memory_name)
    try:
        function, spec, arguments, location, position = pickle.loads(job)
        stage = GeneratorStage(Generator(function, spec), arguments, [])
        stage.location = location
        cursor = GeneratorCursor(stage)
        cursor.restore(position)
        _Sender(pipe, memory).send_all(cursor)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # nobody reads any more
    except BaseException as error:
        try:
            pipe.send(("error", errors.UNKNOWN, f"{type(error).__name__}: {error}"))
            pipe.send(("end",))
        except OSError:
            pass
    finally:
        memory.close()
        pipe.close()


class _Sender:
    """Puts elements into slots."""

    def __init__(self, pipe, memory):
        self._pipe = pipe
        self._memory = memory
        self._free = collections.deque(range(_SLOTS))
        self._lengths: list = []
        self._filled = 0
        self._slot: Any = None
        self._since = 0.0

    def send_all(self, cursor):
        while True:
            try:
                element = cursor.next()
            except errors.OpError as error:
                self._flush()
                self._pipe.send(("error", error.error_code, error.message))
                continue
            if element is None:
                self._flush()
                self._pipe.send(("end",))
                return
            self._put(packed(element))

    def _put(self, data):
        if len(data) > _SLOT_BYTES:
            self._flush()
            self._pipe.send(("large", len(data)))
            self._receive_until("memory", data)
            return
        if self._filled + len(data) > _SLOT_BYTES or len(self._lengths) >= _MOST_ELEMENTS:
            self._flush()
        if self._slot is None:
            while not self._free:
                self._receive()
            self._slot, self._since = self._free.popleft(), time.monotonic()
        at = self._slot * _SLOT_BYTES + self._filled
        self._memory.buf[at : at + len(data)] = data
        self._lengths.append(len(data))
        self._filled += len(data)
        if time.monotonic() - self._since > _LONGEST_WAIT:
            self._flush()

    def _flush(self):
        if self._lengths:
            self._pipe.send(("slot", self._slot, self._lengths))
            self._slot, self._lengths, self._filled = None, [], 0

    def _receive(self):
        message = self._pipe.recv()
        if message[0] == "free":
            self._free.append(message[1])
        return message

    def _receive_until(self, kind, data):
        while (message := self._receive())[0] != kind:
            pass
        block = operating_system.attached_shared_memory(message[1])
        block.buf[: len(data)] = data
        block.close()
        self._pipe.send(("large is there",))


# In the reader.


def end_process(process, pipe, memory):
    """End a process and give its memory back."""
    pipe.close()
    if process.is_alive():
        process.join(0.05)
    if process.is_alive():
        process.terminate()
        process.join(END_WAIT)
    if process.is_alive():
        process.kill()
        process.join()
    process.close()
    memory.close()
    try:
        memory.unlink()
    except FileNotFoundError:
        pass


class ProcessCursor(Cursor):
    """A walk through what a generator yields in another process.

    Args:
        stage: a `GeneratorStage`.
        run: of the walk.
    """

    def __init__(self, stage, run: Run):
        self._stage = stage
        self._run = run
        self._number = 0
        self._ready: collections.deque = collections.deque()  # encoded elements, and errors
        self._is_over = False
        self._finalizer: Any = None
        self._pipe: Any = None
        self._process: Any = None
        self._memory: Any = None

    def _start(self):
        generator = self._stage.generator
        position = {"number": self._number, "is_over": False}
        job = (generator.function, generator.spec, self._stage.arguments, self._stage.location, position)
        try:
            data = pickle.dumps(job)
        except Exception as error:
            self._is_over = True
            self._release()
            raise errors.invalid_argument(
                f"Dataset.from_generator: with `headrace_worker_processes`, the generator must be picklable, but "
                f"{generator.function!r} is not ({error}). Use a function at the top of a module."
            ) from error
        start = operating_system.new_processes()
        self._memory = operating_system.new_shared_memory(_SLOTS * _SLOT_BYTES)
        self._pipe, other = start.Pipe()
        self._process = start.Process(
            target=_serve, args=(other, data, self._memory.name), name="headrace-generator", daemon=True
        )
        self._process.start()
        other.close()
        self._finalizer = weakref.finalize(self, end_process, self._process, self._pipe, self._memory)

    def _receive(self):
        """Wait for the next message, and take what it brings."""
        if self._finalizer is None:
            self._start()
        try:
            message = self._pipe.recv()
        except (EOFError, ConnectionResetError) as error:
            self._process.join(EXIT_WAIT)
            code = self._process.exitcode
            self._finish()
            raise errors.unavailable(
                f"Dataset.from_generator: the process of the generator has ended (exit code {code})."
            ) from error
        kind = message[0]
        if kind == "slot":
            _, slot, lengths = message
            at = slot * _SLOT_BYTES
            data = bytes(self._memory.buf[at : at + sum(lengths)])
            self._hand_back(slot)
            view, at = memoryview(data), 0
            for length in lengths:
                self._ready.append(view[at : at + length])
                at += length
        elif kind == "large":
            self._ready.append(self._large(message[1]))
        elif kind == "error":
            self._ready.append(errors.from_code(message[1], message[2]))
        elif kind == "end":
            self._finish()

    def _hand_back(self, slot):
        try:
            self._pipe.send(("free", slot))
        except BrokenPipeError:
            pass  # the process has sent all that it had, and ended

    def _large(self, size):
        block = operating_system.new_shared_memory(size)
        try:
            self._pipe.send(("memory", block.name))
            self._pipe.recv()
            return memoryview(bytes(block.buf[:size]))
        finally:
            block.close()
            block.unlink()

    def _finish(self):
        self._is_over = True
        self.close()

    def next(self):
        while not self._ready:
            if self._is_over:
                return None
            self._receive()
        item = self._ready.popleft()
        self._number += 1
        if isinstance(item, errors.OpError):
            raise item
        return unpacked(item)

    def block(self, count):
        elements = []
        while len(elements) < count:
            if elements and not self._ready and not self._is_over:
                break  # those that are there
            if self._ready and isinstance(self._ready[0], errors.OpError) and elements:
                break
            element = self.next()
            if element is None:
                break
            elements.append(element)
        return stacked(elements) if elements else None

    def state(self):
        return {"number": self._number, "is_over": self._is_over and not self._ready}

    def restore(self, state):
        self.close()
        self._ready.clear()
        self._number, self._is_over = state["number"], state["is_over"]

    def _release(self):
        with _lock:
            if self._run is not None:
                _in_use[self._run] = _in_use.get(self._run, 1) - 1
                self._run = None

    def close(self):
        finalizer, self._finalizer = self._finalizer, None
        if finalizer is not None:
            finalizer()
        self._release()


def process_cursor(stage: GeneratorStage, run: Run) -> Cursor | None:
    """A walk in a process of its own; None where that was not asked for, or all of those that were are in use."""
    most = run.options.headrace_worker_processes
    if any(spec.dtype._kind in "rv" for spec in stage.component_specs):
        return None
    with _lock:
        if _in_use.get(run, 0) >= most:
            return None
        _in_use[run] = _in_use.get(run, 0) + 1
    return ProcessCursor(stage, run)
