"""The public names of `tf.compat.v1.logging`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.logging import DEBUG as DEBUG
    from headrace._src.compat.logging import ERROR as ERROR
    from headrace._src.compat.logging import FATAL as FATAL
    from headrace._src.compat.logging import INFO as INFO
    from headrace._src.compat.logging import TaskLevelStatusMessage as TaskLevelStatusMessage
    from headrace._src.compat.logging import WARN as WARN
    from headrace._src.compat.logging import debug as debug
    from headrace._src.compat.logging import error as error
    from headrace._src.compat.logging import fatal as fatal
    from headrace._src.compat.logging import flush as flush
    from headrace._src.compat.logging import get_verbosity as get_verbosity
    from headrace._src.compat.logging import info as info
    from headrace._src.compat.logging import log as log
    from headrace._src.compat.logging import log_every_n as log_every_n
    from headrace._src.compat.logging import log_first_n as log_first_n
    from headrace._src.compat.logging import log_if as log_if
    from headrace._src.compat.logging import set_verbosity as set_verbosity
    from headrace._src.compat.logging import vlog as vlog
    from headrace._src.compat.logging import warning as _warn
    from headrace._src.compat.logging import warning as warning
    warn = _warn
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
