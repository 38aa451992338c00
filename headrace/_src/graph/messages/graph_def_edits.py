"""`tf.compat.v1.graph_util`: cutting and simplifying `GraphDef` messages."""

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.formats.graph_messages import GraphDef, NodeDef
from headrace._src.formats.tensor_protos import array_to_proto
from headrace._src.graph.messages.graph_import import as_graph_def_message
from headrace._src.op.api import api
from headrace._src.state.storage import READ_VARIABLE

if TYPE_CHECKING:
    from headrace._src.core.shapes import TensorShape

# Ops of variables, queues and what initialises them.
_VARIABLE_OPS = frozenset({
    "Assign", "AssignAdd", "AssignSub", "Queue", "ScatterAdd", "ScatterSub", "ScatterUpdate", "TruncatedNormal",
    "Variable", "VariableV2",
})  # fmt: skip


def _source(reference):
    """The name of the node that an input of another one names."""
    return reference.removeprefix("^").partition(":")[0]


@api("compat.v1.graph_util.extract_sub_graph", dispatch=False)
def extract_sub_graph(graph_def, dest_nodes) -> Any:
    """The part of a graph that some nodes need.

    Args:
        graph_def: a `GraphDef`.
        dest_nodes: a list of names of nodes.

    Raises:
        TypeError: an argument is of another type.
        AssertionError: a name is not in the graph. TF: of that class.
    """
    graph_def = as_graph_def_message(graph_def)
    if isinstance(dest_nodes, str):
        raise TypeError(f"extract_sub_graph: dest_nodes must be a list of strings, got {dest_nodes!r}.")
    nodes = {node.name: node for node in graph_def.node}
    waiting, found = [_source(name) for name in dest_nodes], set()
    for name in waiting:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_source(reference) for reference in nodes[name].input if _source(reference) in nodes)
    result = GraphDef(library=graph_def.library, versions=graph_def.versions)
    result.node.extend(node for node in graph_def.node if node.name in found)
    return result


@api("compat.v1.graph_util.remove_training_nodes", dispatch=False)
def remove_training_nodes(input_graph, protected_nodes=None) -> Any:
    """A graph without the nodes that only training needs: Identity and CheckNumerics.

    Args:
        input_graph: a `GraphDef`.
        protected_nodes: names of nodes that stay.
    """
    input_graph = as_graph_def_message(input_graph)
    protected = set(protected_nodes or ())
    waited_for = {reference[1:] for node in input_graph.node for reference in node.input if reference.startswith("^")}
    replaced = {}
    for node in input_graph.node:
        if node.op not in ("Identity", "CheckNumerics") or node.name in protected or node.name in waited_for:
            continue
        # One with control inputs may be what keeps an order.
        if len(node.input) == 1 and not node.input[0].startswith("^"):
            replaced[node.name] = node.input[0]
    result = GraphDef()
    for node in input_graph.node:
        if node.name in replaced:
            continue
        kept = result.node.add()
        kept.CopyFrom(node)
        del kept.input[:]
        for reference in node.input:
            while not reference.startswith("^") and _source(reference) in replaced:
                reference = replaced[_source(reference)]
            kept.input.append(reference)
    return result


@api("compat.v1.graph_util.must_run_on_cpu", dispatch=False)
def must_run_on_cpu(node, pin_variables_on_cpu=False) -> bool:
    """Whether a node cannot run elsewhere: it handles strings or 32-bit integers, or variables if these are pinned.

    Args:
        node: an Operation or a `NodeDef`.
        pin_variables_on_cpu: whether ops of variables count.
    """
    node = node if getattr(node, "DESCRIPTOR", None) is not None else node.node_def
    if pin_variables_on_cpu and node.op in _VARIABLE_OPS:
        return True
    int32, string = dtypes.int32.as_datatype_enum, dtypes.string.as_datatype_enum
    if node.op == "Const":
        return node.attr["dtype"].type in (int32, string)
    if node.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return node.attr["T"].type == int32
    return node.op == "Cast" and node.attr["SrcT"].type == int32


@api("compat.v1.graph_util.tensor_shape_from_node_def_name", dispatch=False)
def tensor_shape_from_node_def_name(graph, input_name) -> "TensorShape":
    """The shape of the tensor "name:0" of a graph, which "name" means too."""
    return graph.get_tensor_by_name(input_name if ":" in input_name else f"{input_name}:0").shape


@api("compat.v1.graph_util.convert_variables_to_constants", dispatch=False)
def convert_variables_to_constants(
    sess, input_graph_def, output_node_names, variable_names_whitelist=None, variable_names_blacklist=None
) -> Any:
    """A graph with the values of variables in place of the variables.

    Args:
        sess: the session that has the values.
        input_graph_def: the graph of the session as a `GraphDef`.
        output_node_names: names of the nodes that are wanted.
        variable_names_whitelist: the names of the variables to replace; by default all.
        variable_names_blacklist: names of variables to leave.

    Returns:
        The part of the graph that the outputs need.

    Raises:
        ValueError: something is done with a variable other than reading it.
    """
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    wanted = functools.partial(_is_wanted, whitelist=variable_names_whitelist, blacklist=variable_names_blacklist)
    graph_def = _without_references(sess, graph_def, wanted)
    nodes = {node.name: node for node in graph_def.node}
    handles = {}  # name of a handle or of an Identity of it, to the name of the variable
    for node in graph_def.node:
        if node.op == "VarHandleOp" and wanted(node.name):
            handles[node.name] = node.name
    if not handles:
        return graph_def
    for node in _identities(nodes, handles):
        handles[node.name] = handles[_source(node.input[0])]
    values = _values(sess, [name for name in handles if nodes[name].op == "VarHandleOp"])
    result = GraphDef(library=graph_def.library, versions=graph_def.versions)
    for node in graph_def.node:
        if node.name in values:
            result.node.add().CopyFrom(_constant(node, node.name, values[node.name]))
        elif any(_source(reference) in handles for reference in node.input if not reference.startswith("^")):
            variable = handles[next(_source(x) for x in node.input if _source(x) in handles)]
            result.node.extend(reading(node, nodes[variable].attr["dtype"]))
        else:
            result.node.add().CopyFrom(node)
    return result


