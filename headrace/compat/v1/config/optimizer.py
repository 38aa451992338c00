"""The public names of `tf.compat.v1.config.optimizer`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.devices.configuration import get_experimental_options as get_experimental_options
    from headrace._src.devices.configuration import get_jit as get_jit
    from headrace._src.devices.configuration import set_experimental_options as set_experimental_options
    from headrace._src.devices.configuration import set_jit as set_jit
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
