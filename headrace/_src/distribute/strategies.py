"""`tf.distribute.Strategy`: how computations and variables are spread, the default one, and that of one device."""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Iterator
from typing import Any

from headrace._src.autograph.calls import tf_convert
from headrace._src.autograph.status import control_status_ctx
from headrace._src.core import nest
from headrace._src.core.context import HOST, context
from headrace._src.core.devices import canonical_name
from headrace._src.data.datasets import DatasetV2
from headrace._src.distribute import datasets
from headrace._src.distribute.contexts import DefaultReplicaContext, ReplicaContext
from headrace._src.distribute.places import Place, place_here, require_cross_replica, stands_for_each
from headrace._src.distribute.reductions import ReduceOp, gathered, on_devices_of, reduce_op, reduced_value
from headrace._src.distribute.scopes import Scope
from headrace._src.distribute.values import DistributedValues, regroup, select_replica
from headrace._src.distribute.variables import checked_use
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.measuring import shape as shape_of
from headrace._src.ops.math.arithmetic import add_n
from headrace._src.ops.math.reductions import reduce_mean, reduce_prod, reduce_sum
from headrace._src.program.device_scopes import device as device_scope
from headrace._src.state.variables import Variable, variable_creator_scope


@api("distribute.StrategyExtended", dispatch=False)
class StrategyExtended:
    """What a strategy does for libraries such as optimizers."""

    # TF: what Keras 2 asks: the size of a batch is that of all replicas together; nothing is traced once per device.
    _global_batch_size = True
    _retrace_functions_for_each_device = False

    experimental_between_graph = False
    experimental_require_static_shapes = False
    experimental_should_init = True
    should_checkpoint = True
    should_save_summary = True

    def __init__(self, container_strategy) -> None:
        self._container = container_strategy

    def _container_strategy(self):
        return self._container

    # The parts that strategies differ in.

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """Where replicas run."""
        return (HOST,)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """Where variables are."""
        return self.worker_devices

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self.worker_devices)

    def _create_variable(self, next_creator, **keywords) -> Variable:
        with device_scope(self.parameter_devices[0]):
            return next_creator(**keywords)

    def _call_for_each_replica(self, fn, args, kwargs) -> Any:
        replica = ReplicaContext(self._container, 0)
        with replica, device_scope(self.worker_devices[0]):
            return fn(*select_replica(0, args), **select_replica(0, kwargs))

    @property
    def _first_replica(self) -> int:
        """The number of the first replica of this process among those of all processes."""
        return 0

    def _reduced(self, op, values) -> list:
        """What all replicas, of all processes, have of each of some values, as one."""
        return [reduced_value(op, value, self._num_replicas_in_sync) for value in values]

    def _all_reduced(self, op, values) -> list:
        """The same for replicas that ask. TF: what is the same object on all replicas stays as it is."""
        return [
            self._reduced(op, [value])[0] if isinstance(value, DistributedValues) else value for value in values
        ]

    def _summed(self, tensors) -> list:
        """Sums over the replicas of this process, added up over all processes."""
        return tensors

    def _gathered(self, value, axis) -> tuple:
        """What all replicas have of a value, one after another, and where those of this process begin."""
        return gathered(value, axis), 0

    def _divided(self, dataset, parts_of) -> DatasetV2:
        """The dataset of what the replicas of this process get of each batch.

        Args:
            dataset: of batches for all replicas.
            parts_of: from numbers of replicas, a function of a batch that returns their parts.
        """
        return dataset.map(parts_of(range(self._num_replicas_in_sync)))

    def _in_step(self, dataset) -> DatasetV2:
        """A dataset that ends for all processes at the same time."""
        return dataset

    def _use_merge_call(self) -> bool:
        return True

    def _in_multi_worker_mode(self) -> bool:
        return False

    # What they share.

    def call_for_each_replica(self, fn, args=(), kwargs=None) -> Any:
        """Call the function once for each replica."""
        require_cross_replica(self._container)
        with self._container.scope():
            return self._call_for_each_replica(fn, tuple(args or ()), dict(kwargs or {}))

    def variable_created_in_scope(self, v) -> bool:
        """Whether a variable was made under this strategy."""
        return getattr(v, "_distribute_strategy_of", lambda: None)() is self._container

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable) -> Iterator[None]:
        """Within this block, variables are made on the devices of that variable."""
        yield

    def reduce_to(self, reduce_op, value, destinations, options=None) -> Any:
        """The values of all replicas as one, where it is wanted.

        Args:
            reduce_op: "sum", "mean" or a `tf.distribute.ReduceOp`.
            value: what each replica has.
            destinations: a device, or a value whose copies are where the result is wanted.
            options: how workers communicate.
        """
        require_cross_replica(self._container)
        return self._reduce_to(_op(reduce_op), value, destinations)

    def _reduce_to(self, op, value, destinations):
        return on_devices_of(destinations, self._reduced(op, [value])[0])

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None) -> list:
        """Several `reduce_to` at once."""
        return [self.reduce_to(reduce_op, value, where, options) for value, where in value_destination_pairs]

    def broadcast_to(self, tensor, destinations) -> Any:
        """Copies of a tensor where they are wanted."""
        return on_devices_of(destinations, tensor)

    def update(self, var, fn, args=(), kwargs=None, group=True) -> Any:
        """Call `fn(var, *args)` for each copy of a variable, where it is.

        Args:
            var: the variable.
            fn: what changes it.
            args, kwargs: its further arguments; of `PerReplica` and mirrored values, each call gets its part.
            group: whether the results become one, or a tuple of them is returned.
        """
        place = place_here()
        if place is not None and place.replica is not None:
            if not self._use_merge_call():
                return fn(var, *args, **(kwargs or {}))

            def merged(strategy, *args, **kwargs):
                return self.update(var, fn, args, kwargs, group)

            return place.replica.merge_call(merged, args=tuple(args), kwargs=kwargs)
        results = []
        every = stands_for_each()
        copies = var._values if isinstance(var, DistributedValues) else (var,)
        for i, copy in enumerate(copies[:1] if every else copies):
            with context.changed(place=Place(self._container, None, i, every)), device_scope(copy.device):
                results.append(fn(copy, *select_replica(i, tuple(args)), **select_replica(i, dict(kwargs or {}))))
        if not group:
            return tuple(results)
        return regroup(results) if len(results) > 1 else results[0]

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None, group=True) -> Any:
        """Call `fn(*args)` where an optimizer's own variables are."""
        result = fn(*args, **(kwargs or {}))
        return result if group else (result,)

    def read_var(self, v) -> Any:
        """The value of a variable."""
        return v.read_value() if hasattr(v, "read_value") else to_tensor(v)

    def value_container(self, value) -> Any:
        """The distributed value that a value is part of."""
        container = getattr(value, "_distributed_container", None)
        return value if container is None else container()

    def non_slot_devices(self, var_list) -> tuple[str, ...]:
        """Where an optimizer's own variables are."""
        return self.parameter_devices

    def _local_results(self, value) -> tuple:
        if isinstance(value, DistributedValues):
            return value.values
        return (value,)


