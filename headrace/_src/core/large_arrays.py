"""Large arrays: memory for results, and functions of elements, block by block in several threads, with the same bits.

docs/decisions/0046-threads-of-one-operation.md has the figures, 0024-memory.md those of memory.
"""

import math
import os

import numpy as np

from headrace._src.core.lazy import LazyModule
from headrace._src.core.operating_system import FREE_AT_MOST, LARGEST_KEPT
from headrace._src.core.parts import LONG_PART, in_slices

half_floats = LazyModule("headrace._src.core.half_floats")  # many programs have none

# What XLA wants of addresses, and from how many bytes on it pays to see to that.
ALIGNMENT, WORTH_ALIGNING = 64, 8192
# Elements of a block of a kernel of several functions, which makes arrays on its way: fewer, and threads would wait for
# each other at the interpreter's lock between one function and the next; more, and they leave a processor's cache.
BLOCK = 1 << 17

# Functions that wait for memory, not for the processor.
_QUICK = frozenset(
    (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.negative, np.absolute, np.square)
    + (np.positive, np.floor, np.ceil, np.trunc, np.rint, np.sign, np.isnan, np.isinf, np.isfinite, np.invert)
    + (np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal, np.logical_and, np.logical_or)
    + (np.logical_not, np.logical_xor, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift)
)
# They take several threads from so many bytes of inputs and result on, in at least two parts of about so many: fewer
# bytes take a thread as long as it takes to wake another.
_MANY_BYTES, _BYTES_OF_A_PART = 10 << 20, 1 << 23
# Others take at least four parts of about so many elements.
_ELEMENTS_OF_A_PART = 1 << 17
# NumPy computes with these while other threads run.
_KINDS = frozenset("fiubc")


def divided(function, *arrays: np.ndarray) -> np.ndarray:
    """`function(*arrays)` for a function of elements with an argument `out`; in several threads where that pays.

    A function that is none of NumPy's has a result of the first array's dtype.
    """
    largest = max(arrays, key=_size)
    whole = function
    if largest.itemsize == 2 and largest.dtype.kind in "fV" and function in half_floats.EXACT_IN_FLOAT32:
        function = half_floats.in_float32(function)
    elif largest.dtype.kind not in _KINDS:
        return function(*arrays)
    dtype = _result_dtype(function, arrays)
    if function in _QUICK:
        size = sum(array.nbytes for array in arrays) + largest.size * dtype.itemsize
        if size < _MANY_BYTES:
            return function(*arrays)
        count = max(2, size // _BYTES_OF_A_PART)
    elif function is not whole:
        count = max(2, largest.size // LONG_PART)
    else:
        count = max(4, largest.size // _ELEMENTS_OF_A_PART)
    pieces = _pieces(arrays, largest.shape)
    if pieces is None:
        return whole(*arrays)
    result = empty(largest.shape, dtype)
    out, inputs = pieces(result)

    def compute(part):
        function(*[array[part] if shared is None else shared for array, shared in inputs], out=out[part])

    length = len(out) // count
    in_slices(compute, len(out), length - length % 64 if length > 64 else max(1, length))
    return result


def cast(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """`array.astype(dtype)`, in several threads where that pays."""
    each = array.itemsize + dtype.itemsize
    is_plain = array.dtype.kind in _KINDS and dtype.kind in _KINDS and array.flags.c_contiguous
    if array.size * each < _MANY_BYTES or not is_plain:
        return array.astype(dtype)
    result = empty(array.shape, dtype)
    source, target = array.reshape(-1), result.reshape(-1)
    in_slices(
        lambda part: np.copyto(target[part], source[part], casting="unsafe"), array.size, _BYTES_OF_A_PART // each
    )
    return result


def _size(array):
    return array.size


def _result_dtype(function, arrays):
    if isinstance(function, np.ufunc):
        return function.resolve_dtypes((*[array.dtype for array in arrays], None))[-1]
    return arrays[0].dtype


def _pieces(arrays, shape):
    """How to cut the arrays of a result of that shape; None where they do not lie so that this is simple.

    Returns:
        A function of the result, which gives its view to cut, and for each input one of (a view to cut, None) or
        (None, what all parts take).
    """
    if not all(array.flags.c_contiguous for array in arrays):
        return None
    if all(array.shape == shape or (array.size == 1 and array.ndim <= len(shape)) for array in arrays):

        def flat(result):
            return result.reshape(-1), [
                (array.reshape(-1), None) if array.shape == shape else (None, array.reshape(())) for array in arrays
            ]

        return flat
    if len(shape) > 1 and all(_broadcasts(array.shape, shape) for array in arrays):

        def by_first_axis(result):
            return result, [
                (array, None) if array.ndim == len(shape) and len(array) == shape[0] else (None, array)
                for array in arrays
            ]

        return by_first_axis
    return None


def _broadcasts(shape, to):
    return len(shape) <= len(to) and all(a in (1, b) for a, b in zip(shape[::-1], to[::-1]))


# Memory. What the C library keeps ends at LARGEST_KEPT.


class _Lease:
    """Owns the memory of one array, and hands it back when the last view of that is gone."""

    __slots__ = ("__array_interface__", "_memory")

    def __init__(self, memory):
        self._memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self):
        _free.put(self._memory)


class FreeMemory:
    """Memory of arrays that are gone, the oldest first. Each step is one of the interpreter's, so it needs no lock:
    arrays may go at any moment, in the midst of another step."""

    def __init__(self, limit: int):
        self._limit = limit
        self._blocks: dict[int, np.ndarray] = {}  # by identity

    def put(self, block: np.ndarray) -> None:
        """Keep a block, and let the oldest ones go that are too much then."""
        self._blocks[id(block)] = block
        blocks = list(self._blocks.values())
        total = sum(map(_size, blocks))
        for oldest in blocks:
            if total <= self._limit:
                break
            total -= oldest.size
            self._blocks.pop(id(oldest), None)

    def take(self, size: int) -> np.ndarray | None:
        """A block of at least that many bytes, and not much more; None if there is none."""
        for block in reversed(list(self._blocks.values())):
            # Otherwise another thread has it.
            if size <= block.size <= size + size // 4 and self._blocks.pop(id(block), None) is not None:
                return block
        return None


_free = FreeMemory(0 if os.environ.get("HEADRACE_KEEP_MEMORY") == "0" else FREE_AT_MOST)


def empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """`np.empty(shape, dtype)`, in memory of an array that is gone if there is such.

    The system clears fresh pages before they are written, which takes longer than a sum of two arrays does.
    """
    size = math.prod(shape) * dtype.itemsize
    if size <= LARGEST_KEPT or size > FREE_AT_MOST or dtype.hasobject:
        return np.empty(shape, dtype)
    memory = _free.take(size)
    if memory is None:
        memory = np.empty(size, np.uint8)
    return np.asarray(_Lease(memory))[:size].view(dtype).reshape(shape)


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array whose memory compiled programs can use without a copy."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.__array_interface__["data"][0] % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def aligned_copy(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A copy of an array of numbers that compiled programs can use without copying it again."""
    copy = aligned_empty(array.shape, dtype)
    np.copyto(copy, array)
    return copy
