"""TensorFlow Lite's numbers: of operators, options and types; `schema.txt` has them."""

from __future__ import annotations

import functools
import importlib.resources
from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.formats.flatbuffer_reading import FlatbufferTable
from headrace._src.formats.flatbuffers import Scalar, Vector


@functools.cache
def _lines() -> dict[tuple[str, str], list[str]]:
    text = importlib.resources.files(__package__).joinpath("schema.txt").read_text()
    found = {}
    for line in text.splitlines():
        kind, name, *parts = line.split()
        found[kind, name] = parts
    return found


@functools.cache
def enum(name: str) -> dict[str, int]:
    """The values of an enum."""
    pairs = (part.partition("=") for part in _lines()["enum", name])
    return {key: int(value) for key, _, value in pairs}


@functools.cache
def _fields(name):
    found = {}
    for part in _lines().get(("table", name), []):
        field, slot, kind = part.split(":")
        kind, _, default = kind.partition("=")
        found[field] = (int(slot), kind, int(default or 0))
    return found


@functools.cache
def _names(name):
    return {number: key for key, number in enum(name).items()}


def name_of(name: str, number: int) -> str | None:
    """The name that a value of an enum has; None for one that it does not have."""
    return _names(name).get(number)


def has_fields(name: str) -> bool:
    """Whether a table of options has any."""
    return bool(_fields(name))


def read_options(name: str, table: FlatbufferTable) -> dict[str, Any]:
    """The numbers in a table of options."""
    return {
        field: table.number(slot, kind, default) for field, (slot, kind, default) in _fields(name).items()
        if kind != "ref"
    }  # fmt: skip


def options(name: str, **values: Any) -> dict:
    """A table of options; what has its default is left out."""
    table: dict[int, Any] = {}
    for field, value in values.items():
        slot, kind, default = _fields(name)[field]
        if kind == "ref":
            table[slot] = value if isinstance(value, str) else Vector(np.asarray(value))
        elif isinstance(value, dtypes.DType):
            table[slot] = Scalar(kind, type_number(value))
        elif value != default:
            table[slot] = Scalar(kind, value)
    return table


_TYPES = {
    dtypes.float32: "FLOAT32", dtypes.float16: "FLOAT16", dtypes.float64: "FLOAT64", dtypes.int8: "INT8",
    dtypes.uint8: "UINT8", dtypes.int16: "INT16", dtypes.int32: "INT32", dtypes.int64: "INT64", dtypes.bool: "BOOL",
    dtypes.uint32: "UINT32", dtypes.uint64: "UINT64", dtypes.uint16: "UINT16", dtypes.complex64: "COMPLEX64",
    dtypes.string: "STRING", dtypes.bfloat16: "BFLOAT16", dtypes.resource: "RESOURCE",
}  # fmt: skip


def has_type(dtype: dtypes.DType) -> bool:
    """Whether tensors can be of a dtype."""
    return dtype in _TYPES


def type_number(dtype: dtypes.DType) -> int:
    """The number of a dtype."""
    return enum("TensorType")[_TYPES[dtype]]
