"""How the values of several replicas become one: sums, means, and the classes that TensorFlow lets users choose."""

from __future__ import annotations

import collections
import enum
from collections.abc import Sequence
from typing import Any

from headrace._src.distribute.values import AllReplicas, DistributedValues, Mirrored, NeedsReplicas
from headrace._src.graph.replicas.collectives import ALL_GATHER, ALL_REDUCE
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.joining import concat
from headrace._src.ops.math.arithmetic import add_n
from headrace._src.state.variable_copies import VariableAggregation
from headrace._src.state.variables import Variable


@api("distribute.ReduceOp", dispatch=False)
class ReduceOp(enum.Enum):
    """How values of several replicas become one.

    >>> tf.distribute.ReduceOp.SUM.value
    'SUM'
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation) -> ReduceOp:
        """What combines the copies of a variable with this aggregation.

        Raises:
            ValueError: nothing does.
        """
        for op, wanted in ((ReduceOp.SUM, VariableAggregation.SUM), (ReduceOp.MEAN, VariableAggregation.MEAN)):
            if aggregation == wanted:
                return op
        raise ValueError(
            f"Could not convert from `tf.VariableAggregation` {aggregation} to `tf.distribute.ReduceOp` type."
        )


@api("compat.v1.distribute.get_loss_reduction", dispatch=False)
def get_loss_reduction() -> ReduceOp:
    """How losses of replicas become one: their sum. TF: another answer is possible inside of estimators only."""
    return ReduceOp.SUM


def reduce_op(value) -> ReduceOp:
    """The `ReduceOp` that a user means.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, ReduceOp):
        return value
    name = str(getattr(value, "value", value)).upper()
    try:
        return ReduceOp(name)
    except ValueError:
        raise ValueError(f"{value!r} is not a valid ReduceOp: it must be 'SUM' or 'MEAN'.") from None


def reduced(op: ReduceOp, values: Sequence) -> Any:
    """The sum or mean of some tensors or `IndexedSlices`."""
    if any(isinstance(value, IndexedSlices) for value in values):
        return _reduced_slices(op, values)
    tensors = [to_tensor(value) for value in values]
    total = tensors[0] if len(tensors) == 1 else add_n(tensors)
    return total if op is ReduceOp.SUM else total / len(tensors)


def _reduced_slices(op, values):
    if not all(isinstance(value, IndexedSlices) for value in values):
        raise ValueError("Some replicas have IndexedSlices and others tensors; they cannot be reduced to one.")
    joined = concat([value.values for value in values], 0)
    if op is ReduceOp.MEAN:
        joined = joined / len(values)
    indices = concat([value.indices for value in values], 0)
    return IndexedSlices(joined, indices, values[0].dense_shape)


def _reduced_by_all(op, value, replicas):
    """The sum or mean of what each replica has, where code is traced once for all: an operation of the graph."""
    if isinstance(value, IndexedSlices):
        values = ALL_GATHER(value.values, axis=0)
        indices = ALL_GATHER(value.indices, axis=0)
        return IndexedSlices(values / replicas if op is ReduceOp.MEAN else values, indices, value.dense_shape)
    total = ALL_REDUCE(value)
    return total if op is ReduceOp.SUM else total / replicas


def reduced_value(op: ReduceOp, value: Any, replicas: int) -> Any:
    """What all replicas have of a value, as one.

    Raises:
        ValueError: the sum of a value that is not distributed is asked for, which has no meaning.
    """
    if isinstance(value, AllReplicas):
        return _reduced_by_all(op, value._of(0), replicas)
    if isinstance(value, DistributedValues):
        if isinstance(value, Mirrored) or (isinstance(value, Variable) and value.is_mirrored):
            raise AssertionError(
                f"A mirrored value cannot be reduced, all replicas have the same: {type(value).__name__}."
            )
        return reduced(op, value.values)
    if replicas == 1 or op is ReduceOp.MEAN:
        return value
    raise ValueError(
        f"reduce: {value} is one value for all replicas, which cannot be reduced with {op}: give what strategy.run "
        "returned."
    )


def gathered(value: Any, axis: Any) -> Any:
    """What all replicas have of a value, one after another along an axis."""
    parts = value._values if isinstance(value, DistributedValues) else [value]
    if any(isinstance(part, IndexedSlices) for part in parts):
        raise NotImplementedError("gather does not support IndexedSlices.")  # TF: the same class
    if isinstance(value, AllReplicas):
        tensor = to_tensor(parts[0])
        if tensor.shape.rank is None:
            raise NeedsReplicas("values of unknown rank")
        return ALL_GATHER(tensor, axis=int(axis) % max(tensor.shape.rank, 1))
    return concat([to_tensor(part) for part in parts], axis) if len(parts) > 1 else to_tensor(parts[0])


# What users choose how this is done with. There is one way here; the choice is kept and changes no result.


