"""Requests that a model brings along, so that its programs are compiled before the first client waits for them."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.formats.records import RecordReader
from headrace._src.formats.tensor_wire import parse_tensor
from headrace._src.serving.servables import Servable

logger = logging.getLogger("headrace.serving")
_messages = LazyModule("headrace._src.formats.serving_messages")
_FILE = "assets.extra/tf_serving_warmup_requests"
_MOST = 1000  # TF: as many records may be there


def warm_up(servable: Servable, times: int = 1) -> int:
    """Call a model with the requests in its folder.

    Args:
        servable: the model.
        times: how often each.

    Returns:
        How many requests there were.

    Raises:
        InvalidArgumentError: there are too many, or a request is none of these that can be replayed.
        OpError: what the model raises.
    """
    path = files.join(servable.path, _FILE)
    if not files.exists(path):
        return 0
    count = 0
    for signature, arrays in _requests(path, servable):
        count += 1
        if count > _MOST:
            raise errors.invalid_argument(f"Number of warmup records exceeds the maximum ({_MOST}) at {path}")
        for _ in range(max(1, times)):
            signature.call(signature.checked(arrays))
    return count


def _requests(path, servable) -> Iterator:
    for record in RecordReader(path):
        log = _messages.PredictionLog.FromString(record)
        kind = log.WhichOneof("log_type")
        if kind == "predict_log":
            request = log.predict_log.request
            arrays = {name: parse_tensor(data)[0] for name, data in request.inputs.items()}
            yield servable.signature(request.model_spec.signature_name), arrays
        elif kind in ("classify_log", "regress_log"):
            request = getattr(log, kind).request
            signature = servable.signature(request.model_spec.signature_name)
            examples = getattr(request.input, request.input.WhichOneof("kind") or "example_list").examples
            array = np.empty(len(examples), object)
            array[:] = list(examples)
            yield signature, dict.fromkeys(signature.inputs, array)
        else:
            raise errors.unimplemented(f"{path}: requests of the kind {kind} cannot be replayed.")
