"""The public names of `tf.compat.v1.ragged`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.session import ragged_placeholder as placeholder
    from headrace._src.ops.crossing import ragged_cross as cross
    from headrace._src.ops.crossing import ragged_cross_hashed as cross_hashed
    from headrace._src.ops.ragged_constant import constant as constant
    from headrace._src.ops.ragged_functions import map_flat_values as map_flat_values
    from headrace._src.ops.ragged_joining import stack as stack
    from headrace._src.ops.ragged_range import range as range
    from headrace._src.ops.ragged_range import row_splits_to_segment_ids as row_splits_to_segment_ids
    from headrace._src.ops.ragged_range import segment_ids_to_row_splits as segment_ids_to_row_splits
    from headrace._src.ops.ragged_selecting import boolean_mask as boolean_mask
    from headrace._src.ops.ragged_selecting import stack_dynamic_partitions as stack_dynamic_partitions
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
