"""The public names of `tf.sparse`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.ops.sparse_tensor import SparseTensor as SparseTensor
