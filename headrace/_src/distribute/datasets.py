"""Datasets whose batches are spread over replicas.

A distributed dataset is an ordinary one whose elements have `PerReplica` values at their leaves, so that walking
through it works in and outside of functions as it always does.
"""

from __future__ import annotations

import collections
import collections.abc
import enum
from typing import Any

from headrace._src.core import dtypes, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.specs import NoneTensorSpec
from headrace._src.core.tensor import Tensor
from headrace._src.data.datasets import DatasetSpec, DatasetV2
from headrace._src.data.running import structures
from headrace._src.data.running.iterators import IteratorSpec, OwnedIterator
from headrace._src.distribute.places import require_cross_replica
from headrace._src.distribute.replica_groups import in_groups
from headrace._src.distribute.values import PerReplicaSpec, regroup
from headrace._src.op.api import api
from headrace._src.ops.arrays.measuring import shape as shape_of
from headrace._src.ops.math.arithmetic import maximum, minimum
from headrace._src.ops.sparse.joining import slice as sparse_slice
from headrace._src.ops.sparse.tensor import SparseTensor


@api("distribute.InputReplicationMode", dispatch=False)
class InputReplicationMode(enum.Enum):
    """For what a function that makes datasets is called: each worker, or each replica."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


_InputOptions = collections.namedtuple(
    "_InputOptions",
    [
        "experimental_fetch_to_device",
        "experimental_replication_mode",
        "experimental_place_dataset_on_device",
        "experimental_per_replica_buffer_size",
    ],
)


@api("distribute.InputOptions", dispatch=False)
class InputOptions(_InputOptions):
    """How elements get to replicas.

    Args:
        experimental_fetch_to_device: accepted; elements are where they are needed.
        experimental_replication_mode: an `InputReplicationMode`.
        experimental_place_dataset_on_device: accepted, as the above.
        experimental_per_replica_buffer_size: accepted; `Dataset.prefetch` reads ahead.

    Raises:
        ValueError: both of the options about devices are on.
    """

    def __new__(
        cls,
        experimental_fetch_to_device=None,
        experimental_replication_mode=InputReplicationMode.PER_WORKER,
        experimental_place_dataset_on_device=False,
        experimental_per_replica_buffer_size=1,
    ) -> InputOptions:
        if experimental_fetch_to_device is None:
            experimental_fetch_to_device = True
        return super().__new__(
            cls, experimental_fetch_to_device, experimental_replication_mode, experimental_place_dataset_on_device,
            experimental_per_replica_buffer_size,
        )  # fmt: skip

    def __repr__(self):
        parts = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self))
        return f"InputOptions({parts})"


@api("distribute.RunOptions", dispatch=False)
class RunOptions(
    collections.namedtuple(
        "RunOptions",
        (
            "experimental_enable_dynamic_batch_size",
            "experimental_bucketizing_dynamic_shape",
            "experimental_xla_options",
        ),
        defaults=(True, False, None),
    )
):
    """How `run` runs on TPUs; accepted."""

    __slots__ = ()


@api("distribute.InputContext", dispatch=False)
class InputContext:
    """What a function that makes a dataset must know of the other machines.

    Args:
        num_input_pipelines: how many machines call such a function.
        input_pipeline_id: the number of this one.
        num_replicas_in_sync: how many replicas there are on all of them.

    >>> tf.distribute.InputContext(num_replicas_in_sync=2).get_per_replica_batch_size(8)
    4
    """

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1) -> None:
        self._pipelines = num_input_pipelines
        self._pipeline = input_pipeline_id
        self._replicas = num_replicas_in_sync

    @property
    def num_input_pipelines(self) -> int:
        """How many machines call such a function."""
        return self._pipelines

    @property
    def input_pipeline_id(self) -> int:
        """The number of this machine."""
        return self._pipeline

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are on all machines."""
        return self._replicas

    def get_per_replica_batch_size(self, global_batch_size) -> int:
        """A replica's part of a batch.

        Raises:
            ValueError: it cannot be divided evenly.
        """
        if global_batch_size % self._replicas:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                f"{self._replicas}."
            )
        return global_batch_size // self._replicas

    def __str__(self):
        return f"tf.distribute.InputContext(input pipeline id {self._pipeline}, total: {self._pipelines})"


@api("distribute.DistributedIterator", dispatch=False)
class DistributedIterator(OwnedIterator):
    """Walks through a dataset whose batches are spread over replicas."""

    @property
    def _type_spec(self) -> DistributedIteratorSpec:
        return DistributedIteratorSpec(self._element_spec)


class DistributedIteratorSpec(IteratorSpec):
    """The spec of such iterators.

    Args:
        element_spec: the spec of the elements.
    """

    __slots__ = ()

    @property
    def value_type(self) -> type:
        return DistributedIterator

    def _from_components(self, components):
        return DistributedIterator(handle=components, element_spec=self._element_spec)


@api("distribute.DistributedDataset", dispatch=False)
class DistributedDataset(collections.abc.Iterable, CompositeTensor):
    """A dataset whose batches are spread over replicas: iterating gives `PerReplica` values.

    Args:
        dataset: with elements of that kind.
    """

    def __init__(self, dataset) -> None:
        self._dataset = dataset

    @property
    def element_spec(self) -> Any:
        """The spec of one element."""
        return self._dataset.element_spec

    @property
    def cardinality(self) -> Any:
        """The number of elements, or `tf.data.INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`."""
        return self._dataset.cardinality().numpy()

    def __iter__(self) -> DistributedIterator:
        return DistributedIterator(self._dataset)

    def _loop_steps(self) -> Any:
        """How AutoGraph loops over it."""
        return self._dataset._loop_steps()

    @property
    def _type_spec(self) -> DistributedDatasetSpec:
        return DistributedDatasetSpec(self._dataset.element_spec)


