"""`tf.CriticalSection`: functions that never run at the same time."""

import threading
import weakref
from typing import Any

import numpy as np

from headrace._src.core import dtypes, nest
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR
from headrace._src.ops.arrays.passing import identity


class Mutex:
    """A lock that knows which thread holds it."""

    def __init__(self):
        self._lock = threading.Lock()
        self.holder = None  # the thread that is inside
        self._turn = 0  # counts who came in, so that only the last one can leave

    def acquire(self) -> int:
        """Wait until it is free and take it; returns the ticket for leaving."""
        # A thread that is inside already was left there by a graph that failed: nested use is refused before.
        if self.holder != threading.get_ident():
            self._lock.acquire()
            self.holder = threading.get_ident()
        self._turn += 1
        return self._turn

    def release(self, ticket: int):
        """Leave; does nothing with a ticket that is no longer good."""
        if ticket == self._turn and self.holder is not None:
            self._turn += 1
            self.holder = None
            self._lock.release()


class _Held:
    """What MutexLock returns: dropping it leaves, too."""

    __slots__ = ("__weakref__", "_mutex", "_ticket")

    def __init__(self, mutex):
        self._mutex = mutex
        self._ticket = mutex.acquire()

    def release(self):
        self._mutex.release(self._ticket)

    __del__ = release


# Sections that share a name share the lock.
_mutexes: dict[str, Mutex] = {}
_guard = threading.Lock()


def _lock(mutex):
    box = np.empty((), object)
    box[()] = held = _Held(mutex[()])
    context.held_locks = (*context.held_locks, weakref.WeakMethod(held.release))
    return box


def _unlock(mutex_lock):
    held = mutex_lock[()]
    held.release()
    context.held_locks = tuple(leave for leave in context.held_locks if leave() not in (None, held.release))


MUTEX_LOCK = Op(
    "MutexLock",
    "mutex: resource -> mutex_lock: variant",
    infer=lambda mutex: SCALAR,
    kernel=_lock,
    lower=None,  # locks belong to the host
    grad=None,
    stateful=True,
)

CONSUME_MUTEX_LOCK = Op(
    "ConsumeMutexLock",
    "mutex_lock: variant -> ",
    infer=lambda mutex_lock: (),
    kernel=_unlock,
    lower=None,  # locks belong to the host
    grad=None,
    stateful=True,
)


@api("CriticalSection")
class CriticalSection:
    """Runs functions one after another, whichever threads call.

    >>> section, v = tf.CriticalSection(), tf.Variable(0)
    >>> section.execute(lambda: v.assign_add(1)).numpy()
    np.int32(1)

    Args:
        name: a name for messages.
        shared_name: sections with the same shared name exclude each other.
        critical_section_def, import_scope: accepted for compatibility.
    """

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None) -> None:
        if critical_section_def is not None:
            raise ValueError("CriticalSection: critical_section_def is not supported.")
        self._name = name or shared_name or "critical_section"
        if shared_name is None:
            self._mutex = Mutex()
        else:
            with _guard:
                self._mutex = _mutexes.setdefault(shared_name, Mutex())
        box = np.empty((), object)
        box[()] = self._mutex
        self._handle = EagerTensor(box, dtypes.resource)
        self._tracing = threading.local()  # whether this thread is building what runs inside

    @property
    def name(self) -> str:
        return self._name

    def execute(self, fn, exclusive_resource_access=True, name=None) -> Any:
        """Call `fn()` when no other function runs in this section, and return what it returns.

        In a graph, what `fn` does runs in the section each time the graph runs.

        Raises:
            ValueError: when `fn` itself, directly or not, executes in this section.
        """
        in_graph = context.graph is not None
        if getattr(self._tracing, "active", False) or (
            not in_graph and self._mutex.holder == threading.get_ident()
        ):
            raise ValueError(
                f"Attempting to execute in CriticalSection {self._name!r} from inside it. This would be a deadlock."
            )
        return self._build(fn) if in_graph else self._run(fn)

    def _run(self, fn):
        ticket = self._mutex.acquire()
        try:
            return fn()
        finally:
            self._mutex.release(ticket)

    def _build(self, fn):
        """Operations run in the order in which they are made, so this locks what `fn` makes."""
        held = MUTEX_LOCK(self._handle)
        self._tracing.active = True
        try:
            result = fn()
        finally:
            self._tracing.active = False
        # What is returned is computed inside.
        result = nest.map_structure(_computed, result)
        leaves = [x for x in nest.flatten(result, expand_composites=True) if isinstance(x, Tensor)]
        with context.graph.control_dependencies(leaves):
            CONSUME_MUTEX_LOCK(held)
        return result


def _computed(value):
    if value is None or not (isinstance(value, Tensor) or hasattr(value, "_type_spec") or hasattr(value, "handle")):
        return value
    return identity(to_tensor(value) if hasattr(value, "handle") else value)
