"""The public names of `tf.compat.v1.summary`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.formats.event_messages import Event as Event
    from headrace._src.formats.event_messages import SessionLog as SessionLog
    from headrace._src.formats.event_messages import Summary as Summary
    from headrace._src.formats.event_messages import SummaryDescription as SummaryDescription
    from headrace._src.formats.event_messages import TaggedRunMetadata as TaggedRunMetadata
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
