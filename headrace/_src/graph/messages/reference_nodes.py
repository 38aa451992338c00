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


def read_reference(node, inputs, name):
    """The message and inputs of an operation as headrace has them.

    Args:
        node: a message as TensorFlow writes it.
        inputs: its inputs.
        name: the full name of the operation.

    Raises:
        ValueError: the target of an assignment is not a variable.
    """
    if node.op in ("Variable", "VariableV2"):
        copied = NodeDef()
        copied.CopyFrom(node)
        copied.op = "VariableV2"
        if not node.attr["shared_name"].s:
            copied.attr["shared_name"].s = name.encode()
        return copied, inputs
    if node.op not in _REFERRING or "shared_name" in node.attr:
        return node, inputs
    if not inputs:
        raise ValueError(f"Node {node.name!r}: {node.op} takes a variable and has no inputs.")
    variable = inputs[0].op
    if variable.type not in _ASSIGNING | {"VariableV2"}:
        raise ValueError(f"Node {node.name!r}: {node.op} takes a variable, got the output of {variable!r}.")
    copied = NodeDef()
    copied.CopyFrom(node)
    for attribute, kind in _NAMING.items():
        copied.attr[attribute].CopyFrom(to_attr_value(kind, variable.attrs[attribute]))
    return copied, inputs[1:]


def read_anew(graph, inputs, controls, name) -> list:
    """The inputs of an operation, with those that are a variable's value read when it is the operation's turn.

    TF: reading a reference, or an Identity of one, gives the latest value.
    """
    found = list(inputs)
    for i, tensor in enumerate(inputs):
        source = tensor.op
        if source.type == "Identity" and source.inputs[0].op.type == "VariableV2":
            source = source.inputs[0].op
        if source.type == "VariableV2":
            attrs, types = source.attrs, source.types
            (found[i],) = graph.create(source.record, (), attrs, types, tensor.shape, f"{name}/variable_{i}/")
            # What the Identity waits for must have run all the same.
            graph.nodes[-1].control_inputs = (*controls, tensor.op)
    return found
