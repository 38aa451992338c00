"""`Dataset.filter`: the elements that a function says yes to."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, dataset_op, method
from headrace._src.data.running import functions
from headrace._src.data.running.cursors import UNCOUNTED
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.ragged_functions import dense_function
from headrace._src.data.running.stages import UNKNOWN, Cursor, Stage, shapes_of, split, stacked, stage_of


class FilterStage(Stage):
    """The elements of the input for which a function is true."""

    method = "Dataset.filter"
    tells_of_function = True
    passes_on = True

    def __init__(self, source, predicate, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.predicate = predicate
        self.vectorized = predicate.vectorized() or dense_function(predicate)

    def cardinality(self):
        return UNKNOWN  # TF: also of nothing

    @property
    def has_blocks(self):
        return self.vectorized is not None and self.source.has_blocks

    @property
    def reads_ahead(self):
        return self.vectorized is not None and self.source.reads_ahead

    def walk(self, run):
        return _FilterCursor(self, run)


class _FilterCursor(Cursor):
    def __init__(self, stage, run):
        self._stage = stage
        self._inner = stage.source.cursor(run)
        self._number = 0
        self._kept = 0  # elements that were given

    def _keeps(self, element):
        self._number += 1
        try:
            return bool(self._stage.predicate(element)[0])
        except Exception as error:
            self._stage.failed(self._number - 1, error)

    def next(self):
        while (element := self._inner.next()) is not None:
            if self._keeps(element):
                self._kept += 1
                return element
        return None

    def block(self, count):
        if self._stage.vectorized is None:
            return super().block(count)
        while (block := self._inner.block(count)) is not None:
            size = block[0].shape[0]
            try:
                (keep,) = self._stage.vectorized(block)
            except Exception:
                kept = [element for element in split(block) if self._keeps(element)]
                if kept:
                    self._kept += len(kept)
                    return stacked(kept)
                continue
            self._number += size
            if keep.all():
                self._kept += size
                return block
            if keep.any():
                chosen = np.flatnonzero(keep)
                self._kept += len(chosen)
                return tuple([part.take(chosen, 0) for part in block])
        return None

    def state(self):
        random = self._stage.predicate.state()
        return {"number": self._number, "kept": self._kept, "random": random, "inner": self._inner.state()}

    def restore(self, state):
        self._number = state["number"]
        self._kept = state.get("kept", UNCOUNTED)
        self._stage.predicate.restore(state["random"])
        self._inner.restore(state["inner"])

    def close(self):
        self._inner.close()


def _make(input_dataset, other_arguments, predicate, output_types, output_shapes, metadata):
    function = ElementFunction(predicate, other_arguments)
    return FilterStage(stage_of(input_dataset), function, shapes_of(output_shapes))


FILTER_DATASET = dataset_op(
    "FilterDataset",
    f"input_dataset: variant, other_arguments: list(Targuments), *, predicate: func, {OUTPUTS}",
    _make,
)


def _filter(self, predicate, name=None) -> DatasetV2:
    """The elements for which a function is true.

    Args:
        predicate: a function of an element that returns a scalar boolean.
        name: a name for the operation.

    >>> [int(x) for x in tf.data.Dataset.range(6).filter(lambda x: x % 2 == 0)]
    [0, 2, 4]
    """
    traced = functions.trace(predicate, self.element_spec, method="Dataset.filter")
    functions.check_scalar(traced, dtypes.bool, "Dataset.filter", "predicate")
    return build(
        "_FilterDataset", FILTER_DATASET, self, traced.captures, predicate=traced.graph, spec=self.element_spec,
        of=[self], name=name,
    )  # fmt: skip


_filter.__name__ = "filter"  # the name is Python's in this file
method(_filter)
