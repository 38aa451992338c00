"""Decompositions of matrices: Cholesky, QR, LU, eigenvalues, singular values."""

from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp, lax, scipy_linalg
from headrace._src.core.product_threads import on_one_thread, one_thread, one_thread_of_scipy
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import Batched, on_last_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import SCALAR, UNKNOWN, same_as_input
from headrace._src.op.registry import lookup
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ONES_LIKE, ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE, known_rank
from headrace._src.ops.arrays.ranking import TOP_K_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.linalg.checks import (
    MATRIX_TYPES,
    check_matrix,
    infer_matrix,
    infer_square,
    not_invertible,
    one_by_one,
    widened,
)
from headrace._src.ops.linalg.diagonals import diag, diag_part, set_diag
from headrace._src.ops.linalg.matmul import matmul
from headrace._src.ops.linalg.matrices import adjoint, band_part, eye
from headrace._src.ops.math.complex_numbers import CONJ, REAL

if TYPE_CHECKING:
    from headrace._src.attached import Lu, Qr


def phased(xp, v):
    """The unit factor for each column of `v` that makes it unique, so that all tiers give the same vectors.

    Eigenvectors are free up to such a factor. The sum with fixed weights becomes positive; the weights are
    odd enough not to vanish on vectors of structured matrices.
    """
    weights = np.cos(np.arange(v.shape[-2]) * 1.2345 + 0.5).astype(v.dtype)[:, None]
    total = xp.sum(v * weights, -2, keepdims=True)
    size = xp.abs(total)
    return xp.where(size > 0, xp.conj(total) / xp.where(size > 0, size, 1), 1).astype(v.dtype)


@on_one_thread(one_thread)
def _cholesky(input):
    check_matrix("Cholesky", input.shape, square=True)
    x = widened(input)
    try:
        factor = np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        # TF: what is not positive definite gives NaN, and the other matrices of a batch their factors.
        factor = one_by_one(lambda matrix: [np.linalg.cholesky(matrix)], x, [np.empty_like(x)])[0]
        factor = np.tril(factor)
    return factor.astype(input.dtype, copy=False)


def _lower_cholesky(ctx, input):
    return jnp.tril(lax.linalg.cholesky(widened(input), symmetrize_input=False)).astype(input.dtype)


def cholesky_gradient(factor, dy):
    """The gradient by A of its Cholesky factor: a Hermitian matrix."""
    middle = matmul(factor, dy, adjoint_a=True)
    middle = band_part(set_diag(middle, 0.5 * diag_part(middle)), -1, 0)
    inverse = _solve_triangular(factor, _identity_like(factor))
    grad = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
    return 0.5 * (grad + adjoint(grad))


def _solve_triangular(matrix, rhs, lower=True, adjoint=False):
    return lookup("MatrixTriangularSolve")(matrix, rhs, lower=lower, adjoint=adjoint)


def _identity_like(x):
    """Identity matrices of the size of square `x`, which broadcast to its batch."""
    rows = x.shape[-1]
    return eye(SHAPE(x, out_type=dtypes.int32)[-1] if rows is None else rows, dtype=x.dtype)


CHOLESKY = Op(
    "Cholesky",
    "input: T -> output: T",
    T=MATRIX_TYPES,
    infer=infer_square("Cholesky"),
    kernel=_cholesky,
    lower=_lower_cholesky,
    saves=("output",),
    grad=lambda node, dy: (cholesky_gradient(node.output, dy),),
    vectorize=on_last_axes(),
)


@api("linalg.cholesky")
def cholesky(input, name=None) -> Tensor:
    """The lower triangular factor L of positive definite matrices, with `L @ adjoint(L) == input`.

    Only the lower triangle of `input` is read. Matrices that are not positive definite give NaN.

    >>> tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy().tolist()
    [[2.0, 0.0], [1.0, 2.0]]

    Raises:
        InvalidArgumentError: when the matrices are not square.
    """
    return CHOLESKY(input, name=name)


def _cholesky_grad(xp, solve, l, grad):
    """L^-T phi(L^T grad) L^-1, made symmetric; phi takes the lower triangle and half of the diagonal."""
    turned = xp.swapaxes(l, -1, -2)
    middle = xp.tril(turned @ xp.tril(grad)) * (1 - 0.5 * np.eye(l.shape[-1], dtype=l.dtype))
    whole = solve(turned, xp.swapaxes(solve(turned, xp.swapaxes(middle, -1, -2)), -1, -2))
    return (whole + xp.swapaxes(whole, -1, -2)) / 2


