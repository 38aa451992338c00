"""Reductions that are made of others: variance, norms, counts, log-sum-exp, and tests of order."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import SUM, reduced_shape, reduction_axes, shape_of
from headrace._src.ops.arrays.casting import CAST, cast
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.measuring import SIZE
from headrace._src.ops.arrays.passing import STOP_GRADIENT
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.arrays.slicing import STRIDED_SLICE
from headrace._src.ops.math.arithmetic import ADD
from headrace._src.ops.math.comparison import NOT_EQUAL
from headrace._src.ops.math.complex_numbers import CONJ, REAL, zero_like
from headrace._src.ops.math.division import REAL_DIV
from headrace._src.ops.math.elementwise import EXP, IS_FINITE, LOG, SQRT, SQUARE
from headrace._src.ops.math.reductions import ALL, MAX, MEAN, NUMBERS, axes_of, reduce, reduction


@api("math.reduce_variance", scope="reduce_variance")
def reduce_variance(input_tensor, axis=None, keepdims=False, name=None) -> Tensor:
    """The variance along axes (divided by the number of elements); real for complex tensors.

    >>> tf.math.reduce_variance([1.0, 2.0, 3.0, 4.0]).numpy()
    np.float32(1.25)

    Raises:
        TypeError: when the input is an integer tensor.
    """
    x = to_tensor(input_tensor)
    axes = axes_of(x, axis)
    means = MEAN(x, axes, keep_dims=True)
    if x.dtype._kind in "iu":
        raise TypeError(
            f"math.reduce_variance: input_tensor must be floating or complex, got {x.dtype.name}. "
            "Cast it with tf.cast."
        )
    difference = x - means
    if x.dtype._kind == "c":
        squares = REAL(CONJ(difference) * difference, Tout=x.dtype.real_dtype)
    else:
        squares = SQUARE(difference)
    return reduce(MEAN, squares, axis, keepdims, name)


@api("math.reduce_std", scope="reduce_std")
def reduce_std(input_tensor, axis=None, keepdims=False, name=None) -> Tensor:
    """The standard deviation along axes: the square root of `reduce_variance`.

    Raises:
        TypeError: when the input is an integer tensor.
    """
    return SQRT(reduce_variance(input_tensor, axis, keepdims), name=name)


@api("math.reduce_logsumexp", "reduce_logsumexp", result_scope="ReduceLogSumExp")
def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None) -> Tensor:
    """`log(sum(exp(x)))` along axes, without overflow for large and underflow for small `x`.

    >>> f"{float(tf.reduce_logsumexp([1000.0, 1000.0])):.2f}"
    '1000.69'
    """
    x = to_tensor(input_tensor)
    axes = axes_of(x, axis)
    largest = MAX(x, axes, keep_dims=True)
    finite = SELECT_V2(IS_FINITE(largest), largest, ZEROS_LIKE(largest))
    shift = STOP_GRADIENT(finite)
    total = LOG(reduce(SUM, EXP(x - shift), axis, keepdims, None))
    if not keepdims:
        shift = RESHAPE(shift, shape_of(total))
    return ADD(total, shift, name=name)


def _euclidean_norm(x, axis, keep_dims):
    axes = reduction_axes(axis, x.ndim, "EuclideanNorm")
    kind = x.dtype.kind
    if kind == "c":
        squares = x.real * x.real + x.imag * x.imag
        return np.sqrt(np.sum(squares, axes, keepdims=keep_dims)).astype(x.dtype)
    if kind in "iu":
        # TF: squares and their sum wrap around in the dtype.
        total = np.sum(x * x, axes, dtype=x.dtype, keepdims=keep_dims)
        return np.sqrt(total.astype(np.float64)).astype(x.dtype)
    if x.dtype.itemsize == 2:
        return _euclidean_norm(x.astype(np.float32), axis, keep_dims).astype(x.dtype)
    return np.sqrt(np.sum(x * x, axes, keepdims=keep_dims))


def _lower_euclidean_norm(ctx, x, axis, keep_dims):
    axes = reduction_axes(axis, x.ndim)
    kind = x.dtype.kind
    if kind in "iu":
        total = jnp.sum(x * x, axes, dtype=x.dtype, keepdims=keep_dims)
        return jnp.sqrt(total.astype(jnp.float64)).astype(x.dtype)
    squares = jnp.real(x) ** 2 + jnp.imag(x) ** 2 if kind == "c" else x * x
    return jnp.sqrt(jnp.sum(squares, axes, keepdims=keep_dims)).astype(x.dtype)


def _grad_euclidean_norm(node, dy):
    x, y = node.input, node.output
    if not node.attrs["keep_dims"]:
        kept = reduced_shape(shape_of(x), node.reduction_indices)
        y, dy = RESHAPE(y, kept), RESHAPE(dy, kept)
    return x / (y / dy), None


EUCLIDEAN_NORM = reduction(
    "EuclideanNorm",
    NUMBERS,
    _euclidean_norm,
    _lower_euclidean_norm,
    _grad_euclidean_norm,
    ("input", "output", "reduction_indices"),
    T=dtypes.NUMBER,
)


@api("math.reduce_euclidean_norm")
def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None) -> Tensor:
    """The square root of the sum of squared absolute values, along axes; an integer for integers.

    >>> tf.math.reduce_euclidean_norm([3.0, 4.0]).numpy()
    np.float32(5.0)
    """
    return reduce(EUCLIDEAN_NORM, input_tensor, axis, keepdims, name)


def _nonzero(x):
    if x.dtype is dtypes.string:
        empty = np.empty((), object)
        empty[()] = b""
        return NOT_EQUAL(x, EagerTensor(empty, dtypes.string))
    return NOT_EQUAL(x, zero_like(x))


@api("math.count_nonzero")
def count_nonzero(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None) -> Tensor:
    """How many elements are not zero (or not empty, for strings), along axes.

    >>> tf.math.count_nonzero([[0, 1], [2, 3]], axis=0).numpy().tolist()
    [1, 2]
    """
    input = to_tensor(input)
    counted = CAST(_nonzero(input), DstT=dtypes.int64)
    total = reduce(SUM, counted, axis, keepdims, None)
    return cast(total, dtype, name=name)


@api("math.zero_fraction", "nn.zero_fraction")
def zero_fraction(value, name=None) -> Tensor:
    """The fraction of zeros in `value`, as float32; NaN when it is empty.

    >>> tf.math.zero_fraction([0.0, 1.0, 2.0, 0.0]).numpy()
    np.float32(0.5)
    """
    value = to_tensor(value)
    size = SIZE(value, out_type=dtypes.int64)
    zeros = size - count_nonzero(value)
    return REAL_DIV(CAST(zeros, DstT=dtypes.float32), CAST(size, DstT=dtypes.float32), name=name)


def _neighbours(function, x):
    """All elements but the last, and all but the first, in row-major order."""
    x = to_tensor(x)
    if x.dtype._kind not in "fciuq":
        raise TypeError(f"{function}: x must be numeric, got {x.dtype.name}.")
    flat = RESHAPE(x, [-1])
    masks = {"ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}
    return (
        STRIDED_SLICE(flat, [0], [-1], [1], begin_mask=1, end_mask=0, **masks),
        STRIDED_SLICE(flat, [1], [0], [1], begin_mask=0, end_mask=1, **masks),
    )


@api("math.is_non_decreasing")
def is_non_decreasing(x, name=None) -> Tensor:
    """Whether no element is smaller than the one before, in row-major order.

    >>> tf.math.is_non_decreasing([1, 2, 2]).numpy()
    np.True_

    Raises:
        TypeError: when `x` is not numeric.
    """
    before, after = _neighbours("math.is_non_decreasing", x)
    return ALL(after >= before, [0], name=name)


@api("math.is_strictly_increasing")
def is_strictly_increasing(x, name=None) -> Tensor:
    """Whether every element is greater than the one before, in row-major order.

    Raises:
        TypeError: when `x` is not numeric.
    """
    before, after = _neighbours("math.is_strictly_increasing", x)
    return ALL(before < after, [0], name=name)
