"""`Dataset.unique`: each element once."""

from collections.abc import Callable
from typing import Any

from headrace._src.core import dtypes, errors, nest
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, dataset_op, method
from headrace._src.data.running.cursors import InnerCursor
from headrace._src.data.running.stages import Stage, shapes_of, stage_of
from headrace._src.op.api import api

_TYPES = (dtypes.int32, dtypes.int64, dtypes.string)


class UniqueStage(Stage):
    """The elements of the input that did not come before."""

    method = "Dataset.unique"

    def __init__(self, source, shapes):
        super().__init__(shapes, [source])
        self.source = source

    def walk(self, run):
        return _UniqueCursor(self, run)


def _key(array):
    """Equal for equal arrays."""
    if not array.ndim:
        return array.item()
    return (array.shape, tuple(array.ravel().tolist()))


class _UniqueCursor(InnerCursor):
    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._seen = {}  # key to array

    def next(self):
        while (element := self._inner.next()) is not None:
            key = _key(element[0])
            if key not in self._seen:
                self._seen[key] = element[0]
                return element
        return None

    def state(self):
        return {**super().state(), "seen": list(self._seen.values())}

    def restore(self, state):
        super().restore(state)
        self._seen = {_key(array): array for array in state["seen"]}


def _make(input_dataset, output_types, output_shapes, metadata):
    if len(output_types) != 1:
        raise errors.invalid_argument("Dataset.unique: only elements of a single component are supported.")
    return UniqueStage(stage_of(input_dataset), shapes_of(output_shapes))


UNIQUE_DATASET = dataset_op("UniqueDataset", f"input_dataset: variant, *, {OUTPUTS}", _make)


@method
def unique(self, name=None) -> DatasetV2:
    """Each element once: where it first comes. Elements are single tensors of integers or strings.

    >>> [int(x) for x in tf.data.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()]
    [1, 37, 2]
    """
    for spec in nest.flatten(self.element_spec):
        dtype = getattr(spec, "dtype", None)
        if dtype not in _TYPES:
            raise TypeError(
                f"`tf.data.Dataset.unique` does not support type {dtype!r} -- only `tf.int32`, `tf.int64`, and "
                "`tf.string` are supported."
            )
    return build("_UniqueDataset", UNIQUE_DATASET, self, spec=self.element_spec, of=[self], name=name)


@api("data.experimental.unique", dispatch=False)
def _unique() -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: see `tf.data.Dataset.unique`."""
    return lambda dataset: dataset.unique()
