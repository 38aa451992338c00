"""The public names of `tf.types.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.core.tracing_protocol import SupportsTracingProtocol as SupportsTracingProtocol
from headrace._src.core.tracing_protocol import TraceType as TraceType
