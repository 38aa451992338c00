"""What a graph becomes before TensorFlow.js gets it: other operations where it lacks some, or does them otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.formats.graph_messages import NodeDef
from headrace._src.formats.tensor_protos import array_to_proto
from headrace._src.graph.messages.inlined_graphs import function_as_graph, output_names

# Gives for a node, with what makes nodes, the names of the tensors in the place of its outputs; None if it stays.
Rule = Callable[["NewNodes", Any], list[str] | None]
_HANDLES = (dtypes.variant.as_datatype_enum, dtypes.resource.as_datatype_enum)


class NewNodes:
    """Makes nodes for a graph, in the place of one.

    Attributes:
        nodes: those that were made.
        where: the name of the function that this is in; "" for none.
    """

    def __init__(self, base: str, where: str) -> None:
        self.nodes: list[Any] = []
        self.where = where
        self._base = base

    def add(self, op: str, inputs: list[str], types: dict[str, int] | None = None) -> str:
        """An operation with one output; `types` are its attributes that are dtypes. Returns the name of its output."""
        node = NodeDef(name=f"{self._base}/{op.lower()}_{len(self.nodes)}", op=op, input=inputs)
        for key, value in (types or {}).items():
            node.attr[key].type = value
        self.nodes.append(node)
        return node.name

    def constant(self, value: Any, dtype: Any) -> str:
        """A constant."""
        node = constant_node(f"{self._base}/constant_{len(self.nodes)}", np.asarray(value), dtype)
        self.nodes.append(node)
        return node.name

    def same(self, node: Any, inputs: list[str]) -> str:
        """The node itself with other inputs, and another name."""
        copy = NodeDef()
        copy.CopyFrom(node)
        copy.name = f"{self._base}/same"
        del copy.input[:]
        copy.input.extend(inputs)
        self.nodes.append(copy)
        return copy.name


def constant_node(name: str, array: np.ndarray, dtype: Any) -> Any:
    """A node with a value."""
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtype.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(array_to_proto(np.asarray(array, dtype._np), dtype))
    return node


def rewrite(graph: Any, outputs: list[str], rules: dict[str, Rule]) -> list[str]:
    """Apply rules to the nodes of a graph and of its functions, in place.

    Args:
        graph: a `GraphDef`.
        outputs: the tensors that are wanted.
        rules: by the names of ops.

    Returns:
        what the wanted tensors are called now.
    """
    _keep_items_of_loops(graph)
    rules = {"Identity": _without_copies_of_handles, **rules}
    nodes, outputs = _rewritten(graph.node, outputs, rules, "")
    del graph.node[:]
    graph.node.extend(nodes)
    for function in graph.library.function:
        plain, results = function_as_graph(function)
        nodes, results = _rewritten(plain, results, rules, function.signature.name)
        results = _one_each(function, nodes, results)
        # TF.js: outputs of operations are known by their numbers in functions, too; their names are ignored.
        del function.node_def[:]
        function.node_def.extend(nodes)
        for argument, result in zip(function.signature.output_arg, results):
            function.ret[argument.name] = result
    return outputs


def _rewritten(nodes, wanted, rules, where):
    made: list = []
    names: dict[str, str] = {}
    for node in nodes:
        new = NewNodes(node.name, where)
        results = rules[node.op](new, node) if node.op in rules else None
        if results is None:
            made.append(node)
            continue
        made += new.nodes
        for number, result in enumerate(results):
            names[node.name if number == 0 else f"{node.name}:{number}"] = result

    def current(name):
        name = name.removesuffix(":0")
        while name in names:
            name = names[name].removesuffix(":0")
        return name

    for node in made:
        inputs = [current(name) for name in node.input]
        del node.input[:]
        node.input.extend(inputs)
    return made, [current(name) for name in wanted]


# TF.js: what it knows by the identity of a tensor, or by the name of a node.


def _without_copies_of_handles(new, node):
    """TF.js: lists and tables are known by their handles, which an `Identity` would copy."""
    return [node.input[0]] if node.attr["T"].type in _HANDLES else None


def _one_each(function, nodes, results):
    """TF.js: of all outputs of one operation, a function returns a single one, as often as it returns any."""
    several = {node.name for node in nodes if len(output_names(node)) > 1}
    found = []
    for number, (argument, result) in enumerate(zip(function.signature.output_arg, results)):
        if result.partition(":")[0] in several and argument.type not in _HANDLES:
            node = NodeDef(name=f"returned_{number}", op="Identity", input=[result])
            node.attr["T"].type = argument.type
            nodes.append(node)
            result = node.name
        found.append(result)
    return found


def _keep_items_of_loops(graph):
    """Make what a loop writes into a list one of its variables.

    TF.js: it frees what a function has computed and does not return, even if it was put into a list.
    """
    functions = {function.signature.name: function for function in graph.library.function}
    extra: dict[str, list[int]] = {}  # by the names of the functions of loops, the dtypes of their new variables
    loops = [
        (where, node)
        for where, nodes in [("", graph.node), *((name, one.node_def) for name, one in functions.items())]
        for node in nodes
        if node.op in ("While", "StatelessWhile")
    ]
    for _, node in loops:
        body, condition = (node.attr[name].func.name for name in ("body", "cond"))
        if body not in extra:
            extra[body] = _return_items(functions[body])
            _take_more(functions[condition], extra[body])
    for where, node in loops:
        for number, dtype in enumerate(extra[node.attr["body"].func.name]):
            constant = constant_node(f"{node.name}/item_{number}", np.zeros(()), dtypes.as_dtype(dtype))
            (functions[where].node_def if where else graph.node).append(constant)
            node.input.append(constant.name + (":output:0" if where else ""))
            node.attr["T"].list.type.append(dtype)


def _return_items(function):
    """Return the items that a function writes into lists, and take as many arguments; the dtypes."""
    returned = set(function.ret.values())
    given = {argument.name for argument in function.signature.input_arg}
    places = {"TensorListSetItem": 2, "TensorListPushBack": 1}
    found = {}
    for node in function.node_def:
        if node.op in places:
            item = node.input[places[node.op]]
            if item not in returned and item not in given:
                found[item] = node.attr["element_dtype"].type
    _take_more(function, list(found.values()))
    for number, (item, dtype) in enumerate(found.items()):
        function.signature.output_arg.add(name=f"kept_item_{number}_out", type=dtype)
        function.ret[f"kept_item_{number}_out"] = item
    return list(found.values())


def _take_more(function, kinds):
    for number, dtype in enumerate(kinds):
        function.signature.input_arg.add(name=f"kept_item_{number}", type=dtype)
