"""Quotients and remainders of tensors that broadcast."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.lazy import jnp, lax
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.graph_rules import Neutral, is_one, unless_floating
from headrace._src.op.infer import broadcast
from headrace._src.op.lanes import MANY
from headrace._src.op.traits import ELEMENTWISE, FAILS_BY_SHAPE
from headrace._src.ops.arrays.broadcasting import shape_of, sum_to
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.math.complex_numbers import conjugate
from headrace._src.ops.math.half_kernels import large_arrays

# From so many elements on, three quick functions take less time than one slow one.
_WORTH_MORE_FUNCTIONS = 64


def _require_nonzero(op, x, y):
    if not (y.all() if y.ndim else y) and x.size:
        raise errors.invalid_argument(f"{op}: Integer division by zero")


def _check_nonzero(ctx, op, x, y):
    if x.size:
        ctx.check(jnp.all(y != 0), errors.InvalidArgumentError, f"{op}: Integer division by zero")


def _truncate_integers(x, y):
    if x.dtype.kind == "u":
        return np.floor_divide(x, y)
    # What is left after the remainder divides evenly, so that rounding down does not matter.
    return np.floor_divide(x - np.fmod(x, y), y)


def _divide(op):
    """Division of numbers, and of integers toward zero."""

    def kernel(x, y):
        if x.dtype.kind in "iu":
            _require_nonzero(op, x, y)
            return _truncate_integers(x, y)
        return np.divide(x, y)

    def lower(ctx, x, y):
        if x.dtype.kind in "iu":
            _check_nonzero(ctx, op, x, y)
            return lax.div(*jnp.broadcast_arrays(x, jnp.where(y == 0, 1, y).astype(y.dtype)))
        return jnp.divide(x, y)

    return kernel, lower


def _grad_divide(node, dy):
    x, y = node.x, node.y
    x_shape, y_shape = shape_of(x), shape_of(y)
    op, x, y = node.op, conjugate(x), conjugate(y)
    return (
        sum_to(op(dy, y), x_shape, y_shape) if node.wants(0) else None,
        sum_to(dy * op(op(-x, y), y), y_shape, x_shape) if node.wants(1) else None,
    )


def _division(name, kernel, lower, grad, kinds, node_name=None):
    return Op(
        name,
        "x: T, y: T -> z: T",
        traits=ELEMENTWISE,
        can_fail=unless_floating,
        neutral=Neutral(is_one, kinds),
        ufunc=np.divide,
        node_name=node_name,
        T=dtypes.NUMBER,
        infer=broadcast,
        kernel=kernel,
        lower=lower,
        saves=("x", "y") if grad is not None else (),
        grad=grad,
    )


DIV = _division("Div", *_divide("Div"), _grad_divide, "fiu")
REAL_DIV = _division("RealDiv", *_divide("RealDiv"), _grad_divide, "f", node_name="truediv")


@api("realdiv", of=REAL_DIV)
def realdiv(x, y, name=None) -> Tensor:
    """`x / y`, element-wise, with broadcasting; dtypes stay as they are."""
    return REAL_DIV(x, y, name=name)


# What `/` gives for integers.
TRUE_DIVISION = {
    dtypes.uint8: dtypes.float32,
    dtypes.int8: dtypes.float32,
    dtypes.uint16: dtypes.float32,
    dtypes.int16: dtypes.float32,
    dtypes.uint32: dtypes.float64,
    dtypes.int32: dtypes.float64,
    dtypes.uint64: dtypes.float64,
    dtypes.int64: dtypes.float64,
}


def true_divide(x, y, name=None):
    """`x / y` of tensors, as `/` means it: integers become floats first."""
    dtype = x.dtype
    if dtype is not y.dtype:
        raise TypeError(f"truediv: x and y must have the same dtype, got {dtype.name} and {y.dtype.name}. "
                        "Cast one of them with tf.cast.")
    if dtype._kind in "fc":
        return REAL_DIV(x, y, name=name)
    wide = TRUE_DIVISION.get(dtype)
    if wide is None:
        raise TypeError(f"truediv: x must be numeric, got {dtype.name}.")
    return REAL_DIV(CAST(x, DstT=wide), CAST(y, DstT=wide), name=name)


@api("math.truediv", "truediv", elementwise=2)
def truediv(x, y, name=None) -> Tensor:
    """`x / y` as in Python 3: integers become float32 (8 and 16 bits) or float64 first.

    >>> tf.truediv(3, 2).numpy()
    np.float64(1.5)

    Raises:
        TypeError: when the dtypes differ.
    """
    if type(x) is not EagerTensor:
        x = to_tensor(x)
    if type(y) is not EagerTensor:
        y = to_tensor(y, hint=x.dtype)
    return true_divide(x, y, name)


@api("math.divide", "divide", elementwise=2)
def divide(x, y, name=None) -> Tensor:
    """`x / y` as in Python 3, element-wise, with broadcasting; integers become floats.

    >>> tf.divide([3, 4], 2).numpy().tolist()
    [1.5, 2.0]
    """
    if not isinstance(x, (Tensor, CompositeTensor)):
        x = to_tensor(x, y.dtype if isinstance(y, Tensor) else None)
    return x / y


def _divide_no_nan(x, y):
    """To see that nothing is zero takes less time than to choose."""
    quotient, zero = np.divide(x, y), y == 0
    return np.where(zero, np.zeros((), x.dtype), quotient) if zero.any() else quotient


def _grad_divide_no_nan(node, dy):
    x, y = node.x, node.y
    x_shape, y_shape = shape_of(x), shape_of(y)
    x, y = conjugate(x), conjugate(y)
    return (
        sum_to(DIV_NO_NAN(dy, y), x_shape, y_shape) if node.wants(0) else None,
        sum_to(dy * DIV_NO_NAN(DIV_NO_NAN(-x, y), y), y_shape, x_shape) if node.wants(1) else None,
    )


DIV_NO_NAN = Op(
    "DivNoNan",
    "x: T, y: T -> z: T",
    traits=ELEMENTWISE | FAILS_BY_SHAPE,
    neutral=Neutral(is_one, "f"),
    T=dtypes.FLOATING | dtypes.COMPLEX,
    infer=broadcast,
    kernel=_divide_no_nan,
    lower=lambda ctx, x, y: jnp.where(y == 0, jnp.zeros((), x.dtype), jnp.divide(x, y)),
    saves=("x", "y"),
    grad=_grad_divide_no_nan,
)


@api("math.divide_no_nan", elementwise=2)
def divide_no_nan(x, y, name=None) -> Tensor:
    """`x / y`, and 0 wherever `y` is 0; integers become floats.

    >>> tf.math.divide_no_nan([3.0, 4.0], [0.0, 2.0]).numpy().tolist()
    [0.0, 2.0]

    Raises:
        TypeError: when the dtypes differ.
    """
    if not isinstance(x, Tensor) and isinstance(y, Tensor):
        x = to_tensor(x, hint=y.dtype)
    x = to_tensor(x)
    y = to_tensor(y, hint=x.dtype)
    if x.dtype is not y.dtype:
        raise TypeError(f"math.divide_no_nan: x and y must have the same dtype, got {x.dtype.name} and "
                        f"{y.dtype.name}.")
    wide = TRUE_DIVISION.get(x.dtype)
    if wide is not None:
        x, y = CAST(x, DstT=wide), CAST(y, DstT=wide)
    return DIV_NO_NAN(x, y, name=name)


@api("math.reciprocal_no_nan", elementwise=1)
def reciprocal_no_nan(x, name=None) -> Tensor:
    """`1 / x`, and 0 wherever `x` is 0.

    >>> tf.math.reciprocal_no_nan([2.0, 0.0]).numpy().tolist()
    [0.5, 0.0]
    """
    x = to_tensor(x)
    return DIV_NO_NAN(EagerTensor(np.ones((), x.dtype._np), x.dtype), x, name=name)


def _no_gradient(node, dy):
    return None, None


def _floor_div(x, y):
    kind = x.dtype.kind
    if kind in "iu":
        _require_nonzero("FloorDiv", x, y)
        return np.floor_divide(x, y)
    # TF: the floor of the quotient, so that inf // 2 is inf, which NumPy makes NaN.
    return np.floor(np.divide(x, y))


def _lower_floor_div(ctx, x, y):
    if x.dtype.kind in "iu":
        _check_nonzero(ctx, "FloorDiv", x, y)
        return jnp.floor_divide(x, jnp.where(y == 0, 1, y).astype(y.dtype))
    return jnp.floor(jnp.divide(x, y))


FLOOR_DIV = Op(
    "FloorDiv",
    "x: T, y: T -> z: T",
    traits=ELEMENTWISE,
    neutral=Neutral(is_one, "iu"),
    node_name="floordiv",
    can_fail=unless_floating,
    T=dtypes.REAL,
    infer=broadcast,
    kernel=_floor_div,
    lower=_lower_floor_div,
    grad=_no_gradient,
)


@api("math.floordiv", of=FLOOR_DIV)
def floordiv(x, y, name=None) -> Tensor:
    """`x // y`: the quotient rounded down, element-wise, with broadcasting.

    >>> tf.math.floordiv(-7, 2).numpy()
    np.int32(-4)

    Raises:
        InvalidArgumentError: when an integer is divided by zero.
    """
    return FLOOR_DIV(x, y, name=name)


def _truncate_div(x, y):
    if x.dtype.kind in "iu":
        _require_nonzero("TruncateDiv", x, y)
        return _truncate_integers(x, y)
    return np.trunc(np.divide(x, y))


def _lower_truncate_div(ctx, x, y):
    if x.dtype.kind in "iu":
        _check_nonzero(ctx, "TruncateDiv", x, y)
        return lax.div(*jnp.broadcast_arrays(x, jnp.where(y == 0, 1, y).astype(y.dtype)))
    return jnp.trunc(jnp.divide(x, y))


TRUNCATE_DIV = Op(
    "TruncateDiv",
    "x: T, y: T -> z: T",
    traits=ELEMENTWISE,
    neutral=Neutral(is_one, "iu"),
    T=dtypes.REAL,
    infer=broadcast,
    kernel=_truncate_div,
    lower=_lower_truncate_div,
    grad=_no_gradient,
)


@api("truncatediv", of=TRUNCATE_DIV)
def truncatediv(x, y, name=None) -> Tensor:
    """The quotient rounded toward zero, element-wise, with broadcasting.

    >>> tf.truncatediv(-7, 2).numpy()
    np.int32(-3)
    """
    return TRUNCATE_DIV(x, y, name=name)


def _remainder_of_one_divisor(x, y, out=None):
    """`np.mod(x, y)` for integers. NumPy divides by one number many at a time, and has no such loop for remainders."""
    rest = np.floor_divide(x, y, out=out)
    return np.subtract(x, np.multiply(rest, y, out=rest), out=rest)


def _floor_mod(x, y):
    if x.dtype.kind in "iu":
        _require_nonzero("FloorMod", x, y)
        if y.size != 1 or x.size < _WORTH_MORE_FUNCTIONS:
            return np.mod(x, y)
        if x.size > MANY:
            return large_arrays.divided(_remainder_of_one_divisor, x, y)
        return _remainder_of_one_divisor(x, y)
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


def _lower_floor_mod(ctx, x, y):
    if x.dtype.kind in "iu":
        _check_nonzero(ctx, "FloorMod", x, y)
        return jnp.mod(x, jnp.where(y == 0, 1, y).astype(y.dtype))
    rest = jnp.fmod(x, y)
    return jnp.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


def _grad_floor_mod(node, dy):
    x, y = node.x, node.y
    x_shape, y_shape = shape_of(x), shape_of(y)
    return (
        sum_to(dy, x_shape, y_shape) if node.wants(0) else None,
        sum_to(dy * -FLOOR_DIV(x, y), y_shape, x_shape) if node.wants(1) else None,
    )


FLOOR_MOD = Op(
    "FloorMod",
    "x: T, y: T -> z: T",
    traits=ELEMENTWISE,
    node_name="mod",
    can_fail=unless_floating,
    T=dtypes.REAL,
    infer=broadcast,
    kernel=_floor_mod,
    lower=_lower_floor_mod,
    saves=("x", "y"),
    grad=_grad_floor_mod,
)


@api("math.floormod", "math.mod", of=FLOOR_MOD)
def floormod(x, y, name=None) -> Tensor:
    """The remainder of `x // y`, which has the sign of `y`, element-wise, with broadcasting.

    >>> tf.math.floormod(-7, 3).numpy()
    np.int32(2)

    Raises:
        InvalidArgumentError: when an integer is divided by zero.
    """
    return FLOOR_MOD(x, y, name=name)


def _truncating_mod(name):
    def kernel(x, y):
        if x.dtype.kind in "iu":
            _require_nonzero(name, x, y)
        return np.fmod(x, y)

    def lower(ctx, x, y):
        if x.dtype.kind in "iu":
            _check_nonzero(ctx, name, x, y)
            y = jnp.where(y == 0, 1, y).astype(y.dtype)
        return jnp.fmod(x, y)

    text = "x: T, y: T -> z: T"
    return Op(
        name, text, traits=ELEMENTWISE, T=dtypes.REAL, infer=broadcast, kernel=kernel, lower=lower, grad=unregistered
    )


MOD = _truncating_mod("Mod")
TRUNCATE_MOD = _truncating_mod("TruncateMod")


@api("truncatemod", of=TRUNCATE_MOD)
def truncatemod(x, y, name=None) -> Tensor:
    """The remainder of division toward zero, which has the sign of `x`, element-wise, with broadcasting.

    >>> tf.truncatemod(-7, 3).numpy()
    np.int32(-1)
    """
    return TRUNCATE_MOD(x, y, name=name)