@on_one_thread(one_thread)
def _kernel_cholesky_grad(l, grad):
    check_matrix("CholeskyGrad", l.shape, square=True, argument="l")
    if l.shape != grad.shape:
        raise errors.invalid_argument(
            f"CholeskyGrad: l and grad must have the same shape, got {l.shape} and {grad.shape}."
        )
    return _cholesky_grad(np, np.linalg.solve, widened(l), widened(grad)).astype(l.dtype, copy=False)


def _lower_cholesky_grad(ctx, l, grad):
    def solve(a, b):
        return lax.linalg.triangular_solve(a, b, left_side=True, lower=False)

    return _cholesky_grad(jnp, solve, widened(l), widened(grad)).astype(l.dtype)


CHOLESKY_GRAD = Op(
    "CholeskyGrad",
    "l: T, grad: T -> output: T",
    T=frozenset({dtypes.float16, dtypes.float32, dtypes.float64}),
    infer=same_as_input,
    kernel=_kernel_cholesky_grad,
    lower=_lower_cholesky_grad,
    grad=unregistered,  # TF: kept for old graphs; gradients of Cholesky are made of other ops
    vectorize=on_last_axes(2),
)


# QR


@on_one_thread(one_thread)
def _qr(input, full_matrices):
    check_matrix("Qr", input.shape)
    x = widened(input)
    if not np.isfinite(x).all():
        return _qr_of_infinite(x, full_matrices, input.dtype)
    q, r = np.linalg.qr(x, "complete" if full_matrices else "reduced")
    return q.astype(input.dtype, copy=False), r.astype(input.dtype, copy=False)


def _qr_of_infinite(x, full_matrices, dtype):
    """LAPACK may not return from what is not finite: such matrices give NaN."""
    rows, columns = x.shape[-2:]
    inner = rows if full_matrices else min(rows, columns)
    good = np.isfinite(x).all((-2, -1), keepdims=True)
    q, r = np.linalg.qr(np.where(good, x, 0), "complete" if full_matrices else "reduced")
    upper = np.tri(columns, inner, dtype=bool).T if columns and inner else np.ones((inner, columns), bool)
    return (
        np.where(good, q, np.nan).astype(dtype),
        np.where(good, r, np.where(upper, np.nan, 0)).astype(dtype),
    )


def _lower_qr(ctx, input, full_matrices):
    q, r = jnp.linalg.qr(widened(input), "complete" if full_matrices else "reduced")
    return q.astype(input.dtype), r.astype(input.dtype)


def _infer_qr(input, full_matrices):
    shape = infer_matrix("Qr", input)
    if shape.rank is None:
        return UNKNOWN, UNKNOWN
    batch, rows, columns = shape[:-2], shape[-2], shape[-1]
    inner = rows if full_matrices else _smaller(rows, columns)
    return batch.concatenate([rows, inner]), batch.concatenate([inner, columns])


def _smaller(rows, columns):
    return None if rows is None or columns is None else min(rows, columns)


def _grad_qr(node, dq, dr):
    q, r = node.q, node.r
    rows, columns = q.shape[-2], r.shape[-1]
    if rows is None or columns is None or r.shape[-2] is None:
        raise NotImplementedError("Qr: the gradient needs matrices of a known size.")
    if r.shape[-2] > columns and q.shape[-2] == q.shape[-1]:
        raise NotImplementedError(
            "Qr: there is no gradient for full_matrices=True with more rows than columns: the last columns "
            "of q are not unique."
        )
    if rows >= columns:
        return (_grad_deep_qr(q, r, dq, dr),)
    # input = [x, y] = q [u, v]: the square part x decides q, and y = q v.
    y = node.input[..., :, rows:]
    du, dv = dr[..., :, :rows], dr[..., :, rows:]
    dx = _grad_deep_qr(q, r[..., :, :rows], dq + matmul(y, dv, adjoint_b=True), du)
    return (CONCAT([dx, matmul(q, dv)], -1),)


