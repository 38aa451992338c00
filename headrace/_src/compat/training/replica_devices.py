"""`tf.compat.v1.train.replica_device_setter`: which task of a cluster an operation belongs to."""

from collections.abc import Callable
from typing import Any

from headrace._src.compat.accumulator_ops import CONDITIONAL_ACCUMULATOR
from headrace._src.core.devices import DeviceSpec
from headrace._src.distribute.cluster_specs import ClusterSpec
from headrace._src.graph.building.graph_variables import VARIABLE
from headrace._src.op.api import api
from headrace._src.state.storage import VAR_HANDLE
from headrace._src.state.table_ops import (
    MUTABLE_DENSE_HASH_TABLE,
    MUTABLE_HASH_TABLE,
    MUTABLE_HASH_TABLE_OF_TENSORS,
)

# TF: the ops that make what parameter servers keep. The last ones are in graphs of TensorFlow's only.
_KEPT = frozenset({
    *(op.name for op in (
        VARIABLE, VAR_HANDLE, MUTABLE_HASH_TABLE, MUTABLE_HASH_TABLE_OF_TENSORS, MUTABLE_DENSE_HASH_TABLE,
        CONDITIONAL_ACCUMULATOR,
    )),
    "Variable", "AutoReloadVariable", "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable",
    "BoostedTreesEnsembleResourceHandleOp", "BoostedTreesQuantileStreamResourceHandleOp", "DecisionTreeResource",
})  # fmt: skip


class _InTurn:
    """The tasks one after another."""

    def __init__(self, tasks):
        self._tasks, self._next = tasks, 0

    def __call__(self, operation):
        task, self._next = self._next, (self._next + 1) % self._tasks
        return task


@api("compat.v1.train.replica_device_setter", dispatch=False)
def replica_device_setter(
    ps_tasks=0, ps_device="/job:ps", worker_device="/job:worker", merge_devices=True, cluster=None, ps_ops=None,
    ps_strategy=None,
) -> Callable[[Any], str] | None:  # fmt: skip
    """A function of an operation that names its device: variables go to the parameter servers in turn, all else to
    the worker. All devices of a graph are of this process, so `tf.compat.v1.device` asks it for nothing.

    Args:
        ps_tasks: how many parameter servers there are. Without any, the result is None.
        ps_device: the device of parameter servers.
        worker_device: the device of workers.
        merge_devices: whether parts of the device that an operation has stay.
        cluster: a `tf.train.ClusterSpec`, or its dictionary, in the place of `ps_tasks`.
        ps_ops: the ops that belong to parameter servers.
        ps_strategy: a function of an operation to the number of a parameter server; in turn if None.

    Raises:
        TypeError: `ps_strategy` is no function.

    >>> print(tf.compat.v1.train.replica_device_setter())
    None
    """
    if cluster is not None:
        jobs = ClusterSpec(cluster).as_dict()
        ps_tasks = len(jobs.get(DeviceSpec.from_string(ps_device).job) or ())
    if not ps_tasks:
        return None
    strategy = _InTurn(ps_tasks) if ps_strategy is None else ps_strategy
    if not callable(strategy):
        raise TypeError("ps_strategy must be callable")
    kept = _KEPT if ps_ops is None else frozenset(ps_ops)

    def device(operation):
        if operation.device and not merge_devices:
            return operation.device
        current = DeviceSpec.from_string(operation.device or "")
        chosen = DeviceSpec.from_string(worker_device or "")
        if ps_device and getattr(operation, "type", None) in kept:
            chosen = DeviceSpec.from_string(ps_device)
            if chosen.job and (not current.job or current.job == chosen.job):
                chosen = chosen.replace(task=strategy(operation))
        return chosen.make_merged_spec(current).to_string()

    return device
