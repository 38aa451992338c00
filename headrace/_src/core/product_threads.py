"""How many threads NumPy's matrix products take, and fewer of them for a while.

OpenBLAS divides a product among as many threads as there are processors, and waits for all of them. When another
process works on one of the processors, that one is late each time: a product of 0.1 ms then takes 10 ms and more.
"""

import contextlib
import ctypes
import functools
import glob
import os
import threading

import numpy as np

from headrace._src.core import operating_system


class _Limit:
    """The limit that holds now."""

    lock = threading.Lock()
    users = 0
    before = 0
    during = 0

    @classmethod
    def end(cls):
        get, put = _functions()
        if cls.during and get() == cls.during:  # otherwise someone else has set it meanwhile
            put(cls.before)
        cls.during = 0


def _after_fork():
    # Those inside are threads of the other process.
    _Limit.lock = threading.Lock()
    if _Limit.users:
        _Limit.users = 0
        _Limit.end()


operating_system.at_fork(in_child=_after_fork)


@functools.cache
def _functions():
    """OpenBLAS's functions that get and set the number of threads; None where NumPy uses something else."""
    package = os.path.dirname(np.__file__)
    beside, inside = os.path.join(os.path.dirname(package), "numpy.libs"), os.path.join(package, ".dylibs")  # on macOS
    for path in glob.glob(os.path.join(beside, "*openblas*")) + glob.glob(os.path.join(inside, "*openblas*")):
        try:
            library = ctypes.CDLL(path)  # the one that is there already
        except OSError:
            continue
        for name in ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads"):
            get, put = (getattr(library, name.format(verb), None) for verb in ("get", "set"))
            if get is not None and put is not None:
                return get, put
    return None


def product_threads() -> int | None:
    """How many threads a matrix product takes; None when that is not known."""
    functions = _functions()
    return None if functions is None else functions[0]()


def lift_limit():
    """Take all threads again, though someone may be inside: the last bits of a product can depend on their number."""
    with _Limit.lock:
        if _Limit.users:
            _Limit.end()


@contextlib.contextmanager
def one_processor_left(unless=lambda: False):
    """Let matrix products leave a processor to another process, as long as someone is inside.

    Args:
        unless: asked once nobody else can set or lift the limit: whether there must be none.
    """
    functions = _functions()
    if functions is None:
        yield
        return
    get, put = functions
    with _Limit.lock:
        if not _Limit.users and not unless():
            _Limit.before = get()
            _Limit.during = max(1, min(_Limit.before, operating_system.processor_count() - 1))
            put(_Limit.during)
        _Limit.users += 1
    try:
        yield
    finally:
        with _Limit.lock:
            _Limit.users -= 1
            if not _Limit.users:
                _Limit.end()
