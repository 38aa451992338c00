"""Cutting boxes out of images and resizing them to one size: CropAndResize and its gradients."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.images.checks import check_images, checked_size, four_dims, infer_size

_FLOATS = frozenset({dtypes.float16, dtypes.float32, dtypes.float64})
_TYPES = _FLOATS | {dtypes.uint8, dtypes.uint16, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64}
f32 = np.float32


def _check(op, boxes, box_ind, batch, method):
    if method not in ("bilinear", "nearest"):
        raise errors.invalid_argument(f"{op}: method must be 'bilinear' or 'nearest', got {method!r}.")
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise errors.invalid_argument(f"{op}: boxes must have shape (number, 4), got shape {tuple(boxes.shape)}.")
    if box_ind.ndim != 1 or box_ind.shape[0] != boxes.shape[0]:
        raise errors.invalid_argument(
            f"{op}: box_ind must have one number for each of {boxes.shape[0]} boxes, got shape {tuple(box_ind.shape)}."
        )


def _check_indices(op, box_ind, batch):
    if len(box_ind) and not ((box_ind >= 0) & (box_ind < batch)).all():
        raise errors.out_of_range(f"{op}: box_ind must be in [0, {batch}), got {box_ind.tolist()}.")


def _places(xp, low, high, size, count):
    """Where the rows (or columns) of the crops lie in the image, [boxes, count]."""
    span = f32(size - 1)
    if count > 1:
        step = (high - low) * span / f32(count - 1)
        return low[:, None] * span + xp.arange(count).astype(np.float32) * step[:, None]
    return (f32(0.5) * (low + high) * span)[:, None]


class _Samples:
    """For the pixels of all crops: the pixels of the images around them, and how far between these they lie."""

    def __init__(self, xp, boxes, box_ind, shape, crop, nearest):
        self.xp = xp
        _, self.height, self.width, self.channels = shape
        y = _places(xp, boxes[:, 0], boxes[:, 2], self.height, crop[0])
        x = _places(xp, boxes[:, 1], boxes[:, 3], self.width, crop[1])
        self.inside = ((y >= 0) & (y <= self.height - 1))[:, :, None] & ((x >= 0) & (x <= self.width - 1))[:, None, :]
        self.first = box_ind.astype(np.int64)[:, None, None] * (self.height * self.width)
        if nearest:
            y, x = (xp.where(v < 0, v, xp.floor(v + f32(0.5))) for v in (y, x))
        self.y, self.x = y, x

    def _clipped(self, values, size):
        xp = self.xp
        return xp.clip(xp.where(xp.isfinite(values), values, f32(0)), 0, size - 1).astype(np.int64)

    def indices(self, rounding_y, rounding_x):
        """Numbers of pixels, [boxes, rows, columns]."""
        y = self._clipped(rounding_y(self.y), self.height)
        x = self._clipped(rounding_x(self.x), self.width)
        return self.first + y[:, :, None] * self.width + x[:, None, :]

    def taken(self, pixels, rounding_y, rounding_x):
        """Pixels as float32."""
        found = self.xp.take(pixels, self.indices(rounding_y, rounding_x), 0, mode="clip")
        return found if found.dtype == f32 else found.astype(np.float32)

    @property
    def down(self):
        return (self.y - self.xp.floor(self.y))[:, :, None]

    @property
    def across(self):
        return (self.x - self.xp.floor(self.x))[:, None, :]


def _between(first, second, part):
    """`first + (second - first) * part`, in the place of `second`."""
    second -= first
    second *= part
    second += first
    return second


def _crop(xp, image, boxes, box_ind, crop_size, method, extrapolation_value):
    op = "CropAndResize"
    check_images(op, "image", image.shape)
    _check(op, boxes, box_ind, image.shape[0], method)
    crop = checked_size(op, "crop_size", crop_size)
    channels = image.shape[3]
    samples = _Samples(xp, boxes, box_ind, image.shape, crop, method == "nearest")
    pixels = image.reshape(-1, channels)

    flat = (boxes.shape[0], crop[0], crop[1] * channels)

    def pixels_at(rounding_y, rounding_x):
        # Rows of numbers rather than of pixels, since NumPy is slow at short last axes.
        return samples.taken(pixels, rounding_y, rounding_x).reshape(flat)

    floor, ceil = xp.floor, xp.ceil
    if method == "nearest":
        result = pixels_at(floor, floor)
    else:
        across, down = xp.repeat(samples.across, channels, 2), samples.down
        top = _between(pixels_at(floor, floor), pixels_at(floor, ceil), across)
        bottom = _between(pixels_at(ceil, floor), pixels_at(ceil, ceil), across)
        result = _between(top, bottom, down)
    result = result.reshape(flat[0], *crop, channels)
    if xp is np and samples.inside.all():
        return result
    return xp.where(samples.inside[..., None], result, f32(extrapolation_value))


def _crop_kernel(image, boxes, box_ind, crop_size, method, extrapolation_value):
    if image.ndim == 4 and box_ind.ndim == 1:
        _check_indices("CropAndResize", box_ind, image.shape[0])
    return _crop(np, image, boxes, box_ind, crop_size, method, extrapolation_value)


def _lowered_indices(ctx, op, box_ind, batch):
    ok = jnp.all((box_ind >= 0) & (box_ind < batch))
    ctx.check(ok, errors.OutOfRangeError, f"{op}: box_ind must be in [0, {batch}).")
    return jnp.clip(box_ind, 0, batch - 1)


def _lower_crop(ctx, image, boxes, box_ind, crop_size, method, extrapolation_value):
    box_ind = _lowered_indices(ctx, "CropAndResize", box_ind, image.shape[0])
    return _crop(jnp, image, boxes, box_ind, crop_size, method, extrapolation_value)


def _infer_crop(image, boxes, box_ind, crop_size, **attrs):
    op = "CropAndResize"
    channels = four_dims(op, "image", image)[3]
    if not boxes.shape.is_compatible_with((None, 4)):
        raise errors.invalid_argument(f"{op}: boxes must have shape (number, 4), got shape {boxes.shape}.")
    if box_ind.shape.rank not in (None, 1):
        raise errors.invalid_argument(f"{op}: box_ind must be a vector, got shape {box_ind.shape}.")
    count = None if boxes.shape.rank is None else boxes.shape[0]
    if count is None and box_ind.shape.rank is not None:
        count = box_ind.shape[0]
    return TensorShape([count, *infer_size(op, "crop_size", crop_size), channels])


def _grad_crop(node, dy):
    image, boxes, indices = node.image, node.boxes, node.box_ind
    method = node.attrs["method"]
    d_image = None
    if image.dtype in _FLOATS and node.wants(0):
        d_image = CROP_AND_RESIZE_GRAD_IMAGE(
            dy, boxes, indices, SHAPE(image), method=method, T=image.dtype
        )
    # TF: the boxes' gradient is that of the bilinear method in any case.
    d_boxes = CROP_AND_RESIZE_GRAD_BOXES(dy, image, boxes, indices, method="bilinear") if node.wants(1) else None
    return d_image, d_boxes, None, None


def _box_numbers(batch, indices, count):
    """Numbers of images in the merged batch, for those in the batch of each element, which has so many."""
    offsets = EXPAND_DIMS(batch.numbers() * to_tensor(count, dtypes.int32), 1)
    return RESHAPE(batch.stack(indices) + offsets, [-1])


def _vectorize_crop(batch, node, image, boxes, indices, size):
    corners, count = batch.merged(boxes)
    if image.stacked:
        images, numbers = batch.merged(image)[0], _box_numbers(batch, indices, batch.shape_of_element(image)[0])
    else:  # all elements cut from the same images
        images, numbers = image, RESHAPE(batch.stack(indices), [-1])
    (result,) = batch.apply(node, [images, corners, numbers, unstacked(size, "size")])
    return batch.parted(result, count)


CROP_AND_RESIZE = Op(
    "CropAndResize",
    "image: T, boxes: float32, box_ind: int32, crop_size: int32, *, method: string = 'bilinear', "
    "extrapolation_value: float = 0.0 -> crops: float32",
    T=_TYPES,
    infer=_infer_crop,
    kernel=_crop_kernel,
    lower=_lower_crop,
    static=("crop_size",),
    saves=("image", "boxes", "box_ind"),
    grad=_grad_crop,
    vectorize=_vectorize_crop,
)


def _image_shares(xp, grads, boxes, box_ind, shape, method):
    """What each pixel of the images gets: indices of pixels and gradients, in parts."""
    samples = _Samples(xp, boxes, box_ind, shape, grads.shape[1:3], method == "nearest")
    grads = xp.where(samples.inside[..., None], grads, f32(0))
    floor, ceil = xp.floor, xp.ceil
    if method == "nearest":
        return [(samples.indices(floor, floor), grads)]
    across, down = samples.across[..., None], samples.down[..., None]
    top, bottom = (1 - down) * grads, down * grads
    return [
        (samples.indices(floor, floor), (1 - across) * top),
        (samples.indices(floor, ceil), across * top),
        (samples.indices(ceil, floor), (1 - across) * bottom),
        (samples.indices(ceil, ceil), across * bottom),
    ]


def _checked_image_shape(grads, boxes, box_ind, image_size, method):
    op = "CropAndResizeGradImage"
    if image_size.shape != (4,):
        raise errors.invalid_argument(f"{op}: image_size must have shape (4,), got shape {image_size.shape}.")
    shape = tuple(int(n) for n in image_size)
    if min(shape) <= 0:
        raise errors.invalid_argument(f"{op}: image_size must be positive, got {shape}.")
    check_images(op, "grads", grads.shape)
    _check(op, boxes, box_ind, shape[0], method)
    if grads.shape[0] != boxes.shape[0] or grads.shape[3] != shape[3]:
        raise errors.invalid_argument(
            f"{op}: grads of shape {tuple(grads.shape)} do not fit {boxes.shape[0]} boxes and image_size {shape}."
        )
    return shape


def _image_gradient(grads, boxes, box_ind, image_size, T, method):
    shape = _checked_image_shape(grads, boxes, box_ind, image_size, method)
    _check_indices("CropAndResizeGradImage", box_ind, shape[0])
    channels = shape[3]
    count = shape[0] * shape[1] * shape[2] * channels
    total = np.zeros(count)
    for index, values in _image_shares(np, grads, boxes, box_ind, shape, method):
        numbers = index[..., None] * channels + np.arange(channels)
        total += np.bincount(numbers.ravel(), values.ravel(), count)
    return total.astype(T._np).reshape(shape)


def _lower_image_gradient(ctx, grads, boxes, box_ind, image_size, T, method):
    shape = _checked_image_shape(grads, boxes, box_ind, image_size, method)
    box_ind = _lowered_indices(ctx, "CropAndResizeGradImage", box_ind, shape[0])
    total = jnp.zeros((shape[0] * shape[1] * shape[2], shape[3]), jnp.float32)
    for index, values in _image_shares(jnp, grads, boxes, box_ind, shape, method):
        total = total.at[index].add(values)
    return total.astype(T._np).reshape(shape)


def _infer_image_gradient(grads, boxes, box_ind, image_size, **attrs):
    if image_size.value is not None and image_size.value.shape == (4,):
        return TensorShape([int(n) for n in image_size.value])
    if isinstance(image_size.partial, list):
        return TensorShape(image_size.partial)
    return TensorShape([None] * 4)


def _vectorize_crop_grad_image(batch, node, grads, boxes, indices, image_size):
    size = unstacked(image_size, "image size")
    (flat, _), (corners, _) = batch.merged(grads), batch.merged(boxes)
    (result,) = batch.apply(node, [flat, corners, _box_numbers(batch, indices, size[0]), batch.larger(size)])
    return RESHAPE(result, batch.with_size(size))


CROP_AND_RESIZE_GRAD_IMAGE = Op(
    "CropAndResizeGradImage",
    "grads: float32, boxes: float32, box_ind: int32, image_size: int32, *, T: type, method: string = 'bilinear' "
    "-> output: T",
    infer=_infer_image_gradient,
    kernel=_image_gradient,
    lower=_lower_image_gradient,
    static=("image_size",),
    grad=unregistered,
    vectorize=_vectorize_crop_grad_image,
    T=frozenset({dtypes.float16, dtypes.float32, dtypes.float64}),
)


def _box_gradient(xp, grads, image, boxes, box_ind, method):
    op = "CropAndResizeGradBoxes"
    check_images(op, "grads", grads.shape)
    check_images(op, "image", image.shape)
    _check(op, boxes, box_ind, image.shape[0], method)
    if grads.shape[0] != boxes.shape[0] or grads.shape[3] != image.shape[3]:
        raise errors.invalid_argument(
            f"{op}: grads of shape {tuple(grads.shape)} do not fit {boxes.shape[0]} boxes and image of shape "
            f"{tuple(image.shape)}."
        )
    rows, columns = grads.shape[1:3]
    samples = _Samples(xp, boxes, box_ind, image.shape, (rows, columns), False)
    pixels = image.reshape(-1, image.shape[3])
    floor, ceil = xp.floor, xp.ceil
    top_left, top_right, bottom_left, bottom_right = (
        samples.taken(pixels, down, across)
        for down, across in ((floor, floor), (floor, ceil), (ceil, floor), (ceil, ceil))
    )
    across, down = samples.across[..., None], samples.down[..., None]
    along_y = (1 - across) * (bottom_left - top_left) + across * (bottom_right - top_right)
    along_x = (1 - down) * (top_right - top_left) + down * (bottom_right - bottom_left)
    grads = xp.where(samples.inside[..., None], grads, f32(0))
    d_y, d_x = (along_y * grads).sum((2, 3)), (along_x * grads).sum((1, 3))
    low_y, high_y = _ends(xp, image.shape[1], rows)
    low_x, high_x = _ends(xp, image.shape[2], columns)
    return xp.stack([d_y @ low_y, d_x @ low_x, d_y @ high_y, d_x @ high_x], -1)


def _ends(xp, size, count):
    """How much the places of a crop's rows move with its first and its last edge."""
    if count > 1:
        high = np.arange(count, dtype=f32) * f32((size - 1) / (count - 1))
        return f32(size - 1) - high, high
    half = np.array([0.5 * (size - 1)], f32)
    return half, half


