"""`Dataset.map` with results whose sizes differ, over cheap sources: computed for whole blocks."""

from __future__ import annotations

from headrace._src.core import errors
from headrace._src.data.running.block_mapping import MapAhead
from headrace._src.data.running.ragged_columns import (
    columns_of,
    columns_of_one,
    joined_columns,
    restored_part,
    saved_part,
)


class RaggedMap(MapAhead):
    """A function of each element, computed for whole blocks of columns.

    Args:
        stage: a `MapStage` with a function of columns.
        run: of the walk.
    """

    def __init__(self, stage, run):
        source = stage.source
        inner = source.cursor(run)
        by_columns = source.has_columns
        super().__init__(stage, inner, by_columns or (source.has_blocks and not any(stage.elements_are_ragged)))
        self._read_block = inner.columns if by_columns else inner.block

    def _read(self, count):
        parts: list = []
        try:
            if not self._by_blocks:
                while len(parts) < count and (element := self._inner.next()) is not None:
                    parts.append(element)
            while self._by_blocks and count and (block := self._read_block(count)) is not None:
                parts.append(block)
                count -= block[0].shape[0]
        except errors.OpError as error:
            if not parts:
                raise
            self._failure = error
        if not parts:
            return None
        return joined_columns(parts) if self._by_blocks else columns_of(parts, self._stage.elements_are_ragged)

    def state(self):
        state = super().state()
        if "rest" in state:
            state["rest"] = [saved_part(part) for part in state["rest"]]
        return state

    def restore(self, state):
        if "rest" in state:
            state = {**state, "rest": [restored_part(part) for part in state["rest"]]}
        super().restore(state)

    def _compute(self):
        self._results = self._stage.function_of_columns(self._block)

    def _cut(self, at):
        # Copied, so that an element that is kept does not keep those around it.
        return tuple([part.copy() for part in super()._cut(at)])

    def columns(self, count):
        """Between one and `count` elements as columns; None when there is none left."""
        if not self._ready(count):
            return None
        if self._results is None:
            return columns_of_one(self._one(), self._stage.columns_are_ragged)
        return self._several(count)
