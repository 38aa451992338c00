"""Special functions: error functions, the gamma and beta family, integrals."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jax_special, jnp, lax, scipy_special
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import SCALAR, broadcast
from headrace._src.op.traits import ELEMENTWISE
from headrace._src.ops.arrays.broadcasting import SUM, shape_of, sum_to
from headrace._src.ops.arrays.filling import ONES_LIKE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.math import exponential_kernels
from headrace._src.ops.math.arithmetic import MUL, SUB, number_like
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.elementwise import EXP, LOG, LOG1P, SQUARE, through_float32, unary
from headrace._src.ops.math.powers import XLOGY
from headrace._src.ops.math.trigonometry import COS, SIN
from headrace._src.ops.random.gamma_derivative import gamma_sample_derivative

FLOATING = dtypes.FLOATING
_WIDE = frozenset({dtypes.float32, dtypes.float64})


def _times(dy, factor, number):
    return MUL(MUL(number_like(dy, number), dy), factor)


def special(name, kernel, lower, grad, saves=("x",)):
    """An op of one floating tensor; half precision goes through float32."""

    def lowering(x):
        if x.dtype.itemsize == 2:
            return lower(x.astype(jnp.float32)).astype(x.dtype)
        return lower(x)

    return unary(name, through_float32(kernel), lower and lowering, grad, saves, FLOATING)


def _grad_erf(node, dy):
    return (_times(dy, EXP(-SQUARE(node.x)), 2 / math.sqrt(math.pi)),)


def _grad_erfc(node, dy):
    return (_times(dy, EXP(-SQUARE(node.x)), -2 / math.sqrt(math.pi)),)


def _grad_erfinv(node, dy):
    return (_times(dy, EXP(SQUARE(node.y)), math.sqrt(math.pi) / 2),)


def _grad_ndtri(node, dy):
    half = SQUARE(node.y) * 0.5
    return (_times(dy, EXP(half), math.sqrt(2 * math.pi)),)


ERF = special("Erf", exponential_kernels.erf, lambda x: lax.erf(x), _grad_erf)
ERFC = special("Erfc", lambda x: scipy_special.erfc(x), lambda x: lax.erfc(x), _grad_erfc)
ERFINV = special(
    "Erfinv", lambda x: scipy_special.erfinv(x), lambda x: lax.erf_inv(x), _grad_erfinv, ("y",)
)
NDTRI = special(
    "Ndtri", lambda x: scipy_special.ndtri(x), lambda x: jax_special.ndtri(x), _grad_ndtri, ("y",)
)


@api("math.erf", of=ERF, sparse=True)
def erf(x, name=None) -> Tensor:
    """The error function, `2 / sqrt(pi)` times the integral of `exp(-t^2)` from 0 to `x`.

    >>> f"{float(tf.math.erf(1.0)):.4f}"
    '0.8427'
    """
    return ERF(x, name=name)


@api("math.erfc", of=ERFC)
def erfc(x, name=None) -> Tensor:
    """`1 - erf(x)`, exact for large `x`."""
    return ERFC(x, name=name)


@api("math.erfinv", of=ERFINV)
def erfinv(x, name=None) -> Tensor:
    """The inverse of `erf`; infinite at -1 and 1, NaN beyond."""
    return ERFINV(x, name=name)


@api("math.ndtri", of=NDTRI)
def ndtri(x, name=None) -> Tensor:
    """The quantile function of the standard normal distribution."""
    return NDTRI(x, name=name)


@api("math.erfcinv", elementwise=1)
def erfcinv(x, name=None) -> Tensor:
    """The inverse of `erfc`."""
    x = to_tensor(x)
    return MUL(-NDTRI(0.5 * x), number_like(x, math.sqrt(0.5)), name=name)


def _grad_lgamma(node, dy):
    return (dy * DIGAMMA(node.x),)


def _grad_digamma(node, dy):
    x = node.x
    return (dy * POLYGAMMA(number_like(x, 1), x),)


def _psi(x):
    """SciPy takes a microsecond for each number below zero. In float64, these are exact enough by reflection."""
    below = x < 0
    if x.dtype != np.float32 or not below.any():
        return scipy_special.psi(x)
    y = np.asarray(scipy_special.psi(np.where(below, x.dtype.type(1), x)))
    low = x[below].astype(np.float64)
    y[below] = scipy_special.psi(1 - low) - np.pi / np.tan(np.pi * (low - np.rint(low)))
    return y


def _digamma(x):
    # TF: NaN at the poles.
    y = _psi(x)
    pole = (x <= 0) & (x == np.floor(x))
    return np.where(pole, x.dtype.type(np.nan), y) if pole.any() else y


def _lgamma(x):
    # SciPy has -inf at minus infinity.
    return np.where(x == -np.inf, x.dtype.type(np.inf), scipy_special.gammaln(x))


LGAMMA = special("Lgamma", _lgamma, lambda x: lax.lgamma(x), _grad_lgamma)
DIGAMMA = special("Digamma", _digamma, lambda x: lax.digamma(x), _grad_digamma)


@api("math.lgamma", of=LGAMMA)
def lgamma(x, name=None) -> Tensor:
    """The logarithm of the absolute value of the gamma function.

    >>> f"{float(tf.math.lgamma(5.0)):.4f}"
    '3.1781'
    """
    return LGAMMA(x, name=name)


@api("math.digamma", of=DIGAMMA)
def digamma(x, name=None) -> Tensor:
    """The derivative of `lgamma`; NaN at 0 and the negative integers."""
    return DIGAMMA(x, name=name)


@api("math.lbeta")
def lbeta(x, name=None) -> Tensor:
    """The logarithm of the absolute value of the beta function of the elements along the last axis.

    >>> f"{float(tf.math.lbeta([1.0, 2.0])):.4f}"
    '-0.6931'
    """
    x = to_tensor(x)
    return SUB(SUM(LGAMMA(x), [-1]), LGAMMA(SUM(x, [-1])), name=name)


# XLA adds up series for `Igamma` and `Betainc`. Where both of two arguments are larger than this, their results are no
# longer right, and the first takes as many steps as the root of the argument, which may be minutes.
_LARGE = 1e6


def _without_large(ctx, a, b):
    """Two arguments, 1 in place of what only the interpreter computes; the program then fails."""
    is_large = (a > _LARGE) & (b > _LARGE)
    ctx.check(jnp.logical_not(is_large), None, None)
    return jnp.where(is_large, 1, a), jnp.where(is_large, 1, b)


def _pair(name, text, kernel, lower, grad, types=_WIDE, is_series=False):
    """An op of two floating tensors that broadcast; `is_series`: one whose large arguments are left to the kernel."""

    def wide_kernel(x, y):
        if x.dtype.itemsize == 2:
            return kernel(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
        return kernel(x, y)

    def wide_lower(ctx, x, y):
        if x.dtype.itemsize == 2:
            return wide_lower(ctx, x.astype(jnp.float32), y.astype(jnp.float32)).astype(x.dtype)
        x, y = jnp.broadcast_arrays(x, y)
        return lower(*(_without_large(ctx, x, y) if is_series else (x, y)))

    saves = tuple(part.split(":")[0].strip() for part in text.split("->")[0].split(",")) if grad else ()
    return Op(
        name,
        text,
        traits=ELEMENTWISE,
        T=types,
        infer=broadcast,
        kernel=wide_kernel,
        lower=wide_lower,
        saves=saves,
        grad=grad,
    )


def _zeta(x, q):
    y = scipy_special.zeta(x, q)
    # TF: at the poles infinite for even x, where both sides agree, and NaN for others.
    pole = (q <= 0) & (q == np.floor(q)) & (x > 1) & (np.fmod(x, 2) != 0)
    return np.where(pole, y.dtype.type(np.nan), y) if pole.any() else y


def _grad_zeta(node, dy):
    x, q = node.x, node.q
    partial = -x * ZETA(x + 1, q)
    return None, sum_to(dy * partial, shape_of(q), shape_of(x)) if node.wants(1) else None


ZETA = _pair("Zeta", "x: T, q: T -> z: T", _zeta, lambda x, q: lax.zeta(x, q), _grad_zeta)


@api("math.zeta", of=ZETA)
def zeta(x, q, name=None) -> Tensor:
    """Hurwitz's zeta function, the sum of `(q + n) ** -x` for n = 0, 1, 2 ..."""
    return ZETA(x, q, name=name)


