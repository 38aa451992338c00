"""Graphs without calls, for those who run them elsewhere: the bodies of functions stand where these were called.

Loops and branches stay what they are, and so do the functions that they name; but no function calls another one.
Orders that are not by data, and operations that only check or print, are left out; where there is state in a graph, its
nodes stand in an order in which they can run one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from headrace._src.core import errors
from headrace._src.formats.graph_messages import FunctionDef, GraphDef, NodeDef
from headrace._src.op.registry import lookup

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_CHECKS = ("Assert", "Print", "PrintV2", "NoOp")
# What hands on its first input; where nothing is checked, that is all.
_PASSING = ("CheckNumerics", "PreventGradient", "Snapshot", "CheckNumericsV2")


def inlined(graph_def: Any, outputs: list[str], effects: Collection[str] = ()) -> tuple[Any, list[str]]:
    """A graph with the same results, without calls; and what its outputs are called.

    Args:
        graph_def: the graph.
        outputs: the names of the tensors that are wanted. What they do not need is left out.
        effects: names of ops that stay though nobody reads their results, in the order in which they are.

    Raises:
        InvalidArgumentError: a function calls itself.
    """
    return _Inlining(graph_def, effects).graph(outputs)


class _Inlining:
    def __init__(self, graph_def, effects):
        self._source = graph_def
        self._effects = effects
        self._functions = {function.signature.name: function for function in graph_def.library.function}
        self._used: dict[str, Any] = {}  # functions of loops and branches, rewritten

    def graph(self, outputs):
        result = GraphDef()
        result.versions.CopyFrom(self._source.versions)
        nodes, names = self._expanded(self._source.node, "", {}, ())
        found = [names.get(_canonical(name), name) for name in outputs]
        for node in _needed(nodes, set(map(_node_of, found)) | self._with_effects(nodes)):
            result.node.append(node)
        self._add_functions(result.node)
        result.library.function.extend(self._used.values())
        return result, found

    def _with_effects(self, nodes):
        """The names of nodes that must stay: they have effects, or name a function with such nodes."""
        if not self._effects:
            return set()
        return {node.name for node in nodes if node.op in self._effects or any(map(self._changes, called(node)))}

    def _changes(self, name):
        nodes = self._functions[name].node_def
        return any(node.op in self._effects or any(map(self._changes, called(node))) for node in nodes)

    def _add_functions(self, nodes):
        """Rewrite the functions that nodes name, and those that these name."""
        for node in nodes:
            for name in called(node):
                if name not in self._used:
                    self._used[name] = self._function(name)
                    self._add_functions(self._used[name].node_def)

    def _expanded(self, nodes, prefix, given, callers):
        """Nodes of a graph without calls, and the new names of tensors.

        Args:
            nodes: as they stand in a GraphDef.
            prefix: what names begin with.
            given: names of tensors that stand for others.
            callers: the functions around.
        """
        made: list = []
        names: dict[str, str] = dict(given)
        for node in _in_order(nodes):
            inputs = [names.get(_canonical(name), name) for name in node.input if not name.startswith("^")]
            if node.op in _CHECKS:
                continue
            if node.op in _PASSING:
                names[node.name] = inputs[0]
                continue
            if node.op in _CALLS:
                body, results = self._call(node, inputs, prefix, callers)
                made += body
                names.update({_output(node.name, number): result for number, result in enumerate(results)})
                continue
            copy = NodeDef()
            copy.CopyFrom(node)
            copy.name = prefix + node.name
            del copy.input[:]
            copy.input.extend(inputs)
            made.append(copy)
            for number in range(len(output_names(node))):
                names[_output(node.name, number)] = _output(copy.name, number)
        return made, names

    def _call(self, node, inputs, prefix, callers):
        name = node.attr["f"].func.name
        if name in callers:
            raise errors.invalid_argument(f"The function {name} calls itself: it cannot stand where it is called.")
        function = self._functions[name]
        arguments = {arg.name: value for arg, value in zip(function.signature.input_arg, inputs)}
        nodes, references = function_as_graph(function)
        made, names = self._expanded(nodes, f"{prefix}{node.name}/", arguments, (*callers, name))
        return made, [names.get(reference, reference) for reference in references]

    def _function(self, name):
        """A function of a loop or branch, without calls."""
        function = self._functions[name]
        nodes, references = function_as_graph(function)
        arguments = {arg.name: arg.name for arg in function.signature.input_arg}
        made, names = self._expanded(nodes, "", arguments, (name,))
        results = [names.get(reference, reference) for reference in references]
        kept = _needed(made, {_node_of(reference) for reference in results} | self._with_effects(made))
        return _as_function(function, kept, results)


def called(node: Any) -> list[str]:
    """The names of the functions that a node names."""
    found: list[str] = []
    for attr in node.attr.values():
        named = [attr.func] if attr.WhichOneof("value") == "func" else attr.list.func
        found += [one.name for one in named]
    return found


def output_names(node: Any) -> list[tuple[str, int]]:
    """For each output of a node, the name of the group that it is in, and its number there."""
    found: list[tuple[str, int]] = []
    for described in lookup(node.op).signature.outputs:
        count = 1
        if described.number_attr:
            count = node.attr[described.number_attr].i
        elif described.is_list:
            count = len(node.attr[described.type_attr].list.type)
        found += [(described.name, number) for number in range(count)]
    return found


def _output(name, number):
    return name if not number else f"{name}:{number}"


def _canonical(name):
    return name.removesuffix(":0")


def _node_of(reference):
    return reference.partition(":")[0].lstrip("^")


def function_as_graph(function: Any) -> tuple[list[Any], list[str]]:
    """The nodes of a function as a GraphDef has them, and what it returns."""
    places = {node.name: {place: flat for flat, place in enumerate(output_names(node))} for node in function.node_def}

    def reference(name):
        node, _, rest = name.partition(":")
        if name.startswith("^") or node not in places:
            return name
        group, _, number = rest.partition(":")
        return _output(node, places[node][group, int(number or 0)])

    nodes = []
    for node in function.node_def:
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        copy.input.extend([reference(name) for name in node.input])
        nodes.append(copy)
    return nodes, [reference(function.ret[result.name]) for result in function.signature.output_arg]


def _as_function(source, nodes, results):
    """A function with other nodes, which are as a GraphDef has them."""
    groups = {node.name: output_names(node) for node in nodes}

    def reference(name):
        node, _, number = name.partition(":")
        if node not in groups:
            return name
        group, place = groups[node][int(number or 0)]
        return f"{node}:{group}:{place}"

    made = FunctionDef()
    made.signature.CopyFrom(source.signature)
    del made.signature.control_output[:]
    for node in nodes:
        copy = made.node_def.add()
        copy.CopyFrom(node)
        del copy.input[:]
        copy.input.extend([reference(name) for name in node.input])
    for result, name in zip(source.signature.output_arg, results):
        made.ret[result.name] = reference(name)
    return made


def _in_order(nodes) -> Iterator[Any]:
    """Nodes after those that they need."""
    by_name = {node.name: node for node in nodes}
    done: set[str] = set()
    for first in nodes:
        stack = [first]
        while stack:
            node = stack[-1]
            waiting = [
                by_name[name] for name in map(_node_of, node.input) if name in by_name and name not in done
            ] if node.name not in done else []  # fmt: skip
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if node.name not in done:
                done.add(node.name)
                yield node


def _needed(nodes, wanted):
    by_name = {node.name: node for node in nodes}
    found: set[str] = set()
    stack = [name for name in wanted if name in by_name]
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += [source for source in map(_node_of, by_name[name].input) if source in by_name]
    # Arguments stay, whether they are needed or not.
    return [node for node in nodes if node.name in found or node.op == "Placeholder"]
