"""The functions of a `GraphDef`, made into graphs as operations call them."""

import re

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.formats.graph_messages import AttrValue, NodeDef
from headrace._src.formats.tensor_protos import proto_to_shape
from headrace._src.graph.building.func_graph import FuncGraph, copy_handle_data
from headrace._src.graph.messages.attribute_values import from_attr_value
from headrace._src.graph.messages.graph_def import keep_name, output_counts
from headrace._src.op.definition import REGISTRY

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
        self._library = library
        self._definitions = {function.signature.name: function for function in library.function}
        self._add_operation = add_operation
        self._graphs: dict = {}
        self._open: list[str] = []
        self._named: set[str] = set()  # those of which a graph has the name

    def __contains__(self, name):
        return name in self._definitions

    def definition(self, name):
        """The `FunctionDef` of a function.

        Raises:
            NotFoundError: there is none.
        """
        if name not in self._definitions:
            raise errors.NotFoundError(None, None, f"Function {name!r} is not defined.")
        return self._definitions[name]

    # What the file from which the functions come has to say about their operations.

    def gradient_function(self, name):
        """The gradient function of a name that operations ask for; None when it is one of the process."""

    def adapted(self, attrs, name):
        """The attributes of an operation of that name, as they are to be here."""
        return attrs

    def note(self, operation):
        """Called with each operation that was added."""

    def reference(self, container, shared_name):
        """The variable in place of one without a handle, for graphs that are functions; None in 1.x graphs."""

    def check_ops(self, nodes=(), functions=None):
        """Refuse ops that headrace does not have: of some nodes, and of the nodes of functions.

        Args:
            nodes: nodes outside of functions.
            functions: the names of functions that may be called, with those that these call; all by default. A model
                with recurrent layers, for one, has functions for other devices, which nobody calls here.

        Raises:
            NotFoundError: one for all of them, which says how often and where they are.
        """
        unknown: dict[str, dict[str, list[str]]] = {}  # by op and function, the names of the nodes
        known = set(self._definitions)
        reached = None if functions is None else self._reached(functions)
        bodies = [
            (f.signature.name, f.node_def)
            for f in self._library.function
            if reached is None or f.signature.name in reached
        ]
        for function, members in [("", nodes), *bodies]:
            for node in members:
                op = node.op
                if op in known:
                    continue
                if op in REGISTRY:
                    known.add(op)
                else:
                    unknown.setdefault(op, {}).setdefault(function, []).append(node.name)
        if unknown:
            raise errors.NotFoundError(None, None, _unknown_ops_text(unknown))

    def _reached(self, functions):
        """The names of functions, and of those that they call."""
        reached, waiting = set(), list(functions)
        while waiting:
            name = waiting.pop()
            if name in reached or name not in self._definitions:
                continue
            reached.add(name)
            for node in self._definitions[name].node_def:
                waiting.append(node.op)
                for value in node.attr.values():
                    if value.HasField("func"):
                        waiting.append(value.func.name)
                    elif value.HasField("list"):
                        waiting += [function.name for function in value.list.func]
        return reached

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
            given = [known_of(tensor) for tensor in inputs[1:]]
        elif node.op in ("PartitionedCall", "StatefulPartitionedCall"):
            given = [known_of(tensor) for tensor in inputs]
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
        given = [known_of(tensor) for tensor in inputs]
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
            given: what is known of the arguments, one `KnownArgument` for each; None when nothing is.

        Raises:
            NotFoundError: there is no such function.
            ValueError: it calls itself, or its definition is not sound.
        """
        name = reference.name
        definition = self.definition(name)
        arguments = None if given is None else tuple(item.key for item in given)
        key = (name, reference.SerializeToString(deterministic=True), arguments)
        if key not in self._graphs:
            if name in self._open:
                raise ValueError(f"Function {name!r} calls itself, which a graph cannot.")
            if len(self._open) == _DEEPEST:
                raise ValueError(f"Function {name!r}: functions call one another more than {_DEEPEST} deep.")
            self._open.append(name)
            try:
                self._graphs[key] = self._make(definition, reference.attr, outer, given)
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
        if signature.name not in self._named:  # a graph for other shapes is another function
            self._named.add(signature.name)
            keep_name(graph, signature.name)
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
            if rest[0].isdecimal() and int(rest[0]) < len(operation.outputs):  # so name those of `raised_graphs.py`
                return [operation.outputs[int(rest[0])]]
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


def _unknown_ops_text(unknown):
    """The message about ops that headrace does not have."""
    lines = []
    for op, places in sorted(unknown.items()):
        count = sum(map(len, places.values()))
        function, names = next(iter(places.items()))
        where = f"node {names[0]!r}" + (f" of function {function!r}" if function else "")
        others = [repr(name) for name in places if name and name != function]
        also = f"; also in {', '.join(others[:3])}{' and others' if len(others) > 3 else ''}" if others else ""
        lines.append(f"{op!r} in headrace; it is the op of {where}{also} ({count} in all)")
    return "Op type not registered " + ". Op type not registered ".join(lines) + "."


class KnownArgument:
    """What is known of an argument of a function when it is called."""

    def __init__(self, dtype, shape, resource=None, handle_data=None):
        self.dtype = dtype
        self.shape = shape
        self.resource = resource  # which variable it is, as an array: it tells the shape of what is read
        self._handle_data = handle_data

    @property
    def key(self):
        """What makes a difference for the graph of the function."""
        shape = None if self.shape.rank is None else tuple(self.shape.as_list())
        return self.dtype, shape, id(self.resource), id(self._handle_data)


def known_of(tensor) -> KnownArgument:
    """What a tensor of a graph tells about an argument."""
    resource = tensor._known if tensor.dtype is dtypes.resource else None
    return KnownArgument(tensor.dtype, tensor.shape, resource, tensor._handle_data)


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
        copy_handle_data(known, tensor)
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
