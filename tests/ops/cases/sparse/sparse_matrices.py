"""Rows of `ops/sparse/compressed_rows.py`."""

from rows import row, value

_A = "tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=[[0, 1], [1, 0], [1, 2]], values=a, dense_shape=[2, 3])"
_B = "tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=[[0, 0], [1, 1], [2, 0]], values=b, dense_shape=[3, 2])"
_C = "tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=[[0, 0, 1], [1, 1, 0]], values=a[:2], dense_shape=[2, 2, 3])"
_D = "tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=[[0, 1, 1], [1, 0, 0], [1, 0, 1]], values=b, \
dense_shape=[2, 3, 2])"


def _product(left, right, dtype, options=""):
    return (
        f"tf.raw_ops.CSRSparseMatrixToSparseTensor(sparse_matrix=tf.raw_ops.SparseMatrixSparseMatMul(a={left}, "
        f"b={right}, type=tf.{dtype}{options}), type=tf.{dtype})"
    )


def _parts(dtype):
    return {"a": value([1, 2, 3], dtype), "b": value([1, 2, -3], dtype)}


ROWS = [
    *[row(_product(_A, _B, t), **_parts(t), grad=False) for t in ("float32", "float64", "complex64", "complex128")],
    row(_product(_A, _A, "float32", ", transpose_b=True"), **_parts("float32"), grad=False),
    row(_product(_A, _A, "complex64", ", adjoint_a=True"), a=value([1j, 2, 3 - 2j], "complex64"), b=value(1), grad=False),
    row(_product(_C, _D, "float32"), **_parts("float32"), grad=False),
    row(f"tf.raw_ops.CSRSparseMatrixToSparseTensor(sparse_matrix={_C}, type=tf.float32)", **_parts("float32"), grad=False),
    row(_product(_A, _A, "float32"), **_parts("float32"), grad=False),
    row(f"tf.raw_ops.CSRSparseMatrixToSparseTensor(sparse_matrix={_A}, type=tf.float64)", **_parts("float32"), grad=False),
    row(_A, a=value([1, 2, 3], "int32"), grad=False),
    row("tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=[[0]], values=[1.0], dense_shape=[2])", grad=False),
    row("tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=[[0, 5]], values=[1.0], dense_shape=[2, 2])", grad=False),
]
