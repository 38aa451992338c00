"""The public names of `tf.tpu`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace.tpu import experimental as experimental
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
