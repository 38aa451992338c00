"""The public names of `tf.math.special`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.ops.math.bessel import bessel_i0 as bessel_i0
    from headrace._src.ops.math.bessel import bessel_i0e as bessel_i0e
    from headrace._src.ops.math.bessel import bessel_i1 as bessel_i1
    from headrace._src.ops.math.bessel import bessel_i1e as bessel_i1e
    from headrace._src.ops.math.bessel import bessel_j0 as bessel_j0
    from headrace._src.ops.math.bessel import bessel_j1 as bessel_j1
    from headrace._src.ops.math.bessel import bessel_k0 as bessel_k0
    from headrace._src.ops.math.bessel import bessel_k0e as bessel_k0e
    from headrace._src.ops.math.bessel import bessel_k1 as bessel_k1
    from headrace._src.ops.math.bessel import bessel_k1e as bessel_k1e
    from headrace._src.ops.math.bessel import bessel_y0 as bessel_y0
    from headrace._src.ops.math.bessel import bessel_y1 as bessel_y1
    from headrace._src.ops.math.special import dawsn as dawsn
    from headrace._src.ops.math.special import expint as expint
    from headrace._src.ops.math.special import fresnel_cos as fresnel_cos
    from headrace._src.ops.math.special import fresnel_sin as fresnel_sin
    from headrace._src.ops.math.special import spence as spence
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
