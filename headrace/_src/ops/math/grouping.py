"""NumPy kernels that combine rows by group: what segment ops and scatters have in common."""

import ml_dtypes
import numpy as np

from headrace._src.core.lazy import scipy_sparse

# Rows are combined in blocks, so that the positions of their elements need no more memory than this.
_BLOCK = 1 << 20
# From this size on, a product with a sparse matrix of ones is quicker than adding element by element.
_LARGE = 1 << 16
_EXACT = frozenset("fdFD") | frozenset("bBhHiIlLqQ")


def wide(data: np.ndarray) -> np.ndarray:
    """Half-precision numbers in single precision: `ufunc.at` is slow and inexact in theirs."""
    return data.astype(np.float32) if data.dtype.itemsize == 2 and data.dtype.kind in "fV" else data


def lowest(dtype: np.dtype):
    """The least finite number of a real dtype."""
    return _limits(dtype).min


def highest(dtype: np.dtype):
    """The greatest finite number of a real dtype."""
    return _limits(dtype).max


def _limits(dtype):
    return np.iinfo(dtype) if dtype.kind in "iu" else ml_dtypes.finfo(dtype)


def add_rows(data: np.ndarray, groups: np.ndarray, count: int) -> np.ndarray:
    """Row g of the result is the sum of the rows of `data` whose group is g.

    Args:
        data: of shape (rows, width); not half precision (see `wide`).
        groups: of shape (rows,), in [0, count).
        count: the number of groups.
    """
    rows, width = data.shape
    if width > 3 and data.size >= _LARGE and data.dtype.char in _EXACT:
        columns = np.arange(rows + 1)
        ones = np.ones(rows, data.dtype)
        return np.asarray(scipy_sparse.csc_matrix((ones, groups, columns), shape=(count, rows)) @ data)
    return combine_rows(np.add, data, groups, np.zeros((count, width), data.dtype))


def combine_rows(ufunc: np.ufunc, data: np.ndarray, groups: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Combine each row of `data` with the row of `out` that its group names, in place; returns `out`."""
    rows, width = data.shape
    if not data.size:
        return out
    flat = out.reshape(-1)
    if width == 1:
        ufunc.at(flat, groups, data.reshape(-1))
        return out
    # `ufunc.at` is quick in one dimension only.
    places = np.arange(width)
    step = max(1, _BLOCK // width)
    for at in range(0, rows, step):
        block = groups[at : at + step, None] * width + places
        ufunc.at(flat, block.reshape(-1), data[at : at + step].reshape(-1))
    return out


def bad_index(indices: np.ndarray, limit: int) -> int | None:
    """The flat position of the first index outside [0, limit), or None."""
    if not indices.size:
        return None
    if indices.dtype.kind == "i":
        # As unsigned numbers, negative ones are too large as well: one look is enough.
        unsigned = indices.view(f"u{indices.dtype.itemsize}")
    else:
        unsigned = indices
    if unsigned.max() < limit:
        return None
    return int(np.argmax(unsigned.reshape(-1) >= limit))
