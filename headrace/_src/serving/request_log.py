"""Requests that are kept: records of `PredictionLog`, as many of all as a model's configuration says.

They are what warm-up reads: such a file can be put beside a model as `assets.extra/tf_serving_warmup_requests`.
"""

from __future__ import annotations

import logging
import os
import queue
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule
from headrace._src.formats.tensor_protos import array_to_proto
from headrace._src.op.api import api
from headrace._src.serving.servables import CLASSIFY, Servable, ServedSignature
from headrace._src.state.record_writer import TFRecordWriter

logger = logging.getLogger("headrace.serving")
_messages = LazyModule("headrace._src.formats.serving_messages")
_MOST_WAITING = 1000  # requests; further ones are left out
_LARGEST = 64 << 20  # bytes of a file, after which another one begins


@api("serving.LoggingSettings", dispatch=False)
@dataclass(frozen=True)
class LoggingSettings:
    """Which requests for a model are kept, and where.

    Attributes:
        filename_prefix: what the names of files begin with; the time, the process and ".tfrecord" follow.
        sampling_rate: the part of all requests, from 0 to 1.
    """

    filename_prefix: str
    sampling_rate: float = 1.0

    def __post_init__(self):
        if not 0 <= self.sampling_rate <= 1:
            raise errors.invalid_argument(f"A sampling_rate must be from 0 to 1, got {self.sampling_rate}.")


class _File:
    """A file that grows."""

    def __init__(self, prefix, number):
        now = time.strftime("%Y%m%d-%H%M%S")
        self.path = f"{prefix}-{now}-{os.getpid()}-{number}.tfrecord"
        self.size = 0
        self.writer = TFRecordWriter(self.path)


class RequestLog:
    """Keeps requests of a server, in a thread of its own.

    Args:
        tags: of the graphs that are served.
        count: told of each request that was left out, as too many wait to be written.
    """

    def __init__(self, tags: tuple[str, ...] = ("serve",), count: Callable[[], Any] = lambda: None):
        self._tags = tags
        self._count = count
        self._waiting: queue.Queue = queue.Queue(_MOST_WAITING)
        self._files: dict[str, _File] = {}
        self._number = 0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def predict(
        self, settings: LoggingSettings | None, servable: Servable, signature: ServedSignature,
        inputs: dict[str, np.ndarray], outputs: dict[str, np.ndarray],
    ) -> None:  # fmt: skip
        """Keep a prediction, if it is one of those that are."""
        if settings is None or random.random() >= settings.sampling_rate:
            return

        def made():
            log = self._new(settings, servable, signature)
            request, response = log.predict_log.request, log.predict_log.response
            for name, array in inputs.items():
                request.inputs[name] = _encoded(array, signature.inputs[name].dtype)
            for name, array in outputs.items():
                response.outputs[name] = _encoded(array, signature.outputs[name].dtype)
            _describe(request.model_spec, servable, signature)
            _describe(response.model_spec, servable, signature)
            return log

        self._put(settings, made)

    def examples(
        self, settings: LoggingSettings | None, servable: Servable, signature: ServedSignature, examples: list[bytes]
    ) -> None:
        """Keep a classification or a regression, if it is one of those that are."""
        if settings is None or random.random() >= settings.sampling_rate:
            return

        def made():
            log = self._new(settings, servable, signature)
            kind = log.classify_log if signature.method == CLASSIFY else log.regress_log
            kind.request.input.example_list.examples.extend(examples)
            _describe(kind.request.model_spec, servable, signature)
            return log

        self._put(settings, made)

    def _new(self, settings, servable, signature):
        log = _messages.PredictionLog()
        about = log.log_metadata
        _describe(about.model_spec, servable, signature)
        about.sampling_config.sampling_rate = settings.sampling_rate
        about.saved_model_tags.extend(self._tags)
        about.timestamp_secs = int(time.time())
        return log

    def _put(self, settings, made):
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._write, name="serving-log", daemon=True)
                self._thread.start()
        try:
            self._waiting.put_nowait((settings.filename_prefix, made))
        except queue.Full:
            self._count()

    def _write(self):
        while True:
            found = self._waiting.get()
            if found is None:
                break
            try:
                self._add(*found)
            except (OSError, errors.OpError) as error:  # requests are answered whether or not they can be kept
                logger.error("Requests cannot be kept at %s: %s", found[0], error)
        for file in self._files.values():
            file.writer.close()

    def _add(self, prefix, made):
        file = self._files.get(prefix)
        if file is not None and file.size > _LARGEST:
            file.writer.close()
            file = None
        if file is None:
            self._number += 1
            file = self._files[prefix] = _File(prefix, self._number)
        record = made().SerializeToString()
        file.writer.write(record)
        file.size += len(record)
        if self._waiting.empty():
            file.writer.flush()

    def close(self) -> None:
        """Write what waits, and close the files."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()
            self._thread = None


def _encoded(array, dtype):
    return array_to_proto(array, dtype).SerializeToString()


def _describe(spec, servable, signature):
    spec.name, spec.version.value, spec.signature_name = servable.name, servable.version, signature.name
