"""`tf.import_graph_def`: the operations of a `GraphDef` message, added to the current graph."""

import contextlib
from typing import Any

from headrace._src.core.context import context
from headrace._src.core.names import is_valid_name, name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.formats.graph_messages import GraphDef
from headrace._src.formats.tensor_protos import proto_to_shape
from headrace._src.graph.building.func_graph import copy_handle_data
from headrace._src.graph.building.graph import Graph
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.graph.messages.attribute_values import from_attr_value
from headrace._src.graph.messages.function_import import Functions, in_order, substituted
from headrace._src.graph.messages.raised_graphs import raised
from headrace._src.graph.messages.reference_nodes import (
    assigned_before,
    read_anew,
    read_reference,
    reference_messages,
)
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.registry import lookup
from headrace._src.op.signature import REQUIRED
from headrace._src.ops.arrays.filling import CONST


@api(
    "graph_util.import_graph_def", "import_graph_def", "compat.v1.import_graph_def",
    "compat.v1.graph_util.import_graph_def", dispatch=False,
)  # fmt: skip
def import_graph_def(
    graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None
) -> Any:
    """Add the operations of a `GraphDef` to the current graph.

    Args:
        graph_def: the message.
        input_map: tensors to use instead of tensors of the message, by their names in it ("x:0"; "x" means the same).
        return_elements: names of operations ("x") and tensors ("x:0") of the message.
        name: the scope of the new operations; "import" by default, and "" for none.
        op_dict: accepted.
        producer_op_list: an `OpList` of the program that wrote the message; attributes that headrace does not know are
            left out where they have their default values.

    Returns:
        The operations and tensors that `return_elements` names, or None.

    Raises:
        NotFoundError: headrace has no op of that name.
        ValueError: the message is not sound, or a name is not in it.
        TypeError: an argument is of a wrong type.

    >>> with tf.Graph().as_default() as graph:
    ...     x = tf.constant(3.0, name="x")
    ...     y = tf.square(x, name="y")
    >>> with tf.Graph().as_default():
    ...     (y,) = tf.import_graph_def(graph.as_graph_def(), return_elements=["y:0"])
    >>> y.name
    'import/y:0'
    """
    graph_def = raised(as_graph_def_message(graph_def))
    input_map = _checked_map(input_map)
    return_elements = _checked_elements(return_elements)
    graph = context.graph
    scope: contextlib.AbstractContextManager = contextlib.nullcontext()
    if graph is None:
        # Eagerly there is no graph to add to: the operations get one of their own, which they keep alive.
        graph = Graph()
        scope, name = graph.as_default(), name or ""
    with scope, name_scope("import" if name is None else name) as prefix:
        mapped = {_full_name(key): _mapped_value(graph, key, value, prefix) for key, value in input_map.items()}
        functions = Functions(graph_def.library, add_operation)
        adding = GraphImport(graph, graph_def.node, functions, mapped, prefix, producer_op_list)
        adding.run()
    unused = [key for key in input_map if not adding.uses(_full_name(key)) and not adding.has(_full_name(key))]
    if unused:
        raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{', '.join(unused)}]")
    return None if return_elements is None else [adding.element(element) for element in return_elements]


def as_graph_def_message(value) -> GraphDef:
    """A message of headrace's own class, from one of that name of any class (TensorFlow's, TensorBoard's)."""
    if isinstance(value, GraphDef):
        return value
    if getattr(getattr(value, "DESCRIPTOR", None), "full_name", None) != GraphDef.DESCRIPTOR.full_name:
        raise TypeError(f"import_graph_def: graph_def must be a GraphDef message, got {type(value).__name__}.")
    return GraphDef.FromString(value.SerializeToString())


def _checked_map(input_map):
    if input_map is None:
        return {}
    if not isinstance(input_map, dict):
        raise TypeError(f"import_graph_def: input_map must be a dictionary, got {type(input_map).__name__}.")
    if not all(isinstance(key, (str, bytes)) for key in input_map):
        raise TypeError(f"import_graph_def: the keys of input_map must be strings, got {list(input_map)}.")
    return {_text(key): value for key, value in input_map.items()}


def _checked_elements(elements):
    if elements is None:
        return None
    elements = list(elements)
    if not all(isinstance(element, (str, bytes)) for element in elements):
        raise TypeError(f"import_graph_def: return_elements must be a list of strings, got {elements}.")
    return [_text(element) for element in elements]


