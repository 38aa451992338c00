"""How images change from pixel to pixel, and how much two images differ."""

from __future__ import annotations

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import broadcast_shapes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.padding import MIRROR_PAD, PAD
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.arrays.splitting import TILE
from headrace._src.ops.images.adjustments import convert_image_dtype
from headrace._src.ops.math.arithmetic import SQUARED_DIFFERENCE, SUB
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.elementwise import ABS, LOG, SQUARE
from headrace._src.ops.math.powers import POW
from headrace._src.ops.math.reductions import ALL, MEAN, PROD
from headrace._src.ops.nn.activations import RELU
from headrace._src.ops.ragged.row_arithmetic import require
from headrace._src.ops.windows.depthwise_conv import DEPTHWISE_CONV2D
from headrace._src.ops.windows.pool import AVG_POOL


@api("image.total_variation")
def total_variation(images, name=None) -> Tensor:
    """The sum of the absolute differences of neighbouring pixels.

    Args:
        images: a batch (batch, height, width, channels), or one image.
        name: accepted for compatibility.

    Returns:
        One number for each image.

    >>> float(tf.image.total_variation([[[1.0], [4.0]], [[1.0], [4.0]]]))
    6.0
    """
    images = to_tensor(images, name="images")
    rank = images.shape.rank
    if rank not in (3, 4):
        raise ValueError(f"image.total_variation: images must have 3 or 4 dimensions, got shape {images.shape}.")
    down = images[..., 1:, :, :] - images[..., :-1, :, :]
    across = images[..., :, 1:, :] - images[..., :, :-1, :]
    axes = [0, 1, 2] if rank == 3 else [1, 2, 3]
    return SUM(ABS(down), axes) + SUM(ABS(across), axes)


@api("image.image_gradients")
def image_gradients(image) -> tuple[Tensor, Tensor]:
    """The differences of neighbouring pixels: (dy, dx), with zeros in the last row and column.

    Args:
        image: a batch (batch, height, width, channels).

    Raises:
        ValueError: the rank is not 4.

    >>> dy, dx = tf.image.image_gradients([[[[1.0], [4.0]], [[2.0], [9.0]]]])
    >>> dy.numpy()[0, ..., 0].tolist(), dx.numpy()[0, ..., 0].tolist()
    ([[1.0, 5.0], [0.0, 0.0]], [[3.0, 0.0], [7.0, 0.0]])
    """
    image = to_tensor(image, name="image")
    if image.shape.rank != 4:
        raise ValueError(
            f"image.image_gradients: image must have shape (batch, height, width, channels), got shape {image.shape}."
        )
    dy = image[:, 1:] - image[:, :-1]
    dx = image[:, :, 1:] - image[:, :, :-1]
    return PAD(dy, [[0, 0], [0, 1], [0, 0], [0, 0]]), PAD(dx, [[0, 0], [0, 0], [0, 1], [0, 0]])


