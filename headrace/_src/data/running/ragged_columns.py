"""Blocks of elements whose sizes differ: columns of rows, from which elements are cut."""

from __future__ import annotations

import numpy as np

from headrace._src.data.running.stages import stacked


class RaggedColumn:
    """A component of many elements, whose first dimension may differ between them.

    It can be sliced and indexed like an array with one more dimension.

    Args:
        values: the rows of all elements, one after another.
        splits: where those of each element begin, and at last where they end.
    """

    __slots__ = ("shape", "splits", "values")

    def __init__(self, values: np.ndarray, splits: list[int]):
        self.values = values
        self.splits = splits
        self.shape = (len(splits) - 1,)

    def __getitem__(self, key):
        splits = self.splits
        if type(key) is slice:
            start, stop, _ = key.indices(len(splits) - 1)
            return RaggedColumn(self.values, splits[start : max(start, stop) + 1])
        at = key[0]  # with an ellipsis, as arrays are indexed
        return self.values[splits[at] : splits[at + 1]]

    @property
    def dtype(self):
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        return self.values[self.splits[0] : self.splits[-1]].nbytes

    def copy(self):
        """The same."""
        return self  # nobody writes to it

    def ravel(self):
        """The values alone."""
        return self.values[self.splits[0] : self.splits[-1]].ravel()

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """The values of these elements alone, and the splits beginning with 0."""
        splits = np.array(self.splits, np.int64)
        return self.values[splits[0] : splits[-1]], splits - splits[0]


def joined_columns(blocks: list) -> tuple:
    """Blocks with ragged columns, one after another."""
    if len(blocks) == 1:
        return blocks[0]
    return tuple([_join(parts) for parts in zip(*blocks)])


def _join(parts):
    if not any(isinstance(part, RaggedColumn) for part in parts):
        return np.concatenate(parts)
    values, splits = zip(*[as_column(part).arrays() for part in parts])
    ends = np.cumsum([0, *(len(part) for part in values)])
    whole = [own[:-1] + end for own, end in zip(splits, ends)]
    return RaggedColumn(np.concatenate(values), [*np.concatenate(whole).tolist(), int(ends[-1])])


def as_column(part) -> RaggedColumn:
    """Stacked elements of at least one dimension as a ragged column."""
    if isinstance(part, RaggedColumn):
        return part
    count, size = part.shape[:2]
    return RaggedColumn(part.reshape(count * size, *part.shape[2:]), [i * size for i in range(count + 1)])


def elements_of(block: tuple) -> list:
    """The elements of a block, some parts of which may be ragged columns."""
    return [tuple([part[i, ...] for part in block]) for i in range(block[0].shape[0])]


def columns_from(cursor, size: int) -> tuple | None:
    """So many elements of a cursor as a block, fewer at the end; None when there is none left."""
    blocks: list = []
    while size and (block := cursor.columns(size)) is not None:
        blocks.append(block)
        size -= block[0].shape[0]
    return joined_columns(blocks) if blocks else None


def stacked_columns(block: tuple) -> tuple:
    """A block with ragged columns as one without.

    Raises:
        InvalidArgumentError: elements differ in size.
    """
    found = []
    for part in block:
        if isinstance(part, RaggedColumn):
            values, splits = part.arrays()
            lengths = splits[1:] - splits[:-1]
            if (lengths != lengths[0]).any():
                return stacked(elements_of(block))  # says which one differs
            part = values.reshape(len(lengths), lengths[0], *values.shape[1:])
        found.append(part)
    return tuple(found)


def saved_part(part):
    """A part of a block as it is saved: arrays, and dicts of them."""
    if not isinstance(part, RaggedColumn):
        return part
    values, splits = part.arrays()
    return {"values": values.copy(), "splits": splits}


def restored_part(saved):
    """The opposite of `saved_part`."""
    return RaggedColumn(saved["values"], saved["splits"].tolist()) if isinstance(saved, dict) else saved


def columns_of(elements: list, are_ragged: list[bool]) -> tuple:
    """Elements as a block; of each part is said whether it is ragged."""
    dense = [i for i, ragged in enumerate(are_ragged) if not ragged]
    stack = iter(stacked([tuple([element[i] for i in dense]) for element in elements]))
    found: list = []
    for i, ragged in enumerate(are_ragged):
        if ragged:
            parts = [element[i] for element in elements]
            splits = np.cumsum([0, *map(len, parts)]).tolist()
            found.append(RaggedColumn(np.concatenate(parts), splits))
        else:
            found.append(next(stack))
    return tuple(found)


def columns_of_one(element: tuple, are_ragged: list[bool]) -> tuple:
    """One element as a block; of each part is said whether it is ragged."""
    pairs = zip(element, are_ragged)
    return tuple([RaggedColumn(part, [0, len(part)]) if ragged else part[None] for part, ragged in pairs])
