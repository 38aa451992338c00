"""Variables that a model changes, and tables: what is not a constant of the file but has a first value in it.

Each graph names a variable anew, by `VAR_HANDLE`, so that no loop or branch has to pass a handle on. A graph of its own
gives first values; the others begin by running it, which happens once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.operation import called_graphs
from headrace._src.lite.building import GraphBuilder, Unsupported, converts
from headrace._src.lite.models import LiteGraph, LiteTensor
from headrace._src.state.storage import Storage
from headrace._src.state.table_storage import StaticStorage

# Operations that change a variable, which is their first input.
EFFECTS = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
_WITH_CONDITION = ("If", "StatelessIf", "Case", "StatelessCase")
# TensorFlow Lite's own tables; others are compared key by key.
_TABLES = {(dtypes.string, dtypes.int64), (dtypes.int64, dtypes.string)}
_MOST_COMPARED = 1 << 16  # keys of a table that is compared


class State:
    """The variables and tables of a model.

    Args:
        functions: all concrete functions of the model.
    """

    def __init__(self, functions: Iterable[Any]):
        self._changed: dict[int, Storage] = {}
        self._by_node: dict[str, Any] = {}  # of the function that is being converted
        self._names: dict[int, str] = {}  # of what the model has, by identity
        self._resources: list = []
        for concrete in functions:
            self._find_changed(concrete.graph, _handles(concrete))

    def _find_changed(self, graph, handles):
        for node in graph.nodes:
            if node.type in EFFECTS and id(node.inputs[0]) in handles:
                storage = handles[id(node.inputs[0])]
                self._changed[id(storage)] = storage
            elif node.type == "Identity" and id(node.inputs[0]) in handles:
                handles[id(node.outputs[0])] = handles[id(node.inputs[0])]
            elif node.record.calls_functions:
                outer = node.inputs[1:] if node.type in _WITH_CONDITION else node.inputs
                for called in called_graphs(node.attrs):
                    inner = {id(x): handles[id(y)] for x, y in zip(called.inputs, outer) if id(y) in handles}
                    self._find_changed(called, inner)

    def stays(self, variable: Any) -> bool:
        """Whether a variable is one in the model: it is changed. Others are constants."""
        return id(variable) in self._changed

    def name_kept(self, kept: dict[str, Any]) -> None:
        """Take note of the names that variables and tables have in the graph that is converted next."""
        self._by_node = kept

    def resource(self, name: str) -> Any:
        """What a node of that name stands for."""
        return self._by_node[name]

    def shared_name(self, resource: Any) -> str:
        """What a variable or table is called in the model."""
        key = id(resource)
        if key not in self._names:
            base = (resource.name or "resource").partition(":")[0]
            taken = set(self._names.values())
            number = 0
            while (name := f"{base}_{number}" if number else base) in taken:
                number += 1
            self._names[key] = name
            self._resources.append(resource)
        return self._names[key]

    def table_number(self, table: Any) -> int:
        """The number of a table."""
        self.shared_name(table)
        return [id(one) for one in self._resources].index(id(table)) + 1

    def first_values(self, builder: GraphBuilder) -> LiteGraph | None:
        """A graph that gives everything its first value; None where nothing needs one."""
        for resource in self._resources:
            handle = handle_of(builder, resource)
            if isinstance(resource, StaticStorage):
                keys, values = (builder.constant(array) for array in resource.export())
                builder.emit("HASHTABLE_IMPORT", [handle, keys, values], [], "HashtableImportOptions", has_effects=True)
            else:
                value = builder.constant(resource.read(), resource.dtype)
                builder.emit("ASSIGN_VARIABLE", [handle, value], [], "AssignVariableOptions", has_effects=True)
        return builder.graph if self._resources else None


def _handles(concrete):
    """The variables that a function captures, by the identities of its inputs."""
    inputs = concrete.graph.inputs
    count = len(inputs) - len(concrete.captured_inputs)
    return {
        id(inner): outer._a[()]
        for inner, outer in zip(inputs[count:], concrete.captured_inputs)
        if isinstance(outer, EagerTensor) and outer.dtype is dtypes.resource and not outer._a.ndim
    }


def handle_of(builder: GraphBuilder, resource: Any) -> LiteTensor:
    """A handle of a variable or table in a graph."""
    state = builder.model.state
    name = state.shared_name(resource)
    if name not in builder.handles:
        made = LiteTensor(f"{name}/handle", dtypes.resource, [])
        if isinstance(resource, Storage):
            builder.emit("VAR_HANDLE", [], [made], "VarHandleOptions", container="", sharedName=name)
        else:
            builder.emit(
                "HASHTABLE", [], [made], "HashtableOptions", tableId=state.table_number(resource),
                keyDtype=resource.key_dtype, valueDtype=resource.value_dtype,
            )  # fmt: skip
        builder.handles[name] = made
    return builder.handles[name]


def _resource(builder, tensor):
    found = builder.tensor(tensor).resource
    if found is None:
        raise Unsupported("the variable or table is not known when the model is converted")
    return found


@converts("VarHandleOp", "HashTableV2")
def _named(builder, step):
    made = LiteTensor(step.name, dtypes.resource, [])
    made.resource = builder.model.state.resource(step.attrs["shared_name"])
    builder.given(step.outputs[0], made)


@converts("ReadVariableOp")
def _read(builder, step):
    resource = _resource(builder, step.inputs[0])
    output = builder.tensor(step.outputs[0])
    output.shape = _dims(resource) if output.shape is None else output.shape
    builder.emit("READ_VARIABLE", [handle_of(builder, resource)], [output], "ReadVariableOptions")


def _dims(resource):
    return resource.shape.as_list() if resource.shape.rank is not None else None


def _value(builder, tensor):
    """The value of a variable now."""
    resource = _resource(builder, tensor)
    handle = handle_of(builder, resource)
    return builder.compute("READ_VARIABLE", [handle], _dims(resource), resource.dtype, "ReadVariableOptions")


def _assign(builder, tensor, value):
    handle = handle_of(builder, _resource(builder, tensor))
    builder.emit("ASSIGN_VARIABLE", [handle, value], [], "AssignVariableOptions", has_effects=True)


@converts("AssignVariableOp")
def _assigned(builder, step):
    _assign(builder, *step.inputs)


@converts("AssignAddVariableOp", "AssignSubVariableOp")
def _changed(builder, step):
    handle, change = step.inputs
    code, kind = ("ADD", "AddOptions") if step.type == "AssignAddVariableOp" else ("SUB", "SubOptions")
    value = _value(builder, handle)
    _assign(builder, handle, builder.compute(code, [value, change], value.shape, value.dtype, kind))


@converts("ResourceGather")
def _gathered(builder, step):
    handle, indices = step.inputs
    builder.emit(
        "GATHER", [_value(builder, handle), builder.integers(indices)], step.outputs, "GatherOptions", axis=0,
        batchDims=int(step.attrs.get("batch_dims", 0)),
    )  # fmt: skip


@converts("VariableShape")
def _shape(builder, step):
    number = 2 if step.outputs[0].dtype == dtypes.int32 else 4
    builder.emit("SHAPE", [_value(builder, step.inputs[0])], step.outputs, "ShapeOptions", outType=number)


@converts("VarIsInitializedOp")
def _is_initialized(builder, step):
    builder.given(step.outputs[0], builder.constant(np.array(True)))


@converts("LookupTableFindV2")
def _found(builder, step):
    table, keys, default = step.inputs
    storage = _resource(builder, table)
    if storage.value_shape or storage.key_shape:
        raise Unsupported("keys and values of a table must be numbers or strings, not vectors")
    if (storage.key_dtype, storage.value_dtype) in _TABLES:
        handle = handle_of(builder, storage)
        default = builder.reshaped(builder.tensor(default), [1])
        builder.emit("HASHTABLE_FIND", [handle, keys, default], step.outputs, "HashtableFindOptions")
        return
    _compare(builder, storage, builder.tensor(keys), builder.tensor(default), step.outputs[0])


def _compare(builder, storage, keys, default, output):
    """Find keys by comparing each with all that the table has; what follows the last one is the default."""
    known, values = storage.export()
    if len(known) > _MOST_COMPARED:
        raise Unsupported(
            f"LiteRT has tables from strings to int64 and from int64 to strings; this one is from "
            f"{storage.key_dtype.name} to {storage.value_dtype.name}, and too large to be compared"
        )
    if keys.shape is None or default.value is None:
        raise Unsupported("the rank of keys and the default value must be known when the model is converted")
    dims = keys.shape
    last = builder.constant(-1, dtypes.int32)
    apart = builder.compute("EXPAND_DIMS", [keys, last], [*dims, 1], keys.dtype, "ExpandDimsOptions")
    equal = builder.compute("EQUAL", [apart, builder.constant(known)], [*dims, len(known)], dtypes.bool, "EqualOptions")
    places = builder.constant(np.arange(len(known)) - len(known), dtypes.int32)  # below zero, and zero for none
    chosen = builder.compute(
        "SELECT_V2", [equal, places, builder.constant(0, dtypes.int32)], [*dims, len(known)], dtypes.int32,
        "SelectV2Options",
    )  # fmt: skip
    least = builder.compute("REDUCE_MIN", [chosen, last], dims, dtypes.int32, "ReducerOptions", keepDims=False)
    count = builder.constant(len(known), dtypes.int32)
    place = builder.compute("ADD", [least, count], dims, dtypes.int32, "AddOptions")
    held = builder.constant(np.concatenate([values, default.value.reshape(1)]), storage.value_dtype)
    builder.emit("GATHER", [held, place], [output], "GatherOptions", axis=0)


@converts("LookupTableSizeV2")
def _size(builder, step):
    size = _resource(builder, step.inputs[0]).size()
    builder.given(step.outputs[0], builder.constant(size, dtypes.int64))