def _text(name):
    return name.decode() if isinstance(name, bytes) else name


def _full_name(name):
    """A tensor's or control input's name in its long form: "x:0", "^x"."""
    return name if name.startswith("^") or ":" in name else f"{name}:0"


def _mapped_value(graph, key, value, prefix):
    if key.startswith("^"):
        found = getattr(value, "op", value)
        if getattr(found, "graph", None) is not graph:
            raise ValueError(f"import_graph_def: input_map[{key!r}] must be an operation of the current graph.")
        return found
    if isinstance(value, SymbolicTensor):
        return graph.inside(value)
    if not prefix:
        raise ValueError(
            "import_graph_def: name must not be empty when input_map has values that are no tensors of the graph, such "
            f"as that of {key!r}. Convert them with tf.convert_to_tensor."
        )
    try:
        with name_scope("_inputs"):
            return graph.inside(to_tensor(value, name="Const"))
    except (TypeError, ValueError) as error:
        raise ValueError(f"import_graph_def: cannot convert input_map[{key!r}] to a tensor: {error}") from None


class GraphImport:
    """One import: which operation was made for which node of the message.

    Args:
        graph: to which operations are added.
        nodes: the `NodeDef` messages.
        functions: those that the nodes call.
        mapped: by full name ("x:0", "^x"), what to use instead of outputs and operations of the message.
        prefix: a scope with a slash, or nothing.
        producer_op_list: see `import_graph_def`.
    """

    def __init__(self, graph, nodes, functions, mapped, prefix="", producer_op_list=None):
        self._graph = graph
        self._nodes = {}
        self._mapped = mapped
        self._prefix = prefix
        self._used = set()  # what was taken from `mapped`
        self._made = {}
        self._functions = functions
        self._defaults = _producer_defaults(producer_op_list)
        for node in nodes:
            if not is_valid_name(node.name):
                raise ValueError(f"Node {node.name!r}: Node name contains invalid characters")
            if node.name in self._nodes:
                raise ValueError(f"Node {node.name!r} is not unique")
            self._nodes[node.name] = node

    def run(self):
        """Add all operations, or none."""
        self._functions.check_ops(self._nodes.values())
        graph = self._graph
        before = len(graph.nodes), len(graph.tensors)
        try:
            self._add_all()
        except Exception:
            del graph.nodes[before[0] :], graph.tensors[before[1] :]
            raise

    def _add_all(self):
        taken = {operation.name for operation in self._graph.nodes}
        for node in in_order(self._nodes, self._sources):
            name = self._prefix + node.name
            if name in taken:
                raise ValueError(f"Node name {name!r} already exists in the Graph")
            inputs, controls = [], []
            for reference in node.input:
                if reference.startswith("^"):
                    controls.append(self._mapped.get(reference) or self._made[reference[1:]])
                else:
                    inputs.append(self._tensor(node, reference))
            if node.op in self._defaults:
                node = self._without_defaults(node)
            self._made[node.name] = add_operation(self._graph, node, inputs, controls, name, self._functions)

    def _sources(self, node):
        """The names of the nodes that must be there before."""
        for reference in node.input:
            if _full_name(reference) not in self._mapped:
                name, _ = _split(reference.removeprefix("^"))
                if name not in self._nodes:
                    raise ValueError(f"Node {node.name!r}: Unknown input node {reference!r}")
                yield name

    def _tensor(self, node, reference):
        mapped = self._mapped.get(_full_name(reference))
        if mapped is not None:
            self._used.add(_full_name(reference))
            return mapped
        name, index = _split(reference)
        outputs = self._made[name].outputs
        if index >= len(outputs):
            raise ValueError(
                f"Node {node.name!r}: Connecting to invalid output {index} of source node {name} which has "
                f"{len(outputs)} outputs."
            )
        return outputs[index]

    def _without_defaults(self, node):
        known = known_attributes(lookup(node.op))
        stripped = type(node)()
        stripped.CopyFrom(node)
        for name, default in self._defaults[node.op].items():
            if name not in known and name in node.attr and node.attr[name] == default:
                del stripped.attr[name]
        return stripped

    def uses(self, name) -> bool:
        """Whether a tensor was used that was given for one of that (full) name."""
        return name in self._used

    def has(self, name) -> bool:
        """Whether the message has a tensor or operation of that (full) name."""
        if name.startswith("^"):
            return name[1:] in self._made
        node, index = _split(name)
        return node in self._made and index < len(self._made[node].outputs)

    def element(self, name):
        """What `return_elements` asks for."""
        node, colon, index = name.rpartition(":")
        if not colon:
            if name not in self._made:
                raise ValueError(f"Requested return node {name!r} not found in graph def")
            return self._made[name]
        if name in self._mapped:
            return self._mapped[name]
        if node not in self._made or not index.isdecimal():
            raise ValueError(f"Requested return tensor {name!r} not found in graph def")
        outputs = self._made[node].outputs
        if int(index) >= len(outputs):
            raise ValueError(f"Invalid return output {index} of node {node!r}, which has {len(outputs)} output(s)")
        return outputs[int(index)]


