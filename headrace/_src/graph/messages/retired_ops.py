"""Ops that TensorFlow no longer takes in new graphs, as functions of ops that it does take."""

import math
import weakref

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.control.loops import while_loop
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.ranking import TOP_K_V2
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.linalg.matmul import BATCH_MATMUL
from headrace._src.ops.linalg.matrices import eye
from headrace._src.ops.linalg.solving import MATRIX_SOLVE
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM
from headrace._src.ops.math.complex_numbers import COMPLEX_ABS
from headrace._src.ops.math.elementwise import ABS, CEIL, LOG
from headrace._src.ops.math.powers import POW
from headrace._src.ops.math.reductions import MAX
from headrace._src.ops.nn.fake_quantization import QUANTIZE_AND_DEQUANTIZE

# The coefficients of the Padé approximant of degree 13 of exp, the first scaled to 1, and up to which norm it is exact
# in double precision (Higham 2005).
_PADE = [1.0]
for _k in range(13):
    _PADE.append(_PADE[-1] * (13 - _k) / ((26 - _k) * (_k + 1)))
_NORM = 5.371920351148152
# More squarings than any finite norm asks for.
_MOST_SQUARINGS = 1100.0


def _exponential(x):
    """The exponential of matrices: an approximation for small ones, squared as often as the matrix was halved."""
    given, shape = x.dtype, x.shape
    if given in (dtypes.float16, dtypes.bfloat16):
        x = CAST(x, DstT=dtypes.float32)
    size = COMPLEX_ABS(x, Tout=x.dtype.real_dtype) if x.dtype.is_complex else ABS(x)
    norm = MAX(SUM(size, -2), -1)
    halvings = CEIL(LOG(norm / _NORM) / math.log(2.0))
    halvings = MINIMUM(MAXIMUM(halvings, 0.0), _MOST_SQUARINGS)[..., None, None]
    scale = POW(to_tensor(0.5, halvings.dtype), halvings)
    a = x * (CAST(scale, DstT=x.dtype) if scale.dtype is not x.dtype else scale)
    one = eye(SHAPE(x, out_type=dtypes.int32)[-1], dtype=x.dtype)
    b = [to_tensor(coefficient, x.dtype) for coefficient in _PADE]
    a2 = BATCH_MATMUL(a, a)
    a4 = BATCH_MATMUL(a2, a2)
    a6 = BATCH_MATMUL(a2, a4)
    odd = BATCH_MATMUL(a6, b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one
    even = BATCH_MATMUL(a6, b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
    odd = BATCH_MATMUL(a, odd)
    start = MATRIX_SOLVE(even - odd, even + odd)
    most = MAX(RESHAPE(halvings, [-1]), 0)

    def step(i, power):
        squared = SELECT_V2(i < halvings, BATCH_MATMUL(power, power), power)
        squared.set_shape(shape)
        return i + 1.0, squared

    start.set_shape(shape)
    _, result = while_loop(
        lambda i, power: i < most, step, (to_tensor(0.0, most.dtype), start), (TensorShape([]), shape)
    )
    return [result if result.dtype is given else CAST(result, DstT=given)]


def _largest(input, k, sorted):
    return list(TOP_K_V2(input, k, sorted=sorted))


def _quantized(input, input_min, input_max, **attrs):
    low, high = (to_tensor(bound, input.dtype) for bound in (input_min, input_max))
    return [QUANTIZE_AND_DEQUANTIZE(input, low, high, **attrs)]


_RETIRED = {"MatrixExponential": _exponential, "TopK": _largest, "QuantizeAndDequantize": _quantized}
_graphs: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def is_retired(operation) -> bool:
    """Whether TensorFlow refuses the op of an operation."""
    return operation.record.name in _RETIRED


def replacement(operation) -> FuncGraph:
    """A graph that does what an operation of a retired op does; the same each time."""
    graph = _graphs.get(operation)
    if graph is None:
        graph = _graphs[operation] = FuncGraph(operation.record.name, None)
        with graph.building():
            inputs = [graph.add_input(tensor.shape, tensor.dtype, "input") for tensor in operation.inputs]
            outputs = _RETIRED[operation.record.name](*inputs, **operation.attrs)
            graph.outputs = [graph.inside(tensor) for tensor in outputs]
    return graph
