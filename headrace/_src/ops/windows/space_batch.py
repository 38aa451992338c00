"""Moving blocks of space into the batch or the channels, and back."""

from __future__ import annotations

from math import prod

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import merging
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.measuring import SHAPE, known_value
from headrace._src.ops.linalg.matmul import MATMUL
from headrace._src.ops.windows.placement import check_elements

_TYPES = dtypes.ANY - {dtypes.string, dtypes.resource, dtypes.variant}


def _checked(op, shape, block_shape, pairs, name):
    """Blocks and pairs as lists, after checking them."""
    block_shape, pairs = np.asarray(block_shape), np.asarray(pairs)
    if block_shape.ndim != 1:
        raise errors.invalid_argument(f"{op}: block_shape must be a vector, got shape {block_shape.shape}.")
    blocks = [int(n) for n in block_shape]
    if len(shape) < len(blocks) + 1:
        raise errors.invalid_argument(
            f"{op}: input must have at least {len(blocks) + 1} dimensions, got shape {tuple(shape)}."
        )
    if pairs.shape != (len(blocks), 2):
        raise errors.invalid_argument(
            f"{op}: {name} must have shape {(len(blocks), 2)}, got shape {pairs.shape}."
        )
    if any(n < 1 for n in blocks):
        raise errors.invalid_argument(f"{op}: block_shape must be positive, got {blocks}.")
    if pairs.size and pairs.min() < 0:
        raise errors.invalid_argument(f"{op}: {name} must not be negative, got {pairs.tolist()}.")
    return blocks, [(int(a), int(b)) for a, b in pairs]


