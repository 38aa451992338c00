"""Lists, dicts and tuples that are assigned to attributes of trackable objects: what is in them becomes part of these.

They share their contents with the container that was assigned: whoever still has that one may go on changing it.
"""

from __future__ import annotations

import collections
import collections.abc
import copy
import functools
from typing import Any

from headrace._src.core.trackable import NAMED_TUPLE, SaveType, Trackable, as_trackable, register_container, wrap


class TrackedContainer(Trackable):
    """The base: children are the trackable values, by their place."""

    _storage: Any

    def _items_by_name(self):
        raise NotImplementedError(type(self).__name__)

    def _track(self, name, value):
        """`value` as it is kept: a list or dict in a container of its own; what waits for this name is restored."""
        value = wrap(value)
        part = as_trackable(value)
        if isinstance(part, Trackable):
            self._handle_deferred_dependencies(str(name), part)
        return value

    @property
    def _values(self) -> list:
        return [value for _, value in self._items_by_name()]

    def _trackable_children(self, save_type=SaveType.CHECKPOINT, cache=None, **kwargs):
        parts = ((str(name), as_trackable(value)) for name, value in self._items_by_name())
        children = {name: part for name, part in parts if isinstance(part, Trackable)}
        return {**super()._trackable_children(save_type, cache, **kwargs), **children}

    def _lookup_dependency(self, name, cached_dependencies=None):
        children = self._trackable_children() if cached_dependencies is None else cached_dependencies
        return children.get(name)


def _forwarding(cls, names):
    """Let methods of a builtin container act on the shared contents."""
    for name in names:
        builtin = getattr(cls.__mro__[-2], name)

        def method(self, *args, _name=name, **kwargs):
            return getattr(self._storage, _name)(*args, **kwargs)

        setattr(cls, name, functools.wraps(builtin)(method))


class ListWrapper(TrackedContainer, list):
    """A list whose trackable elements are children, called by their number."""

    _object_identifier = "trackable_list_wrapper"

    __hash__ = None

    def __init__(self, wrapped_list=()):
        list.__init__(self)
        self._storage = wrapped_list if isinstance(wrapped_list, list) else list(wrapped_list)
        for i, value in enumerate(self._storage):
            self._storage[i] = self._track(i, value)

    def _items_by_name(self):
        return enumerate(self._storage)

    def __setitem__(self, key, value):
        if isinstance(key, slice):
            self._storage[key] = [wrap(part) for part in value]
        else:
            self._storage[key] = self._track(range(len(self._storage))[key], value)

    def append(self, value):
        self._storage.append(self._track(len(self._storage), value))

    def insert(self, index, value):
        self._storage.insert(index, wrap(value))

    def extend(self, values):
        for value in list(values):
            self.append(value)

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __imul__(self, count):
        self._storage *= count
        return self

    def __add__(self, other):
        return self._storage + list(other)

    def __radd__(self, other):
        return list(other) + self._storage

    def __eq__(self, other):
        return self._storage == (other._storage if isinstance(other, ListWrapper) else other)

    def __ne__(self, other):
        return not self == other

    def __repr__(self):
        return f"ListWrapper({self._storage!r})"

    def __copy__(self):
        return ListWrapper(copy.copy(self._storage))

    def __deepcopy__(self, memo):
        return ListWrapper(copy.deepcopy(self._storage, memo))

    def __reduce_ex__(self, protocol):
        return ListWrapper, (self._storage,)


_forwarding(ListWrapper, [
    "__contains__", "__delitem__", "__ge__", "__getitem__", "__gt__", "__iter__", "__le__", "__len__", "__lt__",
    "__mul__", "__reversed__", "__rmul__", "clear", "copy", "count", "index", "pop", "remove", "reverse", "sort",
])  # fmt: skip


