"""The public names of `tf.compat.v1.ragged`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.ragged_values import RaggedTensorValue as RaggedTensorValue
    from headrace._src.compat.ragged_values import constant_value as constant_value
    from headrace._src.compat.sessions.session import ragged_placeholder as _placeholder
    from headrace._src.ops.ragged.constant import constant as constant
    from headrace._src.ops.ragged.functions import map_flat_values as map_flat_values
    from headrace._src.ops.ragged.joining import stack as stack
    from headrace._src.ops.ragged.ranges import range as range
    from headrace._src.ops.ragged.ranges import row_splits_to_segment_ids as row_splits_to_segment_ids
    from headrace._src.ops.ragged.ranges import segment_ids_to_row_splits as segment_ids_to_row_splits
    from headrace._src.ops.ragged.selecting import boolean_mask as boolean_mask
    from headrace._src.ops.ragged.selecting import stack_dynamic_partitions as stack_dynamic_partitions
    from headrace._src.ops.sparse.crossing import ragged_cross as _cross
    from headrace._src.ops.sparse.crossing import ragged_cross_hashed as _cross_hashed
    cross = _cross
    cross_hashed = _cross_hashed
    placeholder = _placeholder
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
