"""The user's functions of elements whose sizes differ, run on whole blocks."""

from __future__ import annotations

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.data.running.functions import LARGEST_VECTORIZED_ELEMENT, ElementFunction
from headrace._src.data.running.ragged_columns import RaggedColumn, as_column
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.vectorizing.ragged_walk import RaggedWalk
from headrace._src.op.batching import Batched, NoRule, Ragged, batch_shape
from headrace._src.ops.arrays.measuring import SHAPE


class RaggedFunction:
    """A function of columns that does to each element what another one does to one.

    Args:
        graph: takes and returns values and splits in place of what is ragged.
        inputs: for each component of elements, whether it is ragged.
        outputs: the same of the results.
        captured: the values of the captures.
    """

    def __init__(self, graph: FuncGraph, inputs: list[bool], outputs: list[bool], captured: list):
        self.inputs = inputs
        self.outputs = outputs
        self._function = ElementFunction(graph, captured)

    def __call__(self, columns: tuple) -> tuple:
        given: list = []
        for column, is_ragged in zip(columns, self.inputs):
            given += as_column(column).arrays() if is_ragged else [column]
        parts = iter(self._function(given))
        made = [(next(parts), next(parts) if ragged else None) for ragged in self.outputs]
        return tuple([part if splits is None else RaggedColumn(part, splits.tolist()) for part, splits in made])


def ragged_function(function: ElementFunction) -> RaggedFunction | None:
    """The function of columns; None when there is none, or calls have effects."""
    base = function.graph.base
    if base.ragged is None:
        base.ragged = (None if function.is_stateful or function.draws else _converted(function.graph),)
    (found,) = base.ragged
    return None if found is None else RaggedFunction(*found, function.captured)


def dense_function(function: ElementFunction) -> ElementFunction | None:
    """The function of whole blocks where sizes differ in between, but neither in elements nor in results."""
    found = ragged_function(function)
    if found is None or any(found.outputs) or any(found.inputs):
        return None
    return found._function


def _is_ragged(shape: TensorShape) -> bool:
    return bool(shape.rank) and shape[0] is None and shape[1:].is_fully_defined()


def _fits(tensor) -> bool:
    shape = tensor.shape
    if tensor.dtype._kind in "vr":
        return False
    if _is_ragged(shape):
        return True
    return shape.is_fully_defined() and (shape.num_elements() or 1) * tensor.dtype.size <= LARGEST_VECTORIZED_ELEMENT


def _check_result(value):
    """Refuse arrays that do not hold exactly one object for each element."""
    tensor = value.tensor
    is_encoded = tensor.dtype is dtypes.variant and value.stacked and tensor.op.record.name == "RaggedTensorToVariant"
    if tensor.dtype._kind in "vr" and not is_encoded:
        raise NoRule("it returns resources or lists")


def _converted(graph):
    count = len(graph.inputs) - len(graph.base.external_captures)
    elements, captures = graph.inputs[:count], graph.inputs[count:]
    if not elements or not all(map(_fits, elements)):
        return None
    result = FuncGraph(f"{graph.name}_of_columns", None)
    result.inlines_numbers = True
    try:
        with result.building():
            inputs: list = []
            for x in elements:
                if _is_ragged(x.shape):
                    inputs.append(Ragged(result.add_input(x.shape, x.dtype), result.add_input([None], dtypes.int64)))
                else:
                    inputs.append(Batched(result.add_input(batch_shape(None, x.shape), x.dtype), True))
            first = inputs[0]
            size = SHAPE(first.splits if isinstance(first, Ragged) else first.tensor, out_type=dtypes.int32)
            size = size[0] - 1 if isinstance(first, Ragged) else size[0]
            kinds = [isinstance(x, Ragged) for x in inputs]
            inputs += [Batched(result.add_input(x.shape, x.dtype), False) for x in captures]
            batch = RaggedWalk(size)
            outputs, made = [], []
            for value in batch.run(graph, inputs):
                made.append(isinstance(value, Ragged))
                _check_result(value)
                tensors = [value.tensor, value.splits] if made[-1] else [batch.stack(value)]
                outputs += [result.inside(tensor) for tensor in tensors]
            result.outputs = outputs
    except (NoRule, errors.OpError, ValueError, TypeError, NotImplementedError):
        return None  # it is called for each element instead
    result.used_variables.update(graph.base.used_variables)
    return result, kinds, made
