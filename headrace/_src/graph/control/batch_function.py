"""The op BatchFunction: calls of one graph from several threads at the same time become one call with more rows.

There are no threads besides those that call. The call that finds no batch to join begins one and leads it: it waits
until the batch is full or its time is over, runs the graph, and hands the others their rows.
"""

import threading
import time
import weakref

import numpy as np

from headrace._src.core import errors, operating_system
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import UNKNOWN


class _Task:
    """The rows that one call has in one batch, and the outputs for them."""

    def __init__(self, arrays):
        self.arrays = arrays
        self.size = len(arrays[0])
        self.outputs = None


class _Batch:
    """Tasks that run together.

    Attributes:
        size: how many rows they have.
        deadline: until when the batch waits for more, by `time.monotonic`.
        closed: whether it waits no longer: it is full, or the next task did not fit.
        done: whether there are outputs, or `error` says why not.
    """

    def __init__(self, deadline):
        self.tasks: list[_Task] = []
        self.size = 0
        self.deadline = deadline
        self.closed = False
        self.done = False
        self.error: BaseException | None = None


class _Batcher:
    """The batches of one graph."""

    def __init__(self, threads, largest, seconds, waiting, sizes):
        """
        Args:
            threads: how many batches run at the same time.
            largest: how many rows a batch has at most.
            seconds: how long a batch waits for more rows.
            waiting: how many batches may wait for their turn.
            sizes: the numbers of rows, in ascending order, that batches are filled up to; any when there are none.
        """
        self._free = threads
        self._largest = largest
        self._seconds = seconds
        self._allowed = waiting
        self._sizes = sizes
        self._waiting: list[_Batch] = []
        self._changed = threading.Condition()

    def run(self, arrays, function):
        """The outputs of `function` for these rows, which it may get together with those of other calls."""
        joined = []
        with self._changed:
            parts = self._parts(arrays)
            for part in parts:
                joined.append((part, *self._join(part)))
        led = [batch for _, batch, leads in joined if leads]
        try:
            for batch in led:
                self._lead(batch, function)
        finally:
            for batch in led:
                if not batch.done:  # this thread was interrupted before its turn
                    self._end(batch, errors.CancelledError(None, None, "BatchFunction: the batch was given up."))
        for _, batch, _ in joined:
            with self._changed:
                while not batch.done:
                    self._changed.wait()
            if batch.error is not None:
                raise batch.error
        outputs = [part.outputs for part in parts]
        return outputs[0] if len(outputs) == 1 else [np.concatenate(same) for same in zip(*outputs)]

    def _parts(self, arrays):
        """The rows, divided among the batch that is open and new ones; an error if these would be too many."""
        count = len(arrays[0])
        open_batch = self._waiting[-1] if self._waiting else None
        room = 0 if open_batch is None else self._largest - open_batch.size
        if count <= self._largest:  # a call that fits into one batch stays together
            bounds, new = [0, count], int(count > room)
        else:
            bounds = [0, *range(room or self._largest, count, self._largest), count]
            new = len(bounds) - 1 - (room > 0)
        if new and len(self._waiting) + new > self._allowed:
            raise errors.UnavailableError(
                None, None,
                "The batch scheduling queue to which this task was submitted is full; "
                f"{len(self._waiting)} of {self._allowed} batches are waiting.",
            )  # fmt: skip
        return [_Task([x[a:b] for x in arrays]) for a, b in zip(bounds, bounds[1:])]

    def _join(self, task):
        """The batch of a task, and whether it is new, so that somebody must lead it."""
        batch = self._waiting[-1] if self._waiting else None
        leads = batch is None or batch.size + task.size > self._largest
        if leads:
            if batch is not None:
                batch.closed = True
            batch = _Batch(time.monotonic() + self._seconds)
            self._waiting.append(batch)
        batch.tasks.append(task)
        batch.size += task.size
        batch.closed |= batch.size == self._largest
        self._changed.notify_all()
        return batch, leads

    def _lead(self, batch, function):
        try:
            self._wait_for_turn(batch)
            try:
                self._fill(batch, function)
            finally:
                with self._changed:
                    self._free += 1
                    self._changed.notify_all()
        except Exception as error:
            self._end(batch, error)
        else:
            self._end(batch)

    def _end(self, batch, error=None):
        with self._changed:
            if batch in self._waiting:
                self._waiting.remove(batch)
            batch.error = error
            batch.done = True
            self._changed.notify_all()

    def _wait_for_turn(self, batch):
        with self._changed:
            while True:
                left = 0.0 if batch.closed else batch.deadline - time.monotonic()
                if left <= 0.0 and self._free and self._waiting[0] is batch:
                    break
                self._changed.wait(left if left > 0.0 else None)
            self._free -= 1
            self._waiting.remove(batch)
            self._changed.notify_all()  # it is the turn of the next one

    def _fill(self, batch, function):
        """Run the graph, and give each task its outputs."""
        padding = next((n for n in self._sizes if n >= batch.size), batch.size) - batch.size
        inputs = []
        for parts in zip(*(task.arrays for task in batch.tasks)):
            if any(x.shape[1:] != parts[0].shape[1:] for x in parts):
                shapes = " vs. ".join(f"shape[{i}] = {list(x.shape)}" for i, x in enumerate(parts))
                raise errors.invalid_argument(f"BatchFunction: Dimensions of inputs should match: {shapes}")
            if padding:
                parts = (*parts, np.repeat(parts[0][:1], padding, axis=0))
            inputs.append(parts[0] if len(parts) == 1 else np.concatenate(parts))
        outputs = function(inputs)
        for array in outputs:
            _check_rows(array, batch, padding)
        at = 0
        for task in batch.tasks:
            task.outputs = [array[at : at + task.size] for array in outputs]
            at += task.size


