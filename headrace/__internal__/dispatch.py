"""The public names of `tf.__internal__.dispatch`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.tensorflow_names.internal_dispatch import GlobalOpDispatcher as GlobalOpDispatcher
    from headrace._src.compat.tensorflow_names.internal_dispatch import OpDispatcher as OpDispatcher
    from headrace._src.compat.tensorflow_names.internal_dispatch import add_dispatch_support as add_dispatch_support
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
