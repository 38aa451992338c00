"""The ops that resize batches of images, and those of their gradients."""

from __future__ import annotations

import functools

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.op.batching import merging
from headrace._src.op.definition import Op, unregistered
from headrace._src.ops.images import resize_weights
from headrace._src.ops.images.checks import (
    check_images,
    checked_size,
    four_dims,
    infer_resized,
    infer_size,
)
from headrace._src.ops.images.resize_kernels import apply_taps, resize_bilinear, resize_nearest

IMAGE_TYPES = frozenset(
    {
        dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64, dtypes.float16,
        dtypes.float32, dtypes.float64, dtypes.bfloat16,
    }
)  # fmt: skip
# TF: kernels exist for the unsigned ones too.
_NEAREST_TYPES = IMAGE_TYPES | {dtypes.uint32, dtypes.uint64}
_CORNERS = "align_corners: bool = False, half_pixel_centers: bool = False"


def _check_attributes(op, align_corners, half_pixel_centers):
    if align_corners and half_pixel_centers:
        raise errors.invalid_argument(f"{op}: of align_corners and half_pixel_centers at most one can be True.")


def _checked(op, images, size, align_corners=False, half_pixel_centers=False):
    """The new height and width."""
    _check_attributes(op, align_corners, half_pixel_centers)
    new = checked_size(op, "size", size)
    check_images(op, "images", images.shape)
    return new


def _infer(op):
    def infer(images, size, **attrs):
        _check_attributes(op, attrs.get("align_corners"), attrs.get("half_pixel_centers"))
        return infer_resized(op, images, size)

    return infer


def _sizes(shape):
    """Height and width of a saved shape, as a vector."""
    return np.array(shape[1:3], np.int32) if isinstance(shape, tuple) else shape[1:3]


def _weighted(images, rows, columns):
    """The lowering of `apply_taps`."""
    x = images.astype(jnp.float32)
    return jnp.einsum("oh,bhwc,pw->bopc", rows.dense, x, columns.dense, precision="highest")


# Bilinear


def _resize_bilinear(images, size, align_corners, half_pixel_centers):
    height, width = _checked("ResizeBilinear", images, size, align_corners, half_pixel_centers)
    return resize_bilinear(images, height, width, align_corners, half_pixel_centers)


def _lower_resize_bilinear(ctx, images, size, align_corners, half_pixel_centers):
    new = _checked("ResizeBilinear", images, size, align_corners, half_pixel_centers)
    (top, bottom, down), (left, right, across) = (
        resize_weights.bilinear(n, m, align_corners, half_pixel_centers) for n, m in zip(images.shape[1:3], new)
    )
    first, second = (jnp.take(images, index, 2).astype(jnp.float32) for index in (left, right))
    lines = first + (second - first) * across[:, None]
    first, second = (jnp.take(lines, index, 1) for index in (top, bottom))
    return first + (second - first) * down[:, None, None]


def _grad_resize_bilinear(node, dy):
    return RESIZE_BILINEAR_GRAD(dy, node.images, **node.attrs), None


RESIZE_BILINEAR = Op(
    "ResizeBilinear",
    f"images: T, size: int32, *, {_CORNERS} -> resized_images: float32",
    T=IMAGE_TYPES,
    infer=_infer("ResizeBilinear"),
    kernel=_resize_bilinear,
    lower=_lower_resize_bilinear,
    static=("size",),
    saves=("images",),
    grad=_grad_resize_bilinear,
    vectorize=merging(),
)


def _transposed_taps(op, make, grads, original_image, align_corners, half_pixel_centers):
    _check_attributes(op, align_corners, half_pixel_centers)
    check_images(op, "grads", grads.shape)
    check_images(op, "original_image", original_image.shape)
    return [
        make(n, m, align_corners, half_pixel_centers).transposed
        for n, m in zip(original_image.shape[1:3], grads.shape[1:3])
    ]