def _polygamma(a, x):
    whole = a == np.floor(a)
    order = np.where(whole & (a >= 1), a, 1).astype(x.dtype)
    sign = np.where(np.fmod(order, 2) == 0, -1, 1).astype(x.dtype)
    y = sign * scipy_special.gamma(order + 1) * _zeta(order + 1, x)
    y = np.where(a == 0, _digamma(x), y)
    return np.where(whole & (a >= 0), y, np.nan).astype(x.dtype)


def _lower_polygamma(a, x):
    whole = a == jnp.floor(a)
    order = jnp.where(whole & (a >= 1), a, 1)
    y = lax.polygamma(order, x)
    y = jnp.where(a == 0, lax.digamma(x), y)
    return jnp.where(whole & (a >= 0), y, jnp.nan)


def _grad_polygamma(node, dy):
    a, x = node.a, node.x
    partial = POLYGAMMA(a + 1, x)
    return None, sum_to(dy * partial, shape_of(x), shape_of(a)) if node.wants(1) else None


POLYGAMMA = _pair("Polygamma", "a: T, x: T -> z: T", _polygamma, _lower_polygamma, _grad_polygamma)


@api("math.polygamma")
def polygamma(a, x, name=None) -> Tensor:
    """The derivative of order `a` of `digamma`; NaN when `a` is no natural number."""
    return POLYGAMMA(a, x, name=name)


