"""The examples of a classification or regression in JSON, as encoded `tf.train.Example`s."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule

_messages = LazyModule("headrace._src.formats.example_messages")


def examples_of(request: dict) -> list[bytes]:
    """The encoded examples of a request, each with the features of its context.

    Raises:
        InvalidArgumentError: they are none.
    """
    rows, common = request.get("examples"), request.get("context", {})
    if not isinstance(rows, list) or not rows:
        raise errors.invalid_argument("'examples' must be a list with at least one example.")
    if not isinstance(common, dict):
        raise errors.invalid_argument("'context' must be an object of features.")
    return [_example({**common, **_checked(row, number)}) for number, row in enumerate(rows)]


def _checked(row, number):
    if not isinstance(row, dict):
        raise errors.invalid_argument(f"Example {number} must be an object of features.")
    return row


def _example(features):
    example = _messages.Example()
    for name, value in features.items():
        _fill(example.features.feature[name], name, value)
    return example.SerializeToString()


def _fill(feature, name, value: Any):
    values = value if isinstance(value, list) else [value]
    kinds = {_kind(name, item) for item in values}
    if len(kinds) > 1:
        raise errors.invalid_argument(f"Unexpected element type in feature: {name}: its values are of several kinds.")
    for kind in kinds:
        try:
            if kind == "bytes":
                feature.bytes_list.value.extend([_bytes(name, item) for item in values])
            elif kind == "float":
                feature.float_list.value.extend(values)
            else:
                feature.int64_list.value.extend([int(item) for item in values])
        except (ValueError, OverflowError, TypeError) as error:
            raise errors.invalid_argument(f"The feature {name} cannot be encoded: {error}") from None


def _kind(name, item):
    if isinstance(item, (bool, int)):
        return "int"
    if isinstance(item, float):
        return "float"
    if isinstance(item, (str, dict)):
        return "bytes"
    raise errors.invalid_argument(f"The feature {name} must hold numbers or strings, got {type(item).__name__}.")


def _bytes(name, item):
    if isinstance(item, str):
        return item.encode()
    if item.keys() != {"b64"} or not isinstance(item["b64"], str):
        raise errors.invalid_argument(f'The feature {name} must hold strings or {{"b64": ...}} objects.')
    try:
        return base64.b64decode(item["b64"], validate=True)
    except (binascii.Error, ValueError):
        raise errors.invalid_argument(f"Unable to base64 decode the feature {name}.") from None