def _split(reference):
    """Name of the node and number of the output of "x" or "x:1"."""
    name, colon, index = reference.rpartition(":")
    if not colon:
        return reference, 0
    if not index.isdecimal():
        raise ValueError(f"{reference!r} is not the name of a tensor")
    return name, int(index)


def known_attributes(op) -> dict:
    """All attributes of an op, those that are read off the inputs included: name to kind."""
    kinds = {attribute.name: attribute.kind for attribute in op.signature.attributes}
    for argument in op.signature.inputs:
        if argument.type_attr is not None:
            kinds.setdefault(argument.type_attr, "list(type)" if argument.type_list else "type")
        if argument.number_attr is not None:
            kinds.setdefault(argument.number_attr, "int")
    return kinds


def add_operation(graph, node, inputs, controls, name, functions, values=None):
    """Add the operation that a `NodeDef` describes.

    Args:
        graph: to add it to.
        node: the message.
        inputs: its inputs, tensors of the graph.
        controls: operations that must run before it.
        name: its full name.
        functions: where the functions are that it calls.
        values: by name, what stands for placeholders among the attributes.
    """
    if node.op in functions:
        node = functions.as_call(node, inputs)
    controls = [*controls, *assigned_before(node, inputs)]
    for i, message in enumerate(reference_messages(node, inputs)):
        handle = add_operation(graph, message, [], controls, f"{name}/reference_{i}", functions, values)
        handle.stands_for = inputs[i]
        inputs[i] = handle.outputs[0]
    node, inputs = read_reference(node, inputs, name, graph, functions.reference)
    inputs = read_anew(graph, inputs, controls, name)
    op = lookup(node.op)
    attributes = {key: substituted(value, values) for key, value in node.attr.items()}
    types, tensors = _structured(op, attributes, inputs, node)
    attrs = functions.adapted(_attrs(op, attributes, node, inputs, graph, functions), name)
    graph.names.unique_full_name(name)  # from now on it is taken
    outputs = graph.add_node(op, tensors, attrs, types, f"{name}/")
    operation = graph.nodes[-1]
    if op is CONST:
        outputs[0]._known = attrs["value"]._a
    if node.device:
        operation.device = node.device
    if controls:
        operation.control_inputs = tuple(dict.fromkeys([*operation.control_inputs, *controls]))
    known = known_attributes(op)
    annotations = {key: value for key, value in attributes.items() if key not in known and key != "_output_shapes"}
    if annotations:
        operation.annotations = annotations
        if "_gradient_op_type" in annotations and not op.calls_functions:
            # Of a call, it is a name of TensorFlow's for its usual gradient.
            operation.gradient_override = annotations["_gradient_op_type"].s.decode("utf-8", "replace")
            operation.gradient_function = functions.gradient_function(operation.gradient_override)
    functions.note(operation)
    _refine(operation, attributes, attrs)
    return operation


def _attr_error(node, name, text):
    return ValueError(f"Node {node.name!r} ({node.op}): attr {name!r}: {text}")


def _value(kind, attributes, name, node, make_function=None):
    try:
        return from_attr_value(kind, attributes[name], make_function)
    except ValueError as error:
        raise _attr_error(node, name, error) from None


