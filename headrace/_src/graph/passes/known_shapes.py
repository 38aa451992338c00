"""Questions about shapes that have one answer, since the shape is part of the graph."""

import numpy as np

from headrace._src.ops.arrays.measuring import RANK, SHAPE, SIZE


def _shape(step, known):
    shape = step.inputs[0]._shape
    if not shape.is_fully_defined():
        return None
    return _fitting(shape.as_list(), step.outputs[0].dtype._np)


def _size(step, known):
    size = step.inputs[0]._shape.num_elements()
    return None if size is None else _fitting(size, step.outputs[0].dtype._np)


def _rank(step, known):
    rank = step.inputs[0]._shape.rank
    return None if rank is None else np.array(rank, np.int32)


def _fitting(value, dtype):
    """The array, unless some number does not fit, which is an error when the graph runs."""
    array = np.array(value, np.int64)
    return array.astype(dtype) if not array.size or array.max() <= np.iinfo(dtype).max else None


RULES = {SHAPE: _shape, SIZE: _size, RANK: _rank}
