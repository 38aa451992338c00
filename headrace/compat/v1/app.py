"""The public names of `tf.compat.v1.app`."""

from headrace._src.compat.flags import run as run
from headrace.compat.v1 import flags as flags
