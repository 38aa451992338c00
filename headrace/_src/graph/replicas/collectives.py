"""What replicas do together, as operations of the graph that one of them has.

Such a graph never runs by itself: `expansion.py` makes the graph of all replicas of it, in which these are sums and
joins; or it becomes a program that XLA runs on several devices, in which they are XLA's collectives along `AXIS`.
"""

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import jnp, lax
from headrace._src.core.shapes import TensorShape
from headrace._src.op.definition import Op

AXIS = "replica"


def _only_together(*args, **attrs):
    raise errors.InternalError(None, None, "An operation of all replicas was run on one of them.")


def _joined_shape(x, axis):
    if x.shape.rank is None:
        return x.shape
    sizes = x.shape.as_list()
    sizes[axis] = None  # replicas may have different sizes there
    return TensorShape(sizes)


# Stateful, so that they are neither computed beforehand nor left out on one replica.
REPLICA_NUMBER = Op(
    "ReplicaNumber",
    "-> output: int32",
    infer=lambda: TensorShape([]),
    kernel=_only_together,
    lower=lambda ctx: lax.axis_index(AXIS).astype(jnp.int32),
    grad=None,
    stateful=True,
)
ALL_REDUCE = Op(
    "ReplicaAllReduce",
    "x: T -> output: T",
    infer=lambda x: x.shape,
    kernel=_only_together,
    lower=lambda ctx, x: lax.psum(x, AXIS),
    grad=lambda node, dy: (ALL_REDUCE(dy),),
    stateful=True,
)
# Sums of fewer elements are computed as one: on the host's devices, replicas meet for each (35 us).
_FEW = 1 << 14


def _lower_several(ctx, values):
    few: dict = {}
    for i, x in enumerate(values):
        if x.size < _FEW:
            few.setdefault(jnp.asarray(x).dtype, []).append(i)
    sums = [None] * len(values)
    for numbers in few.values():
        total = lax.psum(jnp.concatenate([jnp.ravel(values[i]) for i in numbers]), AXIS)
        ends = np.cumsum([values[i].size for i in numbers])
        for i, part in zip(numbers, jnp.split(total, ends[:-1])):
            sums[i] = part.reshape(values[i].shape)
    return ([lax.psum(x, AXIS) if found is None else found for x, found in zip(values, sums)],)


# What `ALL_REDUCE`s that follow each other are in a program.
ALL_REDUCE_SEVERAL = Op(
    "ReplicaAllReduceSeveral",
    "values: list(T) -> sums: list(T)",
    infer=lambda values: ([spec.shape for spec in values],),
    kernel=_only_together,
    lower=_lower_several,
    grad=None,
    stateful=True,
)
ALL_GATHER = Op(
    "ReplicaAllGather",
    "x: T, *, axis: int -> output: T",
    infer=_joined_shape,
    kernel=_only_together,
    lower=lambda ctx, x, axis: lax.all_gather(x, AXIS, axis=axis, tiled=True),
    grad=None,
    stateful=True,
)
OF_FIRST_REPLICA = Op(
    "ReplicaOfFirst",
    "x: T -> output: T",
    infer=lambda x: x.shape,
    kernel=_only_together,
    lower=lambda ctx, x: lax.all_gather(x, AXIS)[0],
    grad=None,
    stateful=True,
)
COLLECTIVES = (ALL_REDUCE, ALL_GATHER, OF_FIRST_REPLICA)


def replica_number():
    """The number of the replica that the graph runs on, an int32 tensor."""
    return REPLICA_NUMBER()
