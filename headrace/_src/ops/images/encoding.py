"""Images to bytes: JPEG and PNG; and what the compression of JPEG does to an image."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import Tensor
from headrace._src.formats import jpeg_images, png_images
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, UNKNOWN, with_rank
from headrace._src.ops.images.adjustments import convert_image_dtype
from headrace._src.ops.images.decoding import decode_jpeg
from headrace._src.ops.random.uniform_and_normal import stateless_uniform, uniform

_LONGEST_SIDE = 65500  # libjpeg's limit


def _checked(op, image, quality, argument="image"):
    if image.ndim != 3:
        raise errors.invalid_argument(f"{op}: {argument} must have 3 dimensions, got shape {image.shape}.")
    if not 0 <= quality <= 100:
        raise errors.invalid_argument(f"{op}: quality must be in [0, 100], got {quality}.")
    if image.shape[2] not in (1, 3):
        raise errors.invalid_argument(f"{op}: {argument} must have 1 or 3 channels, got shape {image.shape}.")
    if not image.size or max(image.shape[:2]) > _LONGEST_SIDE:
        raise errors.InternalError(
            None, None, f"{op}: {argument} must have sides of 1 to {_LONGEST_SIDE} pixels, got shape {image.shape}."
        )


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def _encode_jpeg(image, format, quality, density_unit, xmp_metadata, **options):
    op = "EncodeJpeg"
    form, unit = _text(format), _text(density_unit)
    if form not in ("", "grayscale", "rgb"):
        raise errors.invalid_argument(f"{op}: format must be '', 'grayscale' or 'rgb', got {form!r}.")
    if unit not in ("in", "cm"):
        raise errors.invalid_argument(f"{op}: density_unit must be 'in' or 'cm', got {unit!r}.")
    _checked(op, image, quality)
    if form and image.shape[2] != (1 if form == "grayscale" else 3):
        raise errors.invalid_argument(f"{op}: format {form!r} does not go with an image of shape {image.shape}.")
    metadata = xmp_metadata.encode() if isinstance(xmp_metadata, str) else xmp_metadata
    if len(metadata) > 65535 - 31:
        raise errors.invalid_argument(f"{op}: xmp_metadata must have at most 65504 bytes, got {len(metadata)}.")
    data = jpeg_images.encode_jpeg(image, quality, density_unit=unit, xmp_metadata=metadata, **options)
    return np.array(data, dtype=object)


ENCODE_JPEG = Op(
    "EncodeJpeg",
    "image: uint8, *, format: string = '', quality: int = 95, progressive: bool = False, optimize_size: bool = False, "
    "chroma_downsampling: bool = True, density_unit: string = 'in', x_density: int = 300, y_density: int = 300, "
    "xmp_metadata: string = '' -> contents: string",
    infer=lambda image, **attrs: with_rank(image, 3, "EncodeJpeg", "image") and SCALAR,
    kernel=_encode_jpeg,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.encode_jpeg", "image.encode_jpeg")
def encode_jpeg(
    image,
    format="",
    quality=95,
    progressive=False,
    optimize_size=False,
    chroma_downsampling=True,
    density_unit="in",
    x_density=300,
    y_density=300,
    xmp_metadata="",
    name=None,
) -> Tensor:
    """A JPEG of an image, the bytes that TensorFlow writes.

    Args:
        image: uint8 of shape (height, width, 1 or 3).
        format: "grayscale" or "rgb"; "" for what the image is.
        quality: 0 to 100; larger is better and longer.
        progressive: a file that shows coarsely at first.
        optimize_size: a smaller file, with more work.
        chroma_downsampling: store colours at half the resolution.
        density_unit: "in" or "cm", of the densities.
        x_density: pixels in an inch or centimetre, across.
        y_density: the same, down.
        xmp_metadata: put this XMP metadata into the file.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: an argument is none of these.

    >>> tf.io.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8)).numpy()[:3]
    b'\\xff\\xd8\\xff'
    """
    return ENCODE_JPEG(
        image,
        format=format,
        quality=quality,
        progressive=progressive,
        optimize_size=optimize_size,
        chroma_downsampling=chroma_downsampling,
        density_unit=density_unit,
        x_density=x_density,
        y_density=y_density,
        xmp_metadata=xmp_metadata,
        name=name,
    )


def _encode_with_quality(images, quality):
    op = "EncodeJpegVariableQuality"
    if quality.ndim:
        raise errors.invalid_argument(f"{op}: quality must be a scalar, got shape {quality.shape}.")
    _checked(op, images, int(quality), "images")
    return np.array(jpeg_images.encode_jpeg(images, int(quality)), dtype=object)


ENCODE_JPEG_VARIABLE_QUALITY = Op(
    "EncodeJpegVariableQuality",
    "images: uint8, quality: int32 -> contents: string",
    infer=lambda images, quality: with_rank(images, 3, "EncodeJpegVariableQuality", "images") and SCALAR,
    kernel=_encode_with_quality,
    lower=None,  # strings exist on the host only
    grad=None,
)


def _encode_png(image, compression):
    op = "EncodePng"
    if image.ndim < 3:
        raise errors.invalid_argument(f"{op}: image must have at least 3 dimensions, got shape {image.shape}.")
    if not -1 <= compression <= 9:
        raise errors.invalid_argument(f"{op}: compression must be in [-1, 9], got {compression}.")
    if not 1 <= image.shape[-1] <= 4:
        raise errors.invalid_argument(f"{op}: image must have 1, 2, 3 or 4 channels, got shape {image.shape}.")
    batch = image.shape[:-3]
    result = np.empty(batch, dtype=object)
    if result.size and not image.size:
        raise errors.InternalError(None, None, f"{op}: image must have pixels, got shape {image.shape}.")
    for place in np.ndindex(batch):
        result[place] = png_images.encode_png(image[place], compression)
    return result


def _batch_shape(image, compression):
    rank = image.shape.rank
    return UNKNOWN if rank is None else image.shape[: max(rank - 3, 0)]


ENCODE_PNG = Op(
    "EncodePng",
    "image: T, *, compression: int = -1 -> contents: string",
    T=frozenset({dtypes.uint8, dtypes.uint16}),
    infer=_batch_shape,
    kernel=_encode_png,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.encode_png", "image.encode_png")
def encode_png(image, compression=-1, name=None) -> Tensor:
    """A PNG of each image.

    Args:
        image: uint8 or uint16 of shape (..., height, width, channels); 1 channel is gray, 2 are gray and alpha, 3 are
            red, green and blue, 4 the same with alpha.
        compression: 0 (fast) to 9 (small), -1 for what zlib thinks best.
        name: a name for the operation.

    >>> tf.io.encode_png(tf.zeros([2, 8, 8, 3], tf.uint8)).shape
    TensorShape([2])
    """
    if not hasattr(image, "dtype"):
        image = to_tensor(image, dtypes.uint8)
    return ENCODE_PNG(image, compression=compression, name=name)


@api("image.adjust_jpeg_quality")
def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None) -> Tensor:
    """The image after it was compressed as a JPEG of some quality and decoded again.

    Args:
        image: (height, width, 1 or 3); floating images are in [0, 1].
        jpeg_quality: 0 to 100, an integer or a tensor.
        dct_method: of the decoder, see `tf.io.decode_jpeg`.
        name: a name for the operation.

    >>> tf.image.adjust_jpeg_quality(tf.zeros([8, 8, 3]), 75).shape
    TensorShape([8, 8, 3])
    """
    image = to_tensor(image, name="image")
    channels = image.shape[-1] if image.shape.rank else None
    quality = to_tensor(jpeg_quality, dtypes.int32)
    contents = ENCODE_JPEG_VARIABLE_QUALITY(convert_image_dtype(image, dtypes.uint8, saturate=True), quality)
    decoded = decode_jpeg(contents, channels=channels, dct_method=dct_method)
    return convert_image_dtype(decoded, image.dtype, saturate=True, name=name)


def _check_range(name, low, high):
    if min(low, high) < 0 or max(low, high) > 100:
        raise ValueError(f"{name}: qualities must be in [0, 100], got {low} and {high}.")
    if low >= high:
        raise ValueError(f"{name}: min_jpeg_quality must be less than max_jpeg_quality, got {low} and {high}.")


@api("image.random_jpeg_quality")
def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None) -> Tensor:
    """`adjust_jpeg_quality` with a quality by chance, from the minimum up to but not including the maximum.

    Raises:
        ValueError: the qualities are not in [0, 100], or the minimum is not less than the maximum.
    """
    _check_range("image.random_jpeg_quality", min_jpeg_quality, max_jpeg_quality)
    quality = uniform([], min_jpeg_quality, max_jpeg_quality, dtype=dtypes.int32, seed=seed)
    return adjust_jpeg_quality(image, quality)


@api("image.stateless_random_jpeg_quality")
def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed) -> Tensor:
    """The same as `random_jpeg_quality`, decided by the seed: two integers.

    >>> image = tf.zeros([8, 8, 3], tf.uint8)
    >>> tf.image.stateless_random_jpeg_quality(image, 75, 95, seed=(1, 2)).shape
    TensorShape([8, 8, 3])
    """
    _check_range("image.stateless_random_jpeg_quality", min_jpeg_quality, max_jpeg_quality)
    quality = stateless_uniform(
        shape=[], minval=min_jpeg_quality, maxval=max_jpeg_quality, seed=seed, dtype=dtypes.int32
    )
    return adjust_jpeg_quality(image, quality)
