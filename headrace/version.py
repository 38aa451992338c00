"""The public names of `tf.version`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.version import COMPILER_VERSION as COMPILER_VERSION
    from headrace._src.version import GIT_VERSION as GIT_VERSION
    from headrace._src.version import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
    from headrace._src.version import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
    from headrace._src.version import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
    from headrace._src.version import VERSION as VERSION
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
