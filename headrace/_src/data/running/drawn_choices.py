"""The choices of `Dataset.sample_from_datasets`: many are drawn at once, the same as one after another."""

from __future__ import annotations

import numpy as np

from headrace._src.data.running.stages import Cursor, Run, Stage
from headrace._src.data.sources.random_numbers import RandomStage
from headrace._src.data.transformations.batching import BatchStage
from headrace._src.data.transformations.mapping import MapStage
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.op.batching import value_of
from headrace._src.ops.arrays.filling import CONST
from headrace._src.ops.arrays.slicing import STRIDED_SLICE
from headrace._src.ops.random.distributions import STATELESS_MULTINOMIAL
from headrace._src.ops.random.samplers import draw_with_keys
from headrace._src.ops.random.seeds import keys_and_counters

_FIRST, _MOST = 16, 1024  # that are drawn at once


class DrawnChoices:
    """Numbers drawn with fixed probabilities, each with a pair of seeds that another stage draws.

    Args:
        seeds: a `RandomStage`.
        logits: the logarithms of the probabilities, of shape (1, n).
    """

    def __init__(self, seeds: RandomStage, logits: np.ndarray):
        self._seeds = seeds
        working = logits[0].astype(np.float64)
        finite = np.isfinite(working)
        weights = np.exp(working - np.where(finite, working, -np.inf).max())
        weights[~finite] = 0.0
        self._cumulative = weights.cumsum()

    def cursor(self, run: Run) -> _DrawnCursor:
        """A new walk."""
        return _DrawnCursor(self, self._seeds.cursor(run))

    def of_seeds(self, seeds: np.ndarray) -> np.ndarray:
        """The numbers for pairs of seeds."""
        draws = draw_with_keys("uniform", *keys_and_counters(seeds), (), np.float64)
        draws *= self._cumulative[-1]
        return self._cumulative.searchsorted(draws, side="right")


class _DrawnCursor(Cursor):
    def __init__(self, choices, inner):
        self._choices = choices
        self._inner = inner
        self._drawn = np.empty(0, np.int64)
        self._at = 0
        self._next_count = _FIRST

    def _fill(self, count):
        count = max(count, self._next_count)
        self._next_count = min(2 * count, _MOST)
        self._drawn = self._choices.of_seeds(self._inner.block(2 * count)[0].reshape(count, 2))
        self._at = 0

    def next(self):
        if self._at == len(self._drawn):
            self._fill(1)
        self._at += 1
        return (self._drawn[self._at - 1],)

    def block(self, count):
        if self._at == len(self._drawn):
            self._fill(count)
        at = self._at
        self._at = min(at + count, len(self._drawn))
        return (self._drawn[at : self._at],)

    def skip(self, count):
        here = min(count, len(self._drawn) - self._at)
        self._at += here
        self._inner.skip(2 * (count - here))
        return count

    def state(self):
        return {"ahead": self._drawn[self._at :].copy(), "inner": self._inner.state()}

    def restore(self, state):
        self._drawn, self._at = state["ahead"], 0
        self._inner.restore(state["inner"])

    def close(self):
        self._inner.close()


def drawn_choices(selector: Stage) -> DrawnChoices | None:
    """The choices of a selector that `sample_from_datasets` made with fixed weights; None for others."""
    if type(selector) is not MapStage or type(selector.source) is not BatchStage or selector.source.size != 2:
        return None
    seeds = selector.source.source
    if type(seeds) is not RandomStage:
        return None
    function = selector.function
    graph = function.graph
    drawing = [node for node in graph.base.nodes if node.record not in (PLACEHOLDER, CONST)]
    if [node.record for node in drawing] != [STATELESS_MULTINOMIAL, STRIDED_SLICE]:
        return None
    draw, pick = drawing
    logits, samples, pair = draw.inputs
    # Whatever scalar is taken from the only one that is drawn, it is that one.
    is_one = draw.outputs[0].shape.as_list() == [1, 1] and pick.inputs[0] is draw.outputs[0]
    if not is_one or graph.outputs[0] is not pick.outputs[0] or pick.outputs[0].shape.rank != 0:
        return None
    if pair is not graph.inputs[0] or value_of(samples) != 1:
        return None
    for place, value in zip(graph.inputs[1:], function.captured):
        if logits is place:
            return DrawnChoices(seeds, value)
    known = value_of(logits)
    return None if known is None else DrawnChoices(seeds, known)
