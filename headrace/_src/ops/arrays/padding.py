"""Borders around tensors: constant, reflecting, symmetric."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import NoRule, Ragged, Rule, unstacked, value_of
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.ops.arrays.box_slices import SLICE
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import FILL, RANGE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import RANK, checked_dims, known_value
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE
from headrace._src.ops.math.arithmetic import MUL
from headrace._src.ops.math.comparison import EQUAL


def padding_pairs(op, paddings, rank):
    """The checked (before, after) pairs of a paddings matrix."""
    paddings = np.asarray(paddings)
    if paddings.shape != (rank, 2):
        raise errors.invalid_argument(
            f"{op}: paddings must have shape {(rank, 2)} for an input of {rank} dimensions, got "
            f"{paddings.shape}."
        )
    if paddings.size and paddings.min() < 0:
        raise errors.invalid_argument(f"{op}: paddings must not be negative, got {paddings.tolist()}.")
    return [tuple(pair) for pair in paddings.tolist()]


def _pad_with(op, input, paddings, constant):
    pairs = padding_pairs(op, paddings, input.ndim)
    dims = checked_dims(op, "the result", [b + n + a for (b, a), n in zip(pairs, input.shape)])
    if dims == input.shape:
        return input
    out = np.zeros(dims, input.dtype) if constant is None else np.full(dims, constant, input.dtype)
    out[tuple(slice(b, b + n) for (b, _), n in zip(pairs, input.shape))] = input
    return out


def _pad(input, paddings):
    return _pad_with("Pad", input, paddings, b"" if input.dtype == object else None)


def _lower_pad(ctx, input, paddings):
    pairs = padding_pairs("Pad", paddings, input.ndim)
    return jnp.pad(input, pairs) if pairs else input


def _infer_pad(input, paddings, constant_values=None, mode=None):
    rank = input.shape.rank
    if rank is None and paddings.shape.rank is not None:
        rank = paddings.shape[0]
    if rank is None:
        return UNKNOWN
    rows = paddings.partial if paddings.shape.rank == 2 else None
    if input.shape.rank is None or (paddings.value is None and (rows is None or len(rows) != rank)):
        return TensorShape([None] * rank)
    if paddings.value is None:
        return TensorShape([
            None if n is None or len(row) != 2 or None in row else n + sum(row)
            for n, row in zip(input.shape, rows)
        ])  # fmt: skip
    pairs = padding_pairs("Pad", paddings.value, rank)
    return TensorShape([None if n is None else b + n + a for (b, a), n in zip(pairs, input.shape)])


def _unpad(dy, shape, paddings):
    """`dy` without its border."""
    value = known_value(paddings)
    if isinstance(shape, tuple) and value is not None:
        return SLICE(dy, value[:, 0], np.array(shape, value.dtype))
    begin = SQUEEZE(SLICE(paddings, [0, 0], [-1, 1]), squeeze_dims=[1])
    return SLICE(dy, begin, CAST(to_tensor(shape), DstT=paddings.dtype))


def _unpadded_batch(paddings):
    """Paddings of one element as those of the batch, which has none along its first axis."""
    tensor = unstacked(paddings, "paddings")
    known = value_of(tensor)
    if known is not None:
        return to_tensor(np.concatenate([np.zeros((1, 2), known.dtype), known.reshape(-1, 2)]))
    return CONCAT([to_tensor([[0, 0]], tensor.dtype), tensor], 0)


def _vectorize_pad(batch, node, x, paddings):
    return batch.apply(node, [x, _unpadded_batch(paddings)])


def _padded_rows(batch, x, paddings, value):
    if not isinstance(x, Ragged) or batch.rank(x) != 1 or isinstance(paddings, Ragged):
        raise NoRule("it pads several axes")
    sizes = CAST(batch.stack(paddings), DstT=dtypes.int64)
    batch.require(RESHAPE(sizes >= to_tensor(0, dtypes.int64), [-1]))
    before, after = (
        (FILL(SUM(lengths, to_tensor([0]), keep_dims=True), value), lengths)
        for lengths in (sizes[:, 0, 0], sizes[:, 0, 1])
    )
    return batch.joined([before, (x.tensor, batch.lengths(x.splits)), after])


def _vectorize_ragged_pad(batch, node, x, paddings):
    dtype = node.outputs[0].dtype
    return _padded_rows(batch, x, paddings, to_tensor(b"" if dtype is dtypes.string else 0, dtype))


PAD = Op(
    "Pad",
    "input: T, paddings: Tpaddings -> output: T",
    Tpaddings=dtypes.INDEX,
    infer=_infer_pad,
    kernel=_pad,
    lower=_lower_pad,
    static=("paddings",),
    saves=("input_shape", "paddings"),
    grad=lambda node, dy: (_unpad(dy, node.input_shape, node.paddings), None),
    vectorize=Rule(_vectorize_pad, _vectorize_ragged_pad),
)


def _pad_constant(input, paddings, constant_values):
    if constant_values.ndim:
        raise errors.invalid_argument(
            f"PadV2: constant_values must be a scalar, got shape {constant_values.shape}."
        )
    return _pad_with("PadV2", input, paddings, constant_values[()])


def _lower_pad_constant(ctx, input, paddings, constant_values):
    pairs = padding_pairs("PadV2", paddings, input.ndim)
    return jnp.pad(input, pairs, constant_values=constant_values) if pairs else input


def _grad_pad_constant(node, dy):
    inner = _unpad(dy, node.input_shape, node.paddings)
    constant = None
    if node.wants(2):
        # The constant fills all that is not the input.
        rank = dy.shape.rank
        axes = list(range(rank)) if rank is not None else RANGE(0, RANK(dy), 1)
        constant = SUM(dy, axes) - SUM(inner, axes)
    return inner, None, constant


def _vectorize_pad_with(batch, node, x, paddings, value):
    return batch.apply(node, [batch.stack(x), _unpadded_batch(paddings), unstacked(value, "constant")])


def _vectorize_ragged_pad_with(batch, node, x, paddings, value):
    return _padded_rows(batch, x, paddings, unstacked(value, "value"))


PAD_CONSTANT = Op(
    "PadV2",
    "input: T, paddings: Tpaddings, constant_values: T -> output: T",
    Tpaddings=dtypes.INDEX,
    infer=_infer_pad,
    kernel=_pad_constant,
    lower=_lower_pad_constant,
    static=("paddings",),
    saves=("input_shape", "paddings"),
    grad=_grad_pad_constant,
    vectorize=Rule(_vectorize_pad_with, _vectorize_ragged_pad_with),
)


def _mirror_offset(op, mode):
    """0 when the border's element is repeated, 1 when it is not."""
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise errors.invalid_argument(f"{op}: mode must be REFLECT or SYMMETRIC, got {mode!r}.")
    return 1 if mode == "REFLECT" else 0


