"""WebP, still and animated, decoded by libwebp through Pillow."""

import io

import numpy as np

from headrace._src.core.lazy import pillow_image
from headrace._src.formats.image_data import BadImage, check_limit

_MOST_PER_BYTE = 2**14


def _canvas(data):
    """Height and width as the header says, before anything is decoded."""
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        return int.from_bytes(data[27:30], "little") + 1, int.from_bytes(data[24:27], "little") + 1
    if kind == b"VP8 " and len(data) >= 30:
        return int.from_bytes(data[28:30], "little") & 0x3FFF, int.from_bytes(data[26:28], "little") & 0x3FFF
    if kind == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return (bits >> 14 & 0x3FFF) + 1, (bits & 0x3FFF) + 1
    raise BadImage("WebP: the header is not complete")


def decode_webp(data: bytes, only_first: bool = False) -> np.ndarray:
    """The frames of a WebP, as (frames, height, width, 3 or 4) of uint8; animations have 4 channels.

    Raises:
        BadImage: it is no WebP, or something in it is missing or wrong.
    """
    height, width = _canvas(data)
    pixels = height * width
    if not pixels:
        raise BadImage(f"WebP: height and width must be positive, got {height} x {width}")
    if pixels > 2**20 and pixels > len(data) * _MOST_PER_BYTE:
        raise BadImage(f"WebP: the header promises {height} x {width} pixels, which is too much for {len(data)} bytes")
    check_limit("WebP", pixels * 4, f"{height} x {width} pixels")
    if int.from_bytes(data[4:8], "little") + 8 > len(data):
        raise BadImage(f"WebP: the data ends early, after {len(data)} bytes")
    try:
        image = pillow_image.open(io.BytesIO(data), formats=["WEBP"])
        count = 1 if only_first else getattr(image, "n_frames", 1)
        animated = getattr(image, "n_frames", 1) > 1
        check_limit("WebP", count * pixels * 4, f"{count} frames of {height} x {width} pixels")
        frames = []
        for i in range(count):
            image.seek(i)
            frame = image.convert("RGBA") if animated and image.mode != "RGBA" else image
            frame.load()
            frames.append(np.frombuffer(frame.tobytes(), np.uint8).reshape(frame.height, frame.width, -1))
    except BadImage:
        raise
    except Exception as error:  # Pillow's plugin lets out whatever libwebp or the container made it raise
        raise BadImage(f"WebP: the image cannot be decoded: {error}") from None
    return np.stack(frames) if count > 1 else frames[0][None]
