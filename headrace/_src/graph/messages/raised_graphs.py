"""Graphs of 1.x with its control flow (Switch, Merge, Enter ...) as graphs with `If` and `While`, in messages."""

from typing import Any

from headrace._src.graph.messages.dataflow_nodes import CONTROL_FLOW, NewFunctions, Nodes, reference
from headrace._src.graph.messages.raised_branches import raise_branches
from headrace._src.graph.messages.raised_loops import raise_loops


def raised(graph_def: Any) -> Any:
    """A `GraphDef` without control flow of 1.x; the message itself if there is none.

    `Merge` and `Exit` nodes stay as `Identity` nodes, so that what conditionals and loops result in can be asked for by
    name. What is inside of them cannot: these nodes are in functions now.

    Raises:
        ValueError: a place is not understood. The message has the node and the reason.
    """
    functions = [x for x in graph_def.library.function if _has_control_flow(x.node_def)]
    if not functions and not _has_control_flow(graph_def.node):
        return graph_def
    fresh = type(graph_def)()
    fresh.CopyFrom(graph_def)
    made = NewFunctions({x.signature.name: x for x in fresh.library.function})
    changed = {x.signature.name for x in functions}
    for function in fresh.library.function:
        if function.signature.name in changed:
            _raise_function(function, made)
    nodes = Nodes(fresh.node)
    raise_loops(nodes, made)
    raise_branches(nodes, made, [])
    _exchange(fresh.node, nodes)
    fresh.library.function.extend(made.made)
    return fresh


def _has_control_flow(nodes):
    return any(node.op in CONTROL_FLOW for node in nodes)


def _raise_function(function, made):
    arguments = {x.name: x.type for x in function.signature.input_arg}
    nodes = Nodes(function.node_def, arguments)
    raise_loops(nodes, made)
    raise_branches(nodes, made, [nodes.numbered(reference(x)) for x in function.ret.values()])
    _exchange(function.node_def, nodes)


def _exchange(members, nodes):
    kept = [type(node).FromString(node.SerializeToString()) for node in nodes.values()]
    del members[:]
    members.extend(kept)
