"""Positions of iterators as TensorFlow saves them: what its iterators would remember where ours stand.

The state of each cursor becomes the values of the iterator that TensorFlow has for this step. Elements that wait are
put where TensorFlow keeps such: results of calls, buffers of prefetches and shuffles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace._src.data.running.ragged_columns import elements_of, restored_part
from headrace._src.data.running.stages import Run, Stage, stacked, stage_of
from headrace._src.data.saving import position_calls, position_passing
from headrace._src.data.saving.position_entries import Entries, NotForTensorFlow
from headrace._src.data.saving.position_states import is_counted, put_waiting
from headrace._src.data.saving.rearranged_steps import Rearrangement
from headrace._src.data.transformations.shuffling import seeds_kept

_ROOT = "Iterator::Root"
_RULES = {**position_calls.RULES, **position_passing.RULES}


def positions(state: dict, stage: Stage) -> Entries:
    """What TensorFlow would save where an iterator of ours stands.

    Args:
        state: of the iterator.
        stage: the last step of its pipeline.

    Raises:
        NotForTensorFlow: TensorFlow cannot go on from there.
    """
    if getattr(stage.options, "headrace_small_positions", None):
        raise NotForTensorFlow("the elements in buffers were not wanted")
    writer = _Writer(Rearrangement(stage.options), Run(stage.options))
    writer.run.call(writer.write_all, state, stage)
    return writer.entries


class _Writer:
    """Writes one iterator after another, from the last step of a pipeline to its sources."""

    def __init__(self, rearrangement: Rearrangement, run: Run, entries: Entries | None = None) -> None:
        self.entries = Entries() if entries is None else entries
        self.run = run
        self.first: list = []  # elements that come before those of the last step
        self._does = rearrangement

    def write_all(self, state, stage):
        cursor = None if state["ended"] else state["cursor"]
        self.first = list(state.get("first", ()))
        prefix = _ROOT
        if self._does.adds_prefetch and not self._does.ends_asynchronously(stage):
            prefix = f"{_ROOT}::Prefetch"
            put_waiting(self, prefix, self.taken_first())
        self.write(stage, cursor, prefix)
        if self.first:
            raise NotForTensorFlow("elements that TensorFlow had read ahead wait, and nothing can hold them")

    def taken_first(self) -> list:
        """The elements that come before those of the last step, once."""
        first, self.first = self.first, []
        return first

    def write(self, stage: Stage, state: Any, prefix: str) -> None:
        """Write a step with those before it, whose iterators have names that begin with the prefix."""
        stage, state = self.present(stage, state)
        kind = self._does.kind(stage)
        _RULES[kind](self, stage, state, f"{prefix}::{kind}")

    def write_inner(self, stage: Stage, state: Any, prefix: str) -> None:
        """Write a pipeline that a function of this one has made."""
        _Writer(self._does.inside(), self.run, self.entries).write(stage, state, prefix)

    def present(self, stage: Stage, state: Any) -> tuple[Stage, Any]:
        """The first step that has an iterator, and its state."""
        while self._does.is_left_out(stage):
            stage, state = stage.inputs[0], self.below_idle(stage, state)
        return stage, state

    def below_idle(self, stage, state):
        if stage.method == "Dataset.with_options" or state is None or is_counted(state):
            return state
        if stage.method == "Dataset.map":
            below, results = self.before_map(stage, state)
            if results:
                raise NotForTensorFlow(f"elements of {stage.where()} wait, which TensorFlow leaves out")
            return below
        return state["inner"]

    # States that stand elsewhere.

    def advanced(self, stage: Stage, state: Any, count: int) -> Any:
        """The state of a step after so many more elements, none of which is computed where that is not necessary."""
        if not count or state is None:
            return state
        if is_counted(state):
            return {"at": state["at"] + count}
        return self.of_new_cursor(stage, lambda cursor: (cursor.restore(state), cursor.skip(count)))

    def of_new_cursor(self, stage: Stage, prepare: Callable[[Any], Any]) -> Any:
        """The state of a cursor of its own, after something was done with it."""
        with seeds_kept(stage):
            cursor = stage.cursor(self.run)
            try:
                prepare(cursor)
                return cursor.state()
            finally:
                cursor.close()

    def before_map(self, stage: Any, state: Any) -> tuple[Any, list]:
        """The state of the step before a map, and results of the map that wait."""
        if state is None or is_counted(state):
            return state, []
        if "given" in state:
            return self._behind_block(stage, state)
        below, results = state["inner"], [element for _, element in state.get("done", ())]
        if isinstance(below, dict) and below.get("is_parsed"):
            below, more = self._behind_block(stage, below)
            results += more
        return below, results

    def _behind_block(self, stage, state):
        """The same for a cursor that reads blocks: elements of the input wait, or are read again."""
        by_batches = state.get("is_batched", False)
        source = stage.source.source if by_batches else stage.source
        below = self.advanced(source, state["inner"], state["given"])
        waiting = tuple(restored_part(part) for part in state.get("rest", ()))
        elements: list = elements_of(waiting) if waiting else []
        if by_batches:
            size = stage.source.size
            elements = [stacked(elements[i : i + size]) for i in range(0, len(elements), size)]
            below = {"inner": below}
        return below, [stage.function(element) for element in elements]

    def opened(self, stage: Any, saved: dict) -> Stage:
        """The pipeline that a function has made of an element."""
        stage.function.restore(saved["random"])
        (variant,) = stage.function(tuple(saved["element"]))
        return stage_of(variant)