def _space_to_batch_sizes(op, shape, blocks, paddings):
    padded = [n + a + b for n, (a, b) in zip(shape[1:], paddings, strict=False)]
    for i, (n, block) in enumerate(zip(padded, blocks, strict=True)):
        if n % block:
            raise errors.invalid_argument(
                f"{op}: dimension {i + 1} is {n} with its padding, which block_shape {block} does not divide."
            )
    count = prod(blocks)
    inner = [n // block for n, block in zip(padded, blocks, strict=True)]
    result = (shape[0] * count, *inner, *shape[len(blocks) + 1 :])
    return padded, check_elements(op, "the result's shape", result)


def _batch_to_space_sizes(op, shape, blocks, crops):
    count = prod(blocks)
    if shape[0] % count:
        raise errors.invalid_argument(
            f"{op}: the batch of {shape[0]} must be a multiple of {count}, the product of block_shape."
        )
    whole = [n * block for n, block in zip(shape[1:], blocks, strict=False)]
    for i, (n, (a, b)) in enumerate(zip(whole, crops, strict=True)):
        if n < a + b:
            raise errors.invalid_argument(f"{op}: crops ({a}, {b}) exceed dimension {i + 1}, which is {n}.")
    return whole, shape[0] // count


def _space_to_batch(op, xp, x, block_shape, paddings):
    blocks, pairs = _checked(op, x.shape, block_shape, paddings, "paddings")
    dims = len(blocks)
    padded, result = _space_to_batch_sizes(op, x.shape, blocks, pairs)
    if any(a or b for a, b in pairs):
        x = _pad(xp, x, [(0, 0), *pairs, *[(0, 0)] * (x.ndim - dims - 1)])
    split = [n for size, block in zip(padded, blocks, strict=True) for n in (size // block, block)]
    x = x.reshape(x.shape[0], *split, *x.shape[dims + 1 :])
    order = [*range(2, 2 * dims + 1, 2), 0, *range(1, 2 * dims, 2), *range(2 * dims + 1, x.ndim)]
    return x.transpose(order).reshape(result)


def _pad(xp, x, pairs):
    if xp is not np:
        return xp.pad(x, pairs)
    out = np.zeros([n + a + b for n, (a, b) in zip(x.shape, pairs, strict=True)], x.dtype)
    out[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, pairs, strict=True))] = x
    return out


def _batch_to_space(op, x, block_shape, crops):
    blocks, pairs = _checked(op, x.shape, block_shape, crops, "crops")
    dims = len(blocks)
    whole, batch = _batch_to_space_sizes(op, x.shape, blocks, pairs)
    rest = x.shape[dims + 1 :]
    x = x.reshape(*blocks, batch, *x.shape[1:])
    order = [dims]
    for i in range(dims):
        order += [dims + 1 + i, i]
    x = x.transpose([*order, *range(2 * dims + 1, x.ndim)]).reshape(batch, *whole, *rest)
    return x[(slice(None), *(slice(a, n - b) for n, (a, b) in zip(whole, pairs, strict=True)))]


def _infer_blocks(op, input, block_shape, pairs, name, sizes):
    shape = input.shape
    if shape.rank is None:
        return UNKNOWN
    if block_shape.value is None or pairs.value is None:
        return TensorShape([None] * shape.rank)
    blocks, pairs = _checked(op, shape.as_list(), block_shape.value, pairs.value, name)
    return TensorShape(sizes(op, shape.as_list(), blocks, pairs))


def _inferred_space_to_batch(op, shape, blocks, pairs):
    if None not in shape:
        return _space_to_batch_sizes(op, shape, blocks, pairs)[1]
    result = [None if shape[0] is None else shape[0] * prod(blocks)]
    for n, block, (a, b) in zip(shape[1:], blocks, pairs, strict=False):
        result.append(None if n is None else (n + a + b) // block)
    return [*result, *shape[len(blocks) + 1 :]]


def _inferred_batch_to_space(op, shape, blocks, pairs):
    if None not in shape:
        _batch_to_space_sizes(op, shape, blocks, pairs)
    result = [None if shape[0] is None else shape[0] // prod(blocks)]
    for n, block, (a, b) in zip(shape[1:], blocks, pairs, strict=False):
        result.append(None if n is None else n * block - a - b)
    return [*result, *shape[len(blocks) + 1 :]]


SPACE_TO_BATCH_ND = Op(
    "SpaceToBatchND",
    "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T",
    T=_TYPES,
    Tblock_shape=dtypes.INDEX,
    Tpaddings=dtypes.INDEX,
    infer=lambda input, block_shape, paddings: _infer_blocks(
        "SpaceToBatchND", input, block_shape, paddings, "paddings", _inferred_space_to_batch
    ),
    kernel=lambda input, block_shape, paddings: _space_to_batch(
        "SpaceToBatchND", np, input, block_shape, paddings
    ),
    lower=lambda ctx, input, block_shape, paddings: _space_to_batch(
        "SpaceToBatchND", jnp, input, block_shape, paddings
    ),
    static=("block_shape", "paddings"),
    saves=("block_shape", "paddings"),
    grad=lambda node, dy: (BATCH_TO_SPACE_ND(dy, node.block_shape, node.paddings), None, None),
)

BATCH_TO_SPACE_ND = Op(
    "BatchToSpaceND",
    "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T",
    T=_TYPES,
    Tblock_shape=dtypes.INDEX,
    Tcrops=dtypes.INDEX,
    infer=lambda input, block_shape, crops: _infer_blocks(
        "BatchToSpaceND", input, block_shape, crops, "crops", _inferred_batch_to_space
    ),
    kernel=lambda input, block_shape, crops: _batch_to_space("BatchToSpaceND", input, block_shape, crops),
    lower=lambda ctx, input, block_shape, crops: _batch_to_space("BatchToSpaceND", input, block_shape, crops),
    static=("block_shape", "crops"),
    saves=("block_shape", "crops"),
    grad=lambda node, dy: (SPACE_TO_BATCH_ND(dy, node.block_shape, node.crops), None, None),
)


# The older ops, for two spatial dimensions and square blocks.


def _square(op, shape, block_size):
    if block_size < 2:
        raise errors.invalid_argument(f"{op}: block_size must be at least 2, got {block_size}.")
    if len(shape) != 4:
        raise errors.invalid_argument(f"{op}: input must have 4 dimensions, got shape {tuple(shape)}.")
    return [block_size, block_size]


def _infer_square(op, input, pairs, block_size, name, sizes):
    shape = [None] * 4 if input.shape.rank is None else input.shape.as_list()
    block = _square(op, shape, block_size)
    if pairs.value is None:
        return TensorShape([None, None, None, shape[3]])
    blocks, pairs = _checked(op, shape, block, pairs.value, name)
    return TensorShape(sizes(op, shape, blocks, pairs))


SPACE_TO_BATCH = Op(
    "SpaceToBatch",
    "input: T, paddings: Tpaddings, *, block_size: int -> output: T",
    T=_TYPES,
    Tpaddings=dtypes.INDEX,
    infer=lambda input, paddings, block_size: _infer_square(
        "SpaceToBatch", input, paddings, block_size, "paddings", _inferred_space_to_batch
    ),
    kernel=lambda input, paddings, block_size: _space_to_batch(
        "SpaceToBatch", np, input, _square("SpaceToBatch", input.shape, block_size), paddings
    ),
    lower=lambda ctx, input, paddings, block_size: _space_to_batch(
        "SpaceToBatch", jnp, input, _square("SpaceToBatch", input.shape, block_size), paddings
    ),
    static=("paddings",),
    saves=("paddings",),
    grad=lambda node, dy: (BATCH_TO_SPACE(dy, node.paddings, block_size=node.attrs["block_size"]), None),
)

BATCH_TO_SPACE = Op(
    "BatchToSpace",
    "input: T, crops: Tidx, *, block_size: int -> output: T",
    T=_TYPES,
    Tidx=dtypes.INDEX,
    infer=lambda input, crops, block_size: _infer_square(
        "BatchToSpace", input, crops, block_size, "crops", _inferred_batch_to_space
    ),
    kernel=lambda input, crops, block_size: _batch_to_space(
        "BatchToSpace", input, _square("BatchToSpace", input.shape, block_size), crops
    ),
    lower=lambda ctx, input, crops, block_size: _batch_to_space(
        "BatchToSpace", input, _square("BatchToSpace", input.shape, block_size), crops
    ),
    static=("crops",),
    saves=("crops",),
    grad=lambda node, dy: (SPACE_TO_BATCH(dy, node.crops, block_size=node.attrs["block_size"]), None),
)


# Between space and channels.


def _depth_axes(op, shape, block_size, data_format):
    _square(op, shape, block_size)
    if data_format not in ("NHWC", "NCHW"):
        raise errors.invalid_argument(f"{op}: data_format must be 'NHWC' or 'NCHW', got {data_format!r}.")
    return (2, 3, 1) if data_format == "NCHW" else (1, 2, 3)


def _space_to_depth_shape(shape, block, data_format):
    rows, columns, channel = _depth_axes("SpaceToDepth", shape, block, data_format)
    for axis in (rows, columns):
        if shape[axis] is not None and shape[axis] % block:
            raise errors.invalid_argument(
                f"SpaceToDepth: rows and columns must be multiples of block_size {block}, got {tuple(shape)}."
            )
    result = list(shape)
    for axis in (rows, columns):
        result[axis] = None if shape[axis] is None else shape[axis] // block
    result[channel] = None if shape[channel] is None else shape[channel] * block * block
    return result


def _depth_to_space_shape(shape, block, data_format):
    rows, columns, channel = _depth_axes("DepthToSpace", shape, block, data_format)
    if shape[channel] is not None and shape[channel] % (block * block):
        raise errors.invalid_argument(
            f"DepthToSpace: channels must be a multiple of {block * block}, block_size squared, "
            f"got shape {tuple(shape)}."
        )
    result = list(shape)
    for axis in (rows, columns):
        result[axis] = None if shape[axis] is None else shape[axis] * block
    result[channel] = None if shape[channel] is None else shape[channel] // (block * block)
    return result


def _space_to_depth(input, block_size, data_format):
    result = _space_to_depth_shape(input.shape, block_size, data_format)
    if data_format == "NHWC":
        n, h, w, _ = result
        split = input.reshape(n, h, block_size, w, block_size, input.shape[3])
        return split.transpose(0, 1, 3, 2, 4, 5).reshape(result)
    n, _, h, w = result
    split = input.reshape(n, input.shape[1], h, block_size, w, block_size)
    return split.transpose(0, 3, 5, 1, 2, 4).reshape(result)


def _depth_to_space(input, block_size, data_format):
    result = _depth_to_space_shape(input.shape, block_size, data_format)
    if data_format == "NHWC":
        n, h, w, _ = input.shape
        split = input.reshape(n, h, w, block_size, block_size, result[3])
        return split.transpose(0, 1, 3, 2, 4, 5).reshape(result)
    n, _, h, w = input.shape
    split = input.reshape(n, block_size, block_size, result[1], h, w)
    return split.transpose(0, 3, 4, 1, 5, 2).reshape(result)


def _known(input):
    return [None] * 4 if input.shape.rank is None else input.shape.as_list()


SPACE_TO_DEPTH = Op(
    "SpaceToDepth",
    'input: T, *, block_size: int, data_format: string = "NHWC" -> output: T',
    infer=lambda input, block_size, data_format: TensorShape(
        _space_to_depth_shape(_known(input), block_size, data_format)
    ),
    kernel=_space_to_depth,
    lower=lambda ctx, input, **attrs: _space_to_depth(input, **attrs),
    grad=lambda node, dy: (DEPTH_TO_SPACE(dy, **node.attrs),),
    vectorize=merging(),
)

DEPTH_TO_SPACE = Op(
    "DepthToSpace",
    'input: T, *, block_size: int, data_format: string = "NHWC" -> output: T',
    infer=lambda input, block_size, data_format: TensorShape(
        _depth_to_space_shape(_known(input), block_size, data_format)
    ),
    kernel=_depth_to_space,
    lower=lambda ctx, input, **attrs: _depth_to_space(input, **attrs),
    grad=lambda node, dy: (SPACE_TO_DEPTH(dy, **node.attrs),),
    vectorize=merging(),
)


@api("nn.space_to_depth")
def space_to_depth(input, block_size, data_format="NHWC", name=None) -> Tensor:
    """Moves square blocks of rows and columns into the channels.

    Args:
        input: data of shape (batch, rows, columns, channels), or (batch, channels, rows, columns) for "NCHW".
        block_size: the side of a block, which must divide rows and columns.
        data_format: "NHWC" or "NCHW".
        name: a name for the operation.

    >>> tf.nn.space_to_depth([[[[1], [2]], [[3], [4]]]], 2).numpy().tolist()
    [[[[1, 2, 3, 4]]]]
    """
    return SPACE_TO_DEPTH(input, block_size=block_size, data_format=data_format, name=name)


@api("nn.depth_to_space")
def depth_to_space(input, block_size, data_format="NHWC", name=None) -> Tensor:
    """Moves channels into square blocks of rows and columns: the reverse of `space_to_depth`.

    Args:
        input: data of shape (batch, rows, columns, channels), or (batch, channels, rows, columns) for "NCHW".
        block_size: the side of a block, whose square must divide the channels.
        data_format: "NHWC" or "NCHW".
        name: a name for the operation.

    >>> tf.nn.depth_to_space([[[[1, 2, 3, 4]]]], 2).numpy().tolist()
    [[[[1], [2]], [[3], [4]]]]
    """
    return DEPTH_TO_SPACE(input, block_size=block_size, data_format=data_format, name=name)


@api("space_to_batch", "nn.space_to_batch")
def space_to_batch(input, block_shape, paddings, name=None) -> Tensor:
    """Moves blocks of the dimensions after the batch into the batch, after padding with zeros.

    Args:
        input: data of shape (batch, *space, ...).
        block_shape: the block's size in each of the first dimensions after the batch.
        paddings: (before, after) for each of them; with it, the dimension must be a multiple of the block.
        name: a name for the operation.

    >>> tf.space_to_batch([[[[1], [2]], [[3], [4]]]], [2, 2], [[0, 0], [0, 0]]).numpy().ravel().tolist()
    [1, 2, 3, 4]
    """
    return SPACE_TO_BATCH_ND(input, block_shape, paddings, name=name)


@api("space_to_batch_nd")
def space_to_batch_nd(input, block_shape, paddings, name=None) -> Tensor:
    """The same as `tf.space_to_batch`."""
    return SPACE_TO_BATCH_ND(input, block_shape, paddings, name=name)


@api("batch_to_space")
def batch_to_space(input, block_shape, crops, name=None) -> Tensor:
    """Moves parts of the batch into blocks of the dimensions after it: the reverse of `tf.space_to_batch`.

    Args:
        input: data of shape (batch, *space, ...), the batch a multiple of the product of `block_shape`.
        block_shape: the block's size in each of the first dimensions after the batch; a number for two.
        crops: how much to cut off (before, after) each of them.
        name: a name for the operation.

    >>> tf.batch_to_space([[[[1]]], [[[2]]], [[[3]]], [[[4]]]], [2, 2], [[0, 0], [0, 0]]).shape
    TensorShape([1, 2, 2, 1])
    """
    if isinstance(block_shape, int):
        block_shape = [block_shape, block_shape]
    return BATCH_TO_SPACE_ND(input, block_shape, crops, name=name)


@api("required_space_to_batch_paddings")
def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None) -> tuple[Tensor, Tensor]:
    """The padding that makes a shape a multiple of a block, and what to crop afterwards.

    Args:
        input_shape: the sizes of the dimensions.
        block_shape: the block's sizes.
        base_paddings: (before, after) padding that is there in any case; None for none.
        name: a name for the operation.

    Returns:
        `paddings` and `crops`, for `tf.space_to_batch` and `tf.batch_to_space`.

    >>> paddings, crops = tf.required_space_to_batch_paddings([5, 6], [2, 3])
    >>> paddings.numpy().tolist(), crops.numpy().tolist()
    ([[0, 1], [0, 0]], [[0, 1], [0, 0]])
    """
    block = to_tensor(block_shape, dtypes.int32)
    if block.shape.rank is not None and block.shape.rank != 1:
        raise ValueError(
            f"required_space_to_batch_paddings: block_shape must be a vector, got {block_shape}."
        )
    dims = block.shape[0] if block.shape.rank is not None else None
    if dims is None:
        raise ValueError("required_space_to_batch_paddings: the length of block_shape must be known.")
    size = to_tensor(input_shape, dtypes.int32)
    if not size.shape.is_compatible_with([dims]):
        raise ValueError(
            f"required_space_to_batch_paddings: input_shape must have {dims} entries, got shape {size.shape}."
        )
    base = to_tensor(np.zeros((dims, 2), np.int32) if base_paddings is None else base_paddings, dtypes.int32)
    if not base.shape.is_compatible_with([dims, 2]):
        raise ValueError(
            f"required_space_to_batch_paddings: base_paddings must have shape {(dims, 2)}, got {base.shape}."
        )
    known = known_value(block)
    if known is not None and min(known, default=1) < 1:
        raise ValueError(
            f"required_space_to_batch_paddings: block_shape must be positive, got {block_shape}."
        )
    start, end = base[:, 0], base[:, 1]
    extra = (block - (size + start + end) % block) % block
    return PACK([start, end + extra], axis=1), PACK([extra * 0, extra], axis=1)


@api("nn.with_space_to_batch")
def with_space_to_batch(
    input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None
) -> Tensor:
    """Applies `op` with dilation, by moving every `rate`-th position of space into the batch.

    Args:
        input: data of shape (batch, ..., channels).
        dilation_rate: the distance between positions that `op` sees as neighbours, per spatial dimension.
        padding: "SAME" or "VALID".
        op: a function of `(input, num_spatial_dims, padding)`.
        filter_shape: the window's size per spatial dimension; needed for "SAME".
        spatial_dims: the spatial axes, growing; None for those of `data_format`.
        data_format: a format that begins with "NC" if the channels come second.

    >>> op = lambda x, dims, padding: tf.nn.max_pool(x, 2, 1, padding)
    >>> tf.nn.with_space_to_batch(tf.ones((1, 4, 4, 1)), [2, 2], "VALID", op).shape
    TensorShape([1, 2, 2, 1])
    """
    input = to_tensor(input)
    rates = known_value(to_tensor(dilation_rate, dtypes.int32))
    if rates is None:
        raise ValueError("with_space_to_batch: dilation_rate must be known while a graph is built.")
    if rates.ndim != 1:
        raise ValueError(f"with_space_to_batch: dilation_rate must be a vector, got shape {rates.shape}.")
    if (rates < 1).any():
        raise ValueError(f"with_space_to_batch: dilation_rate must be positive, got {rates.tolist()}.")
    dims = len(rates)
    if not dims:
        raise ValueError("with_space_to_batch: dilation_rate must not be empty.")
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    axes = list(range(first, first + dims)) if spatial_dims is None else [int(a) for a in spatial_dims]
    if len(axes) != dims:
        raise ValueError(f"with_space_to_batch: spatial_dims must have {dims} entries, got {axes}.")
    if any(a < 1 for a in axes) or sorted(set(axes)) != axes:
        raise ValueError(f"with_space_to_batch: spatial_dims must be positive and grow, got {axes}.")
    if input.shape.rank is not None and input.shape.rank <= axes[-1]:
        raise ValueError(
            f"with_space_to_batch: input must have {axes[-1] + 1} dimensions or more, got {input.shape}."
        )
    if (rates == 1).all():
        return op(input, dims, padding)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("with_space_to_batch: filter_shape must be given for padding 'SAME'.")
        total = (to_tensor(filter_shape, dtypes.int32) - 1) * rates
        base = PACK([total // 2, total - total // 2], axis=1)
    elif padding == "VALID":
        base = np.zeros((dims, 2), np.int32)
    else:
        raise ValueError(f"with_space_to_batch: padding must be 'SAME' or 'VALID', got {padding!r}.")
    sizes = [input.shape[a] for a in axes] if input.shape.rank is not None else [None]
    if None in sizes:
        sizes = GATHER_V2(SHAPE(input), axes, 0)
    paddings, crops = required_space_to_batch_paddings(sizes, rates, base)
    # Axes between the batch and the last spatial one take part with blocks of 1.
    blocks = np.ones(axes[-1], np.int32)
    blocks[np.array(axes) - 1] = rates
    where = np.eye(axes[-1], dtype=np.int32)[:, np.array(axes) - 1]
    moved = SPACE_TO_BATCH_ND(input, blocks, MATMUL(where, paddings))
    return BATCH_TO_SPACE_ND(op(moved, dims, "VALID"), blocks, MATMUL(where, crops))
