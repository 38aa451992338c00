"""Lookup tables in graph models: a graph that fills them, which runs before the first call."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.formats.graph_messages import GraphDef
from headrace._src.js.rewriting import NewNodes, Rule, constant_node

_INT32 = dtypes.int32.as_datatype_enum
_BOOL = dtypes.bool.as_datatype_enum


def initializer_graph(graph: Any, tables: dict[str, Any]) -> Any:
    """The graph that fills the tables that are in a graph.

    Args:
        graph: the `GraphDef` of a model.
        tables: what tables hold, by the names of their nodes.

    Raises:
        InvalidArgumentError: there are none of this kind in TensorFlow.js.
    """
    made = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name not in tables:
            continue
        table = tables[node.name]
        if table.key_shape or table.value_shape:
            raise errors.invalid_argument(
                f"The table {table.name or node.name!r} has keys or values that are tensors; those of TensorFlow.js "
                "are single numbers or strings."
            )
        made.node.add().CopyFrom(node)
        names = [f"{node.name}/keys", f"{node.name}/values"]
        for name, array, dtype in zip(names, table.export(), (table.key_dtype, table.value_dtype)):
            made.node.append(constant_node(name, array, dtype))
        fill = made.node.add(name=f"{node.name}/fill", op="LookupTableImportV2", input=[node.name, *names])
        fill.attr["Tin"].type = table.key_dtype.as_datatype_enum
        fill.attr["Tout"].type = table.value_dtype.as_datatype_enum
    return made


def lookup_rules(graph: Any, tables: dict[str, Any]) -> dict[str, Rule]:
    """What becomes of lookups.

    TF.js: what is found has the shape of a vector, whatever that of the keys. And functions of loops and branches know
    no tables: there, keys are compared with all that a table has.
    """
    places = _places(graph, tables)

    def find(new, node):
        if not new.where:
            found = new.same(node, list(node.input))
            return [_shaped(new, found, node.input[1], node.attr["Tin"].type, node.attr["Tout"].type)]
        return [_compared(new, node, places[new.where, node.input[0]])]

    def size(new, node):
        if not new.where:
            return None
        return [new.constant(places[new.where, node.input[0]].size(), dtypes.int64)]

    return {"LookupTableFindV2": find, "LookupTableSizeV2": size}


def _places(graph, tables) -> dict[tuple[str, str], Any]:
    """Which table an argument of a function is, by the names of both."""
    functions = {function.signature.name: function for function in graph.library.function}
    found = {("", name): table for name, table in tables.items()}
    waiting = [("", graph.node)]
    while waiting:
        where, nodes = waiting.pop()
        for node in nodes:
            skipped = int(node.op in ("If", "StatelessIf"))
            called = [attr.func.name for attr in node.attr.values() if attr.WhichOneof("value") == "func"]
            for name in called:
                arguments = functions[name].signature.input_arg
                for argument, given in zip(arguments, node.input[skipped:]):
                    table = found.get((where, given.partition(":")[0]))
                    if table is not None:
                        found[name, argument.name] = table
                waiting.append((name, functions[name].node_def))
    return found


def _shaped(new: NewNodes, found, keys, key_kind, kind):
    shape = new.add("Shape", [keys], {"T": key_kind, "out_type": _INT32})
    return new.add("Reshape", [found, shape], {"T": kind, "Tshape": _INT32})


def _compared(new: NewNodes, node, table):
    """What a table has for keys, by comparing each with all."""
    keys, values = table.export()
    if values.dtype == object or table.value_shape or table.key_shape or not len(keys):
        raise errors.invalid_argument(
            f"The table {table.name or node.input[0]!r} is used in a loop or a branch, where TensorFlow.js knows no "
            "tables: only numbers of a table that is not empty can be found there. Look up before the loop or branch."
        )
    key_kind, kind = node.attr["Tin"].type, node.attr["Tout"].type
    last = new.constant(-1, dtypes.int32)
    column = new.add("ExpandDims", [node.input[1], last], {"T": key_kind, "Tdim": _INT32})
    equal = new.add("Equal", [column, new.constant(keys, table.key_dtype)], {"T": key_kind})
    there = new.add("Any", [equal, last], {"Tidx": _INT32})
    number = new.add("Cast", [equal], {"SrcT": _BOOL, "DstT": _INT32})
    place = new.add("ArgMax", [number, last], {"T": _INT32, "Tidx": _INT32, "output_type": _INT32})
    zero = new.constant(0, dtypes.int32)
    found = new.add(
        "GatherV2", [new.constant(np.asarray(values), table.value_dtype), place, zero],
        {"Tparams": kind, "Tindices": _INT32, "Taxis": _INT32},
    )  # fmt: skip
    return new.add("SelectV2", [there, found, node.input[2]], {"T": kind})
