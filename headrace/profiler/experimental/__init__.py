"""The public names of `tf.profiler.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.profiler.session import Profile as Profile
    from headrace._src.profiler.session import ProfilerOptions as ProfilerOptions
    from headrace._src.profiler.session import start as start
    from headrace._src.profiler.session import stop as stop
    from headrace._src.profiler.steps import Trace as Trace
    from headrace.profiler.experimental import client as client
    from headrace.profiler.experimental import server as server
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
