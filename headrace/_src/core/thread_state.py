"""What threads that stand in for another thread take over from it.

Much of what a program has switched on holds for one thread: the graph being built, tapes, name scopes, the default
summary writer. A thread that runs a part of that thread's program (a replica of `tf.distribute`) must see it all.
"""

import threading
from typing import Any, TypeVar

_Local = TypeVar("_Local", bound=threading.local)
_carried: list[threading.local] = []


def carried(local: _Local) -> _Local:
    """Note that threads that stand in for another one take this state over."""
    _carried.append(local)
    return local


def state_of_thread() -> list[tuple[threading.local, dict[str, Any]]]:
    """What this thread has in all such states. Lists, sets and dicts are copied, as the threads go on on their own."""
    return [(local, {name: _copied(value) for name, value in vars(local).items()}) for local in _carried]


def take_over(state: list[tuple[threading.local, dict[str, Any]]]) -> None:
    """Let this thread have what another one had."""
    for local, values in state:
        for name, value in values.items():
            setattr(local, name, _copied(value))


def _copied(value):
    return value.copy() if type(value) in (list, set, dict) else value