def _constant(node, name, array):
    """A constant in the place of a variable."""
    constant = NodeDef(name=name, op="Const", device=node.device)
    constant.attr["dtype"].CopyFrom(node.attr["dtype"])
    constant.attr["value"].tensor.CopyFrom(array_to_proto(array, dtypes.as_dtype(node.attr["dtype"].type)))
    return constant


def _without_references(sess, graph_def, wanted):
    """The graph with constants for variables without handles. Each node that reads such a variable names it."""
    found = {}  # name of the variable to the nodes that read it
    for node in graph_def.node:
        if node.op in ("Variable", "VariableV2"):
            name = node.attr["shared_name"].s.decode() or node.name
            if wanted(name):
                found.setdefault(name, []).append(node.name)
    if not found:
        return graph_def
    operations = [sess.graph.get_operation_by_name(reads[0]) for reads in found.values()]
    values = dict(zip(found, sess.run([operation.outputs[0] for operation in operations])))
    variable_of = {read: name for name, reads in found.items() for read in reads}
    result, made = GraphDef(library=graph_def.library, versions=graph_def.versions), set()
    for node in graph_def.node:
        name = variable_of.get(node.name)
        if name is None:
            result.node.add().CopyFrom(node)
            continue
        if name not in made:
            made.add(name)
            result.node.add().CopyFrom(_constant(node, name, values[name]))
        if node.name != name:
            controls = [reference for reference in node.input if reference.startswith("^")]
            read = result.node.add(name=node.name, op="Identity", input=[name, *controls], device=node.device)
            read.attr["T"].CopyFrom(node.attr["dtype"])
    return result


def _is_wanted(name, whitelist, blacklist):
    return (whitelist is None or name in whitelist) and (blacklist is None or name not in blacklist)


def _identities(nodes, handles):
    """The Identity nodes of handles, and of these, in order."""
    known, more = set(handles), True
    while more:
        more = [
            node
            for name, node in nodes.items()
            if name not in known and node.op == "Identity" and _source(node.input[0]) in known
        ]
        known.update(node.name for node in more)
        yield from more


def _values(sess, names):
    """The value of each variable, by the name of its handle."""
    graph, reads = sess.graph, []
    for name in names:
        handle = graph.get_operation_by_name(name)
        readers = [node for node in handle.outputs[0].consumers() if node.type == "ReadVariableOp"]
        found = [node for node in readers if not node.control_inputs]
        if found:
            reads.append(found[0].outputs[0])
            continue
        with graph.as_default():
            reads.append(READ_VARIABLE(handle.outputs[0], dtype=handle.get_attr("dtype")))
    return dict(zip(names, sess.run(reads)))


def reading(node, dtype):
    """The nodes that read a constant where `node` reads a variable."""
    if node.op in ("ReadVariableOp", "Identity"):
        read = NodeDef(name=node.name, op="Identity", input=node.input, device=node.device)
        read.attr["T"].CopyFrom(dtype)
        return [read]
    if node.op == "ResourceGather":
        axis = NodeDef(name=f"{node.name}/axis", op="Const", device=node.device)
        count = node.attr["batch_dims"].i
        axis.attr["dtype"].type = dtypes.int32.as_datatype_enum
        axis.attr["value"].tensor.CopyFrom(array_to_proto(np.array(count, np.int32), dtypes.int32))
        controls = [reference for reference in node.input if reference.startswith("^")]
        gather = NodeDef(name=node.name, op="GatherV2", device=node.device)
        gather.input.extend([*node.input[:2], axis.name, *controls])
        gather.attr["Tparams"].CopyFrom(dtype)
        gather.attr["Tindices"].CopyFrom(node.attr["Tindices"])
        gather.attr["Taxis"].type = dtypes.int32.as_datatype_enum
        gather.attr["batch_dims"].i = count
        return [axis, gather]
    if node.op == "ResourceGatherNd":
        gather = NodeDef(name=node.name, op="GatherNd", input=node.input, device=node.device)
        gather.attr["Tparams"].CopyFrom(dtype)
        gather.attr["Tindices"].CopyFrom(node.attr["Tindices"])
        return [gather]
    if node.op == "VariableShape":
        shape = NodeDef(name=node.name, op="Shape", input=node.input, device=node.device)
        shape.attr["T"].CopyFrom(dtype)
        shape.attr["out_type"].CopyFrom(node.attr["out_type"])
        return [shape]
    raise ValueError(
        f"convert_variables_to_constants: {node.name!r} ({node.op}) does more with a variable than read it; only "
        "variables that are read can become constants."
    )
