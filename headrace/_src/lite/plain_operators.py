"""Operations that are operators of the same meaning: arithmetic, comparisons, functions of elements."""

from headrace._src.core import dtypes
from headrace._src.lite.building import Unsupported, converts
from headrace._src.lite.models import LiteTensor
from headrace._src.lite.patterns import bounded_root, gelu_argument
from headrace._src.lite.terms import Term

# Op to operator, and the name of its options where it has some.
_UNARY = {
    "Relu": "RELU", "Relu6": "RELU6", "Elu": "ELU", "Sigmoid": "LOGISTIC", "Tanh": "TANH", "Exp": "EXP", "Log": "LOG",
    "Sqrt": "SQRT", "Rsqrt": "RSQRT", "Abs": "ABS", "Neg": "NEG", "Square": "SQUARE", "Sin": "SIN", "Cos": "COS",
    "Floor": "FLOOR", "Ceil": "CEIL", "Round": "ROUND", "LogSoftmax": "LOG_SOFTMAX", "LogicalNot": "LOGICAL_NOT",
    "ZerosLike": "ZEROS_LIKE", "Sign": "SIGN", "Rint": "ROUND",
}  # fmt: skip
_BINARY = {
    "Add": ("ADD", "AddOptions"), "AddV2": ("ADD", "AddOptions"), "Sub": ("SUB", "SubOptions"),
    "Mul": ("MUL", "MulOptions"), "RealDiv": ("DIV", "DivOptions"), "Maximum": ("MAXIMUM", "MaximumMinimumOptions"),
    "Pow": ("POW", "PowOptions"),
    "FloorDiv": ("FLOOR_DIV", "FloorDivOptions"), "FloorMod": ("FLOOR_MOD", "FloorModOptions"),
    "SquaredDifference": ("SQUARED_DIFFERENCE", "SquaredDifferenceOptions"),
    "Equal": ("EQUAL", "EqualOptions"), "NotEqual": ("NOT_EQUAL", "NotEqualOptions"), "Less": ("LESS", "LessOptions"),
    "LessEqual": ("LESS_EQUAL", "LessEqualOptions"), "Greater": ("GREATER", "GreaterOptions"),
    "GreaterEqual": ("GREATER_EQUAL", "GreaterEqualOptions"), "LogicalAnd": ("LOGICAL_AND", "LogicalAndOptions"),
    "LogicalOr": ("LOGICAL_OR", "LogicalOrOptions"),
}  # fmt: skip
_PASSING = ("Identity", "StopGradient", "PreventGradient", "Snapshot", "EnsureShape", "CheckNumerics")


@converts(*_UNARY)
def _unary(builder, step):
    builder.emit(_UNARY[step.type], step.inputs, step.outputs)


@converts(*_BINARY)
def _binary(builder, step):
    curved = gelu_argument(builder, step)
    if curved is not None:
        builder.emit("GELU", [curved], step.outputs, "GeluOptions", approximate=False)
        return
    code, options = _BINARY[step.type]
    builder.emit(code, step.inputs, step.outputs, options)


@converts("Minimum")
def _smaller(builder, step):
    bounded = bounded_root(builder, step)
    if bounded is None:
        builder.emit("MINIMUM", step.inputs, step.outputs, "MaximumMinimumOptions")
        return
    x, least = bounded
    # RSQRT of LiteRT gives NaN for 0, not infinity.
    builder.emit("RSQRT", [Term(builder, x).of("MAXIMUM", least).tensor], step.outputs)


@converts("Atan2")
def _angle(builder, step):
    y, x = (Term(builder, one) for one in step.inputs)
    if y.shape is None or y.shape != x.shape:  # this operator does not broadcast
        y, x = y * (x.of("ZEROS_LIKE") + 1.0), x * (y.of("ZEROS_LIKE") + 1.0)
    builder.emit("ATAN2", [y.tensor, x.tensor], step.outputs, "ATan2Options")


