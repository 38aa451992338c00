"""Cutting images out of larger ones, and putting them into larger ones."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.infer import whole
from headrace._src.ops.arrays.box_slices import SLICE
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.filling import FILL
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import SHAPE, get_static_value
from headrace._src.ops.arrays.padding import PAD
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE
from headrace._src.ops.debugging import assertions
from headrace._src.ops.images.checks import check_not_empty, image_of, sizes_of
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM


def _number(value):
    """An int where the value is known, otherwise a scalar tensor."""
    if isinstance(value, Tensor):
        known = get_static_value(value)
        if known is None:
            return cast(value, dtypes.int32)
        value = known
    if isinstance(value, (float, np.floating)) and value == np.floor(value):
        return int(value)
    return whole(value, "sizes and offsets")


def _require(condition, function, message):
    """ValueError when a known condition does not hold; a symbolic one is checked when the graph runs."""
    if isinstance(condition, Tensor) and not isinstance(condition, EagerTensor):
        assertions.Assert(condition, [f"image.{function}: {message}"])
    elif not condition:
        raise ValueError(f"image.{function}: {message}")


def _batched(function, image):
    """A batch, and whether one image was given."""
    image = to_tensor(image, name="image")
    rank = image.shape.rank
    if rank is None:
        known = False
        image = RESHAPE(image, _four_dims(image))
        # TF: what has no known rank comes back as a batch.
        return image, known
    image_of(function, image, 3, 4)
    return (image, False) if rank == 4 else (EXPAND_DIMS(image, 0), True)


def _four_dims(image):
    shape = SHAPE(image)
    return CONCAT([FILL(4 - SHAPE(shape), 1), shape], 0)


def _pack(numbers):
    if all(isinstance(n, int) for n in numbers):
        return np.array(numbers, np.int32)
    return PACK([to_tensor(n, dtypes.int32) for n in numbers])


def _maximum(x, y):
    return max(x, y) if isinstance(x, int) and isinstance(y, int) else MAXIMUM(x, y)


def _minimum(x, y):
    if isinstance(x, int) and isinstance(y, int):
        return min(x, y)
    return MINIMUM(to_tensor(x, dtypes.int32), to_tensor(y, dtypes.int32))


@api("image.crop_to_bounding_box")
def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width) -> Tensor:
    """A part of each image.

    Args:
        image: a batch (batch, height, width, channels) or one image.
        offset_height, offset_width: where the part begins.
        target_height, target_width: how large it is.

    Raises:
        ValueError: the part does not lie within the image.

    >>> tf.image.crop_to_bounding_box([[[1], [2], [3]]], 0, 1, 1, 2).numpy().tolist()
    [[[2], [3]]]
    """
    name = "crop_to_bounding_box"
    batch, single = _batched(name, image)
    numbers = offset_height, offset_width, target_height, target_width = [
        _number(n) for n in (offset_height, offset_width, target_height, target_width)
    ]
    _, height, width, _ = sizes_of(batch)
    for what, number in zip(("offset_height", "offset_width"), numbers):
        _require(number >= 0, name, f"{what} must be >= 0, got {number}.")
    for what, number in zip(("target_height", "target_width"), numbers[2:]):
        _require(number > 0, name, f"{what} must be > 0, got {number}.")
    for what, size, part, offset in (
        ("height", height, target_height, offset_height),
        ("width", width, target_width, offset_width),
    ):
        _require(size >= part + offset, name, f"{what} must be >= target + offset, {part} + {offset}, got {size}.")
    part = SLICE(
        batch, _pack([0, offset_height, offset_width, 0]), _pack([-1, target_height, target_width, -1])
    )
    return SQUEEZE(part, squeeze_dims=[0]) if single else part


@api("image.pad_to_bounding_box")
def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width) -> Tensor:
    """Images with zeros around them.

    Args:
        image: a batch (batch, height, width, channels) or one image.
        offset_height, offset_width: how many rows and columns of zeros stand before it.
        target_height, target_width: the size of the result.

    Raises:
        ValueError: the image does not fit.

    >>> tf.image.pad_to_bounding_box([[[5]]], 0, 1, 1, 3).numpy().tolist()
    [[[0], [5], [0]]]
    """
    name = "pad_to_bounding_box"
    batch, single = _batched(name, image)
    numbers = offset_height, offset_width, target_height, target_width = [
        _number(n) for n in (offset_height, offset_width, target_height, target_width)
    ]
    _, height, width, _ = sizes_of(batch)
    after_height = target_height - offset_height - height
    after_width = target_width - offset_width - width
    for what, number in zip(("offset_height", "offset_width"), numbers):
        _require(number >= 0, name, f"{what} must be >= 0, got {number}.")
    for what, after, target, offset, size in (
        ("height", after_height, target_height, offset_height, height),
        ("width", after_width, target_width, offset_width, width),
    ):
        _require(after >= 0, name, f"{what} must be <= target - offset, {target} - {offset}, got {size}.")
    pads = _pack([0, 0, offset_height, after_height, offset_width, after_width, 0, 0]).reshape(4, 2) if all(
        isinstance(n, int) for n in (*numbers, height, width)
    ) else RESHAPE(_pack([0, 0, offset_height, after_height, offset_width, after_width, 0, 0]), [4, 2])
    padded = PAD(batch, pads)
    if not isinstance(padded, EagerTensor):
        padded.set_shape([batch.shape[0], _known(target_height), _known(target_width), batch.shape[3]])
    return SQUEEZE(padded, squeeze_dims=[0]) if single else padded


def _known(number):
    return number if isinstance(number, int) else None


@api("image.resize_with_crop_or_pad")
def resize_with_crop_or_pad(image, target_height, target_width) -> Tensor:
    """Images of another size, cut off or with zeros around them, evenly on both sides.

    Args:
        image: a batch (batch, height, width, channels) or one image.
        target_height, target_width: the size of the result.

    Raises:
        ValueError: a target is not positive.

    >>> tf.image.resize_with_crop_or_pad([[[1], [2], [3]]], 3, 1).numpy().tolist()
    [[[0]], [[2]], [[0]]]
    """
    name = "resize_with_crop_or_pad"
    batch, single = _batched(name, image)
    target_height, target_width = _number(target_height), _number(target_width)
    for what, number in (("target_height", target_height), ("target_width", target_width)):
        _require(number > 0, name, f"{what} must be > 0, got {number}.")
    _, height, width, _ = sizes_of(batch)
    more_height, more_width = target_height - height, target_width - width
    part = crop_to_bounding_box(
        batch,
        _maximum(-more_height // 2, 0),
        _maximum(-more_width // 2, 0),
        _minimum(target_height, height),
        _minimum(target_width, width),
    )
    result = pad_to_bounding_box(
        part, _maximum(more_height // 2, 0), _maximum(more_width // 2, 0), target_height, target_width
    )
    return SQUEEZE(result, squeeze_dims=[0]) if single else result


@api("image.central_crop")
def central_crop(image, central_fraction) -> Tensor:
    """The middle of each image.

    Args:
        image: a batch (batch, height, width, channels) or one image.
        central_fraction: how much of height and width to keep, in (0, 1].

    Raises:
        ValueError: the fraction is not in (0, 1], or the rank is not 3 or 4.

    >>> tf.image.central_crop(tf.reshape(tf.range(16), (4, 4, 1)), 0.5).numpy()[..., 0].tolist()
    [[5, 6], [9, 10]]
    """
    image = to_tensor(image, name="image")
    fraction = central_fraction
    if isinstance(fraction, Tensor):
        known = get_static_value(fraction)
        fraction = fraction if known is None else float(known)
    if not isinstance(fraction, Tensor):
        if not 0 < fraction <= 1:
            raise ValueError(f"image.central_crop: central_fraction must be in (0, 1], got {fraction}.")
        if fraction == 1:
            return image
    else:
        inside = (fraction > 0) & (fraction <= 1)
        _require(inside, "central_crop", "central_fraction must be in (0, 1].")
    rank = image.shape.rank
    if rank not in (3, 4):
        raise ValueError(f"image.central_crop: image must have 3 or 4 dimensions, got shape {image.shape}.")
    check_not_empty("central_crop", image)
    sizes = sizes_of(image)[rank - 3 : rank - 1]
    begin = [_margin(size, fraction) for size in sizes]
    size = [n - 2 * start for n, start in zip(sizes, begin)]
    front, everything = [0] * (rank - 3), [-1] * (rank - 3)
    return SLICE(image, _pack([*front, *begin, 0]), _pack([*everything, *size, -1]))


def _margin(size, fraction):
    if isinstance(size, int) and not isinstance(fraction, Tensor):
        return int((size - size * fraction) / 2)
    size = cast(to_tensor(size), dtypes.float64)
    fraction = cast(to_tensor(fraction), dtypes.float64)
    return cast((size - size * fraction) / 2.0, dtypes.int32)
