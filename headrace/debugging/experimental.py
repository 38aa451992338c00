"""The public names of `tf.debugging.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.ops.debugging.dumping import disable_dump_debug_info as disable_dump_debug_info
    from headrace._src.ops.debugging.dumping import enable_dump_debug_info as enable_dump_debug_info
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
