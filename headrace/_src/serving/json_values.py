"""JSON to arrays and back, as TensorFlow Serving's REST interface has them."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule
from headrace._src.serving.servables import Parameter, ServedSignature

_orjson = LazyModule("orjson")
_DECODER = json.JSONDecoder()
_B64 = "b64"
_KINDS = {
    bool: "Bool",
    str: "String",
    int: "Number",
    float: "Number",
    list: "Array",
    dict: "Object",
    type(None): "Null",
}


def parsed(body: bytes) -> dict:
    """The object that a request is. NaN and infinities may stand in it; what follows it is not looked at.

    Raises:
        InvalidArgumentError: it is none.
    """
    if not body:
        raise errors.invalid_argument("JSON Parse error: The document is empty")
    try:
        value = _orjson.loads(body)
    except ValueError:
        value = _parsed_freely(body)
    if not isinstance(value, dict):
        raise errors.invalid_argument(f"The request must be a JSON object, got {_KINDS[type(value)]}.")
    return value


def _parsed_freely(body):
    try:
        text = body.decode()
        start = len(text) - len(text.lstrip())
        return _DECODER.raw_decode(text, start)[0]
    except json.JSONDecodeError as error:
        raise errors.invalid_argument(f"JSON Parse error: {error.msg} at offset: {error.pos}") from None
    except UnicodeDecodeError as error:
        raise errors.invalid_argument(
            f"JSON Parse error: Invalid encoding in string. at offset: {error.start}"
        ) from None
    except RecursionError:
        raise errors.invalid_argument("JSON Parse error: the values are nested too deeply.") from None


def arrays_of_request(body: dict, signature: ServedSignature) -> tuple[dict[str, np.ndarray], bool]:
    """The inputs of a prediction, and whether they came row by row.

    Raises:
        InvalidArgumentError: they are not what the signature takes.
    """
    if ("instances" in body) == ("inputs" in body):
        if "inputs" in body:
            raise errors.invalid_argument("A request has either 'inputs' or 'instances', not both.")
        raise errors.invalid_argument("Missing 'inputs' or 'instances' key")
    if "inputs" in body:
        return _from_columns(body["inputs"], signature), False
    return _from_rows(body["instances"], signature), True


def _from_columns(value, signature):
    if isinstance(value, dict) and not _is_bytes(value):
        _check_names(value, signature, "inputs")
        return {name: array_of(value[name], signature.inputs[name]) for name in signature.inputs}
    parameter = _only(signature, "inputs")
    return {parameter.name: array_of(value, parameter)}


def _from_rows(rows, signature):
    if not isinstance(rows, list) or not rows:
        raise errors.invalid_argument("'instances' must be a list with at least one instance.")
    if isinstance(rows[0], dict) and not _is_bytes(rows[0]):
        for number, row in enumerate(rows):
            if not isinstance(row, dict) or row.keys() != rows[0].keys():
                raise errors.invalid_argument(
                    f"All instances must have the same inputs: the first has {', '.join(rows[0])}, that at {number} "
                    f"has {', '.join(row) if isinstance(row, dict) else repr(row)[:100]}."
                )
        _check_names(rows[0], signature, "instances")
        return {name: array_of([row[name] for row in rows], parameter) for name, parameter in signature.inputs.items()}
    parameter = _only(signature, "instances")
    return {parameter.name: array_of(rows, parameter)}


def _check_names(given, signature, where):
    if given.keys() != signature.inputs.keys():
        raise errors.invalid_argument(
            f"Failed to process element of '{where}': the signature {signature.name!r} has the inputs "
            f"{', '.join(signature.inputs) or 'none'}, got {', '.join(given) or 'none'}."
        )


def _only(signature, where) -> Parameter:
    if len(signature.inputs) != 1:
        raise errors.invalid_argument(
            f"'{where}' must name its values, as the signature {signature.name!r} has several inputs: "
            f"{', '.join(signature.inputs)}."
        )
    return next(iter(signature.inputs.values()))


def _is_bytes(value):
    return isinstance(value, dict) and value.keys() == {_B64}


def array_of(value: Any, parameter: Parameter) -> np.ndarray:
    """A JSON value as the array of an input.

    Raises:
        InvalidArgumentError: it is ragged, or of another kind.
    """
    if parameter.dtype._kind == "s":
        return _strings(value, parameter)
    try:
        found = np.array(value)
    except ValueError:
        raise errors.invalid_argument(
            f"Encountered list at unexpected size: the value of {parameter.name} has rows of different lengths."
        ) from None
    wanted = np.dtype(parameter.dtype.as_numpy_dtype)
    allowed = {"b": "b", "i": "iu", "u": "iu", "f": "iuf"}.get("f" if wanted.kind in "fV" else wanted.kind, "")
    if found.size and found.dtype.kind not in allowed:
        raise errors.invalid_argument(
            f"JSON Value: {_shortened(value)} is not of expected type: {parameter.dtype.name} (the input "
            f"{parameter.name})."
        )
    if wanted.kind in "iu" and found.size:
        limits = np.iinfo(wanted)
        if int(found.min()) < limits.min or int(found.max()) > limits.max:
            raise errors.invalid_argument(f"The input {parameter.name} holds numbers beyond {parameter.dtype.name}.")
    return np.ascontiguousarray(found, wanted)


def _strings(value, parameter):
    shape, first = [], value
    while isinstance(first, list):
        shape.append(len(first))
        if not first:
            break
        first = first[0]
    array = np.empty(shape, object)
    items = list(_leaves(value, shape, 0, parameter))
    array[...] = np.array(items, object).reshape(shape) if shape else items[0]
    return array


def _leaves(value, shape, depth, parameter) -> Iterator[bytes]:
    if depth < len(shape):
        if not isinstance(value, list) or len(value) != shape[depth]:
            raise errors.invalid_argument(
                f"Encountered list at unexpected size: the value of {parameter.name} has rows of different lengths."
            )
        for item in value:
            yield from _leaves(item, shape, depth + 1, parameter)
    elif isinstance(value, str):
        yield value.encode()
    elif _is_bytes(value) and isinstance(value[_B64], str):
        try:
            yield base64.b64decode(value[_B64], validate=True)
        except (binascii.Error, ValueError):
            raise errors.invalid_argument(f"Unable to base64 decode: {_shortened(value[_B64])}") from None
    else:
        raise errors.invalid_argument(
            f"JSON Value: {_shortened(value)} Type: {_KINDS.get(type(value), 'Unknown')} is not of expected type: "
            f"string (the input {parameter.name})."
        )


def _shortened(value):
    text = json.dumps(value)
    return text if len(text) <= 100 else text[:100] + "..."


# Replies.


def reply_of(outputs: dict[str, np.ndarray], by_rows: bool) -> bytes:
    """The reply to a prediction.

    Args:
        outputs: by name.
        by_rows: whether the request came row by row.

    Raises:
        InvalidArgumentError: there are no rows that all outputs share.
    """
    if not by_rows:
        return b'{\n    "outputs": %s\n}' % _columns(outputs)
    sizes = {array.shape[0] if array.ndim else None for array in outputs.values()}
    if None in sizes or len(sizes) > 1:
        raise errors.invalid_argument(
            "The outputs have inconsistent batch sizes, so that there are no rows: "
            + ", ".join(f"{name} has shape {list(array.shape)}" for name, array in outputs.items())
            + ". Use 'inputs' instead of 'instances'."
        )
    if len(outputs) == 1:
        ((name, array),) = outputs.items()
        return b'{\n    "predictions": %s\n}' % dumped(array, name)
    (count,) = sizes
    rows = b", ".join(
        b"{%s}" % b", ".join(b"%s: %s" % (_key(name), dumped(array[row, ...], name)) for name, array in outputs.items())
        for row in range(count)
    )
    return b'{\n    "predictions": [%s]\n}' % rows


def _columns(outputs):
    if len(outputs) == 1:
        ((name, array),) = outputs.items()
        return dumped(array, name)
    return b"{%s}" % b", ".join(b"%s: %s" % (_key(name), dumped(array, name)) for name, array in outputs.items())


def _key(name):
    return json.dumps(name).encode()


def dumped(array: np.ndarray, name: str) -> bytes:
    """An array as JSON. TF: strings are base64 only where the name of the output ends in `_bytes`."""
    array = np.asarray(array)
    if array.dtype == object:
        return json.dumps(_as_text(array.tolist(), name.endswith("_bytes"))).encode()
    if array.dtype.kind == "c":
        raise errors.unimplemented(f"The output {name} holds complex numbers, for which JSON has no form.")
    if array.dtype.kind in "fV":
        if array.dtype.kind == "V" or array.dtype.itemsize == 2:
            array = array.astype(np.float32)
        if not np.isfinite(array).all():
            return _with_nan(array).encode()
    return (
        _orjson.dumps(np.ascontiguousarray(array), option=_orjson.OPT_SERIALIZE_NUMPY)
        if array.ndim
        else (_orjson.dumps(array.reshape(1), option=_orjson.OPT_SERIALIZE_NUMPY)[1:-1])
    )


def _with_nan(array):
    if array.ndim:
        return f"[{','.join(map(_with_nan, array))}]"
    return "NaN" if np.isnan(array) else str(array) if np.isfinite(array) else f"{'-' if array < 0 else ''}Infinity"


def _as_text(value, is_encoded):
    if isinstance(value, list):
        return [_as_text(item, is_encoded) for item in value]
    if is_encoded:
        return {_B64: base64.b64encode(value).decode()}
    return value.decode("utf-8", "replace")
