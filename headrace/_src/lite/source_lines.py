"""Which lines of the user's made the operations of a graph that was rewritten: calls in it were replaced by bodies."""

from __future__ import annotations

from typing import Any

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


class SourceLines:
    """The lines of a function's operations, by the names that these have when it is inlined.

    Args:
        graph: of the function as the user made it; None where it is not known.
    """

    def __init__(self, graph: Any):
        self._nodes: dict[str, Any] = {}
        if graph is not None:
            self._read(graph, "")

    def _read(self, graph, prefix):
        for node in graph.nodes:
            name = prefix + node.name
            self._nodes[name] = node
            if node.type in _CALLS:
                self._read(node.attrs["f"], f"{name}/")

    def text(self, name: str) -> str:
        """Where an operation was made, as ` (file:line)`; empty where that is not known."""
        node = self._nodes.get(name)
        location = None if node is None else node.location
        return f" ({location[0]}:{location[1]})" if location and location[0] else ""

    def of_function(self, name: str, attribute: str, number: int | None = None) -> SourceLines:
        """The lines of a function that an operation runs, or of one of a list of them."""
        node = self._nodes.get(name)
        found = None if node is None else node.attrs.get(attribute)
        return SourceLines(found if found is None or number is None else found[number])
