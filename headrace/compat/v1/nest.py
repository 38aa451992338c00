"""The public names of `tf.compat.v1.nest`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.nest import assert_same_structure as assert_same_structure
    from headrace._src.core.nest import flatten as flatten
    from headrace._src.core.nest import is_nested as is_nested
    from headrace._src.core.nest import map_structure as map_structure
    from headrace._src.core.nest import pack_sequence_as as pack_sequence_as
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