@api("distribute.Strategy", dispatch=False)
class Strategy:
    """How computations and variables are spread over devices.

    Args:
        extended: what it does for libraries.
    """

    # TF: what Keras 2 asks: whether a coordinator gives work to parameter servers.
    _should_use_with_coordinator = False

    def __init__(self, extended=None) -> None:
        self._extended = StrategyExtended(self) if extended is None else extended
        self._entered: list = []  # scopes that are, which some programs enter without holding them

    @property
    def extended(self) -> StrategyExtended:
        """What the strategy does for libraries."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """Over how many replicas gradients are combined."""
        return self._extended._num_replicas_in_sync

    @property
    def cluster_resolver(self) -> None:
        """Who knows the other machines; None when there are none."""
        return None

    def scope(self) -> Scope:
        """Within this block, variables are made by this strategy.

        Raises:
            RuntimeError: on a replica, or within the scope of another strategy.
        """
        return Scope(self)

    @contextlib.contextmanager
    def _block(self) -> Iterator[Any]:
        """What a scope is while it is entered."""
        require_cross_replica(self)
        if place_here() is not None:
            yield self
            return
        with context.changed(place=Place(self)), variable_creator_scope(self._create):
            yield self

    def _create(self, next_creator, **keywords):
        """The variable creator of the scope."""
        checked_use(keywords)
        place = place_here()
        # What a replica makes belongs to all of them.
        with context.changed(place=None if place is None else Place(self)):
            variable = self._extended._create_variable(next_creator, **keywords)
        variable._distribute_strategy_of = lambda: self
        return variable

    def run(self, fn, args=(), kwargs=None, options=None) -> Any:
        """Call a function on each replica.

        Args:
            fn: the function.
            args, kwargs: its arguments; of `PerReplica` values, each replica gets its own.
            options: accepted.

        Returns:
            What the replicas return: `PerReplica` values where it differs, and there are several.

        >>> strategy = tf.distribute.OneDeviceStrategy("/CPU:0")
        >>> strategy.run(lambda x: x + 1, args=(tf.constant(1),)).numpy()
        np.int32(2)

        Raises:
            RuntimeError: on a replica.
        """
        if not isinstance(args, (list, tuple)):
            raise ValueError(f"run: args must be a tuple or list of arguments, got {args!r}.")
        if context.graph is not None:
            fn = tf_convert(fn, control_status_ctx(), convert_by_default=False)
        return self._extended.call_for_each_replica(fn, args, kwargs)

    def reduce(self, reduce_op, value, axis=None) -> Any:
        """The values of all replicas as one.

        Args:
            reduce_op: "sum", "mean" or a `tf.distribute.ReduceOp`.
            value: what each replica has, or a structure of such values.
            axis: the axis within each value that is summed as well, or None.
        """
        op = _op(reduce_op)
        require_cross_replica(self)
        if axis is not None and not all(isinstance(a, numbers.Integral) for a in nest.flatten(axis)):
            raise TypeError(f"reduce: `axis` must be a whole number, several of them or None, got {axis!r}.")
        if axis is not None and _is_of_numbers(value):
            value = to_tensor(value)
        with self.scope():
            return nest.map_structure(lambda part: self._reduced(op, part, axis), value)

    def _reduced(self, op, value, axis):
        if axis is None:
            return self._extended._reduced(op, [value])[0]
        # What is no distributed value is what each replica has.
        here = len(self._extended.worker_devices)
        parts = value.values if isinstance(value, DistributedValues) else [value] * here
        parts = [to_tensor(part) for part in parts]
        if parts[0].shape.rank == 0:  # Keras asks for the mean of scalars along axis 0
            return self._extended._reduced(op, [value])[0]
        rank = parts[0].shape.rank
        if rank is not None and any(not -rank <= int(a) < rank for a in nest.flatten(axis)):
            raise ValueError(f"reduce: `axis` = {axis} is not an axis of values of {rank} dimensions.")
        sums = [reduce_sum(part, axis=axis) for part in parts]
        if op is ReduceOp.SUM:
            return self._extended._summed([add_n(sums) if len(sums) > 1 else sums[0]])[0]
        is_alone = len(parts) == 1 and self.num_replicas_in_sync == here  # of no other process
        if is_alone and (parts[0].dtype.is_floating or parts[0].dtype.is_complex):
            return reduce_mean(parts[0], axis=axis)
        return _mean_of(parts, sums, axis, self._extended._summed)

    def gather(self, value, axis) -> Any:
        """The values of all replicas one after another along an axis.

        >>> strategy = tf.distribute.OneDeviceStrategy("/CPU:0")
        >>> strategy.gather(tf.constant([1, 2]), axis=0).numpy()
        array([1, 2], dtype=int32)
        """
        require_cross_replica(self)
        if axis is None:
            raise ValueError("gather: `axis` must be an integer, got None.")
        return nest.map_structure(lambda part: self._extended._gathered(part, axis)[0], value)

    def experimental_distribute_dataset(self, dataset, options=None) -> Any:
        """The dataset with each of its batches spread over the replicas.

        Args:
            dataset: a dataset of batches of the global size.
            options: a `tf.distribute.InputOptions`.

        >>> strategy = tf.distribute.OneDeviceStrategy("/CPU:0")
        >>> for batch in strategy.experimental_distribute_dataset(tf.data.Dataset.range(3).batch(2)):
        ...     print(batch.numpy())
        [0 1]
        [2]
        """
        return datasets.spread(dataset, self, options)

    def distribute_datasets_from_function(self, dataset_fn, options=None) -> Any:
        """The dataset that a function of an `InputContext` makes; each of its batches is for one replica.

        Args:
            dataset_fn: the function.
            options: a `tf.distribute.InputOptions`.
        """
        return datasets.from_function(dataset_fn, self, options)

    def experimental_distribute_datasets_from_function(self, dataset_fn, options=None) -> Any:
        """The former name of `distribute_datasets_from_function`."""
        return self.distribute_datasets_from_function(dataset_fn, options)

    def experimental_distribute_values_from_function(self, value_fn) -> Any:
        """One value for each replica, from a function of a `ValueContext`.

        >>> strategy = tf.distribute.OneDeviceStrategy("/CPU:0")
        >>> strategy.experimental_distribute_values_from_function(lambda context: context.num_replicas_in_sync)
        1
        """
        require_cross_replica(self)
        count, first = self.num_replicas_in_sync, self._extended._first_replica
        here = range(first, first + len(self._extended.worker_devices))
        return regroup([value_fn(ValueContext(i, count)) for i in here])

    def experimental_local_results(self, value) -> tuple:
        """What the replicas of this machine have of a value, as a tuple."""
        if isinstance(value, DistributedValues):
            return self._extended._local_results(value)
        flat = nest.flatten(value)
        if not any(isinstance(part, DistributedValues) for part in flat):
            return (value,)
        columns = [self._extended._local_results(part) for part in flat]
        count = max(len(column) for column in columns)
        rows = [[column[i] if len(column) == count else column[0] for column in columns] for i in range(count)]
        return tuple(nest.pack_sequence_as(value, row) for row in rows)

    def unwrap(self, value) -> tuple:
        """The same as `experimental_local_results`."""
        return self.experimental_local_results(value)

    def group(self, value, name=None) -> Any:
        """The values of the replicas, of which the first stands for all."""
        return self.experimental_local_results(value)[0]

    # Methods of 1.x.

    def experimental_run(self, fn, input_iterator=None) -> Any:
        """The former name of `run`, with the function's argument from an iterator."""
        args = () if input_iterator is None else (input_iterator.get_next(),)
        return self.run(fn, args=args)

    def make_dataset_iterator(self, dataset) -> Any:
        """Belongs to 1.x: an iterator for sessions.

        Raises:
            NotImplementedError: always; the message says what to use.
        """
        raise NotImplementedError("make_dataset_iterator belongs to 1.x. Use iter(strategy."
                                  "experimental_distribute_dataset(dataset)).")  # fmt: skip

    def make_input_fn_iterator(self, input_fn, replication_mode=None) -> Any:
        """Belongs to 1.x: an iterator for sessions.

        Raises:
            NotImplementedError: always; the message says what to use.
        """
        raise NotImplementedError("make_input_fn_iterator belongs to 1.x. Use iter(strategy."
                                  "distribute_datasets_from_function(input_fn)).")  # fmt: skip

    def experimental_make_numpy_dataset(self, numpy_input) -> Any:
        """Belongs to 1.x.

        Raises:
            NotImplementedError: always; the message says what to use.
        """
        raise NotImplementedError("experimental_make_numpy_dataset belongs to 1.x. Use tf.data.Dataset."
                                  "from_tensor_slices(numpy_input).")  # fmt: skip

    def configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None) -> None:
        """Belongs to 1.x; there is nothing to configure."""

    def update_config_proto(self, config_proto) -> Any:
        """The message as it is: there is nothing to configure."""
        return config_proto

    def colocate_vars_with(self, colocate_with_variable) -> Any:
        """The former name of `extended.colocate_vars_with`."""
        return self._extended.colocate_vars_with(colocate_with_variable)


