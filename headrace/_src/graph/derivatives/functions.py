"""Derivatives of graphs: for a function, one that also returns what its gradient needs, and the gradient function.

The gradient of a graph is a graph of its own that uses tensors of the first. Those become outputs of the forward
function, its residuals, and inputs of the backward function. Both are functions like any other, so this works at any
order.
"""

import functools

from headrace._src.autodiff.accumulate import add_gradients
from headrace._src.autodiff.custom_gradient import CustomNode
from headrace._src.autodiff.registered import GRADIENTS
from headrace._src.autodiff.tape import Tape
from headrace._src.core import dtypes, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.func_graph import FuncGraph, copy_handle_data
from headrace._src.graph.building.operation import grouped, has_gradient
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.constants import zeros


class Derivative:
    """The two functions that differentiate a graph with respect to some of its inputs."""

    def __init__(self, forward, backward, residuals, outer, wanted, gradients):
        self.forward = forward  # the function, with residuals after its outputs
        self.backward = backward  # (gradients of the differentiable outputs, residuals) to gradients
        self.residuals = residuals  # tensors of the graph that the backward function reads
        self.count = len(residuals)
        self.outer = outer  # by position among what it captures: tensors from around the graph, which it reads directly
        self.wanted = wanted  # positions of the inputs whose gradients are computed
        self.gradients = gradients  # for each of them a tensor, a composite, or None; the backward function's outputs


def derivative_of(graph, wanted) -> Derivative:
    """How to differentiate `graph` with respect to the inputs at the positions `wanted`; kept for the next time."""
    key = tuple(wanted)
    found = graph._derivatives.get(key)
    if found is None:
        found = graph._derivatives[key] = _derive(graph, key)
    return found


def _derive(graph, wanted):
    base = graph.base
    backward = _BackwardGraph(f"{base.name}_backward", base)
    backward.inlines_numbers = True
    targets = [y for y in graph.outputs if has_gradient(y.dtype)]
    with backward.building():
        dys = [backward.add_input(y.shape, y.dtype, "gradient") for y in targets]
    for y, dy in zip(targets, dys):
        copy_handle_data(y, dy)
    sources = [graph.inputs[i] for i in wanted]
    tape = tape_of(base, graph.nodes, sources)
    with backward.building():
        gradients = walk(tape, targets, dys, sources)
        flat = [backward.inside(to_tensor(x)) for x in nest.flatten(gradients, expand_composites=True) if x is not None]
    backward.outputs = flat
    backward.structured_outputs = gradients
    captured = backward.external_captures
    outer = {i: x for i, x in enumerate(captured) if isinstance(x, EagerTensor) or x.op._graph is not base.reference}
    residuals = [x for i, x in enumerate(captured) if i not in outer]
    return Derivative(graph.view(graph.outputs + residuals), backward, residuals, outer, wanted, gradients)


class _BackwardGraph(FuncGraph):
    """For a tensor from outside the graph, the input that stands for it is used, so that gradients reach it."""

    def capture(self, tensor, name=None):
        if type(tensor) is EagerTensor and tensor.dtype is dtypes.resource:
            # A variable that only the gradient function reads: tapes know it by this handle.
            entry = self._captures.get(id(tensor))
            return self.add_capture(tensor, name) if entry is None else entry[1]
        base = self.outer_graph
        entry = base._captures.get(id(tensor)) if isinstance(base, FuncGraph) else None
        return super().capture(tensor if entry is None else entry[1], name)


def registered_gradient(node):
    """The gradient function that a user registered for an operation, with its name; None without one.

    Raises:
        LookupError: the operation was made under `gradient_override_map`, with a name that is not registered.
    """
    name = node.gradient_override
    if name is None and node.type in GRADIENTS:
        name = node.type
    if name is None:
        return None
    if node.gradient_function is not None:
        return name, node.gradient_function
    if name not in GRADIENTS:
        raise LookupError(f"No gradient defined for operation {node.name!r} (op type: {name}).")
    return name, GRADIENTS[name]


