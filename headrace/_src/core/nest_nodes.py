"""What counts as a nested structure, and how each kind of it is taken apart and put together again.

A `Node` describes one kind. The kind is found once per class and remembered, so walking over a structure
costs one dict look-up for each element. Composite tensors and type specs register themselves here: they are
nodes only where `expand_composites=True`.
"""

from __future__ import annotations

import collections
import collections.abc
import types
from collections.abc import Callable, Sequence
from typing import Any


class Node:
    """One kind of nested structure.

    `children(value)` are its parts in the order of `nest.flatten`, `keys(value)` what the path to each of
    them is called, and `rebuild(value, parts)` makes a structure like `value` of other parts.
    """

    is_mapping = False
    is_composite = False

    def children(self, value: Any) -> Sequence[Any]:
        raise NotImplementedError

    def keys(self, value: Any) -> Sequence[Any]:
        return range(len(self.children(value)))

    def rebuild(self, value: Any, parts: list[Any]) -> Any:
        raise NotImplementedError


class _List(Node):
    def children(self, value):
        return value

    def rebuild(self, value, parts):
        return parts


class _Tuple(_List):
    def rebuild(self, value, parts):
        return tuple(parts)


class _Sequence(_List):
    """Any other sequence; its class is called with the parts."""

    def rebuild(self, value, parts):
        return type(value)(parts)


class _Range(_List):
    """Becomes a list, since a range cannot hold arbitrary parts."""


class _MappingView(_List):
    """`dict.keys()`, `.values()` and `.items()`; becomes a list."""

    def children(self, value):
        return list(value)


class _NamedTuple(_List):
    def keys(self, value):
        return value._fields

    def rebuild(self, value, parts):
        return type(value)(*parts)


class _Dict(Node):
    """Children come in the order of the sorted keys, whatever the order of insertion."""

    is_mapping = True

    def children(self, value):
        return [value[key] for key in sorted_keys(value)]

    def keys(self, value):
        return sorted_keys(value)

    def rebuild(self, value, parts):
        # The copy has the insertion order of the original.
        part_of = dict(zip(sorted_keys(value), parts))
        return {key: part_of[key] for key in value}


class _DefaultDict(_Dict):
    def rebuild(self, value, parts):
        copy = collections.defaultdict(value.default_factory)
        copy.update(super().rebuild(value, parts))
        return copy


class _MappingFromDict(_Dict):
    """Mappings whose constructor wants a mapping: Counter, MappingProxyType, ChainMap, UserDict."""

    def rebuild(self, value, parts):
        return type(value)(super().rebuild(value, parts))


class _Mapping(_Dict):
    """Any other mapping; its class is called with an iterable of pairs."""

    def rebuild(self, value, parts):
        pairs = super().rebuild(value, parts).items()
        try:
            return type(value)(pair for pair in pairs)
        except TypeError as error:
            raise TypeError(
                f"nest: cannot make a {type(value).__name__} like {value!r}: its constructor must accept one "
                f"positional argument, an iterable of key-value pairs. It said: {error}"
            ) from error


class _Attrs(Node):
    """An instance of an attrs class."""

    def children(self, value):
        return [getattr(value, field.name) for field in value.__attrs_attrs__]

    def keys(self, value):
        return [field.name for field in value.__attrs_attrs__]

    def rebuild(self, value, parts):
        return type(value)(**{field.alias: part for field, part in zip(value.__attrs_attrs__, parts)})


class _Custom(Node):
    """A class with `__tf_flatten__` (metadata and parts) and `__tf_unflatten__` (the reverse)."""

    def children(self, value):
        return value.__tf_flatten__()[1]

    def rebuild(self, value, parts):
        metadata = value.__tf_flatten__()[0]
        return type(value).__tf_unflatten__(metadata, tuple(parts))


