"""The public names of `tf.compat.v1.initializers`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.graph_keys import global_variables_initializer as _global_variables
    from headrace._src.compat.graph_keys import local_variables_initializer as _local_variables
    from headrace._src.compat.graph_keys import tables_initializer as tables_initializer
    from headrace._src.compat.graph_keys import variables_initializer as _variables
    from headrace._src.compat.variables.initializers import Constant as _constant
    from headrace._src.compat.variables.initializers import GlorotNormal as _glorot_normal
    from headrace._src.compat.variables.initializers import GlorotUniform as _glorot_uniform
    from headrace._src.compat.variables.initializers import Identity as _identity
    from headrace._src.compat.variables.initializers import Ones as _ones
    from headrace._src.compat.variables.initializers import Orthogonal as _orthogonal
    from headrace._src.compat.variables.initializers import RandomNormal as _random_normal
    from headrace._src.compat.variables.initializers import RandomUniform as _random_uniform
    from headrace._src.compat.variables.initializers import TruncatedNormal as _truncated_normal
    from headrace._src.compat.variables.initializers import UniformUnitScaling as _uniform_unit_scaling
    from headrace._src.compat.variables.initializers import VarianceScaling as _variance_scaling
    from headrace._src.compat.variables.initializers import Zeros as _zeros
    from headrace._src.compat.variables.initializers import he_normal as he_normal
    from headrace._src.compat.variables.initializers import he_uniform as he_uniform
    from headrace._src.compat.variables.initializers import lecun_normal as lecun_normal
    from headrace._src.compat.variables.initializers import lecun_uniform as lecun_uniform
    constant = _constant
    global_variables = _global_variables
    glorot_normal = _glorot_normal
    glorot_uniform = _glorot_uniform
    identity = _identity
    local_variables = _local_variables
    ones = _ones
    orthogonal = _orthogonal
    random_normal = _random_normal
    random_uniform = _random_uniform
    truncated_normal = _truncated_normal
    uniform_unit_scaling = _uniform_unit_scaling
    variables = _variables
    variance_scaling = _variance_scaling
    zeros = _zeros
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
