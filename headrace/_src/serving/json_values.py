"""The JSON of requests: what is parsed, and which arrays a prediction is for."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule
from headrace._src.serving.json_tensors import array_of, array_of_numbers, array_of_rows, is_bytes, shortened
from headrace._src.serving.servables import Parameter, ServedSignature

_orjson = LazyModule("orjson")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MOST_DIGITS = 400  # of a whole number: more are beyond every type


class _TooLarge(ValueError):
    """A number in a text is beyond what a `double` holds."""


def _float_of(text):
    value = float(text)
    if math.isinf(value):
        raise _TooLarge
    return value


def _integer_of(text):
    if len(text) > _MOST_DIGITS:
        raise _TooLarge
    return int(text)


_DECODER = json.JSONDecoder(parse_float=_float_of, parse_int=_integer_of)

# What the parser of Python says, and what TensorFlow Serving's says of the same.
_PARSE_ERRORS = (
    ("Expecting value", "Invalid value."),
    ("Expecting ':' delimiter", "Missing a colon after a name of object member."),
    ("Expecting property name", "Missing a name for object member."),
    ("Illegal trailing comma before end of object", "Missing a name for object member."),
    ("Illegal trailing comma", "Invalid value."),
    ("Unterminated string", "Missing a closing quotation mark in string."),
    ("Invalid \\u", "Incorrect hex digit after \\u escape in string."),
    ("Invalid \\", "Invalid escape character in string."),
    ("Invalid control character", "Invalid encoding in string."),
)
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')


def parsed(body: bytes) -> dict:
    """The object that a request is. NaN and infinities may stand in it; what follows it is not looked at.

    Raises:
        InvalidArgumentError: it is none.
    """
    body = body.removeprefix(_BYTE_ORDER_MARK)
    if not body.strip():
        raise errors.invalid_argument("JSON Parse error: The document is empty")
    try:
        value = _orjson.loads(body)
    except ValueError:
        value = _parsed_freely(body)
    if not isinstance(value, dict):
        raise errors.invalid_argument(f"JSON Value: {shortened(value)} Is not object")
    return value


def _parsed_freely(body):
    try:
        text = body.decode()
        start = len(text) - len(text.lstrip(" \t\r\n"))
        value = _DECODER.raw_decode(text, start)[0]
        if _HALF_PAIR.search(text):
            json.dumps(value, ensure_ascii=False).encode()  # fails for a half of a pair
        return value
    except json.JSONDecodeError as error:
        offset = len(text[: error.pos].encode())
        raise errors.invalid_argument(f"JSON Parse error: {_said(error, text)} at offset: {offset}") from None
    except UnicodeDecodeError as error:
        raise errors.invalid_argument(
            f"JSON Parse error: Invalid encoding in string. at offset: {error.start}"
        ) from None
    except UnicodeEncodeError:
        raise errors.invalid_argument("JSON Parse error: The surrogate pair in string is invalid.") from None
    except _TooLarge:
        raise errors.invalid_argument("JSON Parse error: Number too big to be stored in double.") from None
    except RecursionError:
        raise errors.invalid_argument("JSON Parse error: the values are nested too deeply.") from None


def _said(error, text):
    for begin, said in _PARSE_ERRORS:
        if error.msg.startswith(begin):
            return said
    rest = _STRINGS.sub("", text[: error.pos])
    in_list = rest.count("[") > rest.count("]") and _last_open(rest) == "["
    return f"Missing a comma or {']' if in_list else '}'} after an {'array element' if in_list else 'object member'}."


def _last_open(text):
    """The bracket that is open where a text without strings ends."""
    closed = 0
    for character in reversed(text):
        if character in "]}":
            closed += 1
        elif character in "[{":
            if not closed:
                return character
            closed -= 1
    return ""


def has_only_numbers(text: bytes, body: dict) -> bool:
    """Whether the lists of a request can hold nothing but numbers: there are no more texts in it than it has names."""
    inputs, name = body.get("inputs"), body.get("signature_name")
    names = len(body) + (len(inputs) if isinstance(inputs, dict) else 0) + isinstance(name, str)
    if text.count(b'"') != 2 * names:
        return False
    # Looking for one letter is much faster than for a word. What is null becomes a NaN, which is looked at closely.
    return not (b"u" in text and b"true" in text) and not (b"l" in text and b"false" in text)


def arrays_of_request(
    body: dict, signature: ServedSignature, only_numbers: bool = False
) -> tuple[dict[str, np.ndarray], bool]:
    """The inputs of a prediction, and whether they came row by row.

    Args:
        body: the request.
        signature: what it is for.
        only_numbers: whether its lists hold nothing but numbers.

    Raises:
        InvalidArgumentError: they are not what the signature takes.
    """
    if not signature.inputs:
        raise errors.invalid_argument(f"Failed to get input map for signature: {signature.name}")
    if "instances" in body and "inputs" in body:
        raise errors.invalid_argument(
            f"JSON Value: {shortened(body)} Not formatted correctly expecting only one of 'inputs' or 'instances'"
        )
    if "instances" in body:
        rows = body["instances"]
        if not isinstance(rows, list):
            # TF: the misspelt word is TensorFlow Serving's.
            raise errors.invalid_argument(f"JSON Value: {shortened(body)} Excepting 'instances' to be an list/array")
        if not rows:
            raise errors.invalid_argument(f"JSON Value: {shortened(body)} No values in 'instances' array")
        array = _numbers(rows, signature) if only_numbers else None
        return (_from_rows(rows, signature) if array is None else array), True
    if "inputs" in body:
        array = _numbers(body["inputs"], signature) if only_numbers and isinstance(body["inputs"], list) else None
        return (_from_columns(body["inputs"], signature) if array is None else array), False
    raise errors.invalid_argument("Missing 'inputs' or 'instances' key")


def _numbers(value, signature):
    """The only input of a signature, where its values are numbers as they should be; otherwise None."""
    if len(signature.inputs) != 1:
        return None
    ((name, parameter),) = signature.inputs.items()
    array = array_of_numbers(value, parameter)
    return None if array is None else {name: array}


def _from_columns(value, signature):
    if isinstance(value, dict) and not is_bytes(value):
        for name in signature.inputs:
            if name not in value:
                raise errors.invalid_argument(f"Missing named input: {name} in 'inputs' object.")
        return {name: array_of(value[name], parameter) for name, parameter in signature.inputs.items()}
    parameter = _only(signature, "inputs is a plain value/list, but expecting an object")
    return {parameter.name: array_of(value, parameter)}


def _is_row(value: Any) -> bool:
    return isinstance(value, dict) and not is_bytes(value)


def _from_rows(rows, signature):
    are_objects = _is_row(rows[0])
    if not are_objects:
        parameter = _only(signature, "instances is a plain list, but expecting list of objects")
    for number, row in enumerate(rows):
        if _is_row(row) != are_objects:
            expected, got = ("object", "list") if are_objects else ("value/list", "object")
            raise errors.invalid_argument(f"Expecting {expected} but got {got} at item {number} of input list")
    if not are_objects:
        return {parameter.name: array_of_rows(rows, parameter)}
    for number, row in enumerate(rows):
        _check_names(row, number, signature)
    return {
        name: array_of_rows([row[name] for row in rows], parameter, name)
        for name, parameter in signature.inputs.items()
    }


def _check_names(row, number, signature):
    if row.keys() == signature.inputs.keys():
        return
    for name in row:
        if name not in signature.inputs:
            raise errors.invalid_argument(
                f"Failed to process element: {number} key: {name} of 'instances' list. Error: INVALID_ARGUMENT: JSON "
                f"object: does not have named input: {name}"
            )
    raise errors.invalid_argument(
        f"Failed to process element: {number} of 'instances' list. JSON object: {shortened(row)} must only have keys: "
        f"{','.join(signature.inputs)}"
    )


def _only(signature, problem) -> Parameter:
    if len(signature.inputs) != 1:
        raise errors.invalid_argument(
            f"{problem}: the signature {signature.name!r} has several inputs, {', '.join(signature.inputs)}"
        )
    return next(iter(signature.inputs.values()))
