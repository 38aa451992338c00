"""Moving elements to other places: transpose, reverse, roll."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import along_axes, unstacked, value_of
from headrace._src.op.bound_kernels import binder, remembering
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import unless_axes_constant
from headrace._src.op.infer import UNKNOWN, same_as_input
from headrace._src.op.traits import UNCHECKED
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.measuring import RANK, checked_vector, known_value
from headrace._src.ops.arrays.small_integers import integers
from headrace._src.ops.math.arithmetic import SUB


def _permutation(op, perm, rank):
    axes = checked_vector(op, "perm", np.asarray(perm))
    if len(axes) != rank:
        raise errors.invalid_argument(
            f"{op}: perm must have one element per dimension, {rank}, got {len(axes)}."
        )
    # TF: negative axes count from the end.
    axes = [axis + rank if axis < 0 else axis for axis in axes]
    if sorted(axes) != list(range(rank)):
        raise errors.invalid_argument(
            f"{op}: perm must be a permutation of 0 to {rank - 1}, got {perm.tolist()}."
        )
    return axes


@binder("Transpose", "perm")
def _bind_transpose(perm):
    axes = remembering(lambda rank: _permutation("Transpose", perm, rank))
    return lambda x, _: x.transpose(axes(x.ndim))


def _infer_transpose(x, perm):
    rank = x.shape.rank
    if rank is None and perm.shape.rank is not None:
        rank = perm.shape[0]
    if rank is None:
        return UNKNOWN
    if perm.value is None or x.shape.rank is None:
        return TensorShape([None] * rank)
    return TensorShape([x.shape[axis] for axis in _permutation("Transpose", perm.value, rank)])


def _inverse(perm):
    """The permutation that undoes another one."""
    value = known_value(perm)
    if value is not None:
        rank = value.size
        inverse = np.empty(rank, value.dtype)
        inverse[value % rank if rank else value] = np.arange(rank)
        return to_tensor(inverse)
    return INVERT_PERMUTATION(perm)


def _vectorize_transpose(batch, node, x, perm):
    order = unstacked(perm, "permutation")
    known = value_of(order)
    full = [0, *(int(n) + 1 for n in known)] if known is not None else batch.join([0], order + 1)
    return batch.apply(node, [batch.stack(x), full])


TRANSPOSE = Op(
    "Transpose",
    "x: T, perm: Tperm -> y: T",
    traits=UNCHECKED,
    node_name="transpose",
    can_fail=unless_axes_constant,
    Tperm=dtypes.INDEX,
    infer=_infer_transpose,
    kernel=lambda x, perm: x.transpose(_permutation("Transpose", perm, x.ndim)),
    lower=lambda ctx, x, perm: jnp.transpose(x, _permutation("Transpose", perm, x.ndim)),
    static=("perm",),
    saves=("perm",),
    grad=lambda node, dy: (TRANSPOSE(dy, _inverse(node.perm)), None),
    vectorize=_vectorize_transpose,
)


def _conjugate_transpose(x, perm):
    y = x.transpose(_permutation("ConjugateTranspose", perm, x.ndim))
    return np.conj(y) if x.dtype.kind == "c" else y


CONJUGATE_TRANSPOSE = Op(
    "ConjugateTranspose",
    "x: T, perm: Tperm -> y: T",
    Tperm=dtypes.INDEX,
    infer=_infer_transpose,
    kernel=_conjugate_transpose,
    lower=lambda ctx, x, perm: jnp.conj(jnp.transpose(x, _permutation("ConjugateTranspose", perm, x.ndim))),
    static=("perm",),
    saves=("perm",),
    grad=lambda node, dy: (CONJUGATE_TRANSPOSE(dy, _inverse(node.perm)), None),
    vectorize=_vectorize_transpose,
)


@api("transpose")
def transpose(a, perm=None, conjugate=False, name="transpose") -> Tensor:
    """Dimension `i` of the result is dimension `perm[i]` of `a`; without `perm`, all in reverse order.

    Args:
        a: a tensor.
        perm: a permutation of the dimensions.
        conjugate: also take the complex conjugate.
        name: a name for the operation.

    >>> tf.transpose([[1, 2, 3], [4, 5, 6]]).numpy().tolist()
    [[1, 4], [2, 5], [3, 6]]
    """
    a = to_tensor(a)
    op = CONJUGATE_TRANSPOSE if conjugate and a.dtype._kind == "c" else TRANSPOSE
    if perm is None:
        rank = a.shape.rank
        if rank is not None:
            perm = integers(tuple(range(rank - 1, -1, -1))) if 0 < rank <= 8 else np.arange(rank - 1, -1, -1)
        else:
            rank = RANK(a)
            last = SUB(rank, 1)
            perm = SUB(last, RANGE(0, rank, 1))
    return op(a, integers(perm), name=name)


def _invert_permutation(x):
    if x.ndim != 1:
        raise errors.invalid_argument(f"InvertPermutation: x must be a vector, got shape {x.shape}.")
    if x.size and (x.min() < 0 or x.max() >= x.size):
        raise errors.invalid_argument(f"InvertPermutation: x must hold 0 to {x.size - 1}, got {_few(x)}.")
    y = np.full(x.shape, -1, x.dtype)
    y[x] = np.arange(x.size, dtype=x.dtype)
    if (y < 0).any():
        raise errors.invalid_argument(f"InvertPermutation: x holds a number twice: {_few(x)}.")
    return y


def _few(x):
    return x.tolist() if x.size <= 20 else f"{x[:20].tolist()}..."


def _lower_invert_permutation(ctx, x):
    y = jnp.full(x.shape, -1, x.dtype).at[x].set(jnp.arange(x.size, dtype=x.dtype), mode="drop")
    message = "InvertPermutation: x must be a permutation."
    ctx.check(jnp.all((x >= 0) & (x < x.size) & (y >= 0)), errors.InvalidArgumentError, message)
    return y


INVERT_PERMUTATION = Op(
    "InvertPermutation",
    "x: T -> y: T",
    T=dtypes.INDEX,
    infer=same_as_input,
    kernel=_invert_permutation,
    lower=_lower_invert_permutation,
    grad=None,
)


@api("math.invert_permutation")
def invert_permutation(x, name=None) -> Tensor:
    """The permutation `y` with `y[x[i]] == i`.

    >>> tf.math.invert_permutation([2, 0, 1]).numpy().tolist()
    [1, 2, 0]

    Raises:
        InvalidArgumentError: when `x` is no permutation of 0, 1, ...
    """
    return INVERT_PERMUTATION(x, name=name)


_REVERSIBLE = dtypes.NUMBER | dtypes.BOOL | dtypes.STRING


def _flipped_by_axis(op, axis, rank):
    axes = checked_vector(op, "axis", np.asarray(axis))
    found = set()
    for axis in axes:
        if not -rank <= axis < rank:
            raise errors.invalid_argument(f"{op}: axis must be in [{-rank}, {rank}), got {axis}.")
        if axis % rank in found:
            raise errors.invalid_argument(f"{op}: axis {axis % rank} is given more than once.")
        found.add(axis % rank)
    return found


# A view in which short pixels stand in reverse order is slow to read, several times slower than making an array of it.
_LONGEST_PIXEL = 16
_MANY_PIXELS = 1 << 10
_WHOLE_PIXELS = {2: np.int16, 4: np.int32, 8: np.int64, 16: np.complex128}  # by their bytes


def _flip_pixels(x):
    """An array, in one piece, with the order of the last axis but one reversed."""
    *_, width, channels = x.shape
    whole = _WHOLE_PIXELS.get(channels * x.itemsize)
    if whole is not None and x.ctypes.data % np.dtype(whole).alignment == 0:
        return np.ascontiguousarray(x.view(whole)[..., ::-1, :]).view(x.dtype)
    places = (np.arange(width - 1, -1, -1)[:, None] * channels + np.arange(channels)).ravel()
    return x.reshape(-1, width * channels).take(places, 1, mode="clip").reshape(x.shape)


def _flip(x, axes):
    if x.ndim >= 2 and x.ndim - 2 in axes and 1 < x.shape[-1] <= _LONGEST_PIXEL and type(x) is np.ndarray:
        if x.flags.c_contiguous and x.size >= _MANY_PIXELS * x.shape[-1] and not x.dtype.hasobject:
            return _flip(_flip_pixels(x), axes - {x.ndim - 2})
    return x[tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(x.ndim))] if axes else x


def _reverse(tensor, axis):
    if not tensor.ndim or not tensor.size:
        return tensor
    return _flip(tensor, _flipped_by_axis("ReverseV2", axis, tensor.ndim))


REVERSE = Op(
    "ReverseV2",
    "tensor: T, axis: Tidx -> output: T",
    T=_REVERSIBLE,
    Tidx=dtypes.INDEX,
    infer=same_as_input,
    kernel=_reverse,
    lower=lambda ctx, tensor, axis: _reverse(tensor, axis),
    static=("axis",),
    saves=("axis",),
    grad=lambda node, dy: (REVERSE(dy, node.axis), None),
    vectorize=along_axes,
)


@api("reverse")
def reverse(tensor, axis, name=None) -> Tensor:
    """The tensor in reverse order along the axes that the vector `axis` names.

    >>> tf.reverse([[1, 2], [3, 4]], [1]).numpy().tolist()
    [[2, 1], [4, 3]]

    Raises:
        InvalidArgumentError: when an axis is out of range or given twice.
    """
    return REVERSE(tensor, integers(axis), name=name)


def _reverse_by_flags(tensor, dims):
    if not tensor.ndim or not tensor.size:
        return tensor
    if dims.shape != (tensor.ndim,):
        raise errors.invalid_argument(
            f"Reverse: dims must have one element per dimension, {tensor.ndim}, got shape {dims.shape}."
        )
    return _flip(tensor, {i for i, flag in enumerate(dims.tolist()) if flag})


REVERSE_BY_FLAGS = Op(
    "Reverse",
    "tensor: T, dims: bool -> output: T",
    T=_REVERSIBLE,
    infer=same_as_input,
    kernel=_reverse_by_flags,
    lower=lambda ctx, tensor, dims: _reverse_by_flags(tensor, dims),
    static=("dims",),
    saves=("dims",),
    grad=lambda node, dy: (REVERSE_BY_FLAGS(dy, node.dims), None),
)


def _sequence_axes(op, rank, seq_dim, batch_dim):
    for name, axis in (("seq_dim", seq_dim), ("batch_dim", batch_dim)):
        if not 0 <= axis < rank:
            raise errors.invalid_argument(f"{op}: {name} must be in [0, {rank}), got {axis}.")
    if seq_dim == batch_dim:
        raise errors.invalid_argument(f"{op}: seq_dim and batch_dim must differ, both are {seq_dim}.")
    return seq_dim, batch_dim


def _sequence_positions(xp, rank, shape, seq_lengths, seq, batch):
    """Where each element comes from along the sequence axis, in a shape that broadcasts to the input's."""
    steps = xp.arange(shape[seq])
    lengths = seq_lengths.reshape(-1, 1)
    positions = xp.where(steps < lengths, lengths - 1 - steps, steps)
    dims = [1] * rank
    dims[batch], dims[seq] = shape[batch], shape[seq]
    return (positions if batch < seq else positions.T).reshape(dims)


