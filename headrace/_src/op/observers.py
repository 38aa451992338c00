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

# Called when observers come and go: kernels that were looked up before are the wrong ones then.
on_change: list = []

_observers: list = []
_only_unchecked: set = set()  # those of the observers that do not look into graphs with checks of their own
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


def add_observer(observe, only_unchecked=False):
    """Call `observe(op, arrays, attrs, results)` after every kernel. An error that it raises becomes the op's.

    Args:
        observe: the function to call.
        only_unchecked: graphs that were built with checks of their own need not be observed, and may be compiled.
    """
    with _lock:
        if not _observers:
            for op in all_ops():  # imports all files: an op that came later would not be observed
                op.replace_kernel(_observed(op, op.kernel))
        _observers.append(observe)
        if only_unchecked:
            _only_unchecked.add(observe)
    for changed in on_change:
        changed()


def runs_by_kernels(has_checks) -> bool:
    """Whether a graph has to run kernel by kernel at present, since somebody wants to see each of them."""
    return bool(_observers) and not (has_checks and _only_unchecked.issuperset(_observers))


def remove_observer(observe):
    """Undo `add_observer`."""
    with _lock:
        if observe not in _observers:
            return
        _observers.remove(observe)
        _only_unchecked.discard(observe)
        if not _observers:
            for op in REGISTRY.values():
                if hasattr(op.kernel, "observed"):
                    op.replace_kernel(op.kernel.observed)
    for changed in on_change:
        changed()


def output_arrays(op, results) -> list:
    """A kernel's results as a flat list of arrays."""
    if op.single_output:
        return [results]
    flat = []
    for result in results or ():
        flat.extend(result) if isinstance(result, (list, tuple)) else flat.append(result)
    return flat
