"""The public names of `tf.compat.v1.bitwise`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.ops.math.bitwise import bitwise_and as bitwise_and
    from headrace._src.ops.math.bitwise import bitwise_or as bitwise_or
    from headrace._src.ops.math.bitwise import bitwise_xor as bitwise_xor
    from headrace._src.ops.math.bitwise import invert as invert
    from headrace._src.ops.math.bitwise import left_shift as left_shift
    from headrace._src.ops.math.bitwise import right_shift as right_shift
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
