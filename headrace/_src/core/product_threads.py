"""One thread for the matrix products and decompositions of OpenBLAS, as long as an operation calls it.

OpenBLAS divides nearly every product among as many threads as there are processors, and waits for all of them. When
another process works on one of them, that one is late each time: a product of 0.1 ms then takes 10 ms or more.
So it computes in the thread that calls it, and large products are divided by core/parts.py. The number is one for the
whole process; it is set when the first operation enters, and put back when the last one leaves, so that a program's own
calls of NumPy have their threads.
"""

import contextlib
import ctypes
import functools
import glob
import os
import threading
from collections.abc import Callable

import numpy as np

from headrace._src.core import operating_system
from headrace._src.core.lazy import imported

_NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads")


def _functions_of(package: str) -> tuple[Callable, Callable] | None:
    """OpenBLAS's functions that get and set the number of threads; None where a package uses something else."""
    beside = f"{package}.libs"
    inside = os.path.join(package, ".dylibs")  # on macOS
    for path in glob.glob(os.path.join(beside, "*openblas*")) + glob.glob(os.path.join(inside, "*openblas*")):
        try:
            # The one that is there already. The calls take less time than letting others run meanwhile would.
            library = ctypes.PyDLL(path)
        except OSError:
            continue
        for name in _NAMES:
            get, put = (getattr(library, name.format(verb), None) for verb in ("get", "set"))
            if get is not None and put is not None:
                return get, put
    return None


class _Limit:
    """A context in which the OpenBLAS of one package computes in the thread that calls it."""

    def __init__(self, package_file: Callable[[], str]):
        self._package_file = package_file
        self._forget()

    @functools.cached_property
    def functions(self) -> tuple[Callable, Callable] | None:
        return _functions_of(os.path.dirname(self._package_file()))

    def _forget(self):
        self._lock = threading.Lock()
        self._users = 0
        self._before = 1

    def __enter__(self):
        if self.functions is not None:
            with self._lock:
                if not self._users:
                    get, put = self.functions
                    self._before = get()
                    if self._before != 1:
                        put(1)
                self._users += 1

    def __exit__(self, *error):
        if self.functions is not None:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._end()

    def _end(self):
        get, put = self.functions
        if self._before != 1 and get() == 1:  # otherwise someone else has set it meanwhile
            put(self._before)

    def after_fork(self):
        """Those inside are threads of the other process."""
        if self._users:
            self._end()
        self._forget()


# `with one_thread:` around products and decompositions of NumPy, `with one_thread_of_scipy:` around those of SciPy.
one_thread = _Limit(lambda: np.__file__)
one_thread_of_scipy = _Limit(lambda: os.path.dirname(imported("scipy.linalg").__file__))

operating_system.at_fork(in_child=one_thread.after_fork)
operating_system.at_fork(in_child=one_thread_of_scipy.after_fork)


# OpenBLAS computes with matrices of at most so many elements in the thread that calls it: it takes more from 64^3
# multiplications on, or for a matrix times a vector from 9216.
_SMALL = 4096


def on_one_thread(*limits: _Limit) -> Callable[[Callable], Callable]:
    """Decorator of a kernel whose first argument is an array of matrices: it runs within these limits."""

    def limited(kernel):
        @functools.wraps(kernel)
        def run(x, *args, **kwargs):
            if x.size <= _SMALL:
                return kernel(x, *args, **kwargs)
            with contextlib.ExitStack() as stack:
                for limit in limits:
                    stack.enter_context(limit)
                return kernel(x, *args, **kwargs)

        return run

    return limited


def product_threads() -> int | None:
    """How many threads a product of NumPy takes now; None when that is not known."""
    functions = one_thread.functions
    return None if functions is None else functions[0]()
