"""The public names of `tf.compat.v1.autograph`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.autograph.interface import set_verbosity as set_verbosity
    from headrace._src.autograph.interface import to_code_of_types as _to_code
    from headrace._src.autograph.interface import to_graph_of_types as _to_graph
    from headrace._src.autograph.interface import trace as trace
    from headrace.compat.v1.autograph import experimental as experimental
    to_code = _to_code
    to_graph = _to_graph
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
