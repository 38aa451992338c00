"""The public names of `tf.compat.v1.saved_model.utils`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.saving.tensor_infos import build_tensor_info as build_tensor_info
    from headrace._src.compat.saving.tensor_infos import get_tensor_from_tensor_info as get_tensor_from_tensor_info
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
