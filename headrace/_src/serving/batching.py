"""Requests that arrive together as one call, so that shapes stay few and large calls are not many small ones."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.op.api import api
from headrace._src.serving.servables import ServedSignature


@api("serving.BatchingSettings", dispatch=False)
@dataclass(frozen=True)
class BatchingSettings:
    """How requests are joined; the names and defaults are TensorFlow Serving's.

    Attributes:
        max_batch_size: how many rows a call has at most.
        batch_timeout_micros: how long the first request of a batch waits for others.
        max_enqueued_batches: how many batches may wait; more are refused.
        num_batch_threads: how many calls run at the same time.
        allowed_batch_sizes: the sizes that calls may have, rising; rows are added to reach the next one.
        enable_large_batch_splitting: whether a request of more rows is divided.
        max_execution_batch_size: how many rows each part has then.
    """

    max_batch_size: int = 1000
    batch_timeout_micros: int = 0
    max_enqueued_batches: int = 64
    num_batch_threads: int = 4
    allowed_batch_sizes: tuple[int, ...] = ()
    enable_large_batch_splitting: bool = False
    max_execution_batch_size: int = 0

    def __post_init__(self):
        sizes = self.allowed_batch_sizes
        if min(self.max_batch_size, self.max_enqueued_batches, self.num_batch_threads) < 1:
            raise errors.invalid_argument(
                "max_batch_size, max_enqueued_batches and num_batch_threads must be positive, got "
                f"{self.max_batch_size}, {self.max_enqueued_batches} and {self.num_batch_threads}."
            )
        if sizes and (list(sizes) != sorted(set(sizes)) or sizes[0] < 1 or sizes[-1] != self._largest):
            raise errors.invalid_argument(
                f"allowed_batch_sizes must rise and end with the largest size of a call, {self._largest}, got "
                f"{list(sizes)}."
            )

    @property
    def _largest(self):
        return (self.enable_large_batch_splitting and self.max_execution_batch_size) or self.max_batch_size

    @property
    def largest_call(self) -> int:
        """How many rows a call may have."""
        return self._largest

    def padded_size(self, size: int) -> int:
        """The size of the call for so many rows."""
        return next((allowed for allowed in self.allowed_batch_sizes if allowed >= size), size)


class _Waiting:
    """A request, or a part of one, in a batch."""

    __slots__ = ("arrays", "result", "since", "size")

    def __init__(self, arrays, size, result):
        self.arrays = arrays
        self.size = size
        self.result = result
        self.since = time.perf_counter()


class BatchQueue:
    """The requests for one signature. All methods are called by the server's loop.

    Args:
        signature: what is called.
        settings: how.
        executor: where calls run.
        note: told the size of each call before and after rows were added, and how long its first request has waited.
    """

    def __init__(
        self, signature: ServedSignature, settings: BatchingSettings, executor: concurrent.futures.Executor,
        note: Callable[[int, int, float], Any],
    ):  # fmt: skip
        self._signature = signature
        self._settings = settings
        self._executor = executor
        self._note = note
        self._open: dict[tuple, list[_Waiting]] = {}  # by the shapes of rows, the batch that still grows
        self._full: list[list[_Waiting]] = []
        self._timers: dict[tuple, asyncio.TimerHandle] = {}
        self._running = 0
        self._tasks: set[asyncio.Task] = set()

    async def call(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The outputs for some rows.

        Raises:
            ResourceExhaustedError: too many others wait.
            InvalidArgumentError: there are more rows than a call may have, or inputs have different numbers of them.
        """
        sizes = {array.shape[0] for array in arrays.values()}
        if len(sizes) != 1:
            raise errors.invalid_argument(
                "Batching input tensors must have equal 0th-dimension size: "
                + ", ".join(f"{name} has {array.shape[0]}" for name, array in arrays.items())
            )
        (size,) = sizes
        largest = self._settings.largest_call
        if size <= largest:
            return await self._add(arrays, size)
        if not self._settings.enable_large_batch_splitting:
            raise errors.invalid_argument(
                f"Task size {size} is larger than maximum batch size {largest}: send fewer rows at once."
            )
        parts = [
            self._add({name: array[at : at + largest] for name, array in arrays.items()}, min(largest, size - at))
            for at in range(0, size, largest)
        ]
        done = await asyncio.gather(*parts)
        return {name: np.concatenate([part[name] for part in done]) for name in done[0]}

    def _add(self, arrays, size):
        loop = asyncio.get_running_loop()
        key = tuple(array.shape[1:] for array in arrays.values())
        batch = self._open.get(key, [])
        if batch and sum(one.size for one in batch) + size > self._settings.largest_call:
            self._close(key)
            batch = []
        if not batch:
            if len(self._full) + len(self._open) >= self._settings.max_enqueued_batches:
                raise errors.resource_exhausted(
                    f"The batch scheduling queue is full: {self._settings.max_enqueued_batches} batches wait."
                )
            self._open[key] = batch
            delay = self._settings.batch_timeout_micros / 1e6
            self._timers[key] = loop.call_later(delay, self._close, key)
        result = loop.create_future()
        batch.append(_Waiting(arrays, size, result))
        if sum(one.size for one in batch) >= self._settings.largest_call:
            self._close(key)
        return result

    def _close(self, key):
        batch = self._open.pop(key, None)
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        if batch:
            self._full.append(batch)
            self._start()

    def _start(self):
        while self._full and self._running < self._settings.num_batch_threads:
            self._running += 1
            task = asyncio.get_running_loop().create_task(self._run(self._full.pop(0)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run(self, batch):
        batch = [one for one in batch if not one.result.done()]  # who has gone away wants no answer
        try:
            if batch:
                await self._answer(batch)
        finally:
            self._running -= 1
            self._start()

    async def _answer(self, batch):
        size = sum(one.size for one in batch)
        padded = self._settings.padded_size(size)
        self._note(size, padded, time.perf_counter() - batch[0].since)
        try:
            outputs = await asyncio.get_running_loop().run_in_executor(
                self._executor, _called, self._signature, [one.arrays for one in batch], padded - size
            )
        except Exception as error:
            for one in batch:
                if not one.result.done():
                    one.result.set_exception(error)
            return
        at = 0
        for one in batch:
            if not one.result.done():
                one.result.set_result({name: array[at : at + one.size] for name, array in outputs.items()})
            at += one.size


def _called(signature, requests, extra):
    """One call for several requests, with some rows more than they have."""
    joined = {}
    for name in signature.inputs:
        parts = [arrays[name] for arrays in requests]
        if extra:
            parts.append(np.repeat(parts[0][:1], extra, axis=0))
        joined[name] = parts[0] if len(parts) == 1 else np.concatenate(parts)
    size = next(iter(joined.values())).shape[0]
    outputs = signature.call(joined)
    for name, array in outputs.items():
        if not array.ndim or array.shape[0] != size:
            raise errors.failed_precondition(
                f"The output {name} of the signature {signature.name!r} has shape {list(array.shape)} for {size} rows: "
                "its calls cannot be joined. Serve it without batching."
            )
    return outputs
