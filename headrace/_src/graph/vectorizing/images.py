"""Rules of vectorization for ops on images: batches of images become one, amounts may differ between elements."""

from headrace._src.core import dtypes
from headrace._src.graph.vectorizing.rules import QUIET, NoRule, rule, unstacked
from headrace._src.graph.vectorizing.windows import larger, merged, parted
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.arrays.splitting import SPLIT
from headrace._src.ops.images.colors import HSV_TO_RGB, RGB_TO_HSV
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM
from headrace._src.ops.math.division import FLOOR_MOD
from headrace._src.ops.math.reductions import MEAN

# Searches of one set of boxes, and draws from the seeds of one element, which take less time than what follows them.
QUIET.update(
    {
        "NonMaxSuppressionV4", "NonMaxSuppressionV5", "StatelessSampleDistortedBoundingBox",
        "StatelessRandomGetKeyCounter", "StatelessRandomUniformV2", "StatelessRandomUniformIntV2",
        "StatelessRandomUniformFullIntV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2",
    }
)  # fmt: skip


@rule("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea", "ResizeNearestNeighborGrad",
      "ScaleAndTranslate")  # fmt: skip
def _resize(batch, node, images, *parameters):
    flat, first = merged(batch, images)
    (result,) = batch.apply(node, [flat, *(unstacked(value, "size") for value in parameters)])
    return parted(batch, result, first)


@rule("ResizeBilinearGrad", "ResizeBicubicGrad", "ScaleAndTranslateGrad")
def _resize_grad(batch, node, grads, image, *parameters):
    (flat, first), (original, _) = merged(batch, grads), merged(batch, image)
    (result,) = batch.apply(node, [flat, original, *(unstacked(value, "scale") for value in parameters)])
    return parted(batch, result, first)


@rule("RGBToHSV", "HSVToRGB")
def _colors(batch, node, images):
    return batch.apply(node, [images])


def _amounts(batch, amount, rank):
    """One amount for each element, with axes of length one for those of the element."""
    return batch.with_rank(amount, rank)


@rule("AdjustContrastv2")
def _contrast(batch, node, images, factor):
    if not factor.stacked:
        return batch.apply(node, [images, factor])
    x, factors = batch.stack(images), _amounts(batch, factor, batch.rank(images))
    wide = _cast(x, dtypes.float32)
    mean = MEAN(wide, [-3, -2], keep_dims=True)
    return _cast((wide - mean) * factors + mean, x.dtype)


@rule("AdjustHue", "AdjustSaturation")
def _adjusted_color(batch, node, images, amount):
    if not amount.stacked:
        return batch.apply(node, [images, amount])
    x, amounts = batch.stack(images), _amounts(batch, amount, batch.rank(images))
    hue, saturation, level = SPLIT(-1, RGB_TO_HSV(_cast(x, dtypes.float32)), num_split=3)
    if node.record.name == "AdjustHue":
        hue = FLOOR_MOD(hue + amounts, to_tensor(1.0))
    else:
        saturation = MINIMUM(MAXIMUM(saturation * amounts, to_tensor(0.0)), to_tensor(1.0))
    return _cast(HSV_TO_RGB(CONCAT([hue, saturation, level], -1)), x.dtype)


def _cast(x, dtype):
    return x if x.dtype is dtype else CAST(x, DstT=dtype)


# Boxes


def _box_numbers(batch, indices, images):
    """Numbers of images in the joined batch, given those in the batch of each element."""
    count = images[0] if isinstance(images, list) else images
    offsets = EXPAND_DIMS(batch.numbers() * to_tensor(count, dtypes.int32), 1)
    return RESHAPE(batch.stack(indices) + offsets, [-1])


def _count(batch, value):
    shape = batch.shape_of_element(value)
    return shape[0]


@rule("CropAndResize")
def _crop(batch, node, image, boxes, indices, size):
    if not image.stacked:
        # All elements cut from the same images.
        flat, first = merged(batch, boxes)
        numbers = RESHAPE(batch.stack(indices), [-1])
        (result,) = batch.apply(node, [image, flat, numbers, unstacked(size, "size")])
        return parted(batch, result, first)
    (images, _), (flat, first) = merged(batch, image), merged(batch, boxes)
    numbers = _box_numbers(batch, indices, _count(batch, image))
    (result,) = batch.apply(node, [images, flat, numbers, unstacked(size, "size")])
    return parted(batch, result, first)


@rule("CropAndResizeGradImage")
def _crop_grad_image(batch, node, grads, boxes, indices, image_size):
    size = unstacked(image_size, "image size")
    (flat, _), (corners, _) = merged(batch, grads), merged(batch, boxes)
    numbers = _box_numbers(batch, indices, size[0])
    (result,) = batch.apply(node, [flat, corners, numbers, larger(batch, size)])
    return RESHAPE(result, batch.with_size(size))


@rule("CropAndResizeGradBoxes")
def _crop_grad_boxes(batch, node, grads, image, boxes, indices):
    (flat, _), (images, _), (corners, first) = (merged(batch, value) for value in (grads, image, boxes))
    numbers = _box_numbers(batch, indices, _count(batch, image))
    (result,) = batch.apply(node, [flat, images, corners, numbers])
    return parted(batch, result, first)


@rule("DrawBoundingBoxes", "DrawBoundingBoxesV2")
def _draw(batch, node, images, boxes, *colors):
    (flat, first), (corners, _) = merged(batch, images), merged(batch, boxes)
    (result,) = batch.apply(node, [flat, corners, *(unstacked(value, "colour") for value in colors)])
    return parted(batch, result, first)


@rule("ExtractGlimpse", "ExtractGlimpseV2")
def _glimpse(batch, node, images, size, offsets):
    (flat, first), (places, _) = merged(batch, images), merged(batch, offsets)
    (result,) = batch.apply(node, [flat, unstacked(size, "size"), places])
    return parted(batch, result, first)


@rule("CombinedNonMaxSuppression")
def _combined_suppression(batch, node, boxes, scores, *parameters):
    (corners, first), (values, _) = merged(batch, boxes), merged(batch, scores)
    results = batch.apply(node, [corners, values, *(unstacked(value, "limit") for value in parameters)])
    return [parted(batch, result, first) for result in results]


@rule("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def _projective(batch, node, images, transforms, *parameters):
    flat, first = merged(batch, images)
    if transforms.stacked:
        shape = batch.shape_of_element(transforms)
        images_of = batch.shape_of_element(images)
        if not isinstance(shape, list) or not isinstance(images_of, list) or shape[0] != images_of[0]:
            raise NoRule("the number of its transforms is not that of its images")
        transforms = merged(batch, transforms)[0]
    elif transforms.tensor.shape[0] != 1:
        transforms = merged(batch, transforms)[0]
    (result,) = batch.apply(node, [flat, transforms, *(unstacked(value, "shape") for value in parameters)])
    return parted(batch, result, first)
