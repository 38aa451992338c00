"""The public names of `tf.train`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.checkpoint.checkpoints import Checkpoint as Checkpoint
    from headrace._src.checkpoint.folder_state import get_checkpoint_state as get_checkpoint_state
    from headrace._src.checkpoint.folder_state import latest_checkpoint as latest_checkpoint
    from headrace._src.checkpoint.manager import CheckpointManager as CheckpointManager
    from headrace._src.checkpoint.options import CheckpointOptions as CheckpointOptions
    from headrace._src.checkpoint.reading import checkpoints_iterator as checkpoints_iterator
    from headrace._src.checkpoint.reading import list_variables as list_variables
    from headrace._src.checkpoint.reading import load_checkpoint as load_checkpoint
    from headrace._src.checkpoint.reading import load_variable as load_variable
    from headrace._src.checkpoint.views import CheckpointView as CheckpointView
    from headrace._src.checkpoint.views import TrackableView as TrackableView
    from headrace._src.compat.training.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
    from headrace._src.core.trackable import AutoTrackable as _Checkpointable
    from headrace._src.distribute.cluster_specs import ClusterSpec as ClusterSpec
    from headrace._src.formats.cluster_messages import ClusterDef as ClusterDef
    from headrace._src.formats.cluster_messages import JobDef as JobDef
    from headrace._src.formats.example_messages import BytesList as BytesList
    from headrace._src.formats.example_messages import Example as Example
    from headrace._src.formats.example_messages import Feature as Feature
    from headrace._src.formats.example_messages import FeatureList as FeatureList
    from headrace._src.formats.example_messages import FeatureLists as FeatureLists
    from headrace._src.formats.example_messages import Features as Features
    from headrace._src.formats.example_messages import FloatList as FloatList
    from headrace._src.formats.example_messages import Int64List as Int64List
    from headrace._src.formats.example_messages import SequenceExample as SequenceExample
    from headrace._src.state.coordinator import Coordinator as Coordinator
    from headrace.train import experimental as experimental
    Checkpointable = _Checkpointable
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
