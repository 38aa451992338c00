"""The public names of `tf.compat.v1.config.threading`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.devices.configuration import get_inter_op_parallelism_threads as get_inter_op_parallelism_threads
    from headrace._src.devices.configuration import get_intra_op_parallelism_threads as get_intra_op_parallelism_threads
    from headrace._src.devices.configuration import set_inter_op_parallelism_threads as set_inter_op_parallelism_threads
    from headrace._src.devices.configuration import set_intra_op_parallelism_threads as set_intra_op_parallelism_threads
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