def _reverse_sequence(input, seq_lengths, seq_dim, batch_dim):
    seq, batch = _sequence_axes("ReverseSequence", input.ndim, seq_dim, batch_dim)
    if seq_lengths.shape != (input.shape[batch],):
        raise errors.invalid_argument(
            f"ReverseSequence: seq_lengths must have {input.shape[batch]} elements, got shape "
            f"{seq_lengths.shape}."
        )
    if seq_lengths.size and not (0 <= seq_lengths.min() and seq_lengths.max() <= input.shape[seq]):
        raise errors.invalid_argument(
            f"ReverseSequence: seq_lengths must be in [0, {input.shape[seq]}], got {_few(seq_lengths)}."
        )
    positions = _sequence_positions(np, input.ndim, input.shape, seq_lengths.astype(np.intp), seq, batch)
    return np.take_along_axis(input, positions, seq)


def _lower_reverse_sequence(ctx, input, seq_lengths, seq_dim, batch_dim):
    seq, batch = _sequence_axes("ReverseSequence", input.ndim, seq_dim, batch_dim)
    ctx.check(
        jnp.all((seq_lengths >= 0) & (seq_lengths <= input.shape[seq])),
        errors.InvalidArgumentError,
        f"ReverseSequence: seq_lengths must be in [0, {input.shape[seq]}].",
    )
    positions = _sequence_positions(jnp, input.ndim, input.shape, seq_lengths, seq, batch)
    return jnp.take_along_axis(input, positions, seq)