@converts(*_PASSING)
def _passed(builder, step):
    builder.same(step.outputs[0], step.inputs[0])


@converts("IdentityN")
def _all_passed(builder, step):
    for output, source in zip(step.outputs, step.inputs):
        builder.same(output, source)


@converts("BiasAdd")
def _bias(builder, step):
    if step.attrs.get("data_format", "NHWC") != "NHWC":
        raise Unsupported("data_format must be NHWC")
    builder.emit("ADD", step.inputs, step.outputs, "AddOptions")


@converts("Softmax")
def _softmax(builder, step):
    builder.emit("SOFTMAX", step.inputs, step.outputs, "SoftmaxOptions", beta=1.0)


@converts("LeakyRelu")
def _leaky(builder, step):
    builder.emit("LEAKY_RELU", step.inputs, step.outputs, "LeakyReluOptions", alpha=step.attrs["alpha"])


@converts("Reciprocal", "Inv")
def _reciprocal(builder, step):
    one = builder.constant(1.0, step.inputs[0].dtype)
    builder.emit("DIV", [one, step.inputs[0]], step.outputs, "DivOptions")


@converts("Selu")
def _selu(builder, step):
    x, dtype = step.inputs[0], step.inputs[0].dtype
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    output = builder.tensor(step.outputs[0])
    negative, positive, bent, sunk = (LiteTensor(f"{output.name}/{n}", dtype, output.shape) for n in "npbs")
    builder.emit("RELU", [x], [positive])
    builder.emit("MINIMUM", [x, builder.constant(0.0, dtype)], [negative], "MaximumMinimumOptions")
    builder.emit("ELU", [negative], [bent])
    builder.emit("MUL", [bent, builder.constant(alpha, dtype)], [sunk], "MulOptions")
    total = LiteTensor(f"{output.name}/sum", dtype, output.shape)
    builder.emit("ADD", [positive, sunk], [total], "AddOptions")
    builder.emit("MUL", [total, builder.constant(scale, dtype)], [output], "MulOptions")


@converts("Softplus")
def _softplus(builder, step):
    # log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|)).
    x, dtype = step.inputs[0], step.inputs[0].dtype
    output = builder.tensor(step.outputs[0])
    size, negated, power, raised, rest, above = (
        LiteTensor(f"{output.name}/{i}", dtype, output.shape) for i in range(6)
    )
    builder.emit("ABS", [x], [size])
    builder.emit("NEG", [size], [negated])
    builder.emit("EXP", [negated], [power])
    builder.emit("ADD", [power, builder.constant(1.0, dtype)], [raised], "AddOptions")
    builder.emit("LOG", [raised], [rest])
    builder.emit("RELU", [x], [above])
    builder.emit("ADD", [above, rest], [output], "AddOptions")


@converts("OnesLike")
def _ones(builder, step):
    output = builder.tensor(step.outputs[0])
    zeros = LiteTensor(f"{output.name}/zeros", output.dtype, output.shape)
    builder.emit("ZEROS_LIKE", step.inputs, [zeros], "ZerosLikeOptions")
    builder.emit("ADD", [zeros, builder.constant(1, output.dtype)], [output], "AddOptions")


@converts("Cast")
def _cast(builder, step):
    source = step.inputs[0]
    if source.dtype == step.outputs[0].dtype:
        builder.same(step.outputs[0], source)
    else:
        builder.emit("CAST", [source], step.outputs, "CastOptions")


@converts("Select", "SelectV2")
def _select(builder, step):
    builder.emit("SELECT_V2", step.inputs, step.outputs, "SelectV2Options")


@converts("AddN")
def _sum_of_all(builder, step):
    if step.inputs[0].dtype not in (dtypes.float32, dtypes.int32):
        raise Unsupported("only float32 and int32 are added")
    builder.emit("ADD_N", step.inputs, step.outputs, "AddNOptions")
