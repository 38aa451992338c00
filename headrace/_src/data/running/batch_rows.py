"""Elements that are made in the memory of the batch that they are for, so that nothing is copied to stack them."""

from __future__ import annotations

import numpy as np

# Bytes of an element below which stacking is faster than what is done here for each row.
_SMALLEST = 1 << 14


class Row(tuple):
    """An element in the memory of a batch."""

    batch: list
    place: int


class Rows:
    """The rows of batches, in order.

    Args:
        size: of a batch.
        first: the number of the element that begins a batch.
        types: the shape and the dtype of each component.
    """

    def __init__(self, size: int, first: int, types: list):
        self._size = size
        self._first = first
        self._types = types
        self._number = -1  # of the batch whose memory this is
        self._batch: list = []

    def row(self, number: int) -> Row:
        """The place for an element; elements are asked for in order."""
        number, place = divmod(number - self._first, self._size)
        if number != self._number:
            self._batch = [np.empty((self._size, *shape), dtype) for shape, dtype in self._types]
            self._number = number
        row = Row([part[place, ...] for part in self._batch])
        row.batch, row.place = self._batch, place
        return row


def rows_for(size: int, first: int, element) -> Rows | None:
    """Rows for elements such as this one; None when they are small, or have strings or objects."""
    if type(element) is not tuple or any(part.dtype.hasobject for part in element):
        return None
    if sum(part.nbytes for part in element) < _SMALLEST:
        return None
    return Rows(size, first, [(part.shape, part.dtype) for part in element])


def put(row: Row, element: tuple) -> bool:
    """Copy an element to a row; False when it has another form."""
    if any(part.shape != place.shape or part.dtype != place.dtype for place, part in zip(row, element)):
        return False
    for place, part in zip(row, element):
        place[...] = part
    return True


def batch_of(elements: list) -> tuple | None:
    """The batch whose first rows these elements are; None when they are something else."""
    if type(elements[0]) is not Row:
        return None
    batch, size = elements[0].batch, len(elements)
    if any(type(row) is not Row or row.batch is not batch or row.place != i for i, row in enumerate(elements)):
        return None
    return tuple([part if len(part) == size else part[:size] for part in batch])
