"""Points that fill an interval: evenly spaced ones and Sobol's sequence."""

import functools
import importlib.util
import pathlib

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import normalize_axis
from headrace._src.ops.arrays.box_slices import SLICE
from headrace._src.ops.arrays.casting import CAST, cast
from headrace._src.ops.arrays.filling import RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import RANK, known_value
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.division import FLOOR_MOD, true_divide


def _points(start, stop, num):
    for name, array in (("start", start), ("stop", stop), ("num", num)):
        if array.ndim:
            raise errors.invalid_argument(f"LinSpace: {name} must be a scalar, got shape {array.shape}.")
    if num <= 0:
        raise errors.invalid_argument(f"LinSpace: num must be positive, got {num}.")
    return int(num)


def _linspace(start, stop, num):
    count = _points(start, stop, num)
    if count == 1:
        return start.reshape(1)
    wide = np.float32 if start.dtype.itemsize == 2 else start.dtype
    first, last = start.astype(wide), stop.astype(wide)
    out = first + np.arange(count).astype(wide) * ((last - first) / wide(count - 1) if wide is np.float32
                                                   else (last - first) / (count - 1))  # fmt: skip
    out[-1] = last
    return out.astype(start.dtype)


def _lower_linspace(ctx, start, stop, num):
    count = _points(start, stop, num)
    if count == 1:
        return start.reshape(1)
    wide = jnp.float32 if start.dtype.itemsize == 2 else start.dtype
    first, last = start.astype(wide), stop.astype(wide)
    out = first + jnp.arange(count).astype(wide) * ((last - first) / (count - 1))
    return out.at[-1].set(last).astype(start.dtype)


LINSPACE = Op(
    "LinSpace",
    "start: T, stop: T, num: Tidx -> output: T",
    T=dtypes.FLOATING,
    Tidx=dtypes.INDEX,
    infer=lambda start, stop, num: TensorShape([None if num.value is None else int(num.value)]),
    kernel=_linspace,
    lower=_lower_linspace,
    static=("num",),
    grad=None,
)


@api("linspace", scope="linspace")
def linspace(start, stop, num, name=None, axis=0) -> Tensor:
    """`num` evenly spaced values from `start` to `stop`, both included, along a new axis.

    >>> tf.linspace(0.0, 1.0, 5).numpy().tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]

    Args:
        start: a tensor; integers become floats.
        stop: a tensor of the same dtype that broadcasts with `start`.
        num: how many values.
        name: accepted for compatibility.
        axis: where the new axis stands in the result.

    Raises:
        InvalidArgumentError: when `num` is negative or `axis` out of range.
        TypeError: when `num` is no integer.
    """
    start = to_tensor(start)
    stop = to_tensor(stop, start.dtype)
    num = to_tensor(num)
    if num.dtype._kind not in "iu":
        raise TypeError(f"linspace: num must be an integer, got dtype {num.dtype.name}.")
    count = known_value(num)
    if count is not None and count.size == 1 and count > np.iinfo(np.int32).max:
        raise errors.invalid_argument(f"linspace: num must be at most 2**31 - 1, got {count}.")
    num = RESHAPE(cast(num, dtypes.int32), [])
    # Both with the broadcast shape; subtraction alone would keep a smaller one.
    start, stop = start + ZEROS_LIKE(stop), stop + ZEROS_LIKE(start)
    first, last = EXPAND_DIMS(start, axis), EXPAND_DIMS(stop, axis)
    steps = MAXIMUM(num - 1, 1)
    delta = true_divide(last - first, CAST(steps, DstT=first.dtype))
    first, last = cast(first, delta.dtype), cast(last, delta.dtype)
    # The last point is `stop` itself, not a sum that is nearly so. A negative num fails in Range.
    limit = SELECT_V2(num >= 0, steps, -1)
    inner = cast(RANGE(1, limit, 1), delta.dtype)
    inner = RESHAPE(inner, _at_axis(first, axis, -1, 1))
    points = CONCAT([first, first + delta * inner, last], axis)
    size = _at_axis(first, axis, num, -1)
    return SLICE(points, ZEROS_LIKE(size), size, name=name)


def _at_axis(x, axis, there, elsewhere):
    """A vector with one number for each axis of `x`."""
    rank = x.shape.rank
    if rank is not None:
        at = normalize_axis(axis, rank, "linspace")
        return PACK([there if i == at else elsewhere for i in range(rank)], axis=0)
    rank = RANK(x)
    places = RANGE(0, rank, 1)
    chosen = EQUAL(places, FLOOR_MOD(axis, rank))
    return SELECT_V2(chosen, there, elsewhere)


_BITS = 32


