"""Graphs as `GraphDef` messages, which TensorFlow can import and run."""

import itertools
import re
import weakref
from typing import Any

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.formats.graph_messages import FunctionDef, GraphDef, NodeDef, VersionDef
from headrace._src.formats.tensor_protos import shape_to_proto
from headrace._src.graph.building.effects import control_inputs_of_effects, has_effect
from headrace._src.graph.building.graph import PLACEHOLDER, BaseGraph
from headrace._src.graph.building.operation import Operation, called_graphs
from headrace._src.graph.control.calls import PARTITIONED_CALL
from headrace._src.graph.messages.attribute_values import (
    plain_value,
    shapes_to_attr_value,
    to_attr_value,
    type_to_attr_value,
)
from headrace._src.graph.messages.reference_nodes import write_reference
from headrace._src.graph.messages.retired_ops import is_retired, replacement
from headrace._src.graph.passes.dead_code import needed
from headrace._src.op.attached import attach, method_of
from headrace._src.op.traits import PLAIN_CALL
from headrace._src.ops.arrays.filling import CONST
from headrace._src.version import GRAPH_DEF_VERSION

# TF: the oldest reader that its graphs are for.
GRAPH_DEF_VERSION_MIN_CONSUMER = 12

_INVALID_IN_NODE = re.compile(r"[^A-Za-z0-9_.\\/>-]")
_INVALID_IN_FUNCTION = re.compile(r"[^A-Za-z0-9_.<>-]")
# Types that headrace's op takes from its inputs and TensorFlow's op has fixed.
_FIXED_TYPES = {("CTCLossV2", "T"): dtypes.float32}

_numbers = itertools.count(1)
_function_names: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def versions() -> VersionDef:
    """Who wrote a graph, and who may read it."""
    return VersionDef(producer=GRAPH_DEF_VERSION, min_consumer=GRAPH_DEF_VERSION_MIN_CONSUMER)


@method_of(BaseGraph)
def as_graph_def(self, from_version=None, add_shapes=False, use_pybind11_proto=False) -> Any:
    """The operations, and the functions that they call, as a `GraphDef` message.

    Args:
        from_version: only the operations after that many.
        add_shapes: whether nodes say the shapes of their outputs.
        use_pybind11_proto: accepted.
    """
    return graph_def_of(self, from_version, add_shapes)


def _graph_def_versions(self) -> Any:
    """The versions that `as_graph_def` writes, as a `VersionDef` message."""
    return versions()


attach(BaseGraph, "graph_def_versions", property(_graph_def_versions))


def graph_def_of(graph, from_version=None, add_shapes=False, make_library=None) -> GraphDef:
    """All operations of a graph, and the functions that they call.

    Args:
        graph: a Graph or FuncGraph. In the latter, control inputs keep effects in source order.
        from_version: only the operations after that many.
        add_shapes: whether nodes say the shapes of their outputs, in the attribute "_output_shapes".
        make_library: gives the `FunctionLibrary` that writes functions into a message.
    """
    proto = GraphDef(versions=versions())
    library = (make_library or FunctionLibrary)(proto.library, add_shapes)
    names = _node_names(graph.nodes)
    order = control_inputs_of_effects(graph.nodes) if graph.building_function else {}

    def reference(tensor):
        if tensor.op.stands_for is not None:
            tensor = tensor.op.stands_for
        name, index = names[tensor.op.name], tensor.value_index + library.outputs_before(tensor.op)
        return name if index == 0 else f"{name}:{index}"

    taken = set(names.values())
    for node in graph.nodes[from_version or 0 :]:
        if node.stands_for is not None:
            continue
        message = _node_def(node, names, reference, order.get(id(node), ()), library, add_shapes)
        proto.node.extend(library.rewritten(node, message, taken, False))
    library.complete()
    if not proto.library.function:
        proto.ClearField("library")
    return proto


def node_def_of(operation) -> NodeDef:
    """One operation as it is; graphs among its attributes are given by name only."""
    names = _node_names([operation, *operation.control_inputs])

    def reference(tensor):
        return tensor.op.name if tensor.value_index == 0 else tensor.name

    return _node_def(operation, names, reference, (), FunctionLibrary(None, False), False, for_tensorflow=False)


def _node_def_of_operation(self) -> Any:
    """This operation as a `NodeDef` message."""
    return node_def_of(self)


attach(Operation, "node_def", property(_node_def_of_operation))


@method_of(Operation)
def get_attr(self, name) -> Any:
    """An attribute; dtypes as `tf.DType`, text as bytes, shapes, tensors and functions as messages.

    Raises:
        ValueError: there is none of that name.
    """
    attributes = self.node_def.attr
    if name not in attributes:
        raise ValueError(f"Operation {self.name!r} has no attr named {name!r}.")
    return plain_value(attributes[name])


