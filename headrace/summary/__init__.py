"""The public names of `tf.summary`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.summary.histograms import histogram as histogram
    from headrace._src.summary.media import audio as audio
    from headrace._src.summary.media import image as image
    from headrace._src.summary.scalars import scalar as scalar
    from headrace._src.summary.scalars import text as text
    from headrace._src.summary.traces import trace_export as trace_export
    from headrace._src.summary.traces import trace_off as trace_off
    from headrace._src.summary.traces import trace_on as trace_on
    from headrace._src.summary.writers import SummaryWriter as SummaryWriter
    from headrace._src.summary.writers import create_file_writer as create_file_writer
    from headrace._src.summary.writers import create_noop_writer as create_noop_writer
    from headrace._src.summary.writers import flush as flush
    from headrace._src.summary.writers import record_if as record_if
    from headrace._src.summary.writers import should_record_summaries as should_record_summaries
    from headrace._src.summary.writing import graph as graph
    from headrace._src.summary.writing import write as write
    from headrace.summary import experimental as experimental
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
