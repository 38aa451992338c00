"""Inverses, determinants and solutions of linear equations."""

from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp, lax, scipy_linalg
from headrace._src.core.product_threads import on_one_thread, one_thread, one_thread_of_scipy
from headrace._src.core.shapes import broadcast_shapes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import on_last_axes
from headrace._src.op.control_flow import cond
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.ops.arrays.broadcasting import BROADCAST_GRADIENT_ARGS, SUM, sum_to
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.linalg.checks import (
    MATRIX_TYPES,
    check_matrix,
    infer_matrix,
    infer_square,
    not_invertible,
    widened,
)
from headrace._src.ops.linalg.decompositions import CHOLESKY, cholesky
from headrace._src.ops.linalg.diagonals import diag_part
from headrace._src.ops.linalg.matmul import matmul
from headrace._src.ops.linalg.matrices import adjoint as adjoint_of
from headrace._src.ops.linalg.matrices import band_part, eye
from headrace._src.ops.math.complex_numbers import COMPLEX, CONJ, IMAG, REAL
from headrace._src.ops.math.elementwise import LOG
from headrace._src.ops.math.reductions import reduce_sum

if TYPE_CHECKING:
    from headrace._src.attached import LogMatrixDeterminant


def _turned(xp, x):
    return xp.conj(xp.swapaxes(x, -1, -2))


def _check_pivots(ctx, op, matrix):
    """In compiled code: the error of a matrix with a pivot that is exactly zero, as LAPACK finds it."""
    factors = lax.linalg.lu(matrix)[0]
    ctx.check(
        jnp.all(jnp.diagonal(factors, 0, -2, -1) != 0),
        errors.InvalidArgumentError,
        f"{op}: the input matrix is not invertible.",
    )


# Inverse


@on_one_thread(one_thread)
def _inverse(input, adjoint):
    check_matrix("MatrixInverse", input.shape, square=True)
    x = widened(input)
    try:
        inverse = np.linalg.inv(_turned(np, x) if adjoint else x)
    except np.linalg.LinAlgError:
        raise not_invertible("MatrixInverse") from None
    if np.isnan(x).any():
        raise not_invertible("MatrixInverse")
    return inverse.astype(input.dtype, copy=False)


def _lower_inverse(ctx, input, adjoint):
    x = widened(input)
    _check_pivots(ctx, "MatrixInverse", x)
    return jnp.linalg.inv(_turned(jnp, x) if adjoint else x).astype(input.dtype)


def _grad_inverse(node, dy):
    y = node.output
    if node.attrs["adjoint"]:
        return (-matmul(y, matmul(dy, y, adjoint_a=True)),)
    return (-matmul(y, matmul(dy, y, adjoint_b=True), adjoint_a=True),)


MATRIX_INVERSE = Op(
    "MatrixInverse",
    "input: T, *, adjoint: bool = False -> output: T",
    T=MATRIX_TYPES,
    infer=infer_square("MatrixInverse"),
    kernel=_inverse,
    lower=_lower_inverse,
    saves=("output",),
    grad=_grad_inverse,
    vectorize=on_last_axes(),
)


