"""1.x variables without handles as messages: TensorFlow passes a reference where headrace names the variable."""

import re

from headrace._src.core import dtypes
from headrace._src.formats.graph_messages import NodeDef
from headrace._src.graph.messages.attribute_values import to_attr_value
from headrace._src.op.registry import lookup
from headrace._src.state.storage import VARIABLE_REFERENCE

# Ops whose first inputs are variables without handles. Here they are given a handle for each, by such operations:
REFERENCE = VARIABLE_REFERENCE.name
_GIVEN_HANDLES = re.compile(
    r"(?:Sparse)?Apply\w+|Scatter(?:Nd)?(?:Update|Add|Sub|Mul|Div|Min|Max)|StridedSliceAssign|CountUpTo"
)
_ASSIGNING = frozenset({"Assign", "AssignAdd", "AssignSub"})
_REFERRING = _ASSIGNING | {"IsVariableInitialized"}
# Attributes that name the variable, and their kinds.
_NAMING = {"shape": "shape", "dtype": "type", "container": "string", "shared_name": "string"}


def text_attribute(node, name: str) -> str:
    """An attribute that is text; empty if it is not said. Looking it up in a message would add it."""
    return node.attr[name].s.decode() if name in node.attr else ""


def takes_reference(op: str) -> bool:
    """Whether an op of this name takes a variable without a handle in TensorFlow."""
    return op in _REFERRING or _GIVEN_HANDLES.fullmatch(op) is not None


def variable_of(node):
    """The operation that is the variable without a handle which an operation names.

    Raises:
        ValueError: the graph does not have it.
    """
    name = node.attrs["shared_name"]
    variable = next((x for x in node.graph.nodes if x.type == "VariableV2" and x.attrs["shared_name"] == name), None)
    if variable is None:
        raise ValueError(f"{node.name!r} assigns the variable {name!r}, which the graph does not have.")
    return variable


def write_reference(node, proto):
    """Let a message say what TensorFlow's op takes: the variable as its first input."""
    if node.type not in _REFERRING:
        return
    proto.input.insert(0, variable_of(node).name)
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
        container, shared_name = text_attribute(node, "container"), text_attribute(node, "shared_name") or name
        copied.attr["container"].s, copied.attr["shared_name"].s = container.encode(), shared_name.encode()
        variable = reference(container, shared_name)
        return (copied, inputs) if variable is None else (_read_of_handle(copied), [graph.inside(variable.handle)])
    if node.op not in _REFERRING or "shared_name" in node.attr:
        return node, inputs
    if not inputs:
        raise ValueError(f"Node {node.name!r}: {node.op} takes a variable and has no inputs.")
    copied = NodeDef()
    copied.CopyFrom(node)
    _copy_naming(copied, inputs[0].op, node)
    return copied, inputs[1:]


def _copy_naming(proto, variable, node):
    """Let a message name the variable that an operation reads or has assigned."""
    if _HANDLE_READ in variable.annotations:
        named = NodeDef.FromString(variable.annotations[_HANDLE_READ].s)
        for attribute in _NAMING:
            proto.attr[attribute].CopyFrom(named.attr[attribute])
        return
    if takes_reference(variable.type) and variable.type not in _REFERRING:
        variable = variable.inputs[0].op  # it returns the variable
    if variable.type not in _ASSIGNING | {"VariableV2", REFERENCE}:
        raise ValueError(f"Node {node.name!r}: {node.op} takes a variable, got the output of {variable!r}.")
    for attribute, kind in _NAMING.items():
        proto.attr[attribute].CopyFrom(to_attr_value(kind, variable.attrs[attribute]))


def assigned_before(node, inputs) -> list:
    """The operations whose results are variables that an operation changes in turn, and so must have run."""
    if node.op in _REFERRING:
        count = 1
    else:
        count = _references_of(node.op)
    return [x.op for x in inputs[:count] if x.op.type in _ASSIGNING or _GIVEN_HANDLES.fullmatch(x.op.type)]


def _references_of(op):
    if not _GIVEN_HANDLES.fullmatch(op):
        return 0
    return sum(argument.dtype is dtypes.resource for argument in lookup(op).signature.inputs)


def reference_messages(node, inputs) -> list:
    """For an op whose first inputs are variables, a message for each of an operation that gives its handle.

    Raises:
        ValueError: an input is no variable.
    """
    count = _references_of(node.op)
    if len(inputs) < count:
        raise ValueError(f"Node {node.name!r}: {node.op} takes {count} variables, and has {len(inputs)} inputs.")
    messages = []
    for tensor in inputs[:count]:
        message = NodeDef(name=node.name, op=REFERENCE)
        _copy_naming(message, tensor.op, node)
        messages.append(message)
    return messages


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
            graph.nodes[-1].stands_for = tensor
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
