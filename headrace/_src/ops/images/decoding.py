"""Images from bytes: JPEG, PNG, GIF, BMP, WebP, JPEG XL, and whichever of them it is."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.formats import (
    bmp_images,
    gif_images,
    image_data,
    jpeg_images,
    jpeg_xl_images,
    png_images,
    webp_images,
)
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN, with_rank
from headrace._src.ops.images.adjustments import convert_image_dtype
from headrace._src.ops.math.comparison import equal
from headrace._src.ops.strings.editing import substr
from headrace._src.ops.strings.kernel_arrays import scalar_string

_DTYPES = {
    "DecodePng": (dtypes.uint8, dtypes.uint16),
    "DecodeImage": (dtypes.uint8, dtypes.uint16, dtypes.float32),
}
_DCT_METHODS = ("", "INTEGER_FAST", "INTEGER_ACCURATE")


def _refuse(op, message):
    return errors.invalid_argument(f"{op}: {message}.")


class _Decoding:
    """One decoding by one op: what is asked for, and how each format answers."""

    def __init__(self, op, channels=0, dtype=dtypes.uint8, animations=True, **jpeg):
        self.op, self.channels, self.dtype, self.animations, self.jpeg = op, channels, dtype, animations, jpeg

    def __call__(self, contents):
        data = scalar_string(self.op, "contents", contents)
        if self.channels not in (0, 1, 3, 4):
            raise _refuse(self.op, f"channels must be 0, 1, 3 or 4, got {self.channels}")
        if self.dtype not in _DTYPES.get(self.op, (dtypes.uint8,)):
            raise _refuse(self.op, f"dtype cannot be {self.dtype.name}")
        if not data:
            raise _refuse(self.op, "contents is empty")
        kind = image_data.format_of(data)
        if kind is None:
            raise _refuse(
                self.op,
                f"contents must be a JPEG, PNG, GIF, BMP, WebP or JPEG XL, but begins with the bytes "
                f"{data[:8].hex(' ')}",
            )
        try:
            return _DECODERS[kind](self, data)
        except image_data.BadImage as error:
            raise _refuse(self.op, str(error)) from None
        except MemoryError:
            raise errors.ResourceExhaustedError(None, None, f"{self.op}: {kind}: not enough memory.") from None

    def _not_with(self, kind, *ops):
        if self.op in ops:
            raise _refuse(self.op, f"contents is a {kind}. Decode it with tf.io.decode_image")

    def _from_bytes(self, image):
        """uint8 as the dtype that is asked for."""
        if self.dtype is dtypes.uint16:
            return image * np.uint16(256)  # TF: unlike those of a PNG, which are multiplied by 257
        if self.dtype is dtypes.float32:
            return image * np.float32(1 / 255)
        return image

    def _as_frames(self, image):
        return image[None] if self.op == "DecodeGif" else image

    def decode_jpeg(self, data):
        self._not_with("JPEG", "DecodeBmp")
        if self.channels == 4:
            raise _refuse(self.op, "JPEG: there are no 4 channels, channels must be 0, 1 or 3")
        image = jpeg_images.decode_jpeg(data, self.channels, **self.jpeg)
        return self._as_frames(self._from_bytes(image))

    def decode_png(self, data):
        self._not_with("PNG", "DecodeBmp", "DecodeAndCropJpeg")
        image = png_images.decode_png(data, self.channels, wide=self.dtype is not dtypes.uint8)
        if self.dtype is dtypes.float32:
            image = image * np.float32(1 / 65535)
        return self._as_frames(image)

    def decode_gif(self, data):
        if self.channels not in (0, 3):
            raise _refuse(self.op, f"GIF: channels must be 0 or 3, got {self.channels}")
        self._not_with("GIF", "DecodeBmp", "DecodeAndCropJpeg", "DecodeWebP", "DecodeJxl")
        still = self.op == "DecodeImage" and not self.animations
        frames = gif_images.decode_gif(data, only_first=still)
        if still:
            return self._from_bytes(frames[0])
        if self.op in ("DecodeJpeg", "DecodePng"):
            if len(frames) > 1:
                raise _refuse(
                    self.op, f"GIF: contents has {len(frames)} frames. Decode it with tf.io.decode_gif or decode_image"
                )
            return self._from_bytes(frames[0])
        return self._from_bytes(frames)

    def decode_bmp(self, data):
        if self.op not in ("DecodeBmp", "DecodeImage"):
            raise _refuse(self.op, "contents is a BMP. Decode it with tf.io.decode_bmp or decode_image")
        return self._from_bytes(bmp_images.decode_bmp(data, self.channels))

    def decode_webp(self, data):
        self._not_with("WebP", "DecodeAndCropJpeg")
        self._check_whole("WebP", (0, 3, 4))
        still = self.op == "DecodeImage" and not self.animations
        frames = webp_images.decode_webp(data, only_first=still)
        self._check_channels("WebP", frames)
        return frames[0] if still else frames

    def decode_jpeg_xl(self, data):
        self._not_with("JPEG XL", "DecodeAndCropJpeg")
        self._check_whole("JPEG XL", (0, 1, 3, 4))
        if not jpeg_xl_images.is_available():
            raise errors.UnimplementedError(
                None, None, f"{self.op}: JPEG XL needs the library imagecodecs: pip install headrace[jxl]."
            )
        image = jpeg_xl_images.decode_jpeg_xl(data)
        self._check_channels("JPEG XL", image)
        return image

    def _check_whole(self, kind, channels):
        if self.dtype is not dtypes.uint8:
            raise _refuse(self.op, f"{kind}: dtype must be uint8, got {self.dtype.name}")
        if self.channels not in channels:
            raise _refuse(self.op, f"{kind}: channels must be one of {channels}, got {self.channels}")

    def _check_channels(self, kind, image):
        if self.channels not in (0, image.shape[-1]):
            raise _refuse(self.op, f"{kind}: the image has {image.shape[-1]} channels, got channels={self.channels}")


_DECODERS = {
    "JPEG": _Decoding.decode_jpeg,
    "PNG": _Decoding.decode_png,
    "GIF": _Decoding.decode_gif,
    "BMP": _Decoding.decode_bmp,
    "WebP": _Decoding.decode_webp,
    "JPEG XL": _Decoding.decode_jpeg_xl,
}


def _image_shape(contents, channels=0, **attrs):
    with_rank(contents, 0, "image decoding", "contents")
    if channels < 0:
        raise errors.invalid_argument(f"channels must not be negative, got {channels}.")
    return TensorShape([None, None, channels or None])


def _jpeg_options(op, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method):
    if ratio not in (1, 2, 4, 8):
        raise _refuse(op, f"ratio must be 1, 2, 4 or 8, got {ratio}")
    method = dct_method.decode() if isinstance(dct_method, bytes) else dct_method
    if method not in _DCT_METHODS:
        raise _refuse(op, f"dct_method must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE', got {method!r}")
    return dict(
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        accurate=method == "INTEGER_ACCURATE",
    )


def _decode_jpeg(contents, channels, **options):
    return _Decoding("DecodeJpeg", channels, **_jpeg_options("DecodeJpeg", **options))(contents)


_JPEG_ATTRIBUTES = (
    "channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, try_recover_truncated: bool = False, "
    "acceptable_fraction: float = 1.0, dct_method: string = ''"
)

DECODE_JPEG = Op(
    "DecodeJpeg",
    f"contents: string, *, {_JPEG_ATTRIBUTES} -> image: uint8",
    infer=_image_shape,
    kernel=_decode_jpeg,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.decode_jpeg", "image.decode_jpeg")
def decode_jpeg(
    contents,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
) -> Tensor:
    """The pixels of a JPEG, uint8 of shape (height, width, channels).

    The pixels are TensorFlow's, bit for bit. Also decodes PNG and GIF without animation.

    Args:
        contents: the bytes of the file, a string.
        channels: 0 for what the file has, 1 for gray, 3 for red, green and blue.
        ratio: 1, 2, 4 or 8: decode to an image that many times smaller, which is faster.
        fancy_upscaling: interpolate the colours, which are often stored more coarsely; slower and smoother.
        try_recover_truncated: decode what there is of a file that ends early.
        acceptable_fraction: the part of the lines that must be there; the rest is black.
        dct_method: "INTEGER_FAST" (the default) or "INTEGER_ACCURATE".
        name: a name for the operation.

    Raises:
        InvalidArgumentError: the contents is no image, or too much of it is missing or wrong.

    >>> jpeg = tf.io.encode_jpeg(tf.fill([16, 24, 3], tf.constant(200, tf.uint8)))
    >>> tf.io.decode_jpeg(jpeg).shape
    TensorShape([16, 24, 3])
    >>> tf.io.decode_jpeg(jpeg, channels=1, ratio=2).shape
    TensorShape([8, 12, 1])
    """
    return DECODE_JPEG(
        contents,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


def _decode_and_crop(contents, crop_window, channels, **options):
    op = "DecodeAndCropJpeg"
    if crop_window.shape != (4,):
        raise _refuse(op, f"crop_window must have 4 elements, got shape {crop_window.shape}")
    image = _Decoding(op, channels, **_jpeg_options(op, **options))(contents)
    top, left, height, width = crop_window.tolist()
    bottom, right = top + height, left + width
    if min(top, left) < 0 or min(height, width) <= 0 or bottom > image.shape[0] or right > image.shape[1]:
        raise _refuse(
            op,
            f"crop_window must be inside the image of {image.shape[0]} x {image.shape[1]} pixels, "
            f"got y {top}, x {left}, height {height}, width {width}",
        )
    return np.ascontiguousarray(image[top:bottom, left:right])


def _crop_shape(contents, crop_window, channels, **attrs):
    with_rank(contents, 0, "DecodeAndCropJpeg", "contents")
    size = [None, None]
    if crop_window.value is not None and np.shape(crop_window.value) == (4,):
        size = [int(n) if n >= 0 else None for n in crop_window.value[2:]]
    elif isinstance(crop_window.partial, list) and len(crop_window.partial) == 4:
        size = crop_window.partial[2:]
    return TensorShape([*size, channels or None])


DECODE_AND_CROP_JPEG = Op(
    "DecodeAndCropJpeg",
    f"contents: string, crop_window: int32, *, {_JPEG_ATTRIBUTES} -> image: uint8",
    infer=_crop_shape,
    kernel=_decode_and_crop,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.decode_and_crop_jpeg", "image.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents,
    crop_window,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
) -> Tensor:
    """A part of the pixels of a JPEG: `decode_jpeg(...)[y : y + height, x : x + width]`, exactly.

    Args:
        contents: the bytes of the file, a string.
        crop_window: y, x, height and width, in pixels of the result of `decode_jpeg`.
        channels: see `decode_jpeg`, as for the others.
        ratio: how many times smaller.
        fancy_upscaling: interpolate the colours.
        try_recover_truncated: decode what there is.
        acceptable_fraction: the part of the lines that must be there.
        dct_method: "INTEGER_FAST" (the default) or "INTEGER_ACCURATE".
        name: a name for the operation.

    >>> jpeg = tf.io.encode_jpeg(tf.zeros([16, 24, 3], tf.uint8))
    >>> tf.io.decode_and_crop_jpeg(jpeg, [2, 3, 4, 5]).shape
    TensorShape([4, 5, 3])
    """
    return DECODE_AND_CROP_JPEG(
        contents,
        crop_window,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


def _jpeg_shape(contents, output_type):
    data = scalar_string("ExtractJpegShape", "contents", contents)
    try:
        header = jpeg_images.read_header(data)
    except image_data.BadImage as error:
        raise _refuse("ExtractJpegShape", str(error)) from None
    return np.array([header.height, header.width, header.channels], output_type.as_numpy_dtype)


EXTRACT_JPEG_SHAPE = Op(
    "ExtractJpegShape",
    "contents: string, *, output_type: type = int32 -> image_shape: output_type",
    output_type=frozenset({dtypes.int32, dtypes.int64}),
    infer=lambda contents, output_type: TensorShape([3]),
    kernel=_jpeg_shape,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.extract_jpeg_shape", "image.extract_jpeg_shape")
def extract_jpeg_shape(contents, output_type=dtypes.int32, name=None) -> Tensor:
    """Height, width and channels of a JPEG, from its header, without decoding it.

    >>> tf.io.extract_jpeg_shape(tf.io.encode_jpeg(tf.zeros([16, 24, 3], tf.uint8))).numpy().tolist()
    [16, 24, 3]
    """
    return EXTRACT_JPEG_SHAPE(contents, output_type=dtypes.as_dtype(output_type), name=name)


@api("io.is_jpeg", "image.is_jpeg")
def is_jpeg(contents, name=None) -> Tensor:
    """Whether each string begins as a JPEG does.

    >>> tf.io.is_jpeg([b"\\xff\\xd8\\xff\\xe0", b"GIF89a"]).numpy().tolist()
    [True, False]
    """
    return equal(substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


DECODE_PNG = Op(
    "DecodePng",
    "contents: string, *, channels: int = 0, dtype: type = uint8 -> image: dtype",
    dtype=frozenset({dtypes.uint8, dtypes.uint16}),
    infer=_image_shape,
    kernel=lambda contents, channels, dtype: _Decoding("DecodePng", channels, dtype)(contents),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.decode_png", "image.decode_png")
def decode_png(contents, channels=0, dtype=dtypes.uint8, name=None) -> Tensor:
    """The pixels of a PNG, of shape (height, width, channels). Also decodes JPEG and GIF without animation.

    Args:
        contents: the bytes of the file, a string.
        channels: 0 for what the file has (2 for gray with alpha), 1 for gray, 3 for red, green and blue, 4 with alpha.
        dtype: uint8 or uint16. Samples of 16 bits are cut to 8, samples of 8 bits spread over 16.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: the contents is no image, or something in it is missing or wrong.

    >>> png = tf.io.encode_png(tf.constant([[[1000], [50000]]], tf.uint16))
    >>> tf.io.decode_png(png, dtype=tf.uint16).numpy().ravel().tolist()
    [1000, 50000]
    >>> tf.io.decode_png(png, channels=3).shape
    TensorShape([1, 2, 3])
    """
    return DECODE_PNG(contents, channels=channels, dtype=dtypes.as_dtype(dtype), name=name)


DECODE_GIF = Op(
    "DecodeGif",
    "contents: string -> image: uint8",
    infer=lambda contents: TensorShape([None, *_image_shape(contents, 3)]),
    kernel=lambda contents: _Decoding("DecodeGif", 3)(contents),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.decode_gif", "image.decode_gif")
def decode_gif(contents, name=None) -> Tensor:
    """The frames of a GIF, uint8 of shape (frames, height, width, 3).

    Each frame is drawn over the one before. Also decodes JPEG and PNG, to one frame.

    Raises:
        InvalidArgumentError: the contents is no image, or something in it is missing or wrong.
    """
    return DECODE_GIF(contents, name=name)


DECODE_BMP = Op(
    "DecodeBmp",
    "contents: string, *, channels: int = 0 -> image: uint8",
    infer=_image_shape,
    kernel=lambda contents, channels: _Decoding("DecodeBmp", channels)(contents),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.decode_bmp", "image.decode_bmp")
def decode_bmp(contents, channels=0, name=None) -> Tensor:
    """The pixels of a BMP of 8 (gray), 24 or 32 bits, uint8 of shape (height, width, channels).

    Args:
        contents: the bytes of the file, a string.
        channels: 0 for what the file has, 3, or 4 with alpha.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: the contents is no such BMP, or its length is not what the header says.
    """
    return DECODE_BMP(contents, channels=channels, name=name)


DECODE_WEBP = Op(
    "DecodeWebP",
    "contents: string, *, channels: int = 0, dtype: type = uint8 -> image: dtype",
    dtype=frozenset({dtypes.uint8}),
    infer=lambda contents, channels, dtype: TensorShape([None, *_image_shape(contents, channels)]),
    kernel=lambda contents, channels, dtype: _Decoding("DecodeWebP", channels, dtype)(contents),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.decode_webp", "image.decode_webp")
def decode_webp(contents, channels=0, dtype=dtypes.uint8, name=None) -> Tensor:
    """The frames of a WebP, uint8 of shape (frames, height, width, channels).

    Args:
        contents: the bytes of the file, a string.
        channels: 0 for what the file has; 3 or 4 must be what it has. Animations always have 4.
        dtype: uint8.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: the contents is no image, has other channels, or something in it is missing or wrong.
    """
    return DECODE_WEBP(contents, channels=channels, dtype=dtypes.as_dtype(dtype), name=name)


DECODE_JXL = Op(
    "DecodeJxl",
    "contents: string, *, channels: int = 0, dtype: type = uint8 -> image: dtype",
    dtype=frozenset({dtypes.uint8}),
    infer=_image_shape,
    kernel=lambda contents, channels, dtype: _Decoding("DecodeJxl", channels, dtype)(contents),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.decode_jxl", "image.decode_jxl")
def decode_jxl(contents, channels=0, dtype=dtypes.uint8, name=None) -> Tensor:
    """The pixels of a JPEG XL, uint8 of shape (height, width, channels); needs `pip install headrace[jxl]`.

    Args:
        contents: the bytes of the file, a string.
        channels: 0 for what the file has; another number must be what it has.
        dtype: uint8.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: the contents is no image, has other channels, or something in it is missing or wrong.
        UnimplementedError: the library imagecodecs is not installed.
    """
    return DECODE_JXL(contents, channels=channels, dtype=dtypes.as_dtype(dtype), name=name)


def _any_shape(contents, channels, dtype, expand_animations):
    shape = _image_shape(contents, channels)
    return UNKNOWN if expand_animations else shape


DECODE_IMAGE = Op(
    "DecodeImage",
    "contents: string, *, channels: int = 0, dtype: type = uint8, expand_animations: bool = True -> image: dtype",
    dtype=frozenset({dtypes.uint8, dtypes.uint16, dtypes.float32}),
    infer=_any_shape,
    kernel=lambda contents, channels, dtype, expand_animations: _Decoding(
        "DecodeImage", channels, dtype, expand_animations
    )(contents),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.decode_image", "image.decode_image")
def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True) -> Tensor:
    """The pixels of a JPEG, PNG, GIF, BMP, WebP or JPEG XL, whichever it is.

    Args:
        contents: the bytes of the file, a string.
        channels: the number of channels, or None for what the file has.
        dtype: the dtype of the result. Floating numbers are in [0, 1], integers use their whole range.
        name: a name for the operation.
        expand_animations: True: a GIF or WebP gives (frames, height, width, channels), and the rank of the result is
            known only when it is there. False: every format gives (height, width, channels), of the first frame.

    Raises:
        InvalidArgumentError: the contents is no image, or something in it is missing or wrong.

    >>> png = tf.io.encode_png(tf.constant([[[0], [255]]], tf.uint8))
    >>> tf.io.decode_image(png, dtype=tf.float32).numpy().ravel().tolist()
    [0.0, 1.0]
    """
    wanted = dtypes.as_dtype(dtype)
    direct = wanted in (dtypes.uint8, dtypes.uint16, dtypes.float32)
    image = DECODE_IMAGE(
        to_tensor(contents, dtypes.string),
        channels=channels,
        dtype=wanted if direct else dtypes.uint16,
        expand_animations=expand_animations,
        name=name,
    )
    return image if direct else convert_image_dtype(image, wanted)
