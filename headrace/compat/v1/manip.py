"""The public names of `tf.compat.v1.manip`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.functions.arrays import batch_to_space_nd as batch_to_space_nd
    from headrace._src.compat.functions.arrays import gather_nd as gather_nd
    from headrace._src.compat.functions.arrays import manip_reshape as _reshape
    from headrace._src.ops.arrays.rearranging import reverse as reverse
    from headrace._src.ops.arrays.rearranging import roll as roll
    from headrace._src.ops.arrays.scattering import scatter_nd as scatter_nd
    from headrace._src.ops.arrays.splitting import tile as tile
    from headrace._src.ops.windows.space_batch import space_to_batch_nd as space_to_batch_nd
    reshape = _reshape
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
