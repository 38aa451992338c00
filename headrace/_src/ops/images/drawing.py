"""Boxes drawn into images, and glimpses cut out of them: DrawBoundingBoxes, ExtractGlimpse."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import merging, unstacked
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.lowering import NotLowerable
from headrace._src.ops.images.checks import four_dims, infer_size

_WIDE = frozenset({dtypes.float16, dtypes.float32})

# TF: the colours of boxes that are given none, in turn.
_COLORS = np.array(
    [
        [1, 1, 0, 1],
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [0, 1, 0, 1],
        [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1],
        [0.5, 0, 0, 1],
        [0, 0, 0.5, 1],
        [0, 1, 1, 1],
        [1, 0, 1, 1],
    ],
    np.float32,
)


def _check_drawing(op, images, boxes, colors):
    """The table of colours, with as many channels as the images."""
    if images.ndim != 4:
        raise errors.invalid_argument(f"{op}: images must have 4 dimensions, got shape {tuple(images.shape)}.")
    if boxes.ndim != 3 or boxes.shape[2] != 4:
        raise errors.invalid_argument(f"{op}: boxes must have shape (batch, number, 4), got {tuple(boxes.shape)}.")
    if images.shape[0] != boxes.shape[0]:
        raise errors.invalid_argument(
            f"{op}: images and boxes must have the same batch size, got {images.shape[0]} and {boxes.shape[0]}."
        )
    channels = images.shape[3]
    if channels not in (1, 3, 4):
        raise errors.invalid_argument(f"{op}: images must have 1, 3 or 4 channels, got {channels}.")
    if colors is not None and np.prod(colors.shape):
        if colors.ndim != 2:
            raise errors.invalid_argument(f"{op}: colors must be a matrix, got shape {tuple(colors.shape)}.")
        if colors.shape[1] < channels:
            raise errors.invalid_argument(
                f"{op}: colors must have at least {channels} channels, got shape {tuple(colors.shape)}."
            )
        return colors[:, :channels]
    table = _COLORS.copy()
    if channels == 1:
        table[:, 0] = 1
    return table[:, :channels]


def _edges(xp, boxes, height, width):
    """Rows and columns of the corners, toward zero."""
    scale = np.array([height - 1, width - 1, height - 1, width - 1], np.float32)
    scaled = boxes * scale
    limit = np.float32(2**31 - 128)
    return xp.clip(xp.where(xp.isfinite(scaled), scaled, -limit), -limit, limit).astype(np.int64)


def _draw(op, images, boxes, colors=None):
    table = _check_drawing(op, images, boxes, colors)
    result = images.copy()
    height, width = images.shape[1:3]
    edges = _edges(np, boxes, height, width)
    for image, corners in zip(result, edges.tolist()):
        for number, (top, left, bottom, right) in enumerate(corners):
            if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
                continue
            color = table[number % len(table)].astype(images.dtype)
            rows = slice(max(top, 0), min(bottom, height - 1) + 1)
            columns = slice(max(left, 0), min(right, width - 1) + 1)
            if top >= 0:
                image[top, columns] = color
            if bottom < height:
                image[bottom, columns] = color
            if left >= 0:
                image[rows, left] = color
            if right < width:
                image[rows, right] = color
    return result


def _lower_draw(op, images, boxes, colors=None):
    table = _check_drawing(op, images, boxes, colors)
    height, width = images.shape[1:3]
    top, left, bottom, right = (
        edge[..., None, None] for edge in jnp.moveaxis(_edges(jnp, boxes, height, width), -1, 0)
    )
    rows, columns = jnp.arange(height)[:, None], jnp.arange(width)
    within = (rows >= top) & (rows <= bottom) & (columns >= left) & (columns <= right)
    border = within & ((rows == top) | (rows == bottom) | (columns == left) | (columns == right))
    result = images
    for number in range(boxes.shape[1]):
        color = table[number % table.shape[0]].astype(images.dtype)
        result = jnp.where(border[:, number, :, :, None], color, result)
    return result


def _infer_draw(op):
    def infer(images, boxes, colors=None):
        four_dims(op, "images", images)
        if boxes.shape.rank not in (None, 3):
            raise errors.invalid_argument(f"{op}: boxes must have 3 dimensions, got shape {boxes.shape}.")
        return images.shape

    return infer


DRAW_BOUNDING_BOXES = Op(
    "DrawBoundingBoxes",
    "images: T, boxes: float32 -> output: T",
    T=_WIDE,
    infer=_infer_draw("DrawBoundingBoxes"),
    kernel=lambda images, boxes: _draw("DrawBoundingBoxes", images, boxes),
    lower=lambda ctx, images, boxes: _lower_draw("DrawBoundingBoxes", images, boxes),
    grad=None,
    vectorize=merging(2),
)

DRAW_BOUNDING_BOXES_V2 = Op(
    "DrawBoundingBoxesV2",
    "images: T, boxes: float32, colors: float32 -> output: T",
    T=_WIDE,
    infer=_infer_draw("DrawBoundingBoxesV2"),
    kernel=lambda images, boxes, colors: _draw("DrawBoundingBoxesV2", images, boxes, colors),
    lower=lambda ctx, images, boxes, colors: _lower_draw("DrawBoundingBoxesV2", images, boxes, colors),
    grad=unregistered,
    vectorize=merging(2),
)


@api("image.draw_bounding_boxes")
def draw_bounding_boxes(images, boxes, colors, name=None) -> Tensor:
    """Images with frames drawn into them.

    Args:
        images: a batch (batch, height, width, channels) of 1, 3 or 4 channels.
        boxes: (batch, number, 4): y1, x1, y2, x2 as parts of the image's height and width.
        colors: (colours, channels), used in turn; None for ten different ones.
        name: a name for the operation.

    >>> images = tf.image.draw_bounding_boxes(tf.zeros((1, 3, 3, 1)), [[[0.0, 0.0, 1.0, 1.0]]], [[5.0]])
    >>> images.numpy()[0, ..., 0].tolist()
    [[5.0, 5.0, 5.0], [5.0, 0.0, 5.0], [5.0, 5.0, 5.0]]
    """
    if colors is None:
        return DRAW_BOUNDING_BOXES(images, boxes, name=name)
    return DRAW_BOUNDING_BOXES_V2(images, boxes, colors, name=name)


# Glimpses


def _check_glimpse(op, input, size, offsets, uniform_noise, noise):
    if input.ndim != 4:
        raise errors.invalid_argument(f"{op}: input must have 4 dimensions, got shape {tuple(input.shape)}.")
    if size.shape != (2,):
        raise errors.invalid_argument(f"{op}: size must be a vector of 2 (height, width), got shape {size.shape}.")
    if offsets.ndim != 2 or offsets.shape[0] != input.shape[0] or offsets.shape[1] != 2:
        raise errors.invalid_argument(
            f"{op}: offsets must have shape ({input.shape[0]}, 2), a pair (y, x) for each image, got shape "
            f"{tuple(offsets.shape)}."
        )
    if uniform_noise and noise != "uniform":
        raise errors.invalid_argument(f"{op}: The uniform_noise and noise could not be specified at the same time.")
    if noise not in ("uniform", "gaussian", "zero"):
        raise errors.invalid_argument(f"{op}: noise must be 'uniform', 'gaussian' or 'zero', got {noise!r}.")
    height, width = (int(n) for n in size)
    if height < 0 or width < 0:
        raise errors.invalid_argument(f"{op}: size must not be negative, got ({height}, {width}).")
    return height, width


def _glimpse_start(xp, version, offsets, image, glimpse, centered, normalized):
    """The first row and column of each glimpse, [batch, 2], toward zero."""
    image, half = np.array(image, np.float32), np.array(glimpse, np.float32) / 2
    place = offsets * image if normalized else offsets
    # TF: the first version halves offsets, and takes them for the middle, in all cases.
    if version == 1:
        place = ((place + image) / 2 if centered else place) - half
    elif centered:
        place = (place + image) / 2 - half if normalized else place + image / 2
    limit = np.float32(2**31 - 128)
    return xp.clip(xp.where(xp.isfinite(place), place, -limit), -limit, limit).astype(np.int64)


def _glimpse(version, input, size, offsets, centered, normalized, uniform_noise, noise):
    op = "ExtractGlimpse" if version == 1 else "ExtractGlimpseV2"
    glimpse = _check_glimpse(op, input, size, offsets, uniform_noise, noise)
    batch, height, width, channels = input.shape
    starts = _glimpse_start(np, version, offsets, (height, width), glimpse, centered, normalized)
    shape = (batch, *glimpse, channels)
    if noise == "uniform":
        result = np.random.default_rng().random(shape, np.float32)
    elif noise == "gaussian":
        result = np.random.default_rng().standard_normal(shape, np.float32)
        result *= input.std((1, 2), keepdims=True)
        result += input.mean((1, 2), keepdims=True)
    else:
        result = np.zeros(shape, np.float32)
    for target, image, (top, left) in zip(result, input, starts.tolist()):
        rows = max(top, 0), min(top + glimpse[0], height)
        columns = max(left, 0), min(left + glimpse[1], width)
        if rows[0] < rows[1] and columns[0] < columns[1]:
            part = image[rows[0] : rows[1], columns[0] : columns[1]]
            target[rows[0] - top : rows[1] - top, columns[0] - left : columns[1] - left] = part
    return result


def _lower_glimpse(version, input, size, offsets, centered, normalized, uniform_noise, noise):
    if noise != "zero":
        raise NotLowerable("its noise is drawn on the host")
    op = "ExtractGlimpse" if version == 1 else "ExtractGlimpseV2"
    glimpse = _check_glimpse(op, input, size, offsets, uniform_noise, noise)
    batch, height, width, _ = input.shape
    starts = _glimpse_start(jnp, version, offsets, (height, width), glimpse, centered, normalized)
    rows, columns = (starts[:, i, None] + jnp.arange(glimpse[i]) for i in range(2))
    inside = ((rows >= 0) & (rows < height))[:, :, None] & ((columns >= 0) & (columns < width))[:, None, :]
    number = jnp.arange(batch)[:, None, None]
    part = input[number, jnp.clip(rows, 0, height - 1)[:, :, None], jnp.clip(columns, 0, width - 1)[:, None, :]]
    return jnp.where(inside[..., None], part, np.float32(0))


def _infer_glimpse(op):
    def infer(input, size, offsets, **attrs):
        batch, _, _, channels = four_dims(op, "input", input)
        return TensorShape([batch, *infer_size(op, "size", size), channels])

    return infer


def _vectorize_glimpse(batch, node, images, size, offsets):
    (flat, count), (places, _) = batch.merged(images), batch.merged(offsets)
    (result,) = batch.apply(node, [flat, unstacked(size, "size"), places])
    return batch.parted(result, count)


def _glimpse_op(name, version, grad):
    return Op(
        name,
        "input: float32, size: int32, offsets: float32, *, centered: bool = True, normalized: bool = True, "
        "uniform_noise: bool = True, noise: string = 'uniform' -> glimpse: float32",
        infer=_infer_glimpse(name),
        kernel=lambda input, size, offsets, **attrs: _glimpse(version, input, size, offsets, **attrs),
        lower=lambda ctx, input, size, offsets, **attrs: _lower_glimpse(version, input, size, offsets, **attrs),
        static=("size",),
        grad=grad,
        vectorize=_vectorize_glimpse,
    )


EXTRACT_GLIMPSE = _glimpse_op("ExtractGlimpse", 1, None)
EXTRACT_GLIMPSE_V2 = _glimpse_op("ExtractGlimpseV2", 2, unregistered)


@api("image.extract_glimpse")
def extract_glimpse(input, size, offsets, centered=True, normalized=True, noise="uniform", name=None) -> Tensor:
    """A window cut out of each image, with noise where it lies outside.

    Args:
        input: a batch (batch, height, width, channels), float32.
        size: height and width of the windows.
        offsets: (batch, 2): where each window is, as (y, x).
        centered: the origin is the middle of the image, not its upper left corner.
        normalized: offsets go from -1 to 1 (or from 0 to 1) over the image; otherwise they are pixels.
        noise: "uniform", "gaussian" or "zero".
        name: a name for the operation.

    >>> images = tf.reshape(tf.range(9.0), (1, 3, 3, 1))
    >>> window = tf.image.extract_glimpse(images, (2, 2), [[1.0, 1.0]], centered=False, normalized=False, noise="zero")
    >>> window.numpy()[0, ..., 0].tolist()
    [[4.0, 5.0], [7.0, 8.0]]
    """
    return EXTRACT_GLIMPSE_V2(
        input, size, offsets, centered=centered, normalized=normalized, uniform_noise=False, noise=noise, name=name
    )
