"""Graphs of functions with constants in the place of variables, as a `GraphDef`; also in functions that they call."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import EagerTensor
from headrace._src.formats.graph_messages import FunctionDef, GraphDef, NodeDef
from headrace._src.formats.tensor_protos import array_to_proto, shape_to_proto
from headrace._src.graph.messages.graph_def_edits import reading
from headrace._src.state.storage import Storage

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_BRANCHES = ("If", "StatelessIf", "Case", "StatelessCase")
_LOOPS = ("While", "StatelessWhile")
# What an op is called by others in a function: its outputs have names there.
_OUTPUTS = {"ReadVariableOp": "value", "VarIsInitializedOp": "is_initialized"}
# Attributes that speak of a variable.
_ABOUT_HANDLES = ("_handle_dtypes", "_handle_shapes", "_resource_arg_unique_id")


class Frozen(NamedTuple):
    """A graph without variables.

    Attributes:
        graph_def: the message.
        names: of the nodes that stand for the arguments.
        variables: by the names of their nodes, those that are still there; tables too.
    """

    graph_def: Any
    names: list[str]
    variables: dict[str, Any]


def frozen_graph(
    concrete: Any, keep: Any = lambda variable: False, keep_tables: type | None = None, source: Any = None
) -> Frozen:
    """The graph of a concrete function with the values that its variables have now.

    Args:
        concrete: the function.
        keep: says of the storage of a variable whether it stays one.
        keep_tables: the class of tables that may be there; they stay then, as nodes `HashTableV2`.
        source: the graph as a message, if it is to be another than its `as_graph_def`.

    Raises:
        InvalidArgumentError: it changes a variable, or uses something else that is no constant, such as a table.
    """
    graph = concrete.graph
    source = graph.as_graph_def() if source is None else source
    constants, handles, kept = {}, {}, {}
    taken = {node.name for node in source.node}
    for outer, inner in graph.captures:
        name, variable = inner.op.name, _variable_of(outer)
        table = None if keep_tables is None else _resource_of(outer, keep_tables)
        if table is not None:
            new = unused_name(name_of(table), taken)
            taken.add(new)
            kept[new], constants[name] = table, _table_node(new, table)
            continue
        if variable is None:
            constants[name] = _captured_constant(concrete, name, outer)
            continue
        new = unused_name(name_of(variable), taken)
        taken.add(new)
        if keep(variable):
            kept[new] = variable
            constants[name] = _handle_node(new, variable)
        else:
            constants[name] = _constant(new, np.asarray(variable.read()), variable.dtype)
            handles[name, 0] = variable.dtype.as_datatype_enum
    frozen = _Freezing(source.library, constants).graph(source, handles)
    captured = {id(inner) for _, inner in graph.captures}
    return Frozen(frozen, [tensor.op.name for tensor in graph.inputs if id(tensor) not in captured], kept)


def captured_variables(concrete: Any) -> list[Storage]:
    """The variables that a function uses."""
    return [variable for variable in map(_variable_of, concrete.captured_inputs) if variable is not None]


def name_of(variable: Storage) -> str:
    """What a variable is called in a graph."""
    return (variable.name or "variable").partition(":")[0]


def _variable_of(tensor):
    return _resource_of(tensor, Storage)


def _resource_of(tensor, kind):
    """What a handle stands for; None where that is nothing of this kind."""
    if not isinstance(tensor, EagerTensor) or tensor.dtype is not dtypes.resource or tensor._a.ndim:
        return None
    storage = tensor._a[()]
    return storage if isinstance(storage, kind) else None


def _captured_constant(concrete, name, tensor):
    if not isinstance(tensor, EagerTensor) or tensor.dtype._kind in "rv":
        raise errors.invalid_argument(
            f"The function {concrete.name!r} uses a {tensor.dtype.name}, {name!r}, which is no variable: a table, an "
            "iterator or the like. Only variables can become constants."
        )
    return _constant(name, tensor._a, tensor.dtype)


def _constant(name, array, dtype):
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtype.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(array_to_proto(array, dtype))
    return node


def unused_name(base: str, taken: set[str]) -> str:
    """A name that no node has yet."""
    names = itertools.chain([base], (f"{base}_{number}" for number in itertools.count(1)))
    return next(name for name in names if name not in taken)


def rename_nodes(graph_def: Any, names: dict[str, str]) -> None:
    """Give nodes of a graph, by their names, other ones."""
    for node in graph_def.node:
        node.name = names.get(node.name, node.name)
        inputs = [_renamed(reference, names) for reference in node.input]
        del node.input[:]
        node.input.extend(inputs)


def _handle_node(name, variable):
    node = NodeDef(name=name, op="VarHandleOp")
    node.attr["dtype"].type = variable.dtype.as_datatype_enum
    node.attr["shape"].shape.CopyFrom(shape_to_proto(variable.shape))
    node.attr["shared_name"].s = name.encode()
    return node


def _table_node(name, table):
    node = NodeDef(name=name, op="HashTableV2")
    node.attr["key_dtype"].type = table.key_dtype.as_datatype_enum
    node.attr["value_dtype"].type = table.value_dtype.as_datatype_enum
    node.attr["shared_name"].s = name.encode()
    return node


class _Freezing:
    """Rewrites a graph and the functions of its library.

    A tensor that was a handle, and is the value of a variable now, is known by the name of its node and the number of
    the output. In functions outputs have names too, but the ops that pass handles on have only one list of them.
    """

    def __init__(self, library, replaced):
        self._functions = {function.signature.name: function for function in library.function}
        self._gradients = library.gradient
        self._replaced = replaced  # name of a node of the graph to the node in its place
        self._made: dict = {}  # name of a function and which arguments are values, to the new function and its values
        self._new: list[FunctionDef] = []

    def graph(self, source, handles) -> Any:
        renamed = {name: node.name for name, node in self._replaced.items() if node.name != name}
        result = GraphDef(versions=source.versions)
        for node in source.node:
            if node.name in self._replaced:
                result.node.add().CopyFrom(self._replaced[node.name])
        rest = [node for node in source.node if node.name not in self._replaced]
        result.node.extend(self._nodes(rest, handles)[0])
        rename_nodes(result, renamed)
        used = _reachable(result.node, {**self._functions, **{f.signature.name: f for f in self._new}})
        result.library.function.extend(used)
        names = {function.signature.name for function in used}
        result.library.gradient.extend(g for g in self._gradients if g.function_name in names)
        return result

    def _nodes(self, nodes, handles):
        """The nodes in the place of some, all values, and where outputs have another name now: the two names."""
        handles, changed, outputs = dict(handles), [], {}
        for node in _in_order(nodes):
            places = {
                place: handles[key]
                for place, key in enumerate(_key(x) for x in node.input if not x.startswith("^"))
                if key in handles
            }
            if not places:
                changed.append(node)
                continue
            more, passed = self._without_handles(node, places)
            changed += more
            outputs.update((extra.name, ("", "output")) for extra in more if extra.name != node.name)
            handles.update(((node.name, output), dtype) for output, dtype in passed.items())
            if node.op in _OUTPUTS:
                outputs[node.name] = (_OUTPUTS[node.op], "output")
        return changed, handles, outputs

    def _without_handles(self, node, places):
        """What takes the place of a node that takes values where it took handles; and which outputs are values too."""
        copy = NodeDef()
        copy.CopyFrom(node)
        if node.op in ("ReadVariableOp", "Identity", "ResourceGather", "ResourceGatherNd", "VariableShape"):
            dtype = NodeDef().attr["dtype"]
            dtype.type = places[0]
            return reading(node, dtype), {0: places[0]} if node.op == "Identity" else {}
        if node.op == "VarIsInitializedOp":
            return [_constant(node.name, np.array(True), dtypes.bool)], {}
        if node.op == "DisableCopyOnRead":
            return [NodeDef(name=node.name, op="NoOp", input=[x for x in node.input if x.startswith("^")])], {}
        if node.op in (*_CALLS, *_BRANCHES, *_LOOPS):
            return [copy], self._call(copy, places)
        raise errors.invalid_argument(
            f"The operation {node.name!r} ({node.op}) does something else with a variable than reading it: the "
            "variable cannot become a constant."
        )

    def _call(self, node, places):
        skipped = 1 if node.op in _BRANCHES else 0  # the condition, or the number of the branch
        arguments = tuple((place - skipped, dtype) for place, dtype in places.items())
        values: dict[int, int] = {}
        for attribute in sorted(node.attr):
            for function in [node.attr[attribute].func, *node.attr[attribute].list.func]:
                if function.name in self._functions:
                    function.name, returned = self._function(function.name, arguments)
                    values.update(returned)
        if node.op in _LOOPS:
            values = dict(arguments)
        types = node.attr["T" if node.op in _LOOPS else "Tin"].list.type
        for place, dtype in arguments:
            types[place] = dtype
        if node.op not in _LOOPS:
            for output, dtype in values.items():
                node.attr["Tout"].list.type[output] = dtype
        for output in values:
            if len(node.attr["output_shapes"].list.shape) > output:
                node.attr["output_shapes"].list.shape[output].unknown_rank = True
        return values

    def _function(self, name, arguments):
        """The name of a function that takes values where `name` takes handles, and which of its outputs are values."""
        known = self._made.get((name, arguments))
        if known is not None:
            return known
        function = FunctionDef()
        function.CopyFrom(self._functions[name])
        signature = function.signature
        signature.name = f"{name}_frozen_{len(self._made)}"
        handles = {}
        for place, dtype in arguments:
            argument = signature.input_arg[place]
            argument.type = dtype
            for attribute in _ABOUT_HANDLES:
                function.arg_attr[place].attr.pop(attribute, None)
            handles[argument.name, 0] = dtype
        nodes, handles, outputs = self._nodes(function.node_def, handles)
        del function.node_def[:]
        for node in nodes:
            inputs = [_output_renamed(reference, outputs) for reference in node.input]
            del node.input[:]
            node.input.extend(inputs)
            function.node_def.add().CopyFrom(node)
        returned = {}
        for output, result in enumerate(signature.output_arg):
            reference = function.ret[result.name]
            if _key(reference) in handles:
                result.type = returned[output] = handles[_key(reference)]
            function.ret[result.name] = _output_renamed(reference, outputs)
        self._new.append(function)
        self._made[name, arguments] = signature.name, returned
        return self._made[name, arguments]


def _key(reference):
    """Node and number of the output, of `node`, `node:1` (in graphs), `argument` and `node:output:1` (in functions)."""
    name, *rest = reference.split(":")
    return name, int(rest[-1]) if rest else 0


def _renamed(reference, names):
    control = "^" if reference.startswith("^") else ""
    name, separator, rest = reference.removeprefix("^").partition(":")
    return f"{control}{names.get(name, name)}{separator}{rest}"


def _output_renamed(reference, outputs):
    """A reference in a function to an output whose name has changed, or to a node that is new."""
    name, _, rest = reference.partition(":")
    if name not in outputs:
        return reference
    before, after = outputs[name]
    if not before:
        return f"{name}:{after}:0"
    return f"{name}:{after}:{rest.partition(':')[2]}" if rest.startswith(f"{before}:") else reference


def _in_order(nodes):
    """Nodes after those whose outputs they take."""
    by_name = {node.name: node for node in nodes}
    done: dict[str, Any] = {}
    for first in nodes:
        stack = [(first, iter(first.input))]
        while stack:
            node, inputs = stack[-1]
            for reference in inputs:
                name = reference.removeprefix("^").partition(":")[0]
                if name in by_name and name not in done and all(name != other.name for other, _ in stack):
                    stack.append((by_name[name], iter(by_name[name].input)))
                    break
            else:
                stack.pop()
                done.setdefault(node.name, node)
    return list(done.values())


def _reachable(nodes, functions):
    """The functions that nodes call, and those that these call."""
    found: dict[str, Any] = {}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        for attribute in node.attr.values():
            for called in [attribute.func, *attribute.list.func]:
                if called.name in functions and called.name not in found:
                    found[called.name] = functions[called.name]
                    waiting.extend(functions[called.name].node_def)
    return list(found.values())