def _node_names(nodes):
    """Names that TensorFlow takes, by the operation's own name."""
    names, taken = {}, {node.name for node in nodes}
    for node in nodes:
        name = node.name
        if _INVALID_IN_NODE.search(name) or not re.match(r"[A-Za-z0-9.]", name):
            name = _unique(re.sub(r"^[^A-Za-z0-9.]+", "", _INVALID_IN_NODE.sub("_", name)) or "node", taken)
        names[node.name] = name
    return names


def _unique(name, taken):
    found, number = name, 0
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found)
    return found


def _node_def(node, names, reference, before, library, add_shapes, for_tensorflow=True):
    library.begin(node)
    record = node.record
    proto = NodeDef(name=names[node.name], op=record.name, device=node.device)
    if record is CONST and node.attrs["dtype"]._kind in "rv":
        # A resource of this process. A program that runs the graph passes a resource of its own.
        proto.op = PLACEHOLDER.name
        proto.attr["dtype"].CopyFrom(to_attr_value("type", node.attrs["dtype"]))
        proto.attr["shape"].CopyFrom(to_attr_value("shape", ()))
        return proto
    proto.input.extend(reference(tensor) for tensor in node.inputs)
    # A name that is missing here is an argument of the function: there is nothing to wait for.
    referred = [tensor.op.stands_for.op for tensor in node.inputs if tensor.op.stands_for is not None]
    waits = [other for other in (*node.control_inputs, *before) if other not in referred]
    controls = dict.fromkeys(names[other.name] for other in waits if other.name in names)
    proto.input.extend(f"^{name}" for name in controls)
    if for_tensorflow and is_retired(node):
        _write_call(proto, replacement(node), library)
        return proto
    for name, value in node.types.items():
        fixed = _FIXED_TYPES.get((record.name, name))
        if fixed is None:
            proto.attr[name].CopyFrom(type_to_attr_value(value))
        elif fixed is not value:
            raise NotImplementedError(
                f"as_graph_def: {record.name} must be of {fixed.name} in TensorFlow, {node.name!r} is {value.name}."
            )
    for attribute in record.signature.attributes:
        name, value = attribute.name, node.attrs[attribute.name]
        if name == "output_shapes" and not value and called_graphs(node.attrs):
            value = [tensor.shape for tensor in node.outputs]
        proto.attr[name].CopyFrom(to_attr_value(attribute.kind, value, library.name_of))
    if record.calls_functions and PLAIN_CALL not in record.traits:
        # TF: control flow without this mark loses control edges in TensorFlow's optimizer, and so effects.
        proto.attr["_lower_using_switch_merge"].b = True
    for name, value in node.annotations.items():
        proto.attr[name].CopyFrom(value)
    if node.gradient_override is not None:
        proto.attr["_gradient_op_type"].s = node.gradient_override.encode()
    if for_tensorflow:
        write_reference(node, proto)
    if add_shapes and node.outputs:
        proto.attr["_output_shapes"].CopyFrom(shapes_to_attr_value([tensor.shape for tensor in node.outputs]))
    return proto


def _write_call(proto, graph, library):
    """Make a node one that calls a function with its inputs."""
    proto.op = PARTITIONED_CALL.name
    proto.attr["Tin"].CopyFrom(type_to_attr_value([tensor.dtype for tensor in graph.inputs]))
    proto.attr["Tout"].CopyFrom(type_to_attr_value([tensor.dtype for tensor in graph.outputs]))
    proto.attr["f"].CopyFrom(to_attr_value("func", graph, library.name_of))


def function_name(graph) -> str:
    """The name of a graph as a function: the same each time, and of no other graph."""
    version = len(graph.nodes)  # a graph that has grown since is another function
    known = _function_names.get(graph)
    if known is None or known[0] != version:
        name = _INVALID_IN_FUNCTION.sub("_", graph.name) or "function"
        known = _function_names[graph] = (version, f"{name}_{next(_numbers)}")
    return known[1]


def keep_name(graph, name) -> None:
    """Let a graph that was made of a message have the name that the function has there."""
    _function_names[graph] = (len(graph.nodes), name)


