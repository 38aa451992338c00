"""Matrices given by a few diagonals: banded and tridiagonal equations and products."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp, lax, scipy_linalg
from headrace._src.core.shapes import broadcast_shapes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import on_last_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.padding import PAD, pad_axis
from headrace._src.ops.arrays.rearranging import ROLL
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, SQUEEZE
from headrace._src.ops.linalg.checks import MATRIX_TYPES, check_matrix, infer_matrix, widened
from headrace._src.ops.linalg.diagonals import MATRIX_DIAG, diag_part
from headrace._src.ops.linalg.matmul import matmul
from headrace._src.ops.linalg.matrices import matrix_transpose
from headrace._src.ops.linalg.solving import sum_batches
from headrace._src.ops.math.complex_numbers import CONJ
from headrace._src.ops.ragged.row_arithmetic import require

_TRIDIAGONAL_TYPES = frozenset({dtypes.float32, dtypes.float64}) | dtypes.COMPLEX


def _check_bands(op, matrix, rhs):
    check_matrix(op, matrix.shape, argument="matrix")
    check_matrix(op, rhs.shape, argument="rhs")
    if not matrix.shape[-2]:
        raise errors.invalid_argument(f"{op}: matrix must have at least one band, got shape {matrix.shape}.")
    if matrix.shape[-1] != rhs.shape[-2]:
        raise errors.invalid_argument(
            f"{op}: bands and rhs must have the same length, got shapes {matrix.shape} and {rhs.shape}."
        )
    try:
        return np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    except ValueError:
        raise errors.invalid_argument(
            f"{op}: the batch dimensions of matrix and rhs must broadcast, got shapes {matrix.shape} and "
            f"{rhs.shape}."
        ) from None


def _banded_triangular_solve(matrix, rhs, lower, adjoint):
    batch = _check_bands("BandedTriangularSolve", matrix, rhs)
    bands, b = widened(matrix), widened(rhs)
    # bands[k, r] is the entry of row r that lies k columns before the diagonal, or after it.
    bands = np.moveaxis(bands if lower else bands[..., ::-1, :], (-2, -1), (0, 1))[..., None]
    if (bands[0] == 0).any():
        raise errors.invalid_argument("BandedTriangularSolve: the input matrix is not invertible.")
    size = b.shape[-2]
    bands = bands[:size] if size else bands
    if adjoint:
        bands = np.conj(bands)
    x = np.empty((size, *batch, b.shape[-1]), b.dtype)
    b = np.moveaxis(np.broadcast_to(b, batch + b.shape[-2:]), -2, 0)
    # The transpose of a lower triangular matrix is solved from the end, with entries of its columns.
    forward = lower != adjoint
    for r in range(size) if forward else range(size - 1, -1, -1):
        total = b[r]
        for k in range(1, min(len(bands), r + 1 if forward else size - r)):
            other = r - k if forward else r + k
            total = total - bands[k, other if adjoint else r] * x[other]
        x[r] = total / bands[0, r]
    return np.moveaxis(x, 0, -2).astype(rhs.dtype)


def _lower_banded_triangular_solve(ctx, matrix, rhs, lower, adjoint):
    bands, b = widened(matrix), widened(rhs)
    batch = np.broadcast_shapes(bands.shape[:-2], b.shape[:-2])
    size = b.shape[-2]
    count = min(bands.shape[-2], size)
    main = bands[..., 0 if lower else -1, :]
    ctx.check(
        jnp.all(main != 0), errors.InvalidArgumentError, "BandedTriangularSolve: the matrix is singular."
    )
    bands = bands[..., :count, :] if lower else bands[..., bands.shape[-2] - count :, :]
    k = np.array([1 - count, 0] if lower else [0, count - 1])
    if count == 1:
        bands = bands[..., 0, :]
    dense = MATRIX_DIAG.lower(ctx, bands, k, size, size, np.zeros((), bands.dtype), align="LEFT_RIGHT")
    dense = jnp.broadcast_to(dense, (*batch, size, size))
    b = jnp.broadcast_to(b, (*batch, *b.shape[-2:]))
    x = lax.linalg.triangular_solve(
        dense, b, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint
    )
    return x.astype(rhs.dtype)


def _infer_banded(matrix, rhs, lower, adjoint):
    a = infer_matrix("BandedTriangularSolve", matrix, argument="matrix")
    b = infer_matrix("BandedTriangularSolve", rhs, argument="rhs")
    if a.rank is None or b.rank is None:
        return UNKNOWN
    return broadcast_shapes(a[:-2], b[:-2]).concatenate(b[-2:])


def _grad_banded(node, dy):
    lower, turned = node.attrs["lower"], node.attrs["adjoint"]
    d_rhs = BANDED_TRIANGULAR_SOLVE(node.matrix, dy, lower=lower, adjoint=not turned)
    x, count, size = node.output, node.matrix.shape[-2], node.matrix.shape[-1]
    if count is None or size is None:
        raise NotImplementedError("BandedTriangularSolve: the gradient needs bands of a known shape.")
    dense = -matmul(x, d_rhs, adjoint_b=True) if turned else -matmul(d_rhs, x, adjoint_b=True)
    inside = min(count, size)
    k = (1 - inside, 0) if lower else (0, inside - 1)
    bands = diag_part(dense, k=k, align="LEFT_RIGHT")
    if inside == 1:
        bands = EXPAND_DIMS(bands, -2)
    if count > size:
        # Bands that lie outside the matrix have no effect.
        pads = [[0, 0]] * (bands.shape.rank - 2)
        pads += [[0, count - size] if lower else [count - size, 0], [0, 0]]
        bands = PAD(bands, pads)
    return (
        sum_batches(bands, node.matrix_shape, node.rhs_shape),
        sum_batches(d_rhs, node.rhs_shape, node.matrix_shape),
    )


BANDED_TRIANGULAR_SOLVE = Op(
    "BandedTriangularSolve",
    "matrix: T, rhs: T, *, lower: bool = True, adjoint: bool = False -> output: T",
    T=MATRIX_TYPES,
    infer=_infer_banded,
    kernel=_banded_triangular_solve,
    lower=_lower_banded_triangular_solve,
    saves=("matrix", "output", "matrix_shape", "rhs_shape"),
    grad=_grad_banded,
    vectorize=on_last_axes(2),
)


@api("linalg.banded_triangular_solve")
def banded_triangular_solve(bands, rhs, lower=True, adjoint=False, name=None) -> Tensor:
    """The x with `matrix @ x == rhs`, for triangular matrices given by their diagonals.

    Args:
        bands: the diagonals: of a lower triangular matrix the main one first, entry r of each belonging to
            row r; of an upper triangular matrix the main one last.
        rhs: right-hand sides, the columns of matrices; batch dimensions broadcast.
        lower: which of the two kinds the matrices are.
        adjoint: solve with the conjugate transposes of the matrices.
        name: accepted for compatibility.

    Raises:
        InvalidArgumentError: when a main diagonal has a zero, or shapes do not fit.

    >>> tf.linalg.banded_triangular_solve([[2.0, 4.0], [0.0, 1.0]], [[2.0], [3.0]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    return BANDED_TRIANGULAR_SOLVE(bands, rhs, lower=lower, adjoint=adjoint, name=name)


# Tridiagonal equations


def _check_tridiagonal(diagonals, rhs):
    check_matrix("TridiagonalSolve", diagonals.shape, argument="diagonals")
    check_matrix("TridiagonalSolve", rhs.shape, argument="rhs")
    if diagonals.shape[-2] != 3:
        raise errors.invalid_argument(
            f"TridiagonalSolve: there must be 3 diagonals, got shape {diagonals.shape}."
        )
    if diagonals.shape[:-2] != rhs.shape[:-2] or diagonals.shape[-1] != rhs.shape[-2]:
        raise errors.invalid_argument(
            f"TridiagonalSolve: diagonals and rhs must have equal batch dimensions and lengths, got shapes "
            f"{diagonals.shape} and {rhs.shape}."
        )


def _eliminate(xp, pivoting, tiny, row, below):
    """One step of elimination: the pivot row, and what remains of the other one.

    Args:
        xp: numpy or jax.numpy.
        pivoting: take the larger one of the two leading entries.
        tiny: what stands for a pivot of zero, or None.
        row: (d, u, b): entries on the diagonal and right of it, and the right-hand side.
        below: (l, d, u, b): the next row.
    """
    d, u, b = row
    low, next_d, next_u, next_b = below
    zero = xp.zeros_like(d)
    first, second = (d, u, zero, b), (low, next_d, next_u, next_b)
    if pivoting:
        swap = xp.abs(low) > xp.abs(d)
        first, second = (
            tuple(xp.where(swap if x.ndim == swap.ndim else swap[..., None], x, y) for x, y in zip(*pair))
            for pair in ((second, first), (first, second))
        )
    pivot = first[0] if tiny is None else xp.where(first[0] == 0, tiny, first[0])
    factor = second[0] / pivot
    rest = (
        second[1] - factor * first[1],
        second[2] - factor * first[2],
        second[3] - factor[..., None] * first[3],
    )
    return (pivot, first[1], first[2], first[3]), rest


def _tiny_pivot(xp, main):
    """TF: a pivot of zero becomes the precision times the largest entry of the main diagonal."""
    limits = np.finfo(main.dtype)
    largest = xp.max(xp.abs(main), -1)
    return xp.where(largest > 0, limits.eps * largest, limits.tiny).astype(main.dtype)


def _split_rows(xp, diagonals, b):
    """The rows of the equations, first axis: (l, d, u, b)."""
    upper, main, lower = (xp.moveaxis(diagonals[..., i, :], -1, 0) for i in range(3))
    # Entries outside the matrix may be anything.
    zero = xp.zeros_like(upper[:1])
    return (
        xp.concatenate([zero, lower[1:]]),
        main,
        xp.concatenate([upper[:-1], zero]),
        xp.moveaxis(b, -2, 0),
    )


def _tridiagonal_by_rows(diagonals, b, pivoting, perturb):
    low, main, up, right = _split_rows(np, diagonals, b)
    size = len(main)
    tiny = _tiny_pivot(np, diagonals[..., 1, :]) if perturb else None
    rows, row = [], (main[0], up[0], right[0])
    for i in range(1, size):
        pivot, row = _eliminate(np, pivoting, tiny, row, (low[i], main[i], up[i], right[i]))
        rows.append(pivot)
    last = row[0] if tiny is None else np.where(row[0] == 0, tiny, row[0])
    rows.append((last, row[1], np.zeros_like(last), row[2]))
    x = np.zeros((size + 2, *right.shape[1:]), b.dtype)
    for i in range(size - 1, -1, -1):
        d, u, w, value = rows[i]
        x[i] = (value - u[..., None] * x[i + 1] - w[..., None] * x[i + 2]) / d[..., None]
    if not perturb:
        # TF: one pivot of zero makes the whole solution NaN.
        singular = np.any([row[0] == 0 for row in rows], 0)
        x[:, singular] = np.nan
    return np.moveaxis(x[:size], 0, -2)


def _tridiagonal_solve(diagonals, rhs, partial_pivoting, perturb_singular):
    _check_tridiagonal(diagonals, rhs)
    if not rhs.size:
        return np.zeros(rhs.shape, rhs.dtype)
    if perturb_singular or not partial_pivoting:
        return _tridiagonal_by_rows(diagonals, rhs, partial_pivoting, perturb_singular)
    (solve,) = scipy_linalg.get_lapack_funcs(("gtsv",), (diagonals, rhs))
    x = np.empty(rhs.shape, rhs.dtype)
    for index in np.ndindex(rhs.shape[:-2]):
        upper, main, lower = diagonals[index]
        if len(main) == 1:
            x[index] = rhs[index] / main[0] if main[0] else np.nan
            continue
        *_, solution, info = solve(lower[1:], main, upper[:-1], rhs[index])
        # TF: a singular matrix gives NaN.
        x[index] = np.nan if info > 0 else solution
    return x


def _lower_tridiagonal_solve(ctx, diagonals, rhs, partial_pivoting, perturb_singular):
    if not rhs.size:
        return jnp.zeros(rhs.shape, rhs.dtype)
    low, main, up, right = _split_rows(jnp, diagonals, rhs)
    tiny = _tiny_pivot(jnp, diagonals[..., 1, :]) if perturb_singular else None

    def forward(row, below):
        pivot, rest = _eliminate(jnp, partial_pivoting, tiny, row, below)
        return rest, pivot

    def backward(later, row):
        d, u, w, value = row
        x = (value - u[..., None] * later[0] - w[..., None] * later[1]) / d[..., None]
        return (x, later[0]), x

    first = (main[0], up[0], right[0])
    rest, rows = lax.scan(forward, first, (low[1:], main[1:], up[1:], right[1:]))
    last = rest[0] if tiny is None else jnp.where(rest[0] == 0, tiny, rest[0])
    final = (last, rest[1], jnp.zeros_like(last), rest[2])
    rows = tuple(jnp.concatenate([part, end[None]]) for part, end in zip(rows, final))
    zero = jnp.zeros_like(right[0])
    _, x = lax.scan(backward, (zero, zero), rows, reverse=True)
    if not perturb_singular:
        x = jnp.where(jnp.any(rows[0] == 0, 0)[..., None], jnp.asarray(np.nan, x.dtype), x)
    return jnp.moveaxis(x, 0, -2)


def _infer_tridiagonal_solve(diagonals, rhs, partial_pivoting, perturb_singular):
    infer_matrix("TridiagonalSolve", diagonals, argument="diagonals")
    return infer_matrix("TridiagonalSolve", rhs, argument="rhs")


def _conj(x):
    return CONJ(x) if x.dtype.is_complex else x


def _shifted(x, step):
    """Rows moved down (or up, for -1) by one, with zeros moving in."""
    return pad_axis(x[..., :-1, :], -2, 1, 0) if step > 0 else pad_axis(x[..., 1:, :], -2, 0, 1)


def _row_products(a, b):
    """For each row: the sum of a[row] times the conjugate of b[row]."""
    return SUM(a * _conj(b), [-1])


def _grad_tridiagonal_solve(node, dy):
    upper, main, lower = (_conj(node.diagonals[..., i, :]) for i in range(3))
    # The superdiagonal of the adjoint is the conjugate subdiagonal, one place earlier.
    turned = PACK([ROLL(lower, -1, -1), main, ROLL(upper, 1, -1)], axis=-2)
    d_rhs = TRIDIAGONAL_SOLVE(turned, dy, **node.attrs)
    if not node.wants(0):
        return None, d_rhs
    x = node.output
    parts = [
        _row_products(d_rhs, _shifted(x, -1)),
        _row_products(d_rhs, x),
        _row_products(d_rhs, _shifted(x, 1)),
    ]
    return -PACK(parts, axis=-2), d_rhs


TRIDIAGONAL_SOLVE = Op(
    "TridiagonalSolve",
    "diagonals: T, rhs: T, *, partial_pivoting: bool = True, perturb_singular: bool = False -> output: T",
    T=_TRIDIAGONAL_TYPES,
    infer=_infer_tridiagonal_solve,
    kernel=_tridiagonal_solve,
    lower=_lower_tridiagonal_solve,
    saves=("diagonals", "output"),
    grad=_grad_tridiagonal_solve,
    vectorize=on_last_axes(2),
)


def _sequence_part(x, main, pad_front):
    """One diagonal of the length of the main one, padded if it is one shorter."""
    length = main.shape[-1]
    if length is None or x.shape[-1] is None:
        missing = SHAPE(main)[-1] - SHAPE(x)[-1]
        require(missing <= 1, "The diagonals above and below the main one must have its length or one less.")
        return pad_axis(x, -1, missing, 0) if pad_front else pad_axis(x, -1, 0, missing)
    if x.shape[-1] == length:
        return x
    if x.shape[-1] != length - 1:
        raise ValueError(
            f"The diagonals above and below the main one, of length {length}, must have that length or one "
            "less, "
            f"got {x.shape[-1]}."
        )
    return pad_axis(x, -1, 1, 0) if pad_front else pad_axis(x, -1, 0, 1)


def compact_diagonals(diagonals, diagonals_format):
    """The three diagonals as rows of one tensor."""
    if diagonals_format == "compact":
        return to_tensor(diagonals)
    if diagonals_format == "sequence":
        upper, main, lower = (to_tensor(part) for part in diagonals)
        return PACK(
            [_sequence_part(upper, main, False), main, _sequence_part(lower, main, True)], axis=-2
        )
    if diagonals_format == "matrix":
        matrix = to_tensor(diagonals)
        rows, columns = matrix.shape[-2], matrix.shape[-1]
        if rows is not None and columns is not None and rows != columns:
            raise ValueError(f"diagonals must be square matrices in this format, got shape {matrix.shape}.")
        return diag_part(matrix, k=(-1, 1), padding_value=0, align="LEFT_RIGHT")
    raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")


@api("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals,
    rhs,
    diagonals_format="compact",
    transpose_rhs=False,
    conjugate_rhs=False,
    name=None,
    partial_pivoting=True,
    perturb_singular=False,
) -> Tensor:
    """The x with `matrix @ x == rhs`, for tridiagonal matrices.

    Args:
        diagonals: the superdiagonal, the main diagonal and the subdiagonal: as rows of one tensor
            ("compact"; the last entry of the first and the first of the last are ignored), as three tensors
            ("sequence"), or as whole matrices ("matrix").
        rhs: right-hand sides: matrices, or vectors if the rank is one less.
        diagonals_format: which of the three.
        transpose_rhs: take the transpose of rhs first.
        conjugate_rhs: take the complex conjugate of rhs first.
        name: accepted for compatibility.
        partial_pivoting: exchange rows for stability.
        perturb_singular: return something finite for singular matrices, instead of NaN.

    Raises:
        ValueError: when the format is unknown or shapes do not fit.

    >>> tf.linalg.tridiagonal_solve([[0.0, 0.0], [2.0, 4.0], [0.0, 0.0]], [2.0, 2.0]).numpy().tolist()
    [1.0, 0.5]
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("tridiagonal_solve: perturb_singular needs partial_pivoting.")
    diagonals = compact_diagonals(diagonals, diagonals_format)
    rhs = to_tensor(rhs, hint=diagonals.dtype)
    rank = diagonals.shape.rank
    if rank is not None and rank < 2:
        raise ValueError(f"tridiagonal_solve: diagonals must have rank 2 or more, got shape {diagonals.shape}.")
    if diagonals.shape[-2] not in (3, None):
        raise ValueError(f"tridiagonal_solve: expected 3 diagonals, got {diagonals.shape[-2]}.")
    if rank is None or rhs.shape.rank is None:
        raise ValueError("tridiagonal_solve: the ranks of diagonals and rhs must be known.")
    if rhs.shape.rank not in (rank - 1, rank):
        raise ValueError(f"tridiagonal_solve: rhs must have rank {rank - 1} or {rank}, got {rhs.shape.rank}.")
    vector = rhs.shape.rank == rank - 1
    if conjugate_rhs:
        rhs = _conj(rhs)
    if vector:
        rhs = EXPAND_DIMS(rhs, -1)
    elif transpose_rhs:
        rhs = matrix_transpose(rhs)
    if None not in (diagonals.shape[-1], rhs.shape[-2]) and diagonals.shape[-1] != rhs.shape[-2]:
        raise ValueError(
            f"tridiagonal_solve: {diagonals.shape[-1]} equations, but {rhs.shape[-2]} right-hand sides."
        )
    x = TRIDIAGONAL_SOLVE(
        diagonals, rhs, partial_pivoting=partial_pivoting, perturb_singular=perturb_singular, name=name
    )
    return SQUEEZE(x, squeeze_dims=[-1]) if vector else x


def _check_tridiagonal_product(superdiag, maindiag, subdiag, rhs):
    check_matrix("TridiagonalMatMul", rhs.shape, argument="rhs")
    wanted = (*rhs.shape[:-2], 1, rhs.shape[-2])
    for name, part in (("superdiag", superdiag), ("maindiag", maindiag), ("subdiag", subdiag)):
        if part.shape != wanted:
            raise errors.invalid_argument(
                f"TridiagonalMatMul: for rhs of shape {rhs.shape}, {name} must have shape {wanted}, got "
                f"{part.shape}."
            )


def _tridiagonal_matmul(xp, superdiag, maindiag, subdiag, rhs):
    _check_tridiagonal_product(superdiag, maindiag, subdiag, rhs)
    above, main, below = (xp.swapaxes(part, -1, -2) for part in (superdiag, maindiag, subdiag))
    zero = xp.zeros_like(rhs[..., :1, :])
    up = xp.concatenate([above[..., :-1, :] * rhs[..., 1:, :], zero[..., : rhs.shape[-2], :]], -2)
    down = xp.concatenate([zero[..., : rhs.shape[-2], :], below[..., 1:, :] * rhs[..., :-1, :]], -2)
    return main * rhs + up + down


def _grad_tridiagonal_matmul(node, dy):
    rhs = node.rhs
    d_super = EXPAND_DIMS(_row_products(dy, _shifted(rhs, -1)), -2)
    d_main = EXPAND_DIMS(_row_products(dy, rhs), -2)
    d_sub = EXPAND_DIMS(_row_products(dy, _shifted(rhs, 1)), -2)
    # TF: conjugates of the diagonals are missing from TensorFlow's gradient by rhs; for real matrices it is
    # the same.
    above, main, below = (matrix_transpose(_conj(x)) for x in (node.superdiag, node.maindiag, node.subdiag))
    d_rhs = main * dy + _shifted(above * dy, 1) + _shifted(below * dy, -1)
    return d_super, d_main, d_sub, d_rhs


def _infer_tridiagonal_matmul(superdiag, maindiag, subdiag, rhs):
    return infer_matrix("TridiagonalMatMul", rhs, argument="rhs")


TRIDIAGONAL_MATMUL = Op(
    "TridiagonalMatMul",
    "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T",
    T=_TRIDIAGONAL_TYPES,
    infer=_infer_tridiagonal_matmul,
    kernel=lambda *arrays: _tridiagonal_matmul(np, *arrays),
    lower=lambda ctx, *values: _tridiagonal_matmul(jnp, *values),
    saves=("superdiag", "maindiag", "subdiag", "rhs"),
    grad=_grad_tridiagonal_matmul,
    vectorize=on_last_axes(4),
)


@api("linalg.tridiagonal_matmul")
def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None) -> Tensor:
    """The product of tridiagonal matrices and `rhs`.

    Args:
        diagonals: the superdiagonal, the main diagonal and the subdiagonal: as rows of one tensor
            ("compact"), as three tensors of one length ("sequence"), or as whole matrices ("matrix").
        rhs: matrices with the same batch dimensions.
        diagonals_format: which of the three.
        name: accepted for compatibility.

    >>> tf.linalg.tridiagonal_matmul([[1.0, 0.0], [2.0, 4.0], [0.0, 1.0]], [[1.0], [10.0]]).numpy().tolist()
    [[12.0], [41.0]]
    """
    if diagonals_format == "sequence":
        upper, main, lower = (to_tensor(part) for part in diagonals)
    else:
        compact = compact_diagonals(diagonals, diagonals_format)
        upper, main, lower = (compact[..., i, :] for i in range(3))
    upper, main, lower = (EXPAND_DIMS(part, -2) for part in (upper, main, lower))
    return TRIDIAGONAL_MATMUL(upper, main, lower, rhs, name=name)
