"""Trigonometric and hyperbolic functions and their inverses, element by element."""

import numpy as np

from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.math.complex_numbers import conjugate
from headrace._src.ops.math.elementwise import RECIPROCAL, SQRT, SQUARE, through_float32, unary


def _grad_sin(node, dy):
    return (dy * COS(conjugate(node.x)),)


def _grad_cos(node, dy):
    return (-(dy * SIN(conjugate(node.x))),)


def _grad_tan(node, dy):
    secant = RECIPROCAL(COS(conjugate(node.x)))
    return (SQUARE(secant) * dy,)


def _grad_asin(node, dy):
    x = conjugate(node.x)
    return (dy * RECIPROCAL(SQRT(1 - SQUARE(x))),)


def _grad_acos(node, dy):
    x = conjugate(node.x)
    return (-(dy * RECIPROCAL(SQRT(1 - SQUARE(x)))),)


def _grad_atan(node, dy):
    x = conjugate(node.x)
    return (dy * RECIPROCAL(1 + SQUARE(x)),)


def _grad_sinh(node, dy):
    return (dy * COSH(conjugate(node.x)),)


def _grad_cosh(node, dy):
    return (dy * SINH(conjugate(node.x)),)


def _grad_asinh(node, dy):
    return (dy / COSH(conjugate(node.y)),)


def _grad_acosh(node, dy):
    return (dy / SINH(conjugate(node.y)),)


def _grad_atanh(node, dy):
    x = conjugate(node.x)
    return (dy * RECIPROCAL(1 - SQUARE(x)),)


SIN = unary("Sin", through_float32(np.sin), lambda x: jnp.sin(x), _grad_sin)
COS = unary("Cos", through_float32(np.cos), lambda x: jnp.cos(x), _grad_cos)
TAN = unary("Tan", through_float32(np.tan), lambda x: jnp.tan(x), _grad_tan)
ASIN = unary("Asin", through_float32(np.arcsin), lambda x: jnp.arcsin(x), _grad_asin)
ACOS = unary("Acos", through_float32(np.arccos), lambda x: jnp.arccos(x), _grad_acos)
ATAN = unary("Atan", through_float32(np.arctan), lambda x: jnp.arctan(x), _grad_atan)
SINH = unary("Sinh", through_float32(np.sinh), lambda x: jnp.sinh(x), _grad_sinh)
COSH = unary("Cosh", through_float32(np.cosh), lambda x: jnp.cosh(x), _grad_cosh)
ASINH = unary("Asinh", through_float32(np.arcsinh), lambda x: jnp.arcsinh(x), _grad_asinh, ("y",))
ACOSH = unary("Acosh", through_float32(np.arccosh), lambda x: jnp.arccosh(x), _grad_acosh, ("y",))
ATANH = unary("Atanh", through_float32(np.arctanh), lambda x: jnp.arctanh(x), _grad_atanh)


@api("math.sin", "sin", of=SIN, sparse=True)
def sin(x, name=None) -> Tensor:
    """The sine of `x` in radians.

    >>> f"{float(tf.sin(1.0)):.4f}"
    '0.8415'
    """
    return SIN(x, name=name)


@api("math.cos", "cos", of=COS)
def cos(x, name=None) -> Tensor:
    """The cosine of `x` in radians."""
    return COS(x, name=name)


@api("math.tan", "tan", of=TAN, sparse=True)
def tan(x, name=None) -> Tensor:
    """The tangent of `x` in radians."""
    return TAN(x, name=name)


@api("math.asin", "asin", of=ASIN, sparse=True)
def asin(x, name=None) -> Tensor:
    """The angle in [-pi/2, pi/2] whose sine is `x`; NaN outside [-1, 1]."""
    return ASIN(x, name=name)


@api("math.acos", "acos", of=ACOS)
def acos(x, name=None) -> Tensor:
    """The angle in [0, pi] whose cosine is `x`; NaN outside [-1, 1]."""
    return ACOS(x, name=name)


@api("math.atan", "atan", of=ATAN, sparse=True)
def atan(x, name=None) -> Tensor:
    """The angle in (-pi/2, pi/2) whose tangent is `x`."""
    return ATAN(x, name=name)


@api("math.sinh", "sinh", of=SINH)
def sinh(x, name=None) -> Tensor:
    """The hyperbolic sine."""
    return SINH(x, name=name)


@api("math.cosh", "cosh", of=COSH)
def cosh(x, name=None) -> Tensor:
    """The hyperbolic cosine."""
    return COSH(x, name=name)


@api("math.asinh", "asinh", of=ASINH, sparse=True)
def asinh(x, name=None) -> Tensor:
    """The inverse hyperbolic sine."""
    return ASINH(x, name=name)


@api("math.acosh", "acosh", of=ACOSH)
def acosh(x, name=None) -> Tensor:
    """The inverse hyperbolic cosine; NaN below 1."""
    return ACOSH(x, name=name)


@api("math.atanh", "atanh", of=ATANH, sparse=True)
def atanh(x, name=None) -> Tensor:
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""
    return ATANH(x, name=name)
