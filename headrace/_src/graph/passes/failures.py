"""Which operations cannot fail, whatever the values of their inputs are."""

import math

# These never fail: element-wise functions of one tensor, and questions about shapes.
_NEVER = frozenset(
    "Abs Acos Acosh Angle Asin Asinh Atan Atanh BesselI0e BesselI1e Ceil ComplexAbs Conj Const Cos Cosh "
    "DebugGradientIdentity Digamma Elu Erf Erfc Erfinv Exp Expm1 FakeParam Floor Identity IdentityN Imag Inv Invert "
    "IsFinite IsInf IsNan LeakyRelu Lgamma Log Log1p LogicalNot Ndtri Neg NoOp OnesLike PreventGradient Rank Real "
    "Reciprocal Relu Relu6 Rint Round Rsqrt Selu Shape ShapeN Sigmoid Sign Sin Sinh Snapshot Softplus Softsign Sqrt "
    "Square StopGradient Tan Tanh ZerosLike".split()
)

# These fail only if the shapes do not fit. If all shapes are known, building the graph has checked that.
_BY_SHAPE = frozenset(
    "Add AddN AddV2 Atan2 BatchMatMul BatchMatMulV2 BiasAdd BitwiseAnd BitwiseOr BitwiseXor DivNoNan EluGrad Equal "
    "Greater GreaterEqual LeakyReluGrad Less LessEqual LogSoftmax LogicalAnd LogicalOr MatMul Maximum Minimum Mul "
    "MulNoNan NotEqual Pack Relu6Grad ReluGrad RsqrtGrad SelectV2 SeluGrad SigmoidGrad Softmax SoftplusGrad "
    "SoftsignGrad SqrtGrad SquaredDifference Sub TanhGrad Xdivy Xlog1py Xlogy".split()
)

# The same, but the value of an integer input (a shape, axes, a permutation) matters too: it must be a constant.
_BY_SHAPE_AND_CONSTANTS = {"BroadcastTo": 1, "ConcatV2": -1, "Fill": 0, "Tile": 1}

# The same, and knowing the rank is enough.
_BY_RANK_AND_CONSTANTS = frozenset("All Any ExpandDims Max Mean Min Prod Sum Transpose".split())

# Integers can be divided by zero.
_DIVISIONS = frozenset(["Div", "RealDiv", "FloorDiv", "FloorMod"])


def can_fail(step, constants) -> bool:
    """Whether running an operation may raise an error, as far as one can tell from shapes and constants.

    Args:
        step: an operation or step.
        constants: by id of a tensor, the array that it always is.
    """
    name, inputs = step.record.name, step.inputs
    if name in _NEVER:
        return False
    if name in _BY_SHAPE:
        return not _shapes_known(step)
    if name in _BY_RANK_AND_CONSTANTS:
        return inputs[0]._shape.rank is None or id(inputs[1]) not in constants
    if name in _BY_SHAPE_AND_CONSTANTS:
        return not _shapes_known(step) or id(inputs[_BY_SHAPE_AND_CONSTANTS[name]]) not in constants
    if name == "Reshape":
        return not reshape_fits(inputs[0]._shape, constants.get(id(inputs[1])))
    if name == "Squeeze":
        return not _squeeze_fits(inputs[0]._shape, step.attrs["squeeze_dims"])
    if name == "Cast":
        return inputs[0].dtype._kind not in "fciub" or step.outputs[0].dtype._kind not in "fciub"
    if name in _DIVISIONS:
        return inputs[0].dtype._kind not in "fc" or not _shapes_known(step)
    return True


def reshape_fits(shape, wanted) -> bool:
    """Whether a tensor of static shape `shape` can be reshaped to the constant `wanted` for certain."""
    if shape.rank is None or wanted is None or wanted.ndim != 1:
        return False
    dims = wanted.tolist()
    asked = math.prod(n for n in dims if n != -1)
    if min(dims, default=0) < -1 or dims.count(-1) > 1:
        return False
    known = math.prod(n for n in shape.as_list() if n is not None)
    if -1 not in dims:
        return shape.is_fully_defined() and known == asked
    return asked > 0 and known > 0 and known % asked == 0


def _squeeze_fits(shape, dims):
    rank = shape.rank
    return not dims or (rank is not None and all(-rank <= i < rank and shape[i % rank] == 1 for i in dims))


def _shapes_known(step):
    for tensors in (step.inputs, step.outputs):
        for tensor in tensors:
            if not tensor._shape.is_fully_defined():
                return False
    return True
