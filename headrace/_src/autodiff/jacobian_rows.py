"""The rows of a Jacobian: one gradient for each element of the target, all at once where that pays."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.api import PUBLIC
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import FILL
from headrace._src.ops.arrays.joining import CONCAT, PACK, UNPACK
from headrace._src.ops.arrays.shaping import RESHAPE, SHAPE
from headrace._src.ops.linalg.diagonals import MATRIX_DIAG_MAIN
from headrace._src.ops.math.reductions import PROD

# Below this, computing row after row takes less time than making a graph of one.
_WORTH_TRACING = 8


def shape_of(tensor):
    """The shape as a tuple of ints, or as an int32 tensor where it is not fully known."""
    if tensor.shape.is_fully_defined():
        return tuple(tensor.shape.as_list())
    return SHAPE(tensor, out_type=dtypes.int32)


def inner_shape(tensor):
    """The shape without the first axis, as `shape_of` gives it."""
    if tensor.shape.rank is not None and tensor.shape[1:].is_fully_defined():
        return tuple(tensor.shape[1:].as_list())
    return shape_of(tensor)[1:]


def shape_size(shape):
    """How many elements a tensor of that shape has; None when that is not known."""
    return int(np.prod(shape)) if isinstance(shape, tuple) else None


def joined(*shapes):
    """Shapes one after another."""
    if all(isinstance(shape, tuple) for shape in shapes):
        return sum(shapes, ())
    return CONCAT([to_tensor(shape, dtypes.int32) for shape in shapes], 0)


def gradients_by_weight(gradients_of, shape, dtype, source_types, use_pfor) -> list:
    """For each source the gradients of all elements of a target, stacked along a first axis; None if it has none.

    Args:
        gradients_of: from a gradient of the target, one at one element and zero elsewhere, to one gradient or None per
            source.
        shape: of the target.
        dtype: of the target.
        source_types: the dtypes of the sources.
        use_pfor: compute all rows at once, by `tf.vectorized_map`.
    """
    size = shape_size(shape)
    weights = _basis(shape, size, dtype)
    if size == 0:
        return [None] * len(source_types)
    if use_pfor and (context.graph is not None or size >= _WORTH_TRACING):
        try:
            return list(PUBLIC["vectorized_map"](gradients_of, weights, warn=False))
        except Exception:
            # Gradients written in Python may need values, which only the rows one by one have.
            if context.graph is not None:
                raise
    if size is None:
        return _looped(gradients_of, weights, source_types)
    rows = [gradients_of(weight) for weight in UNPACK(weights, num=size, axis=0)]
    return [
        None if all(grad is None for grad in column) else PACK([to_tensor(g) for g in column], axis=0)
        for column in zip(*rows)
    ]


def _basis(shape, size, dtype):
    """For each element of `shape`: a tensor that is one there and zero elsewhere; all of them stacked."""
    if size is not None:
        return EagerTensor(np.eye(size, dtype=dtype._np).reshape(size, *shape), dtype)
    size = PROD(shape, 0, keep_dims=False)
    ones = FILL(RESHAPE(size, [1]), to_tensor(1, dtype))
    return RESHAPE(MATRIX_DIAG_MAIN(ones), joined(RESHAPE(size, [1]), shape))


def _looped(gradients_of, weights, source_types):
    """Row after row, in a loop of the graph."""
    missing: list = []

    def row(weight):
        found = gradients_of(weight)
        missing[:] = [grad is None for grad in found]
        return [to_tensor(0, dtype) if g is None else to_tensor(g) for g, dtype in zip(found, source_types)]

    stacked = PUBLIC["map_fn"](row, weights, fn_output_signature=list(source_types))
    return [None if is_missing else column for column, is_missing in zip(stacked, missing)]