def _grad_deep_qr(q, r, dq, dr):
    """At least as many rows as columns: input = q r, dA = (dQ + Q copyltu(R dR^H - dQ^H Q)) R^-H."""

    def times_inverse(x):
        """x R^-H"""
        return adjoint(_solve_triangular(r, adjoint(x), lower=False))

    q_dq, r_dr = matmul(q, dq, adjoint_a=True), matmul(r, dr, adjoint_b=True)
    skew = (q_dq - adjoint(q_dq)) + (r_dr - adjoint(r_dr))
    grad = matmul(q, dr + times_inverse(band_part(skew, -1, 0)))
    grad = grad + times_inverse(dq - matmul(q, q_dq))
    if not q.dtype.is_complex:
        return grad
    # The diagonal of r is real, which takes away the imaginary part of the diagonal.
    main = diag_part(r_dr - adjoint(q_dq))
    imaginary = main - CAST(REAL(main, Tout=q.dtype.real_dtype), DstT=q.dtype)
    return grad + times_inverse(matmul(q, adjoint(diag(imaginary))))


QR = Op(
    "Qr",
    "input: T, *, full_matrices: bool = False -> q: T, r: T",
    T=MATRIX_TYPES,
    infer=_infer_qr,
    kernel=_qr,
    lower=_lower_qr,
    saves=("input", "q", "r"),
    grad=_grad_qr,
    vectorize=on_last_axes(),
)


@api("linalg.qr")
def qr(input, full_matrices=False, name=None) -> "Qr":
    """Matrices as products of orthonormal columns q and upper triangular r.

    Args:
        input: a tensor of rank 2 or more.
        full_matrices: make q square.
        name: accepted for compatibility.

    Returns:
        A namedtuple (q, r).

    >>> q, r = tf.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> np.round((q @ r).numpy(), 4).tolist()
    [[3.0, 1.0], [4.0, 2.0]]
    """
    return QR(input, full_matrices=full_matrices, name=name)


# LU


@on_one_thread(one_thread_of_scipy)
def _lu(input, output_idx_type):
    check_matrix("Lu", input.shape, square=True)
    x = widened(input)
    lu = np.empty(x.shape, x.dtype)
    p = np.empty(x.shape[:-1], output_idx_type._np)
    if x.size:
        (factor,) = scipy_linalg.get_lapack_funcs(("getrf",), (x,))
        for index in np.ndindex(x.shape[:-2]):
            lu[index], swaps, info = factor(x[index])
            if info > 0 or np.isnan(lu[index]).any():
                raise not_invertible("Lu")
            order = np.arange(x.shape[-1])
            for i, j in enumerate(swaps.tolist()):
                order[i], order[j] = order[j], order[i]
            p[index] = order
    else:
        p[...] = np.arange(x.shape[-1])
    return lu.astype(input.dtype, copy=False), p


def _lower_lu(ctx, input, output_idx_type):
    lu, _, order = lax.linalg.lu(widened(input))
    main = jnp.diagonal(lu, 0, -2, -1)
    ctx.check(
        jnp.all(jnp.abs(main) > 0), errors.InvalidArgumentError, "Lu: the input matrix is not invertible."
    )
    return lu.astype(input.dtype), order.astype(output_idx_type._np)


def _infer_lu(input, output_idx_type):
    shape = infer_matrix("Lu", input, square=True)
    return (shape, UNKNOWN) if shape.rank is None else (shape, shape[:-1])


def _grad_lu(node, d_lu, dp):
    lu = node.lu
    upper = band_part(lu, 0, -1)
    lower = set_diag(band_part(lu, -1, 0), ONES_LIKE(diag_part(lu)))
    by_lower, by_upper = matmul(lower, d_lu, adjoint_a=True), matmul(d_lu, upper, adjoint_b=True)
    # P^T L^-H (strictly lower part of L^H dL + upper part of dU U^H) U^-H
    middle = band_part(by_upper, 0, -1) + (band_part(by_lower, -1, 0) - diag(diag_part(by_lower)))
    left = _solve_triangular(lower, middle, adjoint=True)
    whole = adjoint(_solve_triangular(upper, adjoint(left), lower=False))
    back = inverse_permutation(node.p)
    return (gather_rows(whole, back),)


def inverse_permutation(p):
    """The permutations that undo those along the last axis."""
    return TOP_K_V2(0 - p, _last_size(p)).indices


def _last_size(x):
    size = x.shape[-1]
    return SHAPE(x, out_type=dtypes.int32)[-1] if size is None else size