class Composite(Node):
    """A class that stands for several tensors: one child, the structure of its components.

    Args:
        components: From a value to the structure of its components.
        rebuild: From a value and such a structure to a new value.
        type_spec: From a value to its type spec, by which two values are compared.
    """

    is_composite = True

    def __init__(
        self,
        components: Callable[[Any], Any],
        rebuild: Callable[[Any, Any], Any],
        type_spec: Callable[[Any], Any],
    ):
        self._components = components
        self._rebuild = rebuild
        self.type_spec = type_spec

    def children(self, value):
        return (self._components(value),)

    def keys(self, value):
        return (self.type_spec(value).value_type.__name__,)

    def rebuild(self, value, parts):
        return self._rebuild(value, parts[0])


def sorted_keys(mapping: Any) -> list[Any]:
    """The keys of a mapping, sorted; TypeError if they cannot be compared."""
    try:
        return sorted(mapping)
    except TypeError as error:
        raise TypeError(
            "nest: dict keys must be sortable, because they are visited in sorted order, "
            f"got {list(mapping)!r}: {error}"
        ) from None


def is_namedtuple_class(cls: type) -> bool:
    """Whether instances of `cls` are named tuples."""
    fields = getattr(cls, "_fields", None)
    return (
        issubclass(cls, tuple)
        and isinstance(fields, collections.abc.Sequence)
        and all(isinstance(field, str) for field in fields)
    )


_LIST, _TUPLE, _SEQUENCE, _RANGE, _VIEW = _List(), _Tuple(), _Sequence(), _Range(), _MappingView()
_NAMEDTUPLE, _ATTRS, _CUSTOM = _NamedTuple(), _Attrs(), _Custom()
_DICT, _DEFAULTDICT, _FROM_DICT, _MAPPING = _Dict(), _DefaultDict(), _MappingFromDict(), _Mapping()
_BUILT_FROM_DICT = (
    collections.Counter,
    types.MappingProxyType,
    collections.ChainMap,
    collections.UserDict,
)

# Base classes whose instances are nodes where composites are expanded; None marks those that never are.
_COMPOSITES: list[tuple[type, Node | None]] = []


def _plain_node(cls: type) -> Node | None:
    """The node of a class where composites are not expanded, or None if its instances are leaves."""
    if issubclass(cls, (str, bytes)):
        return None
    if hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"):
        return _CUSTOM
    if cls is list:
        return _LIST
    if issubclass(cls, tuple):
        if is_namedtuple_class(cls):
            return _NAMEDTUPLE
        return _TUPLE if cls is tuple else _SEQUENCE
    if issubclass(cls, collections.abc.Mapping):
        if cls is dict:
            return _DICT
        if cls is collections.defaultdict:
            return _DEFAULTDICT
        return _FROM_DICT if issubclass(cls, _BUILT_FROM_DICT) else _MAPPING
    if issubclass(cls, collections.abc.MappingView):
        return _VIEW
    if issubclass(cls, range):
        return _RANGE
    if issubclass(cls, collections.abc.Sequence):
        return _SEQUENCE
    # A class has the attribute of its instances too, but a class is no structure.
    if hasattr(cls, "__attrs_attrs__"):
        return _ATTRS
    return None


class _Nodes(dict):
    """From a class to its node, or to None for a leaf; filled as classes are met."""

    # Programs may make classes without end (a namedtuple for each call), which must not be kept for ever.
    _LIMIT = 4096

    def __init__(self, expand_composites: bool):
        super().__init__()
        self._expand_composites = expand_composites

    def __missing__(self, cls: type) -> Node | None:
        node = self._find(cls)
        if len(self) >= self._LIMIT:
            self.clear()
        self[cls] = node
        return node

    def _find(self, cls: type) -> Node | None:
        if self._expand_composites:
            # The latest registration wins, so that a subclass can be registered after its base.
            for base, node in reversed(_COMPOSITES):
                if issubclass(cls, base):
                    return node
        return _plain_node(cls)


PLAIN = _Nodes(expand_composites=False)
EXPANDING = _Nodes(expand_composites=True)


def register_composite(base: type, node: Node | None) -> None:
    """Makes instances of `base` nodes (or, with None, leaves) where composites are expanded."""
    _COMPOSITES.append((base, node))
    EXPANDING.clear()
