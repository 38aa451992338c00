"""Matrix products for which OpenBLAS would take all threads: one thread, or parts that several take.

The parts depend on the sizes of the matrices only, so that results are equal to the last bit from run to run, whatever
else the machine does and however many threads there are. docs/decisions/0046-threads-of-one-operation.md has figures.
"""

import math

import numpy as np

from headrace._src.core import half_floats
from headrace._src.core.parts import in_slices
from headrace._src.core.product_threads import one_thread
from headrace._src.ops.linalg.product_kernels import blas_product, blasable, workspace

# From so many multiplications on (0.15 ms of one thread, three times what it costs to wake another) a product is
# divided, along its longer side, into parts of _EDGE or half of that: narrower ones repeat too much of the preparation
# that OpenBLAS makes for each. Parts of a batch have about _PART multiplications.
_DIVIDED, _PART = 1 << 23, 1 << 22
_EDGE = 256
# A matrix of more elements is converted before the parts are multiplied, not by each of them.
_CONVERTED_ONCE = 1 << 17
_FLOAT32 = np.dtype(np.float32)


def is_divided(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the product of two matrices is made in parts."""
    rows, inner = a.shape
    columns = b.shape[1]
    return rows * inner * columns >= _DIVIDED and max(rows, columns) >= _EDGE and not _is_transposed(a, b)


def _length(rows, columns):
    """How many rows or columns a part has. Of three parts, one of two threads would do two: six are halves of them."""
    return _EDGE // 2 if max(rows, columns) // _EDGE in (1, 3) else _EDGE


def product(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """`a @ b` for two matrices."""
    rows, columns = len(a), b.shape[1]
    with one_thread:
        if not is_divided(a, b):
            return a.dot(b) if out is None else np.matmul(a, b, out=out)
        a, b = blasable(a), blasable(b)
        result = np.empty((rows, columns), a.dtype) if out is None else out
        length = _length(rows, columns)
        if rows >= columns:
            in_slices(lambda part: np.matmul(a[part], b, out=result[part]), rows, length)
        else:
            in_slices(lambda part: np.matmul(a, b[:, part], out=result[:, part]), columns, length)
        return result


def divides_halves(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether matrices of floats of two bytes are converted in the parts of their product.

    float16 takes many short calls to convert, at which threads wait for each other: small ones are converted before.
    """
    return is_divided(a, b) and (a.dtype != np.float16 or len(a) * b.shape[1] > _CONVERTED_ONCE)


def product_of_halves(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a @ b` for two large matrices of floats of two bytes, multiplied in float32.

    Each part converts what it reads: what one processor has written takes another one longer to read, or to write over
    the next time, than to convert.
    """
    rows, columns = len(a), b.shape[1]
    result = np.empty((rows, columns), a.dtype)
    by_rows = rows >= columns
    kept = b if by_rows else a  # every part reads all of it
    if kept.size > _CONVERTED_ONCE or kept.dtype == np.float16:  # which takes ten times as long as bfloat16
        kept = _in_float32(kept)

    def multiply(part):
        with workspace() as space:
            left, right = (a[part], kept) if by_rows else (kept, b[:, part])
            left, right = (m if m.dtype == _FLOAT32 else space.cast(side, m, _FLOAT32)
                           for side, m in (("left", left), ("right", right)))  # fmt: skip
            found = np.matmul(left, right, out=space.array("product", (len(left), right.shape[1]), _FLOAT32))
            half_floats.narrow(found, result[part if by_rows else (slice(None), part)])

    with one_thread:
        in_slices(multiply, rows if by_rows else columns, _length(rows, columns))
    return result


def _in_float32(matrix):
    """The matrix in float32, with its axes in the same order in memory."""
    lies_transposed = abs(matrix.strides[0]) < abs(matrix.strides[1])
    source = matrix.T if lies_transposed else matrix
    target = np.empty(source.shape, _FLOAT32)

    def convert(part):
        with workspace() as space:
            target[part] = space.cast("left", source[part], _FLOAT32)

    in_slices(convert, len(source), max(1, _CONVERTED_ONCE // source.shape[1]))
    return target.T if lies_transposed else target


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
