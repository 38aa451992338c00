"""The public names of `tf.compat.v1.summary`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.summaries.file_writers import FileWriter as FileWriter
    from headrace._src.compat.summaries.file_writers import FileWriterCache as FileWriterCache
    from headrace._src.compat.summaries.summary_operations import all_v2_summary_ops as all_v2_summary_ops
    from headrace._src.compat.summaries.summary_operations import audio as audio
    from headrace._src.compat.summaries.summary_operations import get_summary_description as get_summary_description
    from headrace._src.compat.summaries.summary_operations import histogram as histogram
    from headrace._src.compat.summaries.summary_operations import image as image
    from headrace._src.compat.summaries.summary_operations import initialize as initialize
    from headrace._src.compat.summaries.summary_operations import merge as merge
    from headrace._src.compat.summaries.summary_operations import merge_all as merge_all
    from headrace._src.compat.summaries.summary_operations import scalar as scalar
    from headrace._src.compat.summaries.summary_operations import tensor_summary as tensor_summary
    from headrace._src.compat.summaries.summary_operations import text as text
    from headrace._src.formats.event_messages import Event as Event
    from headrace._src.formats.event_messages import SessionLog as SessionLog
    from headrace._src.formats.event_messages import Summary as Summary
    from headrace._src.formats.event_messages import SummaryDescription as SummaryDescription
    from headrace._src.formats.event_messages import TaggedRunMetadata as TaggedRunMetadata
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
