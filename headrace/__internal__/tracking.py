"""The public names of `tf.__internal__.tracking`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.tensorflow_names.internal_tracking import CheckpointInitialValue as CheckpointInitialValue
    from headrace._src.compat.tensorflow_names.internal_tracking import CheckpointInitialValueCallable as CheckpointInitialValueCallable
    from headrace._src.compat.tensorflow_names.internal_tracking import DelegatingTrackableMixin as DelegatingTrackableMixin
    from headrace._src.compat.tensorflow_names.internal_tracking import ObjectGraphView as ObjectGraphView
    from headrace._src.compat.tensorflow_names.internal_tracking import register_session_provider as register_session_provider
    from headrace._src.compat.tensorflow_names.internal_tracking import saveable_objects_from_trackable as saveable_objects_from_trackable
    from headrace._src.compat.tensorflow_names.internal_tracking import streaming_restore as streaming_restore
    from headrace._src.core.trackable import AutoTrackable as AutoTrackable
    from headrace._src.core.trackable import Trackable as Trackable
    from headrace._src.core.trackable import TrackableReference as TrackableReference
    from headrace._src.core.trackable import no_automatic_dependency_tracking as no_automatic_dependency_tracking
    from headrace._src.core.trackable import sticky_attribute_assignment as sticky_attribute_assignment
    from headrace._src.core.trackable import wrap as wrap
    from headrace._src.core.tracked_containers import TrackedContainer as _TrackableDataStructure
    TrackableDataStructure = _TrackableDataStructure
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
