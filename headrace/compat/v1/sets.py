"""The public names of `tf.compat.v1.sets`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.ops.arrays.sets import difference as _set_difference
    from headrace._src.ops.arrays.sets import difference as difference
    from headrace._src.ops.arrays.sets import intersection as _set_intersection
    from headrace._src.ops.arrays.sets import intersection as intersection
    from headrace._src.ops.arrays.sets import size as _set_size
    from headrace._src.ops.arrays.sets import size as size
    from headrace._src.ops.arrays.sets import union as _set_union
    from headrace._src.ops.arrays.sets import union as union
    set_difference = _set_difference
    set_intersection = _set_intersection
    set_size = _set_size
    set_union = _set_union
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