def _structured(op, attributes, inputs, node):
    """The type attributes, and the inputs with a list for each input that is one."""
    types, tensors, at = {}, [], 0
    for argument in op.signature.inputs:
        attr = argument.type_attr
        count = 1
        if argument.type_list:
            if attr not in attributes:
                raise ValueError(f"NodeDef missing attr {attr!r} from Op {op.name}; NodeDef: {node.name!r}")
            types[attr] = _value("list(type)", attributes, attr, node)
            count, wanted = len(types[attr]), types[attr]
        else:
            if argument.number_attr is not None:
                if argument.number_attr not in attributes:
                    raise ValueError(
                        f"NodeDef missing attr {argument.number_attr!r} from Op {op.name}; NodeDef: {node.name!r}"
                    )
                count = types[argument.number_attr] = _value("int", attributes, argument.number_attr, node)
                if count < 0 or count > len(inputs):
                    raise _attr_error(node, argument.number_attr, f"there are {len(inputs)} inputs, not {count}")
            if attr is not None and attr not in types and (attr in attributes or count):
                # Some have a default in TensorFlow, which agrees with the input or would be refused.
                known = attr in attributes
                if not known and at >= len(inputs):
                    raise ValueError(f"NodeDef missing attr {attr!r} from Op {op.name}; NodeDef: {node.name!r}")
                types[attr] = _value("type", attributes, attr, node) if known else inputs[at].dtype
            wanted = [argument.dtype if attr is None else types[attr]] * count if count else []
        if attr is not None and op.types.get(attr) is not None:
            for dtype in wanted:
                if dtype not in op.types[attr]:
                    raise _attr_error(node, attr, f"{dtype.name} is not a type that {op.name} takes")
        items = inputs[at : at + count]
        for number, (tensor, dtype) in enumerate(zip(items, wanted), at):
            if tensor.dtype is not dtype:
                raise ValueError(
                    f"Input {number} of node {node.name} was passed {tensor.dtype.name} from {tensor.name} "
                    f"incompatible with expected {dtype.name}."
                )
        tensors.append(list(items) if argument.is_list else items[0] if items else None)
        at += count
    if at != len(inputs):
        raise ValueError(f"Node {node.name!r}: {op.name} takes {at} inputs, {len(inputs)} are specified")
    return types, tensors


def _attrs(op, attributes, node, inputs, graph, functions):
    """The attributes in canonical form, defaults included."""
    attrs = {}
    for attribute in op.signature.attributes:
        if attribute.name in attributes and not attribute.kind.endswith(("func", "func)")):
            value = attrs[attribute.name] = _value(attribute.kind, attributes, attribute.name, node)
            allowed = op.types.get(attribute.name)
            if allowed is not None:
                for dtype in value if isinstance(value, list) else [value]:
                    if dtype not in allowed:
                        raise _attr_error(node, attribute.name, f"{dtype.name} is not a type that {op.name} takes")
        elif attribute.name not in attributes:
            if attribute.default is REQUIRED:
                raise ValueError(f"NodeDef missing attr {attribute.name!r} from Op {op.name}; NodeDef: {node.name!r}")
            attrs[attribute.name] = attribute.default
    called = [x for x in op.signature.attributes if x.kind.endswith(("func", "func)"))]
    if called:
        make = functions.maker(graph, node, inputs, attributes)
        for attribute in called:
            attrs[attribute.name] = _value(attribute.kind, attributes, attribute.name, node, make)
    return attrs


def _refine(operation, attributes, attrs):
    """Add what the message and the called functions tell about the outputs."""
    shapes = []
    if "_output_shapes" in attributes:
        shapes = [TensorShape(proto_to_shape(proto)) for proto in attributes["_output_shapes"].list.shape]
    elif operation.record.calls_functions and attrs.get("output_shapes"):
        shapes = [TensorShape(shape) for shape in attrs["output_shapes"]]
    for tensor, shape in zip(operation.outputs, shapes):
        if tensor.shape.is_compatible_with(shape):
            tensor.set_shape(shape)
    if operation.record.calls_functions:
        graphs = [attrs.get("f"), attrs.get("body"), attrs.get("then_branch"), *attrs.get("branches", ())]
        graph = next((graph for graph in graphs if graph is not None), None)
        for tensor, inner in zip(operation.outputs, graph.outputs if graph is not None else ()):
            copy_handle_data(inner, tensor)


def _producer_defaults(producer_op_list):
    """For each op of the writing program, the attributes that may be left out and their values then."""
    if producer_op_list is None:
        return {}
    if getattr(getattr(producer_op_list, "DESCRIPTOR", None), "full_name", None) != "tensorflow.OpList":
        raise TypeError(
            f"import_graph_def: producer_op_list must be an OpList message, got {type(producer_op_list).__name__}."
        )
    return {
        op.name: {attr.name: attr.default_value for attr in op.attr if attr.HasField("default_value")}
        for op in producer_op_list.op
    }
