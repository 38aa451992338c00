"""The public names of `tf.config`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.tracing.function import functions_run_eagerly as experimental_functions_run_eagerly
    from headrace._src.tracing.function import functions_run_eagerly as functions_run_eagerly
    from headrace._src.tracing.function import run_functions_eagerly as experimental_run_functions_eagerly
    from headrace._src.tracing.function import run_functions_eagerly as run_functions_eagerly
    from headrace.config import experimental as experimental
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
