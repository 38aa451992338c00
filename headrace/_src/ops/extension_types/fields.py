"""The fields of extension types: which annotations there may be, and values in the form that they ask for."""

import collections.abc
import inspect
import sys
import types
import typing

from headrace._src.core import dtypes
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec, TypeSpec
from headrace._src.core.types import Tensor as TensorBase
from headrace._src.op.convert import to_tensor

_PLAIN = (int, float, str, bytes, bool, type(None))
NO_DEFAULT = inspect.Parameter.empty


class ImmutableDict(collections.abc.Mapping):
    """A mapping that cannot change: what a `Mapping` field holds."""

    def __init__(self, *args, **kwargs):
        self._items = dict(*args, **kwargs)

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __eq__(self, other):
        return isinstance(other, collections.abc.Mapping) and self._items == dict(other)

    def __hash__(self):
        return hash(tuple(sorted(self._items.items())))

    def __repr__(self):
        return f"ImmutableDict({self._items!r})"

    def __reduce__(self):
        return ImmutableDict, (self._items,)


def resolved_annotation(written, owner, scope):
    """An annotation with the classes that it names in quotes, or as it is while one of them does not exist.

    Args:
        written: the annotation; after `from __future__ import annotations` it is a text.
        owner: the class in whose module the names are.
        scope: other names, such as those of the function in which the class stands.
    """
    module = sys.modules.get(owner.__module__)
    holder = types.SimpleNamespace(__annotations__={"field": written})
    try:
        return typing.get_type_hints(holder, vars(module) if module else {}, scope)["field"]
    except (NameError, AttributeError):
        return written


def is_unresolved(kind) -> bool:
    """Whether an annotation names a class that does not exist yet."""
    if isinstance(kind, (str, typing.ForwardRef)):
        return True
    return any(map(is_unresolved, typing.get_args(kind)))


def check_annotation(kind, where):
    """Refuse annotations that no spec could describe."""
    if isinstance(kind, (str, typing.ForwardRef)):
        return
    if kind in _PLAIN or kind is None or kind in (TensorShape, dtypes.DType) or isinstance(kind, TypeSpec):
        return
    if isinstance(kind, type) and issubclass(kind, (TensorBase, CompositeTensor, TypeSpec)):
        return
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        for part in inner:
            check_annotation(part, where)
        return
    if origin is tuple and inner:
        for part in inner:
            if part is not Ellipsis:
                check_annotation(part, where)
        return
    if origin in (collections.abc.Mapping,) and len(inner) == 2:
        if inner[0] not in (str, int, bytes, bool):
            raise TypeError(f"{where}: Mapping had a key {inner[0]!r} with type {type(inner[0]).__name__!r}")
        check_annotation(inner[1], where)
        return
    raise TypeError(f"{where}: Unsupported type annotation {_name(kind)}")


def _name(kind):
    if isinstance(kind, type):
        return repr(kind.__name__)
    return repr(kind) if isinstance(kind, str) else str(kind)


def convert_field(value, kind, where, for_spec=False):
    """A field's value in the form that its annotation asks for.

    Args:
        value: what the user gave.
        kind: the annotation.
        where: the field's name, for messages.
        for_spec: the value belongs to a spec: tensors are given by their specs.
    """
    if isinstance(kind, (str, typing.ForwardRef)):
        raise TypeError(f"{where}: its type {_name(kind)} names a class that does not exist (yet)")
    if kind is None or kind is type(None):
        if value is None:
            return None
    elif kind is TensorShape:
        try:
            return TensorShape(value)
        except (TypeError, ValueError):
            pass
    elif kind is dtypes.DType:
        return dtypes.as_dtype(value)
    elif isinstance(kind, TypeSpec):
        return _of_spec(value, kind, where, for_spec)
    elif isinstance(kind, type) and issubclass(kind, TensorBase):
        return _tensor(value, where, for_spec)
    elif isinstance(kind, type) and issubclass(kind, CompositeTensor):
        if for_spec and isinstance(value, TypeSpec) and issubclass(value.value_type, kind):
            return value
        if isinstance(value, kind):
            return value
    elif isinstance(kind, type) and issubclass(kind, TypeSpec):
        if isinstance(value, kind):
            return value
    elif kind in _PLAIN:
        if type(value) is kind or (isinstance(value, kind) and not (kind is int and isinstance(value, bool))):
            return value
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
    else:
        return _convert_generic(value, kind, where, for_spec)
    raise TypeError(f"{where}: expected {_expected(kind)}, got {type(value).__name__!r}")


def _expected(kind):
    if isinstance(kind, type) and issubclass(kind, TensorBase):
        return "a Tensor"
    return f"{kind.__name__!r}" if isinstance(kind, type) else str(kind)


def _of_spec(value, kind, where, for_spec):
    if for_spec:
        if isinstance(value, TypeSpec) and kind.is_compatible_with(value):
            return value
    else:
        if isinstance(kind, TensorSpec) and not isinstance(value, TensorBase):
            value = to_tensor(value, kind.dtype)
        if kind.is_compatible_with(value):
            return value
    raise TypeError(f"{where}: expected a value compatible with {kind!r}, got {value!r}")


def _tensor(value, where, for_spec):
    if for_spec:
        if isinstance(value, (TensorSpec, TypeSpec)):
            return value
        raise TypeError(f"{where}: expected a TensorSpec, got {type(value).__name__!r}")
    try:
        return to_tensor(value)  # also the present value of a variable
    except (TypeError, ValueError):
        raise TypeError(f"{where}: expected a Tensor, got {type(value).__name__!r}") from None


def _convert_generic(value, kind, where, for_spec):
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        # What already is of one of the types stays; only then are values converted.
        for part in inner:
            if isinstance(part, type) and isinstance(value, part):
                return convert_field(value, part, where, for_spec)
        for part in inner:
            try:
                return convert_field(value, part, where, for_spec)
            except (TypeError, ValueError):
                continue
    elif origin is tuple and isinstance(value, (list, tuple)):
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(convert_field(item, inner[0], f"{where}[{i}]", for_spec) for i, item in enumerate(value))
        if len(inner) == len(value):
            return tuple(
                convert_field(item, part, f"{where}[{i}]", for_spec) for i, (item, part) in enumerate(zip(value, inner))
            )
    elif origin is collections.abc.Mapping and isinstance(value, collections.abc.Mapping):
        return ImmutableDict(
            (
                convert_field(key, inner[0], f"{where} key", for_spec),
                convert_field(item, inner[1], f"{where}[{key!r}]", for_spec),
            )
            for key, item in value.items()
        )
    raise TypeError(f"{where}: expected {kind}, got {type(value).__name__!r}")


class Field(typing.NamedTuple):
    """One declared attribute of an extension type."""

    name: str
    kind: object
    default: object
