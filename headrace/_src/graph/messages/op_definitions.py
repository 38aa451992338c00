"""Ops as `OpDef` messages: what tools that read graphs want to know of an op."""

from typing import Any

from headrace._src.formats.graph_messages import OpDef, OpList
from headrace._src.graph.building.graph import BaseGraph
from headrace._src.graph.building.operation import Operation
from headrace._src.graph.messages.attribute_values import to_attr_value
from headrace._src.graph.messages.reference_nodes import takes_reference
from headrace._src.op.attached import attach, method_of
from headrace._src.op.registry import is_known, lookup
from headrace._src.op.signature import REQUIRED


@method_of(BaseGraph)
def op_def_for_type(self, type) -> Any:
    """The op of that name as an `OpDef` message."""
    return op_def_of(lookup(type))


def _op_def(self) -> Any:
    """The op as an `OpDef` message."""
    return op_def_of(self.record)


attach(Operation, "op_def", property(_op_def))


def op_def_of(op) -> OpDef:
    """The inputs, outputs and attributes of an op."""
    proto = OpDef(name=op.name, is_stateful=op.stateful)
    signature = op.signature
    for arguments, written in ((signature.inputs, proto.input_arg), (signature.outputs, proto.output_arg)):
        for argument in arguments:
            described = written.add(name=argument.name)
            if argument.dtype is not None:
                described.type = argument.dtype.as_datatype_enum
            elif argument.type_list:
                described.type_list_attr = argument.type_attr
            else:
                described.type_attr = argument.type_attr
            if argument.number_attr is not None:
                described.number_attr = argument.number_attr
    kinds: dict[str, str] = {}
    for argument in signature.inputs:
        if argument.type_attr is not None:
            kinds[argument.type_attr] = "list(type)" if argument.type_list else "type"
        if argument.number_attr is not None:
            kinds[argument.number_attr] = "int"
    for name, kind in kinds.items():
        attribute = proto.attr.add(name=name, type=kind)
        if kind == "int":
            attribute.has_minimum, attribute.minimum = True, 1
        _add_allowed(attribute, op)
    for described in signature.attributes:
        attribute = proto.attr.add(name=described.name, type=described.kind)
        if described.default is not REQUIRED:
            attribute.default_value.CopyFrom(to_attr_value(described.kind, described.default))
        _add_allowed(attribute, op)
    return proto


def _add_allowed(attribute, op):
    if attribute.name in op.types:
        numbers = sorted(dtype.as_datatype_enum for dtype in op.types[attribute.name])
        attribute.allowed_values.list.type.extend(numbers)


def _nodes_of(graph_def):
    """All nodes of a `GraphDef`, those of its functions included."""
    yield from graph_def.node
    for function in graph_def.library.function:
        yield from function.node_def


def stripped_op_list(graph_def) -> OpList:
    """The ops that a `GraphDef` uses, for readers that have other versions of them."""
    names = sorted({node.op for node in _nodes_of(graph_def)})
    # What refers to variables has other inputs in a message than in headrace.
    return OpList(op=[op_def_of(lookup(name)) for name in names if is_known(name) and not takes_reference(name)])


def strip_default_attributes(graph_def) -> None:
    """Leave attributes out of a `GraphDef` that have the value that they would have without being said."""
    defaults: dict[str, dict[str, Any]] = {}
    for node in _nodes_of(graph_def):
        if node.op not in defaults:
            op = op_def_of(lookup(node.op)) if is_known(node.op) else OpDef()
            defaults[node.op] = {x.name: x.default_value for x in op.attr if x.HasField("default_value")}
        for name, value in defaults[node.op].items():
            if name in node.attr and node.attr[name] == value:
                del node.attr[name]
