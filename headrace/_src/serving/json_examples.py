"""The examples of a classification or regression in JSON, as encoded `tf.train.Example`s."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule
from headrace._src.serving.json_tensors import bytes_of, is_bytes, kind_of, shortened

_messages = LazyModule("headrace._src.formats.example_messages")
_LARGEST_FLOAT = float(np.finfo(np.float32).max)


def examples_of(request: dict) -> list[bytes]:
    """The encoded examples of a request, each with the features of its context.

    Raises:
        InvalidArgumentError: they are none.
    """
    context = b""
    if "context" in request:
        context = _example(request["context"])
    if "examples" not in request:
        raise errors.invalid_argument(
            f"JSON Value: {shortened(request)} When method is classify, key 'examples' is expected and was not found"
        )
    rows = request["examples"]
    if not isinstance(rows, list):
        raise errors.invalid_argument(
            f"JSON Value: {shortened(request)} Expecting 'examples' value to be an list/array"
        )
    if not rows:
        raise errors.invalid_argument(f"JSON Value: {shortened(request)} 'examples' value is an empty array")
    # Fields of messages that follow each other are joined: a feature of an example replaces one of the context.
    return [context + _example(row) for row in rows]


def _example(features):
    if not isinstance(features, dict):
        raise errors.invalid_argument(f"Example must be JSON object but got JSON {kind_of(features)}")
    example = _messages.Example()
    for name, value in features.items():
        _fill(example.features.feature[name], name, value)
    return example.SerializeToString()


def _fill(feature, name, value: Any):
    values = value if isinstance(value, list) else [value]
    kind, found = "", []
    for item in values:
        one = _kind(name, item)
        if kind and one != kind:
            raise errors.invalid_argument(f"Unexpected element type in feature: {name} expecting type: {kind}")
        kind = one
        found.append(_value(item))
    if found:
        getattr(feature, f"{kind}_list").value.extend(found)


def _kind(name, item):
    if isinstance(item, (bool, int)):
        if not -(1 << 63) <= item < 1 << 63:
            raise errors.invalid_argument(f"Feature: {name} has uint64 element. Only int64 is supported.")
        return "int64"
    if isinstance(item, float):
        if math.isfinite(item) and abs(item) > _LARGEST_FLOAT:
            raise errors.invalid_argument(
                f"Cannot convert JSON value: {shortened(item)} to float without loss of precision."
            )
        return "float"
    if isinstance(item, str) or is_bytes(item):
        return "bytes"
    raise errors.invalid_argument(f"Feature: {name} has element with unexpected JSON type: {kind_of(item)}")


def _value(item):
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, dict):
        return bytes_of(item)
    return int(item) if isinstance(item, bool) else item
