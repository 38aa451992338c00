"""`tf.image.resize` and what else gives images another size by interpolation."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.measuring import SHAPE, known_value
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, SQUEEZE
from headrace._src.ops.images.checks import sizes_of
from headrace._src.ops.images.crops import pad_to_bounding_box
from headrace._src.ops.images.resize_ops import (
    RESIZE_AREA,
    RESIZE_BICUBIC,
    RESIZE_BILINEAR,
    RESIZE_NEAREST_NEIGHBOR,
    SCALE_AND_TRANSLATE,
)
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.elementwise import FLOOR, ROUND
from headrace._src.ops.math.reductions import MAX, MIN


@api("image.ResizeMethod")
class ResizeMethod:
    """The names of the methods of `tf.image.resize`.

    >>> tf.image.ResizeMethod.BICUBIC
    'bicubic'
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_SAMPLED = {name: name for name in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")}
# TF: with antialias these two are other ops.
_SMOOTH = {**_SAMPLED, "bilinear": "triangle", "bicubic": "keyscubic"}


def _sampled(images, size, kernel, antialias):
    dims, wanted = images.shape[1:3], known_value(size)
    if wanted is not None and dims.is_fully_defined():
        scale = wanted.astype(np.float32) / np.array(dims.as_list(), np.float32)
    else:
        scale = cast(size, dtypes.float32) / cast(SHAPE(images)[1:3], dtypes.float32)
    zero = np.zeros(2, np.float32)
    return SCALE_AND_TRANSLATE(images, size, scale, zero, kernel_type=kernel, antialias=antialias)


def _resizer(method, antialias):
    """The function of images and size for a method."""
    smooth = (_SMOOTH if antialias else _SAMPLED).get(method)
    if smooth is not None:
        return lambda images, size: _sampled(images, size, smooth, antialias)
    if method == ResizeMethod.BILINEAR:
        return lambda images, size: RESIZE_BILINEAR(images, size, half_pixel_centers=True)
    if method == ResizeMethod.NEAREST_NEIGHBOR:
        return lambda images, size: RESIZE_NEAREST_NEIGHBOR(images, size, half_pixel_centers=True)
    if method == ResizeMethod.BICUBIC:
        return lambda images, size: RESIZE_BICUBIC(images, size, half_pixel_centers=True)
    if method == ResizeMethod.AREA:
        return RESIZE_AREA
    known = ", ".join(repr(value) for name, value in vars(ResizeMethod).items() if name.isupper())
    raise ValueError(f"image.resize: Resize method is not implemented: {method!r}. It must be one of {known}.")


def resize_with(function, resizer, unchanged, images, size, preserve_aspect_ratio):
    """Resize one image or a batch with a function of batches, or with `unchanged` if they have that size."""
    images = to_tensor(images, name="images")
    rank = images.shape.rank
    if rank not in (3, 4):
        if rank is None:
            raise ValueError(f"image.{function}: 'images' contains no shape: its rank must be known.")
        raise ValueError(f"image.{function}: images must have 3 or 4 dimensions, got shape {images.shape}.")
    size = _new_size(function, size)
    batch = images if rank == 4 else EXPAND_DIMS(images, 0)
    if preserve_aspect_ratio:
        size = _with_aspect_ratio(batch, size)
    wanted = known_value(size)
    if wanted is not None and batch.shape.as_list()[1:3] == wanted.tolist():
        return unchanged(images)
    resized = resizer(batch, size)
    return resized if rank == 4 else SQUEEZE(resized, squeeze_dims=[0])


def _new_size(function, size):
    try:
        size = to_tensor(size, dtypes.int32, name="size")
    except (TypeError, ValueError):
        raise ValueError(
            f"image.{function}: size must be a 1-D int32 tensor of 2 elements: new_height, new_width; got {size!r}."
        ) from None
    if not size.shape.is_compatible_with((2,)):
        raise ValueError(
            f"image.{function}: size must be a 1-D tensor of 2 elements: new_height, new_width; got shape {size.shape}."
        )
    return size


def _with_aspect_ratio(batch, size):
    """The largest size of the same proportions within `size`."""
    dims, wanted = batch.shape[1:3], known_value(size)
    if wanted is not None and dims.is_fully_defined():
        old = np.array(dims.as_list(), np.float32)
        scale = (wanted.astype(np.float32) / old).min()
        return to_tensor(np.rint(scale * old).astype(np.int32))
    old = cast(SHAPE(batch)[1:3], dtypes.float32)
    scale = MIN(cast(size, dtypes.float32) / old, [0])
    return cast(ROUND(scale * old), dtypes.int32)


@api("image.resize", scope="resize")
def resize(
    images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False, name=None
) -> Tensor:
    """Images of another height and width.

    The result is float32, whatever dtype the images have, except with "nearest".

    Args:
        images: a batch (batch, height, width, channels) or one image (height, width, channels).
        size: the new height and width.
        method: one of `tf.image.ResizeMethod`: "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5",
            "gaussian" or "mitchellcubic".
        preserve_aspect_ratio: keep the proportions; `size` is then the largest that the result may have.
        antialias: average over all pixels that fall together when an image is made smaller.
        name: accepted for compatibility.

    Raises:
        ValueError: the rank of `images` or `size` is wrong, or there is no such method.
        InvalidArgumentError: a size is not positive.

    >>> tf.image.resize([[[0.0], [4.0]], [[4.0], [8.0]]], (1, 2)).numpy()[..., 0].tolist()
    [[2.0, 6.0]]
    """
    resizer = _resizer(method, antialias)

    def unchanged(images):
        return images if method == ResizeMethod.NEAREST_NEIGHBOR else cast(images, dtypes.float32)

    return resize_with("resize", resizer, unchanged, images, size, preserve_aspect_ratio)


def fitted(function, image, target_height, target_width, resizer):
    """The image resized to fit into a frame, in the middle of it, with zeros around."""
    image = to_tensor(image, name="image")
    rank = image.shape.rank
    if rank not in (3, 4):
        raise ValueError(f"image.{function}: image must have 3 or 4 dimensions, got shape {image.shape}.")
    batch = image if rank == 4 else EXPAND_DIMS(image, 0)
    for what, number in (("target_height", target_height), ("target_width", target_width)):
        if isinstance(number, (int, np.integer)) and number <= 0:
            raise ValueError(f"image.{function}: {what} must be > 0, got {number}.")
    height, width = sizes_of(batch)[1:3]
    known = all(isinstance(n, (int, np.integer)) for n in (height, width, target_height, target_width))
    old, frame = (_vector(pair, known) for pair in ((height, width), (target_height, target_width)))
    if known:
        ratio = (old / frame).max()
        new = old / ratio
        size = np.floor(new).astype(np.int32)
        offset = np.maximum(np.floor((frame - new) / np.float32(2)).astype(np.int32), 0).tolist()
    else:
        ratio = MAX(old / frame, [0])
        new = old / ratio
        size = cast(FLOOR(new), dtypes.int32)
        offset = MAXIMUM(cast(FLOOR((frame - new) / 2.0), dtypes.int32), 0)
    resized = resizer(batch, size)
    padded = pad_to_bounding_box(resized, offset[0], offset[1], target_height, target_width)
    return padded if rank == 4 else SQUEEZE(padded, squeeze_dims=[0])


def _vector(pair, known):
    if known:
        return np.array(pair, np.float32)
    return cast(PACK([to_tensor(n, dtypes.int32) for n in pair]), dtypes.float32)


@api("image.resize_with_pad")
def resize_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False) -> Tensor:
    """Images resized without distortion to fit into a frame, with zeros around them.

    Args:
        image: a batch (batch, height, width, channels) or one image.
        target_height, target_width: the frame.
        method: see `tf.image.resize`.
        antialias: see `tf.image.resize`.

    Raises:
        ValueError: a target is not positive.

    >>> tf.image.resize_with_pad(tf.ones((2, 4, 1)), 4, 4).numpy()[..., 0].tolist()
    [[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]
    """

    def resizer(batch, size):
        return resize(batch, size, method=method, antialias=antialias)

    return fitted("resize_with_pad", image, target_height, target_width, resizer)