@api("linalg.inv")
def inv(input, adjoint=False, name=None) -> Tensor:
    """The inverse of square matrices, or with `adjoint` that of their conjugate transposes.

    Raises:
        InvalidArgumentError: when a matrix is not square or not invertible.

    >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return MATRIX_INVERSE(input, adjoint=adjoint, name=name)


# Determinants


def _infer_determinant(op, input):
    shape = infer_matrix(op, input, square=True)
    return UNKNOWN if shape.rank is None else shape[:-2]


@on_one_thread(one_thread)
def _determinant(input):
    check_matrix("MatrixDeterminant", input.shape, square=True)
    return np.linalg.det(widened(input)).astype(input.dtype)


def _times_inverse(factor, matrix):
    """One factor per matrix, times the inverse of the conjugate transpose."""
    return EXPAND_DIMS(EXPAND_DIMS(factor, -1), -1) * MATRIX_INVERSE(matrix, adjoint=True)


def _conj(x):
    return CONJ(x) if x.dtype.is_complex else x


MATRIX_DETERMINANT = Op(
    "MatrixDeterminant",
    "input: T -> output: T",
    T=MATRIX_TYPES,
    infer=lambda input: _infer_determinant("MatrixDeterminant", input),
    kernel=_determinant,
    lower=lambda ctx, input: jnp.linalg.det(widened(input)).astype(input.dtype),
    saves=("input", "output"),
    grad=lambda node, dy: (_times_inverse(dy * _conj(node.output), node.input),),
    vectorize=on_last_axes(),
)


@api("linalg.det")
def det(input, name=None) -> Tensor:
    """The determinant of square matrices.

    >>> float(tf.linalg.det([[2.0, 0.0], [0.0, 4.0]]))
    8.0
    """
    return MATRIX_DETERMINANT(input, name=name)


def _log_determinant(xp, input):
    check_matrix("LogMatrixDeterminant", input.shape, square=True)
    sign, logarithm = xp.linalg.slogdet(widened(input))
    return sign.astype(input.dtype), logarithm.astype(input.dtype)


def _infer_log_determinant(input):
    shape = _infer_determinant("LogMatrixDeterminant", input)
    return shape, shape


def _grad_log_determinant(node, d_sign, d_log):
    factor = d_log
    if node.input_dtype.is_complex:
        # d log det A = tr(A^-1 dA): its real part changes the logarithm, its imaginary part turns the sign.
        turn = IMAG(d_sign * CONJ(node.sign), Tout=d_log.dtype.real_dtype)
        factor = factor + COMPLEX(ZEROS_LIKE(turn), turn, Tout=d_log.dtype)
    return (_times_inverse(factor, node.input),)


LOG_MATRIX_DETERMINANT = Op(
    "LogMatrixDeterminant",
    "input: T -> sign: T, log_abs_determinant: T",
    T=MATRIX_TYPES,
    infer=_infer_log_determinant,
    kernel=on_one_thread(one_thread)(lambda input: _log_determinant(np, input)),
    lower=lambda ctx, input: _log_determinant(jnp, input),
    saves=("input", "input_dtype", "sign"),
    grad=_grad_log_determinant,
    vectorize=on_last_axes(),
)


@api("linalg.slogdet")
def slogdet(input, name=None) -> "LogMatrixDeterminant":
    """The sign (a number of magnitude one) and the logarithm of the magnitude of determinants.

    Returns:
        A namedtuple (sign, log_abs_determinant), both of the input's dtype.
    """
    return LOG_MATRIX_DETERMINANT(input, name=name)


@api("linalg.logdet")
def logdet(matrix, name=None) -> Tensor:
    """The logarithm of the determinant of Hermitian positive definite matrices; NaN for others."""
    factor = cholesky(matrix)
    main = diag_part(factor)
    if main.dtype.is_complex:
        main = REAL(main, Tout=main.dtype.real_dtype)
    return 2.0 * reduce_sum(LOG(main), axis=[-1], name=name)


# Linear equations


def _check_equations(op, matrix, rhs, square=True):
    check_matrix(op, matrix.shape, square=square, argument="matrix")
    check_matrix(op, rhs.shape, argument="rhs")
    if matrix.shape[-2] != rhs.shape[-2]:
        raise errors.invalid_argument(
            f"{op}: matrix and rhs must have equally many rows, got shapes {matrix.shape} and {rhs.shape}."
        )


def _check_same_batch(op, matrix, rhs):
    if matrix.shape[:-2] != rhs.shape[:-2]:
        raise errors.invalid_argument(
            f"{op}: matrix and rhs must have equal batch shapes, got {matrix.shape} and {rhs.shape}."
        )


def _infer_solution(op, matrix, rhs, **attrs):
    a, b = infer_matrix(op, matrix, square=True, argument="matrix"), infer_matrix(op, rhs, argument="rhs")
    if a.rank is None or b.rank is None:
        return UNKNOWN
    if None not in (a[-2], b[-2]) and a[-2] != b[-2]:
        raise errors.invalid_argument(
            f"{op}: matrix and rhs must have the same number of rows, got shapes {a} and {b}."
        )
    rows = b[-2] if b[-2] is not None else a[-2]
    return broadcast_shapes(a[:-2], b[:-2]).concatenate([rows, b[-1]])


@on_one_thread(one_thread)
def _solve(matrix, rhs, adjoint):
    _check_equations("MatrixSolve", matrix, rhs)
    _check_same_batch("MatrixSolve", matrix, rhs)
    a, b = widened(matrix), widened(rhs)
    try:
        x = np.linalg.solve(_turned(np, a) if adjoint else a, b)
    except np.linalg.LinAlgError:
        raise not_invertible("MatrixSolve") from None
    if np.isnan(a).any():
        raise not_invertible("MatrixSolve")
    return x.astype(rhs.dtype, copy=False)


def _lower_solve(ctx, matrix, rhs, adjoint):
    a = widened(matrix)
    _check_pivots(ctx, "MatrixSolve", a)
    return jnp.linalg.solve(_turned(jnp, a) if adjoint else a, widened(rhs)).astype(rhs.dtype)


def _grad_solve(node, dy):
    turned = node.attrs["adjoint"]
    d_rhs = MATRIX_SOLVE(node.matrix, dy, adjoint=not turned)
    if not node.wants(0):
        return None, d_rhs
    x = node.output
    return (
        -matmul(x, d_rhs, adjoint_b=True) if turned else -matmul(d_rhs, x, adjoint_b=True),
        d_rhs,
    )


MATRIX_SOLVE = Op(
    "MatrixSolve",
    "matrix: T, rhs: T, *, adjoint: bool = False -> output: T",
    T=MATRIX_TYPES,
    infer=lambda matrix, rhs, adjoint: _infer_solution("MatrixSolve", matrix, rhs),
    kernel=_solve,
    lower=_lower_solve,
    saves=("matrix", "output"),
    grad=_grad_solve,
    vectorize=on_last_axes(2),
)


@api("linalg.solve")
def solve(matrix, rhs, adjoint=False, name=None) -> Tensor:
    """The x with `matrix @ x == rhs`.

    Args:
        matrix: square matrices.
        rhs: as many right-hand sides as it has columns, with the same batch dimensions.
        adjoint: solve with the conjugate transposes of the matrices.
        name: accepted for compatibility.

    Raises:
        InvalidArgumentError: when a matrix is not invertible, or shapes do not fit.

    >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    return MATRIX_SOLVE(matrix, rhs, adjoint=adjoint, name=name)