def gather_rows(x, indices):
    """The rows of each matrix in the order that `indices`, with the same batch axes, gives."""
    rank = known_rank("linalg", "matrices", x)
    return GATHER_V2(x, indices, rank - 2, batch_dims=rank - 2)


LU = Op(
    "Lu",
    "input: T, *, output_idx_type: type = int32 -> lu: T, p: output_idx_type",
    T=MATRIX_TYPES,
    infer=_infer_lu,
    kernel=_lu,
    lower=_lower_lu,
    saves=("lu", "p"),
    grad=_grad_lu,  # TensorFlow has none
    vectorize=on_last_axes(),
    output_idx_type=dtypes.INDEX,
)


@api("linalg.lu")
def lu(input, output_idx_type=dtypes.int32, name=None) -> "Lu":
    """Square matrices as products of triangular ones, rows reordered: `input[p] == L @ U`.

    Args:
        input: a tensor of rank 2 or more.
        output_idx_type: the dtype of the permutation, int32 or int64.
        name: accepted for compatibility.

    Returns:
        A namedtuple (lu, p): `lu` holds U in its upper triangle and L, whose diagonal is one, below it; `p`
        is the order of the rows.

    Raises:
        InvalidArgumentError: when a matrix is not square or not invertible.
    """
    return LU(input, output_idx_type=dtypes.as_dtype(output_idx_type), name=name)


# Eigenvalues


@on_one_thread(one_thread)
def _eigh(input, compute_v):
    check_matrix("SelfAdjointEigV2", input.shape, square=True)
    x = widened(input)
    if np.isnan(x).any():
        raise errors.invalid_argument("SelfAdjointEigV2: the decomposition did not succeed: input has NaN.")
    if not compute_v:
        # TF: the eigenvalues have the input's dtype, complex ones too.
        return np.linalg.eigvalsh(x).astype(input.dtype, copy=False), np.zeros((), input.dtype)
    e, v = np.linalg.eigh(x)
    return e.astype(input.dtype, copy=False), (v * phased(np, v)).astype(input.dtype, copy=False)


def _lower_eigh(ctx, input, compute_v):
    v, e = lax.linalg.eigh(widened(input), lower=True, symmetrize_input=False, sort_eigenvalues=True)
    if not compute_v:
        return e.astype(input.dtype), jnp.zeros((), input.dtype)
    return e.astype(input.dtype), (v * phased(jnp, v)).astype(input.dtype)


def _infer_eig(op, input, compute_v):
    shape = infer_matrix(op, input, square=True)
    # TF: vectors that were not asked for are a scalar.
    vectors = shape if compute_v else SCALAR
    return (UNKNOWN, vectors) if shape.rank is None else (shape[:-1], vectors)


def _safe_reciprocal(x):
    """1 / x, and 0 where x is 0."""
    return x / (x * x + 1e-20)


def _differences(e):
    """F[i, j] = 1 / (e[j] - e[i]), zero on the diagonal."""
    f = _safe_reciprocal(EXPAND_DIMS(e, -2) - EXPAND_DIMS(e, -1))
    return set_diag(f, ZEROS_LIKE(e))


def _grad_eigh(node, de, dv):
    if node.attrs["compute_v"]:
        v = node.v
        middle = diag(de) + _differences(node.e) * matmul(v, dv, adjoint_a=True)
    else:
        v = SELF_ADJOINT_EIG(node.input, compute_v=True).v
        middle = diag(de)
    grad = matmul(v, matmul(middle, v, adjoint_b=True))
    # Only the lower triangle was read, so its entries stand for both.
    grad = band_part(grad + adjoint(grad), -1, 0)
    return (set_diag(grad, 0.5 * diag_part(grad)),)


def _vectorize_eigenvectors(batch, node, x):
    values, vectors = batch.apply(node, [batch.stack(x)])
    # Vectors that are not wanted are one empty tensor for all elements.
    return [values, Batched(vectors, node.attrs["compute_v"])]


SELF_ADJOINT_EIG = Op(
    "SelfAdjointEigV2",
    "input: T, *, compute_v: bool = True -> e: T, v: T",
    T=MATRIX_TYPES,
    infer=lambda input, compute_v: _infer_eig("SelfAdjointEigV2", input, compute_v),
    kernel=_eigh,
    lower=_lower_eigh,
    saves=("input", "e", "v"),
    grad=_grad_eigh,
    vectorize=_vectorize_eigenvectors,
)


