"""What all workers do together, as ops: eagerly at once, in a graph between the compiled parts of a step."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.distribute.collectives import Group, current_group
from headrace._src.op.definition import Op
from headrace._src.op.traits import BETWEEN_PROGRAMS


def _group() -> Group:
    found = current_group()
    if found is None:
        raise errors.failed_precondition(
            "This graph reduces values over the workers of a tf.distribute.MultiWorkerMirroredStrategy, and this "
            "process has not made one."
        )
    return found


HOSTS_ALL_REDUCE = Op(
    "HostsAllReduce",
    "values: list(T), *, reduction: string = 'SUM' -> reduced: list(T)",
    traits=BETWEEN_PROGRAMS,
    infer=lambda values, reduction: ([spec.shape for spec in values],),
    kernel=lambda values, reduction: _group().all_reduce(values, reduction),
    lower=None,  # the other processes must come to it
    grad=None,  # contexts have it
    stateful=True,
)


def _gathered(value, axis):
    parts = _group().all_gather(value, axis)
    return np.concatenate(parts, axis), np.array([part.shape[axis] for part in parts], np.int64)


def _infer_gathered(value, axis):
    if value.shape.rank is None:
        return value.shape, TensorShape([None])
    sizes = value.shape.as_list()
    sizes[axis] = None
    return TensorShape(sizes), TensorShape([None])


HOSTS_ALL_GATHER = Op(
    "HostsAllGather",
    "value: T, *, axis: int -> gathered: T, sizes: int64",
    traits=BETWEEN_PROGRAMS,
    infer=_infer_gathered,
    kernel=_gathered,
    lower=None,  # the other processes must come to it
    grad=None,  # contexts have it
    stateful=True,
)

HOSTS_BROADCAST = Op(
    "HostsBroadcast",
    "value: T -> shared: T",
    infer=lambda value: value.shape,
    kernel=lambda value: _group().broadcast(value),
    lower=None,  # the other processes must come to it
    grad=None,  # only beginnings of variables are shared
    stateful=True,
)


def all_reduce(tensors: list[Tensor], reduction: str) -> list[Tensor]:
    """The tensors of all workers as one, each: those that can be in one message are."""
    return list(HOSTS_ALL_REDUCE(tensors, reduction=reduction)) if tensors else []


def all_gather(tensor: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The tensors of all workers one after another along an axis, and how long each is there.

    Raises:
        ValueError: there is no such axis.
    """
    rank = tensor.shape.rank
    if rank is None or not -rank <= axis < rank:
        raise ValueError(f"gather: `axis` = {axis} is not an axis of a tensor of shape {tensor.shape}.")
    return HOSTS_ALL_GATHER(tensor, axis=axis % rank)


def broadcast(tensor: Tensor) -> Tensor:
    """The chief's tensor, on all workers."""
    if tensor.dtype in (dtypes.resource, dtypes.variant):
        return tensor
    return HOSTS_BROADCAST(tensor)
