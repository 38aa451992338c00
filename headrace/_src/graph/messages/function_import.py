"""The functions of a `GraphDef`, made into graphs as operations call them."""

import re

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.formats.graph_messages import AttrValue, NodeDef
from headrace._src.formats.tensor_protos import proto_to_shape
from headrace._src.graph.building.func_graph import FuncGraph, copy_handle_data
from headrace._src.graph.messages.attribute_values import from_attr_value
from headrace._src.graph.messages.graph_def import output_counts
from headrace._src.op.registry import lookup

# How deeply functions may call one another; a message must not exhaust Python's stack.
_DEEPEST = 64


class Functions:
    """A library of functions.

    A function becomes a graph once for each combination of types, attributes and shapes that it is called with: shapes
    are known better inside than the message says.
    """

    def __init__(self, library, add_operation):
        """
        Args:
            library: a `FunctionDefLibrary`.
            add_operation: adds the operation that a `NodeDef` describes; see graph_import.py.
        """
        self._definitions = {function.signature.name: function for function in library.function}
        self._add_operation = add_operation
        self._graphs: dict = {}
        self._open: list[str] = []
        for function in library.function:
            for node in function.node_def:
                self.check_op(node, function.signature.name)

    def __contains__(self, name):
        return name in self._definitions

    def check_op(self, node, function=None):
        """Refuse a node whose op headrace does not have."""
        if node.op in self._definitions:
            return
        try:
            lookup(node.op)
        except errors.NotFoundError:
            where = f"node {node.name!r}" + (f" of function {function!r}" if function else "")
            raise errors.NotFoundError(
                None, None, f"Op type not registered {node.op!r} in headrace; it is the op of {where}."
            ) from None

    def as_call(self, node, inputs) -> NodeDef:
        """TF: an op may be the name of a function. The same as a node that calls it."""
        op = "StatefulPartitionedCall" if self._definitions[node.op].signature.is_stateful else "PartitionedCall"
        call = NodeDef(name=node.name, op=op, device=node.device)
        reference = call.attr["f"].func
        reference.name = node.op
        for key, value in node.attr.items():
            (call if key.startswith("_") else reference).attr[key].CopyFrom(value)
        call.attr["Tin"].list.SetInParent()
        call.attr["Tin"].list.type.extend(tensor.dtype.as_datatype_enum for tensor in inputs)
        call.attr["Tout"].list.SetInParent()
        for _, kinds in self._arguments(self._definitions[node.op].signature.output_arg, node.attr):
            call.attr["Tout"].list.type.extend(dtype.as_datatype_enum for dtype in kinds)
        return call

    def maker(self, outer, node, inputs, attributes):
        """A function from a `NameAttrList` among the attributes of a node to the graph that it calls."""
        if node.op in ("While", "StatelessWhile"):
            given = self._loop_inputs(outer, inputs, attributes)
        elif node.op in ("If", "StatelessIf", "Case", "StatelessCase"):
            given = [_Given(tensor) for tensor in inputs[1:]]
        elif node.op in ("PartitionedCall", "StatefulPartitionedCall"):
            given = [_Given(tensor) for tensor in inputs]
        else:
            given = None

        def make(reference):
            try:
                return self.graph(reference, outer, given)
            except errors.NotFoundError as error:
                raise errors.NotFoundError(None, None, f"Node {node.name!r} ({node.op}): {error.message}") from None

        return make

    def _loop_inputs(self, outer, inputs, attributes):
        """The loop variables, with shapes that hold in every iteration."""
        given = [_Given(tensor) for tensor in inputs]
        if "body" not in attributes:
            return given
        while True:
            body = self.graph(attributes["body"].func, outer, given)
            if len(body.outputs) != len(given):
                raise ValueError(
                    f"Function {attributes['body'].func.name!r} returns {len(body.outputs)} loop variables, not "
                    f"{len(given)}"
                )
            changed = False
            for item, tensor in zip(given, body.outputs):
                if not tensor.shape.is_subtype_of(item.shape):
                    item.shape = item.shape.most_specific_common_supertype([tensor.shape]) or TensorShape(None)
                    changed = True
            if not changed:
                return given

    def graph(self, reference, outer, given=None) -> FuncGraph:
        """The graph of a function.

        Args:
            reference: a `NameAttrList`.
            outer: the graph that calls it.
            given: what is known of the arguments, one `_Given` for each; None when nothing is.

        Raises:
            NotFoundError: there is no such function.
            ValueError: it calls itself, or its definition is not sound.
        """
        name = reference.name
        if name not in self._definitions:
            raise errors.NotFoundError(None, None, f"Function {name!r} is not defined.")
        arguments = None if given is None else tuple(map(_key, given))
        key = (name, reference.SerializeToString(deterministic=True), arguments)
        if key not in self._graphs:
            if name in self._open:
                raise ValueError(f"Function {name!r} calls itself, which a graph cannot.")
            if len(self._open) == _DEEPEST:
                raise ValueError(f"Function {name!r}: functions call one another more than {_DEEPEST} deep.")
            self._open.append(name)
            try:
                self._graphs[key] = self._make(self._definitions[name], reference.attr, outer, given)
            finally:
                self._open.pop()
        return self._graphs[key]

    def _arguments(self, arguments, values):
        """Pairs of the name of an argument and the dtypes of its tensors."""
        found = []
        for argument in arguments:
            try:
                if argument.type_list_attr:
                    kinds = from_attr_value("list(type)", values[argument.type_list_attr])
                else:
                    kind = values[argument.type_attr] if argument.type_attr else AttrValue(type=argument.type)
                    count = from_attr_value("int", values[argument.number_attr]) if argument.number_attr else 1
                    kinds = [from_attr_value("type", kind)] * count
            except ValueError as error:
                raise ValueError(f"The type of the argument {argument.name!r} is not given: {error}") from None
            found.append((argument.name, kinds))
        return found

    def _make(self, definition, values, outer, given):
        signature = definition.signature
        graph = FuncGraph(re.sub(r"_\d+$", "", signature.name) or "function", outer)
        tensors: dict[str, list] = {}  # by name of the argument
        position = 0
        for number, (name, kinds) in enumerate(self._arguments(signature.input_arg, values)):
            tensors[name] = []
            for dtype in kinds:
                known = given[position] if given is not None and position < len(given) else None
                if known is not None and known.dtype is not dtype:
                    raise ValueError(
                        f"Function {signature.name!r}: the argument {name!r} is {dtype.name}, got {known.dtype.name}"
                    )
                tensors[name].append(_add_input(graph, dtype, name, known, definition.arg_attr, number))
                position += 1
        if given is not None and position != len(given):
            raise ValueError(f"Function {signature.name!r} has {position} arguments, {len(given)} are given")
        made = self._add_body(graph, definition, tensors, values)
        for argument in signature.output_arg:
            if argument.name not in definition.ret:
                raise ValueError(f"Function {signature.name!r} does not say what {argument.name!r} is")
            for tensor in self._tensors(definition.ret[argument.name], tensors, made, signature.name):
                graph.outputs.append(_passed_through(tensor, graph.inputs))
        graph.structured_outputs = list(graph.outputs)
        return graph

    def _add_body(self, graph, definition, arguments, values):
        function = definition.signature.name
        nodes = {node.name: node for node in definition.node_def}

        def sources(node):
            for reference in node.input:
                name = reference.removeprefix("^").partition(":")[0]
                if name in arguments:
                    continue
                if name not in nodes:
                    raise ValueError(f"Node {node.name!r} of function {function!r}: Unknown input {reference!r}")
                yield name

        made: dict = {}
        for node in in_order(nodes, sources):
            inputs, controls = [], []
            for reference in node.input:
                if not reference.startswith("^"):
                    inputs += self._tensors(reference, arguments, made, function)
                elif reference[1:] not in arguments:
                    controls.append(made[reference[1:]])
            made[node.name] = self._add_operation(graph, node, inputs, controls, node.name, self, values)
        return made

    def _tensors(self, reference, arguments, made, function):
        """What "argument", "argument:0", "node:output" or "node:output:0" stands for."""
        name, *rest = reference.split(":")
        if name in arguments:
            found = arguments[name]
        else:
            operation = made.get(name)
            if operation is None or not rest:
                raise ValueError(f"Function {function!r}: {reference!r} is no tensor of it")
            found, at = None, 0
            for output, count in output_counts(operation.record, {**operation.types, **operation.attrs}):
                if output.name == rest[0]:
                    found = operation.outputs[at : at + count]
                at += count
            if found is None:
                raise ValueError(f"Function {function!r}: {name!r} ({operation.type}) has no output {rest[0]!r}")
            rest = rest[1:]
        if not rest:
            return found
        if len(rest) > 1 or not rest[0].isdecimal() or int(rest[0]) >= len(found):
            raise ValueError(f"Function {function!r}: {reference!r} is no tensor of it")
        return [found[int(rest[0])]]


