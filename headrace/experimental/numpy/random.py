"""The public names of `tf.experimental.numpy.random`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.ops.numpy_api.linear import poisson as poisson
    from headrace._src.ops.numpy_api.linear import rand as rand
    from headrace._src.ops.numpy_api.linear import randint as randint
    from headrace._src.ops.numpy_api.linear import randn as randn
    from headrace._src.ops.numpy_api.linear import random as random
    from headrace._src.ops.numpy_api.linear import seed as seed
    from headrace._src.ops.numpy_api.linear import standard_normal as standard_normal
    from headrace._src.ops.numpy_api.linear import uniform as uniform
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
