"""The public names of `tf.sets`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.ops.sets import difference as difference
from headrace._src.ops.sets import intersection as intersection
from headrace._src.ops.sets import size as size
from headrace._src.ops.sets import union as union