_op = reduce_op


def _is_of_numbers(value):
    """Whether this is a list of numbers, which has axes, and no structure of values."""
    return isinstance(value, (list, tuple)) and all(isinstance(part, numbers.Number) for part in nest.flatten(value))


def _mean_of(parts, sums, axis, summed):
    """The mean along an axis of what all replicas have, which may have different lengths there.

    Args:
        parts: what the replicas of this process have.
        sums: along the axis, of each.
        axis: one, or several.
        summed: adds up tensors over all processes.
    """
    axes = [int(a) % parts[0].shape.rank for a in nest.flatten(axis)]
    counts = []
    for part in parts:
        sizes = shape_of(part, out_type="int64")
        counts.append(reduce_prod(to_tensor([sizes[a] for a in axes]) if len(axes) > 1 else sizes[axes[0]]))
    total, count = summed([add_n(sums), add_n(counts)])
    kind = total.dtype if total.dtype.is_floating or total.dtype.is_complex else "float64"
    return cast(total, kind) / cast(count, kind)


class _DefaultDistributionExtended(StrategyExtended):
    def variable_created_in_scope(self, v) -> bool:
        return not hasattr(v, "_distribute_strategy_of")

    def _call_for_each_replica(self, fn, args, kwargs):
        return fn(*args, **kwargs)

    def call_for_each_replica(self, fn, args=(), kwargs=None) -> Any:
        return fn(*args, **(kwargs or {}))

    def update(self, var, fn, args=(), kwargs=None, group=True) -> Any:
        result = fn(var, *args, **(kwargs or {}))
        return result if group else [result]


