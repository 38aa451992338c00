"""Which operations TensorFlow.js carries out, and where a model has others."""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Collection, Iterator
from typing import Any

from headrace._src.core import errors
from headrace._src.graph.building.operation import called_graphs

_SHOWN = 3  # places of one op


@functools.cache
def supported_ops() -> frozenset[str]:
    """The operations that TensorFlow.js 4.22 carries out."""
    text = importlib.resources.files(__package__).joinpath("supported_ops.txt").read_text()
    return frozenset(text.split())


def check_ops(graph: Any, source: Any, others: Collection[str] = ()) -> None:
    """Refuse a graph that cannot run there.

    Args:
        graph: a `GraphDef`.
        source: the graph that it was made of, whose operations know the lines of the program.
        others: operations that will be replaced by some that are there.

    Raises:
        InvalidArgumentError: it has other operations; all are named, with the lines that made them.
    """
    known = supported_ops().union(others)
    lacking: dict[str, list[str]] = {}
    for where, nodes in all_nodes(graph):
        for node in nodes:
            if node.op not in known:
                lacking.setdefault(node.op, []).append(node.name + (f" of {where}" if where else ""))
    if lacking:
        lines = _lines(source, lacking)
        described = (f"{op} ({_places(names, lines.get(op, []))})" for op, names in sorted(lacking.items()))
        raise errors.invalid_argument(
            "TensorFlow.js has no operations for: "
            + "; ".join(described)
            + ". Compute that part with other operations, or outside of the model."
        )


def all_nodes(graph: Any) -> Iterator[tuple[str, Any]]:
    """The nodes of a graph, and those of its functions by their names."""
    yield "", graph.node
    for function in graph.library.function:
        yield function.signature.name, function.node_def


def _places(names, lines):
    """Where an op is: lines of the program as far as they are known, names of nodes otherwise."""
    places = lines or sorted(names)
    return ", ".join(places[:_SHOWN]) + (f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else "")


def _lines(graph, ops) -> dict[str, list[str]]:
    """By op, the lines of the user's program that made operations of it."""
    found: dict[str, list[str]] = {}
    waiting, seen = [graph], set()
    while waiting:
        nodes = waiting.pop().nodes
        for operation in nodes:
            if operation.type in ops and operation.location[0]:
                file, line, _ = operation.location
                places = found.setdefault(operation.type, [])
                text = f"{operation.name} at {file}:{line}"
                if text not in places:
                    places.append(text)
            for inner in called_graphs(operation.attrs):
                if id(inner) not in seen:
                    seen.add(id(inner))
                    waiting.append(inner)
    return found