def tape_of(graph, nodes, sources, stops=frozenset(), reads=()) -> Tape:
    """A tape of what the operations compute from the sources.

    Args:
        graph: the graph of the operations.
        nodes: the operations, in order.
        sources: tensors to follow.
        stops: ids of tensors that count as constants, whatever they are computed from.
        reads: pairs of a source and another tensor with the same value, whose gradients belong to the source.
    """
    tape = Tape()
    for source in sources:
        tape.watch(source)
    for source, tensor in reads:
        tape.read(source, tensor)
    before = graph._control_inputs
    with graph.building():
        graph._control_inputs = ()
        for node in list(nodes):
            ids = [tensor._id for tensor in node.inputs]
            if tape.ids.isdisjoint(ids):
                continue
            custom = node.custom_gradient
            registered = registered_gradient(node) if custom is None else None
            recorded = len(tape.entries)
            if registered is not None:
                name, grad = registered
                if grad is not None:
                    specs = [(tensor, tensor.dtype) for tensor in node.outputs]
                    rule = functools.partial(_call_registered, grad, node)
                    tape.record(CustomNode(name, specs, rule), node.inputs, ids, node.outputs)
            elif custom is not None:
                count, name, grad = custom
                outputs = node.outputs
                specs = [(tensor, tensor.dtype) for tensor in outputs[:count]]
                tape.record(CustomNode(name, specs, grad), node.inputs[count:], ids[count:], outputs[:count])
            elif node.record.grad is not None:
                inputs, outputs = structured(node)
                tape.record(node.record.make_node(inputs, outputs, node.attrs), node.inputs, ids, node.outputs)
            if stops and len(tape.entries) > recorded:
                _stop(tape, node.outputs, stops, sources)
    graph._control_inputs = before
    return tape


def _call_registered(grad, node, *dys):
    found = grad(node, *dys)
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _stop(tape, outputs, stops, sources):
    """Forget that the last entry of a tape computed some of its outputs."""
    rule, ids, numbers = tape.entries.pop()
    kept = []
    for tensor, number in zip(outputs, numbers):
        if id(tensor) in stops:
            number = None
            if not any(tensor is source for source in sources):
                tape.ids.discard(tensor._id)
        kept.append(number)
    if any(number is not None for number in kept):
        tape.entries.append((rule, ids, kept))


def structured(node):
    """Inputs and outputs of an operation, with lists where the op has lists."""
    outputs, rest = [], node.outputs
    singles = sum(not argument.is_list for argument in node.record.signature.outputs)
    for argument in node.record.signature.outputs:
        if argument.is_list:
            count = len(rest) if not singles else len(node.outputs) - singles
            outputs.append(rest[:count])
            rest = rest[count:]
        else:
            outputs.append(rest[0])
            rest = rest[1:]
    return grouped(node, node.inputs), outputs


def walk(tape, targets, dys, sources) -> list:
    """The gradients of the sources, given those of the targets; None for what the targets do not depend on."""
    start: dict = {}
    for target, dy in zip(targets, dys):
        if dy is None or target._id is None or target._id not in tape.ids:
            continue
        start[target._id] = dy if target._id not in start else add_gradients([start[target._id], dy])
    ids = [source._id for source in sources]
    found = tape.backward(start, [number for number in ids if number in tape.ids])
    return [found.get(number) for number in ids]


def dense(gradient):
    """A gradient as one tensor."""
    return to_tensor(gradient) if isinstance(gradient, CompositeTensor) else gradient


def zeros_for(tensor):
    """The gradient of something that nothing depends on."""
    if tensor.dtype is dtypes.resource:
        storage = None if tensor._known is None else tensor._known[()]
        if storage is None:
            raise ValueError(f"The gradient of {tensor!r} cannot be zeros: its shape is unknown.")
        return zeros(storage.shape, storage.dtype)
    return tensor._zeros_like()
