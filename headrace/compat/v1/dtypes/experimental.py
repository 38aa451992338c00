"""The public names of `tf.compat.v1.dtypes.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.dtypes import float4_e2m1fn as float4_e2m1fn
    from headrace._src.core.dtypes import float8_e4m3b11fnuz as float8_e4m3b11fnuz
    from headrace._src.core.dtypes import float8_e4m3fn as float8_e4m3fn
    from headrace._src.core.dtypes import float8_e4m3fnuz as float8_e4m3fnuz
    from headrace._src.core.dtypes import float8_e5m2 as float8_e5m2
    from headrace._src.core.dtypes import float8_e5m2fnuz as float8_e5m2fnuz
    from headrace._src.core.dtypes import int2 as int2
    from headrace._src.core.dtypes import int4 as int4
    from headrace._src.core.dtypes import uint2 as uint2
    from headrace._src.core.dtypes import uint4 as uint4
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
