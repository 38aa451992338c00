"""Hashable references to tensors and variables, which are compared by value and so cannot be keys."""



class Reference:
    """What `tensor.ref()` returns: compares and hashes by identity of the object that it holds."""

    __slots__ = ("__weakref__", "_object")

    def __init__(self, wrapped):
        self._object = wrapped

    def deref(self):
        """The object that `ref()` was called on."""
        return self._object

    def __eq__(self, other):
        if not isinstance(other, Reference):
            return NotImplemented
        return self.deref() is other.deref()

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __lt__(self, other):
        """An order, so that nest can visit a dict with such keys: that of the objects in memory, as in TensorFlow."""
        return id(self._object) < id(other._object) if isinstance(other, Reference) else NotImplemented

    def __hash__(self):
        return id(self._object)

    def __repr__(self):
        return f"<Reference wrapping {self._object!r}>"
