"""Singular values of matrices, and what is computed from them: pseudo-inverses and ranks."""

from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.lazy import jnp
from headrace._src.core.product_threads import on_one_thread, one_thread
from headrace._src.core.shapes import broadcast_shapes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import Batched
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, UNKNOWN
from headrace._src.op.options import truth
from headrace._src.ops.arrays.casting import CAST, cast
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.linalg.checks import (
    MATRIX_TYPES,
    check_matrix,
    infer_matrix,
    one_by_one,
    widened,
)
from headrace._src.ops.linalg.decompositions import phased
from headrace._src.ops.linalg.diagonals import diag, diag_part, set_diag
from headrace._src.ops.linalg.matmul import matmul
from headrace._src.ops.linalg.matrices import adjoint
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.complex_numbers import CONJ, REAL
from headrace._src.ops.math.reductions import reduce_max, reduce_sum


def _sizes(rows, columns, full_matrices):
    """Numbers of columns of u and of v."""
    if full_matrices:
        return rows, columns
    inner = None if rows is None or columns is None else min(rows, columns)
    return inner, inner


@on_one_thread(one_thread)
def _svd(input, compute_uv, full_matrices):
    check_matrix("Svd", input.shape)
    x, dtype = widened(input), input.dtype
    if not np.isfinite(x.sum()) and np.isinf(x).any():
        x = np.where(np.isinf(x), np.nan, x)  # LAPACK gives up on NaN, but never comes back from infinities
    rows, columns = x.shape[-2:]
    inner = min(rows, columns)
    batch = x.shape[:-2]
    real = np.zeros((), x.dtype).real.dtype
    if not compute_uv:
        try:
            s = np.linalg.svd(x, compute_uv=False)
        except np.linalg.LinAlgError:
            s = np.empty((*batch, inner), real)
            one_by_one(lambda matrix: [np.linalg.svd(matrix, compute_uv=False)], x, [s])
        return s.astype(dtype, copy=False), np.zeros((), dtype), np.zeros((), dtype)
    try:
        u, s, vh = np.linalg.svd(x, full_matrices)
    except np.linalg.LinAlgError:
        # TF: a matrix that is not finite gives NaN, and the others of a batch their decompositions.
        of_u, of_v = _sizes(rows, columns, full_matrices)
        u, s = np.empty((*batch, rows, of_u), x.dtype), np.empty((*batch, inner), real)
        vh = np.empty((*batch, of_v, columns), x.dtype)
        one_by_one(lambda matrix: np.linalg.svd(matrix, full_matrices), x, [u, s, vh])
    v = np.conj(np.swapaxes(vh, -1, -2))
    u, v = _with_phases(np, u, v, inner)
    return s.astype(dtype, copy=False), u.astype(dtype, copy=False), v.astype(dtype, copy=False)


def _with_phases(xp, u, v, inner):
    """Both factors with the same unit numbers, so that v is unique; columns beyond the rank on their own."""
    of_u, of_v = phased(xp, u), phased(xp, v)
    common = of_v[..., :inner]
    of_u = xp.concatenate([common, of_u[..., inner:]], -1)
    return u * of_u, v * of_v


def _lower_svd(ctx, input, compute_uv, full_matrices):
    x, dtype = widened(input), input.dtype
    if not compute_uv:
        s = jnp.linalg.svd(x, compute_uv=False).astype(dtype)
        return s, jnp.zeros((), dtype), jnp.zeros((), dtype)
    u, s, vh = jnp.linalg.svd(x, full_matrices)
    v = jnp.conj(jnp.swapaxes(vh, -1, -2))
    u, v = _with_phases(jnp, u, v, min(x.shape[-2:]))
    return s.astype(dtype), u.astype(dtype), v.astype(dtype)


def _infer_svd(input, compute_uv, full_matrices):
    shape = infer_matrix("Svd", input)
    # TF: vectors that were not asked for are a scalar.
    none = SCALAR
    if shape.rank is None:
        return (UNKNOWN, UNKNOWN, UNKNOWN) if compute_uv else (UNKNOWN, none, none)
    batch, rows, columns = shape[:-2], shape[-2], shape[-1]
    s = batch.concatenate([_sizes(rows, columns, False)[0]])
    if not compute_uv:
        return s, none, none
    of_u, of_v = _sizes(rows, columns, full_matrices)
    return s, batch.concatenate([rows, of_u]), batch.concatenate([columns, of_v])


