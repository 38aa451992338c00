"""Cutting tensors into parts, and repeating them: split, tile, repeat, meshgrid."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import unstacked
from headrace._src.op.bound_kernels import binder, remembering
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import unless_constant
from headrace._src.op.infer import UNKNOWN
from headrace._src.op.traits import REPEATS
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO, SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ONES_LIKE, RANGE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT, PACK, axis_value
from headrace._src.ops.arrays.measuring import SIZE, checked_dims, checked_parts, checked_vector, known_value
from headrace._src.ops.arrays.measuring import shape as shape_of
from headrace._src.ops.arrays.searching import UPPER_BOUND
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE
from headrace._src.ops.arrays.small_integers import integers
from headrace._src.ops.math.arithmetic import MAXIMUM, MUL
from headrace._src.ops.math.cumulative import CUMSUM
from headrace._src.ops.math.reductions import MAX


def _places(sizes, rank, at):
    """Where consecutive parts of the given lengths are."""
    places, begin = [], 0
    index = [slice(None)] * rank
    for length in sizes:
        index[at] = slice(begin, begin + length)
        places.append(tuple(index))
        begin += length
    return places


def _cuts(op, value, sizes, at):
    """Views of consecutive parts of the given lengths."""
    return [value[place] for place in _places(sizes, value.ndim, at)]


def _split_sizes(op, length, num_split):
    if num_split < 1 or length % num_split:
        raise errors.invalid_argument(
            f"{op}: num_split must be positive and divide the dimension evenly, got {num_split} for a "
            "dimension "
            f"of {length}."
        )
    return [length // num_split] * checked_parts(op, "num_split", num_split)


def _split(split_dim, value, num_split):
    if not value.ndim:
        raise errors.invalid_argument("Split: value must have at least one dimension, got a scalar.")
    if split_dim.ndim:
        raise errors.invalid_argument(f"Split: split_dim must be a scalar, got shape {split_dim.shape}.")
    at = axis_value("Split", split_dim, value.ndim)
    return _cuts("Split", value, _split_sizes("Split", value.shape[at], num_split), at)


@binder("Split", "split_dim")
def _bind_split(split_dim, num_split):
    if split_dim.ndim:
        return None

    def cuts(shape):
        if not shape:
            raise errors.invalid_argument("Split: value must have at least one dimension, got a scalar.")
        at = axis_value("Split", split_dim, len(shape))
        return _places(_split_sizes("Split", shape[at], num_split), len(shape), at)

    places_in = remembering(cuts)
    return lambda split_dim, value, **attrs: [value[place] for place in places_in(value.shape)]


def _infer_split(split_dim, value, num_split):
    if num_split < 1:
        raise errors.invalid_argument(f"Split: num_split must be positive, got {num_split}.")
    shape = value.shape
    if shape.rank is None:
        return ([UNKNOWN] * num_split,)
    if split_dim.value is None:
        return ([TensorShape([None] * shape.rank)] * num_split,)
    at = axis_value("Split", split_dim.value, shape.rank)
    dims = shape.as_list()
    if dims[at] is not None:
        dims[at] = _split_sizes("Split", dims[at], num_split)[0]
    return ([TensorShape(dims)] * num_split,)


SPLIT = Op(
    "Split",
    "split_dim: int32, value: T, *, num_split: int -> output: num_split*T",
    raw_names={"split_dim": "axis"},
    infer=_infer_split,
    kernel=_split,
    lower=lambda ctx, split_dim, value, num_split: jnp.split(value, num_split, int(split_dim.reshape(()))),
    static=("split_dim",),
    saves=("split_dim",),
    grad=lambda node, dys: (None, CONCAT(dys, node.split_dim) if len(dys) > 1 else dys[0]),
    vectorize=lambda batch, node, axis, x: batch.apply(node, [batch.axes(axis), x]),
)


def _split_v_sizes(size_splits, length, num_split):
    """The lengths of the parts, with a -1 filled in."""
    sizes = checked_vector("SplitV", "size_splits", np.asarray(size_splits))
    if len(sizes) != num_split:
        raise errors.invalid_argument(
            f"SplitV: size_splits must have num_split = {num_split} elements, got {len(sizes)}."
        )
    if sizes.count(-1) > 1:
        raise errors.invalid_argument(f"SplitV: only one element of size_splits may be -1, got {sizes}.")
    known = sum(n for n in sizes if n != -1)
    if any(n < -1 for n in sizes):
        raise errors.invalid_argument(f"SplitV: size_splits must not be negative, got {sizes}.")
    if known > length or (-1 not in sizes and known != length):
        raise errors.invalid_argument(
            f"SplitV: size_splits must add up to the dimension, {length}, got {sizes}."
        )
    return [length - known if n == -1 else n for n in sizes]


def _split_v(value, size_splits, split_dim, num_split):
    if not value.ndim:
        raise errors.invalid_argument("SplitV: value must have at least one dimension, got a scalar.")
    at = axis_value("SplitV", split_dim, value.ndim)
    return _cuts("SplitV", value, _split_v_sizes(size_splits, value.shape[at], num_split), at)


@binder("SplitV", "size_splits", "split_dim")
def _bind_split_v(size_splits, split_dim, num_split):
    def cuts(shape):
        if not shape:
            raise errors.invalid_argument("SplitV: value must have at least one dimension, got a scalar.")
        at = axis_value("SplitV", split_dim, len(shape))
        return _places(_split_v_sizes(size_splits, shape[at], num_split), len(shape), at)

    places_in = remembering(cuts)
    return lambda value, *sizes, **attrs: [value[place] for place in places_in(value.shape)]


def _lower_split_v(ctx, value, size_splits, split_dim, num_split):
    at = int(split_dim.reshape(()))
    sizes = _split_v_sizes(size_splits, value.shape[at], num_split)
    return jnp.split(value, np.cumsum(sizes)[:-1].tolist(), at)


def _infer_split_v(value, size_splits, split_dim, num_split):
    shape = value.shape
    if shape.rank is None:
        return ([UNKNOWN] * num_split,)
    if split_dim.value is None:
        return ([TensorShape([None] * shape.rank)] * num_split,)
    at = axis_value("SplitV", split_dim.value, shape.rank)
    sizes = [None] * num_split
    if size_splits.value is not None:
        if shape[at] is not None:
            sizes = _split_v_sizes(size_splits.value, shape[at], num_split)
        else:
            sizes = [None if n < 0 else n for n in size_splits.value.tolist()]
    dims = shape.as_list()
    return ([TensorShape(dims[:at] + [n] + dims[at + 1 :]) for n in sizes],)


def _vectorize_split_sizes(batch, node, x, sizes, axis):
    return batch.apply(node, [x, unstacked(sizes, "sizes"), batch.axes(axis)])


SPLIT_V = Op(
    "SplitV",
    "value: T, size_splits: Tlen, split_dim: int32, *, num_split: int -> output: num_split*T",
    raw_names={"split_dim": "axis"},
    Tlen=dtypes.INDEX | {dtypes.int8},
    infer=_infer_split_v,
    kernel=_split_v,
    lower=_lower_split_v,
    static=("size_splits", "split_dim"),
    saves=("split_dim",),
    grad=lambda node, dys: (CONCAT(dys, node.split_dim) if len(dys) > 1 else dys[0], None, None),
    vectorize=_vectorize_split_sizes,
)


@api("split")
def split(value, num_or_size_splits, axis=0, num=None, name="split") -> list[Tensor]:
    """A tensor cut along an axis, as a list of tensors.

    Args:
        value: the tensor.
        num_or_size_splits: how many equal parts, or a vector of their lengths, one of which may be -1.
        axis: along which axis.
        num: the number of parts, when `num_or_size_splits` is a tensor of unknown length.
        name: a name for the operation.

    >>> [part.numpy().tolist() for part in tf.split([1, 2, 3, 4], 2)]
    [[1, 2], [3, 4]]
    >>> [part.numpy().tolist() for part in tf.split([1, 2, 3, 4], [1, -1])]
    [[1], [2, 3, 4]]

    Raises:
        InvalidArgumentError: when the parts do not add up to the dimension.
    """
    if isinstance(value, int) and isinstance(axis, Tensor) and axis.dtype not in dtypes.INDEX:
        raise ValueError("split: the tensor comes first, then the parts, then the axis: tf.split(value, "
                         "num_or_size_splits, axis).")
    if isinstance(num_or_size_splits, (int, np.integer)):
        return SPLIT(integers(axis), value, num_split=int(num_or_size_splits), name=name)
    sizes = to_tensor(integers(num_or_size_splits))
    if sizes.shape.rank == 0:
        raise ValueError(
            "split: a number of parts must be a Python integer; a tensor must hold their lengths."
        )
    if num is None:
        if sizes.shape.rank is None or sizes.shape[0] is None:
            raise ValueError(f"split: cannot infer num from shape {sizes.shape}. Give it.")
        num = sizes.shape[0]
    return SPLIT_V(value, sizes, integers(axis), num_split=num, name=name)


def _tiled_dims(op, shape, multiples):
    times = checked_vector(op, "multiples", multiples)
    if len(times) != len(shape):
        raise errors.invalid_argument(
            f"{op}: multiples must have one element per dimension of input, {len(shape)}, got {len(times)}."
        )
    checked_dims(op, "multiples", times)
    return checked_dims(op, "the result", [m * n for m, n in zip(times, shape)]), times


def _tile(input, multiples):
    dims, times = _tiled_dims("Tile", input.shape, multiples)
    if dims == input.shape:
        return input
    # Each dimension n becomes (times, n), and the copies are written all at once.
    out = np.empty([m for pair in zip(times, input.shape) for m in pair], input.dtype)
    out[...] = input.reshape([m for n in input.shape for m in (1, n)])
    return out.reshape(dims)


def _lower_tile(ctx, input, multiples):
    _tiled_dims("Tile", input.shape, multiples)
    return jnp.tile(input, multiples.tolist())


def _infer_tile(input, multiples):
    rank = input.shape.rank
    if rank is None and multiples.shape.rank is not None:
        rank = multiples.shape[0]
    if rank is None:
        return UNKNOWN
    counts = multiples.partial if multiples.value is None else multiples.value.tolist()
    if counts is None or input.shape.rank is None:
        return TensorShape([None] * rank)
    if len(counts) != rank:
        raise errors.invalid_argument(f"Tile: multiples must have {rank} elements, got {len(counts)}.")
    return TensorShape([None if n is None or m is None else n * m for n, m in zip(input.shape, counts)])


def _grad_tile(node, dy):
    # The repetitions of each dimension stand before it: (times, n), and are summed.
    multiples = known_value(node.multiples)
    if isinstance(node.input_shape, tuple) and multiples is not None:
        pairs = [m for pair in zip(multiples.tolist(), node.input_shape) for m in pair]
        axes = list(range(0, len(pairs), 2))
    else:
        shape = CAST(to_tensor(node.input_shape), DstT=node.multiples.dtype)
        pairs = RESHAPE(PACK([node.multiples, shape], axis=1), [-1])
        axes = RANGE(0, SIZE(pairs), 2)
    if isinstance(axes, list) and not axes:
        return dy, None
    return SUM(RESHAPE(dy, pairs), axes), None


def _vectorize_tile(batch, node, x, multiples):
    return batch.apply(node, [x, batch.join([1], unstacked(multiples, "multiples"))])


TILE = Op(
    "Tile",
    "input: T, multiples: Tmultiples -> output: T",
    traits=REPEATS,
    can_fail=unless_constant(1),
    Tmultiples=dtypes.INDEX,
    infer=_infer_tile,
    kernel=_tile,
    lower=_lower_tile,
    static=("multiples",),
    saves=("input_shape", "multiples"),
    grad=_grad_tile,
    vectorize=_vectorize_tile,
)


@api("tile")
def tile(input, multiples, name=None) -> Tensor:
    """A tensor repeated `multiples[i]` times along each axis `i`.

    >>> tf.tile([[1, 2]], [2, 2]).numpy().tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]

    Raises:
        InvalidArgumentError: when `multiples` is negative or not one number per dimension.
    """
    return TILE(input, integers(multiples), name=name)


@api("repeat", scope="Repeat")
def repeat(input, repeats, axis=None, name=None) -> Tensor:
    """Each element (or slice along `axis`) repeated.

    Args:
        input: a tensor.
        repeats: how often, a scalar or one integer per slice.
        axis: the axis; None flattens first.
        name: a name for the operation.

    >>> tf.repeat([1, 2], [2, 1]).numpy().tolist()
    [1, 1, 2]
    >>> tf.repeat([[1, 2], [3, 4]], 2, axis=1).numpy().tolist()
    [[1, 1, 2, 2], [3, 3, 4, 4]]

    Raises:
        ValueError: when `repeats` does not fit or `axis` is out of range.
    """
    input, repeats = to_tensor(input), to_tensor(repeats)
    if repeats.dtype._kind not in "iu":
        raise TypeError(f"repeat: repeats must be integers, got {repeats.dtype.name}.")
    if repeats.dtype not in dtypes.INDEX:
        repeats = CAST(repeats, DstT=dtypes.int32)
    repeats.shape.with_rank_at_most(1)
    if axis is None:
        input, axis = RESHAPE(input, [-1]), 0
    elif input.shape.rank is not None:
        if not -input.shape.rank <= axis < input.shape.rank:
            raise ValueError(
                f"repeat: axis must be in [{-input.shape.rank}, {input.shape.rank}), got {axis}."
            )
        axis %= input.shape.rank
    elif axis < 0:
        raise ValueError("repeat: a negative axis needs an input of known rank.")
    length = None if input.shape.rank is None else input.shape[axis]
    if repeats.shape.rank == 1 and repeats.shape[0] == 1 and length != 1:
        repeats = RESHAPE(repeats, [])
    if repeats.shape.rank == 0:
        return _repeat_evenly(input, repeats, axis)
    if None not in (length, repeats.shape[0]) and length != repeats.shape[0]:
        raise ValueError(f"repeat: repeats must have {length} elements, got {repeats.shape[0]}.")
    return GATHER_V2(input, _repeated_positions(repeats), axis, name=name)


def _repeat_evenly(input, repeats, axis):
    spread = EXPAND_DIMS(input, integers(axis + 1))
    if type(repeats) is EagerTensor and input.shape.is_fully_defined():
        times, known = int(repeats._a), input.shape.as_list()
        multiples = [1] * (axis + 1) + [times] + [1] * (len(known) - axis - 1)
        known[axis] *= times
        return RESHAPE(TILE(spread, integers(multiples)), integers(known))
    dims = shape_of(input, out_type=repeats.dtype)
    multiples = CONCAT(
        [ONES_LIKE(dims[: axis + 1]), RESHAPE(repeats, [1]), ONES_LIKE(dims[axis + 1 :])], 0
    )
    longer = MUL(dims[axis : axis + 1], repeats)
    return RESHAPE(TILE(spread, multiples), CONCAT([dims[:axis], longer, dims[axis + 1 :]], 0))


def _repeated_positions(repeats):
    """0, 1, ... each as often as `repeats` says."""
    if type(repeats) is EagerTensor:
        # TF: a negative number of times is none at all.
        counts = np.maximum(repeats._a, 0)
        return EagerTensor(np.repeat(np.arange(counts.size, dtype=repeats._a.dtype), counts), repeats.dtype)
    ends = CUMSUM(MAXIMUM(repeats, to_tensor(0, repeats.dtype)), 0)
    total = MAX(CONCAT([to_tensor([0], repeats.dtype), ends], 0), [0])
    places = RANGE(to_tensor(0, repeats.dtype), total, to_tensor(1, repeats.dtype))
    found = UPPER_BOUND(EXPAND_DIMS(ends, 0), EXPAND_DIMS(places, 0), out_type=repeats.dtype)
    return SQUEEZE(found, squeeze_dims=[0])


@api("meshgrid", scope="meshgrid")
def meshgrid(*args, **kwargs) -> list[Tensor]:
    """Coordinates on a grid: from N vectors, N tensors of N dimensions.

    Args:
        *args: the vectors.
        **kwargs: `indexing`, "xy" (the default: the first two dimensions change places) or "ij"; `name`.

    >>> x, y = tf.meshgrid([1, 2], [3, 4, 5])
    >>> x.numpy().tolist()
    [[1, 2], [1, 2], [1, 2]]

    Raises:
        ValueError: when `indexing` is unknown.
    """
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"meshgrid: {next(iter(kwargs))!r} is an invalid keyword argument.")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}.")
    vectors = [to_tensor(x) for x in args]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        order[:2] = 1, 0
    sizes = [SIZE(vectors[i]) for i in order]
    shape = PACK(sizes) if sizes else None
    grids = []
    for i, vector in enumerate(vectors):
        dims = [-1 if k == i else 1 for k in order]
        grids.append(BROADCAST_TO(RESHAPE(vector, dims), shape))
    return grids
