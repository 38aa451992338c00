"""`Dataset.ignore_errors`: the elements that can be made."""

import copy
import logging
from collections.abc import Callable
from typing import Any

from headrace._src.core import errors
from headrace._src.data.datasets import DatasetV2, build, dataset_op, method
from headrace._src.data.running.cursors import InnerCursor
from headrace._src.data.running.stages import Stage, shapes_of, stage_of
from headrace._src.op.api import api

_log = logging.getLogger("headrace")


class IgnoreErrorsStage(Stage):
    """The elements of the input that do not fail."""

    method = "Dataset.ignore_errors"
    passes_on = True

    def __init__(self, source, warns, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.warns = warns

    def walk(self, run):
        one_by_one = copy.copy(run)
        one_by_one.one_by_one = True
        return _IgnoreErrorsCursor(self, one_by_one)


class _IgnoreErrorsCursor(InnerCursor):
    def next(self):
        while True:
            try:
                return self._inner.next()
            except errors.OpError as error:
                if self._stage.warns:
                    _log.warning("%s left out an element: %s", self._stage.where(), error)


def _make(input_dataset, output_types, output_shapes, log_warning):
    return IgnoreErrorsStage(stage_of(input_dataset), log_warning, shapes_of(output_shapes))


IGNORE_ERRORS_DATASET = dataset_op(
    "IgnoreErrorsDataset",
    "input_dataset: variant, *, output_types: list(type), output_shapes: list(shape), log_warning: bool = False",
    _make,
)


@method
def ignore_errors(self, log_warning=False, name=None) -> DatasetV2:
    """The elements, but for those that cannot be made: their errors are ignored.

    Args:
        log_warning: whether each error is logged.
        name: a name for the operation.

    >>> dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 0.0, 4.0])
    >>> dataset = dataset.map(lambda x: tf.debugging.check_numerics(1.0 / x, "error")).ignore_errors()
    >>> [float(x) for x in dataset]
    [1.0, 0.5, 0.25]
    """
    return build(
        "_IgnoreErrorsDataset", IGNORE_ERRORS_DATASET, self, log_warning=log_warning, spec=self.element_spec,
        of=[self], name=name,
    )  # fmt: skip


@api("data.experimental.ignore_errors", dispatch=False)
def _ignore_errors(log_warning=False) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: see `tf.data.Dataset.ignore_errors`."""
    return lambda dataset: dataset.ignore_errors(log_warning)
