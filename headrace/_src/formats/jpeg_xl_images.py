"""JPEG XL, decoded by libjxl through imagecodecs, which is installed on wish: `pip install headrace[jxl]`."""

import importlib.util

import numpy as np

from headrace._src.core.lazy import imagecodecs
from headrace._src.formats.image_data import BadImage


def is_available() -> bool:
    """Whether the library is installed."""
    return importlib.util.find_spec("imagecodecs") is not None


def decode_jpeg_xl(data: bytes) -> np.ndarray:
    """The pixels of a JPEG XL (the first frame), as (height, width, channels) of uint8.

    Raises:
        BadImage: it is no JPEG XL, or something in it is missing or wrong.
    """
    try:
        image = imagecodecs.jpegxl_decode(data, index=0)
    except Exception as error:  # the library's own class, ValueError, MemoryError: all mean that it cannot
        raise BadImage(f"JPEG XL: the image cannot be decoded: {error}") from None
    if image.ndim == 2:
        image = image[:, :, None]
    if image.dtype == np.uint16:
        return ((image.astype(np.uint32) * 255 + 32767) // 65535).astype(np.uint8)
    if image.dtype.kind == "f":
        return np.round(np.clip(image, 0, 1) * 255).astype(np.uint8)
    return np.ascontiguousarray(image)