class DistributedDatasetSpec(DatasetSpec):
    """The spec of such datasets.

    Args:
        element_spec: the spec of the elements.
        dataset_shape: kept as `DatasetSpec` has it.
    """

    __slots__ = ()

    @property
    def value_type(self) -> type:
        return DistributedDataset

    def _to_components(self, value):
        return super()._to_components(value._dataset)

    def _from_components(self, components):
        return DistributedDataset(super()._from_components(components))


# Spreading.


def spread(dataset, strategy, options=None) -> DistributedDataset:
    """The dataset with each batch cut into one part for each replica.

    Raises:
        TypeError: it is no dataset.
        ValueError: its elements are no batches.
    """
    require_cross_replica(strategy)
    if isinstance(dataset, DistributedDataset):
        return dataset
    _check_dataset("experimental_distribute_dataset", dataset)
    if options is not None and options.experimental_replication_mode is InputReplicationMode.PER_REPLICA:
        raise NotImplementedError(
            "experimental_distribute_dataset: InputReplicationMode.PER_REPLICA needs a function that makes datasets; "
            "use distribute_datasets_from_function."
        )
    count = strategy.num_replicas_in_sync
    if count == 1:
        return DistributedDataset(dataset)
    for spec in structures.flat_specs(dataset.element_spec):
        if spec.dtype is not dtypes.variant and spec.shape.rank == 0:
            raise ValueError(
                "experimental_distribute_dataset: elements must be batches, whose parts go to the replicas, but there "
                "is a scalar component. Call Dataset.batch with the global batch size first."
            )

    def parts_of(replicas):
        def cut(*element):
            structure = element[0] if len(element) == 1 and not isinstance(dataset.element_spec, tuple) else element
            return nest.map_structure(lambda part: _cut(part, count, replicas), structure)

        return cut

    return DistributedDataset(strategy.extended._divided(dataset, parts_of))


def _cut(batch, count, replicas):
    """The parts of a batch that some of `count` replicas get.

    TF: parts have the size of the batch divided by the replicas, rounded up.
    """
    if batch is None:
        return None
    static = batch.shape[0] if batch.shape.rank else None
    if static is not None and static % count == 0:
        size = static // count
        return regroup([_rows(batch, i * size, (i + 1) * size) for i in replicas])
    rows = batch.nrows() if hasattr(batch, "nrows") else shape_of(batch, out_type=dtypes.int64)[0]
    size = (rows + (count - 1)) // count
    parts = []
    for i in replicas:
        part = _rows(batch, minimum(rows, size * i), minimum(rows, size * (i + 1)))
        if isinstance(part, Tensor):
            part.set_shape([None, *batch.shape[1:]])
        parts.append(part)
    return regroup(parts)


def _rows(batch, start, stop):
    if isinstance(batch, SparseTensor):
        shape = batch.dense_shape
        rest = [shape[i] for i in range(1, batch.shape.rank)]
        return sparse_slice(batch, [start, *[0] * len(rest)], [maximum(stop - start, 0), *rest])
    return batch[start:stop]


def from_function(dataset_fn, strategy, options=None) -> DistributedDataset:
    """The dataset that a function makes, whose elements go to the replicas one after another.

    Raises:
        TypeError: the function returns no dataset.
    """
    require_cross_replica(strategy)
    extended = strategy.extended
    total, count, first = strategy.num_replicas_in_sync, len(extended.worker_devices), extended._first_replica
    with strategy.scope():
        if options is not None and options.experimental_replication_mode is InputReplicationMode.PER_REPLICA:
            own = [dataset_fn(InputContext(total, first + i, total)) for i in range(count)]
            for dataset in own:
                _check_dataset("distribute_datasets_from_function", dataset)
            groups = DatasetV2.zip(tuple(own)).map(_regrouped(own[0].element_spec))
            return DistributedDataset(extended._in_step(groups))
        dataset = dataset_fn(InputContext(total // count, first // count, total))
    _check_dataset("distribute_datasets_from_function", dataset)
    if count == 1:
        return DistributedDataset(extended._in_step(dataset))
    spec = dataset.element_spec
    leaves = [_repeated(leaf, count) for leaf in nest.flatten(spec)]
    if len(leaves) == 1:  # the components of all replicas are in the order of the leaf already
        return DistributedDataset(extended._in_step(in_groups(dataset, count, nest.pack_sequence_as(spec, leaves))))
    groups = in_groups(dataset, count, (spec,) * count)
    return DistributedDataset(extended._in_step(groups.map(_regrouped(spec))))


def _repeated(leaf, count):
    return leaf if isinstance(leaf, NoneTensorSpec) else PerReplicaSpec(*[leaf] * count)


def _regrouped(spec):
    """A function from one element for each replica to an element with `PerReplica` leaves."""

    def joined(*elements):
        columns = zip(*(nest.flatten_up_to(spec, element, check_types=False) for element in elements))
        leaves = [None if column[0] is None else regroup(list(column)) for column in columns]
        return nest.pack_sequence_as(spec, leaves)

    return joined


def _check_dataset(method, dataset):
    if not isinstance(dataset, DatasetV2):
        raise TypeError(f"{method}: expected a tf.data.Dataset, got {dataset!r} of type {type(dataset).__name__}.")


