"""The public names of `tf.__internal__.tracking`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.trackable import AutoTrackable as AutoTrackable
    from headrace._src.core.trackable import Trackable as Trackable
    from headrace._src.core.trackable import TrackableReference as TrackableReference
    from headrace._src.core.trackable import no_automatic_dependency_tracking as no_automatic_dependency_tracking
    from headrace._src.core.trackable import sticky_attribute_assignment as sticky_attribute_assignment
    from headrace._src.core.trackable import wrap as wrap
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
