"""`tf.distribute`: the strategy that is in force, and the default one, which runs everything once, here."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from headrace._src.core import errors, nest
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.math.reductions import reduce_mean, reduce_sum
from headrace._src.program.device_scopes import device as device_scope


@api("distribute.ReduceOp", dispatch=False)
class ReduceOp(enum.Enum):
    """How values of several replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"


def _reduce_op(value) -> ReduceOp:
    if isinstance(value, ReduceOp):
        return value
    try:
        return ReduceOp[str(value).upper()]
    except KeyError:
        raise ValueError(f"reduce_op must be 'sum' or 'mean', got {value!r}.") from None


@api("distribute.DistributedValues", dispatch=False)
class DistributedValues:
    """A value that each replica has its own of."""


@api("distribute.DistributedDataset", dispatch=False)
class DistributedDataset:
    """A dataset whose batches are spread over replicas."""


@api("distribute.DistributedIterator", dispatch=False)
class DistributedIterator:
    """Walks through a dataset whose batches are spread over replicas."""


@api("distribute.StrategyExtended", dispatch=False)
class StrategyExtended:
    """What a strategy does for libraries such as optimizers."""

    experimental_between_graph = False
    experimental_require_static_shapes = False
    experimental_should_init = True
    should_checkpoint = True
    should_save_summary = True

    def __init__(self, strategy) -> None:
        self._strategy = strategy

    def variable_created_in_scope(self, v) -> bool:
        """Whether a variable was made under this strategy."""
        return True

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable) -> Iterator[None]:
        """Within this block, variables are made on the device of that variable."""
        yield

    def reduce_to(self, reduce_op, value, destinations, options=None) -> Any:
        """The values of all replicas as one, where it is wanted."""
        return value

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None) -> list:
        """Several `reduce_to` at once."""
        return [value for value, _ in value_destination_pairs]

    def update(self, var, fn, args=(), kwargs=None, group=True) -> Any:
        """Call `fn(var, *args)` where the variable is."""
        result = fn(var, *args, **(kwargs or {}))
        return result if group else [result]

    def call_for_each_replica(self, fn, args=(), kwargs=None) -> Any:
        """Call the function once for each replica."""
        return fn(*args, **(kwargs or {}))

    def read_var(self, v) -> Any:
        """The value of a variable."""
        return v.read_value() if hasattr(v, "read_value") else to_tensor(v)

    def value_container(self, value) -> Any:
        """The distributed value that a value is part of."""
        return value

    def parameter_devices(self) -> tuple[str, ...]:
        """Where variables are."""
        return ("/job:localhost/replica:0/task:0/device:CPU:0",)

    worker_devices = property(parameter_devices)

    def non_slot_devices(self, var_list) -> tuple[str, ...]:
        """Where an optimizer's own variables are."""
        return self.parameter_devices()

@api("distribute.Strategy", dispatch=False)
class Strategy:
    """How computations and variables are spread over devices.

    This one, the default, has one replica: everything runs once, here.

    Args:
        extended: what it does for libraries.
    """

    def __init__(self, extended=None) -> None:
        self._extended = StrategyExtended(self) if extended is None else extended

    @property
    def extended(self) -> StrategyExtended:
        """What the strategy does for libraries."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """Over how many replicas gradients are combined."""
        return 1

    @property
    def cluster_resolver(self) -> None:
        """Who knows the other machines; None when there are none."""
        return None

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        """Within this block, variables are made by this strategy."""
        yield self

    def run(self, fn, args=(), kwargs=None, options=None) -> Any:
        """Call a function on each replica.

        >>> tf.distribute.get_strategy().run(lambda x: x + 1, args=(1,))
        2
        """
        return self.extended.call_for_each_replica(fn, args, kwargs)

    def reduce(self, reduce_op, value, axis) -> Any:
        """The values of all replicas as one.

        Args:
            reduce_op: "sum", "mean" or a `tf.distribute.ReduceOp`.
            value: what each replica has.
            axis: the axis within each value that is summed as well, or None.
        """
        kind = _reduce_op(reduce_op)
        if axis is None:
            return value
        reduce = reduce_sum if kind is ReduceOp.SUM else reduce_mean
        return nest.map_structure(lambda part: reduce(part, axis=axis), value)

    def gather(self, value, axis) -> Any:
        """The values of all replicas one after another along an axis."""
        return value

    def experimental_distribute_dataset(self, dataset, options=None) -> Any:
        """The dataset with its batches spread over the replicas."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None) -> Any:
        """The dataset that a function of an `InputContext` makes for this machine."""
        return dataset_fn(InputContext())

    def experimental_distribute_values_from_function(self, value_fn) -> Any:
        """One value for each replica, from a function of a `ValueContext`."""
        return value_fn(ValueContext())

    def experimental_local_results(self, value) -> tuple:
        """What the replicas of this machine have of a value."""
        return (value,)

    def unwrap(self, value) -> tuple:
        """The same as `experimental_local_results`."""
        return self.experimental_local_results(value)


