"""Tensors made from a pattern: fill, range, one-hot, sequence masks."""

import functools

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.lazy import LazyModule, jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import NoRule, Ragged, Rule, known_shape, shifted, unstacked
from headrace._src.op.convert import eager_constant, to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import unless_constant
from headrace._src.op.infer import UNKNOWN, same_as_input, shape_from_value
from headrace._src.op.registry import lookup
from headrace._src.op.traits import CHANGES_NOTHING, ELEMENTWISE, NEVER_FAILS, REPEATS, UNCHECKED
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO, SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.constants import zeros
from headrace._src.ops.arrays.measuring import RANK, checked_dims, checked_vector
from headrace._src.ops.arrays.measuring import shape as shape_of
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, check_layout
from headrace._src.ops.arrays.small_integers import integers
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.comparison import LESS
from headrace._src.ops.math.grouping import bad_index

_variants = LazyModule("headrace._src.ops.tensor_lists.values")  # few programs make lists of tensors


def _checked_scalar(op, argument, array, relaxed=False):
    if array.ndim:
        # TF: some ops take a vector of one element for a scalar.
        if relaxed and array.shape == (1,):
            return array[0]
        raise errors.invalid_argument(f"{op}: {argument} must be a scalar, got shape {array.shape}.")
    return array[()]


def _fill(dims, value):
    value = _checked_scalar("Fill", "value", value, relaxed=True)
    # TF: a scalar is a vector of one dimension.
    dims = dims if dims.ndim else dims.reshape(1)
    shape = checked_dims("Fill", "dims", checked_vector("Fill", "dims", dims))
    dtype = getattr(value, "dtype", np.object_)
    if dtype == np.object_:
        out = np.empty(shape, object)
        out[...] = value
        return out
    return np.full(shape, value, dtype)


def _infer_fill(dims, value):
    if dims.value is not None:
        checked_dims("Fill", "dims", dims.value.ravel())
    elif dims.shape.rank == 0:
        return TensorShape([None])
    return shape_from_value(dims)


def _grad_fill(node, dy):
    rank = dy.shape.rank
    axes = list(range(rank)) if rank is not None else RANGE(0, RANK(dy), 1)
    return None, RESHAPE(SUM(dy, axes), node.value_shape)


def _vectorize_fill(batch, node, dims, value):
    wanted = known_shape(node)
    if wanted is None:
        wanted = unstacked(dims, "shape")
    rank = len(wanted) if isinstance(wanted, list) else wanted.shape[0]
    if rank is None:
        raise NoRule("the rank of its output is unknown")
    return BROADCAST_TO(batch.with_rank(value, rank), batch.with_size(wanted))


def _vectorize_ragged_fill(batch, node, dims, value):
    if isinstance(dims, Ragged) or isinstance(value, Ragged):
        raise NoRule("its sizes differ")
    if not dims.stacked:
        return _vectorize_fill(batch, node, dims, value)
    if dims.tensor.shape.as_list()[1:] != [1] or batch.rank(value):
        raise NoRule("it has several dimensions")
    lengths = CAST(RESHAPE(dims.tensor, [-1]), DstT=dtypes.int64)
    batch.require(lengths >= to_tensor(0, dtypes.int64))
    splits = batch.splits_of(lengths)
    if value.stacked:
        return Ragged(batch.spread(value, splits), splits)
    return Ragged(FILL(EXPAND_DIMS(splits[-1], 0), value.tensor), splits)


FILL = Op(
    "Fill",
    "dims: index_type, value: T -> output: T",
    traits=UNCHECKED | REPEATS,
    can_fail=unless_constant(0),
    index_type=dtypes.INDEX,
    infer=_infer_fill,
    kernel=_fill,
    lower=lambda ctx, dims, value: jnp.full(tuple(dims.ravel().tolist()), value, value.dtype),
    static=("dims",),
    saves=("value_shape",),
    grad=_grad_fill,
    vectorize=Rule(_vectorize_fill, _vectorize_ragged_fill, makes_ragged=True),
)


@api("fill")
def fill(dims, value, name=None, layout=None) -> Tensor:
    """A tensor of shape `dims`, all of whose elements are the scalar `value`.

    >>> tf.fill([2, 2], 7).numpy().tolist()
    [[7, 7], [7, 7]]

    Raises:
        InvalidArgumentError: when `dims` is negative or `value` no scalar.
    """
    check_layout(layout)
    return FILL(integers(dims), value, name=name)


