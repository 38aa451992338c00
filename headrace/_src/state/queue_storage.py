"""Where the elements of a queue wait: in order, padded, by priority, or shuffled."""

import collections
import heapq
import itertools
import random
import threading

import numpy as np

from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape

# How long a waiting thread sleeps before it looks for signals such as Ctrl-C.
_LOOK = 0.2
_names = itertools.count()


class QueueStorage:
    """A queue of limited size whose elements are tuples of arrays; first in, first out.

    Args:
        dtypes: of the components.
        shapes: of the components as `TensorShape`; an empty list when they may have any.
        capacity: the most elements that it holds; any number when negative.
        name: for messages.
    """

    kind = "FIFOQueue"

    def __init__(self, dtypes, shapes, capacity, name):
        if shapes and len(shapes) != len(dtypes):
            raise errors.invalid_argument(
                f"{self.kind}: there must be as many shapes as component types, got {len(shapes)} and {len(dtypes)}."
            )
        self.dtypes = list(dtypes)
        self.shapes = shapes
        self.name = name or str(next(_names))
        self.closed = False
        self._cancelled = False
        self._waiting = 0  # threads that came before the queue was closed and still put elements in
        self._capacity = float("inf") if capacity < 0 else capacity
        self._changed = threading.Condition()
        # One thread puts and one takes at a time, so that what belongs together stays together.
        self._putting, self._taking = threading.Lock(), threading.Lock()
        self._elements = self._no_elements()

    # What kinds of queues differ in.

    def _no_elements(self):
        return collections.deque()

    def _put(self, element):
        self._elements.append(element)

    def _take(self):
        return self._elements.popleft()

    def _put_back(self, elements):
        self._elements.extendleft(reversed(elements))

    def _available(self):
        return len(self._elements)

    def _stacked(self, arrays, dtype, shape):
        if not arrays:
            return np.empty((0, *[n or 0 for n in shape.as_list()]), dtype._np)
        return np.stack(arrays)

    # What they share.

    def put(self, elements):
        """Add elements one after another, each as soon as there is room."""
        for element in elements:
            self._check(element)
        with self._changed:
            if self.closed:
                raise errors.CancelledError(None, None, f"{self.kind} '{self.name}' is closed.")
            self._waiting += 1
        with self._putting, self._changed:
            try:
                for element in elements:
                    while len(self._elements) >= self._capacity and not self._cancelled:
                        self._changed.wait(_LOOK)
                    if self._cancelled:
                        raise errors.CancelledError(None, None, "Enqueue operation was cancelled")
                    self._put(element)
                    self._changed.notify_all()
            finally:
                self._waiting -= 1
                self._changed.notify_all()

    def take(self, count=1, fewer=False):
        """Remove elements, waiting until so many have come; fewer may be had when the queue is closed.

        Raises:
            OutOfRangeError: when the queue is closed and has not enough elements.
        """
        elements = []
        with self._taking, self._changed:
            while len(elements) < count:
                if self._available() > 0:
                    elements.append(self._take())
                    self._changed.notify_all()
                elif self.closed and not self._waiting:
                    if fewer and elements:
                        break
                    have = len(elements)
                    self._put_back(elements)
                    raise errors.OutOfRangeError(
                        None, None,
                        f"{self.kind} '{self.name}' is closed and has insufficient elements "
                        f"(requested {count}, current size {have})",
                    )  # fmt: skip
                else:
                    self._changed.wait(_LOOK)
        return elements

    def take_batch(self, op, count, fewer):
        """As `take`, with each component stacked."""
        if count < 0:
            raise errors.invalid_argument(f"{op}: requested {count} < 0 elements.")
        self._check_batches(op)
        elements = self.take(count, fewer)
        return [
            self._stacked([element[i] for element in elements], dtype, shape)
            for i, (dtype, shape) in enumerate(zip(self.dtypes, self.shapes))
        ]

    def _check_batches(self, op):
        if not self.shapes or not all(shape.is_fully_defined() for shape in self.shapes):
            raise errors.invalid_argument(f"{op}: {self.kind}'s components must have fully known shapes for this.")

    def _check(self, element):
        if len(element) != len(self.dtypes):
            raise errors.invalid_argument(
                f"{self.kind}: an element must have {len(self.dtypes)} components, got {len(element)}."
            )
        for place, (array, dtype) in enumerate(zip(element, self.dtypes)):
            if array.dtype != dtype._np:
                raise errors.invalid_argument(
                    f"{self.kind}: component {place} must be {dtype.name}, got {array.dtype}."
                )
            if self.shapes and not self.shapes[place].is_compatible_with(array.shape):
                raise errors.invalid_argument(
                    f"{self.kind}: component {place} must have shape {self.shapes[place]}, got {array.shape}."
                )

    def close(self, cancel):
        """Take no more elements; those that wait to come in are refused if `cancel` is set."""
        with self._changed:
            if self.closed and not (cancel and not self._cancelled):
                raise errors.CancelledError(None, None, f"Queue '{self.name}' is already closed.")
            self.closed = True
            self._cancelled = self._cancelled or cancel
            self._changed.notify_all()

    def size(self) -> int:
        with self._changed:
            return len(self._elements)


class PaddingQueueStorage(QueueStorage):
    """A queue whose batches are as large as their largest element; the rest is zeros."""

    kind = "PaddingFIFOQueue"

    def _check_batches(self, op):
        pass

    def _stacked(self, arrays, dtype, shape):
        largest = [max([a.shape[i] for a in arrays], default=0) if n is None else n for i, n in enumerate(shape)]
        batch = np.full((len(arrays), *largest), b"" if dtype._kind == "s" else 0, dtype._np)
        for place, array in enumerate(arrays):
            batch[(place, *map(slice, array.shape))] = array
        return batch


class PriorityQueueStorage(QueueStorage):
    """A queue that gives the element with the smallest first component first."""

    kind = "PriorityQueue"

    def _no_elements(self):
        self._order = itertools.count()
        return []

    def _put(self, element):
        heapq.heappush(self._elements, (int(element[0]), next(self._order), element))

    def _take(self):
        return heapq.heappop(self._elements)[2]

    def _put_back(self, elements):
        for element in elements:
            self._put(element)


class ShuffleQueueStorage(QueueStorage):
    """A queue that gives any of its elements, and keeps some as long as it is open, to choose among."""

    kind = "RandomShuffleQueue"

    def __init__(self, dtypes, shapes, capacity, name, minimum, seeds):
        super().__init__(dtypes, shapes, capacity, name)
        if minimum < 0 or minimum >= self._capacity:
            raise errors.invalid_argument(
                f"RandomShuffleQueue: min_after_dequeue must be in [0, {self._capacity}), got {minimum}."
            )
        self._minimum = minimum
        self._random = random.Random(f"{seeds}") if any(seeds) else random.Random()

    def _no_elements(self):
        return []

    def _available(self):
        return len(self._elements) - (0 if self.closed else self._minimum)

    def _take(self):
        elements = self._elements
        place = self._random.randrange(len(elements))
        elements[place], elements[-1] = elements[-1], elements[place]
        return elements.pop()

    def _put_back(self, elements):
        self._elements.extend(elements)


def shapes_given(shapes):
    """The shapes attribute of a queue's op as `TensorShape`s."""
    return [TensorShape(shape) for shape in shapes or ()]
