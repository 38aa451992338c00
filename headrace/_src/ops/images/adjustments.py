"""Other dtypes, brightness, contrast, gamma, hue and saturation of images, also by chance."""

from __future__ import annotations

import math

from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast, saturate_cast
from headrace._src.ops.arrays.filling import FILL
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.arrays.splitting import TILE
from headrace._src.ops.images.checks import at_least_three
from headrace._src.ops.images.colors import ADJUST_CONTRAST, ADJUST_HUE, ADJUST_SATURATION
from headrace._src.ops.linalg import einsum
from headrace._src.ops.math.arithmetic import MAXIMUM, MUL
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.elementwise import RECIPROCAL, SQRT, SQUARE
from headrace._src.ops.math.reductions import MEAN, PROD
from headrace._src.ops.ragged.row_arithmetic import require
from headrace._src.ops.random import uniform_and_normal


@api("image.convert_image_dtype", ragged=1)
def convert_image_dtype(image, dtype, saturate=False, name=None) -> Tensor:
    """Images of another dtype, with their numbers scaled.

    Floating numbers of an image are in [0, 1); integers go from 0 to the largest of their dtype.

    Args:
        image: an image or several.
        dtype: the wanted dtype, floating or integer.
        saturate: clip to the range of `dtype` instead of letting numbers overflow.
        name: a name for the operation.

    Raises:
        AttributeError: `dtype` is neither floating nor integer.

    >>> tf.image.convert_image_dtype(tf.constant([0, 255], tf.uint8), tf.float32).numpy().tolist()
    [0.0, 1.0]
    >>> tf.image.convert_image_dtype([0.0, 0.5, 1.0], tf.uint8).numpy().tolist()
    [0, 127, 255]
    """
    image = to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError(f"image.convert_image_dtype: dtype must be floating or integer, got {dtype.name}.")
    source = image.dtype
    if dtype is source:
        return IDENTITY(image, name=name)
    convert = saturate_cast if saturate else cast
    if source.is_integer and dtype.is_integer:
        largest, wanted = int(source.max), int(dtype.max)
        if largest > wanted:
            step = (largest + 1) // (wanted + 1)
            return convert(image // to_tensor(step, source), dtype, name=name)
        step = (wanted + 1) // (largest + 1)
        return MUL(convert(image, dtype), to_tensor(step, dtype), name=name)
    if source.is_floating and dtype.is_floating:
        return cast(image, dtype, name=name)
    if source.is_integer:
        return MUL(cast(image, dtype), to_tensor(1.0 / int(source.max), dtype), name=name)
    # A little more than the largest integer, so that each integer has a range of equal length.
    return convert(MUL(image, to_tensor(int(dtype.max) + 0.5, source)), dtype, name=name)


def _floating(image):
    """The image as float16 or float32, and how to make one of its own dtype again."""
    source = image.dtype
    if source in (dtypes.float16, dtypes.float32):
        return image, lambda result: result
    return convert_image_dtype(image, dtypes.float32), lambda result: convert_image_dtype(result, source, saturate=True)


@api("image.adjust_brightness", ragged=1)
def adjust_brightness(image, delta) -> Tensor:
    """Images with something added to all their numbers.

    Args:
        image: an image or several, of any dtype; integers are converted to [0, 1) for that and back.
        delta: what is added, in (-1, 1).

    >>> tf.image.adjust_brightness([[[0.25, 0.5, 0.75]]], 0.25).numpy().tolist()
    [[[0.5, 0.75, 1.0]]]
    """
    image, back = _floating(to_tensor(image, name="image"))
    return back(image + cast(delta, image.dtype))


@api("image.adjust_contrast")
def adjust_contrast(images, contrast_factor) -> Tensor:
    """Images whose numbers lie further from the mean of their channel, or closer to it.

    Args:
        images: an image (height, width, channels) or several, of any dtype.
        contrast_factor: what the distances from the mean are multiplied by.

    >>> tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0).numpy().tolist()
    [[[0.0], [4.0]]]
    """
    images, back = _floating(to_tensor(images, name="images"))
    return back(ADJUST_CONTRAST(images, contrast_factor))


@api("image.adjust_gamma", ragged=1)
def adjust_gamma(image, gamma=1, gain=1) -> Tensor:
    """`gain * image ** gamma`, for numbers in [0, 1).

    Args:
        image: an image or several, of any dtype.
        gamma: the exponent, not negative.
        gain: the factor.

    Raises:
        ValueError: `gamma` is negative.

    >>> tf.image.adjust_gamma([[[0.5]]], gamma=2.0).numpy().tolist()
    [[[0.25]]]
    """
    image, back = _floating(to_tensor(image, name="image"))
    if isinstance(gamma, Tensor):
        require(gamma >= 0, "image.adjust_gamma: gamma must not be negative.")
    elif gamma < 0:
        raise ValueError(f"image.adjust_gamma: gamma must not be negative, got {gamma}.")
    return back(gain * image**gamma)


@api("image.adjust_hue")
def adjust_hue(image, delta, name=None) -> Tensor:
    """Images whose colours are turned on the colour wheel.

    Args:
        image: RGB images of any dtype.
        delta: the turn, as a part of the whole, in [-1, 1].
        name: accepted for compatibility.

    Raises:
        ValueError: `delta` is outside [-1, 1].

    >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy().tolist()
    [[[0.0, 1.0, 1.0]]]
    """
    if not isinstance(delta, Tensor) or isinstance(delta, EagerTensor):
        if delta < -1 or delta > 1:
            raise ValueError(f"image.adjust_hue: delta must be in [-1, 1], got {delta}.")
    image, back = _floating(to_tensor(image, name="image"))
    return back(ADJUST_HUE(image, delta))


@api("image.adjust_saturation")
def adjust_saturation(image, saturation_factor, name=None) -> Tensor:
    """Images whose colours are more or less vivid.

    Args:
        image: RGB images of any dtype.
        saturation_factor: what the saturation is multiplied by.
        name: accepted for compatibility.

    >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.0]]], 0.5).numpy().tolist()
    [[[1.0, 0.75, 0.5]]]
    """
    image, back = _floating(to_tensor(image, name="image"))
    return back(ADJUST_SATURATION(image, saturation_factor))


# By chance. TF: one number is drawn for a whole batch.


def _drawn(low, high, seed):
    return uniform_and_normal.uniform([], low, high, seed=seed)


def _drawn_from(low, high, seed):
    return uniform_and_normal.stateless_uniform([], seed, minval=low, maxval=high)


def _check_brightness(function, max_delta):
    if max_delta < 0:
        raise ValueError(f"image.{function}: max_delta must not be negative, got {max_delta}.")


def _check_hue(function, max_delta):
    if max_delta > 0.5:
        raise ValueError(f"image.{function}: max_delta must be <= 0.5, got {max_delta}.")
    _check_brightness(function, max_delta)


def _check_range(function, lower, upper):
    if upper <= lower:
        raise ValueError(f"image.{function}: upper must be > lower, got {lower} and {upper}.")
    if lower < 0:
        raise ValueError(f"image.{function}: lower must not be negative, got {lower}.")


@api("image.random_brightness", ragged=1)
def random_brightness(image, max_delta, seed=None) -> Tensor:
    """`tf.image.adjust_brightness` by an amount drawn from [-max_delta, max_delta).

    Args:
        image: an image or several.
        max_delta: not negative.
        seed: the op's own seed; see `tf.random.set_seed`.
    """
    _check_brightness("random_brightness", max_delta)
    return adjust_brightness(image, _drawn(-max_delta, max_delta, seed))


@api("image.stateless_random_brightness", ragged=1)
def stateless_random_brightness(image, max_delta, seed) -> Tensor:
    """`tf.image.adjust_brightness` by an amount drawn from [-max_delta, max_delta) with a seed.

    Args:
        image: an image or several.
        max_delta: not negative.
        seed: two integers; the result depends on nothing else.

    >>> tf.image.stateless_random_brightness([[[0.5]]], 0.25, (1, 2)).numpy().round(3).tolist()
    [[[0.671999990940094]]]
    """
    _check_brightness("stateless_random_brightness", max_delta)
    return adjust_brightness(image, _drawn_from(-max_delta, max_delta, seed))


@api("image.random_contrast")
def random_contrast(image, lower, upper, seed=None) -> Tensor:
    """`tf.image.adjust_contrast` by a factor drawn from [lower, upper).

    Args:
        image: an image or several.
        lower, upper: `0 <= lower < upper`.
        seed: the op's own seed; see `tf.random.set_seed`.
    """
    _check_range("random_contrast", lower, upper)
    return adjust_contrast(image, _drawn(lower, upper, seed))


@api("image.stateless_random_contrast")
def stateless_random_contrast(image, lower, upper, seed) -> Tensor:
    """`tf.image.adjust_contrast` by a factor drawn from [lower, upper) with a seed.

    Args:
        image: an image or several.
        lower, upper: `0 <= lower < upper`.
        seed: two integers; the result depends on nothing else.
    """
    _check_range("stateless_random_contrast", lower, upper)
    return adjust_contrast(image, _drawn_from(lower, upper, seed))


@api("image.random_hue")
def random_hue(image, max_delta, seed=None) -> Tensor:
    """`tf.image.adjust_hue` by an amount drawn from [-max_delta, max_delta).

    Args:
        image: RGB images.
        max_delta: in [0, 0.5].
        seed: the op's own seed; see `tf.random.set_seed`.
    """
    _check_hue("random_hue", max_delta)
    return adjust_hue(image, _drawn(-max_delta, max_delta, seed))


@api("image.stateless_random_hue")
def stateless_random_hue(image, max_delta, seed) -> Tensor:
    """`tf.image.adjust_hue` by an amount drawn from [-max_delta, max_delta) with a seed.

    Args:
        image: RGB images.
        max_delta: in [0, 0.5].
        seed: two integers; the result depends on nothing else.
    """
    _check_hue("stateless_random_hue", max_delta)
    return adjust_hue(image, _drawn_from(-max_delta, max_delta, seed))


@api("image.random_saturation")
def random_saturation(image, lower, upper, seed=None) -> Tensor:
    """`tf.image.adjust_saturation` by a factor drawn from [lower, upper).

    Args:
        image: RGB images.
        lower, upper: `0 <= lower < upper`.
        seed: the op's own seed; see `tf.random.set_seed`.
    """
    _check_range("random_saturation", lower, upper)
    return adjust_saturation(image, _drawn(lower, upper, seed))


@api("image.stateless_random_saturation")
def stateless_random_saturation(image, lower, upper, seed=None) -> Tensor:
    """`tf.image.adjust_saturation` by a factor drawn from [lower, upper) with a seed.

    Args:
        image: RGB images.
        lower, upper: `0 <= lower < upper`.
        seed: two integers; the result depends on nothing else.
    """
    _check_range("stateless_random_saturation", lower, upper)
    return adjust_saturation(image, _drawn_from(lower, upper, seed))


@api("image.per_image_standardization")
def per_image_standardization(image) -> Tensor:
    """Images of mean 0 and variance 1, each by itself.

    The standard deviation counts as at least one over the root of the number of pixels times channels, so that
    uniform images do not divide by zero.

    Args:
        image: an image (height, width, channels) or several.

    >>> tf.image.per_image_standardization([[[1.0], [3.0]]]).numpy().tolist()
    [[[-1.0], [1.0]]]
    """
    image = at_least_three("per_image_standardization", image)
    image = cast(image, dtypes.float32)
    inner = image.shape[-3:]
    if inner.is_fully_defined():
        least = to_tensor(1 / math.prod(inner.as_list()), dtypes.float32)
    else:
        count = PROD(SHAPE(image)[-3:], [0])
        least = RECIPROCAL(cast(count, dtypes.float32))
    axes = [-1, -2, -3]
    mean = MEAN(image, axes, keep_dims=True)
    centred = image - mean
    variance = MEAN(SQUARE(centred), axes, keep_dims=True)
    # The least variance is inside the root, so that uniform images have a gradient.
    return centred / SQRT(MAXIMUM(variance, least))


@api("image.rgb_to_grayscale")
def rgb_to_grayscale(images, name=None) -> Tensor:
    """The brightness of RGB images, as images of one channel.

    Args:
        images: images of any dtype; the last dimension is red, green, blue.
        name: a name for the operation.

    >>> tf.image.rgb_to_grayscale([[[1.0, 0.0, 0.0]]]).numpy().round(4).tolist()
    [[[0.29890000820159912]]]
    """
    images = to_tensor(images, name="images")
    source = images.dtype
    weights = to_tensor([0.2989, 0.5870, 0.1140], dtypes.float32)
    wide = convert_image_dtype(images, dtypes.float32)
    rank = images.shape.rank
    if rank is None:
        raise ValueError("image.rgb_to_grayscale: the rank of images must be known.")
    grey = einsum.tensordot(wide, weights, [[rank - 1], [0]])
    return convert_image_dtype(EXPAND_DIMS(grey, -1), source, name=name)


@api("image.grayscale_to_rgb")
def grayscale_to_rgb(images, name=None) -> Tensor:
    """Images of one channel as ones of three equal channels.

    Args:
        images: images whose last dimension is 1.
        name: a name for the operation.

    Raises:
        ValueError: the last dimension is not 1.

    >>> tf.image.grayscale_to_rgb([[[7]]]).numpy().tolist()
    [[[7, 7, 7]]]
    """
    images = to_tensor(images, name="images")
    rank = images.shape.rank
    if rank is not None and (rank < 2 or images.shape[-1] not in (None, 1)):
        raise ValueError(
            f"image.grayscale_to_rgb: the last dimension of images must be 1 (grayscale), got shape {images.shape}."
        )
    if rank is None:
        shape = SHAPE(images)
        require(EQUAL(shape[-1], 1), "image.grayscale_to_rgb: the last dimension of images must be 1.")
        ones = FILL(SHAPE(shape) - 1, 1)
        return TILE(images, CONCAT([ones, to_tensor([3])], 0), name=name)
    if images.shape[-1] is None:
        require(
            EQUAL(SHAPE(images)[-1], 1),
            "image.grayscale_to_rgb: the last dimension of images must be 1.",
        )
    tiled = TILE(images, [1] * (rank - 1) + [3], name=name)
    if type(tiled) is not EagerTensor:
        tiled.set_shape([*images.shape[:-1], 3])
    return tiled