@api("image.sobel_edges")
def sobel_edges(image) -> Tensor:
    """Sobel's approximations of the derivatives along rows and columns.

    Args:
        image: a batch (batch, height, width, channels) of at least 2 by 2 pixels.

    Returns:
        (batch, height, width, channels, 2): dy and dx.

    >>> tf.image.sobel_edges(tf.reshape(tf.range(9.0), (1, 3, 3, 1)))[0, 1, 1, 0].numpy().tolist()
    [24.0, 8.0]
    """
    image = to_tensor(image, name="image")
    if image.shape.rank is None:
        raise ValueError("image.sobel_edges: the rank of image must be known.")
    if image.shape.rank != 4:
        raise errors.invalid_argument(f"image.sobel_edges: image must have 4 dimensions, got shape {image.shape}.")
    padded = MIRROR_PAD(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    # A difference along one axis, and weights 1, 2, 1 along the other.
    down = padded[:, 2:] - padded[:, :-2]
    dy = down[:, :, :-2] + 2 * down[:, :, 1:-1] + down[:, :, 2:]
    across = padded[:, :, 2:] - padded[:, :, :-2]
    dx = across[:, :-2] + 2 * across[:, 1:-1] + across[:, 2:]
    return PACK([dy, dx], axis=-1)


def _check_pair(function, a, b):
    """ValueError when two images cannot be compared."""
    first, second = a.shape, b.shape
    if first.rank is None or second.rank is None:
        return
    if first.rank < 3 or second.rank < 3:
        raise ValueError(f"image.{function}: images must have at least 3 dimensions, got shapes {first} and {second}.")
    if not first[-3:].is_compatible_with(second[-3:]):
        raise ValueError(f"image.{function}: the images must have equal sizes, got shapes {first} and {second}.")
    try:
        broadcast_shapes(first[:-3], second[:-3])
    except ValueError:
        raise ValueError(
            f"image.{function}: the batches of images must broadcast, got shapes {first} and {second}."
        ) from None


def _pair(function, a, b, max_val):
    a, b = to_tensor(a, name="a"), to_tensor(b, name="b")
    try:
        _check_pair(function, a, b)
    except ValueError as error:
        if function != "psnr":
            raise
        raise errors.invalid_argument(str(error)) from None  # TF: its arithmetic finds it out first
    limit = convert_image_dtype(cast(to_tensor(max_val), a.dtype), dtypes.float32)
    a, b = (convert_image_dtype(x, dtypes.float32) for x in (a, b))
    if not (a.shape[-3:].is_fully_defined() and b.shape[-3:].is_fully_defined()):
        sizes = [SHAPE(x)[-3:] for x in (a, b)]
        require(
            ALL(EQUAL(*sizes), [0]), f"image.{function}: the images must have equal sizes."
        )
    return a, b, limit


@api("image.psnr")
def psnr(a, b, max_val, name=None) -> Tensor:
    """The peak signal-to-noise ratio of two images, in decibel.

    Args:
        a, b: images (..., height, width, channels) of one size.
        max_val: the largest possible difference of two numbers, such as 255 for uint8.
        name: accepted for compatibility.

    Returns:
        One number for each pair of images.

    >>> float(tf.image.psnr(tf.zeros((4, 4, 3)), tf.fill((4, 4, 3), 0.1), 1.0).numpy().round(3))
    20.0
    """
    a, b, limit = _pair("psnr", a, b, max_val)
    error = MEAN(SQUARED_DIFFERENCE(a, b), [-3, -2, -1])
    decibels = np.float32(10 / math.log(10))
    return SUB(20 * LOG(limit) / np.float32(math.log(10)), decibels * LOG(error), name=name)


def _gaussian(size, sigma):
    """Weights of a window along one axis."""
    places = np.arange(size, dtype=np.float32) - np.float32((size - 1) / 2)
    weights = np.exp(-0.5 * np.square(places) / np.float32(sigma) ** 2)
    return (weights / weights.sum()).astype(np.float32)


def _window_mean(x, weights):
    """Weighted means over windows along rows and columns; x is (batch, height, width, channels)."""
    channels = x.shape[-1]
    size = len(weights)
    for shape in ((size, 1, 1, 1), (1, size, 1, 1)):
        kernel = weights.reshape(shape)
        if channels is None:
            kernel = TILE(kernel, PACK([1, 1, SHAPE(x)[-1], 1]))
        else:
            kernel = np.tile(kernel, (1, 1, channels, 1))
        x = DEPTHWISE_CONV2D(x, kernel, strides=[1, 1, 1, 1], padding="VALID")
    return x


def _structure(x, y, limit, weights, k1, k2):
    """Luminance and contrast-structure at each place, for batches of four dimensions."""
    c1, c2 = SQUARE(k1 * limit), SQUARE(k2 * limit)
    mean_x, mean_y = _window_mean(x, weights), _window_mean(y, weights)
    both = mean_x * mean_y * 2.0
    squares = SQUARE(mean_x) + SQUARE(mean_y)
    luminance = (both + c1) / (squares + c1)
    products = _window_mean(x * y, weights) * 2.0
    energy = _window_mean(SQUARE(x) + SQUARE(y), weights)
    return luminance, (products - both + c2) / (energy - squares + c2)


def _flat(x):
    """The images as one batch, and the shape of the batch before."""
    if x.shape.rank == 4:
        return x, None
    shape = SHAPE(x)
    return RESHAPE(x, CONCAT([to_tensor([-1]), shape[-3:]], 0)), shape[:-3]


def _unflat(x, front):
    if front is None:
        return x
    return RESHAPE(x, CONCAT([front, SHAPE(x)[1:]], 0))


def _per_channel(function, a, b, limit, filter_size, filter_sigma, k1, k2, as_map=False):
    """Structural similarity and its contrast-structure part, one number for each image and channel."""
    size = int(filter_size)
    if size < 0:
        raise errors.invalid_argument(f"image.{function}: filter_size must not be negative, got {size}.")
    for x in (a, b):
        for n in x.shape[-3:-1].as_list() if x.shape.rank is not None else ():
            if n is not None and n < size:
                raise errors.invalid_argument(
                    f"image.{function}: images must be at least as large as filter_size, {size}, got shape {x.shape}."
                )
        if not x.shape[-3:-1].is_fully_defined():
            enough = ALL(SHAPE(x)[-3:-1] >= size, [0])
            require(enough, f"image.{function}: images must be at least as large as filter_size, {size}.")
    weights = _gaussian(size, filter_sigma)
    if a.shape.rank != b.shape.rank or not a.shape[:-3].is_compatible_with(b.shape[:-3]):
        a, b = a + ZEROS_LIKE(b), b + ZEROS_LIKE(a)
    (x, front), (y, _) = _flat(a), _flat(b)
    luminance, contrast = _structure(x, y, limit, weights, k1, k2)
    similarity = luminance * contrast
    if not as_map:
        similarity = MEAN(similarity, [1, 2])
    return _unflat(similarity, front), _unflat(MEAN(contrast, [1, 2]), front)


@api("image.ssim")
def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False) -> Tensor:
    """The structural similarity of two images: 1 for equal ones.

    Args:
        img1, img2: images (..., height, width, channels) of one size, not smaller than the filter.
        max_val: the largest possible difference of two numbers, such as 255 for uint8.
        filter_size: the size of the window over which statistics are taken.
        filter_sigma: the width of the Gaussian that weights it.
        k1, k2: small constants that keep divisions stable.
        return_index_map: return the similarity at each place instead of its mean.

    Returns:
        One number for each pair of images.

    >>> float(tf.image.ssim(tf.ones((16, 16, 1)), tf.ones((16, 16, 1)), 1.0))
    1.0
    """
    a, b, limit = _pair("ssim", img1, img2, max_val)
    similarity, _ = _per_channel("ssim", a, b, limit, filter_size, filter_sigma, k1, k2, return_index_map)
    return MEAN(similarity, [-1])


