"""The collections of a 1.x graph: their standard names, and functions for those of the default graph."""

from typing import TYPE_CHECKING, Any

from headrace._src.compat.behavior import get_default_graph
from headrace._src.core.context import context
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.arrays.filling import FILL
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.passing import NO_OP
from headrace._src.ops.arrays.selecting import WHERE
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.comparison import LOGICAL_NOT

if TYPE_CHECKING:
    from headrace._src.graph.building.operation import Operation


@api("compat.v1.GraphKeys")
class GraphKeys:
    """Names of collections that the library itself uses."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    VARIABLES = "variables"  # the older name of GLOBAL_VARIABLES


@api("compat.v1.add_to_collection", dispatch=False)
def add_to_collection(name, value) -> None:
    """Append `value` to a collection of the default graph."""
    _graph().add_to_collection(name, value)


@api("compat.v1.add_to_collections", dispatch=False)
def add_to_collections(names, value) -> None:
    """Append `value` to several collections of the default graph."""
    _graph().add_to_collections(names, value)


@api("compat.v1.get_collection", dispatch=False)
def get_collection(key, scope=None) -> list:
    """A copy of a collection of the default graph; with `scope`, of what has a name that matches it at the start."""
    return _graph().get_collection(key, scope)


@api("compat.v1.get_collection_ref", dispatch=False)
def get_collection_ref(key) -> list:
    """A collection of the default graph itself."""
    return _graph().get_collection_ref(key)


def _graph():
    """The default graph; while a function is traced, the graph around it."""
    graph = get_default_graph()
    while graph.building_function:
        outer = graph.outer_graph
        if outer is None:
            with context.changed(graph=None):
                return get_default_graph()
        graph = outer
    return graph




@api("compat.v1.global_variables", dispatch=False)
def global_variables(scope=None) -> list:
    """The variables of the default graph, but for local ones; with `scope`, those whose names begin so."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


@api("compat.v1.all_variables", dispatch=False)
def all_variables() -> list:
    """The older name of `global_variables`."""
    return global_variables()


@api("compat.v1.local_variables", dispatch=False)
def local_variables(scope=None) -> list:
    """The variables of the default graph that are not shared nor saved."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


@api("compat.v1.model_variables", dispatch=False)
def model_variables(scope=None) -> list:
    """The variables that belong to a model."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


@api("compat.v1.trainable_variables", dispatch=False)
def trainable_variables(scope=None) -> list:
    """The variables that optimizers change."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


@api("compat.v1.moving_average_variables", dispatch=False)
def moving_average_variables(scope=None) -> list:
    """The variables that have moving averages."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


# Initialising.


@api("compat.v1.variables_initializer", "compat.v1.initializers.variables", dispatch=False)
def variables_initializer(var_list, name="init") -> Any:
    """An operation that runs the initializers of all the variables."""
    if context.graph is None:
        return None  # TF: eager variables have their values
    return grouped([variable.initializer for variable in var_list], name)


@api("compat.v1.initialize_variables", dispatch=False)
def initialize_variables(var_list, name="init") -> Any:
    """The older name of `variables_initializer`."""
    return variables_initializer(var_list, name)


@api("compat.v1.global_variables_initializer", "compat.v1.initializers.global_variables", dispatch=False)
def global_variables_initializer() -> Any:
    """An operation that initialises all global variables."""
    return variables_initializer(global_variables())


@api("compat.v1.initialize_all_variables", dispatch=False)
def initialize_all_variables() -> Any:
    """The older name of `global_variables_initializer`."""
    return variables_initializer(global_variables())


@api("compat.v1.local_variables_initializer", "compat.v1.initializers.local_variables", dispatch=False)
def local_variables_initializer() -> "Operation":
    """An operation that initialises all local variables."""
    return variables_initializer(local_variables())


@api("compat.v1.initialize_local_variables", dispatch=False)
def initialize_local_variables() -> Any:
    """The older name of `local_variables_initializer`."""
    return variables_initializer(local_variables())


@api(
    "compat.v1.tables_initializer", "compat.v1.initialize_all_tables", "compat.v1.initializers.tables_initializer",
    dispatch=False,
)  # fmt: skip
def tables_initializer(name="init_all_tables") -> "Operation":
    """An operation that initialises all tables; tables that have their content already need none."""
    if context.graph is None:
        return None
    return grouped(get_collection(GraphKeys.TABLE_INITIALIZERS), name)


def grouped(operations, name):
    """An operation without results that runs after all of `operations`."""
    with context.graph.control_dependencies(operations):
        return NO_OP(name=name)


@api("compat.v1.is_variable_initialized", dispatch=False)
def is_variable_initialized(variable) -> Tensor:
    """A boolean tensor: whether a variable has a value."""
    return variable.is_initialized()


@api("compat.v1.report_uninitialized_variables", dispatch=False)
def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables") -> Tensor:
    """A vector of the names of the variables that have no value; all global and local ones by default."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    if not var_list:
        return FILL([0], "", name=name)
    missing = LOGICAL_NOT(PACK([v.is_initialized() for v in var_list], axis=0))
    names = [variable.name.rpartition(":")[0] for variable in var_list]
    rows = RESHAPE(WHERE(missing), [-1])
    return GATHER_V2(names, rows, 0, name=name)


@api("compat.v1.assert_variables_initialized", dispatch=False)
def assert_variables_initialized(var_list=None) -> Any:
    """An operation that fails unless all the variables have values."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    if not var_list:
        return None
    return grouped([variable.value() for variable in var_list], "assert_variables_initialized")
