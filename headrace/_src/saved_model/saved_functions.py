"""The graphs of concrete functions as files have them: with their arguments in the order in which loaders pass them."""

from __future__ import annotations

from typing import Any

from headrace._src.saved_model.signatures import argument_keywords
from headrace._src.tracing.concrete_function import ConcreteFunction


class SavedFunctions:
    """Keeps the graphs with which concrete functions are saved: the same each time."""

    def __init__(self) -> None:
        self._graphs: dict[int, tuple[Any, Any]] = {}

    def graph(self, concrete: ConcreteFunction) -> Any:
        """The graph of a function; keyword arguments come after the others, sorted by name."""
        found = self._graphs.get(id(concrete))
        if found is None:
            graph = concrete.graph
            order = canonical_order(concrete)
            if order != list(range(len(order))):
                inputs = [graph.inputs[i] for i in order] + graph.inputs[len(order) :]
                graph = graph.view(graph.outputs, inputs)
            found = self._graphs[id(concrete)] = (graph, concrete.graph)  # a view does not keep its graph
        return found[0]

    def keywords(self, concrete: ConcreteFunction) -> list[str]:
        """The names of the tensors that the function takes, in that order."""
        names = argument_keywords(concrete)
        return [names[i] for i in canonical_order(concrete)]


def canonical_order(concrete: ConcreteFunction) -> list[int]:
    """For each tensor that a function takes, in the order of files, its position among the inputs of the graph."""
    groups: list[tuple[bool, str, list[int]]] = []  # whether by keyword, the keyword, positions
    at = 0

    def add(kind, keyword=None):
        nonlocal at
        count = len(kind.flatten())
        groups.append((keyword is not None, keyword or "", list(range(at, at + count))))
        at += count

    for parameter, kind in zip(concrete._parameters, concrete._types):
        if parameter.kind is parameter.VAR_KEYWORD:
            for key, child in zip(kind.keys, kind.children):
                add(child, key)
        else:
            add(kind, parameter.name if parameter.kind is parameter.KEYWORD_ONLY else None)
    count = len(concrete.graph.inputs) - len(concrete.captured_inputs)
    if at != count:  # a variable that is passed twice is one input
        return list(range(count))
    return [i for *_, positions in sorted(groups, key=lambda group: group[:2]) for i in positions]
