"""`AtomicFunction`: the graph of a concrete function as the runtime sees it, with a name and flat arguments."""

from typing import Any

from headrace._src.core.lazy import LazyModule
from headrace._src.graph.control.calls import call_graph

graph_def = LazyModule("headrace._src.graph.messages.graph_def")  # few programs ask for messages


class AtomicFunction:
    """What `ConcreteFunction.inference_fn` gives: takes the tensors of the arguments, then those that are captured."""

    def __init__(self, name, graph, function_type) -> None:
        self.name = name.encode()
        self.graph = graph
        self.function_type = function_type

    @property
    def definition(self) -> Any:
        """The graph as a message `FunctionDef`."""
        return graph_def.function_def_of(self.graph, self.name.decode())

    @property
    def cached_definition(self) -> Any:
        """The same; the graph does not change any more."""
        return self.definition

    def call_flat(self, *tensors) -> list:
        """The tensors of the result."""
        return list(call_graph(self.graph, list(tensors)))

    def __call__(self, tensors) -> list:
        return self.call_flat(*tensors)

    def __repr__(self):
        return f"<AtomicFunction> {self.name.decode()}{self.function_type}"
