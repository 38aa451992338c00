"""NumPy kernels of matrix products: BLAS for every dtype, integers and small floats included."""

import functools

import numpy as np

from headrace._src.core import errors

# Below this number of multiplications NumPy's own integer loop is faster than the way through BLAS.
_SMALL = 20_000
_HALF = np.dtype(np.float16)


def matrix_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a @ b` for arrays of one dtype and rank 2 or more; leading axes broadcast."""
    dtype = a.dtype
    kind = dtype.kind
    if kind == "f" or kind == "c":
        if dtype is _HALF or dtype.itemsize == 2:
            return _through_float32(a, b)
        if a.ndim == 2 and b.ndim == 2:
            return a.dot(b)
        return np.matmul(_blasable(a), _blasable(b))
    if kind in "iu":
        return _integer_product(a, b)
    if kind == "b":
        return np.matmul(a, b)
    return _through_float32(a, b)


def _blasable(a):
    """`a`, copied if its strides would send NumPy to its slow loop instead of BLAS."""
    rows, columns = a.strides[-2:]
    return a if a.itemsize in (rows, columns) and rows > 0 and columns > 0 else np.ascontiguousarray(a)


def _through_float32(a, b):
    """bfloat16, float16 and float8: NumPy multiplies them one by one."""
    wide = to_float32(a)
    other = wide if b is a else to_float32(b)
    product = wide.dot(other) if a.ndim == 2 and b.ndim == 2 else np.matmul(_blasable(wide), _blasable(other))
    return from_float32(product, a.dtype)


def to_float32(a: np.ndarray) -> np.ndarray:
    """`a.astype(float32)`, quick for float16."""
    if a.dtype != _HALF or a.size < 1024:
        return a.astype(np.float32)
    # NumPy converts halves without the processor's help; a table of all of them is three times faster.
    return _all_halves().take(a.view(np.uint16))


def from_float32(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """`a.astype(dtype)`, quick for float16."""
    return a.astype(dtype)


@functools.cache
def _all_halves():
    return np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)


def _magnitude(a):
    """The largest absolute value, as a Python int."""
    return max(int(a.max()), -int(a.min()))


def _integer_product(a, b):
    """Integers modulo 2 ** bits, through float64 where that is exact and worth it."""
    inner = a.shape[-1]
    if not inner or not a.size or not b.size or a.size * b.shape[-1] < _SMALL:
        return np.matmul(a, b)
    bound = _magnitude(a) * _magnitude(b) * inner
    if bound < 2**24:
        return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    if bound < 2**53:
        return _from_float64(np.matmul(a.astype(np.float64), b.astype(np.float64)), a.dtype)
    return _product_of_parts(a, b, inner)


def _from_float64(product, dtype):
    # By way of int64, because a float64 that does not fit wraps around only there.
    return product.astype(np.int64).astype(dtype)


def _product_of_parts(a, b, inner):
    """a = sum of a_i 2^(iw), b alike, each part so narrow that the products of parts are exact."""
    bits = a.dtype.itemsize * 8
    # Parts lie in [-2^(w-1), 2^(w-1)], sums of products of parts within 2^(2w-2) times the inner size.
    width = (53 - max(inner - 1, 1).bit_length() + 2) // 2
    if width < 8:
        return np.matmul(a, b)
    signed = np.dtype(f"i{a.dtype.itemsize}")
    a_parts, b_parts = _parts(a.view(signed), bits, width), _parts(b.view(signed), bits, width)
    total = None
    for i, left in enumerate(a_parts):
        for j, right in enumerate(b_parts):
            if (i + j) * width >= bits:
                continue
            product = np.matmul(left, right).astype(np.int64) << ((i + j) * width)
            total = product if total is None else total + product
    return total.astype(a.dtype)


def _parts(a, bits, width):
    """`a` as float64 digits to the base 2^width, balanced around zero, lowest first."""
    parts, rest = [], a.astype(np.int64)
    for _ in range(-(-bits // width)):
        digit = ((rest + (1 << (width - 1))) & ((1 << width) - 1)) - (1 << (width - 1))
        parts.append(digit.astype(np.float64))
        rest = (rest - digit) >> width
    return parts


def check_product(op: str, left: tuple, right: tuple, transpose_a: bool, transpose_b: bool):
    """InvalidArgumentError unless the shapes have a matrix product."""
    if len(left) < 2 or len(right) < 2:
        raise errors.invalid_argument(
            f"{op}: In[0] and In[1] must be matrices, got different ndims: shapes {left} and {right}."
        )
    if left[-2 if transpose_a else -1] != right[-1 if transpose_b else -2]:
        turned = ", ".join(
            name for name, turn in (("first", transpose_a), ("second", transpose_b)) if turn
        )
        raise errors.invalid_argument(
            f"{op}: Matrix size-incompatible: shapes {left} and {right}"
            + (f" ({turned} transposed)." if turned else ".")
        )