def _gradient_op(name, make, forward, types):
    """The op that adds up, for each pixel of the original image, the gradients of the pixels made of it."""
    taps_of = functools.partial(_transposed_taps, name, make)

    def infer(grads, original_image, **attrs):
        (batch, _, _, channels), (_, height, width, _) = (
            four_dims(name, argument, spec) for argument, spec in (("grads", grads), ("original_image", original_image))
        )
        return TensorShape([batch, height, width, channels])

    def grad(node, dy):
        size = _sizes(node.grads_shape)
        return forward(dy, size, **node.attrs), None

    return Op(
        name,
        f"grads: float32, original_image: T, *, {_CORNERS} -> output: T",
        T=types,
        infer=infer,
        kernel=lambda grads, original_image, **attrs: apply_taps(
            grads, *taps_of(grads, original_image, **attrs)
        ).astype(original_image.dtype, copy=False),
        lower=lambda ctx, grads, original_image, **attrs: _weighted(
            grads, *taps_of(grads, original_image, **attrs)
        ).astype(original_image.dtype),
        saves=("grads_shape",),
        grad=grad,
        vectorize=merging(2),
    )


RESIZE_BILINEAR_GRAD = _gradient_op(
    "ResizeBilinearGrad", resize_weights.bilinear_taps, RESIZE_BILINEAR, dtypes.FLOATING
)


# Nearest neighbour


def _nearest_indices(op, shape, new, align_corners, half_pixel_centers):
    return [resize_weights.nearest(n, m, align_corners, half_pixel_centers) for n, m in zip(shape[1:3], new)]


def _resize_nearest(images, size, align_corners, half_pixel_centers):
    new = _checked("ResizeNearestNeighbor", images, size, align_corners, half_pixel_centers)
    rows, columns = _nearest_indices("ResizeNearestNeighbor", images.shape, new, align_corners, half_pixel_centers)
    return resize_nearest(images, rows, columns)


def _lower_resize_nearest(ctx, images, size, align_corners, half_pixel_centers):
    new = _checked("ResizeNearestNeighbor", images, size, align_corners, half_pixel_centers)
    rows, columns = _nearest_indices("ResizeNearestNeighbor", images.shape, new, align_corners, half_pixel_centers)
    return jnp.take(jnp.take(images, rows, 1), columns, 2)


def _grad_resize_nearest(node, dy):
    return RESIZE_NEAREST_NEIGHBOR_GRAD(dy, _sizes(node.images_shape), **node.attrs), None


RESIZE_NEAREST_NEIGHBOR = Op(
    "ResizeNearestNeighbor",
    f"images: T, size: int32, *, {_CORNERS} -> resized_images: T",
    T=_NEAREST_TYPES,
    infer=_infer("ResizeNearestNeighbor"),
    kernel=_resize_nearest,
    lower=_lower_resize_nearest,
    static=("size",),
    saves=("images_shape",),
    grad=_grad_resize_nearest,
    vectorize=merging(),
)


def _sum_equal(x, index, count, axis):
    """The sums over positions of an axis that have the same index; indices are sorted."""
    each = len(index) // max(count, 1)
    if each > 1 and x.size and np.array_equal(index, np.repeat(np.arange(count), each)):
        parts = [x[(slice(None),) * axis + (slice(first, None, each),)] for first in range(each)]
        total = parts[0] + parts[1]
        for part in parts[2:]:
            total += part
        return total
    x = np.moveaxis(x, axis, 0)
    total = np.zeros((count, *x.shape[1:]), x.dtype)
    if len(index) and x.size:
        starts = np.flatnonzero(np.concatenate([[True], index[1:] != index[:-1]]))
        total[index[starts]] = np.add.reduceat(x, starts, 0)
    return np.moveaxis(total, 0, axis)


def _nearest_gradient_indices(grads, size, align_corners, half_pixel_centers):
    op = "ResizeNearestNeighborGrad"
    _check_attributes(op, align_corners, half_pixel_centers)
    height, width = checked_size(op, "size", size)
    check_images(op, "grads", grads.shape)
    rows, columns = _nearest_indices(op, (0, height, width), grads.shape[1:3], align_corners, half_pixel_centers)
    return height, width, rows, columns


