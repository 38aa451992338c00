"""The public names of `tf.__internal__`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace.__internal__ import autograph as autograph
    from headrace.__internal__ import decorator as decorator
    from headrace.__internal__ import distribute as distribute
    from headrace.__internal__ import eager_context as eager_context
    from headrace.__internal__ import nest as nest
    from headrace.__internal__ import saved_model as saved_model
    from headrace.__internal__ import smart_cond as smart_cond
    from headrace.__internal__ import tf2 as tf2
    from headrace.__internal__ import tracking as tracking
    from headrace.__internal__ import types as types
    from headrace._src.core.composite import CompositeTensor as CompositeTensor
    from headrace._src.core.names import current_name_scope as _get_name_scope
    from headrace._src.core.tensor import EagerTensor as EagerTensor
    from headrace._src.graph.building.func_graph import FuncGraph as FuncGraph
    from headrace._src.tracing.variable_specs import VariableSpec as VariableSpec
    get_name_scope = _get_name_scope
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
