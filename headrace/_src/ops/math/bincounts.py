"""Counting how often values occur: bincount, histograms, the confusion matrix."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import Batched, NoRule, Ragged, Rule, unstacked
from headrace._src.op.control_flow import cond
from headrace._src.op.convert import UnfitValueError, to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import UNKNOWN, whole
from headrace._src.ops.arrays.broadcasting import shape_of
from headrace._src.ops.arrays.casting import CAST, cast
from headrace._src.ops.arrays.filling import ONES_LIKE
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.measuring import RANK
from headrace._src.ops.arrays.scattering import SCATTER_ND
from headrace._src.ops.arrays.shaping import RESHAPE, SQUEEZE
from headrace._src.ops.arrays.slicing import STRIDED_SLICE
from headrace._src.ops.debugging.assertions import ASSERT
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.division import true_divide
from headrace._src.ops.math.elementwise import FLOOR
from headrace._src.ops.math.reductions import ALL, MAX, PROD

_WEIGHTS = frozenset({dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64})


def _bin_size(op, size):
    if size.ndim:
        raise errors.invalid_argument(f"{op}: size must be a scalar, got shape {size.shape}.")
    if size < 0:
        raise errors.invalid_argument(f"{op}: size ({size}) must be non-negative.")
    return int(size)


def _require_non_negative(op, values):
    if values.size and values.min() < 0:
        raise errors.invalid_argument(f"{op}: values must be non-negative, got {values.min()}.")


def count_bins(values, size, weights, binary, dtype):
    """Rows of `values` (2-D, non-negative) counted into rows of `size` bins; larger values are left out."""
    rows = values.shape[0]
    if not values.size or not size:
        return np.zeros((rows, size), dtype)
    inside = values < size
    flat = (values.astype(np.int64) + np.arange(rows)[:, None] * size)[inside]
    if binary:
        out = np.zeros(rows * size, dtype)
        out[flat] = 1
    elif weights.size and dtype.kind == "f":
        out = np.bincount(flat, weights[inside], rows * size).astype(dtype)
    elif weights.size:
        out = np.zeros(rows * size, dtype)
        np.add.at(out, flat, weights[inside])
    else:
        out = np.bincount(flat, minlength=rows * size).astype(dtype)
    return out.reshape(rows, size)


def _bincount(arr, size, weights):
    size = _bin_size("Bincount", size)
    _require_non_negative("Bincount", arr)
    if weights.size not in (0, arr.size):
        raise errors.invalid_argument(
            f"Bincount: weights must have the size of arr {arr.shape} or be empty, got shape {weights.shape}."
        )
    if arr.size and size and not weights.size:
        values = arr.reshape(-1)
        inside = values if values.max() < size else values[values < size]
        return np.bincount(inside, minlength=size).astype(weights.dtype)
    return count_bins(arr.reshape(1, -1), size, weights.reshape(1, -1), False, weights.dtype)[0]


def _lower_counts(ctx, op, values, size, weights, binary):
    rows = values.shape[0]
    ctx.check(jnp.all(values >= 0), errors.InvalidArgumentError, f"{op}: values must be non-negative.")
    out = jnp.zeros((rows, size), weights.dtype)
    at = (jnp.arange(rows)[:, None], values)
    if binary:
        return out.at[at].set(1, mode="drop")
    return out.at[at].add(weights if weights.size else 1, mode="drop")


def _lower_bincount(ctx, arr, size, weights):
    size = _bin_size("Bincount", size)
    weights = weights.reshape(1, -1)
    return _lower_counts(ctx, "Bincount", arr.reshape(1, -1), size, weights, False)[0]


def _infer_bincount(arr, size, weights):
    return TensorShape([None if size.value is None else _bin_size("Bincount", np.asarray(size.value))])


def _vectorize_ragged_bincount(batch, node, x, size, weights):
    if not isinstance(x, Ragged) or isinstance(size, Ragged) or unstacked(weights, "weights").shape.num_elements() != 0:
        raise NoRule("it has weights")
    if weights.tensor.dtype not in dtypes.INDEX:
        raise NoRule("its sums are no integers")
    sizes, numbers = CAST(batch.stack(size), DstT=dtypes.int64), CAST(x.tensor, DstT=dtypes.int64)
    zero = to_tensor(0, dtypes.int64)
    batch.require(sizes >= zero)
    batch.require(numbers >= zero)
    batch.require(numbers < batch.spread(Batched(sizes, True), x.splits))  # others would be left out
    splits = batch.splits_of(sizes)
    places = numbers + batch.spread(Batched(batch.starts(splits), True), x.splits)
    total = CAST(splits[-1], DstT=dtypes.int32)
    return Ragged(BINCOUNT(CAST(places, DstT=dtypes.int32), total, weights.tensor), splits)


BINCOUNT = Op(
    "Bincount",
    "arr: int32, size: int32, weights: T -> bins: T",
    T=_WEIGHTS,
    infer=_infer_bincount,
    kernel=_bincount,
    lower=_lower_bincount,
    static=("size",),
    grad=unregistered,
    vectorize=Rule(ragged=_vectorize_ragged_bincount),
)


def _dense_rows(op, input, weights):
    """Input and weights as rows."""
    if input.ndim > 2:
        raise errors.invalid_argument(f"{op}: input must be at most rank 2, got shape {input.shape}.")
    if weights.size and weights.shape != input.shape:
        raise errors.invalid_argument(
            f"{op}: weights must have the shape of input {input.shape} or be empty, got {weights.shape}."
        )
    rows = input if input.ndim == 2 else input.reshape(1, -1)
    return rows, weights.reshape(rows.shape) if weights.size else weights


def _dense_bincount(input, size, weights, binary_output):
    size = _bin_size("DenseBincount", size)
    rows, row_weights = _dense_rows("DenseBincount", input, weights)
    _require_non_negative("DenseBincount", input)
    out = count_bins(rows, size, row_weights, binary_output, weights.dtype)
    return out if input.ndim == 2 else out[0]


def _lower_dense_bincount(ctx, input, size, weights, binary_output):
    size = _bin_size("DenseBincount", size)
    rows, row_weights = _dense_rows("DenseBincount", input, weights)
    out = _lower_counts(ctx, "DenseBincount", rows, size, row_weights, binary_output)
    return out if input.ndim == 2 else out[0]


def _infer_dense_bincount(input, size, weights, binary_output):
    bins = None if size.value is None else _bin_size("DenseBincount", np.asarray(size.value))
    rank = input.shape.rank
    if rank is None:
        return UNKNOWN
    if rank > 2:
        raise errors.invalid_argument(f"DenseBincount: input must be at most rank 2, got {input.shape}.")
    return TensorShape([input.shape[0], bins] if rank == 2 else [bins])


DENSE_BINCOUNT = Op(
    "DenseBincount",
    "input: Tidx, size: Tidx, weights: T, *, binary_output: bool = False -> output: T",
    Tidx=dtypes.INDEX,
    T=_WEIGHTS,
    infer=_infer_dense_bincount,
    kernel=_dense_bincount,
    lower=_lower_dense_bincount,
    static=("size",),
    grad=unregistered,
)


@api("math.bincount")
def bincount(
    arr,
    weights=None,
    minlength=None,
    maxlength=None,
    dtype=dtypes.int32,
    name=None,
    axis=None,
    binary_output=False,
) -> Tensor:
    """How often each of 0, 1, 2 ... occurs.

    >>> tf.math.bincount([1, 1, 2]).numpy().tolist()
    [0, 2, 1]

    Args:
        arr: non-negative integers.
        weights: what each element counts for; 1 when left out.
        minlength: at least so many bins; without it, the largest value decides.
        maxlength: at most so many bins; larger values are not counted.
        dtype: of the counts when there are no weights.
        name: accepted for compatibility.
        axis: 0 or None to count all, -1 to count each row by itself.
        binary_output: whether values occur, instead of how often.

    Raises:
        InvalidArgumentError: when a value is negative, or the shape of `weights` is another.
        ValueError: for another axis, or weights together with `binary_output`.
    """
    if isinstance(arr, CompositeTensor):
        raise TypeError(f"math.bincount: arr must be a dense tensor, got {type(arr).__name__}.")
    if weights is not None and binary_output:
        raise ValueError("math.bincount: weights and binary_output are mutually exclusive, give one of them.")
    if axis not in (None, 0, -1):
        raise ValueError(f"math.bincount: axis must be 0 or -1, got {axis}.")
    arr = to_tensor(arr)
    if arr.dtype._kind not in "iu":
        arr = CAST(arr, DstT=dtypes.int32)
    index = arr.dtype
    filled = CAST(PROD(to_tensor(shape_of(arr), dtypes.int32), [0]) > 0, DstT=index)
    flat = RESHAPE(arr, [-1])
    size = filled * (MAX(flat, [0]) + 1)
    for name_, length in (("minlength", minlength), ("maxlength", maxlength)):
        if isinstance(length, (int, float, complex)) and whole(length, name_) >= 2**31:
            raise errors.invalid_argument(f"bincount: {name_} must be less than 2**31, got {length}.")
        if length is not None and to_tensor(length).dtype._kind not in "iub":
            raise UnfitValueError(f"bincount: {name_} must be an integer, got {to_tensor(length).dtype.name}.")
    if minlength is not None:
        size = MAXIMUM(cast(minlength, index), size)
    if maxlength is not None:
        size = MINIMUM(cast(maxlength, index), size)
    if weights is None:
        weights = EagerTensor(np.zeros(0, dtypes.as_dtype(dtype)._np), dtypes.as_dtype(dtype))
    else:
        weights = to_tensor(weights)
    if axis != -1:
        arr, weights = flat, RESHAPE(weights, [-1])
    return DENSE_BINCOUNT(arr, size, weights, binary_output=binary_output, name=name)


def _bins(nbins):
    if nbins.ndim:
        raise errors.invalid_argument(f"HistogramFixedWidth: nbins must be a scalar, got {nbins.shape}.")
    if nbins <= 0:
        raise errors.invalid_argument(f"HistogramFixedWidth: nbins must be positive, got {nbins}.")
    return int(nbins)


_BLOCK = 1 << 14


def _histogram(values, value_range, nbins, dtype):
    if value_range.shape != (2,):
        raise errors.invalid_argument(
            f"HistogramFixedWidth: value_range must be a vector of 2 elements, got shape {value_range.shape}."
        )
    low, high = value_range
    if not low < high:
        raise errors.invalid_argument(
            f"HistogramFixedWidth: value_range[0] < value_range[1] must hold, got [{low}, {high}]."
        )
    count = _bins(nbins)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise errors.invalid_argument("HistogramFixedWidth: values must not contain NaN.")
    step = (float(high) - float(low)) / count
    flat, total = values.ravel(), np.zeros(count, np.int64)
    # In blocks that stay in the processor's cache, but not shorter than the histogram.
    block = max(_BLOCK, count)
    for at in range(0, flat.size, block):
        bins = flat[at : at + block].astype(np.float64)
        bins -= float(low)
        bins /= step
        np.clip(bins, 0, count - 1, out=bins)
        total += np.bincount(bins.astype(np.intp), minlength=count)
    return total.astype(dtype._np)


def _lower_histogram(ctx, values, value_range, nbins, dtype):
    count = _bins(nbins)
    low, high = value_range[0], value_range[1]
    message = "HistogramFixedWidth: value_range[0] < value_range[1] must hold."
    ctx.check(low < high, errors.InvalidArgumentError, message)
    if values.dtype.kind == "f":
        message = "HistogramFixedWidth: values must not contain NaN."
        ctx.check(~jnp.any(jnp.isnan(values)), errors.InvalidArgumentError, message)
    wide = jnp.float64
    step = (high.astype(wide) - low.astype(wide)) / count
    bins = (jnp.maximum(values.ravel(), low).astype(wide) - low.astype(wide)) / step
    bins = jnp.minimum(bins, count - 1).astype(jnp.int32)
    return jnp.zeros(count, dtype._np).at[bins].add(1)


HISTOGRAM_FIXED_WIDTH = Op(
    "HistogramFixedWidth",
    "values: T, value_range: T, nbins: int32, *, dtype: type = int32 -> out: dtype",
    T=_WEIGHTS,
    infer=lambda values, value_range, nbins, dtype: TensorShape(
        [None if nbins.value is None else _bins(np.asarray(nbins.value))]
    ),
    kernel=_histogram,
    lower=_lower_histogram,
    static=("nbins",),
    grad=None,
    dtype=dtypes.INDEX,
)


@api("histogram_fixed_width")
def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None) -> Tensor:
    """How many values fall in each of `nbins` bins of equal width; those outside count in the outer bins.

    >>> tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15], [0.0, 5.0], nbins=5).numpy().tolist()
    [2, 1, 1, 0, 2]

    Raises:
        InvalidArgumentError: when `nbins` is not positive, the range is empty or a value is NaN.
    """
    out = dtypes.as_dtype(dtype)
    if out not in dtypes.INDEX:
        raise errors.invalid_argument(
            f"histogram_fixed_width: dtype must be int32 or int64, got {out.name}. [Op:HistogramFixedWidth]"
        )
    return HISTOGRAM_FIXED_WIDTH(values, value_range, nbins, dtype=out, name=name)


def _require(condition, message):
    """Raise InvalidArgumentError unless the condition holds, now or when the graph runs."""
    if type(condition) is EagerTensor:
        if not condition._a.all():
            raise errors.invalid_argument(message)
    else:
        ASSERT(ALL(RESHAPE(condition, [-1]), [0]), [to_tensor(message)])


def _element(vector, i):
    return STRIDED_SLICE(
        vector, [i], [i + 1], [1], begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
        shrink_axis_mask=1,
    )


@api("histogram_fixed_width_bins")
def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None) -> Tensor:
    """The bin of each value, among `nbins` bins of equal width; the outer bins hold what is outside.

    >>> tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15], [0.0, 5.0], nbins=5).numpy().tolist()
    [0, 0, 1, 2, 4, 4]

    Raises:
        InvalidArgumentError: when `nbins` is not positive.
    """
    values = to_tensor(values)
    value_range = to_tensor(value_range)
    nbins = to_tensor(nbins, dtypes.int32)
    _require(nbins > 0, f"histogram_fixed_width_bins: nbins must be positive, got {nbins}.")
    count = cast(nbins, values.dtype)
    low, high = _element(value_range, 0), _element(value_range, 1)
    scaled = true_divide(values - low, high - low)
    bins = FLOOR(count * scaled)
    bins = MAXIMUM(MINIMUM(bins, count - 1), 0)
    # TF: the result is int32, whatever dtype says.
    return CAST(bins, DstT=dtypes.int32, name=name)


def _squeezed_beside(x, other):
    """`x` without its last dimension if it has one more than `other`, which is seen when the graph runs."""
    has_more = EQUAL(RANK(x), RANK(other) + 1)
    return cond(has_more, lambda: SQUEEZE(x, squeeze_dims=[-1]), lambda: x)


def _squeezed(labels, predictions):
    """Without a last dimension of 1 that only one of them has."""
    if labels.shape.rank is None or predictions.shape.rank is None:
        return _squeezed_beside(labels, predictions), _squeezed_beside(predictions, labels)
    difference = predictions.shape.rank - labels.shape.rank
    if difference == 1 and predictions.shape[-1] in (1, None):
        predictions = SQUEEZE(predictions, squeeze_dims=[-1])
    elif difference == -1 and labels.shape[-1] in (1, None):
        labels = SQUEEZE(labels, squeeze_dims=[-1])
    return labels, predictions


@api("math.confusion_matrix")
def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=dtypes.int32, name=None) -> Tensor:
    """How often each label (row) was predicted as each class (column).

    >>> tf.math.confusion_matrix([0, 1, 1], [0, 0, 1]).numpy().tolist()
    [[1, 0], [1, 1]]

    Args:
        labels: the true classes, a vector of non-negative integers.
        predictions: the predicted ones.
        num_classes: the number of rows and columns; the largest value decides when it is left out.
        weights: what each prediction counts for.
        dtype: of the matrix.
        name: accepted for compatibility.

    Raises:
        InvalidArgumentError: when a class is negative or too large, or the lengths differ.
        ValueError: when `weights` does not fit the predictions.
    """
    labels, predictions = _squeezed(to_tensor(labels), to_tensor(predictions))
    labels, predictions = cast(labels, dtypes.int64), cast(predictions, dtypes.int64)
    out = dtypes.as_dtype(dtype)
    for what, values in (("labels", labels), ("predictions", predictions)):
        _require(values >= 0, f"math.confusion_matrix: {what} contains negative values.")
    if num_classes is None:
        largest = [MAX(RESHAPE(values, [-1]), [0]) for values in (predictions, labels)]
        num_classes = MAXIMUM(*largest) + 1
    else:
        num_classes = cast(num_classes, dtypes.int64)
        for what, values in (("labels", labels), ("predictions", predictions)):
            _require(values < num_classes, f"math.confusion_matrix: {what} out of bound.")
    if weights is not None:
        weights = to_tensor(weights)
        predictions.shape.assert_is_compatible_with(weights.shape)
        weights = cast(weights, out)
    else:
        weights = ONES_LIKE(cast(predictions, out))
    indices = PACK([labels, predictions], axis=1)
    return SCATTER_ND(indices, weights, PACK([num_classes, num_classes], axis=0), name=name)
