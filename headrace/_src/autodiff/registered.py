"""Gradient functions that users register by op type."""

from collections.abc import Callable
from typing import Any

from headrace._src.op.api import api
from headrace._src.op.definition import REGISTRY, unregistered

# Op type or override name to gradient function; None for "has no gradient".
GRADIENTS: dict[str, object] = {}


def _register(op_type, function):
    record = REGISTRY.get(op_type)
    if op_type in GRADIENTS or (record is not None and record.grad not in (None, unregistered)):
        raise KeyError(f"RegisterGradient: the op type {op_type!r} has a gradient already. Choose another name.")
    GRADIENTS[op_type] = function


@api("RegisterGradient")
class RegisterGradient:
    """Decorator: register a gradient function `(op, *grads)` for an op type or an override name.

    Raises:
        TypeError: when the op type is no string.
        KeyError: when a function is registered for it already.
    """

    def __init__(self, op_type) -> None:
        if not isinstance(op_type, str):
            raise TypeError(f"op_type must be a string, got {op_type!r}.")
        self._op_type = op_type

    def __call__(self, f) -> Callable[..., Any]:
        _register(self._op_type, f)
        return f


@api("no_gradient", dispatch=False)
def no_gradient(op_type) -> None:
    """Say that ops of this type have no gradient.

    Raises:
        TypeError: when the op type is no string.
        KeyError: when it has a gradient.
    """
    if not isinstance(op_type, str):
        raise TypeError(f"op_type must be a string, got {op_type!r}.")
    _register(op_type, None)


@api("AggregationMethod")
class AggregationMethod:
    """How gradients along several paths are added up. All of them mean the same here."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2

