"""Whether the arguments of a call fit a saved function, and the tensors that they consist of.

A saved function says what it takes as a structure: specs where it takes tensors, values where a Python value was part
of it when it was traced. Matching follows both structures. A list must be a list and a tuple a tuple, while a named
tuple counts by its fields and a dictionary by its keys: the classes of the saving program are not there any more.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from headrace._src.core import nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import Tensor
from headrace._src.core.tracing_protocol import TraceType
from headrace._src.core.type_specs import TypeSpec, type_spec_from_value
from headrace._src.op.convert import to_tensor
from headrace._src.state.variables import Variable
from headrace._src.tracing.variable_specs import VariableSpec


class Mismatch(Exception):
    """Arguments that do not fit; the text says where and why."""


def matched_tensors(expected: Any, value: Any, convert: bool, path: str = "") -> list:
    """The tensors of `value`, in the order in which a function takes them.

    Args:
        expected: the structure of what the function takes.
        value: the argument, or a structure of specs that stand for tensors.
        convert: whether numbers, lists and arrays may stand for tensors.
        path: what the argument is called, for messages.

    Raises:
        Mismatch: it does not fit.
    """
    if isinstance(expected, TensorSpec):
        return [_tensor(expected, value, convert, path)]
    if isinstance(expected, VariableSpec):
        if not (isinstance(value, Variable | VariableSpec) and expected.is_compatible_with(value)):
            raise Mismatch(f"{path}: expected a variable of {expected}, got {_short(value)}")
        return [value.handle if isinstance(value, Variable) else value]
    if isinstance(expected, TypeSpec):
        return _composite(expected, value, path)
    if isinstance(expected, Mapping):
        return _mapping(expected, value, convert, path)
    if isinstance(expected, list | tuple):
        return _sequence(expected, value, convert, path)
    _check_value(expected, value, path)
    return []


def _tensor(expected, value, convert, path):
    if isinstance(value, TensorSpec):
        tensor = value
    elif isinstance(value, Tensor):
        tensor = value
    elif isinstance(value, Variable):
        tensor = value if value.dtype is expected.dtype else None
    elif convert and not isinstance(value, TraceType | CompositeTensor) and value is not None:
        tensor = _converted(expected, value, path)
    else:
        tensor = None
    if tensor is None:
        raise Mismatch(f"{path}: expected {expected}, got {_short(value)}")
    if tensor.dtype is not expected.dtype:
        raise Mismatch(f"{path}: expected a tensor of {expected.dtype.name}, got one of {tensor.dtype.name}")
    if not expected.shape.is_compatible_with(tensor.shape):
        raise Mismatch(f"{path}: expected shape {expected.shape}, got {tensor.shape}")
    return tensor.value() if isinstance(tensor, Variable) else tensor


def _converted(expected, value, path):
    try:
        return to_tensor(value, None, expected.dtype)
    except (TypeError, ValueError) as error:
        raise Mismatch(f"{path}: {error}") from None


def _composite(expected, value, path):
    if isinstance(value, TypeSpec):
        spec = value
    else:
        try:
            spec = type_spec_from_value(value)
        except TypeError:
            raise Mismatch(f"{path}: expected {expected}, got {_short(value)}") from None
    if not expected.is_compatible_with(spec):
        raise Mismatch(f"{path}: expected {expected}, got {spec}")
    return nest.flatten(value, expand_composites=True)


def _sequence(expected, value, convert, path):
    fields = getattr(expected, "_fields", None)
    if fields is not None:
        if getattr(value, "_fields", None) != fields:
            raise Mismatch(f"{path}: expected a named tuple with the fields {fields}, got {_short(value)}")
    else:
        kind = tuple if isinstance(expected, tuple) else list
        if not isinstance(value, kind):
            raise Mismatch(f"{path}: expected a {kind.__name__}, got {_short(value)}")
    if len(value) != len(expected):
        raise Mismatch(f"{path}: expected {len(expected)} elements, got {len(value)}")
    names = fields or range(len(expected))
    return [
        tensor
        for name, part, item in zip(names, expected, value)
        for tensor in matched_tensors(part, item, convert, f"{path}[{name!r}]")
    ]


def _mapping(expected, value, convert, path):
    if not isinstance(value, Mapping) or set(value) != set(expected):
        keys = f"the keys {sorted(map(str, value))}" if isinstance(value, Mapping) else _short(value)
        raise Mismatch(f"{path}: expected a dictionary with the keys {sorted(map(str, expected))}, got {keys}")
    return [
        tensor
        for key in sorted(expected)
        for tensor in matched_tensors(expected[key], value[key], convert, f"{path}[{key!r}]")
    ]


def _check_value(expected, value, path):
    if isinstance(value, Tensor | Variable | CompositeTensor | TraceType) and value is not expected:
        raise Mismatch(f"{path}: expected the Python value {expected!r}, got {_short(value)}")
    same = value is expected
    if not same:
        if isinstance(expected, np.ndarray) or isinstance(value, np.ndarray):
            same = np.array_equal(expected, value)
        else:
            try:
                same = bool(value == expected)
            except (TypeError, ValueError):
                same = False
    if not same:
        raise Mismatch(f"{path}: expected the value {expected!r}, got {_short(value)}")


def _short(value):
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype.name} with shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