class _Given:
    """What is known of an argument of a function when it is called."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.dtype = tensor.dtype
        self.shape = tensor.shape
        # Which variable it is tells the shape of what is read.
        self.resource = tensor._known if tensor.dtype is dtypes.resource else None


def _key(given):
    shape = None if given.shape.rank is None else tuple(given.shape.as_list())
    handle = given.tensor._handle_data
    return given.dtype, shape, id(given.resource), id(handle)


def _add_input(graph, dtype, name, known, attributes, number):
    shape = TensorShape(None) if known is None else known.shape
    # Asked in this way since reading a map of messages adds an entry.
    if known is None and number in attributes and "_output_shapes" in attributes[number].attr:
        said = attributes[number].attr["_output_shapes"].list.shape
        if len(said) == 1:
            shape = TensorShape(proto_to_shape(said[0]))
    tensor = graph.placeholder(shape, dtype, f"{name}/")
    graph.inputs.append(tensor)
    if known is not None:
        tensor._known = known.resource
        copy_handle_data(known.tensor, tensor)
    return tensor


def _passed_through(tensor, inputs):
    """The argument itself, for one that is returned through Identity. This shows that a loop does not change it."""
    found = tensor
    while found.op.record.name == "Identity" and not found.op.control_inputs:
        (found,) = found.op.inputs
    return found if any(found is x for x in inputs) else tensor


def substituted(value, values) -> AttrValue:
    """An attribute of a node of a function, with what the call gives in place of a placeholder."""
    kind = value.WhichOneof("value")
    if kind == "placeholder":
        if values is None or value.placeholder not in values:
            raise ValueError(f"the attribute {value.placeholder!r} of the function is not given")
        return values[value.placeholder]
    if kind == "func" and any(item.WhichOneof("value") == "placeholder" for item in value.func.attr.values()):
        fresh = AttrValue()
        fresh.func.name = value.func.name
        for key, item in value.func.attr.items():
            fresh.func.attr[key].CopyFrom(substituted(item, values))
        return fresh
    return value


def in_order(nodes, sources) -> list:
    """The nodes (by name) such that each comes after its sources, otherwise in the order given.

    Raises:
        ValueError: there is no such order.
    """
    ordered, state = [], {}  # name to True when it is placed, False while its sources are being placed
    for first in nodes:
        stack = [(first, None)]
        while stack:
            name, rest = stack.pop()
            if rest is None:
                if state.get(name):
                    continue
                state[name] = False
                rest = iter(list(sources(nodes[name])))
            for source in rest:
                if source not in state:
                    stack.append((name, rest))
                    stack.append((source, None))
                    break
                if not state[source]:
                    waiting = [key for key, placed in state.items() if not placed]
                    raise ValueError(f"{len(waiting)} nodes in a cycle, among them {', '.join(map(repr, waiting[:3]))}")
            else:
                state[name] = True
                ordered.append(nodes[name])
    return ordered