def _grad_svd(node, ds, du, dv):
    if not node.attrs["compute_uv"]:
        _, u, v = SVD(node.input, compute_uv=True, full_matrices=False)
        return (matmul(u, matmul(diag(ds), v, adjoint_b=True)),)
    rows, columns = node.u.shape[-2], node.v.shape[-2]
    if rows is None or columns is None:
        raise NotImplementedError("Svd: the gradient needs matrices of a known size.")
    if node.attrs["full_matrices"] and abs(rows - columns) > 1:
        raise NotImplementedError(
            f"Svd: there is no gradient for full_matrices=True with {rows} rows and {columns} columns: the "
            "last vectors are not unique."
        )
    return (_gradient(node.s, node.u, node.v, ds, du, dv),)


def _leading_out(u, du, u_du, inner):
    """The part of the gradient of the first `inner` vectors that is orthogonal to all of them."""
    if u.shape[-1] == inner:
        return du - matmul(u, u_du)
    return matmul(u[..., inner:], u_du[..., inner:, :inner] - adjoint(u_du[..., :inner, inner:]))


def _gradient(s, u, v, ds, du, dv):
    """The gradient by A = U S V^H, from those of its factors.

    With F[i, j] = 1 / (s[j]^2 - s[i]^2) and P = U^H dA V, the factors change by dU = U (F o (P S + S P^H))
    and dV = V (F o (S P + P^H S)) within the spaces that they span, and by what leads out of those.
    """
    inner = s.shape[-1]
    if s.dtype.is_complex:
        # The singular values are real numbers, though in the dtype of the matrix.
        ds = CAST(REAL(ds, Tout=s.dtype.real_dtype), DstT=s.dtype)
    squares = s * s
    f = EXPAND_DIMS(squares, -2) - EXPAND_DIMS(squares, -1)
    f = set_diag(f / (f * f + 1e-20), ZEROS_LIKE(s))
    row, column = EXPAND_DIMS(s, -2), EXPAND_DIMS(s, -1)
    thin_u, thin_v = u[..., :inner], v[..., :inner]
    u_du, v_dv = matmul(u, du, adjoint_a=True), matmul(v, dv, adjoint_a=True)
    core_u, core_v = u_du[..., :inner, :inner], v_dv[..., :inner, :inner]
    middle = diag(ds) + f * (core_u - adjoint(core_u)) * row + column * (f * (core_v - adjoint(core_v)))
    reciprocal = s / (s * s + 1e-20)
    if s.dtype.is_complex:
        # Only the common phase of a pair of vectors is free; the difference of their phases is not.
        main = diag_part(core_v)
        middle = middle + diag(0.5 * reciprocal * (CONJ(main) - main))
    grad = matmul(thin_u, matmul(middle, thin_v, adjoint_b=True))
    inverse = EXPAND_DIMS(reciprocal, -2)
    if u.shape[-2] > inner:
        grad = grad + matmul(_leading_out(u, du, u_du, inner) * inverse, thin_v, adjoint_b=True)
    if v.shape[-2] > inner:
        grad = grad + matmul(thin_u, _leading_out(v, dv, v_dv, inner) * inverse, adjoint_b=True)
    return grad


def _vectorize_svd(batch, node, x):
    values, *vectors = batch.apply(node, [batch.stack(x)])
    # Vectors that are not wanted are one empty tensor for all elements.
    return [values, *(Batched(x, node.attrs["compute_uv"]) for x in vectors)]


SVD = Op(
    "Svd",
    "input: T, *, compute_uv: bool = True, full_matrices: bool = False -> s: T, u: T, v: T",
    T=MATRIX_TYPES,
    infer=_infer_svd,
    kernel=_svd,
    lower=_lower_svd,
    saves=("input", "s", "u", "v"),
    grad=_grad_svd,
    vectorize=_vectorize_svd,
)


