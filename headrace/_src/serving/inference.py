"""What a server does with a request, whichever way it came: find the model, call its function, and count."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
import weakref
from typing import Any, NamedTuple

import numpy as np

from headrace._src.core import errors
from headrace._src.serving.batching import BatchingSettings, BatchQueue
from headrace._src.serving.metrics import Metrics
from headrace._src.serving.models import Models
from headrace._src.serving.servables import CLASSIFY, REGRESS, Servable, ServedSignature

_COUNT = ":tensorflow:serving:request_count"
LATENCY = ":tensorflow:serving:request_latency"
_RUNTIME = ":tensorflow:serving:runtime_latency"
_EXAMPLES = ":tensorflow:serving:request_example_count_total"
_BATCH = ":tensorflow:serving:batching_session:"
CODES = {value: name for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)} | {0: "OK"}


class Asked(NamedTuple):
    """Which function of which model a request is for."""

    model: str
    version: int | None = None
    label: str | None = None
    signature: str = ""


class Inference:
    """Answers requests. Its methods run in the loop of a server, calls of models in threads.

    Args:
        models: the models.
        metrics: where requests are counted.
        batching: how requests are joined; None for each its own call.
        threads: how many calls run at the same time.
    """

    def __init__(self, models: Models, metrics: Metrics, batching: BatchingSettings | None = None, threads: int = 4):
        self.models = models
        self.metrics = metrics
        self._batching = batching
        threads = max(threads, batching.num_batch_threads if batching else 1)
        self.executor = concurrent.futures.ThreadPoolExecutor(threads, "serving-call")
        self._queues: weakref.WeakKeyDictionary[ServedSignature, BatchQueue] = weakref.WeakKeyDictionary()

    def find(self, asked: Asked) -> tuple[Servable, ServedSignature]:
        """The model and its signature.

        Raises:
            NotFoundError, InvalidArgumentError: there is none.
        """
        servable = self.models.find(asked.model, asked.version, asked.label)
        return servable, servable.signature(asked.signature)

    async def run(
        self, servable: Servable, signature: ServedSignature, arrays: dict[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """The outputs of a signature.

        Raises:
            InvalidArgumentError: the inputs do not fit.
            OpError: what the model raises.
        """
        arrays = signature.checked(arrays)
        begun = time.perf_counter()
        if self._batching is not None and signature.can_be_batched:
            outputs = await self._queue(servable, signature).call(arrays)
        else:
            outputs = await asyncio.get_running_loop().run_in_executor(self.executor, signature.call, arrays)
        self.metrics.observe(
            _RUNTIME, (time.perf_counter() - begun) * 1e6, model_name=servable.name, runtime="headrace"
        )
        return outputs

    def _queue(self, servable, signature):
        queue = self._queues.get(signature)
        if queue is None:
            labels = {"model_name": servable.name, "thread_pool_name": signature.name}

            def note(size, padded, waited):
                self.metrics.observe(f"{_BATCH}queuing_latency", waited * 1e6, **labels)
                self.metrics.observe(f"{_BATCH}processed_batch_size", padded, **labels)
                self.metrics.observe(f"{_BATCH}padding_size", padded - size, **labels)

            queue = self._queues[signature] = BatchQueue(signature, self._batching, self.executor, note)
        return queue

    async def examples(
        self, asked: Asked, examples: list[bytes], method: str
    ) -> tuple[Servable, dict[str, np.ndarray]]:
        """The outputs for encoded Examples, of a signature that classifies or regresses.

        Raises:
            InvalidArgumentError: the signature does something else, or there are no examples.
        """
        servable, signature = self.find(asked)
        if signature.method != method:
            raise errors.invalid_argument(
                f"Expected {'classification' if method == CLASSIFY else 'regression'} signature method_name to be "
                f"{method}. Was: {signature.method}"
            )
        if len(signature.inputs) != 1:
            raise errors.invalid_argument(f"Expected one input, got {len(signature.inputs)} in {signature.name!r}.")
        if not examples:
            raise errors.invalid_argument("Input is empty.")
        self.metrics.count(_EXAMPLES, len(examples), model=servable.name)
        (name,) = signature.inputs
        array = np.empty(len(examples), object)
        array[:] = examples
        return servable, await self.run(servable, signature, {name: array})

    def note(self, asked_model: str, entrypoint: str, begun: float, error: Exception | None) -> None:
        """Count a request that is done."""
        code = 0 if error is None else getattr(error, "error_code", errors.INTERNAL)
        self.metrics.count(_COUNT, model_name=asked_model, status=CODES.get(code, "INTERNAL"))
        self.metrics.observe(
            LATENCY, (time.perf_counter() - begun) * 1e6, model_name=asked_model, entrypoint=entrypoint
        )

    def close(self) -> None:
        """Wait for calls that run."""
        self.executor.shutdown(wait=True, cancel_futures=True)


def classes_of(outputs: dict[str, np.ndarray], count: int) -> list[list[tuple[str, float]]]:
    """For each example, labels and scores.

    Raises:
        InvalidArgumentError: the outputs are not those of a classification.
    """
    labels, scores = outputs.get("classes"), outputs.get("scores")
    if labels is None and scores is None:
        raise errors.invalid_argument("Expected classification signature outputs to contain 'classes' or 'scores'.")
    for array in (labels, scores):
        if array is not None and (array.ndim != 2 or array.shape[0] != count):
            raise errors.invalid_argument(
                f"The outputs of a classification of {count} examples must have shape [{count}, classes], got "
                f"{list(array.shape)}."
            )
    if labels is not None and scores is not None and labels.shape != scores.shape:
        raise errors.invalid_argument(f"Labels have shape {list(labels.shape)}, scores {list(scores.shape)}.")
    width = (labels if labels is not None else scores).shape[1]
    return [
        [
            (
                labels[row, column].decode("utf-8", "replace") if labels is not None else "",
                float(scores[row, column]) if scores is not None else 0.0,
            )
            for column in range(width)
        ]
        for row in range(count)
    ]


def values_of(outputs: dict[str, np.ndarray], count: int) -> list[float]:
    """For each example, the value of a regression.

    Raises:
        InvalidArgumentError: the outputs are not those of one.
    """
    values = outputs.get("outputs")
    if values is None or values.shape not in ((count,), (count, 1)):
        shape = None if values is None else list(values.shape)
        raise errors.invalid_argument(
            f"A regression of {count} examples must have an output 'outputs' of shape [{count}] or [{count}, 1], got "
            f"{shape}."
        )
    return [float(value) for value in values.reshape(count)]


METHODS: dict[str, Any] = {"classify": CLASSIFY, "regress": REGRESS}