def _igamma(a, x):
    y = np.where((x < 0) | (a <= 0), np.nan, scipy_special.gammainc(a, x))
    return np.where(x == 0, 0, y).astype(x.dtype)


def _igammac(a, x):
    return np.where((x < 0) | (a <= 0), np.nan, scipy_special.gammaincc(a, x)).astype(x.dtype)


def _lower_igamma(a, x):
    y = jnp.where((x < 0) | (a <= 0), jnp.nan, lax.igamma(a, x))
    return jnp.where(x == 0, 0, y).astype(x.dtype)


def _lower_igammac(a, x):
    return jnp.where((x < 0) | (a <= 0), jnp.nan, lax.igammac(a, x)).astype(x.dtype)


def _grad_igamma(node, dy):
    a, x = node.a, node.x
    a_shape, x_shape = shape_of(a), shape_of(x)
    da = dx = None
    if node.wants(0):
        da = sum_to(IGAMMA_GRAD_A(a, x) * dy, a_shape, x_shape)
    if node.wants(1):
        powers = (a - 1) * LOG(x)
        dx = sum_to(EXP(-x + powers - LGAMMA(a)) * dy, x_shape, a_shape)
    return da, dx


def _grad_igammac(node, dy):
    return tuple(None if part is None else -part for part in _grad_igamma(node, dy))


IGAMMA = _pair("Igamma", "a: T, x: T -> z: T", _igamma, _lower_igamma, _grad_igamma, FLOATING, True)
IGAMMAC = _pair("Igammac", "a: T, x: T -> z: T", _igammac, _lower_igammac, _grad_igammac, FLOATING, True)


def _igamma_grad_a(a, x):
    wide_a, wide_x = a.astype(np.float64), x.astype(np.float64)
    density = np.exp((wide_a - 1) * np.log(wide_x) - wide_x - scipy_special.gammaln(wide_a))
    y = -gamma_sample_derivative(wide_a, wide_x) * density
    y = np.where((wide_x < 0) | (wide_a <= 0), np.nan, y)
    return np.where((x == 0) & (a > 0), 0, y).astype(a.dtype)


def _lower_igamma_grad_a(a, x):
    return lax.igamma_grad_a(a, x)


IGAMMA_GRAD_A = _pair(
    "IgammaGradA", "a: T, x: T -> z: T", _igamma_grad_a, _lower_igamma_grad_a, unregistered, FLOATING, True
)


@api("math.igamma")
def igamma(a, x, name=None) -> Tensor:
    """The lower regularised incomplete gamma function; NaN unless `a > 0` and `x >= 0`."""
    return IGAMMA(a, x, name=name)


@api("math.igammac")
def igammac(a, x, name=None) -> Tensor:
    """The upper regularised incomplete gamma function, `1 - igamma(a, x)`."""
    return IGAMMAC(a, x, name=name)


def _common_shape(a, b, x):
    """TF: all of one shape, or scalars."""
    found, first = SCALAR, None
    for name, spec in (("a", a), ("b", b), ("x", x)):
        shape = spec.shape
        if shape.rank == 0:
            continue
        if first is None:
            found, first = shape, name
            continue
        try:
            found = found.merge_with(shape)
        except ValueError:
            raise errors.invalid_argument(
                f"Betainc: {first} and {name} must have one shape or be scalars, got {found} and {shape}."
            ) from None
    return found


def _betainc(a, b, x):
    shapes = {array.shape for array in (a, b, x) if array.ndim}
    if len(shapes) > 1:
        raise errors.invalid_argument(
            "Betainc: a, b and x must have the same shape or be scalars, got "
            f"{a.shape}, {b.shape} and {x.shape}."
        )
    y = scipy_special.betainc(a, b, x)
    return np.where((a <= 0) | (b <= 0), np.nan, y).astype(x.dtype)


def _lower_betainc(ctx, a, b, x):
    a, b, x = jnp.broadcast_arrays(a, b, x)
    a, b = _without_large(ctx, a, b)
    return jnp.where((a <= 0) | (b <= 0), jnp.nan, lax.betainc(a, b, x)).astype(x.dtype)


