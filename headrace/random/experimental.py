"""The public names of `tf.random.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.ops.random_filling import fold_in as stateless_fold_in
from headrace._src.ops.random_filling import split as stateless_split
from headrace._src.ops.random_seeds import Algorithm as Algorithm