@on_one_thread(one_thread_of_scipy)
def _triangular_solve(matrix, rhs, lower, adjoint):
    _check_equations("MatrixTriangularSolve", matrix, rhs)
    try:
        batch = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    except ValueError:
        raise errors.invalid_argument(
            f"MatrixTriangularSolve: the batch dimensions of matrix and rhs must broadcast, got shapes "
            f"{matrix.shape} and {rhs.shape}."
        ) from None
    a, b = widened(matrix), widened(rhs)
    x = np.empty(batch + b.shape[-2:], b.dtype)
    if x.size:
        (substitute,) = scipy_linalg.get_blas_funcs(("trsm",), (a, b))
        a, b = np.broadcast_to(a, batch + a.shape[-2:]), np.broadcast_to(b, batch + b.shape[-2:])
        for index in np.ndindex(batch):
            # BLAS reads columns, so it sees the transposes: X^T A^T = B^T.
            y = substitute(1.0, a[index].T, b[index].T, side=1, lower=not lower, trans_a=2 if adjoint else 0)
            x[index] = y.T
    return x.astype(rhs.dtype, copy=False)


def _lower_triangular_solve(ctx, matrix, rhs, lower, adjoint):
    a, b = widened(matrix), widened(rhs)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = jnp.broadcast_to(a, batch + a.shape[-2:]), jnp.broadcast_to(b, batch + b.shape[-2:])
    x = lax.linalg.triangular_solve(
        a, b, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint
    )
    return x.astype(rhs.dtype)


def sum_batches(gradient, shape, other):
    """A gradient summed over the batch axes along which `shape` was repeated to match `other`."""
    if isinstance(shape, tuple) and isinstance(other, tuple):
        return sum_to(gradient, shape, other[:-2] + shape[-2:])
    shape, other = to_tensor(shape), to_tensor(other)
    axes = BROADCAST_GRADIENT_ARGS(shape[:-2], other[:-2]).r0
    return RESHAPE(SUM(gradient, axes), shape)


def _grad_triangular_solve(node, dy):
    lower, turned = node.attrs["lower"], node.attrs["adjoint"]
    d_rhs = MATRIX_TRIANGULAR_SOLVE(node.matrix, dy, lower=lower, adjoint=not turned)
    d_matrix = None
    if node.wants(0):
        x = node.output
        d_matrix = -matmul(x, d_rhs, adjoint_b=True) if turned else -matmul(d_rhs, x, adjoint_b=True)
        d_matrix = band_part(d_matrix, -1, 0) if lower else band_part(d_matrix, 0, -1)
        d_matrix = sum_batches(d_matrix, node.matrix_shape, node.rhs_shape)
    return d_matrix, sum_batches(d_rhs, node.rhs_shape, node.matrix_shape)


def _vectorize_triangular_solve(batch, node, matrix, rhs):
    # Its batch axes broadcast.
    is_alike = batch.rank(matrix) == batch.rank(rhs)
    return batch.apply(node, [batch.stack(matrix), batch.stack(rhs)] if is_alike else batch.aligned([matrix, rhs]))


