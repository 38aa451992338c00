"""Functions of elements that TensorFlow Lite does not have, by formulas of those that it has."""

from __future__ import annotations

import math

from headrace._src.core import dtypes
from headrace._src.lite.building import Unsupported, converts
from headrace._src.lite.terms import Term

# erf(x) = x P(x²) / Q(x²) up to 3.92, and 1 beyond: fitted, with an error of at most 4e-7 in float32.
_ERF_END = 3.92
_ERF_ABOVE = [
    1.128379225730896, 0.18513651192188263, 0.05424393713474274, 0.0038386464584618807, 0.00037675091880373657,
    4.608987183019053e-06, -1.2798601289887301e-08,
]  # fmt: skip
_ERF_BELOW = [
    1.0,
    0.49740636348724365,
    0.11387408524751663,
    0.015430066734552383,
    0.0013015191070735455,
    6.239685171749443e-05,
]


def _erf(x):
    near = x.of("MINIMUM", _ERF_END).of("MAXIMUM", -_ERF_END)
    square = near.of("SQUARE")
    return near * square.polynomial(_ERF_ABOVE) / square.polynomial(_ERF_BELOW)


def _expm1(x):
    return (x * 0.5).of("TANH") * (x.of("EXP") + 1.0)  # exact also for small numbers


def _log1p(x):
    # For small x, 2 artanh(x / (2 + x)) as a series: what x + 1 rounds off would be lost, and so would be what LiteRT's
    # logarithm does not know near 1.
    part = x / (x + 2.0)
    small = part * part.of("SQUARE").polynomial([2.0 / (2 * n + 1) for n in range(8)])
    return x.of("ABS").of("LESS", 0.5).choose(small, (x + 1.0).of("LOG"))


def _sinh(x):
    grown = _expm1(x.of("ABS"))
    return x.of("SIGN") * 0.5 * (grown + grown / (grown + 1.0))


def _asinh(x):
    size = x.of("ABS")
    square = size.of("SQUARE")
    return x.of("SIGN") * _log1p(size + square / ((square + 1.0).of("SQRT") + 1.0))


def _one_minus_square(x):
    return ((1.0 - x) * (1.0 + x)).of("SQRT")


_FUNCTIONS = {
    "Erf": _erf,
    "Erfc": lambda x: 1.0 - _erf(x),
    "Expm1": _expm1,
    "Log1p": _log1p,
    "Softsign": lambda x: x / (x.of("ABS") + 1.0),
    "Tan": lambda x: x.of("SIN") / x.of("COS"),
    "Sinh": _sinh,
    "Cosh": lambda x: (x.of("EXP") + (0.0 - x).of("EXP")) * 0.5,
    "Atan": lambda x: x.of("ATAN2", x.of("ZEROS_LIKE") + 1.0),
    "Asin": lambda x: x.of("ATAN2", _one_minus_square(x)),
    "Acos": lambda x: _one_minus_square(x).of("ATAN2", x),
    "Asinh": _asinh,
    "Acosh": lambda x: (x + ((x - 1.0).of("SQRT") * (x + 1.0).of("SQRT"))).of("LOG"),
    "Atanh": lambda x: (_log1p(x) - _log1p(0.0 - x)) * 0.5,
    "IsNan": lambda x: x.of("NOT_EQUAL", x),
    "IsInf": lambda x: x.of("ABS").of("EQUAL", math.inf),
    "IsFinite": lambda x: x.of("ABS").of("LESS", math.inf),
}


@converts(*_FUNCTIONS)
def _function(builder, step):
    _check_float(step)
    _FUNCTIONS[step.type](Term(builder, step.inputs[0])).become(step.outputs[0])


def _check_float(step):
    if step.inputs[0].dtype != dtypes.float32:
        raise Unsupported(f"only float32 is computed, this is {step.inputs[0].dtype.name}")


def _shape(builder, step):
    return builder.tensor(step.outputs[0]).shape


_PAIRS = {
    "DivNoNan": lambda x, y: y.of("EQUAL", 0.0).choose(0.0, x / y),
    "MulNoNan": lambda x, y: y.of("EQUAL", 0.0).choose(0.0, x * y),
    "Xdivy": lambda x, y: x.of("EQUAL", 0.0).choose(0.0, x / y),
    "Xlogy": lambda x, y: x.of("EQUAL", 0.0).choose(0.0, x * y.of("LOG")),
    "Xlog1py": lambda x, y: x.of("EQUAL", 0.0).choose(0.0, x * _log1p(y)),
}


@converts(*_PAIRS)
def _pair(builder, step):
    _check_float(step)
    shape = _shape(builder, step)
    _PAIRS[step.type](*[Term(builder, x, shape) for x in step.inputs]).become(step.outputs[0])


@converts("ClipByValue")
def _clipped(builder, step):
    x, low, high = (Term(builder, one, _shape(builder, step)) for one in step.inputs)
    x.of("MINIMUM", high).of("MAXIMUM", low).become(step.outputs[0])


@converts("LogicalXor")
def _one_of_two(builder, step):
    builder.emit("NOT_EQUAL", step.inputs, step.outputs, "NotEqualOptions")


@converts("TruncateDiv")
def _truncated(builder, step):
    if step.inputs[0].dtype != dtypes.int32:
        raise Unsupported("only int32 is divided so")
    builder.emit("DIV", step.inputs, step.outputs, "DivOptions")


@converts("TruncateMod", "Mod")
def _rest(builder, step):
    if step.inputs[0].dtype != dtypes.int32:
        raise Unsupported("only int32 is divided so")
    x, y = (Term(builder, one, _shape(builder, step)) for one in step.inputs)
    (x - y * (x / y)).become(step.outputs[0])


@converts("L2Loss")
def _half_square(builder, step):
    x = builder.tensor(step.inputs[0])
    if x.shape is None:
        raise Unsupported("the rank of the input must be known")
    axes = builder.constant(list(range(len(x.shape))), dtypes.int32)
    squares = Term(builder, x).of("SQUARE").tensor
    total = builder.compute("SUM", [squares, axes], [], x.dtype, "ReducerOptions", keepDims=False)
    (Term(builder, total) * 0.5).become(step.outputs[0])
