"""The public names of `tf.experimental.dlpack`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.op.queries import from_dlpack as from_dlpack
from headrace._src.op.queries import to_dlpack as to_dlpack
