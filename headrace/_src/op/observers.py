"""Watching every op that runs. Code that checks numbers, logs devices or records runs installs an observer.

Without observers, the ops' own kernels run and nothing is paid.
"""

import functools
import threading

import numpy as np

from headrace._src.op.definition import REGISTRY
from headrace._src.op.registry import all_ops

# Called as `rewrite(op, outputs)` for each operation that is added to a graph; returns what to use as its outputs.
node_rewriters: list = []

_observers: list = []
_lock = threading.Lock()


def _observed(op, kernel):
    @functools.wraps(kernel)
    def run(*arrays, **attrs):
        results = kernel(*arrays, **attrs)
        if op.single_output and isinstance(results, np.generic):
            results = np.asarray(results)  # so that observers know the array that the tensor will have
        for observe in tuple(_observers):
            observe(op, arrays, attrs, results)
        return results

    run.observed = kernel
    return run


def add_observer(observe):
    """Call `observe(op, arrays, attrs, results)` after every kernel. An error that it raises becomes the op's."""
    with _lock:
        if not _observers:
            for op in all_ops():  # imports all files: an op that came later would not be observed
                op.replace_kernel(_observed(op, op.kernel))
        _observers.append(observe)


def remove_observer(observe):
    """Undo `add_observer`."""
    with _lock:
        if observe not in _observers:
            return
        _observers.remove(observe)
        if not _observers:
            for op in REGISTRY.values():
                if hasattr(op.kernel, "observed"):
                    op.replace_kernel(op.kernel.observed)


def output_arrays(op, results) -> list:
    """A kernel's results as a flat list of arrays."""
    if op.single_output:
        return [results]
    flat = []
    for result in results or ():
        flat.extend(result) if isinstance(result, (list, tuple)) else flat.append(result)
    return flat
