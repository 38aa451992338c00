"""Datasets of several hosts: which part each reads, and how all end in the same step."""

from __future__ import annotations

import itertools

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.tensor import EagerTensor
from headrace._src.data.datasets import DatasetV2, build, dataset_of, dataset_op
from headrace._src.data.options import AutoShardPolicy
from headrace._src.data.running import structures
from headrace._src.data.running.cursors import InnerCursor
from headrace._src.data.running.stages import INFINITE, Stage, shapes_of, stage_of, variant_of
from headrace._src.data.service.shards import by_files
from headrace._src.distribute.collectives import current_group
from headrace._src.distribute.control_messages import WHERE
from headrace._src.distribute.replica_groups import may_be_empty
from headrace._src.ops.arrays.measuring import shape as shape_of

_numbers = itertools.count()


class AgreeingStage(Stage):
    """The elements of the input, as long as all workers have some: a worker that has none left gets empty batches.

    Where batches cannot be empty, as their sizes are fixed, all end when one does.

    Args:
        source: the input.
        fills: whether batches can be empty.
        described: what elements are like, for comparison.
        shapes: of the components.
    """

    method = "Strategy.experimental_distribute_dataset"

    def __init__(self, source, fills, described, shapes):
        super().__init__(shapes, [source])
        self.fills = fills
        self.described = described
        self.number = next(_numbers)
        self.walks = itertools.count()

    def cardinality(self):
        return self.inputs[0].cardinality()

    def walk(self, run):
        return _AgreeingCursor(self, run)


class _AgreeingCursor(InnerCursor):
    """Pulls one element ahead, so that the answer of the others is there when it is needed."""

    def __init__(self, stage, run):
        super().__init__(stage, run)
        group = current_group()
        self._link = group.link
        self._name = f"distributed dataset {stage.number}, walk {next(stage.walks)}"
        self._step = 0
        self._last = None
        self._ended = False
        facts = self._link.agree(
            self._name, [stage.cardinality() == INFINITE, stage.described], f"the beginning of {self._name}"
        )
        for member, (_, described) in zip(self._link.members, facts):
            if described != facts[0][1]:
                raise errors.invalid_argument(
                    f"{WHERE}: the elements of a distributed dataset differ: {self._link.members[0]} has "
                    f"{facts[0][1]}, {member} has {described}."
                )
        self._agrees = not all(endless for endless, _ in facts)
        if self._agrees:
            self._pull()

    def _pull(self):
        self._ahead = self._inner.next()
        self._step += 1
        self._key = f"{self._name}, batch {self._step}"
        self._link.say(self._key, self._ahead is not None)

    def next(self):
        if not self._agrees:
            return self._inner.next()
        if self._ended:
            return None
        have = self._link.heard(self._key, self._key)
        element = self._ahead
        if not any(have) or (not all(have) and not self._stage.fills):
            self._ended, self._ahead = True, None
            return None
        if element is None:
            element = self._empty()
        else:
            self._last = element
        self._pull()
        return element

    def _empty(self):
        if self._last is None:
            raise errors.invalid_argument(
                f"{WHERE}: {self._link.members[self._link.rank]} has no batch of {self._name} at all, and others have: "
                "give it some data, or make the dataset with AutoShardPolicy.DATA."
            )
        return tuple([array[:0] for array in self._last])

    def state(self):
        raise errors.unimplemented(f"{WHERE}: the position in a distributed dataset of several hosts cannot be saved.")


def _make(input_dataset, fill, described, output_types, output_shapes):
    text = described.decode() if isinstance(described, bytes) else str(described)
    return AgreeingStage(stage_of(input_dataset), bool(fill), text, shapes_of(output_shapes))


AGREEING_DATASET = dataset_op(
    "AgreeingDataset",
    "input_dataset: variant, fill: bool, *, described: string, output_types: list(type), output_shapes: list(shape)",
    _make,
    stateful=True,
)


def agreeing(dataset: DatasetV2) -> DatasetV2:
    """The dataset whose walks end in the same step on all workers."""
    spec = dataset.element_spec
    described = "; ".join(
        f"{part.dtype.name}{'' if part.shape.rank is None else part.shape.as_list()[1:]}"
        for part in structures.flat_specs(spec)
    )
    fills = may_be_empty(spec)
    return build("_AgreeingDataset", AGREEING_DATASET, dataset, fills, described=described, spec=spec, of=[dataset])


def own_files(dataset: DatasetV2, hosts: int, rank: int) -> tuple[DatasetV2, bool]:
    """The dataset as one of the hosts reads it, and whether that is a part of the files, or all elements.

    Raises:
        InvalidArgumentError: files are to be divided, and it reads none.
    """
    policy = dataset.options().experimental_distribute.auto_shard_policy
    if policy in (AutoShardPolicy.OFF, AutoShardPolicy.DATA):
        return dataset, False
    if policy == AutoShardPolicy.HINT:
        raise errors.unimplemented(f"{WHERE}: AutoShardPolicy.HINT belongs to the data service. Use FILE or DATA.")
    rebuilt = by_files(dataset.stage, hosts, rank)
    if rebuilt is None:
        if policy == AutoShardPolicy.FILE:
            raise errors.invalid_argument(
                f"{WHERE}: AutoShardPolicy.FILE divides files between the hosts, but the dataset reads none. Use "
                "AutoShardPolicy.DATA."
            )
        return dataset, False
    tensor = EagerTensor(variant_of(rebuilt), dtypes.variant)
    return dataset_of(tensor, dataset.element_spec, inputs=[dataset]), True


def divided(dataset: DatasetV2, parts_of, replicas: int, hosts: int, rank: int) -> DatasetV2:
    """What the replicas of one host get of a dataset of batches for all.

    With `AutoShardPolicy.DATA` it is their part of each batch. With `FILE`, a host has batches of its own files, and
    with `OFF` all batches: of these, each such part is a step.

    Args:
        dataset: the batches.
        parts_of: from numbers of replicas, a function of a batch that returns their parts.
        replicas: how many a host has.
        hosts: how many there are.
        rank: the number of this one.
    """
    own, has_own_files = own_files(dataset, hosts, rank)
    if not has_own_files and own.options().experimental_distribute.auto_shard_policy != AutoShardPolicy.OFF:
        return agreeing(own.map(parts_of(range(rank * replicas, (rank + 1) * replicas))))
    cuts = [parts_of(range(host * replicas, (host + 1) * replicas)) for host in range(hosts)]

    def in_turn(*batch):
        found = None
        for cut in cuts:
            part = DatasetV2.from_tensors(cut(*batch))
            found = part if found is None else found.concatenate(part)
        return found

    return agreeing(own.flat_map(in_turn).filter(_has_rows))


def _has_rows(*element):
    return shape_of(nest.flatten(element, expand_composites=True)[0])[0] > 0