class _DefaultDistributionStrategy(Strategy):
    """What is in force when nobody has chosen a strategy: everything runs once, here."""

    def __init__(self) -> None:
        super().__init__(_DefaultDistributionExtended(self))

    @contextlib.contextmanager
    def _block(self) -> Iterator[Any]:
        require_cross_replica(self)
        yield self

    def run(self, fn, args=(), kwargs=None, options=None) -> Any:
        return self._extended.call_for_each_replica(fn, args, kwargs)

    def experimental_distribute_dataset(self, dataset, options=None) -> Any:
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None) -> Any:
        return dataset_fn(datasets.InputContext())


@api("distribute.experimental.ValueContext", dispatch=False)
class ValueContext:
    """What a function that makes one value for each replica must know.

    Args:
        replica_id_in_sync_group: the number of the replica.
        num_replicas_in_sync: how many there are.
    """

    def __init__(self, replica_id_in_sync_group=0, num_replicas_in_sync=1) -> None:
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = num_replicas_in_sync


class OneDeviceExtended(StrategyExtended):
    """What `OneDeviceStrategy` does."""

    def __init__(self, container_strategy, device) -> None:
        super().__init__(container_strategy)
        self._device = canonical_name(device)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return (self._device,)


@api("distribute.OneDeviceStrategy", dispatch=False)
class OneDeviceStrategy(Strategy):
    """Runs everything on one device.

    Args:
        device: its name.

    >>> strategy = tf.distribute.OneDeviceStrategy("/CPU:0")
    >>> with strategy.scope():
    ...     v = tf.Variable(1.0)
    >>> strategy.run(lambda: v + 1.0).numpy()
    np.float32(2.0)
    """

    def __init__(self, device) -> None:
        super().__init__(OneDeviceExtended(self, device))


