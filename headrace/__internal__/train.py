"""The public names of `tf.__internal__.train`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.checkpoint.folder_state import update_checkpoint_state as update_checkpoint_state
    from headrace._src.compat.tensorflow_names.internal_tracking import assign_moving_average as assign_moving_average
    from headrace._src.compat.tensorflow_names.internal_tracking import is_mixed_precision_graph_rewrite_enabled as is_mixed_precision_graph_rewrite_enabled
    from headrace._src.compat.tensorflow_names.internal_tracking import set_using_mixed_precision_policy as set_using_mixed_precision_policy
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
