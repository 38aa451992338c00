"""`tf.experimental.numpy`: functions of elements, of one and of two arrays."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api, export
from headrace._src.op.control_flow import while_loop
from headrace._src.ops.arrays import broadcasting, filling, joining, measuring, passing, selecting
from headrace._src.ops.math import (
    arithmetic,
    bitwise,
    comparison,
    complex_numbers,
    division,
    elementwise,
    powers,
    reductions,
    trigonometry,
)
from headrace._src.ops.numpy_api.types import as_array, as_float, cast, default_float, promote, promote_as_numpy


def _declare(name, function, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return export(f"experimental.numpy.{name}")(function)


def _unary(name, target, to_float=False):
    """A function of one array; with `to_float`, integers become floats first."""
    convert = as_float if to_float else as_array

    def function(x) -> Tensor:
        return target(convert(x))

    return _declare(name, function, f"NumPy's `{name}`, element by element.")


absolute = _unary("absolute", elementwise.abs)
abs_ = _unary("abs", elementwise.abs)
fabs = _unary("fabs", elementwise.abs)
ceil = _unary("ceil", elementwise.ceil, True)
floor = _unary("floor", elementwise.floor, True)
conj = _unary("conj", complex_numbers.conj)
conjugate = _unary("conjugate", complex_numbers.conj)
negative = _unary("negative", arithmetic.negative)
reciprocal = _unary("reciprocal", elementwise.reciprocal, True)
square = _unary("square", elementwise.square)
bitwise_not = _unary("bitwise_not", bitwise.invert)
sqrt = _unary("sqrt", elementwise.sqrt, True)
exp = _unary("exp", elementwise.exp, True)
expm1 = _unary("expm1", elementwise.expm1, True)
log = _unary("log", elementwise.log, True)
log1p = _unary("log1p", elementwise.log1p, True)
sin = _unary("sin", trigonometry.sin, True)
cos = _unary("cos", trigonometry.cos, True)
tan = _unary("tan", trigonometry.tan, True)
sinh = _unary("sinh", trigonometry.sinh, True)
cosh = _unary("cosh", trigonometry.cosh, True)
tanh = _unary("tanh", elementwise.tanh, True)
arcsin = _unary("arcsin", trigonometry.asin, True)
arccos = _unary("arccos", trigonometry.acos, True)
arctan = _unary("arctan", trigonometry.atan, True)
arcsinh = _unary("arcsinh", trigonometry.asinh, True)
arccosh = _unary("arccosh", trigonometry.acosh, True)
arctanh = _unary("arctanh", trigonometry.atanh, True)
isfinite = _unary("isfinite", elementwise.is_finite, True)
isinf = _unary("isinf", elementwise.is_inf, True)
isnan = _unary("isnan", elementwise.is_nan, True)


def _formula(name, formula, to_float=True):
    convert = as_float if to_float else as_array

    def function(x) -> Tensor:
        return formula(convert(x))

    return _declare(name, function, f"NumPy's `{name}`, element by element.")


def _constant(value, like):
    return cast(as_array(value), like.dtype)


cbrt = _formula(
    "cbrt", lambda x: elementwise.sign(x) * powers.pow(elementwise.abs(x), _constant(1.0 / 3.0, x))
)
deg2rad = _formula("deg2rad", lambda x: x * _constant(np.pi / 180.0, x))
rad2deg = _formula("rad2deg", lambda x: x * _constant(180.0 / np.pi, x))
exp2 = _formula("exp2", lambda x: powers.pow(_constant(2.0, x), x))
log2 = _formula("log2", lambda x: elementwise.log(x) / _constant(np.log(2.0), x))
log10 = _formula("log10", lambda x: elementwise.log(x) / _constant(np.log(10.0), x))
fix = _formula("fix", lambda x: selecting.where(x < 0, elementwise.ceil(x), elementwise.floor(x)))
isneginf = _formula("isneginf", lambda x: x == _constant(-np.inf, x))
isposinf = _formula("isposinf", lambda x: x == _constant(np.inf, x))
positive = _formula("positive", lambda x: passing.identity(x), to_float=False)


def _sinc(x):
    scaled = x * _constant(np.pi, x)
    safe = selecting.where(x == _constant(0, x), filling.ones_like(x), scaled)
    return selecting.where(x == _constant(0, x), filling.ones_like(x), trigonometry.sin(safe) / safe)


sinc = _formula("sinc", _sinc)


def _signbit(x):
    if x.dtype is dtypes.bool:
        return filling.zeros_like(x)
    return x < _constant(0, x)


signbit = _formula("signbit", _signbit, to_float=False)


def _logical_not(x):
    return comparison.logical_not(cast(x, dtypes.bool))


logical_not = _formula("logical_not", _logical_not, to_float=False)
iscomplex = _formula("iscomplex", lambda x: _imaginary(x) != _constant(0, _imaginary(x)), to_float=False)
isreal = _formula("isreal", lambda x: _imaginary(x) == _constant(0, _imaginary(x)), to_float=False)


def _imaginary(x):
    return complex_numbers.imag(x) if x.dtype.is_complex else filling.zeros_like(x)


@api("experimental.numpy.real", dispatch=False)
def real(val) -> Tensor:
    """The real part."""
    return complex_numbers.real(as_array(val))


@api("experimental.numpy.imag", dispatch=False)
def imag(val) -> Tensor:
    """The imaginary part; zeros for real arrays."""
    return _imaginary(as_array(val))


@api("experimental.numpy.angle", dispatch=False)
def angle(z, deg=False) -> Tensor:
    """The angle of complex numbers, in radians or degrees."""
    found = complex_numbers.angle(as_float(z))
    return found * _constant(180.0 / np.pi, found) if deg else found


@api("experimental.numpy.sign", dispatch=False)
def sign(x, out=None, where=None, **kwargs) -> Tensor:
    """-1, 0 or 1; `out`, `where` and other options of NumPy are refused."""
    if out is not None or where is not None or kwargs:
        raise ValueError("experimental.numpy.sign: only x is supported.")
    x = as_array(x)
    if x.dtype.is_complex:
        return cast(elementwise.sign(complex_numbers.real(x)), x.dtype)
    return elementwise.sign(x)


@api("experimental.numpy.iscomplexobj", dispatch=False)
def iscomplexobj(x) -> bool:
    """Whether the dtype is complex."""
    return as_array(x).dtype.is_complex


@api("experimental.numpy.isrealobj", dispatch=False)
def isrealobj(x) -> bool:
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def _rounded(a, decimals):
    x = as_array(a)
    kind = x.dtype
    if kind.is_integer:
        if decimals >= 0:
            return x
        x = cast(x, default_float())
    factor = _constant(10.0**decimals, x)
    return cast(elementwise.round(x * factor) / factor, kind)


@api("experimental.numpy.around", dispatch=False)
def around(a, decimals=0) -> Tensor:
    """Rounded to that many decimals, halves to even."""
    return _rounded(a, decimals)


@api("experimental.numpy.round", dispatch=False)
def round_(a, decimals=0) -> Tensor:
    """Rounded to that many decimals, halves to even."""
    return _rounded(a, decimals)


# Two operands.


def _quotient_dtype(dtype):
    """TF: integers of 8 and 16 bits are divided as float32, as by `tf.truediv`."""
    if dtype is dtypes.bool:
        return default_float()
    return dtypes.float32 if dtype.size < 4 else dtypes.float64


def _binary(name, target, to_float=False):
    def function(x1, x2) -> Tensor:
        # TF: functions of `tf.experimental.numpy` itself promote as NumPy does, in any mode.
        x1, x2 = promote_as_numpy(x1, x2)
        if to_float and x1.dtype._kind not in "fc":
            kind = _quotient_dtype(x1.dtype)
            x1, x2 = cast(x1, kind), cast(x2, kind)
        return target(x1, x2)

    return _declare(name, function, f"NumPy's `{name}`, element by element, with NumPy's promotion.")


def _for_bools(bools, others):
    """A function that has another meaning for booleans, as in NumPy."""

    def function(x1, x2):
        return (bools if x1.dtype is dtypes.bool else others)(x1, x2)

    return function


add = _binary("add", _for_bools(comparison.logical_or, arithmetic.add))
subtract = _binary("subtract", arithmetic.subtract)
multiply = _binary("multiply", _for_bools(comparison.logical_and, arithmetic.multiply))
divide = _binary("divide", division.truediv, True)
true_divide = _binary("true_divide", division.truediv, True)
floor_divide = _binary("floor_divide", lambda a, b: cast(division.floordiv(*_no_bools(a, b)), _bool_as_int8(a.dtype)))
mod = _binary("mod", lambda a, b: cast(division.floormod(*_no_bools(a, b)), _bool_as_int8(a.dtype)))
remainder = _binary("remainder", lambda a, b: cast(division.floormod(*_no_bools(a, b)), _bool_as_int8(a.dtype)))
power = _binary("power", powers.pow)
float_power = _binary("float_power", powers.pow)
maximum = _binary("maximum", _for_bools(comparison.logical_or, arithmetic.maximum))
minimum = _binary("minimum", _for_bools(comparison.logical_and, arithmetic.minimum))
arctan2 = _binary("arctan2", powers.atan2, True)
nextafter = _binary("nextafter", powers.nextafter, True)
bitwise_and = _binary("bitwise_and", _for_bools(comparison.logical_and, bitwise.bitwise_and))
bitwise_or = _binary("bitwise_or", _for_bools(comparison.logical_or, bitwise.bitwise_or))
bitwise_xor = _binary("bitwise_xor", _for_bools(comparison.logical_xor, bitwise.bitwise_xor))
equal = _binary("equal", comparison.equal)
not_equal = _binary("not_equal", comparison.not_equal)


def _bool_as_int8(dtype):
    return dtypes.int8 if dtype is dtypes.bool else dtype


def _no_bools(a, b):
    return (cast(a, dtypes.int8), cast(b, dtypes.int8)) if a.dtype is dtypes.bool else (a, b)


def _order(name, target):
    def function(a, b):
        return target(*_no_bools(a, b))

    return _binary(name, function)


greater = _order("greater", comparison.greater)
greater_equal = _order("greater_equal", comparison.greater_equal)
less = _order("less", comparison.less)
less_equal = _order("less_equal", comparison.less_equal)


def _logical(name, target):
    def function(x1, x2) -> Tensor:
        return target(cast(as_array(x1), dtypes.bool), cast(as_array(x2), dtypes.bool))

    return _declare(name, function, f"NumPy's `{name}`: operands count as true where they are not zero.")


logical_and = _logical("logical_and", comparison.logical_and)
logical_or = _logical("logical_or", comparison.logical_or)
logical_xor = _logical("logical_xor", comparison.logical_xor)


def _hypot(x1, x2):
    return elementwise.sqrt(x1 * x1 + x2 * x2)


def _logaddexp(x1, x2):
    top = arithmetic.maximum(x1, x2)
    difference = x1 - x2
    return selecting.where(
        elementwise.is_nan(difference),
        x1 + x2,  # both infinite with the same sign, or a NaN
        top + elementwise.log1p(elementwise.exp(-elementwise.abs(difference))),
    )


hypot = _binary("hypot", _hypot, True)
logaddexp = _binary("logaddexp", _logaddexp, True)
logaddexp2 = _binary(
    "logaddexp2",
    lambda a, b: _logaddexp(a * _constant(np.log(2.0), a), b * _constant(np.log(2.0), a)) / _constant(np.log(2.0), a),
    True,
)
heaviside = _binary(
    "heaviside",
    lambda a, b: selecting.where(
        a < _constant(0, a),
        _constant(0, a),
        selecting.where(a > _constant(0, a), _constant(1, a), selecting.where(a == _constant(0, a), b, a)),
    ),
    True,
)


@api("experimental.numpy.divmod", dispatch=False)
def divmod_(x1, x2) -> tuple[Tensor, Tensor]:
    """The quotient rounded down, and the remainder."""
    return floor_divide(x1, x2), mod(x1, x2)


def _gcd(a, b):
    """Euclid's algorithm on all elements at once."""
    a, b = broadcasting.broadcast_to(a, measuring.shape(a + b)), broadcasting.broadcast_to(b, measuring.shape(a + b))
    a, b = elementwise.abs(a), elementwise.abs(b)
    zero = _constant(0, a)

    def go_on(a, b):
        return reductions.reduce_any(b != zero)

    def step(a, b):
        done = b == zero
        divisor = selecting.where(done, filling.ones_like(b), b)
        return selecting.where(done, a, b), selecting.where(done, b, division.floormod(a, divisor))

    return while_loop(go_on, step, [a, b])[0]