def _mirror_pairs(op, paddings, shape, offset):
    pairs = padding_pairs(op, paddings, len(shape))
    for i, (pair, n) in enumerate(zip(pairs, shape)):
        if n is not None and max(pair) > n - offset:
            raise errors.invalid_argument(
                f"{op}: paddings of dimension {i} must be no more than {n - offset}, got {pair}."
            )
    return pairs


def _mirror_pad(input, paddings, mode):
    offset = _mirror_offset("MirrorPad", mode)
    pairs = _mirror_pairs("MirrorPad", paddings, input.shape, offset)
    if not any(map(any, pairs)):
        return input
    dims = checked_dims("MirrorPad", "the result", [b + n + a for (b, a), n in zip(pairs, input.shape)])
    out = np.empty(dims, input.dtype)
    inner = [slice(b, b + n) for (b, _), n in zip(pairs, input.shape)]
    out[tuple(inner)] = input
    # Axis by axis: what lies along the axes before is complete, along those after it only the inner part is.
    for axis, ((before, after), n) in enumerate(zip(pairs, input.shape)):
        rows = np.moveaxis(out[tuple([slice(None)] * (axis + 1) + inner[axis + 1 :])], axis, 0)
        end = before + n
        rows[:before] = rows[before + offset : 2 * before + offset][::-1]
        rows[end : end + after] = rows[end - offset - after : end - offset][::-1]
    return out


def _mirror_positions(n, pair, offset):
    before, after = pair
    head = np.arange(before - 1, -1, -1) + offset
    tail = n - 1 - offset - np.arange(after)
    return np.concatenate([head, np.arange(n), tail])


def _lower_mirror_pad(ctx, input, paddings, mode):
    pairs = _mirror_pairs("MirrorPad", paddings, input.shape, _mirror_offset("MirrorPad", mode))
    return jnp.pad(input, pairs, mode="reflect" if mode == "REFLECT" else "symmetric")


MIRROR_PAD = Op(
    "MirrorPad",
    "input: T, paddings: Tpaddings, *, mode: string -> output: T",
    Tpaddings=dtypes.INDEX,
    infer=_infer_pad,
    kernel=_mirror_pad,
    lower=_lower_mirror_pad,
    static=("paddings",),
    saves=("paddings",),
    grad=lambda node, dy: (MIRROR_PAD_GRAD(dy, node.paddings, mode=node.attrs["mode"]), None),
    vectorize=_vectorize_pad,
)


