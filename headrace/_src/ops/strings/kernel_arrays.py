"""Helpers for string kernels, whose arrays hold `bytes` objects."""

import numpy as np

from headrace._src.core import errors


def string_array(items, shape) -> np.ndarray:
    """An object array of that shape from a flat list of bytes."""
    return np.fromiter(items, object, len(items)).reshape(shape)


def map_strings(function, array) -> np.ndarray:
    """`function` of every string: bytes to bytes."""
    return np.fromiter(map(function, array.ravel().tolist()), object, array.size).reshape(array.shape)


def map_values(function, array, dtype) -> np.ndarray:
    """`function` of every string: bytes to numbers."""
    return np.fromiter(map(function, array.ravel().tolist()), dtype, array.size).reshape(array.shape)


def attribute_text(value):
    """A string attribute given as str or bytes, any bytes, in the form that ops keep attributes in.

    Anything else stays as it is: the op refuses it.
    """
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def attribute_bytes(text: str) -> bytes:
    """The bytes that a string attribute stands for: the inverse of `attribute_text`."""
    return text.encode("utf-8", "surrogateescape")


def one_of(op: str, attribute: str, got, allowed):
    """Refuse an attribute that is not among the allowed values."""
    if got not in allowed:
        names = ", ".join(repr(name) for name in allowed)
        raise errors.invalid_argument(f"{op}: {attribute} must be one of {names}, got {got!r}.")


def scalar_string(op: str, argument: str, array) -> bytes:
    """The value of an input that must be a single string."""
    if array.ndim:
        raise errors.invalid_argument(f"{op}: {argument} must be a scalar, got shape {array.shape}.")
    return array[()]
