"""The public names of `tf.distribute.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.distribute.mirrored import CentralStorageStrategy as CentralStorageStrategy
    from headrace._src.distribute.multi_worker import FormerMultiWorkerMirroredStrategy as _MultiWorkerMirroredStrategy
    from headrace._src.distribute.other_machines import ParameterServerStrategy as ParameterServerStrategy
    from headrace._src.distribute.reductions import CollectiveHints as CollectiveHints
    from headrace._src.distribute.reductions import CommunicationImplementation as CommunicationImplementation
    from headrace._src.distribute.reductions import CommunicationImplementation as _CollectiveCommunication
    from headrace._src.distribute.reductions import CommunicationOptions as CommunicationOptions
    from headrace._src.distribute.strategies import ValueContext as ValueContext
    from headrace._src.distribute.tpus import TPUStrategyV1 as _TPUStrategy
    from headrace.distribute.experimental import coordinator as coordinator
    CollectiveCommunication = _CollectiveCommunication
    MultiWorkerMirroredStrategy = _MultiWorkerMirroredStrategy
    TPUStrategy = _TPUStrategy
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
