"""Products of sparse and dense matrices."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp, scipy_sparse
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.measuring import get_static_value
from headrace._src.ops.arrays.rearranging import CONJUGATE_TRANSPOSE, TRANSPOSE
from headrace._src.ops.math.arithmetic import ADD, MUL
from headrace._src.ops.math.complex_numbers import CONJ
from headrace._src.ops.ragged.row_arithmetic import cast_to
from headrace._src.ops.sparse.dense import as_sparse
from headrace._src.ops.sparse.tensor import SparseTensor, SparseTensorValue


def _checked(a_indices, a_values, a_shape, b, adjoint_a, adjoint_b):
    """Rows, inner size and columns of the product."""
    op = "SparseTensorDenseMatMul"
    if b.ndim != 2:
        raise errors.invalid_argument(f"{op}: Tensor 'b' is not a matrix, it has shape {b.shape}.")
    if a_shape.shape != (2,):
        raise errors.invalid_argument(
            f"{op}: Tensor 'a_shape' must have 2 elements, got shape {a_shape.shape}."
        )
    if a_indices.ndim != 2 or a_indices.shape[1] != 2:
        raise errors.invalid_argument(f"{op}: a_indices must have shape [n, 2], got {a_indices.shape}.")
    if a_values.shape != (a_indices.shape[0],):
        raise errors.invalid_argument(
            f"{op}: a_values must have shape ({a_indices.shape[0]},), got {a_values.shape}."
        )
    rows, inner = (int(n) for n in (a_shape[::-1] if adjoint_a else a_shape))
    b_inner, columns = b.shape[::-1] if adjoint_b else b.shape
    if inner != b_inner:
        raise errors.invalid_argument(
            f"{op}: Cannot multiply A and B because inner dimension does not match: {inner} vs. {b_inner}. "
            "Did you forget a transpose?"
        )
    if rows < 0 or inner < 0:
        raise errors.invalid_argument(f"{op}: a_shape must not be negative, got {a_shape.tolist()}.")
    return rows, inner, columns


def _operands(xp, a_indices, a_values, b, adjoint_a, adjoint_b):
    out, into = (a_indices[:, 1], a_indices[:, 0]) if adjoint_a else (a_indices[:, 0], a_indices[:, 1])
    return out, into, xp.conj(a_values) if adjoint_a else a_values, xp.conj(b.T) if adjoint_b else b


def _kernel(a_indices, a_values, a_shape, b, adjoint_a, adjoint_b):
    op = "SparseTensorDenseMatMul"
    rows, inner, columns = _checked(a_indices, a_values, a_shape, b, adjoint_a, adjoint_b)
    dtype = a_values.dtype
    if dtype.kind not in "fciu" or dtype.itemsize == 2:
        # Small floats are summed in float32.
        a_values, b = a_values.astype(np.float32), b.astype(np.float32)
    out, into, values, b = _operands(np, a_indices, a_values, b, adjoint_a, adjoint_b)
    for letter, index, size in (("m", out, rows), ("k", into, inner)):
        outside = (index < 0) | (index >= size)
        if outside.any():
            at = int(np.flatnonzero(outside)[0])
            raise errors.invalid_argument(
                f"{op}: {letter} ({index[at]}) from a_indices[{at}] out of bounds (>={size})."
            )
    if not rows or not columns or not len(values):
        return np.zeros((rows, columns), dtype)
    matrix = scipy_sparse.csr_matrix((values, (out, into)), shape=(rows, inner))
    return np.ascontiguousarray(matrix @ b).astype(dtype, copy=False)


def _lower(ctx, a_indices, a_values, a_shape, b, adjoint_a, adjoint_b):
    rows, inner, columns = _checked(a_indices, a_values, a_shape, b, adjoint_a, adjoint_b)
    dtype = a_values.dtype
    if dtype in (jnp.float16, jnp.bfloat16):
        a_values, b = a_values.astype(jnp.float32), b.astype(jnp.float32)
    out, into, values, b = _operands(jnp, a_indices, a_values, b, adjoint_a, adjoint_b)
    ctx.check(
        jnp.all((out >= 0) & (out < rows) & (into >= 0) & (into < inner)),
        errors.InvalidArgumentError,
        "SparseTensorDenseMatMul: a_indices are out of bounds",
    )
    if not inner:
        return jnp.zeros((rows, columns), dtype)
    product = jnp.zeros((rows, columns), values.dtype).at[out].add(values[:, None] * b[into])
    return product.astype(dtype)


def _infer(a_indices, a_values, a_shape, b, adjoint_a, adjoint_b):
    rows = columns = None
    if a_shape.value is not None and np.shape(a_shape.value) == (2,):
        rows = int(a_shape.value[1 if adjoint_a else 0])
    if b.shape.rank is not None:
        columns = b.shape.with_rank(2)[0 if adjoint_b else 1]
    return TensorShape([rows, columns])


def _conjugate(tensor):
    return CONJ(tensor) if tensor.dtype.is_complex else tensor


def _grad(node, dy):
    adjoint_a, adjoint_b = node.attrs["adjoint_a"], node.attrs["adjoint_b"]
    d_values = d_b = None
    if node.wants(1):
        rows, columns = node.a_indices[:, 0], node.a_indices[:, 1]
        if adjoint_a:
            rows, columns = columns, rows
        b = CONJUGATE_TRANSPOSE(node.b, [1, 0]) if adjoint_b else node.b
        left = GATHER_V2(dy, rows, 0)
        right = GATHER_V2(b, columns, 0)
        if adjoint_a:
            left, right = right, left
        d_values = SUM(left * _conjugate(right), [1])
    if node.wants(3):
        d_b = SPARSE_TENSOR_DENSE_MAT_MUL(
            node.a_indices, node.a_values, node.a_shape, dy, adjoint_a=not adjoint_a, adjoint_b=False
        )
        if adjoint_b:
            d_b = CONJUGATE_TRANSPOSE(d_b, [1, 0])
    return None, d_values, None, d_b


SPARSE_TENSOR_DENSE_MAT_MUL = Op(
    "SparseTensorDenseMatMul",
    "a_indices: Tindices, a_values: T, a_shape: int64, b: T, *, adjoint_a: bool = False, "
    "adjoint_b: bool = False -> product: T",
    T=dtypes.NUMBER,
    Tindices=dtypes.INDEX,
    infer=_infer,
    kernel=_kernel,
    lower=_lower,
    static=("a_shape",),
    saves=("a_indices", "a_values", "a_shape", "b"),
    grad=_grad,
)


@api("sparse.sparse_dense_matmul")
def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None) -> Tensor:
    """The product of two matrices, one of them sparse.

    >>> a = tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    >>> tf.sparse.sparse_dense_matmul(a, [[1.0], [10.0]]).numpy().tolist()
    [[20.0], [3.0]]

    Args:
        sp_a: a sparse (or dense) matrix.
        b: a dense (or sparse) matrix.
        adjoint_a: use the conjugate transpose of `sp_a`.
        adjoint_b: use the conjugate transpose of `b`.
        name: a name for the operation.

    Returns:
        A dense matrix.
    """
    kinds = (SparseTensor, SparseTensorValue)
    if isinstance(b, kinds):
        if isinstance(sp_a, kinds):
            raise TypeError("sparse.sparse_dense_matmul: one of sp_a and b must be dense, both are sparse.")
        for name_of, value in (("adjoint_a", adjoint_a), ("adjoint_b", adjoint_b)):
            if not isinstance(value, bool):
                raise TypeError(f"{name_of} must be a bool, got {type(value).__name__}.")
        # A B = (B' A')', where ' is the adjoint.
        product = sparse_dense_matmul(b, sp_a, adjoint_a=not adjoint_b, adjoint_b=not adjoint_a, name=name)
        return CONJUGATE_TRANSPOSE(product, [1, 0])
    sp_a = as_sparse(sp_a)
    b = to_tensor(b, hint=sp_a.dtype)
    return SPARSE_TENSOR_DENSE_MAT_MUL(
        sp_a.indices,
        sp_a.values,
        sp_a.dense_shape,
        b,
        adjoint_a=adjoint_a,
        adjoint_b=adjoint_b,
        name=name,
    )


@api("sparse.sampled_addmm")
def sampled_addmm(
    indices, values, dense_shape, mat1, mat2, beta=1.0, alpha=1.0, output_type=dtypes.float32
) -> tuple[Tensor, Tensor, Tensor]:
    """`alpha * (mat1 @ mat2)` at the positions of a sparse matrix, plus `beta` times its values.

    Leading dimensions are batches.

    Args:
        indices: `[..., n, 2]`.
        values: `[..., n]`.
        dense_shape: the shape of a sparse matrix, without batches.
        mat1: `[..., rows, inner]`.
        mat2: `[..., inner, columns]`.
        beta: the factor of the values.
        alpha: the factor of the product.
        output_type: the dtype in which all is computed.

    Returns:
        The tuple `(indices, values, dense_shape)`.

    Raises:
        ValueError: when a rank is not known, or `dense_shape` is not the shape of the product.
    """
    output_type = dtypes.as_dtype(output_type)
    indices = to_tensor(indices)
    values = to_tensor(values, output_type)
    dense_shape = to_tensor(dense_shape)
    mat1, mat2 = cast_to(to_tensor(mat1), output_type), cast_to(to_tensor(mat2), output_type)
    if mat1.shape.rank is None or mat2.shape.rank is None:
        raise ValueError("sparse.sampled_addmm: the ranks of mat1 and mat2 must be known.")
    product = TensorShape([mat1.shape[-2], mat2.shape[-1]])
    wanted = get_static_value(dense_shape)
    if wanted is not None and not product.is_compatible_with(wanted):
        raise ValueError(
            f"sparse.sampled_addmm: dense_shape must be that of the product, {product}, got {wanted.tolist()}."
        )
    batches = mat1.shape.rank - 2
    rows = GATHER_V2(mat1, indices[..., 0], batches, batch_dims=batches)
    columns = GATHER_V2(
        TRANSPOSE(mat2, [*range(batches), batches + 1, batches]),
        indices[..., 1],
        batches,
        batch_dims=batches,
    )
    dots = SUM(MUL(rows, columns), [-1])
    scaled = MUL(to_tensor(alpha, output_type), dots)
    return indices, ADD(scaled, MUL(to_tensor(beta, output_type), values)), dense_shape
