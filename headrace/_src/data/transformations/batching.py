"""`Dataset.batch`: consecutive elements stacked."""

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import EagerTensor
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, constant, dataset_op, integer, method
from headrace._src.data.running import structures
from headrace._src.data.running.batch_rows import batch_of
from headrace._src.data.running.ragged_columns import columns_from, stacked_columns
from headrace._src.data.running.stages import (
    INFINITE,
    UNKNOWN,
    Access,
    Cursor,
    Stage,
    joined,
    shapes_of,
    stacked,
    stage_of,
)
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import get_static_value


class _Batches(Access):
    def __init__(self, access, size, drops):
        self._access = access
        self._batch = size
        self.size = access.size // size if drops else -(-access.size // size)

    def get(self, index):
        start = index * self._batch
        return self._access.slice(start, min(start + self._batch, self._access.size))


class BatchStage(Stage):
    """Consecutive elements of the input, stacked.

    Args:
        source: the input.
        size: the number of elements in a batch.
        drops: whether a last batch of fewer elements is left out.
        shapes: of the components.
    """

    method = "Dataset.batch"
    stacks = True

    def __init__(self, source, size, drops, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.size = self.batch_size = size
        self.drops = drops

    def cardinality(self):
        size = self.source.cardinality()
        if size in (INFINITE, UNKNOWN):
            return size
        return size // self.size if self.drops else -(-size // self.size)

    @property
    def access(self):
        access = self.source.access
        return None if access is None else _Batches(access, self.size, self.drops)

    @property
    def has_blocks(self):
        return False  # batches are large enough

    def walk(self, run):
        return _BatchCursor(self, run)


class _BatchCursor(Cursor):
    def __init__(self, stage, run):
        self._stage = stage
        self._inner = stage.source.cursor(run)
        self._by_blocks = stage.source.has_blocks and not run.one_by_one
        self._by_columns = stage.source.has_columns and not run.one_by_one
        # TF: map and batch are done together: if one call fails, the whole batch is lost.
        self._reads_on = run.one_by_one and stage.source.fuses_with == stage.method
        self._inner.stack_by(stage.size)

    def next(self):
        size = self._stage.size
        if self._by_columns:
            batch = columns_from(self._inner, size)
            batch = None if batch is None else stacked_columns(batch)
        else:
            batch = self._from_blocks(size) if self._by_blocks else self._from_elements(size)
        if batch is None or (self._stage.drops and batch[0].shape[0] < size):
            return None
        return batch

    def _from_blocks(self, size):
        blocks, missing = [], size
        while missing:
            block = self._inner.block(missing)
            if block is None:
                break
            blocks.append(block)
            missing -= block[0].shape[0]
        return joined(blocks) if blocks else None

    def _from_elements(self, size):
        elements = []
        for number in range(size):
            try:
                element = self._inner.next()
            except errors.OpError:
                if self._reads_on:
                    self._pass_over(size - number - 1)
                raise
            if element is None:
                break
            elements.append(element)
        if not elements:
            return None
        batch = batch_of(elements)
        return stacked(elements) if batch is None else batch

    def _pass_over(self, count):
        for _ in range(count):
            try:
                self._inner.next()
            except errors.OpError:
                continue

    def skip(self, count):
        size = self._stage.size
        done = self._inner.skip(count * size)
        return done // size if self._stage.drops else -(-done // size)

    def state(self):
        return {"inner": self._inner.state()}

    def restore(self, state):
        self._inner.restore(state["inner"])

    def close(self):
        self._inner.close()


def batch_size_of(value) -> int:
    """The input `batch_size` of an op."""
    size = integer(value, "batch_size")
    if size <= 0:
        raise errors.invalid_argument("Batch size must be greater than zero.")
    return size


def _make(input_dataset, batch_size, drop_remainder, output_types, output_shapes, **unused):
    size = batch_size_of(batch_size)
    drops = bool(integer(drop_remainder, "drop_remainder"))
    return BatchStage(stage_of(input_dataset), size, drops, shapes_of(output_shapes))


def _make_parallel(input_dataset, batch_size, num_parallel_calls, drop_remainder, **attrs):
    integer(num_parallel_calls, "num_parallel_calls")
    return _make(input_dataset, batch_size, drop_remainder, **attrs)


BATCH_DATASET = dataset_op(
    "BatchDatasetV2",
    f"input_dataset: variant, batch_size: int64, drop_remainder: bool, *, parallel_copy: bool = False, {OUTPUTS}",
    _make,
)

PARALLEL_BATCH_DATASET = dataset_op(
    "ParallelBatchDataset",
    "input_dataset: variant, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool, *, "
    f"parallel_copy: bool = False, {OUTPUTS}, deterministic: string = 'default'",
    _make_parallel,
)


def static_size(batch_size, drop_remainder):
    """The size that all batches have, where that is known."""
    if isinstance(drop_remainder, EagerTensor):
        drop_remainder = bool(drop_remainder)
    if drop_remainder is not True and not (hasattr(drop_remainder, "item") and bool(drop_remainder)):
        return None
    value = get_static_value(to_tensor(batch_size))
    return None if value is None else int(value)


@method
def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None) -> DatasetV2:
    """Consecutive elements stacked along a new first axis.

    Args:
        batch_size: how many elements make a batch.
        drop_remainder: whether the last batch is left out when it has fewer.
        num_parallel_calls: how many batches may be made at the same time.
        deterministic: whether they must come in order.
        name: a name for the operation.

    >>> for batch in tf.data.Dataset.range(5).batch(2):
    ...     print(batch.numpy())
    [0 1]
    [2 3]
    [4]
    """
    spec = structures.batch_spec(self.element_spec, static_size(batch_size, drop_remainder))
    size, drops = constant(batch_size, dtypes.int64), to_tensor(drop_remainder, dtypes.bool)
    if num_parallel_calls is None:
        return build("_BatchDataset", BATCH_DATASET, self, size, drops, spec=spec, of=[self], name=name)
    return build(
        "_ParallelBatchDataset",
        PARALLEL_BATCH_DATASET,
        self,
        size,
        constant(num_parallel_calls, dtypes.int64),
        drops,
        spec=spec,
        of=[self],
        deterministic="default" if deterministic is None else str(bool(deterministic)).lower(),
        name=name,
    )
