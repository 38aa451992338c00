"""`Dataset.take` and `Dataset.skip`: the first elements, and those after them."""

from headrace._src.core import dtypes
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, constant, dataset_op, integer, method
from headrace._src.data.running.stages import INFINITE, UNKNOWN, Access, Cursor, Stage, shapes_of, stage_of


class Part(Access):
    """Some consecutive elements of another access."""

    def __init__(self, access, start, size):
        self._access = access
        self._start = start
        self.size = size

    def get(self, index):
        return self._access.get(self._start + index)

    def gather(self, indices):
        return self._access.gather(indices + self._start if self._start else indices)

    def slice(self, start, stop):
        return self._access.slice(self._start + start, self._start + stop)

    def columns(self, start, stop):
        return self._access.columns(self._start + start, self._start + stop)


class TakeStage(Stage):
    """The first elements of the input; all when the count is negative."""

    method = "Dataset.take"
    passes_on = True

    def __init__(self, source, count, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.count = count

    def cardinality(self):
        size = self.source.cardinality()
        if self.count < 0:
            return size
        if size == INFINITE:
            return self.count
        if size == UNKNOWN:
            return UNKNOWN  # TF: also for none of them
        return min(size, self.count)

    @property
    def access(self):
        access = self.source.access
        if access is None:
            return None
        return Part(access, 0, access.size if self.count < 0 else min(self.count, access.size))

    @property
    def has_blocks(self):
        return self.source.has_blocks

    @property
    def reads_ahead(self):
        return self.source.reads_ahead

    def walk(self, run):
        return _TakeCursor(self, run)


class _TakeCursor(Cursor):
    def __init__(self, stage, run):
        self._inner = stage.source.cursor(run)
        self._left = stage.count  # below zero: all

    def next(self):
        if self._left == 0:
            return None
        element = self._inner.next()
        self._left -= 1
        return element

    def block(self, count):
        if self._left == 0:
            return None
        block = self._inner.block(count if self._left < 0 else min(count, self._left))
        if block is not None:
            self._left -= block[0].shape[0]
        return block

    def skip(self, count):
        done = self._inner.skip(count if self._left < 0 else min(count, self._left))
        self._left -= done
        return done

    def state(self):
        return {"left": self._left, "inner": self._inner.state()}

    def restore(self, state):
        self._left = state["left"]
        self._inner.restore(state["inner"])

    def close(self):
        self._inner.close()


class SkipStage(Stage):
    """The elements of the input after the first ones; none when the count is negative."""

    method = "Dataset.skip"
    passes_on = True

    def __init__(self, source, count, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.count = count

    def cardinality(self):
        size = self.source.cardinality()
        if size in (INFINITE, UNKNOWN):
            return size
        return 0 if self.count < 0 else max(0, size - self.count)

    @property
    def access(self):
        access = self.source.access
        if access is None:
            return None
        start = access.size if self.count < 0 else min(self.count, access.size)
        return Part(access, start, access.size - start)

    @property
    def has_blocks(self):
        return self.source.has_blocks

    @property
    def reads_ahead(self):
        return self.source.reads_ahead

    def walk(self, run):
        return _SkipCursor(self, run)


class _SkipCursor(Cursor):
    def __init__(self, stage, run):
        self._inner = stage.source.cursor(run)
        self._left = stage.count

    def _begin(self):
        if self._left < 0:
            return False
        if self._left:
            self._inner.skip(self._left)
            self._left = 0
        return True

    def next(self):
        return self._inner.next() if self._begin() else None

    def block(self, count):
        return self._inner.block(count) if self._begin() else None

    def skip(self, count):
        return self._inner.skip(count) if self._begin() else 0

    def state(self):
        return {"left": self._left, "inner": self._inner.state()}

    def restore(self, state):
        self._left = state["left"]
        self._inner.restore(state["inner"])

    def close(self):
        self._inner.close()


def _op(name, stage):
    def make(input_dataset, count, output_types, output_shapes, metadata):
        return stage(stage_of(input_dataset), integer(count, "count"), shapes_of(output_shapes))

    return dataset_op(name, f"input_dataset: variant, count: int64, *, {OUTPUTS}", make)


TAKE_DATASET = _op("TakeDataset", TakeStage)
SKIP_DATASET = _op("SkipDataset", SkipStage)


@method
def take(self, count, name=None) -> DatasetV2:
    """The first `count` elements; all of them when `count` is -1 or there are fewer.

    >>> [int(x) for x in tf.data.Dataset.range(10).take(3)]
    [0, 1, 2]
    """
    count = constant(count, dtypes.int64)
    return build("_TakeDataset", TAKE_DATASET, self, count, spec=self.element_spec, of=[self], name=name)


@method
def skip(self, count, name=None) -> DatasetV2:
    """The elements after the first `count`; none when `count` is -1 or there are fewer.

    >>> [int(x) for x in tf.data.Dataset.range(5).skip(3)]
    [3, 4]
    """
    count = constant(count, dtypes.int64)
    return build("_SkipDataset", SKIP_DATASET, self, count, spec=self.element_spec, of=[self], name=name)
