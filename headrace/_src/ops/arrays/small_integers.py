"""Axes, shapes and bounds that Python code writes down again and again, as tensors that are made once."""

import functools

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor

_INT32 = 2**31


@functools.lru_cache(maxsize=4096)
def _constant(value) -> EagerTensor:
    parts = value if type(value) is tuple else (value,)
    kind = dtypes.int32 if all(-_INT32 <= n < _INT32 for n in parts) else dtypes.int64
    return EagerTensor(np.array(value, kind._np), kind)


def integers(value):
    """A Python int, or a short list or tuple of ints, as a tensor; anything else is returned as it is.

    Ops convert what they get, but this is several times quicker. In a graph, where a constant belongs to the
    graph, it does nothing.
    """
    kind = type(value)
    if kind is int:
        if -(2**63) <= value < 2**63 and context.graph is None:
            return _constant(value)
    elif (kind is list or kind is tuple) and 0 < len(value) <= 8 and context.graph is None:
        for n in value:
            if type(n) is not int or not -(2**63) <= n < 2**63:
                return value
        return _constant(tuple(value))
    return value