def _resize_nearest_grad(grads, size, align_corners, half_pixel_centers):
    height, width, rows, columns = _nearest_gradient_indices(grads, size, align_corners, half_pixel_centers)
    wide = grads.astype(np.float32) if grads.dtype.itemsize == 2 and grads.dtype.kind not in "iu" else grads
    total = _sum_equal(_sum_equal(wide, rows, height, 1), columns, width, 2)
    return np.ascontiguousarray(total.astype(grads.dtype, copy=False))


def _lower_resize_nearest_grad(ctx, grads, size, align_corners, half_pixel_centers):
    height, width, rows, columns = _nearest_gradient_indices(grads, size, align_corners, half_pixel_centers)
    wide = grads.astype(jnp.float32) if grads.dtype.itemsize == 2 and grads.dtype.kind not in "iu" else grads
    batch, _, old, channels = grads.shape
    total = jnp.zeros((batch, height, old, channels), wide.dtype).at[:, rows].add(wide)
    total = jnp.zeros((batch, height, width, channels), wide.dtype).at[:, :, columns].add(total)
    return total.astype(grads.dtype)


def _infer_nearest_grad(grads, size, **attrs):
    batch, _, _, channels = four_dims("ResizeNearestNeighborGrad", "grads", grads)
    return TensorShape([batch, *infer_size("ResizeNearestNeighborGrad", "size", size), channels])


RESIZE_NEAREST_NEIGHBOR_GRAD = Op(
    "ResizeNearestNeighborGrad",
    f"grads: T, size: int32, *, {_CORNERS} -> output: T",
    T=_NEAREST_TYPES,
    infer=_infer_nearest_grad,
    kernel=_resize_nearest_grad,
    lower=_lower_resize_nearest_grad,
    static=("size",),
    saves=("grads_shape",),
    grad=lambda node, dy: (RESIZE_NEAREST_NEIGHBOR(dy, _sizes(node.grads_shape), **node.attrs), None),
    vectorize=merging(),
)


# Bicubic


def _bicubic_taps(images, size, align_corners, half_pixel_centers):
    new = _checked("ResizeBicubic", images, size, align_corners, half_pixel_centers)
    return [
        resize_weights.bicubic(n, m, align_corners, half_pixel_centers) for n, m in zip(images.shape[1:3], new)
    ]


def _grad_resize_bicubic(node, dy):
    if node.images.dtype not in (dtypes.float32, dtypes.float64):
        return None, None  # TF: these have no kernel
    return RESIZE_BICUBIC_GRAD(dy, node.images, **node.attrs), None


RESIZE_BICUBIC = Op(
    "ResizeBicubic",
    f"images: T, size: int32, *, {_CORNERS} -> resized_images: float32",
    T=IMAGE_TYPES,
    infer=_infer("ResizeBicubic"),
    kernel=lambda images, size, **attrs: apply_taps(images, *_bicubic_taps(images, size, **attrs)),
    lower=lambda ctx, images, size, **attrs: _weighted(images, *_bicubic_taps(images, size, **attrs)),
    static=("size",),
    saves=("images",),
    grad=_grad_resize_bicubic,
    vectorize=merging(),
)

RESIZE_BICUBIC_GRAD = _gradient_op(
    "ResizeBicubicGrad", resize_weights.bicubic, RESIZE_BICUBIC, frozenset({dtypes.float32, dtypes.float64})
)


# Area


def _area_mean(apply, images, size, align_corners):
    new = _checked("ResizeArea", images, size)
    taps = [resize_weights.area(n, m, align_corners) for n, m in zip(images.shape[1:3], new)]
    rows, columns = (resize_weights.scale(n, m, align_corners) for n, m in zip(images.shape[1:3], new))
    return apply(images, *taps) * (np.float32(1) / (rows * columns))


