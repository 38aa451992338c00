"""The public names of `tf.compat.v1.saved_model.loader`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.saving.model_loading import load as load
    from headrace._src.compat.saving.model_loading import maybe_saved_model_directory as maybe_saved_model_directory
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
