"""`tf.compat.v2` is `tf` itself."""

import sys

import headrace

sys.modules[__name__] = headrace
