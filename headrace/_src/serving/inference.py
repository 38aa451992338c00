"""What a server does with a request, whichever way it came: find the model, call its function, and count."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from headrace._src.core import errors
from headrace._src.serving.batching import BatchingSettings, BatchQueue
from headrace._src.serving.metrics import Metrics
from headrace._src.serving.models import Models
from headrace._src.serving.request_log import RequestLog
from headrace._src.serving.servables import CLASSIFY, REGRESS, Servable, ServedSignature, missing_signature

_COUNT = ":tensorflow:serving:request_count"
LATENCY = ":tensorflow:serving:request_latency"
_RUNTIME = ":tensorflow:serving:runtime_latency"
_EXAMPLES = ":tensorflow:serving:request_example_count_total"
_EXAMPLE_COUNTS = ":tensorflow:serving:request_example_counts"
_NOT_LOGGED = ":headrace:serving:requests_not_logged"
_BATCH = ":tensorflow:serving:batching_session:"
CODES = {value: name for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)} | {0: "OK"}


def _no_signature(name):
    return errors.invalid_argument(f"No signature was found with the name: {name}")


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
        tags: of the graphs that are served.
    """

    def __init__(
        self, models: Models, metrics: Metrics, batching: BatchingSettings | None = None, threads: int = 4,
        tags: tuple[str, ...] = ("serve",),
    ):  # fmt: skip
        self.models = models
        self.metrics = metrics
        self._log = RequestLog(tags, lambda: metrics.count(_NOT_LOGGED))
        self._batching = batching
        threads = max(threads, batching.num_batch_threads if batching else 1)
        self.executor = concurrent.futures.ThreadPoolExecutor(threads, "serving-call")
        self._queues: weakref.WeakKeyDictionary[ServedSignature, BatchQueue] = weakref.WeakKeyDictionary()

    def find(
        self, asked: Asked, missing: Callable[[str], Exception] = missing_signature
    ) -> tuple[Servable, ServedSignature]:
        """The model and its signature.

        Args:
            asked: which.
            missing: the error for a signature that the model has not.

        Raises:
            NotFoundError, InvalidArgumentError: there is none.
        """
        servable = self.models.find(asked.model, asked.version, asked.label)
        return servable, servable.signature(asked.signature, missing)

    async def predict(
        self, servable: Servable, signature: ServedSignature, arrays: dict[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """The outputs of a signature, for a client who has asked for a prediction.

        Raises:
            InvalidArgumentError: the inputs do not fit.
            OpError: what the model raises.
        """
        outputs = await self.run(servable, signature, arrays)
        self._log.predict(self._logging(servable), servable, signature, arrays, outputs)
        return outputs

    def _logging(self, servable):
        settings = self.models.settings(servable.name)
        return None if settings is None else settings.logging

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
        batching = servable.batching or self._batching
        if batching is not None and signature.can_be_batched:
            outputs = await self._queue(servable, signature, batching).call(arrays)
        else:
            outputs = await asyncio.get_running_loop().run_in_executor(self.executor, signature.call, arrays)
        self.metrics.observe(
            _RUNTIME, (time.perf_counter() - begun) * 1e6, model_name=servable.name, runtime="headrace"
        )
        return outputs

    async def session_run(
        self, servable: Servable, feeds: dict[str, np.ndarray], fetches: list[str], targets: list[str]
    ) -> dict[str, np.ndarray]:
        """Tensors of the graph of a model, by their names. Such calls are not joined.

        Raises:
            NotFoundError, InvalidArgumentError: the graph has no such tensor or operation, or a value does not fit.
            OpError: what the model raises.
        """
        begun = time.perf_counter()
        run = servable.session_runs.run
        outputs = await asyncio.get_running_loop().run_in_executor(self.executor, run, feeds, fetches, targets)
        self.metrics.observe(
            _RUNTIME, (time.perf_counter() - begun) * 1e6, model_name=servable.name, runtime="headrace"
        )
        return outputs

    def _queue(self, servable, signature, batching):
        queue = self._queues.get(signature)
        if queue is None:
            labels = {"model_name": servable.name, "thread_pool_name": signature.name}

            def note(size, padded, waited):
                self.metrics.observe(f"{_BATCH}queuing_latency", waited * 1e6, **labels)
                self.metrics.observe(f"{_BATCH}input_batch_size", size, **labels)
                self.metrics.observe(f"{_BATCH}processed_batch_size", padded, **labels)
                self.metrics.observe(f"{_BATCH}padding_size", padded - size, **labels)

            queue = self._queues[signature] = BatchQueue(signature, batching, self.executor, note)
        return queue

    async def examples(
        self, asked: Asked, examples: list[bytes], method: str, missing: Callable[[str], Exception] = _no_signature
    ) -> tuple[Servable, dict[str, np.ndarray]]:
        """The outputs for encoded Examples, of a signature that classifies or regresses.

        Raises:
            InvalidArgumentError: the signature does something else, or there are no examples.
        """
        servable, signature = self.find(asked, missing)
        check_method(signature, method)
        if not examples:
            raise errors.invalid_argument("Input is empty.")
        self.metrics.count(_EXAMPLES, len(examples), model=servable.name)
        self.metrics.observe(_EXAMPLE_COUNTS, len(examples), model=servable.name)
        (name,) = signature.inputs
        array = np.empty(len(examples), object)
        array[:] = examples
        outputs = await self.run(servable, signature, {name: array})
        self._log.examples(self._logging(servable), servable, signature, examples)
        return servable, outputs

    def note(self, asked_model: str, entrypoint: str, begun: float, error: Exception | None) -> None:
        """Count a request that is done."""
        code = 0 if error is None else getattr(error, "error_code", errors.INTERNAL)
        self.metrics.count(_COUNT, model_name=asked_model, status=CODES.get(code, "INTERNAL"))
        self.metrics.observe(
            LATENCY, (time.perf_counter() - begun) * 1e6, model_name=asked_model, entrypoint=entrypoint
        )

    def close(self) -> None:
        """Wait for calls that run, and for requests that are kept."""
        self.executor.shutdown(wait=True, cancel_futures=True)
        self._log.close()


def check_method(signature: ServedSignature, method: str) -> None:
    """That a signature classifies, or regresses.

    Raises:
        InvalidArgumentError, FailedPreconditionError: it does something else, or has other inputs or outputs.
    """
    kind = "classification" if method == CLASSIFY else "regression"
    if signature.method != method:
        raise errors.invalid_argument(f"Expected {kind} signature method_name to be {method}. Was: {signature.method}")
    if len(signature.inputs) != 1:
        raise errors.invalid_argument(f"Expected one input Tensor, {signature.name!r} has {len(signature.inputs)}.")
    if "inputs" not in signature.inputs:
        raise errors.failed_precondition(f"No {kind} inputs found in SignatureDef: {', '.join(signature.inputs)}")
    outputs = ("classes", "scores") if method == CLASSIFY else ("outputs",)
    if not signature.outputs.keys() & set(outputs):
        raise errors.failed_precondition(
            f"Expected {kind} signature outputs to contain {' or '.join(outputs)}: there are "
            f"{', '.join(signature.outputs) or 'none'}."
        )


def classes_of(outputs: dict[str, np.ndarray], count: int) -> list[list[tuple[str, float]]]:
    """For each example, labels and scores.

    Raises:
        InvalidArgumentError: the outputs are not those of a classification.
    """
    labels, scores = outputs.get("classes"), outputs.get("scores")
    for name, array in (("classes", labels), ("scores", scores)):
        if array is None:
            continue
        if array.ndim != 2:
            raise errors.invalid_argument(
                f"Expected Tensor shape: [batch_size num_classes] but got {list(array.shape)} for {name}"
            )
        if array.dtype != (object if name == "classes" else np.float32):
            wanted = "DT_STRING" if name == "classes" else "DT_FLOAT"
            raise errors.invalid_argument(f"Expected {name} Tensor of {wanted}. Got: {array.dtype.name}")
        if array.shape[0] != count:
            raise errors.invalid_argument(f"Expected {name} output batch size of {count}. Got: {array.shape[0]}")
    if labels is not None and scores is not None and labels.shape != scores.shape:
        raise errors.invalid_argument(
            f"Tensors class and score should match in dim_size(1). Got {labels.shape[1]} vs. {scores.shape[1]}"
        )
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
    values = outputs["outputs"]
    if values.ndim != 1 and values.shape[1:] != (1,):
        raise errors.invalid_argument(
            f"Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got {list(values.shape)}"
        )
    if values.shape[0] != count:
        raise errors.invalid_argument(
            f"Input batch size did not match output batch size: {count} vs. {values.shape[0]}"
        )
    if values.dtype != np.float32:
        raise errors.invalid_argument(f"Expected output Tensor of DT_FLOAT. Got: {values.dtype.name}")
    return [float(value) for value in values.reshape(count)]


METHODS: dict[str, Any] = {"classify": CLASSIFY, "regress": REGRESS}
