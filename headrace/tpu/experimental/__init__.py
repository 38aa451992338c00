"""The public names of `tf.tpu.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.distribute.embedding_settings import HardwareFeature as HardwareFeature
    from headrace._src.distribute.tpus import DeviceAssignment as DeviceAssignment
    from headrace._src.distribute.tpus import TPUSystemMetadata as TPUSystemMetadata
    from headrace._src.distribute.tpus import Topology as Topology
    from headrace._src.distribute.tpus import initialize_tpu_system as initialize_tpu_system
    from headrace._src.distribute.tpus import shutdown_tpu_system as shutdown_tpu_system
    from headrace.tpu.experimental import embedding as embedding
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
