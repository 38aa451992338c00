"""The public names of `tf.autograph`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.autograph.interface import set_verbosity as set_verbosity
    from headrace._src.autograph.interface import to_code as to_code
    from headrace._src.autograph.interface import to_graph as to_graph
    from headrace._src.autograph.interface import trace as trace
    from headrace.autograph import experimental as experimental
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
