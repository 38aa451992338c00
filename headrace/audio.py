"""The public names of `tf.audio`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.ops.signal.audio import decode_wav as decode_wav
    from headrace._src.ops.signal.audio import encode_wav as encode_wav
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
