"""`MirroredStrategy`: each device has a replica with copies of all variables; and variables in one place for all."""

from __future__ import annotations

import functools
import logging
import weakref
from typing import Any

from headrace._src.core.context import HOST, context
from headrace._src.core.devices import canonical_name
from headrace._src.devices.configuration import list_logical_devices
from headrace._src.distribute.contexts import MirroredReplicaContext, ReplicaContext
from headrace._src.distribute.reductions import CrossDeviceOps, on_devices_of, reduced_value
from headrace._src.distribute.replica_threads import Crew
from headrace._src.distribute.single_trace import can_be_traced_once, run_traced_once
from headrace._src.distribute.strategies import Strategy, StrategyExtended
from headrace._src.distribute.values import DistributedValues, NeedsReplicas, select_replica
from headrace._src.distribute.variables import (
    AggregatingVariable,
    MirroredVariable,
    SyncOnReadVariable,
    checked_use,
    make_copies,
)
from headrace._src.op.api import api
from headrace._src.program.device_scopes import device as device_scope
from headrace._src.state.variable_copies import VariableSynchronization
from headrace._src.state.variables import Variable
from headrace._src.tracing.function import Function, function

_log = logging.getLogger("headrace")

_ON_READ = VariableSynchronization.ON_READ


class ReplicatedExtended(StrategyExtended):
    """What strategies with several replicas on one machine do.

    Args:
        container_strategy: the strategy.
        devices: full names, one for each replica.
    """

    _traces_once = False  # whether replicas in graphs have one trace in common

    def __init__(self, container_strategy, devices) -> None:
        super().__init__(container_strategy)
        self._devices = tuple(devices)
        # tf.functions given to `run`, with the function of all replicas that runs in place of each.
        self._functions: Any = weakref.WeakKeyDictionary()

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return self._devices

    def _call_for_each_replica(self, fn, args, kwargs):
        if len(self._devices) == 1:
            # It waits for no other one of this process, so it needs no thread, and may do anything in a branch.
            with ReplicaContext(self._container, 0), device_scope(self._devices[0]):
                return fn(*select_replica(0, args), **select_replica(0, kwargs))
        if isinstance(fn, Function):
            return self._function_of_all(fn)(args, kwargs)
        if self._traces_once and can_be_traced_once():
            try:
                return run_traced_once(self._container, self._devices, fn, args, kwargs)
            except NeedsReplicas as error:  # each replica is traced for itself
                context.graph.traced_apart += (str(error),)
        make_context = functools.partial(MirroredReplicaContext, self._container)
        return Crew(self._container, make_context, self._devices).run(fn, args, kwargs)

    def _function_of_all(self, fn):
        """What runs a `tf.function` on all replicas in one graph, where they can do things together."""
        known = self._functions.get(fn)
        if known is None:
            reference = weakref.ref(fn)

            def all_replicas(args, kwargs):
                return self._call_for_each_replica(reference()._prepared(), args, kwargs)

            known = function(all_replicas, autograph=False)
            self._functions[fn] = known
        return known


class MirroredExtended(ReplicatedExtended):
    """What `MirroredStrategy` does.

    Args:
        container_strategy: the strategy.
        devices: full names, one for each replica.
        cross_device_ops: how values of several devices become one; None for a sum in the order of replicas.
    """

    def __init__(self, container_strategy, devices, cross_device_ops=None) -> None:
        super().__init__(container_strategy, devices)
        self._cross_device_ops = cross_device_ops
        self._traces_once = len(self._devices) > 1

    def _create_variable(self, next_creator, **keywords) -> Variable:
        synchronization, aggregation = checked_use(keywords)
        copies = make_copies(self._devices, next_creator, keywords)
        if synchronization is _ON_READ:
            return SyncOnReadVariable(self._container, copies, synchronization, aggregation)
        return MirroredVariable(self._container, copies, VariableSynchronization.ON_WRITE, aggregation)

    def _reduce_to(self, op, value, destinations):
        if isinstance(self._cross_device_ops, CrossDeviceOps) and isinstance(value, DistributedValues):
            if not isinstance(value, Variable):
                return self._cross_device_ops.reduce(op, value, destinations)
        return super()._reduce_to(op, value, destinations)


def all_devices():
    """All GPUs, or all CPUs when there is none, as full names."""
    logical = list_logical_devices("GPU") or list_logical_devices("CPU")
    return [canonical_name(device.name) for device in logical]


def _warn_of_absent(names):
    """Say which devices are not there: their replicas run on the host."""
    absent = [name for name in names if name not in {canonical_name(one.name) for one in list_logical_devices()}]
    if absent:
        _log.warning(
            "tf.distribute: there are no devices %s; their replicas run on the host's processors, after one another. "
            "tf.config.set_logical_device_configuration divides the host into several devices.", ", ".join(absent),
        )  # fmt: skip


def _names_of(devices):
    if isinstance(devices, str):
        raise ValueError(f"Devices must be a list of names, got the string {devices!r}. Write [{devices!r}].")
    names = tuple(canonical_name(device) for device in devices)
    if len(set(names)) != len(names):
        raise AssertionError(f"No duplicates allowed in `devices` argument: {names}")
    return names


@api("distribute.MirroredStrategy", dispatch=False)
class MirroredStrategy(Strategy):
    """Trains on several devices of one machine: each has a copy of all variables and takes its part of each batch.

    Args:
        devices: names of devices; by default all logical GPUs, or all logical CPUs when there is none.
        cross_device_ops: how values of several devices become one; the result is the same with all of them.

    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> with strategy.scope():
    ...     v = tf.Variable(1.0)
    >>> strategy.num_replicas_in_sync
    2
    >>> replies = strategy.run(lambda: v * 2.0)
    >>> strategy.reduce("SUM", replies, axis=None).numpy()
    np.float32(4.0)

    Raises:
        AssertionError: a device is named twice.
    """

    def __init__(self, devices=None, cross_device_ops=None) -> None:
        names = _names_of(devices) if devices else tuple(all_devices())
        _warn_of_absent(names)
        super().__init__(MirroredExtended(self, names, cross_device_ops))


class CentralStorageExtended(ReplicatedExtended):
    """What `CentralStorageStrategy` does.

    Args:
        container_strategy: the strategy.
        devices: full names, one for each replica.
        parameter_device: where variables are.
    """

    def __init__(self, container_strategy, devices, parameter_device) -> None:
        super().__init__(container_strategy, devices)
        self._parameter_device = parameter_device

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return (self._parameter_device,)

    def _create_variable(self, next_creator, **keywords) -> Variable:
        synchronization, aggregation = checked_use(keywords)
        with device_scope(self._parameter_device):
            variable = next_creator(**keywords)
        return AggregatingVariable(self._container, [variable], synchronization, aggregation)

    def _reduce_to(self, op, value, destinations):
        return on_devices_of(destinations, reduced_value(op, value, self._num_replicas_in_sync))


@api("distribute.experimental.CentralStorageStrategy", dispatch=False)
class CentralStorageStrategy(Strategy):
    """Trains on several devices of one machine, with the variables in one place for all.

    Args:
        compute_devices: names of the replicas' devices; by default all GPUs, or the first CPU when there is none.
        parameter_device: where variables are; by default on the host.
    """

    def __init__(self, compute_devices=None, parameter_device=None) -> None:
        if compute_devices:
            names = _names_of(compute_devices)
        else:
            names = tuple(canonical_name(device.name) for device in list_logical_devices("GPU")) or (HOST,)
        super().__init__(CentralStorageExtended(self, names, canonical_name(parameter_device or HOST)))
