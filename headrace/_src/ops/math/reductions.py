"""Reductions: one number from many, along axes."""

import functools
import math

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import Rule, along_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import unless_axes_constant
from headrace._src.op.registry import lookup
from headrace._src.ops.arrays.broadcasting import (
    SUM,
    infer_reduction,
    reduced_rows,
    reduced_shape,
    reduction_axes,
    shape_of,
    unreduce,
)
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import RANK, known_value
from headrace._src.ops.arrays.rearranging import INVERT_PERMUTATION, TRANSPOSE
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.arithmetic import MAXIMUM, number_like
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.complex_numbers import conjugate
from headrace._src.ops.math.division import FLOOR_DIV, FLOOR_MOD, REAL_DIV
from headrace._src.ops.math.half_kernels import widened
from headrace._src.ops.math.reduction_kernels import reduced
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_MAX, UNSORTED_SEGMENT_MIN

_ALL_AXES = [EagerTensor(np.arange(rank, dtype=np.int32), dtypes.int32) for rank in range(9)]
_ONE_AXIS = {i: EagerTensor(np.array(i, np.int32), dtypes.int32) for i in range(-9, 9)}


def one_axis(axis):
    """An int as the input that names an axis, without a new tensor for each call."""
    return _ONE_AXIS[axis] if type(axis) is int and axis in _ONE_AXIS else axis


def axes_of(x, axis):
    """`axis` as reductions take it: all axes for None.

    Raises:
        TypeError: when it is no integer.
    """
    if axis is not None:
        if isinstance(axis, float):
            raise TypeError(f"axis must be an integer or integers, got {axis}.")
        return one_axis(axis)
    rank = x._a.ndim if type(x) is EagerTensor else x.shape.rank
    if rank is None:
        return RANGE(0, RANK(x), 1)
    return _ALL_AXES[rank] if rank < 9 else np.arange(rank, dtype=np.int32)


def reduce(op, x, axis, keepdims, name):
    """Apply a reduction as the public functions do."""
    if type(x) is not EagerTensor:
        x = to_tensor(x)
    result = op.lane((x, axes_of(x, axis)), {"keep_dims": bool(keepdims)}, name)
    if axis is None and type(result) is not EagerTensor and not keepdims:
        result.set_shape([])  # also where the rank is not known
    return result


def _is_small_float(x):
    return x.dtype.itemsize == 2 and x.dtype.kind in "fV"


def reduction(name, text, kernel, lower, grad, saves, vectorize=along_axes, **types):
    """An op that reduces `input` along `reduction_indices`."""
    return Op(
        name,
        text,
        can_fail=unless_axes_constant,
        raw_names={"reduction_indices": "axis"},
        infer=infer_reduction,
        kernel=kernel,
        lower=lower,
        static=("reduction_indices",),
        saves=saves,
        grad=grad,
        vectorize=vectorize,
        Tidx=dtypes.INDEX,
        **types,
    )


NUMBERS = "input: T, reduction_indices: Tidx, *, keep_dims: bool = False -> output: T"
TRUTHS = "input: bool, reduction_indices: Tidx, *, keep_dims: bool = False -> output: bool"


@api("math.reduce_sum", "reduce_sum")
def reduce_sum(input_tensor, axis=None, keepdims=False, name=None) -> Tensor:
    """The sum along axes.

    >>> tf.reduce_sum([[1, 2], [3, 4]], axis=0).numpy().tolist()
    [4, 6]

    Args:
        input_tensor: numbers.
        axis: an axis or a list of axes, which may be negative; None for all.
        keepdims: keep reduced axes with length 1.
        name: accepted for compatibility.
    """
    return reduce(SUM, input_tensor, axis, keepdims, name)


def _count(shape, axes):
    count = 1
    for a in axes:
        count *= shape[a]
    return count


