"""What the image formats share: their error, how they are recognised, limits, and conversions of channels."""

import numpy as np

from headrace._src.core import limits
from headrace._src.core.lazy import pillow_image

# Below this many pixels a header may promise what it likes.
ALWAYS_FINE = 2**20


class BadImage(ValueError):
    """The bytes are not the image that they should be; the message names the format and what is wrong."""


class TooLarge(BadImage):
    """The image would take more memory than the limit for images allows."""


def check_limit(kind: str, found: int, what: str) -> None:
    """Refuse what would take more memory than images may.

    Args:
        kind: the format.
        found: the bytes that it takes.
        what: height, width and number of frames, for the message.
    """
    if found > limits.current.image_bytes:
        raise TooLarge(limits.exceeded("image_bytes", found, f"{kind}: {what}"))


def format_of(data: bytes) -> str | None:
    """The format that the first bytes tell: "JPEG", "PNG", "GIF", "BMP", "WebP", "JPEG XL", or None."""
    if data[:3] == b"\xff\xd8\xff":
        return "JPEG"
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return "PNG"
    if data[:3] == b"GIF":
        return "GIF"
    if data[:2] == b"BM":
        return "BMP"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) > 12:
        return "WebP"
    if data[:2] == b"\xff\x0a" or data[:12] == b"\0\0\0\x0cJXL \r\n\x87\n":
        return "JPEG XL"
    return None


def check_size(kind: str, height: int, width: int, bytes_each: int, length: int, most_per_byte: int) -> None:
    """Refuse an image before memory is taken for it.

    Args:
        kind: the format, for the message.
        height: its height (of all frames together).
        width: its width.
        bytes_each: of a pixel, when decoded.
        length: the number of compressed bytes.
        most_per_byte: how many pixels one compressed byte can stand for.
    """
    if height <= 0 or width <= 0:
        raise BadImage(f"{kind}: height and width must be positive, got {height} x {width}")
    pixels = height * width
    if pixels > ALWAYS_FINE and pixels > length * most_per_byte:
        raise BadImage(f"{kind}: the header promises {height} x {width} pixels, which {length} bytes cannot hold")
    check_limit(kind, pixels * bytes_each, f"{height} x {width} pixels of {bytes_each} bytes")


def gray_of(rgb: np.ndarray) -> np.ndarray:
    """The brightness of (..., 3 or more) as (..., 1), as libpng computes it for the weights 0.299 and 0.587."""
    wide = rgb.dtype == np.uint16
    red, green, blue = (rgb[..., i].astype(np.uint32) for i in range(3))
    total = red * 9797 + green * 19234 + blue * 3737
    if wide:
        total += 16384
    gray = (total >> 15).astype(rgb.dtype)
    return gray[..., None]


def painted(indices: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """`colors[indices]` for indices (height, width) and colours (count, 3), all uint8; twice as fast as NumPy."""
    height, width = indices.shape
    image = pillow_image.frombytes("P", (width, height), indices.tobytes())
    image.putpalette(colors.tobytes())
    return np.frombuffer(image.convert("RGB").tobytes(), np.uint8).reshape(height, width, 3)


def with_channels(image: np.ndarray, channels: int) -> np.ndarray:
    """An image of 1 (gray), 2 (gray, alpha), 3 or 4 channels with as many as asked for; 0: as it is."""
    has = image.shape[-1]
    if channels in (0, has):
        return image
    if channels == 1:
        return image[..., :1].copy() if has == 2 else gray_of(image)
    if channels == 3 and has == 4:
        return np.ascontiguousarray(image[..., :3])
    result = np.empty((*image.shape[:-1], channels), image.dtype)
    result[..., :3] = image[..., :1] if has < 3 else image[..., :3]
    if channels == 4:
        result[..., 3] = image[..., 1] if has == 2 else np.iinfo(image.dtype).max
    return result