def _steps(start, limit, delta):
    """How many elements a range has."""
    if delta == 0:
        raise errors.invalid_argument("Range: delta must not be 0.")
    if delta > 0 and start > limit:
        raise errors.invalid_argument(
            f"Range: start must be <= limit when delta > 0, got {start} and {limit}."
        )
    if delta < 0 and start < limit:
        raise errors.invalid_argument(
            f"Range: start must be >= limit when delta < 0, got {start} and {limit}."
        )
    if isinstance(start, np.integer):
        count = -((int(start) - int(limit)) // int(delta))
    else:
        # TF: the quotient is rounded to the dtype.
        quotient = float(np.ceil(abs((limit - start) / delta)))
        if not quotient < 2.0**63:
            raise errors.invalid_argument(f"Range: {start} to {limit} by {delta} has too many elements.")
        count = int(quotient)
    if count > 2**63 - 1:
        raise errors.invalid_argument(f"Range: {start} to {limit} by {delta} has too many elements.")
    return count


# Up to which number all integers are exact.
_EXACT = {"f": 2**24, "d": 2**53, "i": 2**31, "l": 2**63}


def _range(start, limit, delta):
    dtype = start.dtype
    start = _checked_scalar("Range", "start", start, relaxed=True)
    limit = _checked_scalar("Range", "limit", limit, relaxed=True)
    delta = _checked_scalar("Range", "delta", delta, relaxed=True)
    count = _steps(start, limit, delta)
    checked_dims("Range", "the result", [count])
    # TF: the positions themselves are rounded to the dtype, before they are multiplied.
    if dtype.char not in "fdil" or count > _EXACT[dtype.char]:
        return np.arange(count).astype(dtype) * delta + start
    result = np.arange(count, dtype=dtype)
    if delta != 1:
        result *= delta
    if start != 0:
        result += start
    return result


def _lower_range(ctx, start, limit, delta):
    return jnp.asarray(_range(start, limit, delta))


def _infer_range(start, limit, delta):
    if start.value is None or limit.value is None or delta.value is None:
        return TensorShape([None])
    return TensorShape([_steps(*(spec.value.ravel()[0] for spec in (start, limit, delta)))])


def _vectorize_ragged_range(batch, node, start, limit, delta):
    if node.outputs[0].dtype not in dtypes.INDEX or any(isinstance(x, Ragged) for x in (start, limit, delta)):
        raise NoRule("its numbers are no integers")
    start, limit, delta = (batch.stack(x) for x in (start, limit, delta))
    zero = to_tensor(0, start.dtype)
    goes_up, goes_down = (delta > zero) & (start <= limit), (delta < zero) & (start >= limit)
    batch.require(goes_up | goes_down)
    return batch.ranges(start, limit, delta)


RANGE = Op(
    "Range",
    "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx",
    node_name="range",
    Tidx=dtypes.REAL - {dtypes.uint8},
    infer=_infer_range,
    kernel=_range,
    lower=_lower_range,
    static=("start", "limit", "delta"),
    grad=None,
    vectorize=Rule(ragged=_vectorize_ragged_range, makes_ragged=True),
)

_RANGE_DTYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


@api("range")
def range_(start, limit=None, delta=1, dtype=None, name="range") -> Tensor:
    """The numbers from `start` up to but not including `limit`, by `delta`; `tf.range(n)` counts from 0.

    Args:
        start, limit, delta: scalars.
        dtype: of the result; otherwise the widest of int32, int64, float32, float64 among the arguments.
        name: a name for the operation.

    >>> tf.range(2, 10, 3).numpy().tolist()
    [2, 5, 8]

    Raises:
        InvalidArgumentError: when `delta` is 0 or leads away from `limit`.
    """
    if limit is None:
        start, limit = 0, start
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    given = (start, limit, delta)
    if wanted is None or wanted is dtypes.int32:
        given = tuple(map(integers, given))
    parts = [part if isinstance(part, Tensor) else to_tensor(part, wanted) for part in given]
    if wanted is None:
        for part in parts:
            if part.dtype not in _RANGE_DTYPES:
                names = ", ".join(d.name for d in _RANGE_DTYPES)
                # TF: this is what it raises.
                raise AssertionError(
                    f"range: arguments must be one of {names} or give dtype, got {part.dtype.name}."
                )
        wanted = max((part.dtype for part in parts), key=_RANGE_DTYPES.index)
    parts = [part if part.dtype is wanted else CAST(part, DstT=wanted) for part in parts]
    return RANGE(*parts, name=name)


def _one_hot_shape(dims, depth, axis):
    rank = len(dims)
    if not -1 <= axis <= rank:
        raise errors.invalid_argument(f"OneHot: axis must be in [-1, {rank}], got {axis}.")
    at = rank if axis == -1 else axis
    return at, (*dims[:at], depth, *dims[at:])


def _one_hot(indices, depth, on_value, off_value, axis):
    depth = int(_checked_scalar("OneHot", "depth", depth))
    on = _checked_scalar("OneHot", "on_value", on_value)
    off = _checked_scalar("OneHot", "off_value", off_value)
    if depth < 0:
        raise errors.invalid_argument(f"OneHot: depth must be non-negative, got {depth}.")
    at, dims = _one_hot_shape(indices.shape, depth, axis)
    checked_dims("OneHot", "the result", dims)
    flat = indices.reshape(-1)
    count = flat.size * depth
    if off_value.dtype.hasobject or any(off_value.tobytes()):
        out = np.full(count, off, off_value.dtype)
    else:
        out = np.zeros(count, off_value.dtype)  # memory that the system has cleared is not written again
    if count:
        places = np.arange(0, count, depth)
        if bad_index(flat, depth) is not None:
            inside = (flat >= 0) & (flat < depth)
            places, flat = places[inside], flat[inside]
        out[places + flat.astype(np.intp, copy=False)] = on
    out = out.reshape((*indices.shape, depth))
    return out if at == indices.ndim else np.moveaxis(out, -1, at)


def _lower_one_hot(ctx, indices, depth, on_value, off_value, axis):
    at, _ = _one_hot_shape(indices.shape, int(depth), axis)
    hot = jnp.expand_dims(indices, at) == jnp.arange(int(depth)).reshape((-1,) + (1,) * (indices.ndim - at))
    return jnp.where(hot, on_value, off_value)


def _infer_one_hot(indices, depth, on_value, off_value, axis):
    if indices.shape.rank is None:
        return UNKNOWN
    known = None if depth.value is None else int(depth.value)
    return TensorShape(_one_hot_shape(tuple(indices.shape), known, axis)[1])


def _vectorize_one_hot(batch, node, indices, depth, on, off):
    parameters = [unstacked(depth, "depth"), unstacked(on, "value"), unstacked(off, "value")]
    return batch.apply(node, [indices, *parameters], {"axis": shifted(node.attrs["axis"])})


def _vectorize_ragged_one_hot(batch, node, indices, *parameters):
    if not isinstance(indices, Ragged) or node.attrs["axis"] not in (-1, batch.rank(indices)):
        raise NoRule("its axis is not the last")
    return indices.like(batch.apply(node, [indices, *map(unstacked, parameters)])[0])


ONE_HOT = Op(
    "OneHot",
    "indices: TI, depth: int32, on_value: T, off_value: T, *, axis: int = -1 -> output: T",
    TI=dtypes.INTEGER,
    infer=_infer_one_hot,
    kernel=_one_hot,
    lower=_lower_one_hot,
    static=("depth",),
    grad=None,
    vectorize=Rule(_vectorize_one_hot, _vectorize_ragged_one_hot),
)


@api("one_hot")
def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None) -> Tensor:
    """A new axis of length `depth` that is `on_value` at the index and `off_value` elsewhere.

    Args:
        indices: integers; one that is out of range gives only `off_value`.
        depth: a scalar.
        on_value, off_value: scalars of one dtype, 1 and 0 if None.
        axis: where the new axis goes, last if None or -1.
        dtype: of the result; that of the values, or float32.
        name: a name for the operation.

    >>> tf.one_hot([0, 2], 3).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]

    Raises:
        TypeError: when the dtypes of the values do not agree.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    on, off = (None if v is None else to_tensor(v, hint=wanted) for v in (on_value, off_value))
    given = [v.dtype for v in (on, off) if v is not None]
    if wanted is None:
        wanted = given[0] if given else dtypes.float32
    for name_, value in (("on_value", on), ("off_value", off)):
        if value is not None and value.dtype is not wanted:
            raise TypeError(f"one_hot: {name_} has dtype {value.dtype.name}, expected {wanted.name}.")
    if wanted._kind in "srv" and (on is None or off is None):
        raise TypeError(f"one_hot: on_value and off_value must be given for dtype {wanted.name}.")
    on = _number(1, wanted) if on is None else on
    off = _number(0, wanted) if off is None else off
    if type(depth) is int:
        depth = integers(depth) if abs(depth) < 2**31 else depth  # the op refuses what is no int32
    else:
        depth = to_tensor(depth, dtypes.int32)
    axis, name = -1 if axis is None else axis, "one_hot" if name is None else name
    return ONE_HOT(integers(indices), depth, on, off, axis=axis, name=name)


@functools.lru_cache(maxsize=128)
def _eager_number(value, dtype):
    return eager_constant(value, dtype)


def _number(value, dtype):
    """0 or 1 in some dtype; made once, unless it belongs to a graph."""
    return _eager_number(value, dtype) if context.graph is None else to_tensor(value, dtype)


def _zeros_like(x):
    return _variants.zeros_like(x) if x.dtype == np.object_ else np.zeros(x.shape, x.dtype)


def _lower_zeros_like(ctx, x):
    return x.zeros_like() if hasattr(x, "zeros_like") else jnp.zeros(x.shape, x.dtype)  # lists have their own


ZEROS_LIKE = Op(
    "ZerosLike",
    "x: T -> y: T",
    traits=ELEMENTWISE | NEVER_FAILS,
    infer=same_as_input,
    kernel=_zeros_like,
    lower=_lower_zeros_like,
    grad=None,
)

ONES_LIKE = Op(
    "OnesLike",
    "x: T -> y: T",
    traits=ELEMENTWISE | NEVER_FAILS,
    T=dtypes.NUMBER | dtypes.BOOL,
    infer=same_as_input,
    kernel=lambda x: np.ones(x.shape, x.dtype),
    lower=lambda ctx, x: jnp.ones(x.shape, x.dtype),
    grad=None,
)


@api("zeros_like", elementwise=1)
def zeros_like(input, dtype=None, name=None, layout=None) -> Tensor:
    """Zeros in the shape of `input`, of its dtype or another one.

    >>> tf.zeros_like([1, 2, 3]).numpy().tolist()
    [0, 0, 0]
    """
    check_layout(layout)
    return _like(ZEROS_LIKE, 0, input, dtype, name)


@api("ones_like", elementwise=1)
def ones_like(input, dtype=None, name=None, layout=None) -> Tensor:
    """Ones in the shape of `input`, of its dtype or another one.

    >>> tf.ones_like([1, 2, 3], tf.float32).numpy().tolist()
    [1.0, 1.0, 1.0]
    """
    check_layout(layout)
    return _like(ONES_LIKE, 1, input, dtype, name)


def _like(op, number, input, dtype, name):
    input = to_tensor(input)
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if wanted is None or wanted is input.dtype:
        return op(input, name=name)
    if number == 0:
        return zeros(shape_of(input), wanted)
    return FILL(shape_of(input), to_tensor(True if wanted is dtypes.bool else 1, wanted), name=name)


def _empty(shape, dtype, init):
    dims = checked_dims("Empty", "shape", checked_vector("Empty", "shape", shape))
    # What an uninitialised tensor holds is nobody's business: zeros, or empty strings, will do.
    return np.full(dims, b"", object) if dtype._np == np.object_ else np.zeros(dims, dtype._np)


EMPTY = Op(
    "Empty",
    "shape: int32, *, dtype: type, init: bool = False -> output: dtype",
    traits=UNCHECKED | CHANGES_NOTHING,
    infer=lambda shape, dtype, init: shape_from_value(shape),
    kernel=_empty,
    lower=lambda ctx, shape, dtype, init: jnp.zeros(tuple(shape.tolist()), dtype._np),
    static=("shape",),
    grad=None,
    stateful=True,
)

CONST = Op(
    "Const",
    "*, value: tensor, dtype: type -> output: dtype",
    traits=NEVER_FAILS | UNCHECKED,
    infer=lambda value, dtype: value.shape,
    kernel=lambda value, dtype: value._a,
    lower=lambda ctx, value, dtype: jnp.asarray(value._a),
    grad=None,
)


@api("sequence_mask", scope="SequenceMask")
def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool, name=None) -> Tensor:
    """A mask whose last axis is true (or 1) in its first `lengths[...]` places.

    Args:
        lengths: integers.
        maxlen: the length of the new axis, the greatest of `lengths` if None.
        dtype: of the result.
        name: a name for the operation.

    >>> tf.sequence_mask([1, 3]).numpy().tolist()
    [[True, False, False], [True, True, True]]

    Raises:
        ValueError: when `maxlen` is no scalar.
    """
    lengths = to_tensor(lengths)
    dtype = dtypes.as_dtype(dtype)
    if maxlen is None:
        rank = lengths.shape.rank
        axes = list(range(rank)) if rank is not None else RANGE(0, RANK(lengths), 1)
        maxlen = lookup("Max")(lengths, axes)
        maxlen = MAXIMUM(to_tensor(0, maxlen.dtype), maxlen)
    else:
        maxlen = to_tensor(maxlen)
    if maxlen.shape.rank not in (None, 0):
        raise ValueError(f"sequence_mask: maxlen must be a scalar, got shape {maxlen.shape}.")
    steps = RANGE(to_tensor(0, maxlen.dtype), maxlen, to_tensor(1, maxlen.dtype))
    ends = CAST(EXPAND_DIMS(lengths, -1), DstT=maxlen.dtype)
    mask = LESS(steps, ends)
    return mask if dtype is dtypes.bool else CAST(mask, DstT=dtype)
