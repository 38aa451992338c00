"""The public names of `tf.__internal__.tf2`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.tensorflow_names.internal_namespace import tf2_enabled as _enabled
    enabled = _enabled
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