class FunctionLibrary:
    """The functions that a graph needs, each written once. Subclasses say more about them than the graphs do."""

    def __init__(self, proto, add_shapes):
        self._proto = proto  # None: only names are wanted
        self._add_shapes = add_shapes
        self._names: dict[int, str] = {}

    def name_of(self, graph) -> str:
        """The name of a graph as a function; it is written when it is first asked for."""
        if id(graph) not in self._names:
            name = self.new_name(graph)
            if name in self._names.values():  # of another message that was read
                name = f"{name}_{next(_numbers)}"
            self._names[id(graph)] = name
            if self._proto is not None:
                # Called functions come first; the message is made apart, since adding them may move it.
                self._proto.function.append(_function_def(graph, self._names[id(graph)], self, self._add_shapes))
        return self._names[id(graph)]

    def new_name(self, graph) -> str:
        """A name for a graph that is to be written."""
        return function_name(graph)

    def kept(self, graph) -> list:
        """Operations of a graph that are written though its outputs do not need them."""
        return []

    def begin(self, operation) -> None:
        """Called before an operation is written, and before functions that it calls are."""

    def rewritten(self, operation, proto, taken, in_function) -> list:
        """What stands for an operation, instead of its message alone.

        Args:
            operation: the operation.
            proto: its message.
            taken: the names of operations; those of new ones are added.
            in_function: whether inputs are named as in functions, with the name of an output.
        """
        return [proto]

    def outputs_before(self, operation) -> int:
        """How many outputs an operation has, as it is written, before its own."""
        return 0

    def describe(self, graph, proto, reference, nodes) -> None:
        """Add attributes to the message of a function.

        Args:
            graph: the graph.
            proto: its message.
            reference: gives what a tensor is called there.
            nodes: the operations by their names there.
        """

    def complete(self) -> None:
        """Called when all operations of the graph are written."""


def function_def_of(graph, name=None) -> FunctionDef:
    """One graph as a function; graphs that it calls are given by name only."""
    return _function_def(graph, name or function_name(graph), FunctionLibrary(None, False), False)


def _function_def(graph, name, library, add_shapes):
    effects = [node for node in graph.nodes if has_effect(node)]
    nodes = needed(graph.nodes, graph.inputs, graph.outputs, [*effects, *library.kept(graph)])
    names = _node_names(nodes)
    taken = set(names.values())
    proto = FunctionDef()
    signature = proto.signature
    signature.name = name
    references: dict[int, str] = {}
    for i, tensor in enumerate(graph.inputs):
        argument = _add_argument(signature.input_arg, tensor, taken)
        if id(tensor) not in references:
            references[id(tensor)] = argument.name
        # TF: the shape of a handle is taken for that of the variable by some ops, where no more is known.
        if tensor.dtype is not dtypes.resource:
            proto.arg_attr[i].attr["_output_shapes"].CopyFrom(shapes_to_attr_value([tensor.shape]))

    def reference(tensor):
        found = references.get(id(tensor))
        if found is None:
            argument, index = output_place(tensor)
            index += library.outputs_before(tensor.op)
            found = references[id(tensor)] = f"{names[tensor.op.name]}:{argument}:{index}"
        return found

    order = control_inputs_of_effects(nodes)
    for node in nodes:
        message = _node_def(node, names, reference, order.get(id(node), ()), library, add_shapes)
        proto.node_def.extend(library.rewritten(node, message, taken, True))
    for tensor in graph.outputs:
        argument = _add_argument(signature.output_arg, tensor, taken)
        proto.ret[argument.name] = reference(tensor)
    for node in nodes:
        if has_effect(node):
            signature.is_stateful = True
            signature.control_output.append(names[node.name])
            proto.control_ret[names[node.name]] = names[node.name]
    library.describe(graph, proto, reference, {names[node.name]: node for node in nodes})
    return proto


def _add_argument(arguments, tensor, taken):
    # TF: names of arguments are lower case and have no punctuation.
    name = re.sub(r"[^a-z0-9_]", "_", tensor.op.name.lower())
    name = name if re.match(r"[a-z]", name) else f"arg_{name.lstrip('_')}"
    argument = arguments.add(name=_unique(name, taken), type=tensor.dtype.as_datatype_enum)
    if tensor.dtype is dtypes.resource and tensor._known is not None:
        content = tensor._known[()]
        shape = getattr(content, "shape", None)
        if isinstance(shape, TensorShape):
            dims = None if shape.rank is None else shape.as_list()
            argument.handle_data.add(dtype=content.dtype.as_datatype_enum, shape=shape_to_proto(dims))
    return argument


def output_place(tensor) -> tuple[str, int]:
    """The name of the output that a tensor is or belongs to, and its position there."""
    index = tensor.value_index
    if is_retired(tensor.op):
        return "output", index
    for argument, count in output_counts(tensor.op.record, {**tensor.op.types, **tensor.op.attrs}):
        if index < count:
            return argument.name, index
        index -= count
    raise ValueError(f"{tensor.name} is no output of its operation.")


def output_counts(record, attrs) -> list:
    """Pairs of an output of an op and the number of tensors that it has."""
    counts = []
    for argument in record.signature.outputs:
        if argument.type_list:
            counts.append((argument, len(attrs[argument.type_attr])))
        else:
            counts.append((argument, attrs[argument.number_attr] if argument.is_list else 1))
    return counts
