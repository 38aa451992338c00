"""Images seen through projective transforms, as random rotations and shears need them: ImageProjectiveTransform."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.op.batching import NoRule, unstacked
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.filling import ONES_LIKE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.images.checks import check_images, checked_size, four_dims, infer_size
from headrace._src.ops.linalg.solving import MATRIX_INVERSE

f32 = np.float32
_TYPES = frozenset(
    {
        dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64,
    }
)  # fmt: skip


def _reflected(xp, x, n):
    """... 2 1 0 | 0 1 2 ... n-1 | n-1 n-2 ..."""
    if n <= 1:
        return xp.zeros_like(x)
    period = f32(2 * n)
    low = xp.where(x < -period, x + period * xp.trunc(-x / period), x)
    low = xp.where(low < -n, low + period, -low - f32(1))
    high = x - period * xp.trunc(x / period)
    high = xp.where(high >= n, period - high - f32(1), high)
    return _clamped(xp, xp.where(x < 0, low, xp.where(x > n - 1, high, x)), n)


def _wrapped(xp, x, n):
    """... n-2 n-1 | 0 1 ... n-1 | 0 1 ..."""
    if n <= 1:
        return xp.zeros_like(x)
    low = x + f32(n) * (xp.trunc(-x / f32(n - 1)) + f32(1))
    high = x - f32(n) * xp.trunc(x / f32(n - 1))
    return _clamped(xp, xp.where(x < 0, low, xp.where(x > n - 1, high, x)), n)


def _clamped(xp, x, n):
    return xp.clip(x, f32(0), f32(n - 1))


_FILLS = {"REFLECT": _reflected, "WRAP": _wrapped, "NEAREST": _clamped, "CONSTANT": lambda xp, x, n: x}


def _checked(op, images, transforms, output_shape, interpolation, fill_mode, fill_value):
    check_images(op, "images", images.shape)
    if transforms.ndim != 2 or transforms.shape[0] not in (1, images.shape[0]) or transforms.shape[1] != 8:
        raise errors.invalid_argument(
            f"{op}: transforms must have shape (1 or {images.shape[0]}, 8), got shape {tuple(transforms.shape)}."
        )
    if str(interpolation).upper() not in ("NEAREST", "BILINEAR"):
        raise errors.invalid_argument(f"{op}: interpolation must be NEAREST or BILINEAR, got {interpolation!r}.")
    if str(fill_mode).upper() not in _FILLS:
        raise errors.invalid_argument(f"{op}: fill_mode must be one of {', '.join(_FILLS)}, got {fill_mode!r}.")
    if np.ndim(fill_value):
        raise errors.invalid_argument(f"{op}: fill_value must be a scalar, got shape {np.shape(fill_value)}.")
    return checked_size(op, "output_shape", output_shape)


def _transformed(xp, op, images, transforms, output_shape, fill_value, interpolation, fill_mode):
    rows, columns = _checked(op, images, transforms, output_shape, interpolation, fill_mode, fill_value)
    batch, height, width, channels = images.shape
    y, x = np.arange(rows, dtype=f32)[:, None], np.arange(columns, dtype=f32)
    a = [transforms[:, i, None, None] for i in range(8)]
    scale = a[6] * x + a[7] * y + f32(1)
    visible = scale != 0
    scale = xp.where(visible, scale, f32(1))
    fill = _FILLS[str(fill_mode).upper()]
    shape = (batch, rows, columns)
    in_x = xp.broadcast_to(fill(xp, (a[0] * x + a[1] * y + a[2]) / scale, width), shape)
    in_y = xp.broadcast_to(fill(xp, (a[3] * x + a[4] * y + a[5]) / scale, height), shape)
    wide = f32 if images.dtype.itemsize <= 2 else np.float64 if images.dtype.kind == "i" else images.dtype
    pixels = images.reshape(batch * height * width, channels)
    first = np.arange(batch)[:, None, None] * (height * width)
    background = xp.asarray(fill_value).astype(wide)

    def read(row, column):
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        row, column = (
            xp.where(inside, part, f32(0)).astype(np.int64) for part in (row, column)
        )
        found = xp.take(pixels, first + row * width + column, 0, mode="clip").astype(wide)
        return xp.where(inside[..., None], found, background)

    if str(interpolation).upper() == "NEAREST":
        # Halves are rounded away from zero.
        near_y, near_x = (xp.where(v < 0, -xp.floor(f32(0.5) - v), xp.floor(v + f32(0.5))) for v in (in_y, in_x))
        result = read(near_y, near_x)
    else:
        top, left = xp.floor(in_y), xp.floor(in_x)
        across, down = ((v - low)[..., None].astype(wide) for v, low in ((in_x, left), (in_y, top)))
        over = (1 - across) * read(top, left) + across * read(top, left + f32(1))
        under = (1 - across) * read(top + f32(1), left) + across * read(top + f32(1), left + f32(1))
        result = (1 - down) * over + down * under
    return xp.where(xp.broadcast_to(visible, shape)[..., None], result, background).astype(images.dtype)


def _infer(op):
    def infer(images, transforms, output_shape, *fill_value, **attrs):
        batch, _, _, channels = four_dims(op, "images", images)
        return TensorShape([batch, *infer_size(op, "output_shape", output_shape), channels])

    return infer


def _inverse(transforms):
    """The transforms of the opposite direction."""
    ones = ONES_LIKE(transforms[:, :1])
    matrices = RESHAPE(CONCAT([transforms, ones], 1), [-1, 3, 3])
    flat = RESHAPE(MATRIX_INVERSE(matrices), [-1, 9])
    return (flat / flat[:, 8:9])[:, :8]


def _grad(node, dy):
    shape = node.images_shape
    size = np.array(shape[1:3], np.int32) if isinstance(shape, tuple) else shape[1:3]
    back = _inverse(node.transforms)
    if node.op is IMAGE_PROJECTIVE_TRANSFORM_V2:
        return IMAGE_PROJECTIVE_TRANSFORM_V2(dy, back, size, **node.attrs), None, None
    return IMAGE_PROJECTIVE_TRANSFORM_V3(dy, back, size, f32(0), **node.attrs), None, None, None


_ATTRIBUTES = "interpolation: string, fill_mode: string = 'CONSTANT' -> transformed_images: dtype"


def _vectorize_projection(batch, node, images, transforms, *parameters):
    flat, count = batch.merged(images)
    if transforms.stacked:
        shapes = [batch.shape_of_element(transforms), batch.shape_of_element(images)]
        if not all(isinstance(shape, list) for shape in shapes) or shapes[0][0] != shapes[1][0]:
            raise NoRule("the number of its transforms is not that of its images")
        transforms = batch.merged(transforms)[0]
    elif transforms.tensor.shape[0] != 1:
        transforms = batch.merged(transforms)[0]
    (result,) = batch.apply(node, [flat, transforms, *(unstacked(value, "shape") for value in parameters)])
    return batch.parted(result, count)


IMAGE_PROJECTIVE_TRANSFORM_V2 = Op(
    "ImageProjectiveTransformV2",
    f"images: dtype, transforms: float32, output_shape: int32, *, {_ATTRIBUTES}",
    dtype=_TYPES,
    infer=_infer("ImageProjectiveTransformV2"),
    kernel=lambda *inputs, **attrs: _transformed(np, "ImageProjectiveTransformV2", *inputs, f32(0), **attrs),
    lower=lambda ctx, *inputs, **attrs: _transformed(jnp, "ImageProjectiveTransformV2", *inputs, f32(0), **attrs),
    static=("output_shape",),
    saves=("images_shape", "transforms"),
    grad=_grad,
    vectorize=_vectorize_projection,
)

IMAGE_PROJECTIVE_TRANSFORM_V3 = Op(
    "ImageProjectiveTransformV3",
    f"images: dtype, transforms: float32, output_shape: int32, fill_value: float32, *, {_ATTRIBUTES}",
    dtype=_TYPES,
    infer=_infer("ImageProjectiveTransformV3"),
    kernel=lambda *inputs, **attrs: _transformed(np, "ImageProjectiveTransformV3", *inputs, **attrs),
    lower=lambda ctx, *inputs, **attrs: _transformed(jnp, "ImageProjectiveTransformV3", *inputs, **attrs),
    static=("output_shape",),
    saves=("images_shape", "transforms"),
    grad=_grad,
    vectorize=_vectorize_projection,
)
