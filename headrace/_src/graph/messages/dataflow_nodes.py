"""Nodes of the control flow of 1.x: what their inputs name, and the functions that parts of graphs become.

A graph of 1.x has no operation that calls a branch or the body of a loop. There, `Switch` sends a tensor one of two
ways, the operations of the way that was not taken do not run, and `Merge` goes on with what arrived; `Enter`,
`NextIteration` and `Exit` mark where tensors enter, go around and leave a loop. `raised_loops.py` and
`raised_branches.py` find such places, and put a `While` or an `If` there. All of this is done on messages, before
operations are made of them.
"""

from collections.abc import Container, Iterable
from typing import Any, NamedTuple

from headrace._src.core import dtypes
from headrace._src.formats.graph_messages import FunctionDef, NodeDef
from headrace._src.graph.messages.attribute_values import from_attr_value
from headrace._src.op.registry import REGISTRY, lookup

_PLAIN = ("Switch", "Merge", "Enter", "Exit", "NextIteration")
# TF: on variables without handles there are other names for the same.
_SAME = {f"Ref{name}": name for name in _PLAIN}
CONTROL_FLOW = frozenset([*_PLAIN, *_SAME, "LoopCond", "ControlTrigger"])
# Outputs by name, as functions name them.
_PORTS = {"output_false": "0", "output_true": "1", "value_index": "1", "output": "0"}
BOOL = dtypes.bool.as_datatype_enum
VARIABLES_WITHOUT_HANDLES = ("VariableV2", "Variable")


class Reference(NamedTuple):
    """An input of a node: an output ("0", "1", or in functions "output:0") of another, or only that it runs before."""

    node: str
    port: str

    @property
    def is_control(self) -> bool:
        return self.port == "^"

    def __str__(self):
        return f"^{self.node}" if self.is_control else f"{self.node}:{self.port}"


def reference(text: str) -> Reference:
    if text.startswith("^"):
        return Reference(text[1:], "^")
    name, _, port = text.partition(":")
    return Reference(name, port or "0")


def kind(node: Any) -> str:
    """The op, in its usual name."""
    return _SAME.get(node.op, node.op)


class Nodes(dict):
    """The nodes of one graph or function by name.

    Attributes:
        arguments: the dtypes of the arguments, by name; nodes may name them as inputs.
    """

    def __init__(self, nodes: Iterable[Any] = (), arguments: dict[str, int] | None = None):
        super().__init__((node.name, node) for node in nodes)
        self.arguments = arguments or {}

    def argument_names(self, count: int) -> list[str]:
        """Names for the arguments of a function of some of the nodes."""
        label = "argument"
        while any(name.startswith(label) for name in self):
            label += "_"
        return [f"{label}{i}" for i in range(count)]

    def inputs(self, name: str) -> list[Reference]:
        """All inputs, the ports of control flow as numbers."""
        return [self.numbered(reference(text)) for text in self[name].input]

    def data(self, name: str) -> list[Reference]:
        return [x for x in self.inputs(name) if not x.is_control]

    def controls(self, name: str) -> list[Reference]:
        return [x for x in self.inputs(name) if x.is_control]

    def numbered(self, given: Reference) -> Reference:
        node = self.get(given.node)
        if node is None or node.op not in CONTROL_FLOW:
            return given
        return Reference(given.node, _PORTS.get(given.port.partition(":")[0], given.port))

    def kind(self, given: Reference) -> str:
        """The op that a reference is about; nothing for arguments."""
        return kind(self[given.node]) if given.node in self else ""

    def fresh(self, name: str, taken: Container[str] = ()) -> str:
        """A name that no node has yet."""
        number, found = 0, name
        while found in self or found in taken:
            number += 1
            found = f"{name}_{number}"
        return found


def not_raised(node: Any, reason: str) -> ValueError:
    return ValueError(
        f"Node {node.name!r} ({node.op}): this control flow of 1.x cannot be raised to functions: {reason}"
    )


