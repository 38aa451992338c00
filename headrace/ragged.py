"""The public names of `tf.ragged`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.ops.crossing import ragged_cross as cross
    from headrace._src.ops.crossing import ragged_cross_hashed as cross_hashed
    from headrace._src.ops.ragged_constant import constant as constant
    from headrace._src.ops.ragged_range import range as range
    from headrace._src.ops.ragged_range import row_splits_to_segment_ids as row_splits_to_segment_ids
    from headrace._src.ops.ragged_range import segment_ids_to_row_splits as segment_ids_to_row_splits
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