@functools.cache
def _directions(dim):
    """The direction numbers of the first `dim` dimensions, for each of 32 bits, as fractions of 2**32.

    The initial numbers are those of Joe and Kuo ("Constructing Sobol sequences with better two-dimensional
    projections", 2008), which SciPy ships as data.
    """
    place = importlib.util.find_spec("scipy").submodule_search_locations[0]
    with np.load(pathlib.Path(place, "stats", "_sobol_direction_numbers.npz")) as data:
        polynomials, initial = data["poly"][:dim].tolist(), data["vinit"][:dim].tolist()
    directions = np.zeros((dim, _BITS), np.uint64)
    for d in range(dim):
        polynomial = polynomials[d]
        degree = polynomial.bit_length() - 1
        numbers = [1] * _BITS if d == 0 else list(initial[d][:degree])
        while len(numbers) < _BITS:
            m = len(numbers)
            value = numbers[m - degree]
            for k in range(1, degree + 1):
                if polynomial >> (degree - k) & 1:
                    value ^= numbers[m - k] << k
            numbers.append(value)
        directions[d] = [numbers[i] << (_BITS - 1 - i) for i in range(_BITS)]
    return directions


_LARGEST_DIMENSION = 21201


def _sobol_arguments(dim, num_results, skip):
    for name, array in (("dim", dim), ("num_results", num_results), ("skip", skip)):
        if array.ndim:
            raise errors.invalid_argument(f"SobolSample: {name} must be a scalar, got shape {array.shape}.")
    if dim < 1 or dim > _LARGEST_DIMENSION:
        raise errors.invalid_argument(f"SobolSample: dim must be in [1, {_LARGEST_DIMENSION}], got {dim}.")
    if num_results < 1:
        raise errors.invalid_argument(f"SobolSample: num_results must be at least one, got {num_results}.")
    if skip < 0:
        raise errors.invalid_argument(f"SobolSample: skip must be non-negative, got {skip}.")
    if int(num_results) + int(skip) >= 2**31 - 1:
        raise errors.invalid_argument(
            f"SobolSample: num_results + skip must be less than 2**31 - 1, got {num_results} and {skip}."
        )
    return int(dim), int(num_results), int(skip)


def _sobol_sample(dim, num_results, skip, dtype):
    dim, count, skip = _sobol_arguments(dim, num_results, skip)
    directions = _directions(dim)
    # Point n is the exclusive or of the direction numbers at the set bits of n's Gray code, counted from 1.
    n = np.arange(skip + 1, skip + 1 + count, dtype=np.uint64)
    gray = n ^ (n >> np.uint64(1))
    points = np.zeros((count, dim), np.uint64)
    for bit in range(_BITS):
        chosen = (gray >> np.uint64(bit)) & np.uint64(1)
        if chosen.any():
            points ^= chosen[:, None] * directions[:, bit]
    return (points.astype(np.float64) / 2.0**_BITS).astype(dtype._np)


def _lower_sobol_sample(ctx, dim, num_results, skip, dtype):
    return jnp.asarray(_sobol_sample(dim, num_results, skip, dtype))


def _infer_sobol_sample(dim, num_results, skip, dtype):
    return TensorShape([None if spec.value is None else int(spec.value) for spec in (num_results, dim)])


SOBOL_SAMPLE = Op(
    "SobolSample",
    "dim: int32, num_results: int32, skip: int32, *, dtype: type = float32 -> samples: dtype",
    infer=_infer_sobol_sample,
    kernel=_sobol_sample,
    lower=_lower_sobol_sample,
    static=("dim", "num_results", "skip"),
    grad=None,
    dtype=frozenset({dtypes.float32, dtypes.float64}),
)


@api("math.sobol_sample")
def sobol_sample(dim, num_results, skip=0, dtype=dtypes.float32, name=None) -> Tensor:
    """Points of Sobol's low-discrepancy sequence in the unit cube.

    >>> tf.math.sobol_sample(2, 3).numpy().tolist()
    [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]

    Args:
        dim: the dimension of the cube.
        num_results: how many points.
        skip: how many points of the sequence to leave out first.
        dtype: float32 or float64.
        name: accepted for compatibility.

    Raises:
        InvalidArgumentError: when `dim` or `num_results` is less than 1, or `skip` negative.
    """
    out = dtypes.as_dtype(dtype)
    if out not in (dtypes.float32, dtypes.float64):
        raise errors.invalid_argument(
            f"math.sobol_sample: dtype must be float32 or float64, got {out.name}. [Op:SobolSample]"
        )
    return SOBOL_SAMPLE(dim, num_results, skip, dtype=out, name=name)
