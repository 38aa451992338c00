"""Sparse matrices in compressed rows: variant tensors that hold one matrix, or a batch of them."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import scipy_sparse
from headrace._src.core.shapes import TensorShape
from headrace._src.op.definition import Op

_TYPES = frozenset({dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128})


class SparseMatrix:
    """What a variant tensor holds: matrices of one shape, in SciPy's compressed rows.

    Args:
        matrices: one, or those of a batch.
        is_batch: whether they are a batch.
    """

    __slots__ = ("is_batch", "matrices")

    def __init__(self, matrices, is_batch):
        self.matrices = matrices
        self.is_batch = is_batch

    @property
    def dtype(self):
        return self.matrices[0].dtype

    @property
    def shape(self):
        """The shape, with the batch."""
        own = self.matrices[0].shape
        return (len(self.matrices), *own) if self.is_batch else own

    def __repr__(self):
        return f"SparseMatrix(shape={self.shape}, dtype={self.dtype})"


def _boxed(matrix):
    array = np.empty((), object)
    array[()] = matrix
    return array


def _matrix(op, variant, dtype, name):
    matrix = variant[()] if variant.ndim == 0 else None
    if not isinstance(matrix, SparseMatrix):
        raise errors.invalid_argument(f"{op}: {name} must be a scalar variant that holds a sparse matrix.")
    if matrix.dtype != dtype._np:
        raise errors.invalid_argument(
            f"{op}: {name}: Expected a CSRSparseMatrix of type {dtype.name} but saw type: {matrix.dtype}."
        )
    return matrix


def _from_sparse_kernel(indices, values, dense_shape):
    op = "SparseTensorToCSRSparseMatrix"
    if indices.ndim != 2 or indices.shape[1] not in (2, 3):
        rank = indices.shape[1] if indices.ndim == 2 else "unknown"
        raise errors.invalid_argument(f"{op}: SparseTensor must have rank 2 or 3; but indices has rank: {rank}.")
    if values.shape != indices.shape[:1] or dense_shape.shape != indices.shape[1:]:
        raise errors.invalid_argument(
            f"{op}: indices, values and dense_shape do not fit together: their shapes are {indices.shape}, "
            f"{values.shape} and {dense_shape.shape}."
        )
    outside = ((indices < 0) | (indices >= dense_shape)).any(axis=1)
    if outside.any():
        i = int(np.flatnonzero(outside)[0])
        raise errors.invalid_argument(f"{op}: indices[{i}, :] = {indices[i].tolist()} is out of bounds.")
    is_batch = dense_shape.size == 3
    size = tuple(dense_shape[-2:].tolist())
    if not is_batch:
        return _boxed(SparseMatrix([_rows(indices, values, size)], False))
    matrices = []
    for b in range(int(dense_shape[0])):
        chosen = indices[:, 0] == b
        matrices.append(_rows(indices[chosen, 1:], values[chosen], size))
    if not matrices:
        raise errors.invalid_argument(f"{op}: a batch must hold at least one matrix, got dense_shape {dense_shape}.")
    return _boxed(SparseMatrix(matrices, True))


def _rows(indices, values, size):
    matrix = scipy_sparse.csr_array((values, (indices[:, 0], indices[:, 1])), shape=size)
    return matrix.astype(values.dtype, copy=False)


SPARSE_TENSOR_TO_CSR_SPARSE_MATRIX = Op(
    "SparseTensorToCSRSparseMatrix",
    "indices: int64, values: T, dense_shape: int64 -> sparse_matrix: variant",
    T=_TYPES,
    infer=lambda indices, values, dense_shape: TensorShape([]),
    kernel=_from_sparse_kernel,
    lower=None,  # variant tensors hold Python objects: host only, here and below
    grad=None,  # TF: a tape cannot make zeros for such a variant, so there is no derivative in eager code
)


def _product_kernel(a, b, type, transpose_a, transpose_b, adjoint_a, adjoint_b):
    op = "SparseMatrixSparseMatMul"
    for side, transpose, adjoint in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
        if transpose and adjoint:
            raise errors.invalid_argument(f"{op}: only one of transpose_{side} and adjoint_{side} may be true.")
    left = _matrix(op, a, type, "a")
    right = _matrix(op, b, type, "b")
    if left.is_batch != right.is_batch or len(left.matrices) != len(right.matrices):
        raise errors.invalid_argument(f"{op}: the batches of a and b differ: {left.shape} and {right.shape}.")
    products = []
    for x, y in zip(left.matrices, right.matrices):
        x = _turned(x, transpose_a, adjoint_a)
        y = _turned(y, transpose_b, adjoint_b)
        if x.shape[1] != y.shape[0]:
            raise errors.invalid_argument(
                f"{op}: Inner product dimensions of A and B do not agree. Shapes are: {x.shape} vs. {y.shape}."
            )
        product = (x @ y).tocsr()
        product.sort_indices()
        products.append(product.astype(type._np, copy=False))
    return _boxed(SparseMatrix(products, left.is_batch))


def _turned(matrix, transpose, adjoint):
    if adjoint:
        return matrix.conj().T
    return matrix.T if transpose else matrix


SPARSE_MATRIX_SPARSE_MAT_MUL = Op(
    "SparseMatrixSparseMatMul",
    "a: variant, b: variant, *, type: type, transpose_a: bool = False, transpose_b: bool = False, "
    "adjoint_a: bool = False, adjoint_b: bool = False -> c: variant",
    type=_TYPES,
    infer=lambda a, b, **attrs: TensorShape([]),
    kernel=_product_kernel,
    lower=None,
    grad=None,
)


def _to_sparse_kernel(sparse_matrix, type):
    op = "CSRSparseMatrixToSparseTensor"
    matrix = _matrix(op, sparse_matrix, type, "sparse_matrix")
    places, values = [], []
    for b, rows in enumerate(matrix.matrices):
        row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        own = [np.full(row.size, b)] if matrix.is_batch else []
        places.append(np.stack([*own, row, rows.indices], axis=1))
        values.append(rows.data)
    return np.concatenate(places).astype(np.int64), np.concatenate(values), np.array(matrix.shape, np.int64)


CSR_SPARSE_MATRIX_TO_SPARSE_TENSOR = Op(
    "CSRSparseMatrixToSparseTensor",
    "sparse_matrix: variant, *, type: type -> indices: int64, values: type, dense_shape: int64",
    type=_TYPES,
    infer=lambda sparse_matrix, type: (TensorShape([None, None]), TensorShape([None]), TensorShape([None])),
    kernel=_to_sparse_kernel,
    lower=None,
    grad=None,
)


def sparse_tensor_to_csr_sparse_matrix(indices, values, dense_shape, name=None):
    """The parts of a `SparseTensor` of two or three dimensions as a sparse matrix, or a batch of them."""
    return SPARSE_TENSOR_TO_CSR_SPARSE_MATRIX(indices, values, dense_shape, name=name)


def sparse_matrix_sparse_mat_mul(
    a, b, type, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, name=None
):
    """The product of two sparse matrices."""
    return SPARSE_MATRIX_SPARSE_MAT_MUL(
        a, b, type=dtypes.as_dtype(type), transpose_a=transpose_a, transpose_b=transpose_b, adjoint_a=adjoint_a,
        adjoint_b=adjoint_b, name=name,
    )  # fmt: skip


def csr_sparse_matrix_to_sparse_tensor(sparse_matrix, type, name=None):
    """The indices, values and dense shape of a sparse matrix."""
    return CSR_SPARSE_MATRIX_TO_SPARSE_TENSOR(sparse_matrix, type=dtypes.as_dtype(type), name=name)
