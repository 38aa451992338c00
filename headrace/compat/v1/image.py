"""The public names of `tf.compat.v1.image`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.functions.images import ResizeMethod as ResizeMethod
    from headrace._src.compat.functions.images import crop_and_resize as crop_and_resize
    from headrace._src.compat.functions.images import draw_bounding_boxes as draw_bounding_boxes
    from headrace._src.compat.functions.images import extract_glimpse as extract_glimpse
    from headrace._src.compat.functions.images import extract_image_patches as extract_image_patches
    from headrace._src.compat.functions.images import resize as _resize_images
    from headrace._src.compat.functions.images import resize as resize
    from headrace._src.compat.functions.images import resize_area as resize_area
    from headrace._src.compat.functions.images import resize_bicubic as resize_bicubic
    from headrace._src.compat.functions.images import resize_bilinear as resize_bilinear
    from headrace._src.compat.functions.images import resize_image_with_pad as resize_image_with_pad
    from headrace._src.compat.functions.images import resize_nearest_neighbor as resize_nearest_neighbor
    from headrace._src.compat.functions.images import sample_distorted_bounding_box as sample_distorted_bounding_box
    from headrace._src.ops.images.adjustments import adjust_brightness as adjust_brightness
    from headrace._src.ops.images.adjustments import adjust_contrast as adjust_contrast
    from headrace._src.ops.images.adjustments import adjust_gamma as adjust_gamma
    from headrace._src.ops.images.adjustments import adjust_hue as adjust_hue
    from headrace._src.ops.images.adjustments import adjust_saturation as adjust_saturation
    from headrace._src.ops.images.adjustments import convert_image_dtype as convert_image_dtype
    from headrace._src.ops.images.adjustments import grayscale_to_rgb as grayscale_to_rgb
    from headrace._src.ops.images.adjustments import per_image_standardization as per_image_standardization
    from headrace._src.ops.images.adjustments import random_brightness as random_brightness
    from headrace._src.ops.images.adjustments import random_contrast as random_contrast
    from headrace._src.ops.images.adjustments import random_hue as random_hue
    from headrace._src.ops.images.adjustments import random_saturation as random_saturation
    from headrace._src.ops.images.adjustments import rgb_to_grayscale as rgb_to_grayscale
    from headrace._src.ops.images.colors import hsv_to_rgb as hsv_to_rgb
    from headrace._src.ops.images.colors import rgb_to_hsv as rgb_to_hsv
    from headrace._src.ops.images.colors import rgb_to_yiq as rgb_to_yiq
    from headrace._src.ops.images.colors import rgb_to_yuv as rgb_to_yuv
    from headrace._src.ops.images.colors import yiq_to_rgb as yiq_to_rgb
    from headrace._src.ops.images.colors import yuv_to_rgb as yuv_to_rgb
    from headrace._src.ops.images.crops import central_crop as central_crop
    from headrace._src.ops.images.crops import crop_to_bounding_box as crop_to_bounding_box
    from headrace._src.ops.images.crops import pad_to_bounding_box as pad_to_bounding_box
    from headrace._src.ops.images.crops import resize_with_crop_or_pad as _resize_image_with_crop_or_pad
    from headrace._src.ops.images.crops import resize_with_crop_or_pad as resize_with_crop_or_pad
    from headrace._src.ops.images.decoding import decode_and_crop_jpeg as decode_and_crop_jpeg
    from headrace._src.ops.images.decoding import decode_bmp as decode_bmp
    from headrace._src.ops.images.decoding import decode_gif as decode_gif
    from headrace._src.ops.images.decoding import decode_image as decode_image
    from headrace._src.ops.images.decoding import decode_jpeg as decode_jpeg
    from headrace._src.ops.images.decoding import decode_jxl as decode_jxl
    from headrace._src.ops.images.decoding import decode_png as decode_png
    from headrace._src.ops.images.decoding import decode_webp as decode_webp
    from headrace._src.ops.images.decoding import extract_jpeg_shape as extract_jpeg_shape
    from headrace._src.ops.images.decoding import is_jpeg as is_jpeg
    from headrace._src.ops.images.encoding import adjust_jpeg_quality as adjust_jpeg_quality
    from headrace._src.ops.images.encoding import encode_jpeg as encode_jpeg
    from headrace._src.ops.images.encoding import encode_png as encode_png
    from headrace._src.ops.images.encoding import random_jpeg_quality as random_jpeg_quality
    from headrace._src.ops.images.geometry import extract_patches as extract_patches
    from headrace._src.ops.images.geometry import flip_left_right as flip_left_right
    from headrace._src.ops.images.geometry import flip_up_down as flip_up_down
    from headrace._src.ops.images.geometry import random_flip_left_right as random_flip_left_right
    from headrace._src.ops.images.geometry import random_flip_up_down as random_flip_up_down
    from headrace._src.ops.images.geometry import rot90 as rot90
    from headrace._src.ops.images.geometry import transpose as _transpose_image
    from headrace._src.ops.images.geometry import transpose as transpose
    from headrace._src.ops.images.proposals import generate_bounding_box_proposals as generate_bounding_box_proposals
    from headrace._src.ops.images.quality import image_gradients as image_gradients
    from headrace._src.ops.images.quality import psnr as psnr
    from headrace._src.ops.images.quality import sobel_edges as sobel_edges
    from headrace._src.ops.images.quality import ssim as ssim
    from headrace._src.ops.images.quality import ssim_multiscale as ssim_multiscale
    from headrace._src.ops.images.quality import total_variation as total_variation
    from headrace._src.ops.images.sampling import random_crop as random_crop
    from headrace._src.ops.images.suppression import combined_non_max_suppression as combined_non_max_suppression
    from headrace._src.ops.images.suppression import non_max_suppression as non_max_suppression
    from headrace._src.ops.images.suppression import non_max_suppression_overlaps as non_max_suppression_overlaps
    from headrace._src.ops.images.suppression import non_max_suppression_padded as non_max_suppression_padded
    from headrace._src.ops.images.suppression import non_max_suppression_with_scores as non_max_suppression_with_scores
    resize_image_with_crop_or_pad = _resize_image_with_crop_or_pad
    resize_images = _resize_images
    transpose_image = _transpose_image
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
