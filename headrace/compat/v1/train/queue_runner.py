"""The public names of `tf.compat.v1.train.queue_runner`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.input.queue_runners import QueueRunner as QueueRunner
    from headrace._src.compat.input.queue_runners import add_queue_runner as add_queue_runner
    from headrace._src.compat.input.queue_runners import start_queue_runners as start_queue_runners
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