@api("linalg.eigh")
def eigh(tensor, name=None) -> tuple[Tensor, Tensor]:
    """Eigenvalues, in ascending order, and eigenvectors of Hermitian matrices.

    Only the lower triangle is read. The eigenvectors are the columns of the second result.

    Returns:
        (e, v) with `tensor @ v == v * e`.

    >>> e, v = tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
    >>> e.numpy().tolist()
    [1.0, 2.0]
    """
    return tuple(SELF_ADJOINT_EIG(tensor, compute_v=True, name=name))


@api("linalg.eigvalsh")
def eigvalsh(tensor, name=None) -> Tensor:
    """Eigenvalues of Hermitian matrices, in ascending order; only the lower triangle is read."""
    return SELF_ADJOINT_EIG(tensor, compute_v=False, name=name).e


@on_one_thread(one_thread)
def _eig(input, compute_v, Tout):
    check_matrix("Eig", input.shape, square=True)
    if not np.isfinite(input).all():
        raise errors.invalid_argument("Eig: the decomposition did not succeed: input is not finite.")
    if not compute_v:
        return np.linalg.eigvals(input).astype(Tout._np), np.zeros((), Tout._np)
    e, v = np.linalg.eig(input)
    return e.astype(Tout._np), (v * phased(np, v)).astype(Tout._np)


def _lower_eig(ctx, input, compute_v, Tout):
    ctx.check(jnp.all(jnp.isfinite(input)), errors.InvalidArgumentError, "Eig: input is not finite.")
    if not compute_v:
        return jnp.linalg.eigvals(input).astype(Tout._np), jnp.zeros((), Tout._np)
    e, v = jnp.linalg.eig(input)
    return e.astype(Tout._np), (v * phased(jnp, v)).astype(Tout._np)


def _grad_eig(node, de, dv):
    if node.attrs["compute_v"]:
        v = node.v
        v_dv = matmul(v, dv, adjoint_a=True)
        # The vectors have length one, which takes away what only stretches them.
        stretch = diag(CAST(REAL(diag_part(v_dv), Tout=v.dtype.real_dtype), DstT=v.dtype))
        middle = diag(de) + CONJ(_differences(node.e)) * (
            v_dv - matmul(matmul(v, v, adjoint_a=True), stretch)
        )
    else:
        v = EIG(node.input, compute_v=True, Tout=node.attrs["Tout"]).v
        middle = diag(de)
    grad = lookup("MatrixSolve")(v, matmul(middle, v, adjoint_b=True), adjoint=True)
    return (CAST(grad, DstT=node.input.dtype),)


EIG = Op(
    "Eig",
    "input: T, *, compute_v: bool = True, Tout: type -> e: Tout, v: Tout",
    T=frozenset({dtypes.float32, dtypes.float64}) | dtypes.COMPLEX,
    Tout=dtypes.COMPLEX,
    infer=lambda input, compute_v, Tout: _infer_eig("Eig", input, compute_v),
    kernel=_eig,
    lower=_lower_eig,
    saves=("input", "e", "v"),
    grad=_grad_eig,
    vectorize=_vectorize_eigenvectors,
)
_COMPLEX_OF = {
    dtypes.float32: dtypes.complex64,
    dtypes.float64: dtypes.complex128,
    dtypes.complex64: dtypes.complex64,
    dtypes.complex128: dtypes.complex128,
}


@api("linalg.eig", "eig")
def eig(tensor, name=None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of square matrices, as complex numbers, in no particular order.

    Returns:
        (e, v) with `tensor @ v == v * e`; the columns of v have length one.
    """
    tensor = to_tensor(tensor)
    return tuple(EIG(tensor, compute_v=True, Tout=_complex_of("eig", tensor), name=name))


@api("linalg.eigvals", "eigvals")
def eigvals(tensor, name=None) -> Tensor:
    """Eigenvalues of square matrices, as complex numbers, in no particular order."""
    tensor = to_tensor(tensor)
    return EIG(tensor, compute_v=False, Tout=_complex_of("eigvals", tensor), name=name).e


def _complex_of(name, tensor):
    found = _COMPLEX_OF.get(tensor.dtype)
    if found is None:
        raise errors.invalid_argument(
            f"linalg.{name}: tensor must be float32, float64 or complex, got {tensor.dtype.name}."
        )
    return found
