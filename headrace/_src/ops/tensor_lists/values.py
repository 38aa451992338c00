"""`TensorList`: what a variant tensor that stands for a list of tensors holds.

A list never changes: pushing or setting an element makes a new list, and the old one keeps its contents. Yet the usual
way, in which only the newest list is used, takes constant time for each step (Baker's persistent arrays): the newest
list owns the storage, and the list that it was made from becomes a difference to it.
"""

import threading

import numpy as np

from headrace._src.core import errors, operating_system

# Guards the links between lists. It is held while references are moved, never while arrays are copied.
_lock = threading.RLock()


def _renew_lock():
    # A thread that held it does not exist in a forked child.
    global _lock
    _lock = threading.RLock()


operating_system.at_fork(in_child=_renew_lock)

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
        pattern: None, or a list whose elements are zeros here, where nothing else is set. Zeros are often made and
            seldom read: a loop makes them in each iteration for each list that it does not change.
    """

    # `_items` holds index to array where one is set, in the list that owns the storage; it is None in others, which
    # are like `_next` except for the element at `_index`: there it is `_value` (_MISSING: it is not set).
    __slots__ = ("__weakref__", "_index", "_items", "_next", "_value", "dtype", "length", "limit", "pattern", "shape")

    def __init__(self, dtype, shape, items, length, limit=-1, pattern=None):
        self.dtype = dtype
        self.shape = shape
        self.limit = limit
        self.length = length
        self.pattern = pattern
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
            array = self._own().get(index)
        if array is None and self.pattern is not None:
            zero = self.pattern.get(index)
            return None if zero is None else zeros_like(zero)
        return array

    def as_dict(self) -> dict:
        """Index to array, for those that are set."""
        with _lock:
            items = dict(self._own())
        if self.pattern is not None:
            zeros = {index: zeros_like(array) for index, array in self.pattern.as_dict().items() if index < self.length}
            return zeros | items
        return items

    def arrays(self) -> list:
        """All arrays, None where none is set."""
        if self.pattern is not None:
            get = self.as_dict().get
            return [get(i) for i in range(self.length)]
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
            length = self.length if length is None else length
            newer = TensorList(self.dtype, self.shape, items, length, self.limit, self.pattern)
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
        with _lock:
            items = self._own() | changes
        length = self.length if length is None else length
        return TensorList(self.dtype, self.shape, items, length, self.limit, self.pattern)

    def resized(self, length) -> "TensorList":
        """A list cut off or filled up with elements that are not set."""
        if length == self.length:
            return self
        if length == self.length - 1 and self.pattern is None:
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
        a, b = self, other
        if a.pattern is not None and b.pattern is not None and a.pattern is not b.pattern:
            b = TensorList(b.dtype, b.shape, b.as_dict(), b.length, b.limit)
        pattern = b.pattern if a.pattern is None else a.pattern
        # An element that is not set counts as zeros, so only those of the sparser list are work.
        with _lock:
            few, many = (a, b) if len(a._own()) < len(b._own()) else (b, a)
            changes, items = dict(few._own()), many._own()
            present = {index: items[index] for index in changes if index in items}
        for index, array in present.items():
            changes[index] = _sum(changes[index], array)
        total = many.with_items(changes) if changes else many
        if total.shape != shape or total.pattern is not pattern:
            with _lock:
                total = TensorList(total.dtype, shape, dict(total._own()), total.length, total.limit, pattern)
        return total

    def zeros_like(self) -> "TensorList":
        """A list of zeros, for each element that is set."""
        if self.pattern is None:
            return TensorList(self.dtype, self.shape, {}, self.length, self.limit, self)
        with _lock:
            nothing = not self._own()
        if nothing:
            return self
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
