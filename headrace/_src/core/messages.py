"""The messages that shapes and specs turn into: TensorFlow's protos, or records with the same fields.

core knows no protobuf. The layer of formats registers the message classes; where it is not loaded, the plain
records below take their place. Both are built by keyword and read by attribute.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class DimRecord:
    """The fields of `TensorShapeProto.Dim`; an unknown size is -1."""

    size: int = 0
    name: str = ""


@dataclass
class ShapeRecord:
    """The fields of `TensorShapeProto`."""

    dim: list[DimRecord] = field(default_factory=list)
    unknown_rank: bool = False

    Dim = DimRecord


@dataclass
class TensorSpecRecord:
    """The fields of `TensorSpecProto`."""

    name: str = ""
    shape: ShapeRecord = field(default_factory=ShapeRecord)
    dtype: int = 0


_LOADERS: dict[str, Callable[[], type]] = {
    "TensorShapeProto": lambda: ShapeRecord,
    "TensorSpecProto": lambda: TensorSpecRecord,
}


def register_message(name: str, loader: Callable[[], type]) -> None:
    """Makes `loader()` the class of the message `name`; called when needed, it may import protobuf."""
    _LOADERS[name] = loader


def message_class(name: str) -> type:
    """The class of messages called `name` in TensorFlow."""
    return _LOADERS[name]()
