"""The public names of `tf.__internal__.smart_cond`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.tensorflow_names.internal_namespace import known_condition as _smart_constant_value
    from headrace._src.compat.tensorflow_names.internal_namespace import smart_cond as smart_cond
    smart_constant_value = _smart_constant_value
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