def _grad_betainc(node, dy):
    # TF: only the derivative by x is known.
    if not node.wants(2):
        return None, None, None
    a, b, x = node.a, node.b, node.x
    log_beta = LGAMMA(a) + LGAMMA(b) - LGAMMA(a + b)
    powers = (b - 1) * LOG1P(-x) + XLOGY(a - 1, x)
    partial = EXP(powers - log_beta)
    return None, None, sum_to(partial * dy, shape_of(x), shape_of(dy))


BETAINC = Op(
    "Betainc",
    "a: T, b: T, x: T -> z: T",
    traits=ELEMENTWISE,
    T=_WIDE,
    infer=_common_shape,
    kernel=_betainc,
    lower=_lower_betainc,
    saves=("a", "b", "x"),
    grad=_grad_betainc,
)


@api("math.betainc")
def betainc(a, b, x, name=None) -> Tensor:
    """The regularised incomplete beta function; all of one shape, or scalars.

    >>> tf.math.betainc(2.0, 3.0, 0.5).numpy()
    np.float32(0.6875)
    """
    return BETAINC(a, b, x, name=name)


def _grad_dawsn(node, dy):
    x = node.x
    return (dy * (1 - 2 * x * node.y),)


def _grad_expint(node, dy):
    return (dy * EXP(node.x) / node.x,)


def _quarter_turns(x):
    return SQUARE(x) * (math.pi / 2)


def _grad_fresnel_cos(node, dy):
    return (dy * COS(_quarter_turns(node.x)),)


def _grad_fresnel_sin(node, dy):
    return (dy * SIN(_quarter_turns(node.x)),)


def _grad_spence(node, dy):
    x = node.x
    at_one = EQUAL(x, 1)
    # The limit at 1 is -1, and the quotient there must not be computed: its gradient is NaN.
    safe = SELECT_V2(at_one, 2 * ONES_LIKE(x), x)
    partial = SELECT_V2(at_one, -ONES_LIKE(x), LOG(safe) / (1 - safe))
    return (dy * partial,)


def _expint(x):
    # TF: defined for positive numbers only.
    return np.where(x < 0, x.dtype.type(np.nan), scipy_special.expi(x))


def _lower_expint(x):
    y = jax_special.expi(jnp.where((x > 0) & (x < jnp.inf), x, 1))
    y = jnp.where(x == 0, -jnp.inf, jnp.where(x == jnp.inf, jnp.inf, y))
    return jnp.where((x < 0) | jnp.isnan(x), jnp.nan, y).astype(x.dtype)


DAWSN = special(
    "Dawsn", lambda x: scipy_special.dawsn(x), lambda x: jax_special.dawsn(x), _grad_dawsn, ("x", "y")
)
EXPINT = special("Expint", _expint, _lower_expint, _grad_expint)
FRESNEL_COS = special(
    "FresnelCos",
    lambda x: scipy_special.fresnel(x)[1],
    lambda x: jax_special.fresnel(x)[1],
    _grad_fresnel_cos,
)
FRESNEL_SIN = special(
    "FresnelSin",
    lambda x: scipy_special.fresnel(x)[0],
    lambda x: jax_special.fresnel(x)[0],
    _grad_fresnel_sin,
)
SPENCE = special("Spence", lambda x: scipy_special.spence(x), lambda x: jax_special.spence(x), _grad_spence)


@api("math.special.dawsn", of=DAWSN)
def dawsn(x, name=None) -> Tensor:
    """Dawson's integral, `exp(-x^2)` times the integral of `exp(t^2)` from 0 to `x`."""
    return DAWSN(x, name=name)


@api("math.special.expint", of=EXPINT)
def expint(x, name=None) -> Tensor:
    """The exponential integral, of `exp(t) / t` from minus infinity to `x`; NaN for negative `x`."""
    return EXPINT(x, name=name)


@api("math.special.fresnel_cos", of=FRESNEL_COS)
def fresnel_cos(x, name=None) -> Tensor:
    """Fresnel's integral of `cos(pi t^2 / 2)` from 0 to `x`."""
    return FRESNEL_COS(x, name=name)


@api("math.special.fresnel_sin", of=FRESNEL_SIN)
def fresnel_sin(x, name=None) -> Tensor:
    """Fresnel's integral of `sin(pi t^2 / 2)` from 0 to `x`."""
    return FRESNEL_SIN(x, name=name)


@api("math.special.spence", of=SPENCE)
def spence(x, name=None) -> Tensor:
    """Spence's integral, of `log(t) / (1 - t)` from 1 to `x`."""
    return SPENCE(x, name=name)
