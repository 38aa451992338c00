"""Formulas for which TensorFlow Lite has one operator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headrace._src.core import dtypes

_CLOSE = 1e-6


def gelu_argument(builder: Any, step: Any) -> Any:
    """The tensor x of which a step computes 0.5 x (1 + erf(x / √2)), in whatever order; None if it does not."""
    if step.type != "Mul" or step.outputs[0].dtype != dtypes.float32:
        return None
    number, factors = _product(builder, step)
    if len(factors) != 2 or abs(number - 0.5) > _CLOSE:
        return None
    for x, other in (factors, factors[::-1]):
        if _is_raised_erf(builder, other, x):
            return x
    return None


def bounded_root(builder: Any, step: Any) -> Any:
    """(x, a) of which a step computes the smaller one of 1 / √x and 1 / √a, a constant; None if it does not."""
    for one, other in (step.inputs, step.inputs[::-1]):
        root, largest = builder.step_of(one), _number(builder, other)
        if root is not None and root.type == "Rsqrt" and largest is not None and largest > 0:
            least = np.float32(largest) ** -2.0
            return (root.inputs[0], least) if np.isfinite(least) and least > 0 else None
    return None


def _product(builder, step):
    """The constant factor of a product, and the others."""
    number, factors = 1.0, []
    waiting = list(step.inputs)
    while waiting:
        tensor = waiting.pop()
        value, maker = _number(builder, tensor), builder.step_of(tensor)
        if value is not None:
            number *= value
        elif maker is not None and maker.type == "Mul" and len(factors) + len(waiting) < 3:
            waiting += maker.inputs
        elif maker is not None and maker.type == "RealDiv" and _number(builder, maker.inputs[1]):
            number /= _number(builder, maker.inputs[1])
            waiting.append(maker.inputs[0])
        else:
            factors.append(tensor)
    return number, factors


def _number(builder, tensor):
    """A constant that is the same number everywhere."""
    value = builder.value(tensor)
    if value is None or value.size == 0 or value.dtype != np.float32 or np.any(value != value.flat[0]):
        return None
    return float(value.flat[0])


def _is_raised_erf(builder, tensor, x):
    """Whether a tensor is 1 + erf(x / √2)."""
    total = builder.step_of(tensor)
    if total is None or total.type not in ("AddV2", "Add"):
        return False
    for one, other in (total.inputs, total.inputs[::-1]):
        erf = builder.step_of(other)
        if _number(builder, one) == 1.0 and erf is not None and erf.type == "Erf":
            inner = builder.step_of(erf.inputs[0])
            if inner is None or inner.type not in ("Mul", "RealDiv"):
                return False
            number, factors = _scaled(builder, inner)
            return factors == [id(x)] and abs(number - math.sqrt(0.5)) < _CLOSE
    return False


def _scaled(builder, step):
    """A number and what it is multiplied with, as identities."""
    one, other = step.inputs
    if step.type == "RealDiv":
        divisor = _number(builder, other)
        return (1 / divisor, [id(one)]) if divisor else (0.0, [])
    for number, tensor in ((_number(builder, one), other), (_number(builder, other), one)):
        if number is not None:
            return number, [id(tensor)]
    return 0.0, []
