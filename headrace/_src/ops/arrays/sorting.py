"""Sorting along an axis: sort and argsort."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import get_static_value
from headrace._src.ops.arrays.measuring import shape as shape_of
from headrace._src.ops.arrays.ranking import TOP_K_V2, comparable
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.math.arithmetic import NEG, SUB


def _checked(op, values, axis, direction):
    """The tensor, the axis (not negative when the rank is known), and whether the order is ascending."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{op}: direction must be ASCENDING or DESCENDING, got {direction!r}.")
    at = get_static_value(axis)
    if at is None:
        raise ValueError(f"{op}: axis must be known while the graph is built.")
    values, at = to_tensor(values), int(at)
    rank = values.shape.rank
    if rank is not None:
        if not -rank <= at < rank:
            raise errors.invalid_argument(f"{op}: axis must be in [{-rank}, {rank}), got {at}.")
        at %= rank
    elif at != -1:
        raise ValueError(f"{op}: an axis other than -1 needs values of known rank.")
    return values, at, direction == "ASCENDING"


def _last_axis_swap(rank, axis):
    """The permutation that exchanges an axis with the last one, or None."""
    if rank is None or axis == rank - 1:
        return None
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    return order


def _complement(x):
    """Numbers in the opposite order; the complement of the complement is the number itself."""
    if x.dtype._kind == "f":
        return NEG(x)
    # -x overflows for the least of the signed numbers, -1 - x does not.
    top = x.dtype.max if x.dtype._kind == "u" else -1
    return SUB(to_tensor(top, x.dtype), x)


def _ranked(values, axis, ascending):
    """`TopKV2` of everything along the axis: (sorted values, their positions)."""
    swap = _last_axis_swap(values.shape.rank, axis)
    key = values if swap is None else TRANSPOSE(values, swap)
    if ascending:
        key = _complement(key)
    count = values.shape[axis] if values.shape.rank is not None else None
    found, places = TOP_K_V2(key, shape_of(key)[-1] if count is None else count)
    if ascending:
        found = _complement(found)
    if swap is None:
        return found, places
    return TRANSPOSE(found, swap), TRANSPOSE(places, swap)


def _check_sortable(op, values):
    if values.dtype not in dtypes.REAL:
        raise errors.invalid_argument(f"{op}: values must be real numbers, got {values.dtype.name}.")


@api("sort", scope="sort")
def sort(values, axis=-1, direction="ASCENDING", name=None) -> Tensor:
    """A tensor sorted along an axis. NaN comes last.

    Args:
        values: a tensor of real numbers.
        axis: the axis, the last one if not given.
        direction: "ASCENDING" or "DESCENDING".
        name: a name for the operation.

    >>> tf.sort([3, 1, 2], direction="DESCENDING").numpy().tolist()
    [3, 2, 1]

    Raises:
        ValueError: when the direction is unknown.
    """
    values, axis, ascending = _checked("sort", values, axis, direction)
    _check_sortable("sort", values)
    if context.mode is None and type(values) is EagerTensor:
        # Sorting alone is several times quicker than sorting positions.
        return EagerTensor(_sort(values._a, axis, ascending), values.dtype)
    return _ranked(values, axis, ascending)[0]


def _sort(array, axis, ascending):
    x = comparable(array)
    if ascending:
        found = np.sort(x, axis)
    elif x.dtype.kind == "f":
        found = -np.sort(-x, axis)
    else:
        found = np.flip(np.sort(x, axis), axis)
    return found.astype(array.dtype, copy=False)


@api("argsort", scope="argsort")
def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None) -> Tensor:
    """The positions (int32) that sort a tensor along an axis. NaN comes last.

    Args:
        values: a tensor of real numbers.
        axis: the axis, the last one if not given.
        direction: "ASCENDING" or "DESCENDING".
        stable: accepted for compatibility: equal elements always keep their order.
        name: a name for the operation.

    >>> tf.argsort([3, 1, 2]).numpy().tolist()
    [1, 2, 0]
    """
    values, axis, ascending = _checked("argsort", values, axis, direction)
    _check_sortable("argsort", values)
    return _ranked(values, axis, ascending)[1]