@api("distribute.OneDeviceStrategy", dispatch=False)
class OneDeviceStrategy(Strategy):
    """Runs everything on one device.

    Args:
        device: its name.
    """

    def __init__(self, device) -> None:
        super().__init__()
        self._device = device

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        """Within this block, variables and operations are on the device."""
        with entered(self), device_scope(self._device):
            yield self

    def run(self, fn, args=(), kwargs=None, options=None) -> Any:
        with device_scope(self._device):
            return super().run(fn, args, kwargs, options)


@api("distribute.TPUStrategy", "distribute.experimental.TPUStrategy", dispatch=False)
class TPUStrategy(Strategy):
    """Spreads training over the cores of TPUs, of which this machine has none.

    Raises:
        NotFoundError: always.
    """

    def __init__(self, tpu_cluster_resolver=None, experimental_device_assignment=None, **kwargs) -> None:
        raise errors.NotFoundError(None, None, "TPUStrategy: no TPU devices were found on this machine.")


@api("distribute.MultiWorkerMirroredStrategy", dispatch=False)
class MultiWorkerMirroredStrategy(Strategy):
    """Spreads training over machines; headrace cannot yet.

    Raises:
        UnimplementedError: always.
    """

    def __init__(self, cluster_resolver=None, communication_options=None) -> None:
        raise errors.UnimplementedError(
            None, None, "MultiWorkerMirroredStrategy: training on several machines is not implemented yet."
        )


class _DefaultDistributionStrategy(Strategy):
    """What is in force when nobody has chosen a strategy."""


@api("distribute.InputContext", dispatch=False)
class InputContext:
    """What a function that makes a dataset must know of the other machines."""

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1) -> None:
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size) -> int:
        """A replica's part of a batch.

        Raises:
            ValueError: it cannot be divided evenly.
        """
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                f"{self.num_replicas_in_sync}."
            )
        return global_batch_size // self.num_replicas_in_sync


@api("distribute.experimental.ValueContext", dispatch=False)
class ValueContext:
    """What a function that makes one value for each replica must know."""

    def __init__(self, replica_id_in_sync_group=0, num_replicas_in_sync=1) -> None:
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = num_replicas_in_sync


@api("distribute.ReplicaContext", dispatch=False)
class ReplicaContext:
    """What a function that runs on a replica can ask.

    Args:
        strategy: the strategy that runs it.
        replica_id_in_sync_group: the number of the replica.
    """

    def __init__(self, strategy, replica_id_in_sync_group=0) -> None:
        self._strategy = strategy
        self._number = replica_id_in_sync_group

    @property
    def strategy(self) -> Strategy:
        return self._strategy

    @property
    def replica_id_in_sync_group(self) -> int:
        """The number of this replica."""
        return self._number

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def devices(self) -> tuple:
        """Where this replica runs."""
        return self._strategy.extended.parameter_devices()

    def merge_call(self, merge_fn, args=(), kwargs=None) -> Any:
        """Call a function once for all replicas, with the strategy as first argument."""
        return merge_fn(self._strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op, value, options=None) -> Any:
        """The values of all replicas as one, for each of them."""
        _reduce_op(reduce_op)
        return nest.map_structure(lambda part: part if hasattr(part, "dtype") else to_tensor(part), value)

    def all_gather(self, value, axis, options=None) -> Any:
        """The values of all replicas one after another, for each of them."""
        return value

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        return None


_entered: list[Strategy] = []


@contextlib.contextmanager
def entered(strategy):
    """Within this block, a strategy is in force."""
    _entered.append(strategy)
    try:
        yield
    finally:
        _entered.pop()


_default = _DefaultDistributionStrategy()
_default_replica = ReplicaContext(_default)


@api("distribute.get_strategy", dispatch=False)
def get_strategy() -> Strategy:
    """The strategy that is in force."""
    return _entered[-1] if _entered else _default


@api("distribute.has_strategy", dispatch=False)
def has_strategy() -> bool:
    """Whether a strategy other than the default one is in force."""
    return bool(_entered)


@api("distribute.in_cross_replica_context", dispatch=False)
def in_cross_replica_context() -> bool:
    """Whether this code runs once for all replicas."""
    return False


@api("distribute.get_replica_context", dispatch=False)
def get_replica_context() -> ReplicaContext | None:
    """The replica that this code runs on."""
    return ReplicaContext(_entered[-1]) if _entered else _default_replica


@api("__internal__.distribute.strategy_supports_no_merge_call", dispatch=False)
def strategy_supports_no_merge_call() -> bool:
    """Whether optimizers may update variables without a merge call."""
    return True


@api("__internal__.distribute.interim.maybe_merge_call", dispatch=False)
def maybe_merge_call(fn, strategy, *args, **kwargs) -> Any:
    """Call `fn(strategy, ...)`, once for all replicas if the strategy needs that."""
    return fn(strategy, *args, **kwargs)
