"""`TensorList`: what a variant tensor that stands for a list of tensors holds.

A list never changes: pushing or setting an element makes a new list, and the old one keeps its contents. Yet the usual
way, in which only the newest list is used, takes constant time for each step (Baker's persistent arrays): the newest
list owns the storage, and the list that it was made from becomes a difference to it.
"""

import os
import threading

import numpy as np

from headrace._src.core import errors

# Guards the links between lists. It is held while references are moved, never while arrays are copied.
_lock = threading.RLock()


def _renew_lock():
    # A thread that held it does not exist in a forked child.
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

# A list that lies further back than this from the one that owns the storage, squared, gets a storage of its own
# when that is no more work. So reading a list while another one is built from it does not take quadratic time.
_NEAR = 64

_MISSING = object()


class TensorList:
    """Arrays of one dtype, some of them perhaps not set yet.

    Attributes:
        dtype: NumPy's dtype of the elements.
        shape: what is declared about the elements' shape: a tuple of ints and None, or None.
        limit: how many elements there may be; -1 for any number.
        length: how many there are.
    """

    # `_items` holds index to array where one is set, in the list that owns the storage; it is None in others, which
    # are like `_next` except for the element at `_index`: there it is `_value` (_MISSING: it is not set).
    __slots__ = ("__weakref__", "_index", "_items", "_next", "_value", "dtype", "length", "limit", "shape")

    def __init__(self, dtype, shape, items, length, limit=-1):
        self.dtype = dtype
        self.shape = shape
        self.limit = limit
        self.length = length
        self._items = items
        self._next = None
        self._index = None
        self._value = None

    def __repr__(self):
        return "<TensorList>"

    def __reduce__(self):
        return TensorList, (self.dtype, self.shape, self.as_dict(), self.length, self.limit)

    def __len__(self):
        return self.length

    # Reading.

    def get(self, index):
        """The array at an index, None when it is not set."""
        with _lock:
            return self._own().get(index)

    def as_dict(self) -> dict:
        """Index to array, for those that are set."""
        with _lock:
            return dict(self._own())

    def arrays(self) -> list:
        """All arrays, None where none is set."""
        with _lock:
            get = self._own().get
            return [get(i) for i in range(self.length)]

    def _own(self):
        """The items, after making this list own its storage."""
        if self._items is not None:
            return self._items
        path, at = [], self
        while at._items is None:
            path.append(at)
            at = at._next
        items = at._items
        if len(path) ** 2 > max(len(items), _NEAR):
            items = dict(items)
            for older in reversed(path):
                older._put(items)
            self._items = items
            self._next = self._index = self._value = None
            return items
        # Move the storage here, one step at a time, turning the links around.
        for older in reversed(path):
            newer = older._next
            newer._next, newer._index = older, older._index
            newer._value = items.get(older._index, _MISSING)
            newer._items = None
            older._put(items)
            older._items = items
            older._next = older._index = older._value = None
        return items

    def _put(self, items):
        if self._value is _MISSING:
            items.pop(self._index, None)
        else:
            items[self._index] = self._value

    # New lists.

    def with_item(self, index, array, length=None) -> "TensorList":
        """A list with another element at `index` (None: not set), and another length."""
        with _lock:
            items = self._own()
            newer = TensorList(
                self.dtype, self.shape, items, self.length if length is None else length, self.limit
            )
            self._items, self._next, self._index = None, newer, index
            self._value = items.get(index, _MISSING)
            if array is None:
                items.pop(index, None)
            else:
                items[index] = array
            return newer

    def with_items(self, changes: dict, length=None) -> "TensorList":
        """A list with these elements at these indices."""
        if len(changes) == 1:
            ((index, array),) = changes.items()
            return self.with_item(index, array, length)
        items = self.as_dict()
        items.update(changes)
        return TensorList(self.dtype, self.shape, items, self.length if length is None else length, self.limit)

    def resized(self, length) -> "TensorList":
        """A list cut off or filled up with elements that are not set."""
        if length == self.length:
            return self
        if length == self.length - 1:
            return self.with_item(length, None, length)
        items = self.as_dict()
        if length < self.length:
            items = {index: array for index, array in items.items() if index < length}
        return TensorList(self.dtype, self.shape, items, length, self.limit)

    # What AddN and ZerosLike need.

    def __add__(self, other):
        if not isinstance(other, TensorList):
            return NotImplemented
        if self.dtype != other.dtype:
            raise errors.invalid_argument(
                f"AddN: Trying to add two lists of tensors of different dtypes: {self.dtype} and {other.dtype}."
            )
        if self.length != other.length:
            raise errors.invalid_argument(
                "AddN: Trying to add two lists of tensors with different lengths. "
                f"One is {self.length} and the other is {other.length}."
            )
        shape = merged(self.shape, other.shape)
        if shape is False:
            raise errors.invalid_argument(
                "AddN: Trying to add two lists of tensors with incompatible element shapes. "
                f"One is {shape_text(self.shape)} and the other is {shape_text(other.shape)}."
            )
        # An element that is not set counts as zeros, so only those of the sparser list are work.
        with _lock:
            few, many = (self, other) if len(self._own()) < len(other._own()) else (other, self)
        changes = {}
        for index, array in few.as_dict().items():
            present = many.get(index)
            changes[index] = array if present is None else _sum(array, present)
        if not changes and many.shape == shape:
            return many
        total = many.with_items(changes) if changes else many
        if total.shape != shape:
            total = TensorList(total.dtype, shape, total.as_dict(), total.length, total.limit)
        return total

    def zeros_like(self) -> "TensorList":
        """A list of zeros, for each element that is set."""
        items = {index: zeros_like(array) for index, array in self.as_dict().items()}
        return TensorList(self.dtype, self.shape, items, self.length, self.limit)


