"""`MultiWorkerMirroredStrategy`: processes on several machines, whose replicas have copies of all variables."""

from __future__ import annotations

from typing import Any

from headrace._src.core import dtypes
from headrace._src.core.devices import canonical_name
from headrace._src.distribute import collective_ops, host_datasets
from headrace._src.distribute.cluster_resolvers import TFConfigClusterResolver
from headrace._src.distribute.clusters import joined, members_of
from headrace._src.distribute.mirrored import MirroredExtended, all_devices
from headrace._src.distribute.reductions import CommunicationOptions, ReduceOp, gathered, reduced_value
from headrace._src.distribute.strategies import Strategy
from headrace._src.distribute.values import DistributedValues, Mirrored
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.math.reductions import reduce_sum
from headrace._src.state.variables import Variable


class MultiWorkerExtended(MirroredExtended):
    """What `MultiWorkerMirroredStrategy` does.

    Args:
        container_strategy: the strategy.
        devices: full names, one for each replica of this process.
        group: the other processes; None if there is none.
    """

    def __init__(self, container_strategy, devices, group) -> None:
        super().__init__(container_strategy, devices)
        self._group = group
        self._hosts = 1 if group is None else group.size
        self._rank = 0 if group is None else group.rank
        # What replicas do together is an operation of one process; with others, each replica is traced.
        self._traces_once = self._traces_once and self._hosts == 1

    # Who is who.

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self._devices) * self._hosts

    @property
    def _first_replica(self) -> int:
        return len(self._devices) * self._rank

    @property
    def experimental_between_graph(self) -> bool:  # type: ignore[override]
        """Whether each process has graphs of its own."""
        return True

    @property
    def should_checkpoint(self) -> bool:  # type: ignore[override]
        """Whether this process writes checkpoints that others read."""
        return self._rank == 0

    @property
    def should_save_summary(self) -> bool:  # type: ignore[override]
        """Whether this process writes summaries."""
        return self._rank == 0

    def _in_multi_worker_mode(self) -> bool:
        return self._hosts > 1

    # Variables.

    def _create_variable(self, next_creator, **keywords) -> Variable:
        if self._hosts > 1 and keywords.get("initial_value") is not None:
            keywords["initial_value"] = _chiefs(keywords["initial_value"], keywords.get("dtype"))
        return super()._create_variable(next_creator, **keywords)

    # Values.

    def _all_reduced(self, op, values) -> list:
        return self._reduced(op, values) if self._hosts > 1 else super()._all_reduced(op, values)

    def _reduced(self, op, values) -> list:
        local = [_local_value(op, value, len(self._devices)) for value in values]
        if self._hosts == 1:
            return local
        dense = [i for i, value in enumerate(local) if not isinstance(value, IndexedSlices)]
        results = list(local)
        for i, tensor in zip(dense, collective_ops.all_reduce([to_tensor(local[i]) for i in dense], op.value)):
            results[i] = tensor
        for i, value in enumerate(local):
            if isinstance(value, IndexedSlices):
                results[i] = self._gathered_slices(op, value)
        return results

    def _gathered_slices(self, op, slices):
        rows, _ = collective_ops.all_gather(slices.values, 0)
        indices, _ = collective_ops.all_gather(slices.indices, 0)
        if op is ReduceOp.MEAN:
            rows = rows / self._hosts
        return IndexedSlices(rows, indices, slices.dense_shape)

    def _summed(self, tensors) -> list:
        return tensors if self._hosts == 1 else collective_ops.all_reduce(tensors, ReduceOp.SUM.value)

    def _gathered(self, value, axis) -> tuple:
        local = gathered(value, axis)
        if self._hosts == 1:
            return local, 0
        result, sizes = collective_ops.all_gather(local, axis)
        return result, cast(reduce_sum(sizes[: self._rank]), dtypes.int32)

    def _reduce_to(self, op, value, destinations):
        if isinstance(value, Mirrored):
            return value
        return super()._reduce_to(op, value, destinations)

    # Datasets.

    def _divided(self, dataset, parts_of):
        if self._hosts == 1:
            return super()._divided(dataset, parts_of)
        return host_datasets.divided(dataset, parts_of, len(self._devices), self._hosts, self._rank)

    def _in_step(self, dataset):
        return dataset if self._hosts == 1 else host_datasets.agreeing(dataset)

    def _barrier(self) -> None:
        if self._group is not None:
            self._group.barrier()


