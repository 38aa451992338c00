"""The public names of `tf.compat.v1`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.behavior import control_flow_v2_enabled as control_flow_v2_enabled
    from headrace._src.compat.behavior import disable_control_flow_v2 as disable_control_flow_v2
    from headrace._src.compat.behavior import disable_eager_execution as disable_eager_execution
    from headrace._src.compat.behavior import disable_resource_variables as disable_resource_variables
    from headrace._src.compat.behavior import disable_tensor_equality as disable_tensor_equality
    from headrace._src.compat.behavior import disable_v2_behavior as disable_v2_behavior
    from headrace._src.compat.behavior import disable_v2_tensorshape as disable_v2_tensorshape
    from headrace._src.compat.behavior import enable_control_flow_v2 as enable_control_flow_v2
    from headrace._src.compat.behavior import enable_eager_execution as enable_eager_execution
    from headrace._src.compat.behavior import enable_resource_variables as enable_resource_variables
    from headrace._src.compat.behavior import enable_tensor_equality as enable_tensor_equality
    from headrace._src.compat.behavior import enable_v2_behavior as enable_v2_behavior
    from headrace._src.compat.behavior import enable_v2_tensorshape as enable_v2_tensorshape
    from headrace._src.compat.behavior import executing_eagerly_outside_functions as executing_eagerly_outside_functions
    from headrace._src.compat.behavior import get_default_graph as get_default_graph
    from headrace._src.compat.behavior import reset_default_graph as reset_default_graph
    from headrace._src.compat.behavior import resource_variables_enabled as resource_variables_enabled
    from headrace._src.compat.fetches import SparseTensorValue as SparseTensorValue
    from headrace._src.compat.options import ConfigProto as ConfigProto
    from headrace._src.compat.options import GPUOptions as GPUOptions
    from headrace._src.compat.options import GraphOptions as GraphOptions
    from headrace._src.compat.options import OptimizerOptions as OptimizerOptions
    from headrace._src.compat.options import RunMetadata as RunMetadata
    from headrace._src.compat.options import RunOptions as RunOptions
    from headrace._src.compat.session import InteractiveSession as InteractiveSession
    from headrace._src.compat.session import Session as Session
    from headrace._src.compat.session import get_default_session as get_default_session
    from headrace._src.compat.session import placeholder as placeholder
    from headrace._src.compat.session import placeholder_with_default as placeholder_with_default
    from headrace._src.compat.session import sparse_placeholder as sparse_placeholder
    from headrace._src.core.devices import MutableDeviceSpec as DeviceSpec
    from headrace._src.core.shapes import Dimension as Dimension
    from headrace._src.core.shapes import TensorShape as TensorShape
    from headrace._src.core.shapes import dimension_at_index as dimension_at_index
    from headrace._src.core.shapes import dimension_value as dimension_value
    from headrace._src.core.specs import TensorSpec as TensorSpec
    from headrace._src.formats.graph_messages import AttrValue as AttrValue
    from headrace._src.formats.graph_messages import GraphDef as GraphDef
    from headrace._src.formats.graph_messages import NameAttrList as NameAttrList
    from headrace._src.formats.graph_messages import NodeDef as NodeDef
    from headrace._src.graph.graph_import import import_graph_def as import_graph_def
    from headrace._src.graph.python_functions import py_func as py_func
    from headrace._src.ops.clipping import clip_by_average_norm as clip_by_average_norm
    from headrace.compat.v1 import errors as errors
    from headrace.compat.v1 import graph_util as graph_util
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
