"""Matrix products for which OpenBLAS would take all threads: one thread, or parts that several take.

The parts depend on the sizes of the matrices only, so that results are equal to the last bit from run to run, whatever
else the machine does and however many threads there are. docs/decisions/0046-threads-of-one-operation.md has figures.
"""

import math

import numpy as np

from headrace._src.core.parts import in_slices
from headrace._src.core.product_threads import one_thread
from headrace._src.ops.linalg.product_kernels import blas_product, blasable

# From so many multiplications on (0.15 ms of one thread, three times what it costs to wake another) a product is
# divided, along its longer side, into parts of _EDGE or half of that: narrower ones repeat too much of the preparation
# that OpenBLAS makes for each. Parts of a batch have about _PART multiplications.
_DIVIDED, _PART = 1 << 23, 1 << 22
_EDGE = 256


def product(a: np.ndarray, b: np.ndarray, work: int, out: np.ndarray | None = None) -> np.ndarray:
    """`a @ b` for two matrices, with so many multiplications."""
    rows, columns = len(a), b.shape[1]
    longer = max(rows, columns)
    with one_thread:
        if work < _DIVIDED or longer < _EDGE or _is_transposed(a, b):
            return a.dot(b) if out is None else np.matmul(a, b, out=out)
        a, b = blasable(a), blasable(b)
        result = np.empty((rows, columns), a.dtype) if out is None else out
        length = _EDGE if longer >= 2 * _EDGE else _EDGE // 2
        if rows >= columns:
            in_slices(lambda part: np.matmul(a[part], b, out=result[part]), rows, length)
        else:
            in_slices(lambda part: np.matmul(a, b[:, part], out=result[:, part]), columns, length)
        return result


def _is_transposed(a, b):
    """Whether a matrix is the other one transposed: NumPy then does half of the work, if it is not divided."""
    return a.strides == b.strides[::-1] and np.may_share_memory(a, b)


def batch_of_products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a @ b` where one has more than two axes, and both have strides that BLAS can read."""
    (rows, inner), columns = a.shape[-2:], b.shape[-1]
    each = rows * inner * columns
    batch = a.shape[:-2]
    count = math.prod(batch)
    with one_thread:
        if each * count < _DIVIDED or batch != b.shape[:-2]:
            return np.matmul(a, b)
        if count == 1:
            return blas_product(a.reshape(rows, inner), b.reshape(inner, columns)).reshape(*batch, rows, columns)
        left, right = a.reshape(count, rows, inner), b.reshape(count, inner, columns)
        result = np.empty((count, rows, columns), a.dtype)
        in_slices(
            lambda part: np.matmul(left[part], right[part], out=result[part]), count, max(1, _PART // each)
        )
        return result.reshape(*batch, rows, columns)


def column_sums(rows: np.ndarray) -> np.ndarray:
    """The sum of the rows of a matrix, by a product with ones."""
    with one_thread:
        return np.ones(len(rows), rows.dtype) @ rows
