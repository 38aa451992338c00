"""The public names of `tf.compat.v1.distributions`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.distributions.base import Distribution as Distribution
    from headrace._src.compat.distributions.base import FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED
    from headrace._src.compat.distributions.base import NOT_REPARAMETERIZED as NOT_REPARAMETERIZED
    from headrace._src.compat.distributions.base import ReparameterizationType as ReparameterizationType
    from headrace._src.compat.distributions.continuous import Beta as Beta
    from headrace._src.compat.distributions.continuous import Dirichlet as Dirichlet
    from headrace._src.compat.distributions.continuous import Exponential as Exponential
    from headrace._src.compat.distributions.continuous import Gamma as Gamma
    from headrace._src.compat.distributions.continuous import Laplace as Laplace
    from headrace._src.compat.distributions.continuous import Normal as Normal
    from headrace._src.compat.distributions.continuous import StudentT as StudentT
    from headrace._src.compat.distributions.continuous import Uniform as Uniform
    from headrace._src.compat.distributions.discrete import Bernoulli as Bernoulli
    from headrace._src.compat.distributions.discrete import Categorical as Categorical
    from headrace._src.compat.distributions.discrete import DirichletMultinomial as DirichletMultinomial
    from headrace._src.compat.distributions.discrete import Multinomial as Multinomial
    from headrace._src.compat.distributions.divergences import RegisterKL as RegisterKL
    from headrace._src.compat.distributions.divergences import kl_divergence as kl_divergence
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
