"""The public names of `tf.compat.v1.initializers`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.graph_keys import global_variables_initializer as global_variables
    from headrace._src.compat.graph_keys import local_variables_initializer as local_variables
    from headrace._src.compat.graph_keys import tables_initializer as tables_initializer
    from headrace._src.compat.graph_keys import variables_initializer as variables
    from headrace._src.compat.initializers import Constant as constant
    from headrace._src.compat.initializers import GlorotNormal as glorot_normal
    from headrace._src.compat.initializers import GlorotUniform as glorot_uniform
    from headrace._src.compat.initializers import Identity as identity
    from headrace._src.compat.initializers import Ones as ones
    from headrace._src.compat.initializers import Orthogonal as orthogonal
    from headrace._src.compat.initializers import RandomNormal as random_normal
    from headrace._src.compat.initializers import RandomUniform as random_uniform
    from headrace._src.compat.initializers import TruncatedNormal as truncated_normal
    from headrace._src.compat.initializers import UniformUnitScaling as uniform_unit_scaling
    from headrace._src.compat.initializers import VarianceScaling as variance_scaling
    from headrace._src.compat.initializers import Zeros as zeros
    from headrace._src.compat.initializers import he_normal as he_normal
    from headrace._src.compat.initializers import he_uniform as he_uniform
    from headrace._src.compat.initializers import lecun_normal as lecun_normal
    from headrace._src.compat.initializers import lecun_uniform as lecun_uniform
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
