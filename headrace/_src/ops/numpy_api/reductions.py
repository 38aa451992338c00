"""`tf.experimental.numpy`: sums, extremes, statistics, running totals and sorting along axes."""

from typing import Any

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api, export
from headrace._src.ops.arrays import broadcasting, filling, measuring, ranking, selecting, shaping, sorting
from headrace._src.ops.math import (
    arithmetic,
    comparison,
    complex_numbers,
    cumulative,
    elementwise,
    reductions,
    statistics,
)
from headrace._src.ops.numpy_api import shapes
from headrace._src.ops.numpy_api.types import as_array, as_dtype, as_float, cast, promote


def _declare(name, function, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return export(f"experimental.numpy.{name}")(function)


def _wide(x):
    """Small integers and booleans as int64 (unsigned as uint64), as NumPy adds them up."""
    if x.dtype is dtypes.bool or (x.dtype.is_integer and not x.dtype.is_unsigned):
        return cast(x, dtypes.int64)
    return cast(x, dtypes.uint64) if x.dtype.is_unsigned else x


def _adding(name, target):
    def function(a, axis=None, dtype=None, keepdims=None) -> Tensor:
        x = as_array(a, dtype) if dtype is not None else _wide(as_array(a))
        return target(x, axis=axis, keepdims=bool(keepdims))

    return _declare(name, function, f"NumPy's `{name}` along axes.")


sum_ = _adding("sum", reductions.reduce_sum)
prod = _adding("prod", reductions.reduce_prod)


def _extreme(name, target, with_out=False):
    def reduce(a, axis, keepdims):
        x = as_array(a)
        if x.dtype is dtypes.bool:
            logical = reductions.reduce_any if target is reductions.reduce_max else reductions.reduce_all
            return logical(x, axis=axis, keepdims=bool(keepdims))
        return target(x, axis=axis, keepdims=bool(keepdims))

    if with_out:

        def function(a, axis=None, out=None, keepdims=None) -> Tensor:
            if out is not None:
                raise ValueError(f"experimental.numpy.{name}: out is not supported.")
            return reduce(a, axis, keepdims)
    else:

        def function(a, axis=None, keepdims=None) -> Tensor:
            return reduce(a, axis, keepdims)

    return _declare(name, function, f"NumPy's `{name}` along axes.")


max_ = _extreme("max", reductions.reduce_max)
min_ = _extreme("min", reductions.reduce_min)
amax = _extreme("amax", reductions.reduce_max, True)
amin = _extreme("amin", reductions.reduce_min, True)


@api("experimental.numpy.all", dispatch=False)
def all_(a, axis=None, keepdims=None) -> Tensor:
    """Whether all elements are not zero."""
    return reductions.reduce_all(cast(as_array(a), dtypes.bool), axis=axis, keepdims=bool(keepdims))


@api("experimental.numpy.any", dispatch=False)
def any_(a, axis=None, keepdims=None) -> Tensor:
    """Whether any element is not zero."""
    return reductions.reduce_any(cast(as_array(a), dtypes.bool), axis=axis, keepdims=bool(keepdims))


@api("experimental.numpy.mean", dispatch=False)
def mean(a, axis=None, dtype=None, out=None, keepdims=None) -> Tensor:
    """The mean along axes; of integers as float64."""
    if out is not None:
        raise ValueError("experimental.numpy.mean: out is not supported.")
    x = as_float(a) if dtype is None else as_array(a, dtype)
    return reductions.reduce_mean(x, axis=axis, keepdims=bool(keepdims))


@api("experimental.numpy.var", dispatch=False)
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=None) -> Tensor:
    """The variance along axes, dividing by the count less `ddof`."""
    if out is not None:
        raise ValueError("experimental.numpy.var: out is not supported.")
    x = as_float(a) if dtype is None else as_array(a, dtype)
    centre = reductions.reduce_mean(x, axis=axis, keepdims=True)
    distance = x - centre
    squares = distance * distance
    if x.dtype.is_complex:
        squares = complex_numbers.real(distance * complex_numbers.conj(distance))
    if not ddof:
        return reductions.reduce_mean(squares, axis=axis, keepdims=bool(keepdims))
    total = reductions.reduce_sum(squares, axis=axis, keepdims=bool(keepdims))
    ones = filling.ones_like(squares)
    count = reductions.reduce_sum(ones, axis=axis, keepdims=bool(keepdims))
    return total / (count - cast(as_array(float(ddof)), count.dtype))


@api("experimental.numpy.std", dispatch=False)
def std(a, axis=None, keepdims=None) -> Tensor:
    """The standard deviation along axes."""
    return elementwise.sqrt(var(a, axis=axis, keepdims=keepdims))


@api("experimental.numpy.ptp", dispatch=False)
def ptp(a, axis=None, keepdims=None) -> Tensor:
    """The largest less the smallest element along axes."""
    return max_(a, axis, keepdims) - min_(a, axis, keepdims)


def _without_nan(a, fill):
    x = as_array(a)
    if x.dtype._kind not in "fc":
        return x
    return selecting.where(comparison.not_equal(x, x), cast(as_array(fill), x.dtype), x)


@api("experimental.numpy.nansum", dispatch=False)
def nansum(a, axis=None, dtype=None, keepdims=False) -> Tensor:
    """The sum, with NaN as 0."""
    return sum_(_without_nan(a, 0), axis, dtype, keepdims)


