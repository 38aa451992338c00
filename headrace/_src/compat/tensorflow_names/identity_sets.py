"""`tensorflow.python.util.object_identity`: sets and dictionaries of things that are the same only if they are one."""

import collections.abc
import weakref
from typing import Any

from headrace._src.core.reference import Reference


class _WeakReference(Reference):
    """A reference that does not keep its object."""

    __slots__ = ()

    def __init__(self, wrapped):
        super().__init__(weakref.ref(wrapped))

    def deref(self):
        """The object, or None once it has gone."""
        return self._object()

    def __hash__(self):
        return hash(id(self._object()))

    unwrapped = property(deref)


class ObjectIdentityDictionary(collections.abc.MutableMapping):
    """A dictionary whose keys are compared by identity; they need not be hashable."""

    def __init__(self, *args, **kwargs):
        self._storage: dict[Any, Any] = {}
        self.update(dict(*args, **kwargs))

    def _wrap_key(self, key):
        return Reference(key)

    def __getitem__(self, key):
        return self._storage[self._wrap_key(key)]

    def __setitem__(self, key, value):
        self._storage[self._wrap_key(key)] = value

    def __delitem__(self, key):
        del self._storage[self._wrap_key(key)]

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        for key in list(self._storage):
            yield key.deref()

    def __repr__(self):
        return f"ObjectIdentityDictionary({self._storage!r})"


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """The same that does not keep its keys."""

    def _wrap_key(self, key):
        return _WeakReference(key)

    def __len__(self):
        return len(list(iter(self)))

    def __iter__(self):
        for key in list(self._storage):
            value = key.deref()
            if value is None:
                del self._storage[key]
            else:
                yield value


class ObjectIdentitySet(collections.abc.MutableSet):
    """A set whose elements are compared by identity; they need not be hashable."""

    def __init__(self, *args):
        self._storage = {self._wrap_key(element) for element in (args[0] if args else ())}

    @classmethod
    def _from_storage(cls, storage):
        made = cls()
        made._storage = storage
        return made

    def _wrap_key(self, key):
        return Reference(key)

    def __contains__(self, key):
        return self._wrap_key(key) in self._storage

    def discard(self, key):
        """Take an element out if it is there."""
        self._storage.discard(self._wrap_key(key))

    def add(self, key):
        """Put an element in."""
        self._storage.add(self._wrap_key(key))

    def update(self, items):
        """Put elements in."""
        self._storage.update([self._wrap_key(item) for item in items])

    def clear(self):
        """Take all elements out."""
        self._storage.clear()

    def intersection(self, items):
        """The elements that are also among these."""
        return self._from_storage(self._storage.intersection([self._wrap_key(item) for item in items]))

    def difference(self, items):
        """The elements that are not among these."""
        return self._from_storage(self._storage.difference([self._wrap_key(item) for item in items]))

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        for key in list(self._storage):
            yield key.deref()


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """The same that does not keep its elements."""

    def _wrap_key(self, key):
        return _WeakReference(key)

    def __len__(self):
        return len([1 for _ in self])

    def __iter__(self):
        for key in list(self._storage):
            value = key.deref()
            if value is None:
                self._storage.discard(key)
            else:
                yield value
