"""Random numbers, bit-equal to TensorFlow's.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.ops.random_filling import fold_in as fold_in
from headrace._src.ops.random_filling import normal as normal
from headrace._src.ops.random_filling import split as split
from headrace._src.ops.random_filling import stateless_normal as stateless_normal
from headrace._src.ops.random_filling import stateless_truncated_normal as stateless_truncated_normal
from headrace._src.ops.random_filling import stateless_uniform as stateless_uniform
from headrace._src.ops.random_filling import truncated_normal as truncated_normal
from headrace._src.ops.random_filling import uniform as uniform
from headrace._src.ops.random_seeds import Algorithm as Algorithm
from headrace._src.ops.random_seeds import set_seed as set_seed
from headrace.random import experimental as experimental
