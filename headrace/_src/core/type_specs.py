"""`TypeSpec`: what is known about a value before it exists, and how it is made of tensors.

A spec serialises to a structure of plain values, shapes, dtypes and other specs. Equality, compatibility and
subtyping all compare that structure element by element, so a subclass needs to define none of them.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from headrace._src.core import nest
from headrace._src.core.dtypes import DType
from headrace._src.core.nest_nodes import Composite, register_composite
from headrace._src.core.tracing_protocol import TraceType

TraceType.register(DType)


class TypeSpec(TraceType):
    """The description of a kind of value: a `TensorSpec`, `RaggedTensorSpec`, `DatasetSpec` and so on.

    A subclass defines `value_type`, `_serialize`, `_component_specs`, `_to_components` and
    `_from_components`; its constructor must accept what `_serialize` returns.

    >>> isinstance(tf.TensorSpec([2, None]), tf.TypeSpec)
    True
    """

    __slots__ = ()

    @property
    @abc.abstractmethod
    def value_type(self) -> type:
        """The class of the values that this spec describes."""

    @abc.abstractmethod
    def _serialize(self) -> tuple:
        """The constructor's arguments: plain values, shapes, dtypes, specs, and containers of them."""

    @classmethod
    def _deserialize(cls, serialization: tuple) -> TypeSpec:
        """The spec that `_serialize` described."""
        return cls(*serialization)

    @property
    @abc.abstractmethod
    def _component_specs(self) -> Any:
        """A structure of specs, one for each component of a value."""

    @abc.abstractmethod
    def _to_components(self, value: Any) -> Any:
        """The components of `value`, in the structure of `_component_specs`."""

    @abc.abstractmethod
    def _from_components(self, components: Any) -> Any:
        """The value made of `components`, which have the structure of `_component_specs`."""

    # Comparing specs.

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value of this spec may also fit `spec_or_value` (a spec, or a value that has one)."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return type(self) is type(other) and _compatible(self._serialize(), other._serialize())

    def is_subtype_of(self, other: TraceType) -> bool:
        """Whether `other` is a spec of the same class that describes all that this one describes."""
        return type(self) is type(other) and _subtype(self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TypeSpec | None:
        """The narrowest spec that this one and all of `others` are subtypes of, or None."""
        if any(type(self) is not type(other) for other in others):
            return None
        try:
            merged = _supertype(self._serialize(), [other._serialize() for other in others])
        except _NoSupertype:
            return None
        return type(self)._deserialize(merged)

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The narrowest spec that describes what this one and `other` describe.

        Raises:
            ValueError: There is none.
        """
        result = self.most_specific_common_supertype([other])
        if result is None:
            raise ValueError(f"No TypeSpec is compatible with both {self!r} and {other!r}")
        return result

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        try:
            key = _hashable(self._serialize())
            hash(key)
        except TypeError as error:
            raise ValueError(
                f"Cannot generate a hashable key for {self!r}, because of what _serialize() returned: {error}"
            ) from None
        return (type(self), key)

    def __repr__(self) -> str:
        serialized = self._serialize()
        arguments = ", ".join(map(repr, serialized)) if isinstance(serialized, tuple) else repr(serialized)
        return f"{type(self).__name__}({arguments})"

    def __reduce__(self):
        return (_restore, (type(self), self._serialize()))

    # Values to lists of tensors and back.

    @property
    def _flat_tensor_specs(self) -> list:
        """The specs of `_to_tensor_list(value)`."""
        return nest.flatten(self._component_specs, expand_composites=True)

    def _to_tensor_list(self, value: Any) -> list:
        """The tensors that `value` consists of."""
        return nest.flatten(self._to_components(value), expand_composites=True)

    def _from_tensor_list(self, tensor_list: list) -> Any:
        """The value made of such a list.

        Raises:
            ValueError: The list does not fit `_flat_tensor_specs`.
        """
        expected = self._flat_tensor_specs
        if len(expected) != len(tensor_list):
            raise ValueError(
                f"Cannot create a {self.value_type.__name__} from the tensor list because the TypeSpec "
                f"expects {len(expected)} items, but the provided tensor list has {len(tensor_list)} items."
            )
        for i, (spec, item) in enumerate(zip(expected, tensor_list)):
            if not spec.is_compatible_with(item):
                raise ValueError(
                    f"Cannot create a {self.value_type.__name__} from the tensor list because item {i} "
                    f"({item!r}) is incompatible with the expected TypeSpec {spec}."
                )
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: list) -> Any:
        """`_from_tensor_list` without the checks."""
        return self._from_components(
            nest.pack_sequence_as(self._component_specs, tensor_list, expand_composites=True)
        )

    def _with_tensor_ranks_only(self) -> TypeSpec:
        """This spec with every tensor's dimensions unknown, but not its rank."""

        def relax(leaf):
            if isinstance(leaf, TypeSpec):
                return leaf._with_tensor_ranks_only()
            if hasattr(leaf, "with_rank") and leaf.rank is not None:
                return type(leaf)([None] * leaf.rank)
            return leaf

        return type(self)._deserialize(nest.map_structure(relax, self._serialize()))

    def _without_tensor_names(self) -> TypeSpec:
        """This spec without the names of its tensors."""

        def strip(leaf):
            return leaf._without_tensor_names() if isinstance(leaf, TypeSpec) else leaf

        return type(self)._deserialize(nest.map_structure(strip, self._serialize()))

    # What `Dataset.output_types` and its kin say about elements of this spec.

    def _to_legacy_output_types(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._to_legacy_output_types()")

    def _to_legacy_output_shapes(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._to_legacy_output_shapes()")

    def _to_legacy_output_classes(self) -> Any:
        return self.value_type

    # The tracing-type protocol.

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """A value made of placeholders, one for each component tensor."""
        return self._from_components(
            nest.map_structure(
                lambda spec: spec.placeholder_value(placeholder_context), self._component_specs
            )
        )

    def flatten(self) -> list:
        """The specs of the tensors that a value consists of."""
        return [part for spec in nest.flatten(self._component_specs) for part in spec.flatten()]

    def to_tensors(self, value: Any) -> list:
        """The tensors of `value`, in the order of `flatten`."""
        pairs = zip(
            nest.flatten(self._component_specs),
            nest.flatten_up_to(self._component_specs, self._to_components(value), check_types=False),
        )
        return [tensor for spec, component in pairs for tensor in spec.to_tensors(component)]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """The value made of the next tensors of an iterator."""
        return self._from_components(
            nest.map_structure(lambda spec: spec.from_tensors(tensors), self._component_specs)
        )

    def cast(self, value: Any, casting_context: Any) -> Any:
        """`value` with its components cast to this spec's.

        Raises:
            AssertionError: `value` is a spec that is no subtype of this one.
            TypeError: A component cannot be cast.
        """
        if getattr(casting_context, "allow_specs", False) and isinstance(value, TypeSpec):
            if not value.is_subtype_of(self):
                raise AssertionError(f"Can not cast {value!r} to {self!r}")
            return self
        components = nest.map_structure_up_to(
            self._component_specs,
            lambda spec, component: spec.cast(component, casting_context),
            self._component_specs,
            self._to_components(value),
            check_types=False,
        )
        return self._from_components(components)


def _restore(cls: type[TypeSpec], serialization: tuple) -> TypeSpec:
    return cls._deserialize(serialization)


# Comparison of serialised specs, element by element.


def _pairs(a: Any, b: Any) -> Iterator[tuple[Any, Any]] | None:
    """The elements of two containers of one form; None if the forms differ."""
    if type(a) is not type(b) or len(a) != len(b):
        return None
    if isinstance(a, dict):
        return ((a[key], b[key]) for key in a) if a.keys() == b.keys() else None
    return zip(a, b)


def _same_leaf(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    return bool(a == b)


def _compatible(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple, dict)):
        pairs = _pairs(a, b)
        return pairs is not None and all(_compatible(x, y) for x, y in pairs)
    if isinstance(a, TraceType) and hasattr(a, "is_compatible_with"):
        return a.is_compatible_with(b)
    return _same_leaf(a, b)


def _subtype(a: Any, b: Any) -> bool:
    if isinstance(a, (list, tuple, dict)):
        pairs = _pairs(a, b)
        return pairs is not None and all(_subtype(x, y) for x, y in pairs)
    return a.is_subtype_of(b) if isinstance(a, TraceType) else _same_leaf(a, b)


class _NoSupertype(Exception):
    pass


def _supertype(first: Any, others: list) -> Any:
    if isinstance(first, (list, tuple, dict)):
        if any(_pairs(first, other) is None for other in others):
            raise _NoSupertype
        if isinstance(first, dict):
            return {key: _supertype(first[key], [other[key] for other in others]) for key in first}
        items = [_supertype(item, [other[i] for other in others]) for i, item in enumerate(first)]
        return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)
    if isinstance(first, TraceType):
        result = first.most_specific_common_supertype(others)
        if result is None:
            raise _NoSupertype
        return result
    if not all(_same_leaf(first, other) for other in others):
        raise _NoSupertype
    return first


def _hashable(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *map(_hashable, value))
    if isinstance(value, dict):
        return ("dict", frozenset((key, _hashable(item)) for key, item in value.items()))
    if isinstance(value, np.ndarray):
        return ("ndarray", value.shape, value.dtype.str, value.tobytes())
    return value


# TF: packages with specs of their own call these by the names that Python gives to private methods.
TypeSpec._TypeSpec__is_compatible = staticmethod(_compatible)  # type: ignore[attr-defined]
TypeSpec._TypeSpec__make_cmp_key = staticmethod(_hashable)  # type: ignore[attr-defined]


# A spec stands for its value in a structure: it is flattened into the specs of its components, and packing
# tensors into it gives the value.
register_composite(
    TypeSpec,
    Composite(
        components=lambda spec: spec._component_specs,
        rebuild=lambda spec, components: spec._from_components(components),
        type_spec=lambda spec: spec,
    ),
)


# Values to specs.

_SPEC_OF: list[tuple[type, Callable[[Any], TypeSpec], bool]] = []
_SPEC_OF_CONVERTED: list[Callable[[Any], TypeSpec | None]] = []


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], TypeSpec], allow_subclass: bool = False
) -> None:
    """Says how values of a class get their spec in `type_spec_from_value`.

    Args:
        type_object: The class.
        converter_fn: From a value to its spec.
        allow_subclass: Whether values of its subclasses are meant too.
    """
    _SPEC_OF.append((type_object, converter_fn, allow_subclass))


def register_fallback(function: Callable[[Any], TypeSpec | None]) -> None:
    """Registers what `type_spec_from_value` asks last: from any value to its spec, or to None."""
    _SPEC_OF_CONVERTED.append(function)


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a tensor, a composite tensor, or of anything that converts to a tensor.

    Raises:
        TypeError: The value has no spec.

    >>> tf.type_spec_from_value(tf.constant([1, 2]))
    TensorSpec(shape=(2,), dtype=tf.int32, name=None)
    """
    own = getattr(value, "_type_spec", None)
    if isinstance(own, TypeSpec):
        return own
    for type_object, converter_fn, allow_subclass in reversed(_SPEC_OF):
        if type(value) is type_object or (allow_subclass and isinstance(value, type_object)):
            return converter_fn(value)
    for function in _SPEC_OF_CONVERTED:
        spec = function(value)
        if spec is not None:
            return spec
    raise TypeError(
        f"type_spec_from_value: Could not build a TypeSpec for the value {value!r} of unsupported type {type(value)}."
    )


PUBLIC = {
    "TypeSpec": TypeSpec,
    "type_spec_from_value": type_spec_from_value,
}