RESIZE_AREA = Op(
    "ResizeArea",
    "images: T, size: int32, *, align_corners: bool = False -> resized_images: float32",
    T=IMAGE_TYPES,
    infer=_infer("ResizeArea"),
    kernel=lambda images, size, align_corners: _area_mean(apply_taps, images, size, align_corners),
    lower=lambda ctx, images, size, align_corners: _area_mean(_weighted, images, size, align_corners),
    static=("size",),
    grad=unregistered,
    vectorize=merging(),
)


# Scale and translate


def _check_pair(op, argument, values):
    if values.shape != (2,):
        raise errors.invalid_argument(f"{op}: {argument} must have shape (2,), got shape {values.shape}.")


def _sampled_taps(op, shape, new, scale, translation, kernel_type, antialias):
    _check_pair(op, "scale", scale)
    _check_pair(op, "translation", translation)
    if not (scale > 0).all():
        raise errors.invalid_argument(f"{op}: scale must be greater than zero, got {scale.tolist()}.")
    if kernel_type not in resize_weights.KERNELS:
        known = ", ".join(sorted(resize_weights.KERNELS))
        raise errors.invalid_argument(f"{op}: kernel_type must be one of {known}, got {kernel_type!r}.")
    return [
        resize_weights.sampled(n, m, float(s), float(t), kernel_type, antialias)
        for n, m, s, t in zip(shape[1:3], new, scale, translation)
    ]


def _scale_taps(images, size, scale, translation, kernel_type, antialias):
    op = "ScaleAndTranslate"
    new = _checked(op, images, size)
    return _sampled_taps(op, images.shape, new, scale, translation, kernel_type, antialias)


def _grad_scale_and_translate(node, dy):
    return SCALE_AND_TRANSLATE_GRAD(dy, node.images, node.scale, node.translation, **node.attrs), None, None, None


SCALE_AND_TRANSLATE = Op(
    "ScaleAndTranslate",
    "images: T, size: int32, scale: float32, translation: float32, *, kernel_type: string = 'lanczos3', "
    "antialias: bool = True -> resized_images: float32",
    T=IMAGE_TYPES,
    infer=lambda images, size, scale, translation, **attrs: infer_resized("ScaleAndTranslate", images, size),
    kernel=lambda images, size, scale, translation, **attrs: apply_taps(
        images, *_scale_taps(images, size, scale, translation, **attrs)
    ),
    lower=lambda ctx, images, size, scale, translation, **attrs: _weighted(
        images, *_scale_taps(images, size, scale, translation, **attrs)
    ),
    static=("size", "scale", "translation"),
    saves=("images", "scale", "translation"),
    grad=_grad_scale_and_translate,
    vectorize=merging(),
)


def _scale_gradient_taps(grads, original_image, scale, translation, kernel_type, antialias):
    op = "ScaleAndTranslateGrad"
    check_images(op, "grads", grads.shape)
    check_images(op, "original_image", original_image.shape)
    taps = _sampled_taps(
        op, original_image.shape, grads.shape[1:3], scale, translation, kernel_type, antialias
    )
    return [one.transposed for one in taps]


def _infer_scale_grad(grads, original_image, scale, translation, **attrs):
    return TensorShape(four_dims("ScaleAndTranslateGrad", "original_image", original_image))


def _grad_scale_grad(node, dy):
    size = _sizes(node.grads_shape)
    return SCALE_AND_TRANSLATE(dy, size, node.scale, node.translation, **node.attrs), None, None, None


SCALE_AND_TRANSLATE_GRAD = Op(
    "ScaleAndTranslateGrad",
    "grads: T, original_image: T, scale: float32, translation: float32, *, kernel_type: string = 'lanczos3', "
    "antialias: bool = True -> output: T",
    T=frozenset({dtypes.float32}),
    infer=_infer_scale_grad,
    kernel=lambda grads, *inputs, **attrs: apply_taps(grads, *_scale_gradient_taps(grads, *inputs, **attrs)),
    lower=lambda ctx, grads, *inputs, **attrs: _weighted(grads, *_scale_gradient_taps(grads, *inputs, **attrs)),
    static=("scale", "translation"),
    saves=("grads_shape", "scale", "translation"),
    grad=_grad_scale_grad,
    vectorize=merging(2),
)
