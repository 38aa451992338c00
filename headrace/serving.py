"""The public names of `tf.serving`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.serving.batching import BatchingSettings as BatchingSettings
    from headrace._src.serving.models import ModelSettings as ModelSettings
    from headrace._src.serving.models import VersionPolicy as VersionPolicy
    from headrace._src.serving.request_log import LoggingSettings as LoggingSettings
    from headrace._src.serving.rest import RestSettings as RestSettings
    from headrace._src.serving.server import Server as Server
    from headrace._src.serving.server import ServerSettings as ServerSettings
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
