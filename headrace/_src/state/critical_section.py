"""`tf.CriticalSection`: functions that never run at the same time."""

import threading

from headrace._src.op.api import api

# Sections that share a name share the lock.
_locks: dict[str, threading.Lock] = {}
_guard = threading.Lock()


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

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def is not None:
            raise ValueError("CriticalSection: critical_section_def is not supported.")
        self._name = name or shared_name or "critical_section"
        self._holder = None  # the thread that is inside
        if shared_name is None:
            self._lock = threading.Lock()
        else:
            with _guard:
                self._lock = _locks.setdefault(shared_name, threading.Lock())

    @property
    def name(self) -> str:
        return self._name

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """Call `fn()` when no other function runs in this section, and return what it returns.

        Raises:
            ValueError: when `fn` itself, directly or not, executes in this section.
        """
        if self._holder == threading.get_ident():
            raise ValueError(
                f"Attempting to execute in CriticalSection {self._name!r} from inside it. This would be a deadlock."
            )
        with self._lock:
            self._holder = threading.get_ident()
            try:
                return fn()
            finally:
                self._holder = None
