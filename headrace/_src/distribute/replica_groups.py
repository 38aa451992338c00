"""The step of a pipeline that takes several elements at once, one for each replica."""

from __future__ import annotations

import numpy as np

from headrace._src.data.datasets import DatasetV2, build, dataset_op
from headrace._src.data.running import structures
from headrace._src.data.running.cursors import InnerCursor
from headrace._src.data.running.stages import INFINITE, Stage, shapes_of, stage_of


class ReplicaGroupStage(Stage):
    """Elements made of `count` successive elements of the input, the components of each after another.

    Args:
        source: the input.
        count: how many replicas there are.
        fills: whether a last group of fewer elements is filled up with empty batches, or left out.
        shapes: of the components.
    """

    method = "Strategy.distribute_datasets_from_function"

    def __init__(self, source, count, fills, shapes):
        super().__init__(shapes, [source])
        self.count = count
        self.fills = fills

    def cardinality(self):
        size = self.inputs[0].cardinality()
        if size < 0:
            return size
        return -(-size // self.count) if self.fills else size // self.count

    def walk(self, run):
        return _GroupCursor(self, run)


class _GroupCursor(InnerCursor):
    def next(self):
        parts = []
        for _ in range(self._stage.count):
            element = self._inner.next()
            if element is None:
                break
            parts.append(element)
        missing = self._stage.count - len(parts)
        if not parts or (missing and not self._stage.fills):
            return None
        empty = tuple([array[:0] for array in parts[0]]) if missing else ()
        return tuple([array for part in [*parts, *[empty] * missing] for array in part])


def _make(input_dataset, num_replicas, fill, output_types, output_shapes):
    return ReplicaGroupStage(stage_of(input_dataset), int(num_replicas), bool(fill), shapes_of(output_shapes))


REPLICA_GROUP_DATASET = dataset_op(
    "ReplicaGroupDataset",
    "input_dataset: variant, num_replicas: int64, fill: bool, *, output_types: list(type), "
    "output_shapes: list(shape)",
    _make,
)


def in_groups(dataset, count: int, spec) -> DatasetV2:
    """The dataset of groups of `count` successive elements.

    Args:
        dataset: the elements.
        count: how many replicas there are.
        spec: of the groups: a tuple with the spec of an element for each.
    """
    fills = dataset.stage.cardinality() != INFINITE and may_be_empty(dataset.element_spec)
    return build(
        "_ReplicaGroupDataset", REPLICA_GROUP_DATASET, dataset, np.int64(count), fills, spec=spec, of=[dataset]
    )


def may_be_empty(spec) -> bool:
    """Whether elements are batches of unknown sizes, so that an empty one can stand for one that is missing."""
    flat = structures.flat_specs(spec)
    if any(part.shape.rank in (None, 0) for part in flat):
        return False
    return not all(part.shape.is_fully_defined() for part in flat) and all(part.shape[0] is None for part in flat)
