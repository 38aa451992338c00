"""The public names of `tf.compat.v1.saved_model.main_op`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.saving.model_building import main_op as main_op
    from headrace._src.compat.saving.model_building import main_op_with_restore as main_op_with_restore
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
