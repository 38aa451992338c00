"""The public names of `tf.types`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace.types import experimental as experimental
