"""`Dataset.shard`: every n-th element."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, constant, dataset_op, integer, method
from headrace._src.data.running.cursors import InnerCursor
from headrace._src.data.running.stages import INFINITE, UNKNOWN, Access, Stage, shapes_of, stage_of
from headrace._src.op.api import export

# What stands for the number and count of shards in a dataset that the data service divides.
SHARD_HINT = export("data.experimental.SHARD_HINT")(-1)


def _count(size, shards, index):
    """How many of `size` elements belong to a shard."""
    return size // shards + (index < size % shards)


class _Shard(Access):
    def __init__(self, access, shards, index):
        self._access, self._shards, self._index = access, shards, index
        self.size = _count(access.size, shards, index)

    def get(self, index):
        return self._access.get(self._index + index * self._shards)

    def gather(self, indices):
        return self._access.gather(self._index + np.asarray(indices) * self._shards)


class ShardStage(Stage):
    """Every n-th element of the input, beginning with a given one."""

    method = "Dataset.shard"
    passes_on = True

    def __init__(self, source, shards, index, refuses_empty, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.shards = shards
        self.index = index
        self.refuses_empty = refuses_empty

    def cardinality(self):
        size = self.source.cardinality()
        if size in (INFINITE, UNKNOWN) or self.shards == SHARD_HINT:
            return size
        return _count(size, self.shards, self.index)

    @property
    def access(self):
        access = None if self.refuses_empty or self.shards == SHARD_HINT else self.source.access
        return None if access is None else _Shard(access, self.shards, self.index)

    @property
    def reads_ahead(self):
        return self.source.reads_ahead

    def walk(self, run):
        if self.shards == SHARD_HINT:
            raise errors.FailedPreconditionError(
                None, None,
                "Dataset.shard: tf.data.experimental.SHARD_HINT is for datasets that tf.data.experimental.service "
                "divides with ShardingPolicy.HINT.",
            )  # fmt: skip
        return _ShardCursor(self, run)


class _ShardCursor(InnerCursor):
    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._ahead = stage.index  # how many elements of other shards come before the next of this one
        self._is_first = True

    def next(self):
        stage = self._stage
        if self._inner.skip(self._ahead) < self._ahead:
            element = None
        else:
            element = self._inner.next()
        if element is None and self._is_first and stage.refuses_empty:
            raise errors.invalid_argument(
                f"Dataset.shard: there are fewer elements than shards ({stage.shards}), so that shard {stage.index} "
                "is empty."
            )
        self._is_first = False
        self._ahead = stage.shards - 1
        return element

    def skip(self, count):
        if not count:
            return 0
        done = self._inner.skip(self._ahead + 1 + (count - 1) * self._stage.shards)
        passed = 0 if done <= self._ahead else 1 + (done - self._ahead - 1) // self._stage.shards
        if passed:
            self._ahead = self._stage.shards - 1
            self._is_first = False
        return passed

    def state(self):
        return {**super().state(), "ahead": self._ahead, "is_first": self._is_first}

    def restore(self, state):
        super().restore(state)
        self._ahead, self._is_first = state["ahead"], state["is_first"]


def _make(input_dataset, num_shards, index, require_non_empty, output_types, output_shapes, metadata):
    shards, number = integer(num_shards, "num_shards"), integer(index, "index")
    if shards == number == SHARD_HINT:
        return ShardStage(stage_of(input_dataset), shards, number, require_non_empty, shapes_of(output_shapes))
    if shards < 1:
        raise errors.invalid_argument(
            f"Number of shards must be greater than zero (currently num_shards = {shards})."
        )
    if not 0 <= number < shards:
        raise errors.invalid_argument(
            f"Index must be between 0 and {shards - 1} (currently index = {number}, num_shards = {shards})."
        )
    return ShardStage(stage_of(input_dataset), shards, number, require_non_empty, shapes_of(output_shapes))


SHARD_DATASET = dataset_op(
    "ShardDataset",
    f"input_dataset: variant, num_shards: int64, index: int64, *, require_non_empty: bool = False, {OUTPUTS}",
    _make,
)


@method
def shard(self, num_shards, index, name=None) -> DatasetV2:
    """Every `num_shards`-th element, beginning with that of number `index`.

    Args:
        num_shards: how many parts the dataset is divided into.
        index: which of them this is, from 0.
        name: a name for the operation.

    >>> [int(x) for x in tf.data.Dataset.range(10).shard(num_shards=3, index=0)]
    [0, 3, 6, 9]
    """
    inputs = constant(num_shards, dtypes.int64), constant(index, dtypes.int64)
    return build("_ShardDataset", SHARD_DATASET, self, *inputs, spec=self.element_spec, of=[self], name=name)
