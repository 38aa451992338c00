"""Functions on images with their 1.x signatures."""

from typing import TYPE_CHECKING

from headrace._src.compat.functions.renamed_arguments import renamed, required
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api, export
from headrace._src.ops.images.crop_resize import CROP_AND_RESIZE
from headrace._src.ops.images.drawing import DRAW_BOUNDING_BOXES, DRAW_BOUNDING_BOXES_V2, EXTRACT_GLIMPSE
from headrace._src.ops.images.resize import ResizeMethod as Method
from headrace._src.ops.images.resize import fitted, resize_with
from headrace._src.ops.images.resize_ops import (
    RESIZE_AREA,
    RESIZE_BICUBIC,
    RESIZE_BILINEAR,
    RESIZE_NEAREST_NEIGHBOR,
)
from headrace._src.ops.images.sampling import SAMPLE_DISTORTED_BOUNDING_BOX_V2, sampling_attributes
from headrace._src.ops.windows.patches import EXTRACT_IMAGE_PATCHES

if TYPE_CHECKING:
    from headrace._src.attached import SampleDistortedBoundingBoxV2


@export("compat.v1.image.ResizeMethod")
class ResizeMethod:
    """The numbers of the methods of `tf.compat.v1.image.resize`."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def _resizer(method, align_corners):
    for numbers, op in (
        ((ResizeMethod.BILINEAR, Method.BILINEAR), RESIZE_BILINEAR),
        ((ResizeMethod.NEAREST_NEIGHBOR, Method.NEAREST_NEIGHBOR), RESIZE_NEAREST_NEIGHBOR),
        ((ResizeMethod.BICUBIC, Method.BICUBIC), RESIZE_BICUBIC),
        ((ResizeMethod.AREA, Method.AREA), RESIZE_AREA),
    ):
        if method in numbers:
            return lambda images, size: op(images, size, align_corners=align_corners)
    raise ValueError(f"image.resize_images: Resize method is not implemented: {method!r}.")


@api("compat.v1.image.resize", "compat.v1.image.resize_images", dispatch=False)
def resize(
    images, size, method=ResizeMethod.BILINEAR, align_corners=False, preserve_aspect_ratio=False, name=None
) -> Tensor:
    """Images of another height and width, with the corners of pixels as 1.x places them.

    Args:
        images: a batch (batch, height, width, channels) or one image.
        size: the new height and width.
        method: one of `tf.compat.v1.image.ResizeMethod`.
        align_corners: let the middles of the corner pixels fall together.
        preserve_aspect_ratio: keep the proportions; `size` is then the largest that the result may have.
        name: accepted for compatibility.
    """
    resizer = _resizer(method, align_corners)
    # TF: images that have the size already keep their dtype.
    return resize_with("resize_images", resizer, lambda images: images, images, size, preserve_aspect_ratio)


@api("compat.v1.image.resize_image_with_pad", dispatch=False)
def resize_image_with_pad(
    image, target_height, target_width, method=ResizeMethod.BILINEAR, align_corners=False
) -> Tensor:
    """As `tf.image.resize_with_pad`, with the methods of 1.x."""

    def resizer(batch, size):
        return resize(batch, size, method, align_corners)

    return fitted("resize_image_with_pad", image, target_height, target_width, resizer)


@api("compat.v1.image.resize_area", dispatch=False)
def resize_area(images, size, align_corners=False, name=None) -> Tensor:
    """A batch of images resized by averaging areas."""
    return RESIZE_AREA(images, size, align_corners=align_corners, name=name)


@api("compat.v1.image.resize_bicubic", dispatch=False)
def resize_bicubic(images, size, align_corners=False, name=None, half_pixel_centers=False) -> Tensor:
    """A batch of images resized by bicubic interpolation."""
    return RESIZE_BICUBIC(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


@api("compat.v1.image.resize_bilinear", dispatch=False)
def resize_bilinear(images, size, align_corners=False, name=None, half_pixel_centers=False) -> Tensor:
    """A batch of images resized by bilinear interpolation."""
    return RESIZE_BILINEAR(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


@api("compat.v1.image.resize_nearest_neighbor", dispatch=False)
def resize_nearest_neighbor(images, size, align_corners=False, name=None, half_pixel_centers=False) -> Tensor:
    """A batch of images resized by taking the nearest pixels."""
    return RESIZE_NEAREST_NEIGHBOR(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


@api("compat.v1.image.crop_and_resize", dispatch=False)
def crop_and_resize(
    image,
    boxes,
    box_ind=None,
    crop_size=None,
    method="bilinear",
    extrapolation_value=0,
    name=None,
    box_indices=None,
) -> Tensor:
    """As `tf.image.crop_and_resize`; `box_ind` is the older name of `box_indices`."""
    indices = renamed("image.crop_and_resize", "box_indices", box_indices, "box_ind", box_ind)
    return CROP_AND_RESIZE(
        image,
        boxes,
        required("image.crop_and_resize", "box_indices", indices),
        required("image.crop_and_resize", "crop_size", crop_size),
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )


@api("compat.v1.image.draw_bounding_boxes", dispatch=False)
def draw_bounding_boxes(images, boxes, name=None, colors=None) -> Tensor:
    """As `tf.image.draw_bounding_boxes`."""
    if colors is None:
        return DRAW_BOUNDING_BOXES(images, boxes, name=name)
    return DRAW_BOUNDING_BOXES_V2(images, boxes, colors, name=name)


@api("compat.v1.image.extract_glimpse", dispatch=False)
def extract_glimpse(input, size, offsets, centered=True, normalized=True, uniform_noise=True, name=None) -> Tensor:
    """As `tf.image.extract_glimpse`, with the places of 1.x; without uniform noise it is Gaussian."""
    noise = "uniform" if uniform_noise else "gaussian"
    return EXTRACT_GLIMPSE(
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=uniform_noise,
        noise=noise,
        name=name,
    )


@api("compat.v1.image.extract_image_patches", "compat.v1.extract_image_patches", dispatch=False)
def extract_image_patches(
    images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None
) -> Tensor:
    """As `tf.image.extract_patches`; `ksizes` is the older name of `sizes`."""
    function = "image.extract_image_patches"
    sizes = required(function, "ksizes", renamed(function, "sizes", sizes, "ksizes", ksizes))
    return EXTRACT_IMAGE_PATCHES(
        images,
        ksizes=list(sizes),
        strides=list(required(function, "strides", strides)),
        rates=list(required(function, "rates", rates)),
        padding=required(function, "padding", padding),
        name=name,
    )


@api("compat.v1.image.sample_distorted_bounding_box", dispatch=False)
def sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed=None,
    seed2=None,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
) -> "SampleDistortedBoundingBoxV2":
    """As `tf.image.sample_distorted_bounding_box`, with both seeds of the op."""
    return SAMPLE_DISTORTED_BOUNDING_BOX_V2(
        image_size,
        bounding_boxes,
        min_object_covered,
        seed=seed or 0,
        seed2=seed2 or 0,
        name=name,
        **sampling_attributes(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
    )
