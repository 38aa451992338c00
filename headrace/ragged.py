"""The public names of `tf.ragged`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.ops.ragged_constant import constant as constant
from headrace._src.ops.ragged_range import range as range
from headrace._src.ops.ragged_range import row_splits_to_segment_ids as row_splits_to_segment_ids
from headrace._src.ops.ragged_range import segment_ids_to_row_splits as segment_ids_to_row_splits
