"""The public names of `tf.__internal__.autograph`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.autograph.calls import tf_convert as tf_convert
    from headrace._src.autograph.status import control_status as _control_status_ctx
    control_status_ctx = _control_status_ctx
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
