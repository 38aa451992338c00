"""Extension types whose class is not known here: what a SavedModel holds when its class was never imported."""

from __future__ import annotations

from typing import Any

from headrace._src.core.composite import CompositeTensor
from headrace._src.core.type_specs import TypeSpec, type_spec_from_value
from headrace._src.core.types import Tensor
from headrace._src.ops.extension_types.extension_type import (
    frozen,
    has_tensors,
    merge_parts,
    select_parts,
    tensor_parts,
)
from headrace._src.ops.extension_types.fields import ImmutableDict


def _check_names(names):
    for name in names:
        if name in ("self", "Spec") or name.startswith(("_tf_extension_type", "__")) or not name.isidentifier():
            raise ValueError(f"A field of an extension type cannot be called {name!r}.")


def _spec_of(value):
    if isinstance(value, Tensor | CompositeTensor):
        return type_spec_from_value(value)
    if isinstance(value, tuple):
        return tuple(map(_spec_of, value))
    if isinstance(value, ImmutableDict):
        return ImmutableDict((key, _spec_of(item)) for key, item in value.items())
    return value


class AnonymousExtensionType(CompositeTensor):
    """A value with the fields of some extension type, read as attributes, but without its methods."""

    def __init__(self, **fields: Any) -> None:
        _check_names(fields)
        self.__dict__.update((name, frozen(value)) for name, value in fields.items())

    @property
    def _type_spec(self) -> AnonymousExtensionTypeSpec:
        return AnonymousExtensionTypeSpec(**{name: _spec_of(value) for name, value in self.__dict__.items()})

    def __setattr__(self, name, value):
        raise AttributeError(f"Cannot set attribute `{name}`. AnonymousExtensionType instances are immutable.")

    def __delattr__(self, name):
        raise AttributeError(f"Cannot delete attribute `{name}`. AnonymousExtensionType instances are immutable.")

    def __repr__(self):
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"AnonymousExtensionType({fields})"


class AnonymousExtensionTypeSpec(TypeSpec):
    """The spec of such a value: the same fields, with specs in place of tensors."""

    def __init__(self, **fields: Any) -> None:
        _check_names(fields)
        self._fields = {name: frozen(value) for name, value in fields.items()}

    def __getattr__(self, name):
        fields = self.__dict__.get("_fields", {})
        if name in fields:
            return fields[name]
        raise AttributeError(f"AnonymousExtensionTypeSpec has no attribute {name!r}.")

    @property
    def value_type(self) -> type:
        return AnonymousExtensionType

    def _serialize(self):
        return tuple(self._fields.items())

    @classmethod
    def _deserialize(cls, serialization):
        return cls(**dict(serialization))

    @property
    def _component_specs(self):
        return tuple(tensor_parts(spec) for spec in self._fields.values() if has_tensors(spec))

    def _to_components(self, value):
        fields = self._fields.items()
        return tuple(select_parts(getattr(value, name), spec) for name, spec in fields if has_tensors(spec))

    def _from_components(self, components):
        parts = iter(components)
        fields = self._fields.items()
        return AnonymousExtensionType(
            **{name: merge_parts(spec, next(parts)) if has_tensors(spec) else spec for name, spec in fields}
        )

    def __repr__(self):
        fields = ", ".join(f"{name}={value!r}" for name, value in self._fields.items())
        return f"AnonymousExtensionTypeSpec({fields})"
