"""Variables of 1.x graphs as `VariableDef` messages, which meta graphs keep in their collections, and back."""

import itertools

import numpy as np

from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.formats.model_messages import VariableDef
from headrace._src.graph.building.graph_variables import GraphVariable, RefVariable
from headrace._src.state.storage import Storage
from headrace._src.state.variable_copies import VariableAggregation, VariableSynchronization
from headrace._src.state.variables import Variable

_unique = itertools.count()


def variable_to_proto(variable, export_scope=None) -> VariableDef | None:
    """A variable as a `VariableDef` message, which names its operations.

    Args:
        variable: a `GraphVariable`.
        export_scope: only variables in this scope are written, with names relative to it.

    Returns:
        The message; None if the variable is not in the scope.
    """
    if export_scope is not None and not is_in_scope(variable.name, export_scope):
        return None
    proto = VariableDef(
        variable_name=without_scope(variable.handle.name, export_scope),
        initializer_name=without_scope(variable.initializer.name, export_scope),
        snapshot_name=without_scope(variable._snapshot.name, export_scope),
        is_resource=not isinstance(variable, RefVariable),
        trainable=bool(variable.trainable),
        synchronization=variable.synchronization.value,
        aggregation=variable.aggregation.value,
    )
    if variable._initial_value is not None:
        proto.initial_value_name = without_scope(variable._initial_value.name, export_scope)
    info = getattr(variable, "_save_slice_info", None)
    if info is not None:
        proto.save_slice_info_def.CopyFrom(info.to_proto(export_scope=export_scope))
    return proto


def variable_from_proto(variable_def, import_scope=None, graph=None) -> GraphVariable:
    """The variable of the graph whose operations a `VariableDef` names.

    Args:
        variable_def: the message, of any class of that name.
        import_scope: where the operations are, if they were imported into a scope.
        graph: the current one by default.

    Raises:
        KeyError: an operation that it names is not in the graph.
    """
    if not isinstance(variable_def, VariableDef):
        variable_def = VariableDef.FromString(variable_def.SerializeToString())
    kind = GraphVariable if variable_def.is_resource else RefVariable
    variable = kind.__new__(kind)
    _fill(variable, variable_def, import_scope, context.graph if graph is None else graph)
    return variable


def _fill(variable, proto, scope, graph):
    def element(name):
        return graph.as_graph_element(with_scope(name, scope)) if name else None

    handle = element(proto.variable_name)
    attributes = handle.op.attrs
    variable._graph = graph
    variable._handle = handle
    variable._name = handle.op.name
    variable._container = attributes["container"]
    variable._unique_id = f"{handle.op.name}_{next(_unique)}"
    variable._dtype = attributes["dtype"]
    synchronization = VariableSynchronization(proto.synchronization)
    variable._set_use(proto.trainable, None, synchronization, VariableAggregation(proto.aggregation))
    variable._initializer = element(proto.initializer_name)
    variable._initial_value = element(proto.initial_value_name)
    variable._snapshot = element(proto.snapshot_name)
    static = TensorShape(attributes["shape"])
    variable._storage = Storage(None, variable._dtype, static, variable._name)
    if isinstance(variable, RefVariable):
        variable._attributes = {name: attributes[name] for name in ("shape", "dtype", "container", "shared_name")}
        variable.reads = []
    else:
        _fill_handle(variable, graph)
    if proto.HasField("save_slice_info_def"):
        variable._save_slice_info = Variable.SaveSliceInfo(
            save_slice_info_def=proto.save_slice_info_def, import_scope=scope
        )


def _fill_handle(variable, graph):
    box = np.empty((), object)
    box[()] = variable._storage
    variable._handle._known = box
    name = f"{variable._name}/IsInitialized/VarIsInitializedOp"
    node = next((node for node in graph.nodes if node.name == name), None)
    variable._is_initialized = None if node is None else node.outputs[0]


def is_in_scope(name: str, scope: str) -> bool:
    """Whether a name is in a scope."""
    return name.startswith(scope if scope.endswith("/") else scope + "/")


def with_scope(name: str, scope: str | None) -> str:
    """The name of an operation or tensor after its graph was imported into a scope."""
    if not scope:
        return name
    return f"{scope.rstrip('/')}/{name}"


def without_scope(name: str, scope: str | None) -> str:
    """A name relative to a scope, if it is in that scope."""
    if not scope or not is_in_scope(name, scope):
        return name
    return name[len(scope.rstrip("/")) + 1 :]
