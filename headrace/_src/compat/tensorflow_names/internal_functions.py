"""The rest of `tf.__internal__`, and `tf.__operators__`: Python's operators as functions."""

import contextlib
from collections.abc import Iterator
from typing import Any

from headrace._src.compat.tensorflow_names.control_flow_names import get_enclosing_xla_context
from headrace._src.compat.tensorflow_names.framework_names import device_name
from headrace._src.compat.tensorflow_names.gauges import BoolGauge
from headrace._src.compat.training.losses import check_weights
from headrace._src.core import errors
from headrace._src.core.tensor import Tensor
from headrace._src.data.datasets import DatasetV2
from headrace._src.devices.configuration import set_soft_device_placement
from headrace._src.distribute.values import DistributedValues
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.op.api import api, export
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import broadcast_to
from headrace._src.ops.arrays.filling import ones_like
from headrace._src.ops.arrays.indexing import getitem
from headrace._src.ops.arrays.measuring import shape
from headrace._src.ops.ragged.indexing import ragged_getitem
from headrace._src.state.variables import Variable
from headrace._src.tracing.function import Function

export("__internal__.SymbolicTensor")(SymbolicTensor)
export("__internal__.function.Function")(Function)
export("__internal__.types.data.Dataset")(DatasetV2)
export("__internal__.monitoring.BoolGauge")(BoolGauge)
export("__internal__.get_enclosing_xla_context")(get_enclosing_xla_context)
export("__internal__.eager_context.get_device_name")(device_name)
export("__internal__.eager_context.set_soft_device_placement")(set_soft_device_placement)


@api("__operators__.add")
def add(x, y, name=None) -> Any:
    """`x + y`.

    >>> int(tf.__operators__.add(1, tf.constant(2)))
    3
    """
    return (x if isinstance(x, (Tensor, Variable)) else to_tensor(x)) + y


@api("__operators__.eq")
def eq(self, other) -> Any:
    """`self == other`."""
    return self == other


@api("__operators__.ne")
def ne(self, other) -> Any:
    """`self != other`."""
    return self != other


@api("__operators__.getitem")
def operator_getitem(tensor, slice_spec, var=None) -> Any:
    """`tensor[slice_spec]`; of a variable, with a method `assign`.

    >>> tf.__operators__.getitem(tf.constant([1, 2, 3]), slice(1, None)).numpy().tolist()
    [2, 3]
    """
    if var is not None:
        return var[slice_spec]
    return getitem(tensor, slice_spec) if isinstance(tensor, Tensor) else tensor[slice_spec]


@api("__operators__.ragged_getitem")
def operator_ragged_getitem(rt_input, key) -> Any:
    """`rt_input[key]` of a ragged tensor."""
    return ragged_getitem(rt_input, key)


@api("__internal__.execute_fn_for_device", dispatch=False)
def execute_fn_for_device(device_branch_fns, default_fn, name="execute_fn") -> Any:
    """The result of the function for this machine's device, "CPU", or of the default one.

    >>> tf.__internal__.execute_fn_for_device({"GPU": lambda: 1}, lambda: 2)
    2
    """
    kinds = {kind.upper(): function for kind, function in device_branch_fns.items()}
    return kinds.get("CPU", default_fn)()


@api("__internal__.graph_util.graph_defs_equal", dispatch=False)
def graph_defs_equal(graph_def_1, graph_def_2, treat_nan_as_equal=False) -> bool:
    """Whether two `GraphDef` messages have the same operations, in any order."""
    nodes_1, nodes_2 = ({node.name: node for node in graph.node} for graph in (graph_def_1, graph_def_2))
    return nodes_1 == nodes_2


@api("__internal__.is_tfrt_enabled", dispatch=False)
def is_tfrt_enabled() -> bool:
    """Never: it is a part of TensorFlow's runtime."""
    return False


@api("__internal__.eager_context.get_executor", dispatch=False)
def get_executor() -> Any:
    """What runs operations: this thread, at once."""
    return _executor


class _Executor:
    """Operations have ended when they return."""

    def wait(self):
        """Nothing to wait for."""

    def clear_error(self):
        """Errors are raised where they happen."""

    def is_async(self):
        """Never."""
        return False


_executor = _Executor()


@api("__internal__.ops.is_resource_variable", dispatch=False)
def is_resource_variable(var) -> bool:
    """Whether it is a variable with a handle, as all variables of TensorFlow 2 are.

    >>> tf.__internal__.ops.is_resource_variable(tf.Variable(1.0))
    True
    """
    return isinstance(var, (Variable, DistributedValues)) or hasattr(var, "_should_act_as_resource_variable")


@api("__internal__.ops.get_resource_handle_data", dispatch=False)
def get_resource_handle_data(graph_op) -> Any:
    """What is known of the variable that a handle is of; None if nothing is."""
    return getattr(graph_op, "_handle_data", None)


@api("__internal__.ops.broadcast_weights", dispatch=False)
def broadcast_weights(weights, values) -> Tensor:
    """Weights with the shape of values. Each size of theirs is one, or the values'; a scalar fits all.

    >>> tf.__internal__.ops.broadcast_weights([[1.0], [2.0]], tf.ones([2, 3])).numpy().tolist()
    [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]

    Raises:
        ValueError: the shapes do not fit.
    """
    values = to_tensor(values)
    weights = to_tensor(weights, values.dtype if values.dtype.is_floating else None)
    check_weights(weights, values)
    if weights.shape.is_fully_defined() and weights.shape == values.shape:
        return weights
    return broadcast_to(weights, shape(values)) if weights.dtype.is_bool else weights * ones_like(values, weights.dtype)


@api("__internal__.record_gradient", dispatch=False)
def record_gradient(op_name, inputs, attrs, outputs) -> None:
    """Refused: operations tell tapes of themselves, when they run.

    Raises:
        UnimplementedError: always.
    """
    raise errors.UnimplementedError(
        None,
        None,
        f"record_gradient: {op_name} is told to tapes when it runs; use tf.custom_gradient for other gradients.",
    )


@api("__internal__.distribute.variable_sync_on_read_context", dispatch=False)
@contextlib.contextmanager
def variable_sync_on_read_context() -> Iterator[None]:
    """Within this block, variables that are summed up when they are read give the sum, as they always do here."""
    yield