REVERSE_SEQUENCE = Op(
    "ReverseSequence",
    "input: T, seq_lengths: Tlen, *, seq_dim: int, batch_dim: int = 0 -> output: T",
    Tlen=dtypes.INDEX,
    infer=same_as_input,
    kernel=_reverse_sequence,
    lower=_lower_reverse_sequence,
    saves=("seq_lengths",),
    grad=lambda node, dy: (REVERSE_SEQUENCE(dy, node.seq_lengths, **node.attrs), None),
)


@api("reverse_sequence")
def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None) -> Tensor:
    """The first `seq_lengths[i]` elements of each sequence in reverse order, the rest as they are.

    Args:
        input: a tensor with a batch axis and a sequence axis.
        seq_lengths: one integer for each element of the batch.
        seq_axis: the axis along which sequences run.
        batch_axis: the axis of the batch, 0 if None.
        name: a name for the operation.

    >>> tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy().tolist()
    [[2, 1, 3], [6, 5, 4]]
    """
    if seq_axis is None:
        raise TypeError("reverse_sequence: seq_axis must be given.")
    return REVERSE_SEQUENCE(
        input, seq_lengths, seq_dim=seq_axis, batch_dim=0 if batch_axis is None else batch_axis, name=name
    )


def _shifts(op, rank, shift, axis):
    """Axis to shift, for one or several axes; a repeated axis adds up."""
    if not rank:
        raise errors.invalid_argument(f"{op}: input must be 1-D or higher, got a scalar.")
    if shift.ndim > 1 or axis.ndim > 1:
        raise errors.invalid_argument(
            f"{op}: shift and axis must be scalars or vectors, got shapes {shift.shape} and {axis.shape}."
        )
    if shift.shape != axis.shape:
        raise errors.invalid_argument(
            f"{op}: shift and axis must have the same size, got shapes {shift.shape} and {axis.shape}."
        )
    found = {}
    for by, at in zip(np.ravel(shift).tolist(), np.ravel(axis).tolist()):
        if not -rank <= at < rank:
            raise errors.invalid_argument(f"{op}: axis must be in [{-rank}, {rank}), got {at}.")
        found[at % rank] = found.get(at % rank, 0) + by
    return found


