"""Adding the gradients that reach one tensor along several paths, dense and sparse."""

from headrace._src.core import dtypes
from headrace._src.op.definition import REGISTRY
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.math.arithmetic import ADD


def add_gradients(parts: list):
    """The sum; sparse when all parts are sparse."""
    if len(parts) == 1:
        return parts[0]
    if type(parts[0]) is IndexedSlices and all(type(part) is IndexedSlices for part in parts):
        concat = REGISTRY["ConcatV2"]
        return IndexedSlices(
            concat([part.values for part in parts], 0),
            concat([REGISTRY["Cast"](part.indices, DstT=parts[0].indices.dtype) for part in parts], 0),
            parts[0].dense_shape,
        )
    if parts[0].dtype is dtypes.variant:  # lists of tensors
        return REGISTRY["AddN"](parts)
    total = parts[0]
    for part in parts[1:]:
        total = ADD(total, part)
    return total
