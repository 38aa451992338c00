"""`ReplicaContext`: what code on a replica can ask, and do together with the other replicas."""

from __future__ import annotations

from typing import Any

from headrace._src.autodiff.custom_gradient import custom_gradient
from headrace._src.core import dtypes, nest
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.distribute.places import Place
from headrace._src.distribute.reductions import reduce_op
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.box_slices import slice_ as slice_tensor
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.measuring import shape as shape_of


@api("distribute.ReplicaContext", dispatch=False)
class ReplicaContext:
    """What a function that runs on a replica can ask.

    Args:
        strategy: the strategy that runs it.
        replica_id_in_sync_group: the number of the replica.

    >>> def where():
    ...     return tf.distribute.get_replica_context().replica_id_in_sync_group
    >>> tf.distribute.OneDeviceStrategy("/CPU:0").run(where).numpy()
    np.int32(0)
    """

    def __init__(self, strategy, replica_id_in_sync_group=0) -> None:
        self._strategy = strategy
        self._number = replica_id_in_sync_group
        self._before: list = []

    @property
    def strategy(self) -> Any:
        """The strategy that runs it."""
        return self._strategy

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of this replica, as an int32 tensor."""
        if isinstance(self._number, int):
            return to_tensor(self._strategy.extended._first_replica + self._number, dtypes.int32)
        return self._number

    @property
    def _replica_id(self):
        return self.replica_id_in_sync_group

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def devices(self) -> list:
        """Where this replica runs."""
        return [self._strategy.extended.worker_devices[self._number]]

    def __enter__(self):
        self._before.append(context.change(place=Place(self._strategy, self, self._number)))
        return self

    def __exit__(self, *error) -> None:
        context.mode = self._before.pop()

    def merge_call(self, merge_fn, args=(), kwargs=None) -> Any:
        """Call a function once for all replicas, with the strategy as first argument.

        Args:
            merge_fn: the function. Of arguments that differ between replicas, it gets `PerReplica` values.
            args, kwargs: its further arguments.

        Returns:
            What it returns; of values that each replica has its own of, this replica's.
        """
        return self._merged(merge_fn, tuple(args), dict(kwargs or {}))

    def _merged(self, merge_fn, args, kwargs):
        with context.changed(place=Place(self._strategy)):
            return merge_fn(self._strategy, *args, **kwargs)

    def all_reduce(self, reduce_op, value, options=None) -> Any:
        """The values of all replicas as one, for each of them. Gradients go through it.

        Args:
            reduce_op: "sum", "mean" or a `tf.distribute.ReduceOp`.
            value: a tensor, an `IndexedSlices`, or a structure of them.
            options: how workers communicate.
        """
        op = _op(reduce_op)
        flat = nest.flatten(value)
        flat = [part if isinstance(part, (Tensor, IndexedSlices)) else to_tensor(part) for part in flat]
        if self.num_replicas_in_sync == 1:  # nothing to do: optimizers ask in every step
            return nest.pack_sequence_as(value, flat)
        if any(isinstance(part, IndexedSlices) for part in flat):
            return nest.pack_sequence_as(value, [_own(part) for part in self._all_reduced(op, flat)])

        @custom_gradient
        def all_reduced(*tensors):
            return self._all_reduced(op, tensors), lambda *grads: self._all_reduced(op, grads)

        results = all_reduced(*flat) if flat else []
        return nest.pack_sequence_as(value, results)

    def _all_reduced(self, op, tensors):
        def merged(strategy, *values):
            return strategy.extended._all_reduced(op, values)

        return list(self.merge_call(merged, args=tuple(tensors)))

    def all_gather(self, value, axis, options=None) -> Any:
        """The values of all replicas one after another along an axis, for each of them. Gradients go through it.

        Args:
            value: a tensor or a structure of them.
            axis: along which they are joined; their sizes there may differ.
            options: how workers communicate.
        """
        for part in nest.flatten(value):
            if isinstance(part, IndexedSlices):
                raise NotImplementedError("all_gather does not support IndexedSlices.")

        @custom_gradient
        def all_gathered(tensor):
            result, starts = self.merge_call(_gathered_with_starts, args=(_own(tensor), axis))

            def grad(upstream):
                (total,) = self._all_reduced(_op("SUM"), [upstream])
                begin = [0] * total.shape.rank
                begin[axis] = starts[self._number]
                return slice_tensor(total, begin, shape_of(tensor))

            return result, grad

        return nest.map_structure(lambda part: all_gathered(to_tensor(part)), value)


_op = reduce_op


def _own(value):
    """A tensor of this replica's own. What is the same object everywhere would count as not distributed."""
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values, value.indices, value.dense_shape)
    return EagerTensor(value._a, value.dtype) if type(value) is EagerTensor else value


def _gathered_with_starts(strategy, value, axis):
    result, at = strategy.extended._gathered(value, axis)
    starts = []
    parts = strategy.experimental_local_results(value)
    for part in parts:
        starts.append(at)
        at = at + shape_of(part)[axis]
    return result, starts


class DefaultReplicaContext(ReplicaContext):
    """The replica that all code runs on as long as nobody has chosen a strategy."""

    @property
    def replica_id_in_sync_group(self) -> int:
        return self._number  # TF: a number here, elsewhere a tensor

    @property
    def devices(self) -> list:
        return list(self._strategy.extended.worker_devices)

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        return None


class MirroredReplicaContext(ReplicaContext):
    """A replica among several, which wait for each other where they do something together.

    Args:
        strategy: the strategy that runs it.
        replica_id_in_sync_group: the number of the replica.
        merge: what hands a merge call over to the thread that runs the replicas.
    """

    def __init__(self, strategy, replica_id_in_sync_group, merge) -> None:
        super().__init__(strategy, replica_id_in_sync_group)
        self._merge = merge

    def _merged(self, merge_fn, args, kwargs):
        return self._merge(merge_fn, args, kwargs)
