"""Shape rules that many ops share: from the `Spec`s of the inputs to the shape of the output."""

import operator
import reprlib

import numpy as np

from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape, broadcast_shapes
from headrace._src.op.convert import UnfitValueError

SCALAR = TensorShape([])
UNKNOWN = TensorShape(None)


def same_as_input(x, *others, **attrs):
    """The shape of the first input."""
    return x.shape


def broadcast(x, y, **attrs):
    """The shape to which both inputs broadcast."""
    return broadcast_shapes(x.shape, y.shape)


def scalar(*inputs, **attrs):
    """One value."""
    return SCALAR


def unknown(*inputs, **attrs):
    """Known only when the op has run."""
    return UNKNOWN


def vector(*inputs, **attrs):
    """One dimension, of a length that is known only when the op has run."""
    return TensorShape([None])


def shape_from_value(spec) -> TensorShape:
    """The shape that a shape-valued input (1-D integers) describes, as far as it is known."""
    if spec.value is not None:
        value = np.asarray(spec.value)
        if value.ndim == 0:
            return UNKNOWN if value < 0 else TensorShape([int(value)])
        return TensorShape([None if n < 0 else int(n) for n in value.ravel()])
    if spec.partial is not None:
        partial = spec.partial if isinstance(spec.partial, list) else [spec.partial]
        return TensorShape([None if n is None or n < 0 else n for n in partial])
    if spec.shape.rank is None or spec.shape[0] is None:
        return UNKNOWN
    return TensorShape([None] * spec.shape[0])


def normalize_axis(axis: int, rank: int, op: str, argument: str = "axis") -> int:
    """A possibly negative axis as one in [0, rank), or InvalidArgumentError."""
    number = int(axis)
    if number != axis:
        raise errors.InvalidArgumentError(None, None, f"{op}: {argument} must be a whole number, got {axis!r}.")
    axis = number
    if not -rank <= axis < rank:
        raise errors.InvalidArgumentError(
            None, None, f"{op}: {argument} must be in [{-rank}, {rank}), got {axis}."
        )
    return axis % rank


def whole(value, argument: str) -> int:
    """An integer that the user gave. A float, a text or a dtype is none, although `int` makes one of it."""
    try:
        return operator.index(value)
    except TypeError:
        raise UnfitValueError(f"{argument} must be an integer, got {reprlib.repr(value)}.") from None


def with_rank(spec, rank: int, op: str, argument: str) -> TensorShape:
    """The shape of a spec that must have that rank, or InvalidArgumentError."""
    try:
        return spec.shape.with_rank(rank)
    except ValueError:
        raise errors.InvalidArgumentError(
            None, None, f"{op}: {argument} must have rank {rank}, got shape {spec.shape}."
        ) from None
