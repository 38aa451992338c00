"""The public names of `tf.distribute.coordinator`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.distribute.remote_values import RemoteValue as RemoteValue
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
