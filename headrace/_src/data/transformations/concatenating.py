"""`Dataset.concatenate`: one dataset after another."""

import numpy as np

from headrace._src.core import nest
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, dataset_op, method
from headrace._src.data.running.stages import INFINITE, UNKNOWN, Access, Cursor, Stage, joined, shapes_of, stage_of
from headrace._src.data.transformations.shuffling import restore_seeds, saved_seeds


class _Sequence(Access):
    def __init__(self, first, second):
        self._first, self._second = first, second
        self.size = first.size + second.size

    def get(self, index):
        before = self._first.size
        return self._first.get(index) if index < before else self._second.get(index - before)

    def gather(self, indices):
        before = self._first.size
        is_first = indices < before
        if is_first.all():
            return self._first.gather(indices)
        if not is_first.any():
            return self._second.gather(indices - before)
        both = joined([self._first.gather(indices[is_first]), self._second.gather(indices[~is_first] - before)])
        # Where each element of the block is in the two parts.
        place = np.where(is_first, np.cumsum(is_first) - 1, is_first.sum() + np.cumsum(~is_first) - 1)
        return tuple([part.take(place, 0) for part in both])

    def slice(self, start, stop):
        before = self._first.size
        if stop <= before:
            return self._first.slice(start, stop)
        if start >= before:
            return self._second.slice(start - before, stop - before)
        return joined([self._first.slice(start, before), self._second.slice(0, stop - before)])


class ConcatenateStage(Stage):
    """The elements of one input, then those of another."""

    method = "Dataset.concatenate"
    passes_on = True

    def cardinality(self):
        sizes = [stage.cardinality() for stage in self.inputs]
        if INFINITE in sizes:
            return INFINITE
        return UNKNOWN if UNKNOWN in sizes else sum(sizes)

    @property
    def access(self):
        first, second = (stage.access for stage in self.inputs)
        return None if first is None or second is None else _Sequence(first, second)

    @property
    def has_blocks(self):
        return all(stage.has_blocks for stage in self.inputs)

    def walk(self, run):
        return _ConcatenateCursor(self, run)


class _ConcatenateCursor(Cursor):
    def __init__(self, stage, run):
        self._stage = stage
        self._run = run
        self._number = 0  # of the input that is walked through
        self._inner = stage.inputs[0].cursor(run)

    def _go_on(self):
        """Go to the next input; False when there is none."""
        self._inner.close()
        self._number += 1
        if self._number >= len(self._stage.inputs):
            return False
        self._inner = self._stage.inputs[self._number].cursor(self._run)
        return True

    def _is_over(self):
        return self._number >= len(self._stage.inputs)

    def next(self):
        while not self._is_over():
            element = self._inner.next()
            if element is not None or not self._go_on():
                return element
        return None

    def block(self, count):
        while not self._is_over():
            block = self._inner.block(count)
            if block is not None or not self._go_on():
                return block
        return None

    def skip(self, count):
        left = count
        while left and not self._is_over():
            left -= self._inner.skip(left)
            if left and not self._go_on():
                break
        return count - left

    def state(self):
        seeds = [saved_seeds(stage) for stage in self._stage.inputs]
        return {"number": self._number, "inner": None if self._is_over() else self._inner.state(), "seeds": seeds}

    def restore(self, state):
        self._inner.close()
        self._number = state["number"]
        if not self._is_over():
            self._inner = self._stage.inputs[self._number].cursor(self._run)
            self._inner.restore(state["inner"])
        for stage, saved in zip(self._stage.inputs, state["seeds"]):
            restore_seeds(stage, saved)

    def close(self):
        self._inner.close()


def _make(input_dataset, another_dataset, output_types, output_shapes, metadata):
    return ConcatenateStage(shapes_of(output_shapes), [stage_of(input_dataset), stage_of(another_dataset)])


CONCATENATE_DATASET = dataset_op(
    "ConcatenateDataset", f"input_dataset: variant, another_dataset: variant, *, {OUTPUTS}", _make
)


def _common(a, b):
    """The most specific spec of both; None when there is none."""
    common = a.most_specific_common_supertype([b])
    if common is None and type(a) is TensorSpec and type(b) is TensorSpec and a.dtype == b.dtype:
        return TensorSpec(TensorShape(None), a.dtype)
    return common


def common_spec(first: DatasetV2, second: DatasetV2, where: str):
    """The spec of the elements of both datasets."""
    try:
        nest.assert_same_structure(first.element_spec, second.element_spec)
        pairs = zip(nest.flatten(first.element_spec), nest.flatten(second.element_spec))
        specs = [_common(a, b) for a, b in pairs]
    except (TypeError, ValueError):
        specs = [None]
    if None in specs:
        raise TypeError(
            f"{where}: incompatible dataset elements:\n  {first.element_spec} vs.   {second.element_spec}"
        )
    return nest.pack_sequence_as(first.element_spec, specs)


@method
def concatenate(self, dataset, name=None) -> DatasetV2:
    """The elements of this dataset, then those of another.

    Args:
        dataset: the other one; its elements must have the same structure and dtypes.
        name: a name for the operation.

    >>> [int(x) for x in tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(5, 7))]
    [0, 1, 5, 6]
    """
    spec = common_spec(self, dataset, "Dataset.concatenate")
    return build(
        "_ConcatenateDataset", CONCATENATE_DATASET, self, dataset, spec=spec, of=[self, dataset], name=name
    )
