"""What all workers do together: sums, gathers, broadcasts and barriers of NumPy arrays, over processes.

Before numbers go from one to the other, workers compare what each is about to do: what differs becomes an error that
says so. Waiting ends when a worker dies or leaves. This is the only place where numbers cross from host to host.
"""

from __future__ import annotations

import hashlib
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.core.tracebacks import is_users
from headrace._src.distribute.control_messages import WHERE
from headrace._src.distribute.rendezvous import Link
from headrace._src.distribute.xla_collectives import Processes, flat_memory, has_type

# Each operation begins with a block of this many bytes from everybody: a digest of what is done, and if there is room
# for it the numbers themselves, which then need no second message.
_BLOCK = 4096
_DIGEST = 16
_ROOM = _BLOCK - _DIGEST
_LAST_WORDS = 1.0  # seconds for what a worker had sent before it died
SUM, MEAN, MIN, MAX = "SUM", "MEAN", "MIN", "MAX"


class _Job:
    """Something that the thread of the group does, while another one waits."""

    def __init__(self, work):
        self.work = work
        self.changed = threading.Event()
        self.is_done = False
        self.result: Any = None
        self.error: BaseException | None = None


class Group:
    """The workers of a training.

    Args:
        link: to the rendezvous.
        connect: what makes the `Processes`, called in the thread of the group.
        timeout: how many seconds an operation may take; None for any time.
    """

    def __init__(self, link: Link, connect: Callable[[], Processes], timeout: float | None = None):
        self.link = link
        self.rank, self.size = link.rank, len(link.members)
        self.timeout = timeout
        self.exchanged: dict[str, list[int]] = {}  # by kind of operation: how many there were, and bytes of this worker
        self._jobs: queue.SimpleQueue = queue.SimpleQueue()
        self._last: _Job | None = None
        self._lock = threading.Lock()  # operations of all workers have one order
        thread = threading.Thread(target=self._work, args=(connect,), name="collectives", daemon=True)
        thread.start()

    # The thread that waits for the others.

    def _work(self, connect):
        processes, broken = None, None
        while True:
            job = self._jobs.get()
            try:
                if processes is None:
                    if broken is not None:
                        raise broken
                    processes = connect()
                job.result = job.work(processes)
            except BaseException as error:
                job.error = error
                if processes is None:
                    broken = error
            job.is_done = True
            job.changed.set()

    def _wait(self, work, number, doing):
        """Have something done by the thread, and wait for it or for a reason why it will never end."""
        job = self._last = _Job(work)
        self.link.on_change(job.changed.set)
        self.link.doing, self.link.key = doing, f"operation {number}"
        try:
            self._jobs.put(job)
            while not job.is_done:
                error = self.link.error_for(number, doing)
                if error is not None:
                    # Who has died may have done its part of this before, and what it sent may still be on its way.
                    self.settle(_LAST_WORDS)
                    if job.is_done:
                        break
                    raise error
                if not job.changed.wait(self.timeout):
                    raise self._late(number, doing)
                if not job.is_done:
                    job.changed.clear()
        finally:
            self.link.doing = self.link.key = ""
            self.link.no_more(job.changed.set)
        if job.error is not None:
            self._raise(job.error, number, doing)
        return job.result

    def settle(self, seconds: float) -> None:
        """Wait a while until the thread has come back from XLA. If it came back while Python ends, all would abort."""
        job, until = self._last, time.monotonic() + seconds
        while job is not None and not job.is_done and time.monotonic() < until:
            job.changed.clear()
            if not job.is_done:
                job.changed.wait(max(0.0, until - time.monotonic()))

    def _late(self, number, doing):
        names = ", ".join(map(str, self.link.behind(number))) or "another worker"
        return errors.deadline_exceeded(
            f"{WHERE}: {doing} did not end within {self.timeout:g} seconds (timeout_seconds of CommunicationOptions): "
            f"{names} has not come to it."
        )

    def _raise(self, error, number, doing):
        """Raise what a broken connection means: mostly that a worker has died."""
        found = self.link.awaited_failure() or self.link.error_for(number, doing)
        if found is not None:
            raise found from error
        raise errors.unavailable(f"{WHERE}: {doing} failed: {error}") from error

    # Operations.

    def _exchange(self, doing, payload=b""):
        """Send a digest of what is done and some bytes to all; returns the bytes of all, once they agree."""
        self.link.raise_failure()
        self.link.count += 1
        number = self.link.count
        block = flat_memory(_BLOCK, np.dtype(np.uint8))
        digest = hashlib.blake2b(f"{number} {doing}".encode(), digest_size=_DIGEST).digest()
        block[:_DIGEST] = np.frombuffer(digest, np.uint8)
        block[_DIGEST : _DIGEST + len(payload)] = np.frombuffer(payload, np.uint8)
        rows = self._wait(lambda processes: processes.gather(block), number, doing)
        if not (rows[:, :_DIGEST] == rows[0, :_DIGEST]).all():
            raise self._different(number, doing)
        return rows[:, _DIGEST:]

    def _different(self, number, doing):
        line = _users_line()
        told = self.link.agree(f"operation {number}", [doing, line])
        places = [f"{what} at {line}" if line else what for what, line in told]
        lines = [f"{member} is in {place}" for member, place in zip(self.link.members, places)]
        return errors.invalid_argument(
            f"{WHERE}: the workers do not do the same. In operation {number} of all workers, {'; '.join(lines)}. "
            "Shapes, dtypes and the order of such operations must be the same on all workers."
        )

    def _note(self, kind, size):
        noted = self.exchanged.setdefault(kind, [0, 0])
        noted[0] += 1
        noted[1] += size

    def barrier(self, name: str = "barrier") -> None:
        """Wait until all workers are here."""
        with self._lock:
            self._exchange(f"{name}")

    def all_reduce(self, arrays: Sequence[np.ndarray], reduction: str = SUM) -> list[np.ndarray]:
        """The arrays of all workers added up (or their mean, minimum, maximum), one for one.

        Raises:
            InvalidArgumentError: the workers do not do the same.
            UnavailableError: one has died or left.
        """
        doing = f"all_reduce ({reduction}) of {_described(arrays)}"
        size = sum(array.nbytes for array in arrays)
        with self._lock:
            self._note("all_reduce", size)
            if size <= _ROOM or reduction in (MIN, MAX) or not all(has_type(array.dtype) for array in arrays):
                rows = self._gathered_bytes(doing, [_as_bytes(array) for array in arrays])
                results = _combined_rows(rows, arrays, reduction)
            else:
                self._exchange(doing)
                results = self._summed(arrays, doing)
        if reduction == MEAN:
            results = [_mean(total, self.size) for total in results]
        return results

    def _summed(self, arrays, doing):
        """The sums, with one message for each dtype."""
        results: list = [None] * len(arrays)
        for dtype in dict.fromkeys(array.dtype for array in arrays):
            places = [i for i, array in enumerate(arrays) if array.dtype == dtype and array.size]
            flat = flat_memory(sum(arrays[i].size for i in places), dtype)
            at = 0
            for i in places:
                flat[at : at + arrays[i].size] = arrays[i].reshape(-1)
                at += arrays[i].size
            total = self._wait(lambda processes, flat=flat: processes.sum(flat), self.link.count, doing) if at else flat
            at = 0
            for i in places:
                results[i] = total[at : at + arrays[i].size].reshape(arrays[i].shape)
                at += arrays[i].size
        return [array if result is None else result for array, result in zip(arrays, results)]

    def all_gather(self, array: np.ndarray, axis: int = 0) -> list[np.ndarray]:
        """The arrays of all workers, by rank. Sizes along the axis may differ.

        Raises:
            InvalidArgumentError: the workers do not do the same.
            UnavailableError: one has died or left.
        """
        rest = [size for i, size in enumerate(array.shape) if i != axis]
        doing = f"all_gather of {array.dtype.name}{rest} along axis {axis}"
        strings = array.dtype == object
        data = _packed_strings(array) if strings else _as_bytes(array)
        with self._lock:
            self._note("all_gather", len(data))
            shapes = np.frombuffer(self._exchange(doing, np.array([array.shape[axis], len(data)], np.int64).tobytes())
                                   [:, :16].tobytes(), np.int64).reshape(-1, 2)  # fmt: skip
            longest = int(shapes[:, 1].max())
            rows = self._rows(data, longest, doing)
        results = []
        for row, (size, length) in zip(rows, shapes.tolist()):
            shape = list(array.shape)
            shape[axis] = size
            part = row[:length]
            results.append(
                _unpacked_strings(part, shape) if strings else np.frombuffer(part.tobytes(), array.dtype).reshape(shape)
            )
        return results

    def broadcast(self, array: np.ndarray, source: int = 0) -> np.ndarray:
        """The array of one worker.

        Raises:
            InvalidArgumentError: the others have one of another shape or dtype.
            UnavailableError: one has died or left.
        """
        if array.dtype == object:
            return self.all_gather(array.reshape(-1))[source].reshape(array.shape)
        doing = f"the first value of a variable, {_described([array])}"
        data = _as_bytes(array) if self.rank == source else b"\0" * array.nbytes
        with self._lock:
            self._note("broadcast", array.nbytes)
            if array.nbytes <= _ROOM:
                row = self._exchange(doing, data)[source, : array.nbytes]
            else:
                self._exchange(doing)
                # The others add zeros. Few sizes, so that few programs are compiled.
                flat = flat_memory(1 << (array.nbytes - 1).bit_length(), np.dtype(np.uint8))
                flat[: array.nbytes] = np.frombuffer(data, np.uint8)
                flat[array.nbytes :] = 0
                row = self._wait(lambda processes: processes.sum(flat), self.link.count, doing)[: array.nbytes]
        return np.frombuffer(row.tobytes(), array.dtype).reshape(array.shape)

    def _gathered_bytes(self, doing, parts):
        data = b"".join(parts)
        if len(data) <= _ROOM:
            return self._exchange(doing, data)[:, : len(data)]
        self._exchange(doing)
        return self._rows(data, len(data), doing)

    def _rows(self, data, longest, doing):
        """The bytes of all workers, each filled up to the longest."""
        if not longest:
            return np.zeros((self.size, 0), np.uint8)
        flat = flat_memory(1 << (longest - 1).bit_length(), np.dtype(np.uint8))
        flat[: len(data)] = np.frombuffer(data, np.uint8)
        flat[len(data) :] = 0
        return self._wait(lambda processes: processes.gather(flat), self.link.count, doing)


