"""The public names of `tf.summary.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.summary.writers import get_step as get_step
    from headrace._src.summary.writers import set_step as set_step
    from headrace._src.summary.writing import summary_scope as summary_scope
    from headrace._src.summary.writing import write_raw_pb as write_raw_pb
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
