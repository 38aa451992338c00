"""Functions of one tensor, element by element: roots, exponentials, rounding."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp, lax
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import same_as_input
from headrace._src.op.registry import lookup
from headrace._src.op.traits import ELEMENTWISE, EQUAL_SHAPES, FAILS_BY_SHAPE, IDEMPOTENT, NEVER_FAILS, NONE
from headrace._src.ops.math import exponential_kernels
from headrace._src.ops.math.arithmetic import MUL, number_like
from headrace._src.ops.math.complex_numbers import COMPLEX, COMPLEX_ABS, CONJ, conjugate, zero_like
from headrace._src.ops.math.division import DIV_NO_NAN
from headrace._src.ops.math.half_kernels import through_float32

FLOATS = dtypes.FLOATING | dtypes.COMPLEX


def unary(name, kernel, lower, grad, saves=("x",), T=FLOATS, traits=NONE):
    """An op of one tensor `x` with a result `y` of the same shape and dtype, which never fails."""
    return Op(
        name,
        "x: T -> y: T",
        traits=ELEMENTWISE | NEVER_FAILS | traits,
        T=T,
        infer=same_as_input,
        kernel=kernel,
        lower=lower and (lambda ctx, x: lower(x)),
        saves=saves,
        grad=grad,
    )


def of_equal_shapes(op, first, second, kernel):
    """The kernel of two inputs, which must have the same shape: nothing is broadcast."""

    def run(x, y, **attrs):
        if x.shape != y.shape:
            raise errors.invalid_argument(
                f"{op}: {first} and {second} must have the same shape, got {x.shape} and {y.shape}."
            )
        return kernel(x, y, **attrs)

    return run


def gradient_op(name, kernel, lower, grad, saves=("y", "dy")):
    """An op `(y, dy)` that is the gradient of another, from its result and the gradient of that.

    TF: for complex tensors those of roots and reciprocals are dy times a function of conj(y), so their own
    gradients are conj(ddz) dy times its derivative, and ddz times the function of y; those of sigmoid and
    tanh are dy times a function of y, and the caller conjugates.
    """
    return Op(
        name,
        "y: T, dy: T -> z: T",
        traits=ELEMENTWISE | EQUAL_SHAPES | FAILS_BY_SHAPE,
        T=FLOATS,
        infer=lambda y, dy: y.shape.merge_with(dy.shape),
        kernel=of_equal_shapes(name, "y", "dy", kernel),
        lower=lambda ctx, y, dy: lower(y, dy),
        saves=saves,
        grad=grad,
    )


def _grad_abs(node, dy):
    return (dy * SIGN(node.x),)


ABS = unary("Abs", np.abs, lambda x: jnp.abs(x), _grad_abs, T=dtypes.FLOATING | dtypes.SIGNED, traits=IDEMPOTENT)


@api("math.abs", "abs", elementwise=1, sparse=True)
def abs(x, name=None) -> Tensor:
    """The absolute value; for complex tensors a real one.

    >>> tf.abs([-2, 3]).numpy().tolist()
    [2, 3]
    """
    if type(x) is not EagerTensor:
        x = to_tensor(x)
    if x.dtype._kind == "c":
        return COMPLEX_ABS(x, Tout=x.dtype.real_dtype, name=name)
    return ABS(x, name=name)


def _sign(x):
    if x.dtype.kind == "c":
        size = np.abs(x)
        return np.where(size == 0, x.dtype.type(0), x / np.where(size == 0, 1, size)).astype(x.dtype)
    return np.sign(x)


def _lower_sign(x):
    if x.dtype.kind == "c":
        size = jnp.abs(x)
        return jnp.where(size == 0, 0, x / jnp.where(size == 0, 1, size)).astype(x.dtype)
    return jnp.sign(x)


def _grad_sign(node, dy):
    if dy.dtype._kind != "c":
        return (lookup("ZerosLike")(dy),)
    # The sign of a complex number turns with it: (dy - y^2 conj(dy)) / 2|x|, and 0 at 0.
    y = node.y
    turned = dy - SQUARE(y) * CONJ(dy)
    size = COMPLEX_ABS(node.x, Tout=y.dtype.real_dtype)
    twice = COMPLEX(2 * size, zero_like(size), Tout=y.dtype)
    return (DIV_NO_NAN(turned, twice),)


SIGN = unary("Sign", _sign, _lower_sign, _grad_sign, ("x", "y"), T=FLOATS | dtypes.SIGNED, traits=IDEMPOTENT)


@api("math.sign", "sign", of=SIGN, sparse=True)
def sign(x, name=None) -> Tensor:
    """-1, 0 or 1 as `x` is negative, zero or positive; `x / |x|` for complex tensors.

    >>> tf.sign([-3.0, 0.0, 2.0]).numpy().tolist()
    [-1.0, 0.0, 1.0]
    """
    return SIGN(x, name=name)


def _grad_square(node, dy):
    x = conjugate(node.x)
    twice = MUL.lane((x, number_like(x, 2)), {}, None)
    return (MUL.lane((dy, twice), {}, None),)


SQUARE = unary("Square", np.square, lambda x: jnp.square(x), _grad_square, T=dtypes.NUMBER)


@api("math.square", "square", of=SQUARE, sparse=True)
def square(x, name=None) -> Tensor:
    """`x * x`, element-wise."""
    return SQUARE(x, name=name)


def _grad_sqrt(node, dy):
    return (SQRT_GRAD(node.y, dy),)


SQRT = unary("Sqrt", np.sqrt, lambda x: jnp.sqrt(x), _grad_sqrt, ("y",))


def _if_any_flows(xp, dy, gradient):
    """TF: where no gradient comes in none goes out, however steep it is: `tf.where(x > 0, tf.sqrt(x), 0.0)`."""
    return xp.where(dy == 0, dy.dtype.type(0), gradient)


def _sqrt_grad(xp, y, dy):
    y = xp.conj(y) if y.dtype.kind == "c" else y
    return _if_any_flows(xp, dy, dy * y.dtype.type(0.5) / y)


def _grad_sqrt_grad(node, ddz):
    y, dy = node.y, node.dy
    scaled = ddz / y
    return (
        -conjugate(scaled) * SQRT_GRAD(y, dy) if node.wants(0) else None,
        0.5 * scaled,
    )


SQRT_GRAD = gradient_op(
    "SqrtGrad", lambda y, dy: _sqrt_grad(np, y, dy), lambda y, dy: _sqrt_grad(jnp, y, dy), _grad_sqrt_grad
)


@api("math.sqrt", "sqrt", of=SQRT, sparse=True)
def sqrt(x, name=None) -> Tensor:
    """The square root, element-wise; NaN for negative numbers.

    >>> tf.sqrt([4.0, 9.0]).numpy().tolist()
    [2.0, 3.0]

    Raises:
        InvalidArgumentError: when `x` is not floating or complex.
    """
    return SQRT(x, name=name)


def _rsqrt(x, out=None):
    root = np.sqrt(x, out=out)
    return np.divide(x.dtype.type(1), root, out=out)


def _grad_rsqrt(node, dy):
    return (RSQRT_GRAD(node.y, dy),)


RSQRT = unary("Rsqrt", through_float32(_rsqrt, takes_out=True), lambda x: lax.rsqrt(x), _grad_rsqrt, ("y",))


def _rsqrt_grad(xp, y, dy):
    y = xp.conj(y) if y.dtype.kind == "c" else y
    return _if_any_flows(xp, dy, y.dtype.type(-0.5) * dy * (y * y * y))


def _grad_rsqrt_grad(node, ddz):
    a = conjugate(node.y)
    scaled = conjugate(ddz) * node.dy
    return (
        -1.5 * scaled * (a * a) if node.wants(0) else None,
        RSQRT_GRAD(a, ddz) if node.wants(1) else None,
    )


RSQRT_GRAD = gradient_op(
    "RsqrtGrad", lambda y, dy: _rsqrt_grad(np, y, dy), lambda y, dy: _rsqrt_grad(jnp, y, dy), _grad_rsqrt_grad
)


@api("math.rsqrt", of=RSQRT)
def rsqrt(x, name=None) -> Tensor:
    """`1 / sqrt(x)`, element-wise."""
    return RSQRT(x, name=name)


def _reciprocal(x):
    if x.dtype.kind in "iu":
        # TF: the quotient toward zero, and 0 for 1 / 0.
        return np.where(np.abs(x) == 1, x, 0).astype(x.dtype)
    return np.divide(x.dtype.type(1), x)


def _lower_reciprocal(x):
    if x.dtype.kind in "iu":
        return jnp.where(jnp.abs(x) == 1, x, 0).astype(x.dtype)
    return 1 / x


def _reciprocal_pair(name, gradient_name):
    def grad(node, dy):
        return (gradient(node.y, dy),)

    def formula(xp, y, dy):
        y = xp.conj(y) if y.dtype.kind == "c" else y
        return _if_any_flows(xp, dy, -dy * (y * y))

    def grad_of_gradient(node, ddz):
        a = conjugate(node.y)
        return (
            -2 * conjugate(ddz) * (node.dy * a) if node.wants(0) else None,
            gradient(a, ddz) if node.wants(1) else None,
        )

    forward = unary(name, _reciprocal, _lower_reciprocal, grad, ("y",), T=FLOATS | dtypes.SIGNED)
    gradient = gradient_op(
        gradient_name, lambda y, dy: formula(np, y, dy), lambda y, dy: formula(jnp, y, dy), grad_of_gradient
    )
    return forward, gradient


RECIPROCAL, RECIPROCAL_GRAD = _reciprocal_pair("Reciprocal", "ReciprocalGrad")
INV, INV_GRAD = _reciprocal_pair("Inv", "InvGrad")


@api("math.reciprocal", of=RECIPROCAL)
def reciprocal(x, name=None) -> Tensor:
    """`1 / x`, element-wise."""
    return RECIPROCAL(x, name=name)


def _grad_exp(node, dy):
    return (dy * conjugate(node.y),)


EXP = unary("Exp", through_float32(np.exp), lambda x: jnp.exp(x), _grad_exp, ("y",))


@api("math.exp", "exp", of=EXP)
def exp(x, name=None) -> Tensor:
    """`e ** x`, element-wise.

    >>> f"{float(tf.exp(1.0)):.4f}"
    '2.7183'
    """
    return EXP(x, name=name)


def _grad_expm1(node, dy):
    return (dy * EXP(conjugate(node.x)),)


EXPM1 = unary("Expm1", through_float32(exponential_kernels.expm1), lambda x: jnp.expm1(x), _grad_expm1)


@api("math.expm1", of=EXPM1)
def expm1(x, name=None) -> Tensor:
    """`e ** x - 1`, exact for small `x`."""
    return EXPM1(x, name=name)


def _grad_log(node, dy):
    return (dy * RECIPROCAL(conjugate(node.x)),)


LOG = unary("Log", through_float32(np.log), lambda x: jnp.log(x), _grad_log)


@api("math.log", of=LOG)
def log(x, name=None) -> Tensor:
    """The natural logarithm; NaN for negative numbers, -inf for 0."""
    return LOG(x, name=name)


def _grad_log1p(node, dy):
    x = conjugate(node.x)
    return (dy * RECIPROCAL(x + 1),)


LOG1P = unary("Log1p", through_float32(exponential_kernels.log1p), lambda x: jnp.log1p(x), _grad_log1p)


@api("math.log1p", of=LOG1P)
def log1p(x, name=None) -> Tensor:
    """`log(1 + x)`, exact for small `x`."""
    return LOG1P(x, name=name)


def _sigmoid(x, out=None):
    # Exact at both ends: where exp(-x) is infinite the quotient is 0, where it is 0 the quotient is 1.
    if not x.ndim:
        return 1 / (1 + np.exp(-x))
    y = np.negative(x, out=out)
    np.exp(y, y)
    one = x.dtype.type(1)
    np.add(y, one, y)
    return np.divide(one, y, y)


def _grad_sigmoid(node, dy):
    return (SIGMOID_GRAD(conjugate(node.y), dy),)


SIGMOID = unary(
    "Sigmoid", through_float32(_sigmoid, takes_out=True), lambda x: 1 / (1 + jnp.exp(-x)), _grad_sigmoid, ("y",)
)


def _lower_sigmoid_grad(y, dy):
    return dy * y * (y.dtype.type(1) - y)


def _grad_sigmoid_grad(node, ddz):
    a = conjugate(node.y)
    scaled = ddz * conjugate(node.dy)
    return (
        scaled * (1 - 2 * a) if node.wants(0) else None,
        SIGMOID_GRAD(a, ddz) if node.wants(1) else None,
    )


SIGMOID_GRAD = gradient_op("SigmoidGrad", exponential_kernels.sigmoid_grad, _lower_sigmoid_grad, _grad_sigmoid_grad)


@api("math.sigmoid", "sigmoid", "nn.sigmoid", of=SIGMOID)
def sigmoid(x, name=None) -> Tensor:
    """`1 / (1 + exp(-x))`, element-wise.

    >>> tf.sigmoid([-1000.0, 0.0, 1000.0]).numpy().tolist()
    [0.0, 0.5, 1.0]
    """
    return SIGMOID(x, name=name)


def _grad_tanh(node, dy):
    return (TANH_GRAD(conjugate(node.y), dy),)


TANH = unary("Tanh", through_float32(np.tanh), lambda x: jnp.tanh(x), _grad_tanh, ("y",))


def _lower_tanh_grad(y, dy):
    return dy * (y.dtype.type(1) - y * y)


def _grad_tanh_grad(node, ddz):
    a = conjugate(node.y)
    return (
        number_like(ddz, -2) * ddz * (conjugate(node.dy) * a) if node.wants(0) else None,
        TANH_GRAD(a, ddz) if node.wants(1) else None,
    )


TANH_GRAD = gradient_op("TanhGrad", exponential_kernels.tanh_grad, _lower_tanh_grad, _grad_tanh_grad)


@api("math.tanh", "tanh", "nn.tanh", of=TANH, sparse=True)
def tanh(x, name=None) -> Tensor:
    """The hyperbolic tangent, element-wise."""
    return TANH(x, name=name)


def _no_gradient(node, dy):
    return (None,)


CEIL = unary("Ceil", np.ceil, lambda x: jnp.ceil(x), _no_gradient, (), T=dtypes.FLOATING, traits=IDEMPOTENT)
FLOOR = unary("Floor", np.floor, lambda x: jnp.floor(x), _no_gradient, (), T=dtypes.FLOATING, traits=IDEMPOTENT)
RINT = unary("Rint", np.rint, lambda x: jnp.rint(x), _no_gradient, (), T=dtypes.FLOATING, traits=IDEMPOTENT)


def _round(x):
    return x if x.dtype.kind in "iu" else np.rint(x)


ROUND = unary(
    "Round",
    _round,
    lambda x: x if x.dtype.kind in "iu" else jnp.rint(x),
    _no_gradient,
    (),
    T=FLOATS | dtypes.SIGNED,
    traits=IDEMPOTENT,
)


@api("math.ceil", of=CEIL)
def ceil(x, name=None) -> Tensor:
    """The smallest integer that is not less, as a float.

    >>> tf.math.ceil([1.2, -1.2]).numpy().tolist()
    [2.0, -1.0]
    """
    return CEIL(x, name=name)


@api("math.floor", "floor", of=FLOOR)
def floor(x, name=None) -> Tensor:
    """The largest integer that is not greater, as a float."""
    return FLOOR(x, name=name)


@api("math.rint", of=RINT)
def rint(x, name=None) -> Tensor:
    """The nearest integer, as a float; halves go to the even one."""
    return RINT(x, name=name)


@api("math.round", "round", elementwise=1)
def round(x, name=None) -> Tensor:
    """The nearest integer in the same dtype; halves go to the even one.

    >>> tf.round([0.5, 1.5, 2.4]).numpy().tolist()
    [0.0, 2.0, 2.0]
    """
    x = to_tensor(x)
    if x.dtype._kind in "iu":
        return x
    return ROUND(x, name=name)


def _test(name, ufunc, lower):
    return Op(
        name,
        "x: T -> y: bool",
        traits=ELEMENTWISE | NEVER_FAILS,
        T=dtypes.FLOATING,
        infer=same_as_input,
        kernel=ufunc,
        lower=lambda ctx, x: lower(x),
        grad=None,
    )


IS_NAN = _test("IsNan", np.isnan, lambda x: jnp.isnan(x))
IS_INF = _test("IsInf", np.isinf, lambda x: jnp.isinf(x))
IS_FINITE = _test("IsFinite", np.isfinite, lambda x: jnp.isfinite(x))


@api("math.is_nan", of=IS_NAN)
def is_nan(x, name=None) -> Tensor:
    """Whether each element is not a number."""
    return IS_NAN(x, name=name)


@api("math.is_inf", of=IS_INF)
def is_inf(x, name=None) -> Tensor:
    """Whether each element is infinite."""
    return IS_INF(x, name=name)


@api("math.is_finite", of=IS_FINITE)
def is_finite(x, name=None) -> Tensor:
    """Whether each element is neither infinite nor NaN.

    >>> tf.math.is_finite([1.0, np.inf, np.nan]).numpy().tolist()
    [True, False, False]
    """
    return IS_FINITE(x, name=name)