def output_type(nodes: Nodes, given: Reference) -> int:
    """The number of the dtype of a tensor."""
    if given.node in nodes.arguments:
        return nodes.arguments[given.node]
    node = nodes[given.node]
    if node.op in CONTROL_FLOW:
        return dtypes.int32.as_datatype_enum if given.port == "1" and kind(node) == "Merge" else node.attr["T"].type
    port, _, place = given.port.partition(":")
    return _output_types(node)[int(port) if port.isdecimal() else (port, int(place or 0))]


def _output_types(node):
    """Numbers of dtypes, by place and by name with a place."""
    found: dict[Any, int] = {}
    signature = lookup(node.op).signature
    defaults = {x.name: x.default for x in signature.attributes}
    at = 0
    for output in signature.outputs:
        if output.type_list:
            kinds = list(node.attr[output.type_attr].list.type)
        else:
            count = from_attr_value("int", node.attr[output.number_attr]) if output.is_list else 1
            said = output.dtype
            if said is None and output.type_attr not in node.attr:
                said = dtypes.as_dtype(defaults[output.type_attr])
            kinds = [node.attr[output.type_attr].type if said is None else said.as_datatype_enum] * count
        for i, number in enumerate(kinds):
            found[at] = found[output.name, i] = number
            at += 1
    return found


def has_effects(node: Any, library: dict) -> bool:
    """Whether it makes a difference how often a node runs."""
    if node.op in library:
        return library[node.op].signature.is_stateful
    return node.op in REGISTRY and lookup(node.op).stateful and node.op not in ("Placeholder", "VarHandleOp")


class NewFunctions:
    """The functions that parts of a graph became.

    Attributes:
        made: `FunctionDef` messages.
        library: all definitions by name, those of the file included.
    """

    def __init__(self, library: dict[str, Any]):
        self.library = dict(library)
        self.made: list[Any] = []

    def add(self, label: str, nodes: Nodes, outputs: list[tuple[Reference, int]]) -> str:
        """Make a function.

        Args:
            label: of its name.
            nodes: what it does, with its arguments.
            outputs: what it returns, with dtypes.

        Returns:
            Its name.
        """
        number = len(self.library)
        while (name := f"{label.replace('/', '_')}_{number}") in self.library:
            number += 1
        function = FunctionDef()
        function.signature.name = name
        for argument, dtype in nodes.arguments.items():
            function.signature.input_arg.add(name=argument, type=dtype)
        for i, (result, dtype) in enumerate(outputs):
            function.signature.output_arg.add(name=f"output_{i}", type=dtype)
            function.ret[f"output_{i}"] = result.node if result.node not in nodes else str(result)
        function.node_def.extend(nodes.values())
        function.signature.is_stateful = any(has_effects(node, self.library) for node in nodes.values())
        self.library[name] = function
        self.made.append(function)
        return name


def part_of(nodes: Nodes, members: Iterable[str], instead: Any, arguments: dict[str, int]) -> Nodes:
    """Copies of some nodes, with other inputs.

    Args:
        nodes: all nodes.
        members: names of those to copy.
        instead: a function from a reference to the one to use, or None to leave it out.
        arguments: those of the function that the copies are for.
    """
    part = Nodes(arguments=arguments)
    chosen = set(members)
    for name in (name for name in nodes if name in chosen):
        part[name] = copied(nodes[name], filter(None, map(instead, nodes.inputs(name))))
    return part


def copied(node: Any, inputs: Iterable[Reference]) -> Any:
    """The same node with other inputs, those that only come before at the end."""
    fresh = NodeDef()
    fresh.CopyFrom(node)
    del fresh.input[:]
    given = list(inputs)
    fresh.input.extend(str(x) for x in given if not x.is_control)
    fresh.input.extend(dict.fromkeys(str(x) for x in given if x.is_control))
    return fresh


def added(nodes: Nodes, name: str, op: str, inputs: Iterable[Reference], **attributes: Any) -> Any:
    """Add a node; attributes are names of functions, dtypes, and lists of dtypes."""
    node = NodeDef(name=name, op=op, input=map(str, inputs))
    for key, value in attributes.items():
        if isinstance(value, str):
            node.attr[key].func.name = value
        elif isinstance(value, list):
            node.attr[key].list.type.extend(value)
            node.attr[key].list.SetInParent()
        else:
            node.attr[key].type = value
    nodes[name] = node
    return node
