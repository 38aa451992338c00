"""The public names of `tf.compat.v1.autograph.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.autograph.calls import do_not_convert as do_not_convert
    from headrace._src.autograph.interface import Feature as Feature
    from headrace._src.autograph.iteration import set_loop_options as set_loop_options
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