@api("linalg.svd")
def svd(tensor, full_matrices=False, compute_uv=True, name=None) -> Any:
    """Singular values and vectors of matrices.

    Args:
        tensor: a tensor of rank 2 or more.
        full_matrices: make u and v square.
        compute_uv: also return the singular vectors.
        name: accepted for compatibility.

    Returns:
        The singular values s in descending order, or (s, u, v) with `tensor == u @ diag(s) @ adjoint(v)`.

    >>> tf.linalg.svd([[3.0, 0.0], [0.0, -4.0]], compute_uv=False).numpy().tolist()
    [4.0, 3.0]
    """
    s, u, v = SVD(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    # TF: singular values are real, though the op gives them in the dtype of the matrix.
    s = cast(REAL(s, Tout=s.dtype.real_dtype), s.dtype.real_dtype) if s.dtype.is_complex else s
    return (s, u, v) if compute_uv else s


def _checked(name, a):
    a = to_tensor(a)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        raise TypeError(f"linalg.{name}: a must be floating or complex, got {a.dtype.name}.")
    if a.shape.rank is not None and a.shape.rank < 2:
        raise ValueError(f"linalg.{name}: a must have rank 2 or more, got shape {a.shape}.")
    return a


def _epsilon(dtype):
    return float(np.finfo(dtype.real_dtype.as_numpy_dtype).eps)


def _matrix_sizes(a):
    """(rows, columns) as ints, or as scalars of a shape that is known only later."""
    if a.shape.rank is not None and a.shape[-2] is not None and a.shape[-1] is not None:
        return a.shape[-2], a.shape[-1]
    shape = SHAPE(a, out_type=dtypes.int32)
    return shape[-2], shape[-1]


def _larger_size(a, dtype):
    rows, columns = _matrix_sizes(a)
    if isinstance(rows, int):
        return float(max(rows, columns))
    return cast(MAXIMUM(rows, columns), dtype)


def _largest(s):
    """The largest singular value; 0 for an empty matrix."""
    return reduce_sum(s, axis=-1) if s.shape[-1] == 0 else reduce_max(s, axis=-1)


@api("linalg.matrix_rank")
def matrix_rank(a, tol=None, validate_args=False, name=None) -> Tensor:
    """The number of singular values above a tolerance.

    Args:
        a: matrices.
        tol: the tolerance; by default the largest singular value times the larger size times the precision.
        validate_args: accepted for compatibility; the rank of `a` is always checked.
        name: accepted for compatibility.

    Returns:
        An int32 tensor of the batch's shape.

    >>> int(tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]))
    1
    """
    truth("validate_args", validate_args)
    a = _checked("matrix_rank", a)
    s = svd(a, compute_uv=False)
    if tol is None:
        tol = _epsilon(a.dtype) * _larger_size(a, s.dtype) * EXPAND_DIMS(_largest(s), -1)
    return reduce_sum(cast(s > tol, dtypes.int32), axis=-1, name=name)


@api("linalg.pinv")
def pinv(a, rcond=None, validate_args=False, name=None) -> Tensor:
    """The Moore-Penrose pseudo-inverse of matrices.

    Args:
        a: matrices.
        rcond: singular values below `rcond` times the largest count as zero; by default 10 times the larger
            size times the precision.
        validate_args: accepted for compatibility; the rank of `a` is always checked.
        name: accepted for compatibility.

    >>> tf.linalg.pinv([[2.0, 0.0], [0.0, 0.0]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    truth("validate_args", validate_args)
    a = _checked("pinv", a)
    real = a.dtype.real_dtype
    if rcond is None:
        rcond = 10.0 * _larger_size(a, real) * _epsilon(a.dtype)
    rcond = to_tensor(rcond, real)
    batch = a.shape[:-2]
    if rcond.shape.rank is not None and batch.rank is not None and not (
        broadcast_shapes(rcond.shape, batch).is_compatible_with(batch)
    ):
        raise ValueError(f"linalg.pinv: rcond must fit the batch {batch} of a, got shape {rcond.shape}.")
    s, u, v = svd(a, full_matrices=False, compute_uv=True)
    cutoff = rcond * _largest(s)
    infinite = to_tensor(np.array(np.inf, real.as_numpy_dtype))
    s = SELECT_V2(s > EXPAND_DIMS(cutoff, -1), s, infinite)
    scaled = v / EXPAND_DIMS(cast(s, a.dtype), -2)
    return matmul(scaled, u, adjoint_b=True, name=name)
