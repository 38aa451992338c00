"""The messages that shapes and specs turn into: TensorFlow's protos, or records with the same fields.

core knows no protobuf. The layer of formats registers the message classes; where it is not loaded, the plain
records below take their place. Both are built by keyword and read by attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class DimRecord:
    """The fields of `TensorShapeProto.Dim`; an unknown size is -1."""

    def __init__(self, size: int = 0, name: str = ""):
        self.size = size
        self.name = name


class ShapeRecord:
    """The fields of `TensorShapeProto`."""

    Dim = DimRecord

    def __init__(self, dim: Sequence[DimRecord] = (), unknown_rank: bool = False):
        self.dim = list(dim)
        self.unknown_rank = unknown_rank


class TensorSpecRecord:
    """The fields of `TensorSpecProto`."""

    def __init__(self, name: str = "", shape: ShapeRecord | None = None, dtype: int = 0):
        self.name = name
        self.shape = ShapeRecord() if shape is None else shape
        self.dtype = dtype


class DTypeRecord:
    """The fields of `SerializedDType`."""

    def __init__(self, datatype: int = 0):
        self.datatype = datatype


_LOADERS: dict[str, Callable[[], type]] = {
    "TensorShapeProto": lambda: ShapeRecord,
    "TensorSpecProto": lambda: TensorSpecRecord,
    "SerializedDType": lambda: DTypeRecord,
}


def register_message(name: str, loader: Callable[[], type]) -> None:
    """Makes `loader()` the class of the message `name`; called when needed, it may import protobuf."""
    _LOADERS[name] = loader


def message_class(name: str) -> Any:
    """The class of messages called `name` in TensorFlow."""
    return _LOADERS[name]()
