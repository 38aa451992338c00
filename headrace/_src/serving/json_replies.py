"""Arrays as JSON, in the form of TensorFlow Serving's replies."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule
from headrace._src.serving.json_tensors import B64

_orjson = LazyModule("orjson")


def reply_of(outputs: dict[str, np.ndarray], by_rows: bool) -> bytes:
    """The reply to a prediction.

    Args:
        outputs: by name.
        by_rows: whether the request came row by row.

    Raises:
        InvalidArgumentError: there are no rows that all outputs share.
    """
    if not outputs:
        raise errors.invalid_argument("The signature has no outputs that a reply could hold.")
    if not by_rows:
        return b'{\n    "outputs": %s\n}' % _columns(outputs)
    count = _count_of_rows(outputs)
    if len(outputs) == 1:
        ((name, array),) = outputs.items()
        return b'{\n    "predictions": %s\n}' % dumped(array, name)
    rows = b", ".join(
        b"{%s}" % b", ".join(b"%s: %s" % (_key(name), dumped(array[row, ...], name)) for name, array in outputs.items())
        for row in range(count)
    )
    return b'{\n    "predictions": [%s]\n}' % rows


def _count_of_rows(outputs):
    count = 0
    for name, array in outputs.items():
        if not array.ndim:
            raise errors.invalid_argument(
                f"Tensor name: {name} has no shape information (it is a scalar, which has no rows: use 'inputs' "
                "instead of 'instances')"
            )
        size = array.shape[0]
        if size < 1:
            raise errors.invalid_argument(f"Tensor name: {name} has invalid batch size: {size}")
        if count and size != count:
            raise errors.invalid_argument(
                f"Tensor name: {name} has inconsistent batch size: {size} expecting: {count} (use 'inputs' instead of "
                "'instances')"
            )
        count = size
    return count


def _columns(outputs):
    if len(outputs) == 1:
        ((name, array),) = outputs.items()
        return dumped(array, name)
    return b"{%s}" % b", ".join(b"%s: %s" % (_key(name), dumped(array, name)) for name, array in outputs.items())


def _key(name):
    return json.dumps(name).encode()


def dumped(array: np.ndarray, name: str) -> bytes:
    """An array as JSON. TF: strings are base64 only where the name of the output ends in `_bytes`.

    Raises:
        InvalidArgumentError: it holds something that JSON has no form for.
    """
    array = np.asarray(array)
    if array.dtype == object:
        return json.dumps(_as_text(array.tolist(), name.endswith("_bytes"))).encode()
    if array.dtype.kind not in "biufV":
        raise errors.invalid_argument(f"Failed to write JSON value for tensor type: {array.dtype.name}")
    if array.dtype.kind in "fV":
        if array.dtype.kind == "V" or array.dtype.itemsize == 2:
            array = array.astype(np.float32)
        if not np.isfinite(array).all():
            return _with_nan(array).encode()
    if not array.ndim:
        return _orjson.dumps(array.reshape(1), option=_orjson.OPT_SERIALIZE_NUMPY)[1:-1]
    return _orjson.dumps(np.ascontiguousarray(array), option=_orjson.OPT_SERIALIZE_NUMPY)


def _with_nan(array):
    if array.ndim:
        return f"[{','.join(map(_with_nan, array))}]"
    return "NaN" if np.isnan(array) else str(array) if np.isfinite(array) else f"{'-' if array < 0 else ''}Infinity"


def _as_text(value, is_encoded):
    if isinstance(value, list):
        return [_as_text(item, is_encoded) for item in value]
    if is_encoded:
        return {B64: base64.b64encode(value).decode()}
    return value.decode("utf-8", "replace")


def classes_reply(rows: list[list[tuple[str, float]]]) -> bytes:
    """The reply to a classification: for each example, labels with scores."""
    told = b", ".join(
        b"[%s]" % b", ".join(b"[%s, %s]" % (_key(label), _score(score)) for label, score in row) for row in rows
    )
    return b'{\n    "results": [%s]\n}' % told


def values_reply(values: Any) -> bytes:
    """The reply to a regression: for each example, a number."""
    return b'{\n    "results": %s\n}' % dumped(np.asarray(values, np.float32), "results")


def _score(value):
    return dumped(np.asarray(value, np.float32), "scores")