gcd = _binary("gcd", _gcd)


def _lcm(a, b):
    divisor = _gcd(a, b)
    safe = selecting.where(divisor == _constant(0, a), filling.ones_like(divisor), divisor)
    return selecting.where(divisor == _constant(0, a), filling.zeros_like(divisor), elementwise.abs(a * (b // safe)))


lcm = _binary("lcm", _lcm)


@api("experimental.numpy.clip", dispatch=False)
def clip(a, a_min, a_max) -> Tensor:
    """Values below `a_min` and above `a_max` are replaced by these; one of them may be None."""
    if a_min is None and a_max is None:
        raise ValueError("experimental.numpy.clip: one of a_min and a_max must be given.")
    if a_min is None:
        return minimum(a, a_max)
    if a_max is None:
        return maximum(a, a_min)
    a, low, high = promote(a, a_min, a_max)
    return arithmetic.minimum(arithmetic.maximum(a, low), high)


@api("experimental.numpy.isclose", dispatch=False)
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False) -> Tensor:
    """Whether elements are equal within tolerances."""
    a, b = promote(a, b)
    if a.dtype is dtypes.bool or a.dtype.is_integer:
        a, b = cast(a, default_float()), cast(b, default_float())
    size = elementwise.abs(b)
    near = comparison.less_equal(
        elementwise.abs(a - b), _constant(atol, size) + _constant(rtol, size) * size
    )
    near = comparison.logical_or(comparison.logical_and(near, elementwise.is_finite(size)), comparison.equal(a, b))
    if equal_nan:
        both = comparison.logical_and(comparison.not_equal(a, a), comparison.not_equal(b, b))
        near = comparison.logical_or(near, both)
    return near


@api("experimental.numpy.allclose", dispatch=False)
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False) -> Tensor:
    """Whether all elements are equal within tolerances."""
    return reductions.reduce_all(isclose(a, b, rtol, atol, equal_nan))


@api("experimental.numpy.array_equal", dispatch=False)
def array_equal(a1, a2) -> Tensor:
    """Whether shapes and elements are equal."""
    a1, a2 = promote(a1, a2)
    if a1.shape.rank != a2.shape.rank or tuple(a1.shape) != tuple(a2.shape):
        return as_array(False)
    return reductions.reduce_all(comparison.equal(a1, a2))


@api("experimental.numpy.polyval", dispatch=False)
def polyval(p, x) -> Tensor:
    """A polynomial with coefficients `p`, highest first, at `x`."""
    p, x = promote(p, x)
    value = filling.zeros_like(x)
    for coefficient in joining.unstack(p):
        value = value * x + coefficient
    return value
