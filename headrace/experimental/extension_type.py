"""The public names of `tf.experimental.extension_type`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.op.extension_type import as_dict as as_dict
