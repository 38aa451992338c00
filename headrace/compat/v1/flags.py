"""The public names of `tf.compat.v1.flags`: those of absl's flags."""

from headrace._src.compat.flags import flags_attribute as __getattr__
from headrace._src.core.lazy import absl_flags as _absl_flags


def __dir__():
    return [name for name in dir(_absl_flags) if not name.startswith("_")]