def _sum(a, b):
    if a.shape != b.shape:
        raise errors.invalid_argument(
            "AddN: Trying to add two tensors with incompatible element shapes. "
            f"One is {list(a.shape)} and the other is {list(b.shape)}."
        )
    if a.dtype == object:
        return add_variants(a, b)
    return np.asarray(np.add(a, b))


def add_variants(a, b):
    """The sums of the elements of two variant tensors; what holds nothing counts as zero."""
    result = np.empty(a.shape, object)
    for place in np.ndindex(a.shape):
        x, y = a[place], b[place]
        result[place] = y if x is None else x if y is None else x + y
    return result


def zeros_like(array):
    """Zeros for an array of any dtype; empty strings, and zeros of what variants hold."""
    if array.dtype != object:
        return np.zeros(array.shape, array.dtype)
    result = np.empty(array.shape, object)
    for place in np.ndindex(array.shape):
        item = array[place]
        if isinstance(item, (bytes, str)):
            result[place] = b""
        elif item is not None:
            if not hasattr(item, "zeros_like"):
                raise errors.internal(f"ZerosLike: x holds a {type(item).__name__}, of which there are no zeros.")
            result[place] = item.zeros_like()
    return result


def boxed(value) -> np.ndarray:
    """A variant scalar that holds the value."""
    array = np.empty((), object)
    array[()] = value
    return array


# Shapes are tuples of ints and None here, or None where even the rank is unknown.


def shape_text(shape) -> str:
    """The shape as TensorFlow's messages write it."""
    if shape is None:
        return "<unknown>"
    return "[" + ",".join("?" if n is None else str(n) for n in shape) + "]"


def is_full(shape) -> bool:
    """Whether everything is known about a shape."""
    return shape is not None and None not in shape


def merged(a, b):
    """What two descriptions of a shape say together; False when they contradict each other."""
    if a is None or a == b:
        return b
    if b is None:
        return a
    if len(a) != len(b) or any(m is not None and n is not None and m != n for m, n in zip(a, b)):
        return False
    return tuple(n if m is None else m for m, n in zip(a, b))


def fits(shape, declared) -> bool:
    """Whether an array's shape is one of those that were declared."""
    if declared is None or shape == declared:
        return True
    return len(shape) == len(declared) and all(n is None or m == n for m, n in zip(shape, declared))
