"""Eigenvalues of Hermitian tridiagonal matrices."""

from typing import Any

from headrace._src.core import errors
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.options import truth
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.measuring import known_rank
from headrace._src.ops.arrays.selecting import WHERE
from headrace._src.ops.arrays.shaping import SQUEEZE
from headrace._src.ops.linalg.decompositions import eigh
from headrace._src.ops.linalg.diagonals import diag
from headrace._src.ops.math.complex_numbers import CONJ, REAL


def _selected(e, v, select, select_range):
    """The eigenvalues (and vectors) asked for."""
    if select == "a":
        return e, v
    if select_range is None or len(select_range) != 2:
        raise TypeError("eigh_tridiagonal: select_range must be a pair (first, last).")
    first, last = select_range
    if select == "i":
        if int(first) > int(last):
            raise errors.invalid_argument(f"eigh_tridiagonal: select_range {select_range} is empty.")
        span = slice(int(first), int(last) + 1)
        return e[span], None if v is None else v[:, span]
    if float(first) >= float(last):
        raise errors.invalid_argument(f"eigh_tridiagonal: select_range {select_range} is empty.")
    low, high = (to_tensor(bound, e.dtype) for bound in (float(first), float(last)))
    inside = (e > low) & (e <= high)
    places = SQUEEZE(WHERE(inside), squeeze_dims=[1])
    return GATHER_V2(e, places, 0), None if v is None else GATHER_V2(v, places, 1)


@api("linalg.eigh_tridiagonal")
def eigh_tridiagonal(alpha, beta, eigvals_only=True, select="a", select_range=None, tol=None, name=None) -> Any:
    """Eigenvalues of a Hermitian tridiagonal matrix.

    Args:
        alpha: the main diagonal; only real parts count.
        beta: the diagonal above it, one shorter; the one below is its complex conjugate.
        eigvals_only: leave the eigenvectors out.
        select: "a" for all eigenvalues, "i" for those with indices in `select_range`, ends included, "v" for
            those in the interval `select_range`, without its lower end.
        select_range: a pair of integers for "i", of numbers for "v".
        tol: the error allowed; here eigenvalues are always as precise as the dtype.
        name: accepted for compatibility.

    Returns:
        The eigenvalues, real and in ascending order, or (eigenvalues, eigenvectors as columns).

    Raises:
        ValueError: when dtypes differ or `select` is unknown.

    >>> tf.linalg.eigh_tridiagonal([1.0, 1.0], [0.0]).numpy().tolist()
    [1.0, 1.0]
    """
    alpha, beta = to_tensor(alpha), to_tensor(beta)
    if tol is not None:
        truth("tol", to_tensor(tol, alpha.dtype.real_dtype))
    if alpha.dtype is not beta.dtype:
        raise ValueError(
            f"eigh_tridiagonal: alpha and beta must have the same dtype, got {alpha.dtype.name} and "
            f"{beta.dtype.name}."
        )
    if select not in ("a", "i", "v"):
        raise ValueError(f"eigh_tridiagonal: select must be 'a', 'i' or 'v', got {select!r}.")
    if known_rank("eigh_tridiagonal", "alpha", alpha) != 1 or known_rank("eigh_tridiagonal", "beta", beta) != 1:
        raise errors.invalid_argument(
            f"eigh_tridiagonal: alpha and beta must be vectors, got shapes {alpha.shape} and {beta.shape}."
        )
    if None not in (alpha.shape[0], beta.shape[0]) and beta.shape[0] != max(alpha.shape[0] - 1, 0):
        raise errors.invalid_argument(
            f"eigh_tridiagonal: beta must be one shorter than alpha, got lengths {alpha.shape[0]} and "
            f"{beta.shape[0]}."
        )
    real = alpha.dtype.real_dtype
    main, below = alpha, beta
    if alpha.dtype.is_complex:
        main = CAST(REAL(alpha, Tout=real), DstT=alpha.dtype)
        below = CONJ(beta)
    matrix = diag(main)
    if alpha.shape[0] != 1:
        # Only the lower triangle is read.
        matrix = matrix + diag(below, k=-1)
    e, v = eigh(matrix)
    if e.dtype is not real:
        e = REAL(e, Tout=real)
    e, v = _selected(e, None if eigvals_only else v, select, select_range)
    return e if eigvals_only else (e, v)