@api("distribute.CrossDeviceOps", dispatch=False)
class CrossDeviceOps:
    """How the values of several devices become one.

    >>> reduction = tf.distribute.ReductionToOneDevice()
    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0"], cross_device_ops=reduction)
    """

    @property
    def _num_between_graph_workers(self) -> int:
        return 1

    def reduce(self, reduce_op, per_replica_value, destinations, options=None) -> Any:
        """The value of all replicas as one.

        Args:
            reduce_op: "sum", "mean" or a `tf.distribute.ReduceOp`.
            per_replica_value: what each replica has.
            destinations: a device, or a value that has copies on several, of which the result then has as many.
            options: how workers communicate.
        """
        return on_devices_of(destinations, reduced(_op(reduce_op), _values(per_replica_value)))

    def batch_reduce(self, reduce_op, value_destination_pairs, options=None) -> list:
        """Several `reduce` at once."""
        return [self.reduce(reduce_op, value, destination, options) for value, destination in value_destination_pairs]

    def broadcast(self, tensor, destinations) -> Any:
        """Copies of a tensor where they are wanted."""
        return on_devices_of(destinations, tensor)

    def _gather(self, per_replica_value, destinations, axis, options=None) -> Any:
        return on_devices_of(destinations, gathered(per_replica_value, axis))


_op = reduce_op


def _values(value):
    return value.values if isinstance(value, DistributedValues) else [value]


def on_devices_of(destinations, tensor) -> Any:
    """A tensor, or as many copies of it as `destinations` has."""
    if isinstance(destinations, DistributedValues) and len(destinations._values) > 1:
        return Mirrored([tensor] * len(destinations._values))
    return tensor


@api("distribute.ReductionToOneDevice", dispatch=False)
class ReductionToOneDevice(CrossDeviceOps):
    """Copies all values to one device, adds them up there, and copies the result back.

    Args:
        reduce_to_device: which device.
        accumulation_fn: a function of a list of tensors that adds them up.
    """

    def __init__(self, reduce_to_device=None, accumulation_fn=None) -> None:
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = add_n if accumulation_fn is None else accumulation_fn

    def reduce(self, reduce_op, per_replica_value, destinations, options=None) -> Any:
        op, values = _op(reduce_op), _values(per_replica_value)
        if any(isinstance(value, IndexedSlices) for value in values):
            return super().reduce(op, per_replica_value, destinations, options)
        total = self.accumulation_fn([to_tensor(value) for value in values])
        return on_devices_of(destinations, total if op is ReduceOp.SUM else total / len(values))


class AllReduceCrossDeviceOps(CrossDeviceOps):
    """An all-reduce between all devices."""

    def __init__(self, num_packs=1) -> None:
        if num_packs < 0:
            raise ValueError(f"num_packs must not be negative, got {num_packs}.")
        self._num_packs = num_packs


@api("distribute.NcclAllReduce", dispatch=False)
class NcclAllReduce(AllReduceCrossDeviceOps):
    """An all-reduce of NVIDIA's library; accepted, as the result is the same.

    Args:
        num_packs: into how many packages values are put.
    """


@api("distribute.HierarchicalCopyAllReduce", dispatch=False)
class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """An all-reduce along a tree of devices; accepted, as the result is the same.

    Args:
        num_packs: into how many packages values are put.
    """


@api(
    "distribute.experimental.CommunicationImplementation", "distribute.experimental.CollectiveCommunication",
    dispatch=False,
)  # fmt: skip
class CommunicationImplementation(enum.Enum):
    """Which library carries values between machines; accepted."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


_Options = collections.namedtuple("_Options", ["bytes_per_pack", "timeout_seconds", "implementation"])


@api("distribute.experimental.CommunicationOptions", dispatch=False)
class CommunicationOptions(_Options):
    """How values are carried between devices and machines; accepted, as the result is the same.

    Args:
        bytes_per_pack: the size of the packages; 0 for any.
        timeout_seconds: how long to wait for other workers; None or 0 for any time.
        implementation: a `CommunicationImplementation`.

    Raises:
        ValueError: `bytes_per_pack` is negative, or `implementation` none of them.
    """

    def __new__(
        cls, bytes_per_pack=0, timeout_seconds=None, implementation=CommunicationImplementation.AUTO
    ) -> CommunicationOptions:
        if bytes_per_pack < 0:
            raise ValueError(f"CommunicationOptions: bytes_per_pack must not be negative, got {bytes_per_pack}.")
        if isinstance(implementation, str):
            implementation = CommunicationImplementation(implementation.upper())
        if not isinstance(implementation, CommunicationImplementation):
            raise ValueError(
                "Argument `implementation` must be a `tf.distribute.experimental.CommunicationImplementation` or its "
                f"name, got {implementation!r}."
            )
        return super().__new__(cls, bytes_per_pack, timeout_seconds, implementation)


@api("distribute.experimental.CollectiveHints", dispatch=False)
def CollectiveHints(bytes_per_pack=0, timeout_seconds=None) -> CommunicationOptions:
    """The former name of `CommunicationOptions`."""
    return CommunicationOptions(bytes_per_pack, timeout_seconds)
