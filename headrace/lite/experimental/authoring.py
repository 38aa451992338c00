"""The public names of `tf.lite.experimental.authoring`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.lite.authoring import compatible as compatible
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
