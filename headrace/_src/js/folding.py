"""What follows from constants alone is computed before a graph is written; and what nobody needs is left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.compat.functions.control_flow import wrap_function
from headrace._src.formats.graph_messages import GraphDef, NodeDef
from headrace._src.formats.tensor_protos import proto_to_array
from headrace._src.graph.messages.graph_import import import_graph_def
from headrace._src.js.rewriting import constant_node

# Their results are about as large as what they take.
_FOLDED = frozenset({
    "Add", "AddV2", "Cast", "Exp", "ExpandDims", "Identity", "Maximum", "Mul", "Neg", "RealDiv", "Reciprocal",
    "Reshape", "Rsqrt", "Sqrt", "Square", "Squeeze", "Sub", "Transpose",
})  # fmt: skip
_MORE = 1 << 14  # by how many bytes a result may be larger than the constants that it is made of


def fold_constants(graph: Any, outputs: list[str]) -> None:
    """Put constants in the place of operations on constants, in a graph without its functions."""
    by_name = {node.name: node for node in graph.node}
    sources = {node.name: node.ByteSize() for node in graph.node if node.op == "Const"}
    folded = []
    for node in graph.node:  # in the order in which they need each other
        if node.op in _FOLDED and node.input and all(node_of(name) in sources for name in node.input):
            sources[node.name] = sum(sources[node_of(name)] for name in node.input)
            folded.append(node.name)
    used = {node_of(name) for name in outputs}
    used.update(node_of(name) for node in graph.node if node.name not in sources for name in node.input)
    wanted = [name for name in folded if name in used]
    if not wanted:
        return
    part = GraphDef(versions=graph.versions, node=[by_name[name] for name in sources])
    for name, tensor in zip(wanted, _values(part, wanted)):
        if tensor.numpy().nbytes <= sources[name] + _MORE:
            by_name[name].CopyFrom(constant_node(name, np.asarray(tensor), tensor.dtype))


def _values(graph, names):
    places = [f"{name}:0" for name in names]
    return wrap_function(lambda: import_graph_def(graph, name="", return_elements=places), [])()


def node_of(reference: str) -> str:
    """The name of the node whose output a name is."""
    return reference.partition(":")[0]


def constant_of(node: Any) -> np.ndarray | None:
    """The value of a node, if it is a constant of float32."""
    if node is None or node.op != "Const":
        return None
    array, _ = proto_to_array(node.attr["value"].tensor)
    return array if array.dtype == np.float32 else None


def remove_unused(graph: Any, outputs: list[str]) -> None:
    """Leave out nodes that no output needs; arguments stay."""
    by_name = {node.name: node for node in graph.node}
    needed: set[str] = set()
    waiting = [node_of(name) for name in outputs]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += [node_of(source) for source in by_name[name].input]
    kept = [_copy(node) for node in graph.node if node.name in needed or node.op == "Placeholder"]
    del graph.node[:]
    graph.node.extend(kept)


def _copy(node):
    copy = NodeDef()
    copy.CopyFrom(node)
    return copy
