"""Rules of vectorization for products of matrices, linear algebra, and einsum."""

import string

from headrace._src.graph.vectorizing.rules import Batched, NoRule, rule, unstacked
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import RESHAPE, SHAPE
from headrace._src.ops.linalg.matmul import BATCH_MATMUL

# Ops on the last axes, which take any number of axes before them; how many of their inputs are such.
_LEADING = {
    "BandedTriangularSolve": 2, "Cholesky": 1, "CholeskyGrad": 2, "Cross": 2, "Eig": 1, "FFT": 1, "FFT2D": 1,
    "FFT3D": 1,
    "IFFT": 1, "IFFT2D": 1, "IFFT3D": 1, "IRFFT": 1, "IRFFT2D": 1, "IRFFT3D": 1, "LogMatrixDeterminant": 1, "Lu": 1,
    "MatrixBandPart": 1, "MatrixDeterminant": 1, "MatrixDiag": 1, "MatrixDiagPart": 1, "MatrixDiagPartV2": 1,
    "MatrixDiagPartV3": 1, "MatrixDiagV2": 1, "MatrixDiagV3": 1, "MatrixExponential": 1, "MatrixInverse": 1,
    "MatrixLogarithm": 1, "MatrixSetDiag": 2, "MatrixSetDiagV2": 2, "MatrixSetDiagV3": 2, "MatrixSolve": 2,
    "MatrixSolveLs": 2, "MatrixSquareRoot": 1, "MatrixTriangularSolve": 2, "NthElement": 1, "Qr": 1, "RFFT": 1,
    "RFFT2D": 1, "RFFT3D": 1, "SelfAdjointEigV2": 1, "Svd": 1, "TopK": 1, "TopKV2": 1, "TridiagonalMatMul": 4,
    "TridiagonalSolve": 2, "ApproxTopK": 1,
}  # fmt: skip


@rule(*_LEADING)
def _leading(batch, node, *inputs):
    count = _LEADING[node.record.name]
    if len({batch.rank(x) for x in inputs[:count]}) > 1 and node.record.name == "MatrixTriangularSolve":
        # Its batch axes broadcast.
        first = batch.aligned(inputs[:count])
        return batch.apply(node, [*first, *(unstacked(x, "parameter") for x in inputs[count:])])
    results = batch.apply(
        node, [*map(batch.stack, inputs[:count]), *(unstacked(x, "parameter") for x in inputs[count:])]
    )
    # Vectors that are not wanted are one empty tensor for all.
    place = _VECTORS.get((node.record.name, node.attrs.get("compute_uv", node.attrs.get("compute_v"))))
    return results if place is None else [Batched(x, k not in place) for k, x in enumerate(results)]


# By op and whether it computes vectors: the outputs that have none.
_VECTORS = {("Svd", False): (1, 2), ("SelfAdjointEigV2", False): (1,), ("Eig", False): (1,)}


def _transposed(x):
    rank = x.shape.rank
    return TRANSPOSE(x, [*range(rank - 2), rank - 1, rank - 2])


@rule("MatMul")
def _matmul(batch, node, a, b):
    attrs = node.attrs
    left, right = a.tensor, b.tensor
    flags = {"adj_x": attrs["transpose_a"], "adj_y": attrs["transpose_b"]}
    if left.dtype.is_complex:
        # Only transposed, not conjugated.
        left = _transposed(left) if attrs["transpose_a"] else left
        right = _transposed(right) if attrs["transpose_b"] else right
        flags = {"adj_x": False, "adj_y": False}
    return BATCH_MATMUL(left, right, **flags)


@rule("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def _batch_matmul(batch, node, a, b):
    inputs = batch.aligned([a, b])
    if node.record.name == "BatchMatMul":
        return BATCH_MATMUL(*inputs, adj_x=node.attrs["adj_x"], adj_y=node.attrs["adj_y"])
    return batch.apply(node, inputs)


@rule("Einsum")
def _einsum(batch, node, inputs):
    equation = node.attrs["equation"].replace(" ", "")
    terms, _, result = equation.partition("->")
    letter = next(c for c in string.ascii_letters if c not in equation)
    parts = [letter + term if x.stacked else term for term, x in zip(terms.split(","), inputs)]
    return batch.apply(node, [inputs], {"equation": f"{','.join(parts)}->{letter}{result}"})


@rule("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
def _cross_entropy(batch, node, features, labels):
    if batch.rank(features) != 2:
        raise NoRule("its features are not a matrix")
    logits, wanted = batch.stack(features), batch.stack(labels)
    rows = SHAPE(logits)
    flat_logits = RESHAPE(logits, batch.join([-1], rows[2:]))
    flat_labels = RESHAPE(wanted, batch.join([-1], SHAPE(wanted)[2:]))
    loss, backprop = batch.apply(node, [flat_logits, flat_labels])
    return [RESHAPE(loss, rows[:2]), RESHAPE(backprop, rows)]


@rule("LowerBound", "UpperBound", "InTopK", "InTopKV2")
def _rows(batch, node, first, second, *rest):
    """Ops on the rows of two tensors: the rows of all elements become those of one."""
    tensors = [batch.stack(first), batch.stack(second)]
    shapes = [SHAPE(x) for x in tensors]
    flat = [RESHAPE(x, batch.join([-1], shape[2:])) for x, shape in zip(tensors, shapes)]
    (found,) = batch.apply(node, [*flat, *(unstacked(x, "parameter") for x in rest)])
    return RESHAPE(found, shapes[1])
