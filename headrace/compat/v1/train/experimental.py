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
    from headrace._src.compat.training.loss_scales import DynamicLossScale as DynamicLossScale
    from headrace._src.compat.training.loss_scales import FixedLossScale as FixedLossScale
    from headrace._src.compat.training.loss_scales import LossScale as LossScale
    from headrace._src.compat.training.mixed_precision import MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer
    from headrace._src.compat.training.mixed_precision import disable_mixed_precision_graph_rewrite as disable_mixed_precision_graph_rewrite
    from headrace._src.compat.training.mixed_precision import enable_mixed_precision_graph_rewrite as enable_mixed_precision_graph_rewrite
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