# TF: the weights of the five scales in the paper by Wang, Simoncelli and Bovik.
_POWERS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _halved(x):
    """Images of half the size; an odd last row or column is repeated before."""
    flat, front = _flat(x)
    height, width = flat.shape[1:3]
    if height is None or width is None:
        odd = SHAPE(flat)[1:3] % 2
        pads = [[0, 0], [0, odd[0]], [0, odd[1]], [0, 0]]
        pads = PACK([PACK([to_tensor(n) for n in pair]) for pair in pads])
        flat = MIRROR_PAD(flat, pads, mode="SYMMETRIC")
    elif height % 2 or width % 2:
        flat = MIRROR_PAD(flat, [[0, 0], [0, height % 2], [0, width % 2], [0, 0]], mode="SYMMETRIC")
    small = AVG_POOL(flat, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    return _unflat(small, front)


@api("image.ssim_multiscale")
def ssim_multiscale(
    img1, img2, max_val, power_factors=_POWERS, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03
) -> Tensor:
    """The structural similarity of two images on several scales, each half as large as the one before.

    Args:
        img1, img2: images (..., height, width, channels) of one size.
        max_val: the largest possible difference of two numbers, such as 255 for uint8.
        power_factors: the weight of each scale; their number is the number of scales.
        filter_size: the size of the window over which statistics are taken.
        filter_sigma: the width of the Gaussian that weights it.
        k1, k2: small constants that keep divisions stable.

    Returns:
        One number for each pair of images.
    """
    a, b, limit = _pair("ssim_multiscale", img1, img2, max_val)
    parts = []
    for scale in range(len(power_factors)):
        if scale:
            a, b = _halved(a), _halved(b)
        similarity, contrast = _per_channel(
            "ssim_multiscale", a, b, limit, filter_size, filter_sigma, k1, k2
        )
        parts.append(RELU(contrast))
    parts[-1] = RELU(similarity)
    powers = to_tensor(list(power_factors), dtypes.float32)
    product = PROD(POW(PACK(parts, axis=-1), powers), [-1])
    return MEAN(product, [-1])

