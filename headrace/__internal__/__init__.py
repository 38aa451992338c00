"""The public names of `tf.__internal__`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace.__internal__ import autograph as autograph
    from headrace.__internal__ import decorator as decorator
    from headrace.__internal__ import dispatch as dispatch
    from headrace.__internal__ import distribute as distribute
    from headrace.__internal__ import eager_context as eager_context
    from headrace.__internal__ import feature_column as feature_column
    from headrace.__internal__ import function as function
    from headrace.__internal__ import graph_util as graph_util
    from headrace.__internal__ import mixed_precision as mixed_precision
    from headrace.__internal__ import monitoring as monitoring
    from headrace.__internal__ import nest as nest
    from headrace.__internal__ import ops as ops
    from headrace.__internal__ import saved_model as saved_model
    from headrace.__internal__ import smart_cond as smart_cond
    from headrace.__internal__ import test as test
    from headrace.__internal__ import tf2 as tf2
    from headrace.__internal__ import tracking as tracking
    from headrace.__internal__ import train as train
    from headrace.__internal__ import types as types
    from headrace._src.compat.tensorflow_names.control_flow_names import get_enclosing_xla_context as get_enclosing_xla_context
    from headrace._src.compat.tensorflow_names.framework_names import convert_variables_to_tensors as convert_variables_to_tensors
    from headrace._src.compat.tensorflow_names.internal_functions import execute_fn_for_device as execute_fn_for_device
    from headrace._src.compat.tensorflow_names.internal_functions import is_tfrt_enabled as is_tfrt_enabled
    from headrace._src.compat.tensorflow_names.internal_functions import record_gradient as record_gradient
    from headrace._src.compat.tensorflow_names.internal_models import load_context as load_context
    from headrace._src.compat.tensorflow_names.internal_models import register_call_context_function as register_call_context_function
    from headrace._src.compat.tensorflow_names.internal_models import register_clear_session_function as register_clear_session_function
    from headrace._src.compat.tensorflow_names.internal_models import register_get_session_function as register_get_session_function
    from headrace._src.compat.tensorflow_names.internal_models import register_load_model_function as register_load_model_function
    from headrace._src.core.composite import CompositeTensor as CompositeTensor
    from headrace._src.core.names import current_name_scope as _get_name_scope
    from headrace._src.core.tensor import EagerTensor as EagerTensor
    from headrace._src.graph.building.func_graph import FuncGraph as FuncGraph
    from headrace._src.graph.building.symbolic import SymbolicTensor as SymbolicTensor
    from headrace._src.tracing.variable_specs import VariableSpec as VariableSpec
    get_name_scope = _get_name_scope
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
