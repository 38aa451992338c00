"""The public names of `tf.__internal__.nest`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.nest import flatten_up_to as flatten_up_to
    from headrace._src.core.nest import get_traverse_shallow_structure as get_traverse_shallow_structure
    from headrace._src.core.nest import is_attrs as is_attrs
    from headrace._src.core.nest import is_mapping as is_mapping
    from headrace._src.core.nest import list_to_tuple as list_to_tuple
    from headrace._src.core.nest import map_structure_up_to as map_structure_up_to
    from headrace._src.core.nest import sequence_like as sequence_like
    from headrace._src.core.nest import yield_flat_paths as yield_flat_paths
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
