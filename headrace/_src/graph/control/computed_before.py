"""What is the same in all iterations of a loop, computed once more before it.

The gradient of a loop needs values from all iterations. Those that do not change between them, such as the weights that
a cell reads in each step, need not be kept for each: memory and time of a copy per step are saved.
"""

from headrace._src.autodiff.tape import Tape
from headrace._src.core.context import context
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.operation import called_graphs, grouped
from headrace._src.graph.derivatives.functions import structured
from headrace._src.graph.passes.failures import can_fail
from headrace._src.ops.arrays.filling import CONST
from headrace._src.state.storage import READ_VARIABLE


class ComputedBefore:
    """Values of a loop's body, as tensors of the graph around it."""

    def __init__(self, operation, invariant):
        """
        Args:
            operation: the loop.
            invariant: positions of the loop variables that the body does not change.
        """
        body = operation.attrs["body"]
        self._graph = operation.graph
        self._may_read = not any(_has_effects(graph) for graph in (body, operation.attrs["cond"]))
        self._found = {id(body.inputs[i]): operation.inputs[i] for i in invariant}
        self._inputs = {id(tensor) for tensor in body.inputs}

    def value(self, tensor):
        """The same value, computed at the end of the graph around the loop; None when iterations may differ in it."""
        known = self._found.get(id(tensor))
        if known is not None:
            return known
        if id(tensor) in self._inputs or not self._is_repeatable(tensor.op):
            return None
        node = tensor.op
        inputs = [x.op.attrs["value"] if x.op.record is CONST else self.value(x) for x in node.inputs]
        if any(x is None for x in inputs):
            return None
        with self._graph.building():
            value = node.record(*grouped(node, inputs), **node.attrs)
        _tell_tapes(value.op)
        self._found[id(tensor)] = value
        return value

    def _is_repeatable(self, node):
        """Whether it gives the same each time, cannot fail, and is nothing but a value."""
        record = node.record
        if record is CONST or len(node.outputs) != 1 or record.calls_functions or node.custom_gradient is not None:
            return False
        if node.control_inputs or node.outputs[0].dtype._kind in "rv":
            return False
        if record is READ_VARIABLE:
            return self._may_read
        constants = {id(x): x.op.attrs["value"]._a for x in node.inputs if x.op.record is CONST}
        return not record.stateful and not can_fail(node, constants)


def _tell_tapes(operation):
    """Let tapes follow an operation that was added behind their backs: the gradient being computed reads it."""
    ids = [tensor._id for tensor in operation.inputs]
    for recorder in context.recorders:
        if isinstance(recorder, Tape) and not recorder.ids.isdisjoint(ids):
            inputs, outputs = structured(operation)
            node = operation.record.make_node(inputs, outputs, operation.attrs)
            recorder.record(node, operation.inputs, ids, operation.outputs)


def _has_effects(graph):
    """Whether running a graph may give a variable another value."""
    for node in graph.nodes:
        record = node.record
        if record.calls_functions:
            if any(_has_effects(inner) for inner in called_graphs(node.attrs)):
                return True
        elif record.stateful and not record.draws and record is not READ_VARIABLE and record is not PLACEHOLDER:
            return True
    return False
