"""The public names of `tf.__internal__.distribute`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace.__internal__.distribute import interim as interim
    from headrace._src.compat.tensorflow_names.internal_functions import variable_sync_on_read_context as variable_sync_on_read_context
    from headrace._src.distribute.strategies import strategy_supports_no_merge_call as strategy_supports_no_merge_call
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
