"""What graphs ask of an op's record: rules for `Op(can_fail=..., partial=..., neutral=...)`."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

# can_fail: whether an operation may raise an error, as far as shapes and constants tell. A rule gets an operation (with
# `inputs`, `outputs` and `attrs`), and by `id` of a tensor the array that it always is. Ops that never fail, or fail
# only if shapes do not fit, have a trait instead.


def are_shapes_known(step) -> bool:
    """Whether all shapes are known, so that building the graph has checked whether they fit together."""
    for tensors in (step.inputs, step.outputs):
        for tensor in tensors:
            if not tensor._shape.is_fully_defined():
                return False
    return True


def unless_constant(position):
    """The rule of ops of which one input (a shape, an axis) must be a constant, and all shapes known."""

    def can_fail(step, constants):
        return not are_shapes_known(step) or id(step.inputs[position]) not in constants

    return can_fail


def unless_axes_constant(step, constants):
    """The rule of ops of a tensor and of axes that depend on its rank alone."""
    tensor, axes = step.inputs
    return tensor._shape.rank is None or id(axes) not in constants


def unless_floating(step, constants):
    """The rule of divisions: integers can be divided by zero."""
    return step.inputs[0].dtype._kind not in "fc" or not are_shapes_known(step)


# partial: shapes that are partly known while a graph is built, and what ops compute from these. A rule gets the specs
# and attributes of an operation. Values are lists of int or None, or a single int or None for a scalar; None instead of
# all that: nothing is known. A matrix, such as the paddings of Pad, is a list of such lists; only infer looks into it.


def known_elements(spec):
    """The elements of a tensor that are certain: a list, or one element for a scalar; None when none are."""
    if spec.value is not None:
        return spec.value.tolist() if spec.value.dtype.kind in "iu" and spec.value.ndim <= 1 else None
    return spec.partial if spec.shape.rank in (0, 1) else None


def if_useful(elements):
    """The elements, unless none of them is known."""
    return elements if any(element is not None for element in elements) else None


def same_elements(x, **attrs):
    """The rule of ops that give the integers that they get."""
    return known_elements(x)


def computed(function):
    """The rule of ops of two broadcasting inputs: the function of each pair of elements."""

    def rule(x, y, **attrs):
        a, b = known_elements(x), known_elements(y)
        if a is None or b is None:
            return None
        if not isinstance(a, list) and not isinstance(b, list):
            return function(a, b)
        length = max(len(v) for v in (a, b) if isinstance(v, list))
        a, b = (v if isinstance(v, list) else [v] * length for v in (a, b))
        if len(a) != len(b):
            return None
        return if_useful([None if p is None or q is None else function(p, q) for p, q in zip(a, b)])

    return rule


# neutral: the constants `c` for which `x op c` is `x`, to the last bit.


class Neutral(NamedTuple):
    """Which constants leave the other input as it is.

    Attributes:
        test: tells whether an array is such a constant; it includes signs of zeros.
        kinds: of dtypes for which that holds. Complex numbers are left out where parts mix: infinity times 0 is NaN.
        first: whether it holds for the first input, too.
        scalars: whether it holds for scalars only.
    """

    test: Callable
    kinds: str
    first: bool = False
    scalars: bool = False


def is_one(array) -> bool:
    """Whether all are 1."""
    return bool((array == 1).all())


def is_zero_to_add(array) -> bool:
    """Whether all are 0: -0.0 for floating numbers, since -0.0 + 0.0 is 0.0."""
    if (array != 0).any():
        return False
    return array.dtype.kind in "iu" or bool(_signs(array).all())


def is_zero_to_subtract(array) -> bool:
    """Whether all are 0, and none is -0.0."""
    if (array != 0).any():
        return False
    return array.dtype.kind in "iu" or not _signs(array).any()


def _signs(array):
    """Whether each number (each part of a complex one) has its sign bit set."""
    if array.dtype.kind == "c":
        return np.concatenate([np.signbit(array.real).ravel(), np.signbit(array.imag).ravel()])
    return np.signbit(array.astype(np.float64))
