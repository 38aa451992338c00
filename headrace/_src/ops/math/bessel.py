"""Bessel functions of order 0 and 1, element by element."""

import numpy as np

from headrace._src.core.lazy import jax_special, lax, scipy_special
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.arrays.filling import ONES_LIKE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.complex_numbers import zero_like
from headrace._src.ops.math.elementwise import RECIPROCAL, SIGN
from headrace._src.ops.math.special import special


def _over_x(y, x, at_zero):
    """`y / x`, and the limit where `x` is zero, without NaN in its gradient."""
    zero = EQUAL(x, zero_like(x))
    safe = SELECT_V2(zero, ONES_LIKE(x), x)
    return SELECT_V2(zero, at_zero * ONES_LIKE(x), y / safe)


def _grad_i0(node, dy):
    return (dy * I1(node.x),)


def _grad_i1(node, dy):
    x = node.x
    return (dy * (I0(x) - _over_x(node.y, x, 0.5)),)


def _grad_i0e(node, dy):
    x = node.x
    return (dy * (I1E(x) - SIGN(x) * node.y),)


def _grad_i1e(node, dy):
    x = node.x
    partial = I0E(x) - SIGN(x) * node.y - _over_x(node.y, x, 0.5)
    return (dy * partial,)


def _grad_j0(node, dy):
    return (-(dy * J1(node.x)),)


def _grad_j1(node, dy):
    x = node.x
    return (dy * (J0(x) - _over_x(node.y, x, 0.5)),)


def _grad_k0(node, dy):
    return (-(dy * K1(node.x)),)


def _grad_k0e(node, dy):
    return (dy * (node.y - K1E(node.x)),)


def _grad_k1(node, dy):
    x = node.x
    return (dy * (-K0(x) - node.y / x),)


def _grad_k1e(node, dy):
    x = node.x
    partial = node.y * (1 - RECIPROCAL(x)) - K0E(x)
    return (dy * partial,)


def _grad_y0(node, dy):
    return (-(dy * Y1(node.x)),)


def _grad_y1(node, dy):
    x = node.x
    return (dy * (Y0(x) - node.y / x),)


def _positive(function, outside):
    """TF: outside of their domain these functions have the limit at 0, not NaN."""

    def kernel(x):
        y = function(x)
        return np.where(x <= 0, x.dtype.type(outside), y)

    return kernel


# XLA knows neither the functions J, Y nor K (TensorFlow cannot compile them either): they stay on the host.
I0 = special("BesselI0", lambda x: scipy_special.i0(x), lambda x: jax_special.i0(x), _grad_i0)
I1 = special("BesselI1", lambda x: scipy_special.i1(x), lambda x: jax_special.i1(x), _grad_i1, ("x", "y"))
I0E = special("BesselI0e", lambda x: scipy_special.i0e(x), lambda x: lax.bessel_i0e(x), _grad_i0e, ("x", "y"))
I1E = special("BesselI1e", lambda x: scipy_special.i1e(x), lambda x: lax.bessel_i1e(x), _grad_i1e, ("x", "y"))
J0 = special("BesselJ0", lambda x: scipy_special.j0(x), None, _grad_j0)
J1 = special("BesselJ1", lambda x: scipy_special.j1(x), None, _grad_j1, ("x", "y"))
K0 = special("BesselK0", _positive(lambda x: scipy_special.k0(x), np.inf), None, _grad_k0)
K1 = special("BesselK1", _positive(lambda x: scipy_special.k1(x), np.inf), None, _grad_k1, ("x", "y"))
K0E = special("BesselK0e", _positive(lambda x: scipy_special.k0e(x), np.inf), None, _grad_k0e, ("x", "y"))
K1E = special("BesselK1e", _positive(lambda x: scipy_special.k1e(x), np.inf), None, _grad_k1e, ("x", "y"))
Y0 = special("BesselY0", _positive(lambda x: scipy_special.y0(x), -np.inf), None, _grad_y0)
Y1 = special("BesselY1", _positive(lambda x: scipy_special.y1(x), -np.inf), None, _grad_y1, ("x", "y"))


@api("math.bessel_i0", "math.special.bessel_i0", of=I0)
def bessel_i0(x, name=None) -> Tensor:
    """The modified Bessel function of the first kind, order 0.

    >>> f"{float(tf.math.bessel_i0(1.0)):.4f}"
    '1.2661'
    """
    return I0(x, name=name)


@api("math.bessel_i1", "math.special.bessel_i1", of=I1)
def bessel_i1(x, name=None) -> Tensor:
    """The modified Bessel function of the first kind, order 1."""
    return I1(x, name=name)


@api("math.bessel_i0e", "math.special.bessel_i0e", of=I0E, sparse=True)
def bessel_i0e(x, name=None) -> Tensor:
    """`exp(-|x|) * bessel_i0(x)`, which does not overflow."""
    return I0E(x, name=name)


@api("math.bessel_i1e", "math.special.bessel_i1e", of=I1E, sparse=True)
def bessel_i1e(x, name=None) -> Tensor:
    """`exp(-|x|) * bessel_i1(x)`, which does not overflow."""
    return I1E(x, name=name)


@api("math.special.bessel_j0", of=J0)
def bessel_j0(x, name=None) -> Tensor:
    """The Bessel function of the first kind, order 0."""
    return J0(x, name=name)


@api("math.special.bessel_j1", of=J1)
def bessel_j1(x, name=None) -> Tensor:
    """The Bessel function of the first kind, order 1."""
    return J1(x, name=name)


@api("math.special.bessel_k0", of=K0)
def bessel_k0(x, name=None) -> Tensor:
    """The modified Bessel function of the second kind, order 0; infinite for `x <= 0`."""
    return K0(x, name=name)


@api("math.special.bessel_k1", of=K1)
def bessel_k1(x, name=None) -> Tensor:
    """The modified Bessel function of the second kind, order 1; infinite for `x <= 0`."""
    return K1(x, name=name)


@api("math.special.bessel_k0e", of=K0E)
def bessel_k0e(x, name=None) -> Tensor:
    """`exp(x) * bessel_k0(x)`, which does not vanish."""
    return K0E(x, name=name)


@api("math.special.bessel_k1e", of=K1E)
def bessel_k1e(x, name=None) -> Tensor:
    """`exp(x) * bessel_k1(x)`, which does not vanish."""
    return K1E(x, name=name)


@api("math.special.bessel_y0", of=Y0)
def bessel_y0(x, name=None) -> Tensor:
    """The Bessel function of the second kind, order 0; minus infinity for `x <= 0`."""
    return Y0(x, name=name)


@api("math.special.bessel_y1", of=Y1)
def bessel_y1(x, name=None) -> Tensor:
    """The Bessel function of the second kind, order 1; minus infinity for `x <= 0`."""
    return Y1(x, name=name)
