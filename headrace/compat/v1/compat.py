"""`tf.compat.v1.compat` is `tf.compat`."""

import sys

import headrace.compat

sys.modules[__name__] = headrace.compat
