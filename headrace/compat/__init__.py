"""The public names of `tf.compat`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.shapes import dimension_at_index as dimension_at_index
    from headrace._src.core.shapes import dimension_value as dimension_value
    from headrace.compat import v1 as v1
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
