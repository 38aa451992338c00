"""`Dataset.repeat`: the elements several times over, or without end."""

import sys

import numpy as np

from headrace._src.core import dtypes
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, constant, dataset_op, integer, method
from headrace._src.data.running.cursor_choice import REPEAT, chosen
from headrace._src.data.running.cursors import UNCOUNTED
from headrace._src.data.running.stages import (
    INFINITE,
    UNKNOWN,
    Access,
    Cursor,
    Stage,
    shapes_of,
    stage_of,
)


class _Repeated(Access):
    def __init__(self, access, size):
        self._access = access
        self._round = access.size
        self.size = size

    def get(self, index):
        return self._access.get(index % self._round)

    def gather(self, indices):
        return self._access.gather(indices % self._round)

    def slice(self, start, stop):
        first = start % self._round
        last = first + stop - start
        if last <= self._round:
            return self._access.slice(first, last)
        return self._access.gather(np.arange(first, last) % self._round)


class RepeatStage(Stage):
    """The elements of the input `count` times, or without end when that is negative."""

    method = "Dataset.repeat"
    passes_on = True

    def __init__(self, source, count, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.count = count

    def cardinality(self):
        size = self.source.cardinality()
        if self.count < 0:
            return 0 if size == 0 else INFINITE
        if self.count == 0:
            return 0
        if size in (INFINITE, UNKNOWN):
            return size
        return size * self.count

    @property
    def access(self):
        access = self.source.access
        if access is None or self.count < 0:
            return None
        return _Repeated(access, access.size * self.count)

    @property
    def has_blocks(self):
        return self.source.has_blocks

    @property
    def reads_ahead(self):
        return self.source.reads_ahead

    def walk(self, run):
        return chosen(REPEAT, self, run)

    @property
    def endless_access(self) -> Access | None:
        """Elements by number as if they never ended; None where there are none."""
        access = self.source.access
        return _Repeated(access, sys.maxsize) if access is not None and access.size else None


def _draws_seeds(stage):
    """Whether each walk through a stage draws the seeds of a shuffle."""
    return stage.seeds is not None or any(_draws_seeds(before) for before in stage.inputs)


class RepeatCursor(Cursor):
    def __init__(self, stage, run):
        self._stage = stage
        self._run = run
        self._round = 0
        # At once, and not when the first element is asked for: seeds of shuffles are drawn in the order of iterators.
        self._inner = stage.source.cursor(run) if stage.count else None
        self._is_empty = True  # whether this round has had no element yet
        self._passed = 0  # elements of all rounds

    def _pull(self, read):
        stage = self._stage
        while stage.count < 0 or self._round < stage.count:
            found = None if self._inner is None else read(self._inner)
            if found is not None:
                self._is_empty = False
                return found
            if self._inner is None or (self._is_empty and stage.count < 0):
                break  # of nothing, an endless repetition is nothing
            self._end_round()
        return None

    def _end_round(self):
        stage = self._stage
        self._inner.close()
        self._inner = None
        self._round += 1
        self._is_empty = True
        if stage.count < 0 or self._round < stage.count:
            self._inner = stage.source.cursor(self._run)
        elif stage.count > 1 and stage.source.fuses_with != stage.method and _draws_seeds(stage.source):
            # TF: one more walk begins than there are rounds, and takes its seeds; a single round is left out.
            stage.source.cursor(self._run).close()

    def next(self):
        element = self._pull(lambda inner: inner.next())
        self._passed += element is not None
        return element

    def block(self, count):
        block = self._pull(lambda inner: inner.block(count))
        self._passed += 0 if block is None else block[0].shape[0]
        return block

    def skip(self, count):
        left = count
        while left:
            stage = self._stage
            if stage.count >= 0 and self._round >= stage.count:
                break
            if self._inner is None:
                break
            done = self._inner.skip(left)
            left -= done
            self._is_empty = self._is_empty and not done
            if left:
                if self._is_empty and stage.count < 0:
                    break
                self._end_round()
        self._passed += count - left
        return count - left

    def state(self):
        inner = None if self._inner is None else self._inner.state()
        return {"round": self._round, "is_empty": self._is_empty, "passed": self._passed, "inner": inner}

    def restore(self, state):
        self._round, self._is_empty = state["round"], state["is_empty"]
        self._passed = state.get("passed", UNCOUNTED)
        self.close()
        self._inner = None
        if state["inner"] is not None:
            self._inner = self._stage.source.cursor(self._run)
            self._inner.restore(state["inner"])

    def close(self):
        if self._inner is not None:
            self._inner.close()


def _make(input_dataset, count, output_types, output_shapes, metadata):
    return RepeatStage(stage_of(input_dataset), integer(count, "count"), shapes_of(output_shapes))


REPEAT_DATASET = dataset_op("RepeatDataset", f"input_dataset: variant, count: int64, *, {OUTPUTS}", _make)


@method
def repeat(self, count=None, name=None) -> DatasetV2:
    """The elements several times over.

    Args:
        count: how many times; None or -1 for without end.
        name: a name for the operation.

    >>> [int(x) for x in tf.data.Dataset.range(2).repeat(2)]
    [0, 1, 0, 1]
    """
    count = constant(-1 if count is None else count, dtypes.int64)
    return build("_RepeatDataset", REPEAT_DATASET, self, count, spec=self.element_spec, of=[self], name=name)