MATRIX_TRIANGULAR_SOLVE = Op(
    "MatrixTriangularSolve",
    "matrix: T, rhs: T, *, lower: bool = True, adjoint: bool = False -> output: T",
    T=MATRIX_TYPES | {dtypes.bfloat16},
    infer=lambda matrix, rhs, lower, adjoint: _infer_solution("MatrixTriangularSolve", matrix, rhs),
    kernel=_triangular_solve,
    lower=_lower_triangular_solve,
    saves=("matrix", "output", "matrix_shape", "rhs_shape"),
    grad=_grad_triangular_solve,
    vectorize=_vectorize_triangular_solve,
)


@api("linalg.triangular_solve")
def triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None) -> Tensor:
    """The x with `matrix @ x == rhs`, for triangular matrices.

    Args:
        matrix: square matrices; only one triangle is read.
        rhs: right-hand sides, the columns of matrices; batch dimensions broadcast.
        lower: whether the lower or the upper triangle counts.
        adjoint: solve with the conjugate transposes of the matrices.
        name: accepted for compatibility.

    >>> tf.linalg.triangular_solve([[2.0, 9.0], [1.0, 4.0]], [[2.0], [3.0]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    return MATRIX_TRIANGULAR_SOLVE(matrix, rhs, lower=lower, adjoint=adjoint, name=name)


@api("linalg.cholesky_solve")
def cholesky_solve(chol, rhs, name=None) -> Tensor:
    """The x with `A @ x == rhs`, given the Cholesky factor of A.

    >>> tf.linalg.cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [1.0]]).numpy().tolist()
    [[1.0], [1.0]]
    """
    y = MATRIX_TRIANGULAR_SOLVE(chol, rhs, lower=True, adjoint=False)
    return MATRIX_TRIANGULAR_SOLVE(chol, y, lower=True, adjoint=True, name=name)


# Least squares


def _gramian_factor(a, l2_regularizer, of_columns):
    """The Cholesky factor of a^H a (or a a^H) plus a multiple of the identity."""
    gramian = matmul(a, a, adjoint_a=True) if of_columns else matmul(a, a, adjoint_b=True)
    size = gramian.shape[-1]
    if size is None:
        size = SHAPE(gramian, out_type=dtypes.int32)[-1]
    weight = CAST(to_tensor(l2_regularizer), DstT=a.dtype)
    return CHOLESKY(gramian + weight * eye(size, dtype=a.dtype))


def _least_squares(xp, op, matrix, rhs, l2_regularizer, fast):
    a, b = widened(matrix), widened(rhs)
    rows, columns = a.shape[-2:]
    if not fast:
        # TF: the regularizer counts only in the fast way.
        if xp is np and np.isinf(a).any():
            a = np.where(np.isinf(a), np.nan, a)  # LAPACK gives up on NaN, but never comes back from infinities
        x = xp.linalg.pinv(a, rcond=np.finfo(a.dtype).eps * max(rows, columns)) @ b
        return x.astype(rhs.dtype)
    turned = _turned(xp, a)
    deep = rows >= columns
    gramian = turned @ a if deep else a @ turned
    gramian = gramian + l2_regularizer.astype(a.dtype) * np.eye(min(rows, columns), dtype=a.dtype)
    factor = xp.linalg.cholesky(gramian)
    half = xp.linalg.solve(factor, turned @ b if deep else b)
    x = xp.linalg.solve(_turned(xp, factor), half)
    return (x if deep else turned @ x).astype(rhs.dtype)


@on_one_thread(one_thread)
def _solve_ls(matrix, rhs, l2_regularizer, fast):
    _check_equations("MatrixSolveLs", matrix, rhs, square=False)
    _check_same_batch("MatrixSolveLs", matrix, rhs)
    if l2_regularizer.ndim:
        raise errors.invalid_argument(
            f"MatrixSolveLs: l2_regularizer must be a scalar, got shape {l2_regularizer.shape}."
        )
    if not l2_regularizer >= 0:
        raise errors.invalid_argument(
            f"MatrixSolveLs: l2_regularizer must not be negative, got {l2_regularizer}."
        )
    if not matrix.size:
        return np.zeros((*matrix.shape[:-2], matrix.shape[-1], rhs.shape[-1]), rhs.dtype)
    try:
        return _least_squares(np, "MatrixSolveLs", matrix, rhs, l2_regularizer, fast)
    except np.linalg.LinAlgError:
        raise errors.invalid_argument(
            "MatrixSolveLs: the matrix is rank deficient or ill-conditioned. Try fast=False, or a larger "
            "l2_regularizer."
        ) from None


def _lower_solve_ls(ctx, matrix, rhs, l2_regularizer, fast):
    if not matrix.size:
        return jnp.zeros((*matrix.shape[:-2], matrix.shape[-1], rhs.shape[-1]), rhs.dtype)
    x = _least_squares(jnp, "MatrixSolveLs", matrix, rhs, l2_regularizer, fast)
    ctx.check(l2_regularizer >= 0, errors.InvalidArgumentError, "MatrixSolveLs: l2_regularizer is negative.")
    ctx.check(
        ~jnp.any(jnp.isnan(x)) | jnp.any(jnp.isnan(rhs)),
        errors.InvalidArgumentError,
        "MatrixSolveLs: the matrix is rank deficient or ill-conditioned.",
    )
    return x


def _infer_solve_ls(matrix, rhs, l2_regularizer, fast):
    a, b = infer_matrix("MatrixSolveLs", matrix), infer_matrix("MatrixSolveLs", rhs)
    if a.rank is None or b.rank is None:
        return UNKNOWN
    return a[:-2].merge_with(b[:-2]).concatenate([a[-1], b[-1]])


def _grad_solve_ls(node, dy):
    if not node.attrs["fast"]:
        raise ValueError("MatrixSolveLs: there is no gradient for fast=False.")
    a, b, x, weight = node.matrix, node.rhs, node.output, node.l2_regularizer
    rows, columns = a.shape[-2], a.shape[-1]
    if rows is None or columns is None:
        raise NotImplementedError("MatrixSolveLs: the gradient needs matrices of a known size.")
    if rows >= columns:
        z = cholesky_solve(_gramian_factor(a, weight, True), dy)
        x_z = matmul(x, z, adjoint_b=True)
        by_a = matmul(b, z, adjoint_b=True) - matmul(a, x_z + adjoint_of(x_z))
        return by_a, matmul(a, z), None
    factor = _gramian_factor(a, weight, False)
    by_b = cholesky_solve(factor, matmul(a, dy))
    y = cholesky_solve(factor, b)
    rest = dy - matmul(a, by_b, adjoint_a=True)
    by_a = matmul(y, rest, adjoint_b=True) - matmul(by_b, matmul(y, a, adjoint_a=True))
    return by_a, by_b, None


MATRIX_SOLVE_LS = Op(
    "MatrixSolveLs",
    "matrix: T, rhs: T, l2_regularizer: float64, *, fast: bool = True -> output: T",
    T=MATRIX_TYPES,
    infer=_infer_solve_ls,
    kernel=_solve_ls,
    lower=_lower_solve_ls,
    saves=("matrix", "rhs", "output", "l2_regularizer"),
    grad=_grad_solve_ls,
    vectorize=on_last_axes(2),
)


@api("linalg.lstsq")
def lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None) -> Tensor:
    """The x for which `matrix @ x` comes closest to `rhs`; the shortest one if there are several.

    Args:
        matrix: matrices.
        rhs: right-hand sides, the columns of matrices.
        l2_regularizer: the weight of the squared length of x in what is minimised; only with `fast`.
        fast: solve the normal equations, which needs full rank and is less precise than a decomposition.
        name: accepted for compatibility.

    >>> tf.linalg.lstsq([[1.0], [1.0]], [[1.0], [3.0]]).numpy().tolist()
    [[2.0]]
    """
    matrix = to_tensor(matrix)
    rhs = to_tensor(rhs, hint=matrix.dtype)
    rows, columns = (matrix.shape[-2], matrix.shape[-1]) if (matrix.shape.rank or 0) >= 2 else (None, None)
    if not fast:
        return MATRIX_SOLVE_LS(matrix, rhs, l2_regularizer, fast=fast, name=name)
    l2_regularizer = to_tensor(l2_regularizer, None if isinstance(l2_regularizer, Tensor) else matrix.dtype.real_dtype)
    if l2_regularizer.dtype is not matrix.dtype.real_dtype:
        raise TypeError(f"l2_regularizer must be {matrix.dtype.real_dtype.name}, got {l2_regularizer.dtype.name}.")

    def tall():
        factor = _gramian_factor(matrix, l2_regularizer, True)
        return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True), name=name)

    def wide():
        factor = _gramian_factor(matrix, l2_regularizer, False)
        return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True, name=name)

    if rows is not None and columns is not None:
        return tall() if rows >= columns else wide()
    dims = SHAPE(matrix)
    return cond(dims[-2] >= dims[-1], tall, wide)
