"""Colour spaces: HSV, YIQ, YUV and grey, and the ops that change hue, saturation and contrast."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import on_last_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import same_as_input
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.joining import CONCAT, PACK, UNPACK
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.splitting import SPLIT
from headrace._src.ops.linalg import einsum
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM
from headrace._src.ops.math.division import DIV_NO_NAN, FLOOR_MOD
from headrace._src.ops.math.reductions import MEAN

_WIDE = frozenset({dtypes.float16, dtypes.float32})


def _check_channels(op, shape, error=errors.invalid_argument):
    if len(shape) < 1 or shape[-1] != 3:
        raise error(f"{op}: images must have 3 channels in the last dimension, got shape {tuple(shape)}.")


def _infer_channels(op):
    def infer(images, *others, **attrs):
        if images.shape.rank is not None and (images.shape.rank < 1 or images.shape[-1] not in (None, 3)):
            raise errors.invalid_argument(
                f"{op}: images must have 3 channels in the last dimension, got shape {images.shape}."
            )
        return images.shape if images.shape.rank is None else images.shape[:-1].concatenate([3])

    return infer


# So many pixels are worked on at a time, so that they stay in the processor's caches.
_AT_ONCE = 1 << 16


def _by_planes(xp, images, function):
    """`function(r, g, b)` to three channels, applied to float32 or wider channels, each contiguous."""
    pixels = images.reshape(-1, 3)
    wide = np.dtype(np.float32) if images.dtype.itemsize == 2 else images.dtype
    if xp is not np:
        planes = function(*(pixels[:, i].astype(wide) for i in range(3)))
        return xp.stack(planes, -1).astype(images.dtype).reshape(images.shape)
    result = np.empty(pixels.shape, images.dtype)
    for start in range(0, len(pixels), _AT_ONCE):
        part = pixels[start : start + _AT_ONCE]
        planes = np.empty((3, len(part)), wide)
        planes[...] = part.T
        for i, plane in enumerate(function(*planes)):
            result[start : start + _AT_ONCE, i] = plane
    return result.reshape(images.shape)


def _hue(xp, r, g, b, spread):
    """The hue in sixths of a turn; 0 for grey.

    Channels are put in order by maximum and minimum, which is several times faster than choosing with `where`.
    """
    kind = spread.dtype.type
    upper, lower = xp.maximum(g, b), xp.minimum(g, b)
    start = kind(-6) * (g < b)
    start = start + (r < upper) * (kind(-2) - 2 * start)
    return xp.abs(start + (xp.minimum(r, upper) - lower) / _positive(xp, spread))


def _positive(xp, x):
    """What to divide by: x, or something tiny where x is not positive."""
    # NumPy is faster at clipping than at the maximum of an array and a number.
    return xp.clip(x, np.finfo(x.dtype).tiny, x.dtype.type(np.inf))


def _rgb_to_hsv(xp, images):
    _check_channels("RGBToHSV", images.shape, errors.failed_precondition)

    def convert(r, g, b):
        largest = xp.maximum(xp.maximum(r, g), b)
        spread = largest - xp.minimum(xp.minimum(r, g), b)
        saturation = (spread * (largest > 0)) / _positive(xp, largest)
        return _hue(xp, r, g, b, spread) / 6, saturation, largest

    return _by_planes(xp, images, convert)


def _divide_no_nan(x, y):
    return DIV_NO_NAN(x, y)


def _grad_rgb_to_hsv(node, dy):
    r, g, b = UNPACK(node.images, num=3, axis=-1)
    dh, ds, dv = UNPACK(dy, num=3, axis=-1)
    # TF: of equal channels the first counts as the largest, and the last as the smallest.
    red, green = (r >= g) & (r >= b), (g > r) & (g >= b)
    low_red, low_green = (r < g) & (r < b), (g <= r) & (g < b)
    largest = MAXIMUM(MAXIMUM(r, g), b)
    smallest = MINIMUM(MINIMUM(r, g), b)
    spread = largest - smallest
    difference = SELECT_V2(red, g - b, SELECT_V2(green, b - r, r - g))
    zero, one = to_tensor(0, dy.dtype), to_tensor(1, dy.dtype)
    # TF: what is not positive has no hue or saturation to change.
    per_difference = _divide_no_nan(SELECT_V2(largest > 0, dh, zero), 6 * spread)
    per_spread = -_divide_no_nan(per_difference * difference, spread)
    per_largest = dv + _divide_no_nan(_divide_no_nan(ds * smallest, largest), largest) + per_spread
    per_smallest = -_divide_no_nan(SELECT_V2(smallest > 0, ds, zero), largest) - per_spread
    signs = (
        SELECT_V2(red, zero, SELECT_V2(green, -one, one)),
        SELECT_V2(red, one, SELECT_V2(green, zero, -one)),
        SELECT_V2(red, -one, SELECT_V2(green, one, zero)),
    )
    is_largest = (red, ~red & green, ~(red | green))
    is_smallest = (low_red, low_green, ~(low_red | low_green))
    parts = [
        per_difference * sign + SELECT_V2(most, per_largest, zero) + SELECT_V2(least, per_smallest, zero)
        for sign, most, least in zip(signs, is_largest, is_smallest)
    ]
    return (PACK(parts, axis=-1),)


RGB_TO_HSV = Op(
    "RGBToHSV",
    "images: T -> output: T",
    T=dtypes.FLOATING,
    infer=_infer_channels("RGBToHSV"),
    kernel=lambda images: _rgb_to_hsv(np, images),
    lower=lambda ctx, images: _rgb_to_hsv(jnp, images),
    saves=("images",),
    grad=_grad_rgb_to_hsv,
    vectorize=on_last_axes(),
)


def _levels(xp, hue):
    """How much of the spread each channel has, for a hue in sixths of a turn."""
    zero, one = hue.dtype.type(0), hue.dtype.type(1)
    levels = (xp.abs(hue - 3) - 1, 2 - xp.abs(hue - 2), 2 - xp.abs(hue - 4))
    return [xp.clip(level, zero, one) for level in levels]


def _hsv_to_rgb(xp, images):
    _check_channels("HSVToRGB", images.shape, errors.failed_precondition)

    def convert(h, s, v):
        rest = 1 - s
        return [(rest + s * level) * v for level in _levels(xp, h * 6)]

    return _by_planes(xp, images, convert)


HSV_TO_RGB = Op(
    "HSVToRGB",
    "images: T -> output: T",
    T=dtypes.FLOATING,
    infer=_infer_channels("HSVToRGB"),
    kernel=lambda images: _hsv_to_rgb(np, images),
    lower=lambda ctx, images: _hsv_to_rgb(jnp, images),
    grad=None,  # TF: not differentiable
    vectorize=on_last_axes(),
)


def _check_adjusted(op, images, factor):
    if images.ndim < 3:
        raise errors.invalid_argument(f"{op}: images must have at least 3 dimensions, got shape {images.shape}.")
    if np.ndim(factor):
        raise errors.invalid_argument(f"{op}: the amount must be a scalar, got shape {np.shape(factor)}.")


def _adjust_hue(xp, images, delta):
    _check_adjusted("AdjustHue", images, delta)
    _check_channels("AdjustHue", images.shape)

    def turn(r, g, b):
        largest = xp.maximum(xp.maximum(r, g), b)
        smallest = xp.minimum(xp.minimum(r, g), b)
        spread = largest - smallest
        hue = _hue(xp, r, g, b, spread) + delta * np.float32(6)
        hue = hue - 6 * xp.floor(hue / 6)
        return [smallest + spread * level for level in _levels(xp, hue)]

    return _by_planes(xp, images, turn)


def _infer_adjusted(op):
    infer = _infer_channels(op)

    def adjusted(images, amount):
        if images.shape.rank is not None and images.shape.rank < 3:
            raise errors.invalid_argument(f"{op}: images must have at least 3 dimensions, got shape {images.shape}.")
        infer(images)
        return images.shape

    return adjusted


def _vectorize_adjusted(change):
    """A rule for an op that changes colours, if `change(amounts, hue, saturation, level)` changes those of HSV."""

    def rule(batch, node, images, amount):
        if not amount.stacked:
            return batch.apply(node, [images, amount])
        x, amounts = batch.stack(images), batch.with_rank(amount, batch.rank(images))
        channels = SPLIT(-1, RGB_TO_HSV(_as_type(x, dtypes.float32)), num_split=3)
        return _as_type(HSV_TO_RGB(CONCAT(change(amounts, *channels), -1)), x.dtype)

    return rule


def _other_hue(amounts, hue, saturation, level):
    return [FLOOR_MOD(hue + amounts, to_tensor(1.0)), saturation, level]


ADJUST_HUE = Op(
    "AdjustHue",
    "images: T, delta: float32 -> output: T",
    T=_WIDE,
    infer=_infer_adjusted("AdjustHue"),
    kernel=lambda images, delta: _adjust_hue(np, images, delta),
    lower=lambda ctx, images, delta: _adjust_hue(jnp, images, delta),
    grad=unregistered,
    vectorize=_vectorize_adjusted(_other_hue),
)


def _adjust_saturation(xp, images, scale):
    _check_adjusted("AdjustSaturation", images, scale)
    _check_channels("AdjustSaturation", images.shape)

    def scaled(*planes):
        r, g, b = planes
        largest = xp.maximum(xp.maximum(r, g), b)
        spread = largest - xp.minimum(xp.minimum(r, g), b)
        # The distances from the largest channel are all multiplied by new over old saturation.
        limit = largest / _positive(xp, xp.maximum(spread, largest * np.float32(1e-30)))
        factor = xp.minimum(xp.maximum(scale, np.float32(0)), limit) * (largest > 0)
        return [largest - (largest - plane) * factor for plane in planes]

    return _by_planes(xp, images, scaled)


def _other_saturation(amounts, hue, saturation, level):
    return [hue, MINIMUM(MAXIMUM(saturation * amounts, to_tensor(0.0)), to_tensor(1.0)), level]


ADJUST_SATURATION = Op(
    "AdjustSaturation",
    "images: T, scale: float32 -> output: T",
    T=_WIDE,
    infer=_infer_adjusted("AdjustSaturation"),
    kernel=lambda images, scale: _adjust_saturation(np, images, scale),
    lower=lambda ctx, images, scale: _adjust_saturation(jnp, images, scale),
    grad=unregistered,
    vectorize=_vectorize_adjusted(_other_saturation),
)


def _adjust_contrast(images, contrast_factor):
    _check_adjusted("AdjustContrastv2", images, contrast_factor)
    if not images.size:
        return images
    height, width, channels = images.shape[-3:]
    wide = images.astype(np.float32, copy=False).reshape(-1, height, width * channels)
    # Whole rows are added, since rows of three numbers would take many times as long.
    means = wide.sum(1).reshape(-1, width, channels).sum(1) / np.float32(height * width)
    lines = np.tile(means, (1, width))[:, None]
    result = np.empty_like(wide)
    at_once = max(1, 2 * _AT_ONCE // (width * channels * len(wide)))
    for start in range(0, height, at_once):
        part = result[:, start : start + at_once]
        np.subtract(wide[:, start : start + at_once], lines, out=part)
        part *= contrast_factor
        part += lines
    return result.astype(images.dtype, copy=False).reshape(images.shape)


def _lower_adjust_contrast(ctx, images, contrast_factor):
    _check_adjusted("AdjustContrastv2", images, contrast_factor)
    wide = images.astype(jnp.float32)
    means = wide.mean((-3, -2), keepdims=True)
    return ((wide - means) * contrast_factor + means).astype(images.dtype)


def _infer_contrast(images, contrast_factor):
    if images.shape.rank is not None and images.shape.rank < 3:
        raise errors.invalid_argument(
            f"AdjustContrastv2: images must have at least 3 dimensions, got shape {images.shape}."
        )
    return same_as_input(images)


def _as_type(x, dtype):
    return x if x.dtype is dtype else CAST(x, DstT=dtype)


def _vectorize_contrast(batch, node, images, factor):
    if not factor.stacked:
        return batch.apply(node, [images, factor])
    x, factors = batch.stack(images), batch.with_rank(factor, batch.rank(images))
    wide = _as_type(x, dtypes.float32)
    mean = MEAN(wide, [-3, -2], keep_dims=True)
    return _as_type((wide - mean) * factors + mean, x.dtype)


ADJUST_CONTRAST = Op(
    "AdjustContrastv2",
    "images: T, contrast_factor: float32 -> output: T",
    T=_WIDE,
    infer=_infer_contrast,
    kernel=_adjust_contrast,
    lower=_lower_adjust_contrast,
    grad=unregistered,
    vectorize=_vectorize_contrast,
)


@api("image.rgb_to_hsv")
def rgb_to_hsv(images, name=None) -> Tensor:
    """Colours as hue, saturation and value, all in [0, 1] for colours in [0, 1].

    Args:
        images: floating numbers; the last dimension is red, green, blue.
        name: a name for the operation.

    >>> tf.image.rgb_to_hsv([[0.0, 1.0, 0.0]]).numpy().round(4).tolist()
    [[0.33329999446868896, 1.0, 1.0]]
    """
    return RGB_TO_HSV(images, name=name)


@api("image.hsv_to_rgb")
def hsv_to_rgb(images, name=None) -> Tensor:
    """Colours given as hue, saturation and value, as red, green and blue.

    Args:
        images: floating numbers; the last dimension is hue, saturation, value.
        name: a name for the operation.

    >>> tf.image.hsv_to_rgb([[0.5, 1.0, 1.0]]).numpy().tolist()
    [[0.0, 1.0, 1.0]]
    """
    return HSV_TO_RGB(images, name=name)


_RGB_TO_YIQ = np.array(
    [
        [0.299, 0.59590059, 0.2115],
        [0.587, -0.27455667, -0.52273617],
        [0.114, -0.32134392, 0.31119955],
    ]
)
_YIQ_TO_RGB = np.array(
    [
        [1, 1, 1],
        [0.95598634, -0.27201283, -1.10674021],
        [0.6208248, -0.64720424, 1.70423049],
    ]
)
_RGB_TO_YUV = np.array(
    [
        [0.299, -0.14714119, 0.61497538],
        [0.587, -0.28886916, -0.51496512],
        [0.114, 0.43601035, -0.10001026],
    ]
)
_YUV_TO_RGB = np.array(
    [
        [1, 1, 1],
        [0, -0.394642334, 2.03206185],
        [1.13988303, -0.58062185, 0],
    ]
)


def _transformed(images, matrix):
    images = to_tensor(images, name="images")
    rank = images.shape.rank
    if rank is None:
        raise ValueError("image: the rank of images must be known to transform its colours.")
    if images.dtype._kind not in "fc":
        raise TypeError(f"images must be of a floating dtype, got {images.dtype.name}.")
    return einsum.tensordot(images, to_tensor(matrix, images.dtype), [[rank - 1], [0]])


@api("image.rgb_to_yiq")
def rgb_to_yiq(images) -> Tensor:
    """Colours as luma and two chrominance values of the NTSC system.

    Args:
        images: floating numbers; the last dimension is red, green, blue.

    >>> tf.image.rgb_to_yiq([[1.0, 1.0, 1.0]]).numpy().round(3).tolist()
    [[1.0, 0.0, -0.0]]
    """
    return _transformed(images, _RGB_TO_YIQ)


@api("image.yiq_to_rgb")
def yiq_to_rgb(images) -> Tensor:
    """Colours given as YIQ, as red, green and blue.

    Args:
        images: floating numbers; the last dimension is Y, I, Q.
    """
    return _transformed(images, _YIQ_TO_RGB)


@api("image.rgb_to_yuv")
def rgb_to_yuv(images) -> Tensor:
    """Colours as luma and two chrominance values of the PAL system.

    Args:
        images: floating numbers; the last dimension is red, green, blue.
    """
    return _transformed(images, _RGB_TO_YUV)


@api("image.yuv_to_rgb")
def yuv_to_rgb(images) -> Tensor:
    """Colours given as YUV, as red, green and blue.

    Args:
        images: floating numbers; the last dimension is Y, U, V.
    """
    return _transformed(images, _YUV_TO_RGB)
