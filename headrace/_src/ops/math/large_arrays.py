"""Element-wise functions of large arrays: block by block, in several threads, with the same bits.

docs/decisions/0046-threads-of-one-operation.md has the figures.
"""

import numpy as np

from headrace._src.core.parts import in_slices

# Elements of a block.
_BLOCK = 1 << 16


def divided(function, *arrays: np.ndarray) -> np.ndarray:
    """`function(*arrays)` for a function of elements with an argument `out`, whose result has the first one's dtype.

    The arrays have one shape, or are scalars. Those that do not lie in one piece go through it as a whole.
    """
    shape = arrays[0].shape
    if not all(array.shape == shape and array.flags.c_contiguous if array.ndim else True for array in arrays):
        return function(*arrays)
    result = np.empty(shape, arrays[0].dtype)
    out = result.reshape(-1)
    flat = [array.reshape(-1) if array.ndim else array for array in arrays]

    def compute(part):
        function(*[array[part] if array.ndim else array for array in flat], out=out[part])

    in_slices(compute, out.size, _BLOCK)
    return result
