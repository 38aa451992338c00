"""Gradient functions as parts of a SavedModel: what `tf.custom_gradient` and `tf.RegisterGradient` gave operations."""

from __future__ import annotations

import functools
import itertools
from typing import Any, NamedTuple

from headrace._src.autodiff.registered import GRADIENTS
from headrace._src.core import nest
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.building.operation import called_graphs
from headrace._src.op.convert import to_tensor

_PREFIX = "CustomGradient-"
_DEEPEST = 2  # gradient functions of operations in gradient functions: as often as a model may be differentiated
_numbers = itertools.count(1)


class InnerTensor(NamedTuple):
    """A tensor inside of a function, which the gradient function of one of its operations reads."""

    graph: Any
    tensor: Any


class GradientFunction(NamedTuple):
    """The gradient of an operation, as a graph.

    Attributes:
        op_type: the name under which operations ask for it.
        graph: from the gradients of the operation's outputs to those of its inputs.
        captured: for each tensor that it reads besides, an eager tensor or an `InnerTensor`.
    """

    op_type: str
    graph: FuncGraph
    captured: list

    @property
    def signature(self) -> tuple:
        """(positional, keyword) arguments. TF: the first stands for the operation."""
        specs = [TensorSpec(x.shape, x.dtype, f"result_grads_{i}") for i, x in enumerate(self._arguments)]
        return (None, *specs), {}

    @property
    def _arguments(self):
        return self.graph.inputs[: len(self.graph.inputs) - len(self.captured)]


class GradientFunctions:
    """The gradient functions of operations in the functions of a SavedModel."""

    def __init__(self, traced: bool = True) -> None:
        """
        Args:
            traced: whether the gradient functions are to be saved; otherwise operations only name them.
        """
        self._traced = traced
        self._names: dict[int, str] = {}  # by id of an operation
        self._seen: set[int] = set()
        self._taken: set[str] = set()
        self._kept: dict[int, list] = {}  # by id of a graph
        self.functions: list[GradientFunction] = []

    def collect(self, graph: Any, depth: int = 0) -> None:
        """Add the gradient functions of the operations of a graph, and of graphs that these call."""
        base = graph.base
        if id(base) in self._seen:
            return
        self._seen.add(id(base))
        for node in list(base.nodes):
            for called in called_graphs(node.attrs):
                self.collect(called, depth)
            if node.custom_gradient is not None or node.gradient_override is not None:
                self._add(node, base, depth)

    def _add(self, node, graph, depth):
        gradient = _gradient_of(node)
        if gradient is None:
            return
        self._names[id(node)] = op_type = self._new_name(node)
        if not self._traced or depth == _DEEPEST:
            return
        backward = FuncGraph("internal_grad_fn", graph)
        backward.inlines_numbers = True
        try:
            with backward.building():
                dys = [backward.add_input(y.shape, y.dtype, f"result_grads_{i}") for i, y in enumerate(node.outputs)]
                outputs = gradient(dys)
                _set_outputs(backward, outputs)
        except Exception as error:
            error.add_note(f"While saving the gradient function of the operation {node.name!r} of {graph.name!r}.")
            raise
        captured = [self._captured(tensor, node, graph) for tensor in backward.external_captures]
        self.functions.append(GradientFunction(op_type, backward, captured))
        self.collect(backward, depth + 1)

    def _new_name(self, node):
        name = node.gradient_override
        if name is None or name in self._taken:
            name = f"{_PREFIX if name is None else name + '-'}{next(_numbers)}"
        self._taken.add(name)
        return name

    def _captured(self, tensor, node, graph):
        """What a captured tensor is where the model is loaded: one of the model's objects, or inside of a function."""
        outermost = _outermost(tensor)
        if isinstance(outermost, EagerTensor):
            return outermost
        if tensor.op.graph is not graph:
            entry = graph._captures.get(id(tensor))
            if entry is None:
                raise ValueError(
                    f"The gradient function of {node.name!r} in {graph.name!r} reads the tensor {tensor.name!r} of "
                    f"{tensor.op.graph.name!r}, which {graph.name!r} itself does not read: it cannot be saved. Make "
                    "the function use that tensor, or save with "
                    "`options=tf.saved_model.SaveOptions(experimental_custom_gradients=False)`."
                )
            tensor = entry[1]
        self._kept.setdefault(id(graph), []).append(tensor.op)
        return InnerTensor(graph, tensor)

    def name_of(self, operation: Any) -> str | None:
        """The name of the gradient that an operation asks for; None if it has the usual one."""
        return self._names.get(id(operation))

    def kept(self, graph: Any) -> list:
        """The operations of a graph whose outputs gradient functions read."""
        return self._kept.get(id(graph.base), [])


def _gradient_of(node):
    """A function from gradients of outputs to gradients of inputs; None where an operation has the usual one."""
    if node.custom_gradient is not None:
        return functools.partial(_custom, *node.custom_gradient)
    function = node.gradient_function or GRADIENTS.get(node.gradient_override)
    return None if function is None else lambda dys: function(node, *dys)


def _custom(count, name, gradient, dys):
    # The inputs are the results of the function, which have no gradients here, and then its arguments.
    return [None] * count + list(gradient(*dys[:count]))


def _set_outputs(graph, outputs):
    def inside(value):
        return None if value is None else graph.inside(to_tensor(value))

    graph.structured_outputs = nest.map_structure(inside, outputs, expand_composites=True)
    leaves = nest.flatten(graph.structured_outputs, expand_composites=True)
    graph.outputs = [leaf for leaf in leaves if leaf is not None]


def _outermost(tensor):
    """The tensor that a captured one stands for, as far outside as possible."""
    while not isinstance(tensor, EagerTensor):
        graph = tensor.op.graph
        outer = next((outer for outer, inner in graph._captures.values() if inner is tensor), None)
        if outer is None:
            return tensor
        tensor = outer
    return tensor