def _roll(input, shift, axis):
    by_axis = _shifts("Roll", input.ndim, shift, axis)
    return np.roll(input, tuple(by_axis.values()), tuple(by_axis))


def _lower_roll(ctx, input, shift, axis):
    if isinstance(shift, np.ndarray):
        by_axis = _shifts("Roll", input.ndim, shift, axis)
        return jnp.roll(input, tuple(by_axis.values()), tuple(by_axis))
    _shifts("Roll", input.ndim, np.zeros(shift.shape, np.int32), axis)
    return jnp.roll(input, shift, tuple(axis.tolist()) if axis.ndim else int(axis))


def _vectorize_roll(batch, node, x, shift, axes):
    return batch.apply(node, [x, unstacked(shift, "shift"), batch.axes(axes)])


ROLL = Op(
    "Roll",
    "input: T, shift: Tshift, axis: Taxis -> output: T",
    Tshift=dtypes.INDEX,
    Taxis=dtypes.INDEX,
    infer=same_as_input,
    kernel=_roll,
    lower=_lower_roll,
    static=("axis",),
    saves=("shift", "axis"),
    grad=lambda node, dy: (ROLL(dy, -node.shift, node.axis), None, None),
    vectorize=_vectorize_roll,
)


@api("roll")
def roll(input, shift, axis, name=None) -> Tensor:
    """Elements moved along an axis by `shift` places; what leaves at one end comes in at the other.

    Args:
        input: a tensor.
        shift: an integer, or one for each of several axes.
        axis: the axis or axes.
        name: a name for the operation.

    >>> tf.roll([1, 2, 3, 4], 1, 0).numpy().tolist()
    [4, 1, 2, 3]
    """
    return ROLL(input, shift, axis, name=name)
