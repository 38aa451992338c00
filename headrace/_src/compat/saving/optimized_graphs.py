"""`tensorflow.python.grappler.tf_optimizer`: a graph as a message, with less in it that computes the same."""

from typing import Any

from headrace._src.formats.graph_messages import GraphDef, NodeDef
from headrace._src.formats.tensor_protos import array_to_proto
from headrace._src.graph.building.graph import PLACEHOLDER, Graph
from headrace._src.graph.messages.graph_def_edits import extract_sub_graph
from headrace._src.graph.messages.graph_import import as_graph_def_message, import_graph_def
from headrace._src.graph.messages.inlined_graphs import inlined
from headrace._src.graph.messages.op_definitions import strip_default_attributes
from headrace._src.graph.passes.constant_folding import folded
from headrace._src.graph.passes.steps import Known, Step
from headrace._src.op.registry import is_known, lookup
from headrace._src.op.traits import CHANGES_NOTHING

_ALWAYS = ("pruning", "function", "constfold")  # without a list of its own
_INLINING, _FOLDING = "function", "constfold"
_EMULATION = ("QuantizeAndDequantize", "FakeQuant")


def optimize_graph(
    config_proto, metagraph, verbose=True, graph_id=b"graph_to_optimize", cluster=None, strip_default_attributes=False
) -> Any:
    """A `GraphDef` that gives what the collection "train_op" of a meta graph names, with fewer operations.

    What is not needed for that is left out, checks and prints as well. Functions stand where they were called, unless
    the graph changes or reads state: then the order of calls matters, and they stay. What depends on constants only is
    a constant.

    Args:
        config_proto: a `ConfigProto`; its `graph_options.rewrite_options.optimizers` says what is done.
        metagraph: a `MetaGraphDef`.
        verbose: accepted.
        graph_id: accepted.
        cluster: accepted.
        strip_default_attributes: whether attributes that have their default values are left out.

    Raises:
        ValueError: the meta graph does not say what is wanted of it.
    """
    options = config_proto.graph_options.rewrite_options
    wanted = list(metagraph.collection_def["train_op"].node_list.value)
    if not wanted:
        raise ValueError(
            "optimize_graph: the collection 'train_op' of the meta graph says what is wanted; it is empty."
        )
    asked = list(options.optimizers) or _ALWAYS
    graph_def = as_graph_def_message(metagraph.graph_def)
    if options.disable_meta_optimizer:
        return graph_def
    if _INLINING in asked and not _has_state(graph_def):
        graph_def = _without_calls(graph_def, wanted)
    if _FOLDING in asked and options.constant_folding != options.OFF:
        emulation = not options.experimental_disable_folding_quantization_emulation
        graph_def = _folded_graph(graph_def, {_node_of(name) for name in wanted}, emulation)
    graph_def = extract_sub_graph(graph_def, [_node_of(name) for name in wanted])
    if strip_default_attributes:
        _strip(graph_def)
    return graph_def


_strip = strip_default_attributes  # the argument above has the same name


def _node_of(name):
    return name.removeprefix("^").partition(":")[0]


def _has_state(graph_def):
    """Whether an operation of the graph or of its functions has effects beside its outputs, or depends on such."""
    nodes = [*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)]
    return any(_is_stateful(node.op) for node in nodes)


def _is_stateful(op):
    if not is_known(op):
        return True
    record = lookup(op)
    if record is PLACEHOLDER or record.calls_functions or CHANGES_NOTHING in record.traits:
        return False
    return record.stateful


def _without_calls(graph_def, wanted):
    """The graph with the bodies of functions where they were called; what is wanted keeps its name."""
    result, found = inlined(graph_def, wanted)
    there = {node.name for node in result.node}
    moved: dict[str, dict[int, str]] = {}  # by the name of a call that is gone: what its outputs are now
    for name, now in zip(wanted, found):
        node, _, number = name.partition(":")
        if node not in there:
            moved.setdefault(node, {})[int(number or 0)] = now
    for node, outputs in moved.items():
        last = max(outputs)
        sources = [outputs.get(number, outputs[last]) for number in range(last + 1)]
        result.node.append(_passing(node, sources, graph_def))
    return result


def _passing(name, sources, graph_def):
    """A node that hands tensors on under the name of the call that computed them."""
    (call,) = [node for node in graph_def.node if node.name == name]
    node = NodeDef(name=name, op="IdentityN", input=sources)
    node.attr["T"].list.type.extend(call.attr["Tout"].list.type[: len(sources)])
    return node


def _folded_graph(graph_def, kept, emulation):
    """The graph with constants for what is computed of constants only.

    Args:
        graph_def: the graph.
        kept: names of nodes that stay what they are.
        emulation: whether operations that only show what quantizing would do are computed too.
    """
    with Graph().as_default() as graph:
        import_graph_def(graph_def, name="")
    known, constants = Known(), {}
    for operation in graph.get_operations():
        step = Step(operation)
        known.add(step)
        arrays = None if operation.name in kept or not _can_fold(operation, emulation) else folded(step, known)
        if arrays is not None:
            (tensor,) = operation.outputs
            known.constants[id(tensor)] = arrays[0]
            constants[operation.name] = _constant(operation.name, arrays[0], tensor.dtype)
    result = GraphDef(library=graph_def.library, versions=graph_def.versions)
    result.node.extend(constants.get(node.name, node) for node in graph_def.node)
    return result


def _can_fold(operation, emulation):
    record = operation.record
    if len(operation.outputs) != 1 or operation.control_inputs or record.stateful or record.calls_functions:
        return False
    return emulation or not record.name.startswith(_EMULATION)


def _constant(name, array, dtype):
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtype.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(array_to_proto(array, dtype))
    return node