def _box_gradient_kernel(grads, image, boxes, box_ind, method):
    if image.ndim == 4 and box_ind.ndim == 1:
        _check_indices("CropAndResizeGradBoxes", box_ind, image.shape[0])
    return _box_gradient(np, grads, image, boxes, box_ind, method)


def _lower_box_gradient(ctx, grads, image, boxes, box_ind, method):
    box_ind = _lowered_indices(ctx, "CropAndResizeGradBoxes", box_ind, image.shape[0])
    return _box_gradient(jnp, grads, image, boxes, box_ind, method)


def _vectorize_crop_grad_boxes(batch, node, grads, image, boxes, indices):
    (flat, _), (images, _), (corners, count) = batch.merged(grads), batch.merged(image), batch.merged(boxes)
    numbers = _box_numbers(batch, indices, batch.shape_of_element(image)[0])
    (result,) = batch.apply(node, [flat, images, corners, numbers])
    return batch.parted(result, count)


CROP_AND_RESIZE_GRAD_BOXES = Op(
    "CropAndResizeGradBoxes",
    "grads: float32, image: T, boxes: float32, box_ind: int32, *, method: string = 'bilinear' -> output: float32",
    T=_TYPES,
    infer=lambda grads, image, boxes, box_ind, method: boxes.shape,
    kernel=_box_gradient_kernel,
    lower=_lower_box_gradient,
    grad=unregistered,
    vectorize=_vectorize_crop_grad_boxes,
)


@api("image.crop_and_resize")
def crop_and_resize(
    image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0, name=None
) -> Tensor:
    """Parts of images, all resized to one size.

    Args:
        image: a batch (batch, height, width, channels).
        boxes: (number, 4): y1, x1, y2, x2 as parts of the image's height and width. With y1 > y2 the part is upside
            down; what lies outside the image becomes `extrapolation_value`.
        box_indices: for each box the number of its image.
        crop_size: height and width of the results.
        method: "bilinear" or "nearest".
        extrapolation_value: for what lies outside.
        name: a name for the operation.

    Returns:
        (number, crop_height, crop_width, channels), float32.

    >>> image = tf.reshape(tf.range(9.0), (1, 3, 3, 1))
    >>> tf.image.crop_and_resize(image, [[0.0, 0.0, 0.5, 1.0]], [0], (2, 2)).numpy()[0, ..., 0].tolist()
    [[0.0, 2.0], [3.0, 5.0]]
    """
    return CROP_AND_RESIZE(
        to_tensor(image, name="image"),
        boxes,
        box_indices,
        crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )
