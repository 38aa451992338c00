"""A JSON value as an array: nested lists must be regular, and each leaf of the kind that the input takes.

Values are looked at a level at a time, by functions of the interpreter's own. Only where something does not fit are
they walked through in the order of the text, so that the error names the first value that is wrong.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.serving.servables import Parameter

B64 = "b64"
_MOST_AXES = 64  # of NumPy
_LONGEST = 200  # characters of a value in a message
_ENCODER = json.JSONEncoder()
_NAMES = {"float32": "float", "float64": "double", "float16": "half"}  # TF: in messages
_DIGITS = {"float32": 24, "float64": 53, "float16": 11, "bfloat16": 8}  # of the numbers that a type can tell apart


def shortened(value: Any) -> str:
    """A value as it is shown in messages."""
    text = ""
    for part in _ENCODER.iterencode(value):  # no further than it is shown: the value may be large, and deep
        text += part
        if len(text) > _LONGEST:
            return text[:_LONGEST] + "..."
    return text


def kind_of(value: Any) -> str:
    """What a value is, in the words of TensorFlow Serving's messages."""
    if isinstance(value, bool):
        return "True" if value else "False"
    kinds = {str: "String", int: "Number", float: "Number", list: "Array", dict: "Object", type(None): "Null"}
    return kinds[type(value)]


def is_bytes(value: Any) -> bool:
    """Whether a value is an object that holds encoded bytes."""
    return isinstance(value, dict) and value.keys() == {B64} and isinstance(value[B64], str)


def bytes_of(value: dict) -> bytes:
    """The bytes that an object holds.

    Raises:
        InvalidArgumentError: it holds none.
    """
    if not is_bytes(value):
        raise errors.invalid_argument(f"JSON Value: {shortened(value)} not formatted correctly for base64 data")
    text = "".join(value[B64].split()).rstrip("=")  # TF: blanks are skipped, and the end may lack its padding
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise errors.invalid_argument(f"Unable to base64 decode: {shortened(value[B64])}") from None


def array_of_numbers(value: Any, parameter: Parameter) -> np.ndarray | None:
    """Lists that hold nothing but numbers as the array of an input, quickly; None where a closer look is wanted.

    That is for ragged ones, other types than floating point, and numbers that it may not be able to hold.
    """
    dtype = parameter.dtype
    if dtype.name not in _NAMES:
        return None
    try:
        with np.errstate(over="ignore"):
            array = np.array(value, dtype.as_numpy_dtype)
    except (ValueError, OverflowError):
        return None
    # All whole numbers up to there are exact, and what is not finite is not below it.
    return array if array.size and np.abs(array).max() < 1 << _DIGITS[dtype.name] else None


def array_of(value: Any, parameter: Parameter) -> np.ndarray:
    """A value as the array of an input.

    Raises:
        InvalidArgumentError: it is ragged, or holds something of another kind.
        UnimplementedError: the input is of a type that JSON has no form for.
    """
    found = _regular(value)
    if found is not None:
        shape, leaves, kinds = found
        array = _filled(leaves, kinds, parameter)
        if array is not None:
            return array.reshape(shape)
    leaves = list(_checked_leaves(value, parameter))
    raise AssertionError(f"{len(leaves)} leaves of {parameter.name} fit alone, not together.")


def array_of_rows(rows: list, parameter: Parameter, key: str = "") -> np.ndarray:
    """Values, each one row, as the array of an input.

    Args:
        rows: the values.
        parameter: the input.
        key: its name, where rows are objects.

    Raises:
        InvalidArgumentError: the message says which row is wrong.
    """
    found = _regular(rows)
    if found is not None:
        shape, leaves, kinds = found
        array = _filled(leaves, kinds, parameter)
        if array is not None:
            return array.reshape(shape)
    first: list[int] = []
    for number, row in enumerate(rows):
        try:
            shape = _first_shape(row)
            for _ in _checked_leaves(row, parameter):
                pass
            first = shape if number == 0 else first
            _compare(first, shape)
        except errors.OpError as error:
            where = f"{number} key: {key}" if key else number
            raise errors.invalid_argument(
                f"Failed to process element: {where} of 'instances' list. Error: INVALID_ARGUMENT: {error.message}"
            ) from None
    raise AssertionError(f"The rows of {parameter.name} fit alone, not together.")


def _compare(first, shape):
    size, wanted = int(np.prod(shape)), int(np.prod(first))
    if size != wanted:
        raise errors.invalid_argument(f"Expecting tensor size: {wanted} but got: {size}")
    if shape != first:
        raise errors.invalid_argument(f"Expecting shape {_text(first)} but got: {_text(shape)}")


def _text(shape):
    return f"[{','.join(map(str, shape))}]"


def _regular(value):
    """The shape of nested lists, a list of what they hold, and its types; None if they are ragged."""
    shape, level = [], [value]
    kinds: set[type] = set()
    while level:
        kinds = set(map(type, level))
        if list not in kinds:
            break
        sizes = set(map(len, level)) if len(kinds) == 1 else ()
        if len(sizes) != 1:
            return None
        shape.extend(sizes)
        if len(shape) > _MOST_AXES:
            raise errors.invalid_argument(f"Lists are nested more than {_MOST_AXES} deep.")
        level, kinds = list(itertools.chain.from_iterable(level)), set()
    return shape, level, kinds


def _filled(leaves, kinds, parameter):
    """The leaves as an array of one axis; None if one is of another kind."""
    dtype = parameter.dtype
    wanted = np.dtype(dtype.as_numpy_dtype)
    if dtype._kind == "s":
        return _strings(leaves) if kinds <= {str, dict} else None
    if wanted.kind == "b":
        return np.array(leaves, bool) if kinds <= {bool} else None
    try:
        if wanted.kind in "iu" and kinds <= {int}:
            return np.array(leaves, wanted)
        if wanted.kind in "fV" and dtype.name in _DIGITS and kinds <= {int, float}:
            return _floats(leaves, int in kinds, dtype, wanted)
    except OverflowError:
        pass
    return None


def _strings(leaves):
    array = np.empty(len(leaves), object)
    for number, leaf in enumerate(leaves):
        array[number] = leaf.encode() if isinstance(leaf, str) else bytes_of(leaf)
    return array


def _floats(leaves, has_integers, dtype, wanted):
    array = np.array(leaves, np.float64)
    sizes = np.abs(array)
    if has_integers and not sizes.max() < 1 << _DIGITS[dtype.name] and any(not _fits(leaf, dtype) for leaf in leaves):
        return None
    if np.isfinite(sizes).all():
        limit = sizes.max(initial=0.0)
    else:
        limit = sizes[np.isfinite(sizes)].max(initial=0.0)
    return None if limit > float(dtype.max) else array.astype(wanted)


def _fits(leaf, dtype):
    """Whether a type of floating point can hold a number. TF: whole numbers must be exact."""
    if type(leaf) is int:
        return abs(leaf) < 1 << _DIGITS[dtype.name]
    return abs(leaf) <= float(dtype.max) or leaf != leaf or leaf in (float("inf"), float("-inf"))


def _first_shape(value):
    shape = []
    while isinstance(value, list):
        shape.append(len(value))
        if not value:
            break
        value = value[0]
    return shape


def _checked_leaves(value: Any, parameter: Parameter) -> Iterator[Any]:
    """The leaves, in the order of the text.

    Raises:
        InvalidArgumentError: at the first that does not fit.
    """
    shape = _first_shape(value)
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        one, level = waiting.pop()
        if isinstance(one, list):
            if level >= len(shape):
                raise errors.invalid_argument(f"Encountered list at unexpected level: {level} expected < {len(shape)}")
            if len(one) != shape[level]:
                raise errors.invalid_argument(
                    f"Encountered list at unexpected size: {len(one)} at level: {level} expected size: {shape[level]}"
                )
            waiting.extend((item, level + 1) for item in reversed(one))
            continue
        if level != len(shape):
            raise errors.invalid_argument(
                f"JSON Value: {shortened(one)} found at incorrect level: {level + 1} (expected: {len(shape)})"
            )
        _check_leaf(one, parameter)
        yield one


def _check_leaf(leaf, parameter):
    dtype = parameter.dtype
    wanted = np.dtype(dtype.as_numpy_dtype)
    name = _NAMES.get(dtype.name, dtype.name)
    if dtype._kind == "s":
        if isinstance(leaf, dict):
            bytes_of(leaf)
        fits = isinstance(leaf, (str, dict))
    elif wanted.kind == "b":
        fits = isinstance(leaf, bool)
    elif wanted.kind in "iu":
        fits = type(leaf) is int and np.iinfo(wanted).min <= leaf <= np.iinfo(wanted).max
    elif dtype.name in _DIGITS:
        fits = type(leaf) in (int, float)
        if fits and not _fits(leaf, dtype):
            raise errors.invalid_argument(
                f"Cannot convert JSON value: {shortened(leaf)} to {name} without loss of precision."
            )
    else:
        raise errors.unimplemented(f"Conversion of JSON Value: {shortened(leaf)} to type: {name}")
    if not fits:
        raise errors.invalid_argument(
            f"JSON Value: {shortened(leaf)} Type: {kind_of(leaf)} is not of expected type: {name}"
        )
