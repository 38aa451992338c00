"""NumPy kernels of matrix products: BLAS for every dtype, integers and small floats included."""

import contextlib
import math
import threading

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule

# Many programs have none.
_large = LazyModule("headrace._src.ops.linalg.large_products")
half_floats = LazyModule("headrace._src.core.half_floats")

# Below this number of multiplications NumPy's own integer loop is faster than the way through BLAS.
_SMALL = 20_000
_HALF = np.dtype(np.float16)
_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)
_KEPT_BYTES = 1 << 22
# OpenBLAS does so many multiplications in the thread that calls it; with more, it would take all threads unless it is
# told otherwise. The second number is for a matrix and a vector.
ALONE, _ALONE_WITH_VECTOR = 1 << 18, 9216
_thread = threading.local()


class Workspace:
    """Arrays for intermediate results, kept from one call to the next.

    Fresh memory of some hundred kilobytes comes from the system page by page, which costs as much time as a
    256 by 256 product does.
    """

    def __init__(self):
        self._buffers = {}  # by slot
        self._last = {}  # what the slot was last used as

    def array(self, slot: str, shape: tuple, dtype: np.dtype) -> np.ndarray:
        """An array with undefined contents; valid until the same slot is asked for again."""
        last = self._last.get(slot)
        if last is not None and last.shape == shape and last.dtype is dtype:
            return last
        size = math.prod(shape) * dtype.itemsize
        if size > _KEPT_BYTES:
            return np.empty(shape, dtype)
        buffer = self._buffers.get(slot)
        if buffer is None or buffer.size < size:
            buffer = self._buffers[slot] = np.empty(size, np.uint8)
        last = self._last[slot] = buffer[:size].view(dtype).reshape(shape)
        return last

    def cast(self, slot: str, a: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """`a.astype(dtype)` in that slot."""
        # Keep the order of the axes in memory, so that a transposed matrix is read as it lies.
        flipped = a.ndim >= 2 and abs(a.strides[-2]) < abs(a.strides[-1])
        source = a.swapaxes(-1, -2) if flipped else a
        target = self.array(slot, source.shape, dtype)
        if a.dtype == _HALF and dtype == _FLOAT32:
            half_floats.widen(np.ascontiguousarray(source), target)
        else:
            np.copyto(target, source, casting="unsafe")
        return target.swapaxes(-1, -2) if flipped else target

    def product(self, slot: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """`a @ b` in that slot, for floats that BLAS knows."""
        if a.ndim == 2 and b.ndim == 2:
            return blas_product(a, b, self.array(slot, (a.shape[0], b.shape[1]), a.dtype))
        return _batch_of_products(a, b)

    def narrow(self, a: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """float32 to a smaller float, in fresh memory."""
        result = np.empty(a.shape, dtype)
        half_floats.narrow(a, result)
        return result


@contextlib.contextmanager
def workspace():
    """This thread's workspace; a second one for a call that interrupts another."""
    space = _thread.__dict__.pop("space", None) or Workspace()
    try:
        yield space
    finally:
        _thread.space = space


def blas_product(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """`a @ b` for two matrices of floats that BLAS knows; its last bits depend on their sizes only."""
    rows, inner = a.shape
    columns = b.shape[1]
    work = rows * inner * columns
    if work <= _ALONE_WITH_VECTOR or (work <= ALONE and rows > 1 and columns > 1):
        return a.dot(b) if out is None else np.matmul(a, b, out=out)
    return _large.product(a, b, out)


def _batch_of_products(a, b):
    """`a @ b` where one has more than two axes."""
    a, b = blasable(a), blasable(b)
    work = a.size * b.shape[-1]
    return np.matmul(a, b) if work <= _ALONE_WITH_VECTOR else _large.batch_of_products(a, b)


def column_sums(rows: np.ndarray) -> np.ndarray:
    """The sum of the rows of a matrix, by a product with ones: several times as fast as np.sum, and more exact."""
    if rows.size <= _ALONE_WITH_VECTOR:
        return np.ones(len(rows), rows.dtype) @ rows
    return _large.column_sums(rows)


def matrix_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a @ b` for arrays of one dtype and rank 2 or more; leading axes broadcast."""
    dtype = a.dtype
    kind = dtype.kind
    if kind in "fc" and dtype != _HALF:
        if a.ndim == 2 and b.ndim == 2:
            return blas_product(a, b)
        return _batch_of_products(a, b)
    if kind in "iu":
        return _integer_product(a, b)
    if kind == "b":
        return np.matmul(a, b)
    # float16 and bfloat16, which NumPy multiplies one by one.
    if a.ndim == 2 and b.ndim == 2 and a.size * b.shape[1] > ALONE and _large.divides_halves(a, b):
        return _large.product_of_halves(a, b)
    with workspace() as space:
        left = space.cast("left", a, _FLOAT32)
        right = left if b is a else space.cast("right", b, _FLOAT32)
        return space.narrow(space.product("product", left, right), dtype)


def blasable(a):
    """`a`, copied if its strides would send NumPy to its slow loop instead of BLAS."""
    rows, columns = a.strides[-2:]
    return a if a.itemsize in (rows, columns) and rows > 0 and columns > 0 else np.ascontiguousarray(a)


def _magnitude(a):
    """The largest absolute value, as a Python int."""
    return max(int(a.max()), -int(a.min()))


def _integer_product(a, b):
    """Integers modulo 2 ** bits, through floats where that is exact and worth it."""
    inner = a.shape[-1]
    if not inner or not a.size or not b.size or a.size * b.shape[-1] < _SMALL:
        return np.matmul(a, b)
    left = _magnitude(a)
    bound = left * (left if b is a else _magnitude(b)) * inner
    if bound >= 2**53:
        return _product_of_parts(a, b, inner)
    floating = _FLOAT32 if bound < 2**24 else _FLOAT64
    with workspace() as space:
        left = space.cast("left", a, floating)
        right = left if b is a else space.cast("right", b, floating)
        product = space.product("product", left, right)
        if bound <= np.iinfo(a.dtype).max:
            return product.astype(a.dtype)
        # By way of int64, because a float that does not fit wraps around only there.
        return product.astype(np.int64).astype(a.dtype)


def _product_of_parts(a, b, inner):
    """a = sum of a_i 2^(iw), b alike, each part so narrow that the products of parts are exact."""
    bits = a.dtype.itemsize * 8
    # Parts lie in [-2^(w-1), 2^(w-1)], sums of products of parts within 2^(2w-2) times the inner size.
    width = (53 - max(inner - 1, 1).bit_length() + 2) // 2
    if width < 8:
        return np.matmul(a, b)
    a_parts = _parts(a, bits, width)
    b_parts = a_parts if b is a else _parts(b, bits, width)
    total = None
    for i, left in enumerate(a_parts):
        for j, right in enumerate(b_parts):
            if (i + j) * width >= bits:
                continue
            product = np.matmul(left, right).astype(np.int64)
            product <<= (i + j) * width
            total = product if total is None else np.add(total, product, out=total)
    return total.astype(a.dtype)


def _parts(a, bits, width):
    """`a` as float64 digits to the base 2^width, balanced around zero, lowest first."""
    parts, rest = [], a.astype(f"i{a.dtype.itemsize}").astype(np.int64)
    for _ in range(-(-bits // width)):
        digit = ((rest + (1 << (width - 1))) & ((1 << width) - 1)) - (1 << (width - 1))
        parts.append(digit.astype(np.float64))
        rest = (rest - digit) >> width
    return parts


def check_product(op: str, left: tuple, right: tuple, transpose_a: bool, transpose_b: bool):
    """InvalidArgumentError unless the shapes have a matrix product."""
    if len(left) < 2 or len(right) < 2:
        raise errors.invalid_argument(f"{op}: inputs must be matrices, got shapes {left} and {right}.")
    if left[-2 if transpose_a else -1] != right[-1 if transpose_b else -2]:
        turned = ", ".join(name for name, turn in (("first", transpose_a), ("second", transpose_b)) if turn)
        raise errors.invalid_argument(
            f"{op}: Matrix size-incompatible: shapes {left} and {right}"
            + (f" ({turned} transposed)." if turned else ".")
        )
