"""The functions of a SavedModel as messages: their names, and what loaders want to know about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace._src.graph.messages.attribute_values import shapes_to_attr_value
from headrace._src.graph.messages.graph_def import function_name
from headrace._src.saved_model.counted_loops import CountingLibrary
from headrace._src.saved_model.debugging_parts import DebugInformation, strip_check
from headrace._src.saved_model.gradient_functions import GradientFunctions


class ModelLibrary(CountingLibrary):
    """Writes functions into a `FunctionDefLibrary`.

    Args:
        proto: the message.
        add_shapes: whether nodes say the shapes of their outputs.
        functions: graphs that must be there with names for them, which are changed where two are the same.
        gradients: the gradient functions of operations.
        debugging: is told the lines of operations, if there is one.
        without_checks: whether operations that check or print are to do nothing.
    """

    def __init__(
        self,
        proto: Any,
        add_shapes: bool,
        functions: list[tuple[Any, str]],
        gradients: GradientFunctions,
        debugging: DebugInformation | None = None,
        without_checks: bool = False,
    ) -> None:
        super().__init__(proto, add_shapes)
        self._functions = functions
        self._gradients = gradients
        self._debugging = debugging
        self._without_checks = without_checks
        self._wanted = {id(graph): name for graph, name in functions}
        self._taken: set[str] = set(self._wanted.values())
        self._assigned: set[str] = set()
        self._written: dict[int, str] = {}
        self._references: dict[int, Callable[[Any], str]] = {}

    def new_name(self, graph):
        name = self._wanted.get(id(graph))
        if name is None or name in self._assigned:
            name = name or function_name(graph)
            while name in self._taken:
                name += "_"
            self._taken.add(name)
        self._assigned.add(name)
        return name

    def kept(self, graph):
        return self._gradients.kept(graph)

    def rewritten(self, operation, proto, taken, in_function):
        name = self._gradients.name_of(operation)
        if name is not None:
            proto.attr["_gradient_op_type"].s = name.encode()
        if self._without_checks:
            strip_check(proto)
        return super().rewritten(operation, proto, taken, in_function)

    def describe(self, graph, proto, reference, nodes):
        proto.attr["_construction_context"].s = b"kEagerRuntime"
        proto.attr["_input_shapes"].CopyFrom(shapes_to_attr_value([tensor.shape for tensor in graph.inputs]))
        if graph.base.jit_compile:
            proto.attr["_XlaMustCompile"].b = True
            proto.attr["_noinline"].b = True
        for i, tensor in enumerate(graph.inputs):
            name = tensor.op.argument_name or tensor.op.name
            proto.arg_attr[i].attr["_user_specified_name"].s = name.encode()
        super().describe(graph, proto, reference, nodes)
        if self._debugging is not None:
            self._debugging.add(proto.signature.name, nodes)
        self._references[id(graph.base)] = reference
        self._written[id(graph.base)] = proto.signature.name

    def complete(self):
        for graph, _ in self._functions:
            self.name_of(graph)
        for function in self._gradients.functions:
            name = self.name_of(function.graph)
            self._proto.registered_gradients.add(gradient_func=name, registered_op_type=function.op_type)

    def written_name(self, graph: Any) -> str:
        """The name under which a graph, or a view of it, was written."""
        return self._written[id(graph.base)]

    def tensor_name(self, graph: Any, tensor: Any) -> str:
        """The name of a tensor inside of a function that was written, as loaders look for it."""
        node = self._references[id(graph.base)](tensor).partition(":")[0]
        return f"{node}:{tensor.value_index}"
