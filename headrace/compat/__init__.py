"""The public names of `tf.compat`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.core.shapes import dimension_at_index as dimension_at_index
from headrace._src.core.shapes import dimension_value as dimension_value
from headrace.compat import v1 as v1