def _inner_dims(paddings, shape, offset):
    """The shape that mirror padding would have made `shape` of."""
    pairs = padding_pairs("MirrorPadGrad", paddings, len(shape))
    inner = [n - before - after for n, (before, after) in zip(shape, pairs)]
    return _mirror_pairs("MirrorPadGrad", paddings, inner, offset), inner


def _mirror_pad_grad(input, paddings, mode):
    offset = _mirror_offset("MirrorPadGrad", mode)
    pairs, inner = _inner_dims(paddings, input.shape, offset)
    for axis, ((before, after), n) in enumerate(zip(pairs, inner)):
        if not before and not after:
            continue
        rows = np.moveaxis(input, axis, 0)
        folded = rows[before : before + n].copy()
        folded[offset : offset + before] += rows[:before][::-1]
        if after:
            folded[n - offset - after : n - offset] += rows[before + n :][::-1]
        input = np.moveaxis(folded, 0, axis)
    return input


def _lower_mirror_pad_grad(ctx, input, paddings, mode):
    offset = _mirror_offset("MirrorPadGrad", mode)
    pairs, inner = _inner_dims(paddings, input.shape, offset)
    for axis, (pair, n) in enumerate(zip(pairs, inner)):
        rows = jnp.moveaxis(input, axis, 0)
        folded = jnp.zeros((n, *rows.shape[1:]), input.dtype).at[_mirror_positions(n, pair, offset)].add(rows)
        input = jnp.moveaxis(folded, 0, axis)
    return input


def _infer_mirror_pad_grad(input, paddings, mode):
    rank = input.shape.rank
    if rank is None:
        return UNKNOWN
    if paddings.value is None:
        return TensorShape([None] * rank)
    pairs = padding_pairs("MirrorPadGrad", paddings.value, rank)
    return TensorShape([None if n is None else n - b - a for (b, a), n in zip(pairs, input.shape)])


MIRROR_PAD_GRAD = Op(
    "MirrorPadGrad",
    "input: T, paddings: Tpaddings, *, mode: string -> output: T",
    Tpaddings=dtypes.INDEX,
    infer=_infer_mirror_pad_grad,
    kernel=_mirror_pad_grad,
    lower=_lower_mirror_pad_grad,
    static=("paddings",),
    saves=("paddings",),
    grad=lambda node, dy: (MIRROR_PAD(dy, node.paddings, mode=node.attrs["mode"]), None),
    vectorize=_vectorize_pad,
)


@api("pad")
def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None) -> Tensor:
    """A tensor with a border of `paddings[i] = (before, after)` elements along each axis `i`.

    Args:
        tensor: a tensor.
        paddings: integers of shape (rank, 2).
        mode: "CONSTANT"; "REFLECT" mirrors without the edge, "SYMMETRIC" with it.
        constant_values: the scalar to fill with.
        name: a name for the operation.

    >>> tf.pad([1, 2, 3], [[1, 2]]).numpy().tolist()
    [0, 1, 2, 3, 0, 0]
    >>> tf.pad([1, 2, 3], [[2, 1]], "REFLECT").numpy().tolist()
    [3, 2, 1, 2, 3, 2]

    Raises:
        ValueError: when the mode is unknown.
        InvalidArgumentError: when the paddings do not fit.
    """
    mode = mode.upper()
    if mode == "CONSTANT":
        if not isinstance(constant_values, Tensor) and np.ndim(constant_values) == 0 and constant_values == 0:
            return PAD(tensor, paddings, name=name)
        return PAD_CONSTANT(tensor, paddings, constant_values, name=name)
    if mode in ("REFLECT", "SYMMETRIC"):
        return MIRROR_PAD(tensor, paddings, mode=mode, name=name)
    raise ValueError(f"pad: mode must be CONSTANT, REFLECT or SYMMETRIC, got {mode!r}.")


def pad_axis(x, axis, before, after):
    """Zeros before and after `x` along one axis, which counts from the end; in a graph the rank may be unknown.

    Args:
        x: a tensor.
        axis: a negative integer.
        before, after: how many zeros, integers or scalar tensors.
    """
    rank = x.shape.rank
    if rank is not None:
        return PAD(x, [[before, after] if i == rank + axis else [0, 0] for i in range(rank)])
    rank = RANK(x)
    here = CAST(EQUAL(RANGE(0, rank, 1), rank + axis), DstT=dtypes.int32)
    return PAD(x, MUL(EXPAND_DIMS(here, 1), [[before, after]]))
