"""The public names of `tf.compat.v1.queue`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.state.queues import FIFOQueue as FIFOQueue
    from headrace._src.state.queues import PaddingFIFOQueue as PaddingFIFOQueue
    from headrace._src.state.queues import PriorityQueue as PriorityQueue
    from headrace._src.state.queues import QueueBase as QueueBase
    from headrace._src.state.queues import RandomShuffleQueue as RandomShuffleQueue
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
