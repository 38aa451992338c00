"""Computing once what depends on constants only."""

import numpy as np

from headrace._src.core.context import run_quietly
from headrace._src.graph.building.operation import called_graphs, grouped
from headrace._src.graph.passes.steps import kernel_of
from headrace._src.op.traits import PLAIN_CALL

# In bytes. A result up to `_SMALL` is always kept, a larger one up to `_LARGEST` if it is not much larger than what it
# is made of: filling memory is cheaper than keeping it. All larger ones of a plan, also those on the way to others,
# are at most `_ALL_LARGE`.
_SMALL, _LARGEST, _ALL_LARGE = 1 << 16, 1 << 24, 1 << 28
_MOST_GROWTH = 4


def folded(step, known):
    """The values of a step's outputs as arrays when they are always the same and worth keeping; None otherwise."""
    constants, record = known.constants, step.record
    inputs = step.inputs
    if not inputs or not record.quiet:
        return None
    for tensor in inputs:
        if id(tensor) not in constants:
            return None
    outputs = step.outputs
    arrays = [constants[id(tensor)] for tensor in inputs]
    most = _most_bytes(arrays, known)
    if not outputs or not all(_bytes_of(tensor, most) <= most for tensor in outputs):
        return None
    if record.has_lists:
        arrays = grouped(step, arrays)
    try:
        results = run_quietly(kernel_of(step) or record.kernel, *arrays, **step.attrs)
    except Exception:
        return None  # the error is raised when the graph runs
    if record.single_output:
        results = [results]
    elif record.number_of_outputs == 1:
        results = list(results)
    if len(results) != len(outputs):
        return None
    found = []
    for tensor, result in zip(outputs, results):
        array = np.asarray(result)
        if array.dtype != tensor.dtype._np or array.nbytes > most:
            return None
        found.append(array)
    known.large_bytes += sum(array.nbytes for array in found if array.nbytes > _SMALL)
    return found


def folded_call(step, known):
    """The same for a call of a function of constants, if all that it does could be folded."""
    constants, record = known.constants, step.record
    if record.stateful or PLAIN_CALL not in record.traits or not all(id(tensor) in constants for tensor in step.inputs):
        return None
    arrays = [constants[id(tensor)] for tensor in step.inputs]
    most = _most_bytes(arrays, known)
    if not arrays or not all(_bytes_of(tensor, most) <= most for tensor in step.outputs):
        return None
    (graph,) = called_graphs(step.attrs)
    if not _can_be_folded(graph):
        return None
    try:
        found = run_quietly(graph.plan().run, arrays)
    except Exception:
        return None  # the error is raised when the graph runs
    known.large_bytes += sum(array.nbytes for array in found if array.nbytes > _SMALL)
    return found


def _can_be_folded(graph):
    """Whether a graph does nothing but compute, in a way that does not depend on where that is."""
    if graph.base.jit_compile is True:  # XLA's last bits are others
        return False
    for step in graph.plan().steps:
        record = step.record
        if record.stateful:
            return False
        if not record.quiet:
            if PLAIN_CALL not in record.traits or not all(map(_can_be_folded, called_graphs(step.attrs))):
                return False
    return True


def _most_bytes(arrays, known):
    """How large each result may be."""
    if known.large_bytes >= _ALL_LARGE:
        return _SMALL
    given = sum([array.nbytes for array in arrays])
    return min(max(_SMALL, given * _MOST_GROWTH), _LARGEST)


def _bytes_of(tensor, most):
    """The size of a tensor of numbers; more than `most` where it is not known or the tensor has none."""
    size = tensor._shape.num_elements() if tensor.dtype._kind in "fciub" else None
    return most + 1 if size is None else size * tensor.dtype._np.itemsize
