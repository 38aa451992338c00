"""The public names of `tf.safetensors`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.checkpoint.safetensors import SafeOpen as _safe_open
    from headrace._src.checkpoint.safetensors import load as load
    from headrace._src.checkpoint.safetensors import load_file as load_file
    from headrace._src.checkpoint.safetensors import load_model as load_model
    from headrace._src.checkpoint.safetensors import save as save
    from headrace._src.checkpoint.safetensors import save_file as save_file
    from headrace._src.checkpoint.safetensors import save_model as save_model
    safe_open = _safe_open
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
