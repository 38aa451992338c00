"""Adding the gradients that reach one tensor along several paths, dense and sparse."""

from headrace._src.core import dtypes
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.math.arithmetic import ADD, ADD_N


def add_gradients(parts: list):
    """The sum; sparse when all parts are sparse."""
    if len(parts) == 1:
        return parts[0]
    if type(parts[0]) is IndexedSlices and all(type(part) is IndexedSlices for part in parts):
        return IndexedSlices(
            CONCAT([part.values for part in parts], 0),
            CONCAT([CAST(part.indices, DstT=parts[0].indices.dtype) for part in parts], 0),
            parts[0].dense_shape,
        )
    if parts[0].dtype is dtypes.variant:  # lists of tensors
        return ADD_N(parts)
    total = parts[0]
    for part in parts[1:]:
        total = ADD(total, part)
    return total
