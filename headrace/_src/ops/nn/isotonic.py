"""Isotonic regression: the closest monotonous sequence."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import normalize_axis
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ONES_LIKE, RANGE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.measuring import SHAPE, SIZE, known_rank
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.math.division import DIV_NO_NAN
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_SUM


def _decreasing(row):
    """The closest non-increasing sequence, by pooling neighbours that are out of order, and the pools' numbers."""
    sums, counts = [], []
    for x in row:
        total, count = x, 1
        # A pool whose mean is above that of the pool before it joins it.
        while sums and sums[-1] * count < total * counts[-1]:
            total += sums.pop()
            count += counts.pop()
        sums.append(total)
        counts.append(count)
    means = [total / count for total, count in zip(sums, counts)]
    return np.repeat(means, counts), np.repeat(np.arange(len(counts)), counts)


def _isotonic(input, output_dtype):
    if not input.ndim:
        raise errors.invalid_argument("IsotonicRegression: input must have rank 1 or more, got shape ().")
    flat = input.reshape(math.prod(input.shape[:-1]), input.shape[-1]).astype(np.float64)
    output, segments = np.empty(flat.shape, output_dtype._np), np.empty(flat.shape, np.int32)
    for i, row in enumerate(flat.tolist()):
        if row:
            output[i], segments[i] = _decreasing(row)
    return output.reshape(input.shape), segments.reshape(input.shape)


def _grad_isotonic(node, dy, dsegments):
    # Every element of a pool gets the mean of the pool's gradients.
    shape = node.input_shape
    width = shape[-1]
    segments = RESHAPE(node.segments, [-1, width])
    rows = EXPAND_DIMS(RANGE(0, SHAPE(segments)[0], 1), 1)
    ids = segments + rows * width
    flat = RESHAPE(dy, [-1])
    ids = RESHAPE(ids, [-1])
    size = SIZE(ids)
    total = UNSORTED_SEGMENT_SUM(flat, ids, size)
    count = UNSORTED_SEGMENT_SUM(ONES_LIKE(flat), ids, size)
    mean = DIV_NO_NAN(total, count)
    grad = RESHAPE(GATHER_V2(mean, ids, 0), shape)
    return (grad if node.input_dtype is dy.dtype else CAST(grad, DstT=node.input_dtype),)


ISOTONIC_REGRESSION = Op(
    "IsotonicRegression",
    "input: T, *, output_dtype: type = float32 -> output: output_dtype, segments: int32",
    T=dtypes.REAL,
    infer=lambda input, output_dtype: (input.shape, input.shape),
    kernel=_isotonic,
    lower=None,  # pools depend on data
    saves=("segments", "input_shape", "input_dtype"),
    grad=_grad_isotonic,
    output_dtype=dtypes.FLOATING,
)


@api("nn.isotonic_regression")
def isotonic_regression(inputs, decreasing=True, axis=-1) -> tuple[Tensor, Tensor]:
    """The monotonous sequence with the smallest squared distance from `inputs`, along `axis`.

    Args:
        inputs: real numbers.
        decreasing: non-increasing (the default) or non-decreasing.
        axis: the axis of the sequences.

    Returns:
        `(output, segments)`: the regression, and for each element the number of the constant piece it is in.

    >>> tf.nn.isotonic_regression([3.0, 1.0, 2.0])[0].numpy()
    array([3. , 1.5, 1.5], dtype=float32)
    """
    x = to_tensor(inputs)
    kinds = {dtypes.float64: dtypes.float64, dtypes.int32: dtypes.float64, dtypes.int64: dtypes.float64}
    dtype = x.dtype if x.dtype.is_floating else kinds.get(x.dtype, dtypes.float32)
    rank = known_rank("nn.isotonic_regression", "inputs", x)
    axis = normalize_axis(axis, rank, "nn.isotonic_regression")
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    moved = axis != rank - 1
    if moved:
        x = TRANSPOSE(x, order)
    if not decreasing:
        x = -x
    output, segments = ISOTONIC_REGRESSION(x, output_dtype=dtype)
    if not decreasing:
        output = -output
    if moved:
        output, segments = TRANSPOSE(output, order), TRANSPOSE(segments, order)
    return output, segments