def _mean(x, axis, keep_dims):
    axes = reduction_axes(axis, x.ndim, "Mean")
    if x.dtype.char in "fdFD":
        return reduced(np.add, x, axes, keep_dims) / _count(x.shape, axes)
    if x.dtype.kind in "iu":
        # TF: the sum in 64 bits, divided toward zero.
        wide = np.uint64 if x.dtype.kind == "u" else np.int64
        total = np.sum(x, axes, dtype=wide, keepdims=keep_dims)
        count = wide(max(_count(x.shape, axes), 1))
        return ((total - np.fmod(total, count)) // count).astype(x.dtype)
    return _mean(widened(x), axis, keep_dims).astype(x.dtype)


def _lower_mean(ctx, x, axis, keep_dims):
    axes = reduction_axes(axis, x.ndim)
    if x.dtype.kind in "iu":
        wide = np.uint64 if x.dtype.kind == "u" else np.int64
        total = jnp.sum(x, axes, dtype=wide, keepdims=keep_dims)
        count = wide(max(_count(x.shape, axes), 1))
        return ((total - jnp.fmod(total, count)) // count).astype(x.dtype)
    return jnp.mean(x, axes, keepdims=keep_dims)


@functools.lru_cache(maxsize=256)
def _counts(shape, dtype):
    """The number of elements of a small shape, in that shape: dividing a number by it also repeats the number."""
    count = max(math.prod(shape), 1)
    return EagerTensor(np.broadcast_to(np.array(count, dtype._np), shape), dtype) if count < 16384 else None


def _grad_mean(node, dy):
    shape, axes = node.input_shape, node.reduction_indices
    if type(dy) is EagerTensor and not dy._a.ndim and (counts := _counts(shape, dy.dtype)) is not None:
        return REAL_DIV.lane((dy, counts), {}, None), None
    if isinstance(shape, tuple) and (known := known_value(axes)) is not None:
        count = number_like(dy, max(_count(shape, reduction_axes(known, len(shape))), 1))
    else:
        out = node.output_shape
        sizes = [PROD(to_tensor(s, dtypes.int32), [0]) for s in (shape, out)]
        count = CAST(FLOOR_DIV(sizes[0], MAXIMUM(sizes[1], 1)), DstT=dy.dtype)
    return unreduce(dy / count, shape, axes, node.attrs["keep_dims"]), None


MEAN = reduction("Mean", NUMBERS, _mean, _lower_mean, _grad_mean,
                  ("input_shape", "output_shape", "reduction_indices"), T=dtypes.NUMBER)  # fmt: skip


@api("math.reduce_mean", "reduce_mean")
def reduce_mean(input_tensor, axis=None, keepdims=False, name=None) -> Tensor:
    """The mean along axes; that of integers is an integer, rounded toward zero.

    >>> tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]]).numpy()
    np.float32(2.5)

    Args:
        input_tensor: numbers.
        axis: an axis or a list of axes, which may be negative; None for all.
        keepdims: keep reduced axes with length 1.
        name: accepted for compatibility.
    """
    return reduce(MEAN, input_tensor, axis, keepdims, name)


def _lowest(dtype):
    """What the maximum of nothing is."""
    if dtype.kind in "iu":
        return dtype.type(np.iinfo(dtype).min)
    return dtype.type(-np.inf)


def _highest(dtype):
    if dtype.kind in "iu":
        return dtype.type(np.iinfo(dtype).max)
    return dtype.type(np.inf)


def _extreme(name, ufunc, lower, identity, of_segments):
    def kernel(x, axis, keep_dims):
        axes = reduction_axes(axis, x.ndim, name)
        if _is_small_float(x):
            return kernel(widened(x), axis, keep_dims).astype(x.dtype)
        if x.size:
            return reduced(ufunc, x, axes, keep_dims)
        return ufunc.reduce(x, axes, keepdims=keep_dims, initial=identity(x.dtype))

    def lowering(ctx, x, axis, keep_dims):
        axes = reduction_axes(axis, x.ndim)
        return lower(x, axes, keepdims=keep_dims, initial=identity(np.dtype(x.dtype)))

    def vectorize_ragged(batch, node, x, axes):
        return reduced_rows(batch, node, x, axes, of_segments)

    return reduction(name, NUMBERS, kernel, lowering, _grad_extreme, ("input", "output", "reduction_indices"),
                     Rule(along_axes.stacked, vectorize_ragged), T=dtypes.REAL | dtypes.QUANTIZED)  # fmt: skip


def _grad_extreme(node, dy):
    # The gradient is shared evenly by all elements that are the extreme.
    x, axes = node.input, node.reduction_indices
    shape = shape_of(x)
    y = node.output
    if not node.attrs["keep_dims"]:
        kept = reduced_shape(shape, axes)
        y, dy = RESHAPE(y, kept), RESHAPE(dy, kept)
    chosen = EQUAL(x, y)
    many = SUM(CAST(chosen, DstT=dy.dtype), axes, keep_dims=True)
    # Nothing equals NaN: then 0 / 0 for all. XLA takes a product with a truth value for a choice, and would give 0.
    return lookup("SelectV2")(chosen, 1 / many, 0 / many) * dy, None


MAX = _extreme("Max", np.maximum, lambda *a, **k: jnp.max(*a, **k), _lowest, UNSORTED_SEGMENT_MAX)
MIN = _extreme("Min", np.minimum, lambda *a, **k: jnp.min(*a, **k), _highest, UNSORTED_SEGMENT_MIN)


@api("math.reduce_max", "reduce_max")
def reduce_max(input_tensor, axis=None, keepdims=False, name=None) -> Tensor:
    """The maximum along axes; the lowest value there is when an axis is empty.

    >>> tf.reduce_max([[1, 4], [3, 2]], axis=1).numpy().tolist()
    [4, 3]
    """
    return reduce(MAX, input_tensor, axis, keepdims, name)


@api("math.reduce_min", "reduce_min")
def reduce_min(input_tensor, axis=None, keepdims=False, name=None) -> Tensor:
    """The minimum along axes; the highest value there is when an axis is empty."""
    return reduce(MIN, input_tensor, axis, keepdims, name)


def _prod(x, axis, keep_dims):
    axes = reduction_axes(axis, x.ndim, "Prod")
    if _is_small_float(x):
        return np.prod(widened(x), axes, keepdims=keep_dims).astype(x.dtype)
    return reduced(np.multiply, x, axes, keep_dims, x.dtype)


def _lower_prod(ctx, x, axis, keep_dims):
    return jnp.prod(x, reduction_axes(axis, x.ndim), dtype=x.dtype, keepdims=keep_dims)


def _grad_prod(node, dy):
    # The product of all others, without dividing, since one may be zero: that before times that after.
    x, axes = node.input, node.reduction_indices
    shape = shape_of(x)
    dy = unreduce(dy, shape, axes, node.attrs["keep_dims"])
    transpose, cumprod = TRANSPOSE, lookup("Cumprod")
    if isinstance(shape, tuple) and hasattr(axes, "_a"):
        if 0 in shape:
            return dy * ZEROS_LIKE(x), None
        gone = reduction_axes(axes._a, len(shape))
        order = [*gone, *(i for i in range(len(shape)) if i not in gone)]
        inverse = np.argsort(order).astype(np.int32)
        order = np.array(order, np.int32)
        flat = [_count(shape, gone), -1]
        permuted_shape = tuple(shape[i] for i in order)
    else:
        rank, dims = RANK(x), to_tensor(shape, dtypes.int32)  # of a scalar: no number tells the dtype
        axes = RESHAPE(CAST(axes, DstT=dtypes.int32), [-1])
        gone = FLOOR_MOD(axes + rank, rank)
        kept = lookup("ListDiff")(RANGE(0, rank, 1), gone).out
        order = CONCAT([gone, kept], 0)
        inverse = INVERT_PERMUTATION(order)
        permuted_shape = GATHER_V2(dims, order, 0)
        many = PROD(GATHER_V2(dims, gone, 0), [0])
        flat = PACK([many, -1], axis=0)
    matrix = RESHAPE(transpose(x, order), flat)
    left = cumprod(matrix, 0, exclusive=True)
    right = cumprod(matrix, 0, exclusive=True, reverse=True)
    others = RESHAPE(conjugate(left) * conjugate(right), permuted_shape)
    return dy * transpose(others, inverse), None


PROD = reduction("Prod", NUMBERS, _prod, _lower_prod, _grad_prod, ("input", "reduction_indices"),
                  T=dtypes.NUMBER)  # fmt: skip


@api("math.reduce_prod", "reduce_prod")
def reduce_prod(input_tensor, axis=None, keepdims=False, name=None) -> Tensor:
    """The product along axes; 1 when an axis is empty."""
    return reduce(PROD, input_tensor, axis, keepdims, name)


def _truth(name, ufunc, lower):
    def kernel(x, axis, keep_dims):
        return ufunc.reduce(x, reduction_axes(axis, x.ndim, name), keepdims=keep_dims)

    def lowering(ctx, x, axis, keep_dims):
        return lower(x, reduction_axes(axis, x.ndim), keepdims=keep_dims)

    return reduction(name, TRUTHS, kernel, lowering, None, ())


ALL = _truth("All", np.logical_and, lambda *a, **k: jnp.all(*a, **k))
ANY = _truth("Any", np.logical_or, lambda *a, **k: jnp.any(*a, **k))


@api("math.reduce_all", "reduce_all")
def reduce_all(input_tensor, axis=None, keepdims=False, name=None) -> Tensor:
    """Whether all are true, along axes.

    >>> tf.reduce_all([[True, True], [False, True]], axis=1).numpy().tolist()
    [True, False]
    """
    return reduce(ALL, input_tensor, axis, keepdims, name)


@api("math.reduce_any", "reduce_any")
def reduce_any(input_tensor, axis=None, keepdims=False, name=None) -> Tensor:
    """Whether any is true, along axes."""
    return reduce(ANY, input_tensor, axis, keepdims, name)
