"""`Dataset.map` with results whose sizes differ, over cheap sources: computed for whole blocks."""

from __future__ import annotations

from headrace._src.core import errors
from headrace._src.data.ragged_columns import column_of_one, joined_columns
from headrace._src.data.reading_ahead import Ahead


class RaggedMap(Ahead):
    """A function of each element, computed for whole blocks of columns.

    Args:
        stage: a `MapStage` with a function of columns.
        run: of the walk.
    """

    def __init__(self, stage, run):
        source = stage.source
        super().__init__(source.cursor(run), source.has_blocks or source.has_columns)
        self._stage = stage
        self._read_block = self._inner.columns if source.has_columns else self._inner.block
        self._results: tuple | None = None  # of the block; None when the function is called for each element

    def _read(self, count):
        if not self._by_blocks:
            return super()._read(count)
        blocks: list = []
        try:
            while count and (block := self._read_block(count)) is not None:
                blocks.append(block)
                count -= block[0].shape[0]
        except errors.OpError as error:
            if not blocks:
                raise
            self._failure = error
        return joined_columns(blocks) if blocks else None

    def _compute(self):
        self._results = self._stage.function_of_columns(self._block)

    def _ready(self, count):
        """Whether there are elements to give out."""
        while self._at == self._count:
            self._check()
            if self._fill(count) is None:
                return False
        return True

    def _one(self):
        at = self._at
        self._at, self._number = at + 1, self._number + 1
        if self._results is not None:
            return tuple([part[at, ...] for part in self._results])
        try:
            return self._stage.function(tuple([part[at, ...] for part in self._block]))
        except Exception as error:
            self._stage.failed(self._number - 1, error)

    def next(self):
        return self._one() if self._ready(1) else None

    def columns(self, count):
        """Between one and `count` elements as columns; None when there is none left."""
        if not self._ready(count):
            return None
        if self._results is None:
            kinds = self._stage.columns_are_ragged
            parts = zip(self._one(), kinds)
            return tuple([column_of_one(part) if ragged else part[None] for part, ragged in parts])
        at = self._at
        self._at = min(at + count, self._count)
        self._number += self._at - at
        return tuple([part[at : self._at] for part in self._results])

    def skip(self, count):
        self._check()
        here = min(count, self._count - self._at)
        self._at += here
        more = self._inner.skip(count - here) if here < count else 0
        if here < count:
            self._drop()
        self._number += here + more
        return here + more
