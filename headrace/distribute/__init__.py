"""The public names of `tf.distribute`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.distribute.strategies import DistributedDataset as DistributedDataset
    from headrace._src.distribute.strategies import DistributedIterator as DistributedIterator
    from headrace._src.distribute.strategies import DistributedValues as DistributedValues
    from headrace._src.distribute.strategies import InputContext as InputContext
    from headrace._src.distribute.strategies import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
    from headrace._src.distribute.strategies import OneDeviceStrategy as OneDeviceStrategy
    from headrace._src.distribute.strategies import ReduceOp as ReduceOp
    from headrace._src.distribute.strategies import ReplicaContext as ReplicaContext
    from headrace._src.distribute.strategies import Strategy as Strategy
    from headrace._src.distribute.strategies import StrategyExtended as StrategyExtended
    from headrace._src.distribute.strategies import TPUStrategy as TPUStrategy
    from headrace._src.distribute.strategies import get_replica_context as get_replica_context
    from headrace._src.distribute.strategies import get_strategy as get_strategy
    from headrace._src.distribute.strategies import has_strategy as has_strategy
    from headrace._src.distribute.strategies import in_cross_replica_context as in_cross_replica_context
    from headrace.distribute import experimental as experimental
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
