"""`Dataset.repeat`: the elements several times over, or without end."""

from headrace._src.core import dtypes
from headrace._src.data.datasets import OUTPUTS, build, dataset_op, integer, method
from headrace._src.data.functions import constant
from headrace._src.data.stages import INFINITE, UNKNOWN, Cursor, Stage, shapes_of, stage_of


class RepeatStage(Stage):
    """The elements of the input `count` times, or without end when that is negative."""

    method = "Dataset.repeat"

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
    def has_blocks(self):
        return self.source.has_blocks

    @property
    def reads_ahead(self):
        return self.source.reads_ahead

    def walk(self, run):
        return _RepeatCursor(self, run)


class _RepeatCursor(Cursor):
    def __init__(self, stage, run):
        self._stage = stage
        self._run = run
        self._round = 0
        self._inner = None
        self._is_empty = True  # whether this round has had no element yet

    def _pull(self, read):
        stage = self._stage
        while stage.count < 0 or self._round < stage.count:
            if self._inner is None:
                self._inner = stage.source.cursor(self._run)
                self._is_empty = True
            found = read(self._inner)
            if found is not None:
                self._is_empty = False
                return found
            self._end_round()
            if self._is_empty and stage.count < 0:
                break  # of nothing, an endless repetition is nothing
        return None

    def _end_round(self):
        self._inner.close()
        self._inner = None
        self._round += 1

    def next(self):
        return self._pull(lambda inner: inner.next())

    def block(self, count):
        return self._pull(lambda inner: inner.block(count))

    def skip(self, count):
        left = count
        while left:
            stage = self._stage
            if stage.count >= 0 and self._round >= stage.count:
                break
            if self._inner is None:
                self._inner = stage.source.cursor(self._run)
            done = self._inner.skip(left)
            left -= done
            if left:
                self._end_round()
                if not done and stage.count < 0 and stage.source.cardinality() == 0:
                    break
        return count - left

    def state(self):
        return {"round": self._round, "inner": None if self._inner is None else self._inner.state()}

    def restore(self, state):
        self._round = state["round"]
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
def repeat(self, count=None, name=None):
    """The elements several times over.

    Args:
        count: how many times; None or -1 for without end.
        name: a name for the operation.

    >>> [int(x) for x in tf.data.Dataset.range(2).repeat(2)]
    [0, 1, 0, 1]
    """
    count = constant(-1 if count is None else count, dtypes.int64)
    return build("_RepeatDataset", REPEAT_DATASET, self, count, spec=self.element_spec, of=[self], name=name)
