"""Which operations cannot fail, whatever the values of their inputs are."""

from headrace._src.graph.symbolic import SymbolicTensor

# Never: element-wise functions of one tensor, and questions about shapes.
_NEVER = frozenset(
    "Abs Acos Acosh Angle Asin Asinh Atan Atanh BesselI0e BesselI1e Ceil ComplexAbs Conj Const Cos Cosh "
    "DebugGradientIdentity Digamma Elu Erf Erfc Erfinv Exp Expm1 FakeParam Floor Identity IdentityN Imag Inv Invert "
    "IsFinite IsInf IsNan LeakyRelu Lgamma Log Log1p LogicalNot Ndtri Neg NoOp OnesLike PreventGradient Rank Real "
    "Reciprocal Relu Relu6 Rint Round Rsqrt Selu Shape ShapeN Sigmoid Sign Sin Sinh Snapshot Softplus Softsign Sqrt "
    "Square StopGradient Tan Tanh ZerosLike".split()
)

# Not when the shapes fit, which is certain once they are all known and the graph could be built.
_BY_SHAPE = frozenset(
    "Add AddN AddV2 Atan2 BatchMatMul BatchMatMulV2 BiasAdd BitwiseAnd BitwiseOr BitwiseXor DivNoNan EluGrad Equal "
    "Greater GreaterEqual LeakyReluGrad Less LessEqual LogSoftmax LogicalAnd LogicalOr MatMul Maximum Minimum Mul "
    "MulNoNan NotEqual Relu6Grad ReluGrad RsqrtGrad SelectV2 SeluGrad SigmoidGrad Softmax SoftplusGrad SoftsignGrad "
    "SqrtGrad SquaredDifference Squeeze Sub TanhGrad Xdivy Xlog1py Xlogy".split()
)

# The same, but the value of an integer input (a shape, axes, a permutation) matters too and must be a constant.
_BY_SHAPE_AND_CONSTANTS = frozenset(
    "All Any BroadcastTo ConcatV2 ExpandDims Fill Max Mean Min Pack Prod Reshape Sum Tile Transpose".split()
)

# Integers can be divided by zero.
_FLOAT_DIVISIONS = frozenset(["Div", "RealDiv", "FloorDiv", "FloorMod"])


def can_fail(step) -> bool:
    """Whether running an operation may raise an error, as far as one can tell from shapes."""
    name = step.record.name
    if name in _NEVER:
        return False
    if name in _BY_SHAPE:
        return not _shapes_known(step)
    if name == "Cast":
        return step.inputs[0].dtype._kind not in "fciub" or step.outputs[0].dtype._kind not in "fciub"
    if name in _FLOAT_DIVISIONS:
        return step.inputs[0].dtype._kind not in "fc" or not _shapes_known(step)
    if name in _BY_SHAPE_AND_CONSTANTS:
        return not _shapes_known(step) or any(
            t.dtype._kind in "iu" and t._known is None for t in _index_inputs(name, step.inputs)
        )
    return True


def _index_inputs(name, inputs):
    if name == "Pack":
        return ()
    if name in ("ConcatV2", "Fill"):
        return inputs[-1:] if name == "ConcatV2" else inputs[:1]
    return inputs[1:]


def _shapes_known(step):
    for tensors in (step.inputs, step.outputs):
        for tensor in tensors:
            if type(tensor) is not SymbolicTensor or not tensor._shape.is_fully_defined():
                return False
    return True
