"""`tf.experimental.numpy`: making arrays and asking about them."""

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.arrays import (
    broadcasting,
    constants,
    filling,
    measuring,
    passing,
    rearranging,
    selecting,
    shaping,
    spacing,
    splitting,
)
from headrace._src.ops.linalg import matrices
from headrace._src.ops.math import comparison, elementwise
from headrace._src.ops.math import powers as math_powers
from headrace._src.ops.numpy_api.types import as_array, as_dtype, cast, default_float, promote, result_type

if TYPE_CHECKING:
    from headrace._src.core.shapes import TensorShape


@api("experimental.numpy.array", dispatch=False)
def array(val, dtype=None, copy=True, ndmin=0) -> Tensor:
    """A tensor with the given value and NumPy's default dtypes.

    >>> tf.experimental.numpy.array([1, 2]).dtype
    tf.int64
    """
    x = as_array(val, dtype)
    if copy:
        x = passing.identity(x)
    missing = ndmin - x.shape.rank
    return shaping.reshape(x, [1] * missing + x.shape.as_list()) if missing > 0 else x


@api("experimental.numpy.asarray", dispatch=False)
def asarray(a, dtype=None) -> Tensor:
    """A tensor, without a copy when it is one."""
    return as_array(a, dtype)


@api("experimental.numpy.asanyarray", dispatch=False)
def asanyarray(a, dtype=None) -> Tensor:
    """The same as `asarray`."""
    return as_array(a, dtype)


@api("experimental.numpy.ascontiguousarray", dispatch=False)
def ascontiguousarray(a, dtype=None) -> Tensor:
    """A tensor of at least one dimension."""
    return array(a, dtype, ndmin=1)


@api("experimental.numpy.copy", dispatch=False)
def copy(a) -> Tensor:
    """A copy."""
    return array(a, copy=True)


@api("experimental.numpy.zeros", dispatch=False)
def zeros(shape, dtype=float) -> Tensor:
    """Zeros, float64 by default."""
    return constants.zeros(shape, as_dtype(dtype))


@api("experimental.numpy.ones", dispatch=False)
def ones(shape, dtype=float) -> Tensor:
    """Ones, float64 by default."""
    return constants.ones(shape, as_dtype(dtype))


@api("experimental.numpy.empty", dispatch=False)
def empty(shape, dtype=float) -> Tensor:
    """An array whose values do not matter: zeros."""
    return zeros(shape, dtype)


@api("experimental.numpy.zeros_like", dispatch=False)
def zeros_like(a, dtype=None) -> Tensor:
    """Zeros of the shape of `a`."""
    x = as_array(a)
    return filling.zeros_like(x, dtype=x.dtype if dtype is None else as_dtype(dtype))


@api("experimental.numpy.ones_like", dispatch=False)
def ones_like(a, dtype=None) -> Tensor:
    """Ones of the shape of `a`."""
    x = as_array(a)
    return filling.ones_like(x, dtype=x.dtype if dtype is None else as_dtype(dtype))


@api("experimental.numpy.empty_like", dispatch=False)
def empty_like(a, dtype=None) -> Tensor:
    """Zeros of the shape of `a`."""
    return zeros_like(a, dtype)


@api("experimental.numpy.full", dispatch=False)
def full(shape, fill_value, dtype=None) -> Tensor:
    """An array filled with a value, which may broadcast."""
    value = as_array(fill_value, dtype)
    return broadcasting.broadcast_to(value, [shape] if isinstance(shape, numbers.Integral) else shape)


@api("experimental.numpy.full_like", dispatch=False)
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None) -> Tensor:
    """An array of the shape and dtype of `a`, filled with a value."""
    if order != "K" or subok is not True or shape is not None:
        raise ValueError("experimental.numpy.full_like: only order='K', subok=True and shape=None are supported.")
    x = as_array(a)
    value = cast(as_array(fill_value), x.dtype if dtype is None else as_dtype(dtype))
    return broadcasting.broadcast_to(value, measuring.shape(x))


@api("experimental.numpy.eye", dispatch=False)
def eye(N, M=None, k=0, dtype=float) -> Tensor:
    """Ones on the k-th diagonal."""
    rows, columns = int(N), int(N if M is None else M)
    matrix = matrices.eye(rows, columns, dtype=as_dtype(dtype)) if not k else None
    if matrix is not None:
        return matrix
    hit = filling.range_(columns) == filling.range_(rows)[:, None] + int(k)
    return cast(hit, as_dtype(dtype))


@api("experimental.numpy.identity", dispatch=False)
def identity(n, dtype=float) -> Tensor:
    """The identity matrix."""
    return eye(n, n, dtype=dtype)


@api("experimental.numpy.arange", dispatch=False)
def arange(start, stop=None, step=1, dtype=None) -> Tensor:
    """Numbers from start (0 when only one is given) up to stop, in steps."""
    if not step:
        raise ValueError("experimental.numpy.arange: step must not be 0.")
    values = [value for value in (start, stop, step) if value is not None]
    kind = result_type(*values) if dtype is None else as_dtype(dtype)
    if stop is None:
        start, stop = 0, start
    if (step > 0 and start > stop) or (step < 0 and start < stop):
        return array([], dtype=kind)
    wide = result_type(start, stop, step)
    return cast(filling.range_(*(cast(as_array(v), wide) for v in (start, stop, step))), kind)


