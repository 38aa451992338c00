"""`Dataset.take_while`: the elements up to the first that a function says no to."""

from collections.abc import Callable
from typing import Any

from headrace._src.core import dtypes
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, dataset_op, method
from headrace._src.data.running import functions
from headrace._src.data.running.cursors import CallingCursor
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.stages import Stage, shapes_of, stage_of
from headrace._src.op.api import api


class TakeWhileStage(Stage):
    """The elements of the input before the first for which a function is false."""

    method = "Dataset.take_while"
    passes_on = True

    def __init__(self, source, predicate, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.predicate = predicate
        self.functions = [predicate]

    def walk(self, run):
        return _TakeWhileCursor(self, run)


class _TakeWhileCursor(CallingCursor):
    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._is_over = False

    def next(self):
        element = None if self._is_over else self._pull()
        if element is not None and self._call(self._stage.predicate, element)[0]:
            return element
        self._is_over = True
        return None

    def state(self):
        return {**super().state(), "is_over": self._is_over}

    def restore(self, state):
        super().restore(state)
        self._is_over = state["is_over"]


def _make(input_dataset, other_arguments, predicate, output_types, output_shapes, metadata):
    function = ElementFunction(predicate, other_arguments)
    return TakeWhileStage(stage_of(input_dataset), function, shapes_of(output_shapes))


TAKE_WHILE_DATASET = dataset_op(
    "TakeWhileDataset",
    f"input_dataset: variant, other_arguments: list(Targuments), *, predicate: func, {OUTPUTS}",
    _make,
)


@method
def take_while(self, predicate, name=None) -> DatasetV2:
    """The elements up to, but not including, the first for which a function is false.

    Args:
        predicate: a function of an element that returns a scalar boolean.
        name: a name for the operation.

    >>> [int(x) for x in tf.data.Dataset.range(10).take_while(lambda x: x < 3)]
    [0, 1, 2]
    """
    traced = functions.trace(predicate, self.element_spec, method="Dataset.take_while")
    functions.check_scalar(traced, dtypes.bool, "Dataset.take_while", "predicate")
    return build(
        "_TakeWhileDataset", TAKE_WHILE_DATASET, self, traced.captures, predicate=traced.graph,
        spec=self.element_spec, of=[self], name=name,
    )  # fmt: skip


@api("data.experimental.take_while", dispatch=False)
def _take_while(predicate) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: see `tf.data.Dataset.take_while`."""
    return lambda dataset: dataset.take_while(predicate)
