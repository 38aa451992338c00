"""Checks that functions and ops on images share."""

from __future__ import annotations

from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import RANK, SHAPE
from headrace._src.ops.math.reductions import ALL
from headrace._src.ops.ragged.row_arithmetic import require


def image_of(function: str, image, *ranks: int):
    """The image as a tensor, of one of these ranks (or of unknown rank), without empty inner dimensions.

    Raises:
        ValueError: another rank, or an empty inner dimension.
    """
    image = to_tensor(image, name="image")
    rank = image.shape.rank
    if rank is not None and rank not in ranks:
        allowed = " or ".join(str(n) for n in ranks)
        raise ValueError(f"image.{function}: image must have {allowed} dimensions, got shape {image.shape}.")
    check_not_empty(function, image)
    return image


def at_least_three(function: str, image, name="image"):
    """The image as a tensor of three or more dimensions (or of unknown rank)."""
    image = to_tensor(image, name=name)
    rank = image.shape.rank
    if rank is not None and rank < 3:
        raise ValueError(f"image.{function}: {name} must have at least 3 dimensions, got shape {image.shape}.")
    if rank is None:
        require(RANK(image) >= 3, f"image.{function}: {name} must have at least 3 dimensions.")
    check_not_empty(function, image)
    return image


def check_not_empty(function, image):
    """TF: rows, columns and channels must not be zero."""
    shape = image.shape
    inner = shape[-3:] if shape.rank is not None else shape
    message = f"image.{function}: the last three dimensions of image must be greater than 0"
    if shape.rank is not None and any(n == 0 for n in inner.as_list()):
        raise ValueError(f"{message}, got shape {shape}.")
    if not inner.is_fully_defined():
        require(ALL(SHAPE(image)[-3:] > 0, [0]), f"{message}.")


def sizes_of(image) -> list:
    """Each dimension as an int where it is known, otherwise as a scalar tensor."""
    dims = image.shape.as_list()
    if None not in dims:
        return dims
    shape = SHAPE(image)
    return [shape[i] if n is None else n for i, n in enumerate(dims)]


def four_dims(op: str, argument: str, spec) -> list:
    """The dimensions of an input that must have four."""
    if spec.shape.rank is None:
        return [None] * 4
    if spec.shape.rank != 4:
        raise errors.invalid_argument(f"{op}: {argument} must have 4 dimensions, got shape {spec.shape}.")
    return spec.shape.as_list()


def infer_resized(op: str, images, size) -> TensorShape:
    """The shape of a batch of images with a new height and width."""
    batch, _, _, channels = four_dims(op, "images", images)
    return TensorShape([batch, *infer_size(op, "size", size), channels])


def infer_size(op, argument, size) -> list:
    if size.shape.rank is not None and not size.shape.is_compatible_with((2,)):
        raise errors.invalid_argument(f"{op}: {argument} must have shape (2,), got shape {size.shape}.")
    if size.value is None:
        return list(size.partial) if isinstance(size.partial, list) else [None, None]
    return [int(n) if n > 0 else None for n in size.value]


def checked_size(op: str, argument: str, size) -> tuple[int, int]:
    """Height and width from a vector."""
    if size.shape != (2,):
        raise errors.invalid_argument(f"{op}: {argument} must be a vector of 2 numbers, got shape {size.shape}.")
    height, width = (int(n) for n in size)
    if height <= 0 or width <= 0:
        raise errors.invalid_argument(f"{op}: {argument} must be positive, got ({height}, {width}).")
    return height, width


def check_images(op: str, argument: str, shape) -> None:
    if len(shape) != 4:
        raise errors.invalid_argument(f"{op}: {argument} must have 4 dimensions, got shape {tuple(shape)}.")
    if 0 in shape[1:3]:
        raise errors.invalid_argument(f"{op}: {argument} must have pixels, got shape {tuple(shape)}.")
