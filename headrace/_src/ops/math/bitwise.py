"""Operations on the bits of integers."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.lazy import jnp, lax
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import broadcast, same_as_input
from headrace._src.op.traits import ELEMENTWISE, FAILS_BY_SHAPE, IDEMPOTENT, INVOLUTION, NEVER_FAILS, NONE


def _bitwise(name, ufunc, lower, traits=NONE):
    return Op(
        name,
        "x: T, y: T -> z: T",
        traits=ELEMENTWISE | FAILS_BY_SHAPE | traits,
        T=dtypes.INTEGER,
        infer=broadcast,
        kernel=ufunc,
        lower=lambda ctx, x, y: lower(x, y),
        grad=None,
    )


BITWISE_AND = _bitwise("BitwiseAnd", np.bitwise_and, lambda x, y: jnp.bitwise_and(x, y), IDEMPOTENT)
BITWISE_OR = _bitwise("BitwiseOr", np.bitwise_or, lambda x, y: jnp.bitwise_or(x, y), IDEMPOTENT)
BITWISE_XOR = _bitwise("BitwiseXor", np.bitwise_xor, lambda x, y: jnp.bitwise_xor(x, y))


@api("bitwise.bitwise_and", of=BITWISE_AND)
def bitwise_and(x, y, name=None) -> Tensor:
    """The bits that are set in both, element-wise, with broadcasting.

    >>> tf.bitwise.bitwise_and(12, 10).numpy()
    np.int32(8)
    """
    return BITWISE_AND(x, y, name=name)


@api("bitwise.bitwise_or", of=BITWISE_OR)
def bitwise_or(x, y, name=None) -> Tensor:
    """The bits that are set in at least one, element-wise, with broadcasting."""
    return BITWISE_OR(x, y, name=name)


@api("bitwise.bitwise_xor", of=BITWISE_XOR)
def bitwise_xor(x, y, name=None) -> Tensor:
    """The bits that are set in exactly one, element-wise, with broadcasting."""
    return BITWISE_XOR(x, y, name=name)


INVERT = Op(
    "Invert",
    "x: T -> y: T",
    traits=ELEMENTWISE | NEVER_FAILS | INVOLUTION,
    T=dtypes.INTEGER,
    infer=same_as_input,
    kernel=np.invert,
    lower=lambda ctx, x: jnp.invert(x),
    grad=None,
)


@api("bitwise.invert", of=INVERT)
def invert(x, name=None) -> Tensor:
    """All bits flipped: `-x - 1` for signed integers."""
    return INVERT(x, name=name)


def _clamped(xp, x, y):
    """The shift count in [0, bits): shifting farther is undefined in C, and TensorFlow clamps it."""
    return xp.clip(y, 0, x.dtype.itemsize * 8 - 1).astype(y.dtype)


LEFT_SHIFT = _bitwise(
    "LeftShift",
    lambda x, y: np.left_shift(x, _clamped(np, x, y)),
    lambda x, y: jnp.left_shift(x, _clamped(jnp, x, y)),
)
RIGHT_SHIFT = _bitwise(
    "RightShift",
    lambda x, y: np.right_shift(x, _clamped(np, x, y)),
    lambda x, y: jnp.right_shift(x, _clamped(jnp, x, y)),
)


@api("bitwise.left_shift", of=LEFT_SHIFT)
def left_shift(x, y, name=None) -> Tensor:
    """`x << y`, with `y` clamped to the width of the integers.

    >>> tf.bitwise.left_shift(1, [0, 1, 4]).numpy().tolist()
    [1, 2, 16]
    """
    return LEFT_SHIFT(x, y, name=name)


@api("bitwise.right_shift", of=RIGHT_SHIFT)
def right_shift(x, y, name=None) -> Tensor:
    """`x >> y`, keeping the sign, with `y` clamped to the width of the integers."""
    return RIGHT_SHIFT(x, y, name=name)


def _population_count(x):
    # NumPy counts the bits of the absolute value, so negative numbers are read as unsigned.
    return np.bitwise_count(np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")).reshape(x.shape)


POPULATION_COUNT = Op(
    "PopulationCount",
    "x: T -> y: uint8",
    traits=ELEMENTWISE,
    T=dtypes.INTEGER,
    infer=same_as_input,
    kernel=_population_count,
    lower=lambda ctx, x: lax.population_count(x).astype(jnp.uint8),
    grad=None,
)
