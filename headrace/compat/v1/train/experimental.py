"""The public names of `tf.compat.v1.train.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.checkpoint.python_state import PythonState as PythonState
    from headrace._src.checkpoint.sharding import MaxShardSizePolicy as MaxShardSizePolicy
    from headrace._src.checkpoint.sharding import ShardByTaskPolicy as ShardByTaskPolicy
    from headrace._src.checkpoint.sharding import ShardableTensor as ShardableTensor
    from headrace._src.checkpoint.sharding import ShardingCallback as ShardingCallback
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
