"""The public names of `tf.compat.v1.data.experimental.service`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.data.service.dispatcher import DispatcherConfig as DispatcherConfig
    from headrace._src.data.service.reading import CrossTrainerCache as CrossTrainerCache
    from headrace._src.data.service.reading import distribute as distribute
    from headrace._src.data.service.reading import from_dataset_id as from_dataset_id
    from headrace._src.data.service.reading import register_dataset as register_dataset
    from headrace._src.data.service.shards import ShardingPolicy as ShardingPolicy
    from headrace._src.data.service.workers import WorkerConfig as WorkerConfig
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
