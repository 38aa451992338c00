"""Which values are staged: symbolic tensors, and what turns into one while a graph is built."""

from __future__ import annotations

import math

from headrace._src.core import dtypes, types
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.shaping import RESHAPE

_PYTHON, _SYMBOLIC, _READABLE = range(3)
# By type. Most types never are tensors, and pay one look-up.
_kinds: dict = {bool: _PYTHON, int: _PYTHON, float: _PYTHON, type(None): _PYTHON, str: _PYTHON, EagerTensor: _PYTHON}


def _kind(cls):
    if issubclass(cls, Tensor):
        kind = _PYTHON if issubclass(cls, EagerTensor) else _SYMBOLIC
    elif issubclass(cls, types.Tensor):
        kind = _READABLE  # variables, Keras variables: reading one in a graph gives a symbolic tensor
    else:
        kind = _PYTHON
    _kinds[cls] = kind
    return kind


def is_symbolic(value) -> bool:
    """Whether a value is known only when the graph runs."""
    cls = type(value)
    kind = _kinds.get(cls)
    if kind is None:
        kind = _kind(cls)
    return kind == _SYMBOLIC or (kind == _READABLE and context.graph is not None)


def condition(value, what: str):
    """A symbolic value as a condition, which is a scalar.

    Raises:
        ValueError: It is no boolean, or is known to have more than one element.
    """
    tensor = to_tensor(value)
    known = [n for n in tensor.shape.as_list() if n is not None] if tensor.shape.rank is not None else []
    if tensor.dtype is not dtypes.bool or math.prod(known) != 1:
        hint = "" if tensor.dtype is dtypes.bool else "to use as boolean Tensor, use `tf.cast`; "
        raise ValueError(
            f"condition of {what} expected to be `tf.bool` scalar, got {tensor}; {hint}"
            "to check for None, use `is not None`"
        )
    # TF: one element of any shape will do; whether there is one is seen when the graph runs.
    return tensor if tensor.shape.rank == 0 else RESHAPE(tensor, [])
