"""Powers, products with logarithms, and other functions of two tensors that broadcast."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import Neutral, is_one
from headrace._src.op.infer import broadcast
from headrace._src.op.lanes import MANY
from headrace._src.op.registry import lookup
from headrace._src.op.traits import ELEMENTWISE, FAILS_BY_SHAPE
from headrace._src.ops.arrays.broadcasting import shape_of, sum_to
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.math.comparison import GREATER, NOT_EQUAL
from headrace._src.ops.math.complex_numbers import conjugate, zero_like
from headrace._src.ops.math.elementwise import LOG
from headrace._src.ops.math.half_kernels import large_arrays

_NEGATIVE = "Pow: Integers to negative integer powers are not allowed"


# Exponents for which there is a function that is twenty times as fast and as exact.
_SHORT_POWERS = {1.0: np.positive, 2.0: np.square, -1.0: np.reciprocal}
# From so many elements on, two more functions cost less than they save.
_WORTH_SIGNS = 64


def _even_power(x, y, out=None):
    """NumPy takes numbers with a sign one by one, which takes ten times as long and more."""
    return np.power(np.abs(x), y, out=out)


def _odd_power(x, y, out=None):
    result = np.power(np.abs(x), y, out=out)
    return np.copysign(result, x, out=result)


def _pow(x, y):
    kind, function = x.dtype.kind, np.power
    if kind in "iu":
        if (y < 0).any() and x.size:
            raise errors.invalid_argument(_NEGATIVE)
    elif not y.ndim and kind != "c":
        exponent = float(y)
        short = _SHORT_POWERS.get(exponent)
        if short is not None:
            return short(x)
        if exponent.is_integer() and x.size >= _WORTH_SIGNS and x.dtype.char in "fd":
            function = _odd_power if exponent % 2 else _even_power
    if x.size > MANY or y.size > MANY:
        return large_arrays.divided(function, x, y)
    return function(x, y)


def _lower_pow(ctx, x, y):
    if x.dtype.kind in "iu":
        if x.size:
            ctx.check(jnp.all(y >= 0), errors.InvalidArgumentError, _NEGATIVE)
        y = jnp.maximum(y, 0)
    return jnp.power(x, y)


def _grad_pow(node, dy):
    x, y = node.x, node.y
    x_shape, y_shape = shape_of(x), shape_of(y)
    gx = gy = None
    if node.wants(0):
        a, b = conjugate(x), conjugate(y)
        power = POW(a, b - 1)
        gx = sum_to(dy * b * power, x_shape, y_shape)
    if node.wants(1):
        a, z = conjugate(x), conjugate(node.z)
        # The logarithm only where it is real, so that 0 ** y has gradient 0 and not NaN.
        select, zero = lookup("SelectV2"), zero_like(a)
        mask = NOT_EQUAL(a, zero) if a.dtype._kind == "c" else GREATER(a, zero)
        safe = select(mask, a, lookup("OnesLike")(a))
        log = select(mask, LOG(safe), lookup("ZerosLike")(a))
        gy = sum_to(dy * z * log, y_shape, x_shape)
    return gx, gy


POW = Op(
    "Pow",
    "x: T, y: T -> z: T",
    traits=ELEMENTWISE,
    neutral=Neutral(is_one, "fi", scalars=True),
    node_name="pow",
    T=dtypes.FLOATING | dtypes.SIGNED | dtypes.COMPLEX,
    infer=broadcast,
    kernel=_pow,
    lower=_lower_pow,
    saves=("x", "y", "z"),
    grad=_grad_pow,
)


@api("math.pow", "pow", of=POW)
def pow(x, y, name=None) -> Tensor:
    """`x ** y`, element-wise, with broadcasting.

    >>> tf.pow([2, 3], 2).numpy().tolist()
    [4, 9]

    Raises:
        InvalidArgumentError: when an integer has a negative exponent.
    """
    return POW(x, y, name=name)


def _nonzero(x):
    return CAST(NOT_EQUAL(x, zero_like(x)), DstT=x.dtype)


def _product(name, function, partial_x, partial_y):
    """An op `x * f(y)` that is 0 where `x` is 0, whatever `y` is."""

    def formula(xp, x, y):
        zero = xp.zeros((), x.dtype)
        return xp.where(x == 0, zero, function(xp, x, y))

    def grad(node, dy):
        x, y = node.x, node.y
        x_shape, y_shape = shape_of(x), shape_of(y)
        # TF: complex tensors are not conjugated.
        return (
            sum_to(partial_x(_nonzero(x), y) * dy, x_shape, y_shape) if node.wants(0) else None,
            sum_to(partial_y(x, y) * dy, y_shape, x_shape) if node.wants(1) else None,
        )

    return Op(
        name,
        "x: T, y: T -> z: T",
        traits=ELEMENTWISE | FAILS_BY_SHAPE,
        T=dtypes.FLOATING | dtypes.COMPLEX,
        infer=broadcast,
        kernel=lambda x, y: formula(np, x, y),
        lower=lambda ctx, x, y: formula(jnp, x, y),
        saves=("x", "y"),
        grad=grad,
    )


XDIVY = _product(
    "Xdivy",
    lambda xp, x, y: xp.divide(x, y),
    lambda one, y: XDIVY(one, y),
    lambda x, y: XDIVY(-x, y * y),
)
XLOGY = _product(
    "Xlogy",
    lambda xp, x, y: x * xp.log(y),
    lambda one, y: XLOGY(one, y),
    lambda x, y: XDIVY(x, y),
)
XLOG1PY = _product(
    "Xlog1py",
    lambda xp, x, y: x * xp.log1p(y),
    lambda one, y: XLOG1PY(one, y),
    lambda x, y: XDIVY(x, y + 1),
)


@api("math.xdivy", of=XDIVY)
def xdivy(x, y, name=None) -> Tensor:
    """`x / y`, and 0 wherever `x` is 0.

    >>> tf.math.xdivy([0.0, 1.0], [0.0, 2.0]).numpy().tolist()
    [0.0, 0.5]
    """
    return XDIVY(x, y, name=name)


@api("math.xlogy", of=XLOGY)
def xlogy(x, y, name=None) -> Tensor:
    """`x * log(y)`, and 0 wherever `x` is 0."""
    return XLOGY(x, y, name=name)


@api("math.xlog1py", of=XLOG1PY)
def xlog1py(x, y, name=None) -> Tensor:
    """`x * log1p(y)`, and 0 wherever `x` is 0."""
    return XLOG1PY(x, y, name=name)


def _grad_atan2(node, dy):
    y, x = node.y, node.x
    y_shape, x_shape = shape_of(y), shape_of(x)
    scaled = dy / (x * x + y * y)
    return (
        sum_to(x * scaled, y_shape, x_shape) if node.wants(0) else None,
        sum_to(-(y * scaled), x_shape, y_shape) if node.wants(1) else None,
    )


ATAN2 = Op(
    "Atan2",
    "y: T, x: T -> z: T",
    traits=ELEMENTWISE | FAILS_BY_SHAPE,
    T=dtypes.FLOATING,
    infer=broadcast,
    kernel=np.arctan2,
    lower=lambda ctx, y, x: jnp.arctan2(y, x),
    saves=("y", "x"),
    grad=_grad_atan2,
)


@api("math.atan2", "atan2", of=ATAN2)
def atan2(y, x, name=None) -> Tensor:
    """The angle of the point (x, y), in [-pi, pi], element-wise, with broadcasting.

    >>> f"{float(tf.atan2(1.0, 1.0)):.4f}"
    '0.7854'
    """
    return ATAN2(y, x, name=name)


def _grad_next_after(node, dy):
    x, y = node.x1_shape, node.x2_shape
    zeros = lookup("ZerosLike")(dy)
    return sum_to(dy, x, y), sum_to(zeros, y, x)


NEXT_AFTER = Op(
    "NextAfter",
    "x1: T, x2: T -> output: T",
    traits=ELEMENTWISE,
    T=frozenset({dtypes.float32, dtypes.float64}),
    infer=broadcast,
    kernel=np.nextafter,
    lower=lambda ctx, x1, x2: jnp.nextafter(x1, x2),
    saves=("x1_shape", "x2_shape"),
    grad=_grad_next_after,
)


@api("math.nextafter", elementwise=1)
def nextafter(x1, x2, name=None) -> Tensor:
    """The next number after `x1` in the direction of `x2`, element-wise, with broadcasting."""
    return NEXT_AFTER(x1, x2, name=name)


@api("math.polyval")
def polyval(coeffs, x, name=None) -> Tensor:
    """The polynomial with the given coefficients, highest power first, at `x`, by Horner's rule.

    >>> tf.math.polyval([1.0, 0.0, -1.0], [2.0, 3.0]).numpy().tolist()
    [3.0, 8.0]

    Raises:
        ValueError: when `coeffs` is no list.
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"math.polyval: coeffs must be a list, got {type(coeffs).__name__}.")
    x = to_tensor(x)
    if not coeffs:
        return lookup("ZerosLike")(x, name=name)
    coeffs = [to_tensor(c) for c in coeffs]
    value = coeffs[0]
    for c in coeffs[1:]:
        value = c + value * x
    return value
