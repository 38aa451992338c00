"""Reshapes of reshapes, transpositions of transpositions, and pairs that undo each other.

An inner operation is skipped only when it cannot fail. Results keep their layout in memory, and share it with inputs
where they did before: reductions add in an order that depends on the layout, so another one could round differently.
"""

import numpy as np

from headrace._src.core.shapes import TensorShape
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.graph.passes.failures import can_fail
from headrace._src.graph.passes.steps import Step, constant_step, kernel_of
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE


def _reshape(step, known):
    """A reshape to the shape that the tensor has is nothing; of another reshape's result, only the last one counts."""
    tensor, shape = step.inputs
    wanted = known.constant(shape)
    if wanted is not None and _has_shape(tensor, wanted):
        return tensor
    inner = known.producer(tensor, RESHAPE, EXPAND_DIMS, SQUEEZE)
    if inner is None or can_fail(inner, known.constants):
        return None
    before = inner.inputs[0]
    if inner.record is not RESHAPE:  # adding or dropping a dimension of 1 never copies
        return before if wanted is not None and _has_shape(before, wanted) else Step(step, inputs=(before, shape))
    return Step(step, inputs=(before, shape), kernel=_by_way_of(inner, step, known.constant(inner.inputs[1])))


def _by_way_of(inner, outer, middle):
    """Reshape in one go, unless the first of two reshapes would have copied and so have decided the layout."""
    first = kernel_of(inner) or inner.record.kernel
    second = kernel_of(outer) or outer.record.kernel

    def kernel(tensor, shape):
        return second(tensor if tensor.flags.c_contiguous else first(tensor, middle), shape)

    return kernel


def _has_shape(tensor, wanted):
    """Whether a tensor certainly has the shape that a reshape asks for."""
    shape = tensor._shape
    if shape.rank is None or wanted.ndim != 1 or wanted.size != shape.rank:
        return False
    unknown, rest = 0, 1
    for n, m in zip(wanted.tolist(), shape.as_list()):
        if n == -1 or m is None:
            if n != -1:
                return False
            unknown += 1
        elif n != m:
            return False
        if n != -1:
            rest *= n
    return unknown == 0 or (unknown == 1 and rest > 0)


def _transpose(step, known):
    """A transposition that moves nothing is nothing; of two, the permutations combine."""
    x, perm = step.inputs
    outer = _permutation(known.constant(perm), x._shape.rank)
    if outer is None:
        return None
    if outer == list(range(len(outer))):
        return x
    inner = known.producer(x, TRANSPOSE)
    if inner is None:
        return None
    before = inner.inputs[0]
    first = _permutation(known.constant(inner.inputs[1]), before._shape.rank)
    if first is None:
        return None
    both = [first[axis] for axis in outer]
    if both == list(range(len(both))):
        return before
    return _with_constant(step, known, before, perm, np.array(both, perm.dtype._np))


def _with_constant(step, known, x, like, array):
    """The step with other inputs, the second a new constant: that makes two steps."""
    fresh = SymbolicTensor(like.op, like.value_index, TensorShape(array.shape), like.dtype)
    fresh._known = array
    constant = constant_step(step, fresh, array)
    return constant, Step(step, inputs=(x, fresh))


def _permutation(value, rank):
    if value is None or rank is None or value.ndim != 1 or value.size != rank:
        return None
    axes = [axis + rank if axis < 0 else axis for axis in value.tolist()]
    return axes if sorted(axes) == list(range(rank)) else None


def _squeeze(step, known):
    """Dropping the dimension that was just added."""
    inner = known.producer(step.inputs[0], EXPAND_DIMS)
    dims = step.attrs["squeeze_dims"]
    if inner is None or len(dims) != 1:
        return None
    before, axis = inner.inputs[0], known.constant(inner.inputs[1])
    rank = before._shape.rank
    if axis is None or rank is None or axis.size != 1:
        return None
    added = int(axis.reshape(()))
    if not -rank - 1 <= added <= rank or dims[0] % (rank + 1) != added % (rank + 1):
        return None
    return before


def _expand_dims(step, known):
    """Adding the dimension that was just dropped, which was of size 1 for certain."""
    inner = known.producer(step.inputs[0], SQUEEZE)
    axis = known.constant(step.inputs[1])
    if inner is None or axis is None or axis.size != 1:
        return None
    before, dims = inner.inputs[0], inner.attrs["squeeze_dims"]
    rank = before._shape.rank
    if rank is None or len(dims) != 1 or not -rank <= dims[0] < rank:
        return None
    added = int(axis.reshape(()))
    if not -rank <= added < rank or dims[0] % rank != added % rank or before._shape[dims[0] % rank] != 1:
        return None
    return before


RULES = {RESHAPE: _reshape, TRANSPOSE: _transpose, SQUEEZE: _squeeze, EXPAND_DIMS: _expand_dims}