# What is in force.

_default = _DefaultDistributionStrategy()
_default_replica = DefaultReplicaContext(_default)
_chosen: list = []  # what leaves the scope that `experimental_set_strategy` has entered


@api("distribute.get_strategy", dispatch=False)
def get_strategy() -> Strategy:
    """The strategy that is in force.

    >>> tf.distribute.get_strategy().num_replicas_in_sync
    1
    """
    place = place_here()
    return _default if place is None else place.strategy


@api("distribute.has_strategy", dispatch=False)
def has_strategy() -> bool:
    """Whether a strategy other than the default one is in force."""
    place = place_here()
    return place is not None and place.strategy is not _default


@api("distribute.in_cross_replica_context", dispatch=False)
def in_cross_replica_context() -> bool:
    """Whether this code runs once for all replicas."""
    place = place_here()
    return place is not None and place.replica is None


@api("distribute.get_replica_context", dispatch=False)
def get_replica_context() -> ReplicaContext | None:
    """The replica that this code runs on; None for code that runs once for all."""
    place = place_here()
    return _default_replica if place is None else place.replica


@api("distribute.experimental_set_strategy", dispatch=False)
def experimental_set_strategy(strategy) -> None:
    """Enter the scope of a strategy for the rest of the program, or with None leave it.

    Raises:
        RuntimeError: within a `scope()` block.
    """
    if _chosen:
        _chosen.pop().close()
    if place_here() is not None:
        raise RuntimeError("experimental_set_strategy: leave the scope of the other strategy first.")
    if strategy is not None:
        stack = contextlib.ExitStack()
        stack.enter_context(strategy.scope())
        _chosen.append(stack)


@api("__internal__.distribute.strategy_supports_no_merge_call", dispatch=False)
def strategy_supports_no_merge_call() -> bool:
    """Whether optimizers may update variables without a merge call."""
    return not has_strategy() or not get_strategy().extended._use_merge_call()


@api("__internal__.distribute.interim.maybe_merge_call", dispatch=False)
def maybe_merge_call(fn, strategy, *args, **kwargs) -> Any:
    """Call `fn(strategy, ...)`, once for all replicas if the strategy needs that."""
    if strategy_supports_no_merge_call():
        return fn(strategy, *args, **kwargs)
    replica = get_replica_context()
    if replica is None:  # this code runs once for all already
        return fn(strategy, *args, **kwargs)
    return replica.merge_call(fn, args=args, kwargs=kwargs)