def _users_line():
    """The line of the user's program that leads here, as a text; empty if there is none."""
    frame = sys._getframe()
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _described(arrays):
    return ", ".join(f"{array.dtype.name}{list(array.shape)}" for array in arrays) or "nothing"


def _as_bytes(array):
    return np.ascontiguousarray(array).tobytes()


def _combined_rows(rows, arrays, reduction):
    """What bytes of all workers are together, added up in the order of ranks on every worker."""
    results, at = [], 0
    for array in arrays:
        end = at + array.nbytes
        parts = [np.frombuffer(row[at:end].tobytes(), array.dtype).reshape(array.shape) for row in rows]
        total = parts[0]
        for part in parts[1:]:
            total = np.minimum(total, part) if reduction == MIN else np.maximum(total, part) if reduction == MAX else (
                total | part if array.dtype == np.bool_ else total + part)  # fmt: skip
        results.append(np.asarray(total, array.dtype))
        at = end
    return results


def _mean(total, count):
    if total.dtype.kind in "iub":
        return (total // count).astype(total.dtype)  # TF: the mean of integers is one
    return np.asarray(total / np.asarray(count, total.dtype), total.dtype)


def _packed_strings(array):
    values = [bytes(value) for value in array.reshape(-1)]
    lengths = np.array([len(values), *map(len, values)], np.int64).tobytes()
    return lengths + b"".join(values)


def _unpacked_strings(row, shape):
    data = row.tobytes()
    count = int(np.frombuffer(data[:8], np.int64)[0])
    lengths = np.frombuffer(data[8 : 8 + 8 * count], np.int64)
    found, at = np.empty(count, object), 8 + 8 * count
    for i, length in enumerate(lengths.tolist()):
        found[i] = data[at : at + length]
        at += length
    return found.reshape(shape)


# The group of this process.

_current: list[Group] = []


def join(group: Group) -> None:
    """From now on, this is the group of this process."""
    _current[:] = [group]


def current_group() -> Group | None:
    """The workers that this process trains with; None if it is alone."""
    return _current[0] if _current else None