def _local_value(op, value, replicas):
    """What the replicas of this process have of a value, as one."""
    if isinstance(value, DistributedValues) or replicas > 1:
        return reduced_value(op, value, replicas)
    return value


def _chiefs(initial_value, dtype):
    """The initial value that the chief has, on all workers."""

    def shared():
        value = initial_value() if callable(initial_value) else initial_value
        return collective_ops.broadcast(to_tensor(value, None if dtype is None else dtypes.as_dtype(dtype)))

    return shared


def _timeout(options):
    if options is None:
        return None
    if not isinstance(options, CommunicationOptions):
        raise ValueError(
            "MultiWorkerMirroredStrategy: communication_options must be a tf.distribute.experimental."
            f"CommunicationOptions, got {options!r}."
        )
    return options.timeout_seconds or None  # TF: 0 is no limit


@api("distribute.MultiWorkerMirroredStrategy", dispatch=False)
class MultiWorkerMirroredStrategy(Strategy):
    """Trains on several machines: each has a copy of all variables and takes its part of each batch.

    All workers run the same program, and each makes this strategy before it does anything else. It waits until all have
    come. `headrace launch -n 2 train.py` starts two on this machine. Alone, without `TF_CONFIG`, it is a
    `MirroredStrategy` of this machine's devices.

    Args:
        cluster_resolver: who the workers are, and which one this is; by default what `TF_CONFIG` says.
        communication_options: a `tf.distribute.experimental.CommunicationOptions`. Its `timeout_seconds` ends
            operations that wait longer for another worker, and waiting for workers at the start.

    >>> strategy = tf.distribute.MultiWorkerMirroredStrategy()
    >>> strategy.num_replicas_in_sync == len(tf.config.list_logical_devices("CPU"))
    True

    Raises:
        ValueError: `TF_CONFIG` is wrong; the message names the field.
        UnavailableError: workers did not come within `HEADRACE_CLUSTER_TIMEOUT` seconds (300, or the
            `timeout_seconds`); the message names them.
        FailedPreconditionError: workers are on other machines, and there is no secret.
    """

    def __init__(self, cluster_resolver=None, communication_options=None) -> None:
        self._resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        timeout = _timeout(communication_options)
        devices = tuple(canonical_name(name) for name in all_devices())
        super().__init__(MultiWorkerExtended(self, devices, self._joined(devices, timeout)))

    def _joined(self, devices, timeout):
        cluster = self._resolver.cluster_spec()
        kind, index = self._resolver.task_type, self._resolver.task_id
        members = members_of(cluster) if cluster and kind != "evaluator" else []
        if len(members) < 2:
            return None
        rank = [i for i, member in enumerate(members) if (member.job, member.index) == (kind, index)]
        if not rank:
            which = "is none of the workers" if kind is None else f"is {kind!r} {index!r}, which is none of the workers"
            raise ValueError(
                f"MultiWorkerMirroredStrategy: this process {which}: {', '.join(map(str, members))}. Set task.type and "
                "task.index in TF_CONFIG."
            )
        return joined(members, rank[0], {"the number of devices of a worker": len(devices)}, timeout)

    @property
    def cluster_resolver(self) -> Any:
        """Who knows the workers."""
        return self._resolver


@api("distribute.experimental.MultiWorkerMirroredStrategy", dispatch=False)
class FormerMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """The former name of `tf.distribute.MultiWorkerMirroredStrategy`, with other arguments.

    Args:
        communication: how values are carried; accepted.
        cluster_resolver: who the workers are, and which one this is.
    """

    def __init__(self, communication=None, cluster_resolver=None) -> None:
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication or "AUTO"))