@api("experimental.numpy.linspace", dispatch=False)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=float, axis=0) -> Any:
    """Evenly spaced numbers, and with `retstep` the distance."""
    kind = None if dtype is None else as_dtype(dtype)
    start, stop = promote(start, stop)
    if start.dtype._kind not in "fc":
        start, stop = cast(start, default_float()), cast(stop, default_float())
    shape = measuring.shape(start + stop)
    start, stop = broadcasting.broadcast_to(start, shape), broadcasting.broadcast_to(stop, shape)
    num = int(num)
    gaps = num - 1 if endpoint else num
    step = (stop - start) / cast(as_array(float(max(gaps, 1))), start.dtype)
    if not gaps:
        step = start * cast(as_array(np.nan), start.dtype)
    if num == 0:
        result = constants.zeros([0, *start.shape.as_list()], start.dtype)
    elif num == 1:
        result = shaping.expand_dims(start, 0)
    else:
        last = stop if endpoint else stop - step
        result = spacing.linspace(start, last, num, axis=0)
    if axis:
        result = _move_first(result, axis)
    result = result if kind is None else cast(result, kind)
    return (result, step) if retstep else result


def _move_first(x, axis):
    rank = x.shape.rank
    order = list(range(1, rank))
    order.insert(axis % rank, 0)
    return rearranging.transpose(x, order)


@api("experimental.numpy.logspace", dispatch=False)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0) -> Tensor:
    """Powers of `base` at evenly spaced exponents."""
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    result = math_powers.pow(cast(as_array(base), exponents.dtype), exponents)
    return result if dtype is None else cast(result, as_dtype(dtype))


@api("experimental.numpy.geomspace", dispatch=False)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0) -> Tensor:
    """Numbers that are evenly spaced on a logarithmic scale."""
    start, stop = promote(start, stop)
    kind = as_dtype(dtype) if dtype is not None else start.dtype
    start, stop = cast(start, default_float()), cast(stop, default_float())
    # Both negative: the sign is put back at the end.
    negative = comparison.logical_and(start < 0, stop < 0)
    sign = selecting.where(negative, cast(as_array(-1.0), start.dtype), cast(as_array(1.0), start.dtype))
    powers = linspace(elementwise.log(start * sign), elementwise.log(stop * sign), num, endpoint, axis=axis)
    result = elementwise.exp(powers) * sign
    wanted = default_float() if kind.is_integer and dtype is None else kind
    return cast(result, wanted)


@api("experimental.numpy.tri", dispatch=False)
def tri(N, M=None, k=0, dtype=None) -> Tensor:
    """Ones on and below the k-th diagonal."""
    kind = default_float() if dtype is None else as_dtype(dtype)
    rows, columns = int(N), int(N if M is None else M)
    return cast(filling.range_(columns) <= filling.range_(rows)[:, None] + int(k), kind)


@api("experimental.numpy.vander", dispatch=False)
def vander(x, N=None, increasing=False) -> Tensor:
    """Powers of the elements of a vector, as the columns of a matrix."""
    x = as_array(x)
    count = int(x.shape[0] if N is None else N)
    if count < 0:
        raise ValueError(f"experimental.numpy.vander: N must not be negative, got {count}.")
    powers = filling.range_(count)
    if not increasing:
        powers = rearranging.reverse(powers, [0])
    return math_powers.pow(shaping.expand_dims(x, -1), cast(powers, x.dtype))


@api("experimental.numpy.shape", dispatch=False)
def shape(a) -> "TensorShape":
    """The shape."""
    return as_array(a).shape


@api("experimental.numpy.ndim", dispatch=False)
def ndim(a) -> int:
    """The number of dimensions."""
    return as_array(a).shape.rank


@api("experimental.numpy.size", dispatch=False)
def size(x, axis=None) -> Any:
    """The number of elements."""
    if axis is not None:
        raise NotImplementedError("experimental.numpy.size: axis is not supported.")
    x = as_array(x)
    count = x.shape.num_elements()
    return np.int64(count) if count is not None else measuring.size(x)


@api("experimental.numpy.isscalar", dispatch=False)
def isscalar(num) -> bool:
    """Whether it is a number or a tensor of rank 0."""
    if isinstance(num, Tensor):
        return num.shape.rank == 0
    return np.isscalar(num)


@api("experimental.numpy.diag_indices", dispatch=False)
def diag_indices(n, ndim=2) -> tuple[Tensor, Tensor]:
    """The index arrays of a diagonal."""
    if n < 0 or ndim < 0:
        raise ValueError(f"experimental.numpy.diag_indices: n and ndim must not be negative, got {n} and {ndim}.")
    return (filling.range_(n),) * ndim


@api("experimental.numpy.ix_", dispatch=False)
def ix_(*args) -> list[Tensor]:
    """Index arrays that together select a grid."""
    count, grids = len(args), []
    for i, values in enumerate(args):
        x = as_array(values)
        if x.shape.rank != 1:
            raise ValueError("experimental.numpy.ix_: arguments must be 1-d.")
        if x.dtype is dtypes.bool:
            x = shaping.reshape(selecting.where(x), [-1])
        grids.append(shaping.reshape(x, [-1 if j == i else 1 for j in range(count)]))
    return grids


@api("experimental.numpy.meshgrid", dispatch=False)
def meshgrid(*xi, **kwargs) -> list[Tensor]:
    """Coordinate matrices from coordinate vectors."""
    if not kwargs.pop("copy", True) or kwargs.pop("sparse", False):
        raise ValueError("experimental.numpy.meshgrid: only copy=True and sparse=False are supported.")
    return splitting.meshgrid(*[as_array(x) for x in xi], **kwargs)
