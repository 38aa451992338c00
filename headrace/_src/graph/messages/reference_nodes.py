"""1.x variables without handles as messages: TensorFlow passes a reference where headrace names the variable."""

from headrace._src.formats.graph_messages import NodeDef
from headrace._src.graph.messages.attribute_values import to_attr_value

_ASSIGNING = frozenset({"Assign", "AssignAdd", "AssignSub"})
_REFERRING = _ASSIGNING | {"IsVariableInitialized"}
# Attributes that name the variable, and their kinds.
_NAMING = {"shape": "shape", "dtype": "type", "container": "string", "shared_name": "string"}


def takes_reference(op: str) -> bool:
    """Whether an op of this name takes a variable without a handle in TensorFlow."""
    return op in _REFERRING


def write_reference(node, proto):
    """Let a message say what TensorFlow's op takes: the variable as its first input."""
    if node.type not in _REFERRING:
        return
    name = node.attrs["shared_name"]
    variable = next((x for x in node.graph.nodes if x.type == "VariableV2" and x.attrs["shared_name"] == name), None)
    if variable is None:
        raise ValueError(f"{node.name!r} assigns the variable {name!r}, which the graph does not have.")
    proto.input.insert(0, variable.name)
    dropped = set(_NAMING) - ({"dtype"} if node.type == "IsVariableInitialized" else set())
    for attribute in dropped | ({"validate_shape"} if node.type in ("AssignAdd", "AssignSub") else set()):
        if attribute in proto.attr:
            del proto.attr[attribute]


def read_reference(node, inputs, name, graph, reference):
    """The message and inputs of an operation as headrace has them.

    Args:
        node: a message as TensorFlow writes it.
        inputs: its inputs.
        name: the full name of the operation.
        graph: to which it will be added.
        reference: a function from container and name to the variable with a handle that is meant, or None.

    Raises:
        ValueError: the target of an assignment is not a variable.
    """
    if node.op in ("Variable", "VariableV2"):
        copied = NodeDef()
        copied.CopyFrom(node)
        copied.op = "VariableV2"
        if not node.attr["shared_name"].s:
            copied.attr["shared_name"].s = name.encode()
        variable = reference(copied.attr["container"].s.decode(), copied.attr["shared_name"].s.decode())
        return (copied, inputs) if variable is None else (_read_of_handle(copied), [graph.inside(variable.handle)])
    if node.op not in _REFERRING or "shared_name" in node.attr:
        return node, inputs
    if not inputs:
        raise ValueError(f"Node {node.name!r}: {node.op} takes a variable and has no inputs.")
    variable = inputs[0].op
    if _HANDLE_READ in variable.annotations:
        copied = NodeDef()
        copied.CopyFrom(node)
        named = NodeDef.FromString(variable.annotations[_HANDLE_READ].s)
        for attribute in _NAMING:
            copied.attr[attribute].CopyFrom(named.attr[attribute])
        return copied, inputs[1:]
    if variable.type not in _ASSIGNING | {"VariableV2"}:
        raise ValueError(f"Node {node.name!r}: {node.op} takes a variable, got the output of {variable!r}.")
    copied = NodeDef()
    copied.CopyFrom(node)
    for attribute, kind in _NAMING.items():
        copied.attr[attribute].CopyFrom(to_attr_value(kind, variable.attrs[attribute]))
    return copied, inputs[1:]


# On an operation that reads a handle in place of a variable without one: the message of that variable.
_HANDLE_READ = "_headrace_reference"


def _read_of_handle(node):
    """The message of an operation that reads a handle, in place of a variable without one."""
    read = NodeDef(name=node.name, op="ReadVariableOp", device=node.device)
    read.attr["dtype"].CopyFrom(node.attr["dtype"])
    read.attr[_HANDLE_READ].s = node.SerializeToString()
    return read


def read_anew(graph, inputs, controls, name) -> list:
    """The inputs of an operation, with those that are a variable's value read when it is the operation's turn.

    TF: reading a reference, or an Identity of one, gives the latest value.
    """
    found = list(inputs)
    for i, tensor in enumerate(inputs):
        source = tensor.op
        if source.type == "Identity" and _is_variable(source.inputs[0].op):
            source = source.inputs[0].op
        if _is_variable(source):
            attrs, types, name_of_read = source.attrs, source.types, f"{name}/variable_{i}/"
            (found[i],) = graph.create(source.record, source.inputs, attrs, types, tensor.shape, name_of_read)
            # What the Identity waits for must have run all the same.
            graph.nodes[-1].control_inputs = (*controls, tensor.op)
    return found


def drop_unread(graph) -> None:
    """Take reads of variables out of the graph of a function that nobody needs, and that would run all the same.

    A variable without a handle is an input of what assigns it, when there may be nothing to read yet.
    """
    wanted = {id(tensor.op) for tensor in graph.outputs}
    for node in graph.nodes:
        wanted.update(id(tensor.op) for tensor in node.inputs)
        wanted.update(map(id, node.control_inputs))
    graph.nodes[:] = [node for node in graph.nodes if _HANDLE_READ not in node.annotations or id(node) in wanted]


def _is_variable(operation):
    return operation.type == "VariableV2" or _HANDLE_READ in operation.annotations