@api("experimental.numpy.nanprod", dispatch=False)
def nanprod(a, axis=None, dtype=None, keepdims=False) -> Tensor:
    """The product, with NaN as 1."""
    return prod(_without_nan(a, 1), axis, dtype, keepdims)


@api("experimental.numpy.nanmean", dispatch=False)
def nanmean(a, axis=None, dtype=None, keepdims=None) -> Tensor:
    """The mean of what is not NaN."""
    x = as_array(a)
    if x.dtype is dtypes.bool or x.dtype.is_integer:
        return mean(x, axis, dtype, keepdims=keepdims)
    valid = cast(comparison.equal(x, x), x.dtype)
    total = nansum(x, axis, dtype, bool(keepdims))
    count = reductions.reduce_sum(valid, axis=axis, keepdims=bool(keepdims))
    return total / cast(count, total.dtype)


@api("experimental.numpy.average", dispatch=False)
def average(a, axis=None, weights=None, returned=False) -> Any:
    """The weighted mean along one axis, and with `returned` the sum of the weights."""
    if axis is not None and not isinstance(axis, int):
        raise ValueError(f"experimental.numpy.average: axis must be an int or None, got {axis!r}.")
    x = as_float(a)
    if weights is None:
        result = reductions.reduce_mean(x, axis=axis)
        size = reductions.reduce_sum(filling.ones_like(x), axis=axis)
        return (result, size) if returned else result
    x, w = promote(x, weights)
    if x.shape.rank != w.shape.rank:
        if axis is None:
            raise ValueError("experimental.numpy.average: axis must be given when the shapes of a and weights differ.")
        shape = [1] * x.shape.rank
        shape[axis] = -1
        w = shaping.reshape(w, shape)
    total = reductions.reduce_sum(x * w, axis=axis)
    norm = reductions.reduce_sum(broadcasting.broadcast_to(w, measuring.shape(x * w)), axis=axis)
    return (total / norm, norm) if returned else total / norm


@api("experimental.numpy.count_nonzero", dispatch=False)
def count_nonzero(a, axis=None) -> Tensor:
    """How many elements are not zero."""
    return statistics.count_nonzero(as_array(a), axis)


def _running(name, target):
    def function(a, axis=None, dtype=None) -> Tensor:
        x = as_array(a, dtype) if dtype is not None else as_array(a)
        if dtype is None and (x.dtype is dtypes.bool or (x.dtype.is_integer and x.dtype.size < 4)):
            x = cast(x, dtypes.int64)
        if axis is None:
            x, axis = shaping.reshape(x, [-1]), 0
        return target(x, axis)

    return _declare(name, function, f"NumPy's `{name}` along an axis, or of all elements in order.")


cumsum = _running("cumsum", cumulative.cumsum)
cumprod = _running("cumprod", cumulative.cumprod)


def _position(name, target):
    def function(a, axis=None) -> Tensor:
        x = as_array(a)
        if axis is None or not x.shape.rank:
            x, axis = shaping.reshape(x, [-1]), 0
        return target(x, axis=axis)

    return _declare(name, function, f"NumPy's `{name}`: positions along an axis, as int64.")


argmax = _position("argmax", ranking.argmax)
argmin = _position("argmin", ranking.argmin)


def _check_sort(name, kind, order):
    if kind not in ("quicksort", "stable"):
        raise ValueError(f"experimental.numpy.{name}: kind must be 'quicksort' or 'stable', got {kind!r}.")
    if order is not None:
        raise ValueError(f"experimental.numpy.{name}: order is not supported.")


@api("experimental.numpy.sort", dispatch=False)
def sort(a, axis=-1, kind="quicksort", order=None) -> Tensor:
    """Sorted along an axis; `axis=None` sorts all elements."""
    _check_sort("sort", kind, order)
    x = as_array(a)
    if axis is None:
        x, axis = shaping.reshape(x, [-1]), 0
    return sorting.sort(x, axis)


@api("experimental.numpy.argsort", dispatch=False)
def argsort(a, axis=-1, kind="quicksort", order=None) -> Tensor:
    """The positions that sort along an axis, as int64."""
    _check_sort("argsort", kind, order)
    x = as_array(a)
    if axis is None:
        x, axis = shaping.reshape(x, [-1]), 0
    return cast(sorting.argsort(x, axis, stable=kind == "stable"), dtypes.int64)


@api("experimental.numpy.diff", dispatch=False)
def diff(a, n=1, axis=-1) -> Tensor:
    """The n-th differences along an axis."""
    x = as_array(a)
    if n < 0:
        raise ValueError(f"experimental.numpy.diff: order must be non-negative, got {n}.")
    if not x.shape.rank:
        raise ValueError("experimental.numpy.diff: requires input that is at least one dimensional.")
    axis = axis % x.shape.rank
    before = (slice(None),) * axis
    differ = comparison.not_equal if x.dtype is dtypes.bool else arithmetic.subtract
    for _ in range(n):
        x = differ(x[(*before, slice(1, None))], x[(*before, slice(None, -1))])
    return x


@api("experimental.numpy.trace", dispatch=False)
def trace(a, offset=0, axis1=0, axis2=1, dtype=None) -> Tensor:
    """The sum along a diagonal."""
    diagonal = shapes.diagonal(a, offset, axis1, axis2)
    kind = None if dtype is None else as_dtype(dtype)
    return sum_(diagonal, -1, kind)