class _DictWrapper(TrackedContainer, dict):
    """A dict whose trackable values are children, called by their keys."""

    _object_identifier = "trackable_dict_wrapper"

    __hash__ = None

    def __init__(self, wrapped_dict=None):
        dict.__init__(self)
        # Pairs are taken too: packages that rebuild structures make a mapping of them by its type.
        self._storage = wrapped_dict if hasattr(wrapped_dict, "items") else dict(wrapped_dict or ())
        for key, value in list(self._storage.items()):
            self[key] = value

    def _items_by_name(self):
        return list(self._storage.items())

    def _trackable_children(self, save_type=SaveType.CHECKPOINT, cache=None, **kwargs):
        # TF: of keys that are not strings it is not known how to find them again.
        if any(isinstance(value, Trackable) and not isinstance(key, str) for key, value in self._storage.items()):
            raise ValueError(
                f"Unable to save the object {self} (a dictionary wrapper constructed automatically on attribute "
                "assignment). The wrapped dictionary contains a non-string key which maps to a trackable object or "
                "mutable data structure.\n\nIf you don't need this dictionary checkpointed, wrap it in a non-trackable "
                "object; it will be subsequently ignored."
            )
        return super()._trackable_children(save_type, cache, **kwargs)

    # The dict that this is holds the same, for C code, which calls no methods.

    def __setitem__(self, key, value):
        self._storage[key] = value = self._track(key, value)
        dict.__setitem__(self, key, value)

    def __delitem__(self, key):
        del self._storage[key]
        dict.pop(self, key, None)

    def pop(self, key, *default):
        dict.pop(self, key, None)
        return self._storage.pop(key, *default)

    def popitem(self):
        key, value = self._storage.popitem()
        dict.pop(self, key, None)
        return key, value

    def clear(self):
        self._storage.clear()
        dict.clear(self)

    def setdefault(self, key, default=None):
        if key not in self._storage:
            self[key] = default
        return self._storage[key]

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other):
        self.update(other)
        return self

    def __eq__(self, other):
        return self._storage == (other._storage if isinstance(other, _DictWrapper) else other)

    def __ne__(self, other):
        return not self == other

    def __repr__(self):
        return repr(self._storage)

    def __copy__(self):
        return _DictWrapper(copy.copy(self._storage))

    def __deepcopy__(self, memo):
        return _DictWrapper(copy.deepcopy(self._storage, memo))

    def __reduce_ex__(self, protocol):
        return _DictWrapper, (self._storage,)


_forwarding(_DictWrapper, [
    "__contains__", "__getitem__", "__iter__", "__len__", "__or__", "__reversed__", "__ror__", "copy", "get", "items",
    "keys", "values",
])  # fmt: skip


class _TupleWrapper(TrackedContainer, tuple):
    """A tuple whose trackable elements are children, called by their number."""

    _object_identifier = "trackable_tuple_wrapper"

    def __new__(cls, original=()):
        self = tuple.__new__(cls, [wrap(value) for value in original])
        self._storage = original
        for i, value in enumerate(self):
            self._track(i, value)
        return self

    def _items_by_name(self):
        return list(enumerate(self))

    def __reduce_ex__(self, protocol):
        return _TupleWrapper, (tuple(self),)


class _NamedTupleWrapper(TrackedContainer):
    """A named tuple whose trackable elements are children, called by name and by number."""

    _object_identifier = "trackable_tuple_wrapper"

    def _items_by_name(self):
        # TF: both names of a field, that of the field first.
        return [(name, value) for i, field in enumerate(self) for name, value in ((self._fields[i], field), (i, field))]

    def __reduce_ex__(self, protocol):
        return self._plain_class, tuple(self)


def _tracked_named_tuple(value):
    """TF: one without anything to track stays as it is."""
    tracked = [wrap(part) for part in value]
    if not any(isinstance(part, Trackable) for part in tracked):
        return value
    wrapped = tuple.__new__(_tracked_class(type(value)), tracked)
    for name, part in wrapped._items_by_name():
        wrapped._track(name, part)
    return wrapped


def _tracked_class(cls):
    """A subclass of a class of named tuples. The class keeps it: both go together when nobody needs them."""
    if "_self_tracked_class" not in vars(cls):
        names = {"_plain_class": cls, "__module__": cls.__module__, "__qualname__": cls.__qualname__}
        cls._self_tracked_class = type(cls.__name__, (_NamedTupleWrapper, cls), names)
    return cls._self_tracked_class


def _tracked_tuple(value):
    """TF: a tuple without anything to track stays as it is."""
    tracked = [wrap(part) for part in value]
    return _TupleWrapper(value) if any(isinstance(part, Trackable) for part in tracked) else value


def track_containers():
    """Let what is in lists, dictionaries and tuples that are assigned to trackable objects be tracked."""
    register_container(list, ListWrapper)
    register_container(dict, _DictWrapper)
    register_container(collections.OrderedDict, _DictWrapper)
    register_container(tuple, _tracked_tuple)
    register_container(NAMED_TUPLE, _tracked_named_tuple)