def _check_rows(array, batch, padding):
    if not array.ndim:
        raise errors.FailedPreconditionError(None, None, "BatchFunction: Batched output tensor has 0 dimensions")
    if len(array) != batch.size + padding:
        raise errors.FailedPreconditionError(
            None, None,
            "BatchFunction: Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of "
            f"the input tensors. 0th dimension size: {len(array)}; batch size: {batch.size}; padding: {padding}",
        )  # fmt: skip


# By graph, and by what batching depends on.
_batchers: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def _after_fork():
    # The calls that were waiting are in the other process.
    global _lock
    _lock = threading.Lock()
    _batchers.clear()


operating_system.at_fork(in_child=_after_fork)


def _batcher_of(graph, *settings):
    with _lock:
        found = _batchers.setdefault(graph, {})
        batcher = found.get(settings)
        if batcher is None:
            batcher = found[settings] = _Batcher(*settings)
        return batcher


def _run(
    in_tensors, captured_tensors, f, num_batch_threads, max_batch_size, batch_timeout_micros, Tout,
    max_enqueued_batches, allowed_batch_sizes, enable_large_batch_splitting, batch_padding_policy, **others,
):  # fmt: skip
    shapes = ", ".join(str(list(x.shape)) for x in in_tensors)
    if not all(x.ndim for x in in_tensors):
        raise errors.invalid_argument(
            f"BatchFunction: Batching input tensors must have at least one dimension, got shapes {shapes}."
        )
    size = len(in_tensors[0])
    if any(len(x) != size for x in in_tensors):
        raise errors.invalid_argument(
            "BatchFunction: Batching input tensors supplied in a given op invocation must have equal 0th-dimension "
            f"size, got shapes {shapes}."
        )
    if size > max_batch_size:
        raise errors.invalid_argument(
            f"BatchFunction: Task size {size} is larger than maximum input batch size {max_batch_size}"
        )
    sizes = tuple(allowed_batch_sizes)
    if list(sizes) != sorted(set(sizes)):
        raise errors.invalid_argument("BatchFunction: allowed_batch_sizes entries must be monotonically increasing")
    largest = max_batch_size
    if sizes and enable_large_batch_splitting and sizes[-1] <= max_batch_size:
        largest = sizes[-1]
    elif sizes and sizes[-1] != max_batch_size:
        raise errors.invalid_argument("BatchFunction: final entry in allowed_batch_sizes must equal max_batch_size")

    def run(inputs):
        return context.run_quietly(f.executable().run, [*inputs, *captured_tensors])

    if not size:
        return run(in_tensors)
    seconds = batch_timeout_micros * 1e-6
    return _batcher_of(f, num_batch_threads, largest, seconds, max_enqueued_batches, sizes).run(in_tensors, run)


def _infer(in_tensors, captured_tensors, f, **others):
    shapes = []
    for tensor in f.outputs:
        rank = tensor.shape.rank
        shapes.append(UNKNOWN if not rank else TensorShape([None, *tensor.shape[1:]]))
    return (shapes,)


BATCH_FUNCTION = Op(
    "BatchFunction",
    "in_tensors: list(Tin), captured_tensors: list(Tcaptured), *, f: func, num_batch_threads: int, "
    "max_batch_size: int, batch_timeout_micros: int, Tout: list(type), max_enqueued_batches: int = 10, "
    "allowed_batch_sizes: list(int) = [], container: string = '', shared_name: string = '', "
    "batching_queue: string = '', low_priority_max_batch_size: int = 0, low_priority_batch_timeout_micros: int = 0, "
    "low_priority_allowed_batch_sizes: list(int) = [], low_priority_max_enqueued_batches: int = 0, "
    "mixed_priority_policy: string = 'low_priority_padding_with_max_batch_size', "
    "batch_padding_policy: string = 'PAD_UP', enable_large_batch_splitting: bool = False -> out_tensors: list(Tout)",
    infer=_infer,
    kernel=_run,
    lower=None,  # threads meet on the host
    grad=unregistered,
    stateful=True,
    quiet=False,
)
