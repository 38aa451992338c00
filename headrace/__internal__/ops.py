"""The public names of `tf.__internal__.ops`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.tensorflow_names.internal_functions import broadcast_weights as broadcast_weights
    from headrace._src.compat.tensorflow_names.internal_functions import get_resource_handle_data as get_resource_handle_data
    from headrace._src.compat.tensorflow_names.internal_functions import is_resource_variable as is_resource_variable
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
