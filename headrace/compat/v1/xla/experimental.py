"""The public names of `tf.compat.v1.xla.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.functions.compiled_parts import compile as compile
    from headrace._src.compat.functions.compiled_parts import jit_scope as jit_scope
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
