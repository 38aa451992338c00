"""Whether functions passed to the library are converted: what `tf.function` and `do_not_convert` last said."""

from __future__ import annotations

import enum
import threading

from headrace._src.core.thread_state import carried
from headrace._src.op.api import api


class Status(enum.Enum):
    """UNSPECIFIED: nobody said."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class ControlStatus:
    """A state of conversion; as a context manager it makes it this thread's state for a while.

    Args:
        status: The state.
        options: Kept for those who set it.
    """

    __slots__ = ("options", "status")

    def __init__(self, status: Status, options=None):
        self.status = status
        self.options = options

    def __enter__(self):
        _local.stack.append(self)
        return self

    def __exit__(self, *error):
        _local.stack.pop()

    def __repr__(self):
        return f"ControlStatus({self.status.name})"


class _Local(threading.local):
    def __init__(self):
        self.stack = [ControlStatus(Status.UNSPECIFIED)]


_local = carried(_Local())


@api("__internal__.autograph.control_status_ctx", dispatch=False)
def control_status_ctx() -> ControlStatus:
    """This thread's state of conversion."""
    return _local.stack[-1]


control_status = control_status_ctx
ENABLED = ControlStatus(Status.ENABLED)
DISABLED = ControlStatus(Status.DISABLED)
UNSPECIFIED = ControlStatus(Status.UNSPECIFIED)
