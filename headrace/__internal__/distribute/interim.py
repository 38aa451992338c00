"""The public names of `tf.__internal__.distribute.interim`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.distribute.strategies import maybe_merge_call as maybe_merge_call
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
