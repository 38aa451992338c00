"""The public names of `tf.nn.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.ops.dropout import general_dropout as general_dropout
from headrace._src.ops.dropout import stateless_dropout as stateless_dropout
