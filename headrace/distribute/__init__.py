"""The public names of `tf.distribute`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.distribute.contexts import ReplicaContext as ReplicaContext
    from headrace._src.distribute.datasets import DistributedDataset as DistributedDataset
    from headrace._src.distribute.datasets import DistributedIterator as DistributedIterator
    from headrace._src.distribute.datasets import InputContext as InputContext
    from headrace._src.distribute.datasets import InputOptions as InputOptions
    from headrace._src.distribute.datasets import InputReplicationMode as InputReplicationMode
    from headrace._src.distribute.datasets import RunOptions as RunOptions
    from headrace._src.distribute.mirrored import MirroredStrategy as MirroredStrategy
    from headrace._src.distribute.multi_worker import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
    from headrace._src.distribute.other_machines import ParameterServerStrategy as ParameterServerStrategy
    from headrace._src.distribute.reductions import CrossDeviceOps as CrossDeviceOps
    from headrace._src.distribute.reductions import HierarchicalCopyAllReduce as HierarchicalCopyAllReduce
    from headrace._src.distribute.reductions import NcclAllReduce as NcclAllReduce
    from headrace._src.distribute.reductions import ReduceOp as ReduceOp
    from headrace._src.distribute.reductions import ReductionToOneDevice as ReductionToOneDevice
    from headrace._src.distribute.strategies import OneDeviceStrategy as OneDeviceStrategy
    from headrace._src.distribute.strategies import Strategy as Strategy
    from headrace._src.distribute.strategies import StrategyExtended as StrategyExtended
    from headrace._src.distribute.strategies import experimental_set_strategy as experimental_set_strategy
    from headrace._src.distribute.strategies import get_replica_context as get_replica_context
    from headrace._src.distribute.strategies import get_strategy as get_strategy
    from headrace._src.distribute.strategies import has_strategy as has_strategy
    from headrace._src.distribute.strategies import in_cross_replica_context as in_cross_replica_context
    from headrace._src.distribute.tpus import TPUStrategy as TPUStrategy
    from headrace._src.distribute.values import DistributedValues as DistributedValues
    from headrace.distribute import cluster_resolver as cluster_resolver
    from headrace.distribute import coordinator as coordinator
    from headrace.distribute import experimental as experimental
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
