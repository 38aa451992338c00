"""The protocol by which values and types take part in tracing: `tf.types.experimental.TraceType` and its kin.

A traced function is cached per combination of trace types. A type answers whether it generalises another
one, which type generalises several, and how its values become tensors and come back.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable


class TraceType(metaclass=abc.ABCMeta):
    """The type of an argument to a traced function, as far as tracing tells arguments apart.

    Subclasses must be hashable and define `__eq__`. Two equal types share a traced graph.
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Whether every value of this type may be passed where `other` is expected."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """The narrowest type that this one and all of `others` are subtypes of, or None if there is none."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any) -> Any:
        """A stand-in value of this type, used as the argument while the function is traced."""

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors that `value` consists of, in the order of `flatten`; none unless overridden."""
        return []

    def from_tensors(self, tensors: Any) -> Any:
        """The value of this type made of the next tensors of the iterator `tensors`."""
        return self.placeholder_value(PlaceholderContext())

    def flatten(self) -> list[TraceType]:
        """The types of the tensors that a value of this type consists of."""
        return []

    def cast(self, value: Any, cast_context: Any) -> Any:
        """`value` as a value of this type.

        Raises:
            AssertionError: It is not one and cannot be made one.
        """
        if value != self.placeholder_value(PlaceholderContext()):
            raise AssertionError(f"Can not cast {value!r} to type {self!r}")
        return value

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...


class TracingContext:
    """What the tracer hands to `__tf_tracing_type__`, so that nested values can ask it for their types."""


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """A class that says itself which `TraceType` its instances have."""

    def __tf_tracing_type__(self, context: TracingContext) -> TraceType:
        """The trace type of this value."""


class PlaceholderContext:
    """What `TraceType.placeholder_value` gets: where symbolic tensors are made.

    The tracer passes its own subclass that has a graph; the plain one serves types without tensors.
    """

    def placeholder(self, spec: Any) -> Any:
        """A symbolic tensor described by `spec`."""
        raise NotImplementedError(f"A placeholder for {spec!r} needs a graph to be made in.")


class CastContext:
    """What `TraceType.cast` gets.

    Args:
        allow_specs: Whether a spec may stand for the value that it describes, as in `get_concrete_function`.
    """

    def __init__(self, allow_specs: bool = False):
        self.allow_specs = allow_specs


PUBLIC = {
    "types.experimental.TraceType": TraceType,
    "types.experimental.SupportsTracingProtocol": SupportsTracingProtocol,
}
