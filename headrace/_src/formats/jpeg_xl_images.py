"""JPEG XL, decoded by libjxl through imagecodecs, which is installed on wish: `pip install headrace[jxl]`."""

import importlib.util

import numpy as np

from headrace._src.core.lazy import imagecodecs
from headrace._src.formats.image_data import BadImage, check_limit

_RATIOS = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))  # of width to height
_WIDTHS = (9, 13, 18, 30)  # bits of a size


def is_available() -> bool:
    """Whether the library is installed."""
    return importlib.util.find_spec("imagecodecs") is not None


class _Bits:
    """Numbers of a few bits each, the lowest first."""

    def __init__(self, data):
        self._number, self._left = int.from_bytes(data, "little"), 8 * len(data)

    def take(self, count):
        if count > self._left:
            raise BadImage("JPEG XL: the data ends in the header")
        number = self._number & ((1 << count) - 1)
        self._number >>= count
        self._left -= count
        return number


def _codestream(data):
    """The beginning of the image itself, which may stand in a box of a container."""
    at = 0
    if data[:2] == b"\xff\x0a":
        return data[:16]
    while at + 16 <= len(data):
        size, name, start = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8], at + 8
        if size == 1:
            size, start = int.from_bytes(data[at + 8 : at + 16]), at + 16
        if name in (b"jxlc", b"jxlp"):
            start += 4 * (name == b"jxlp")
            return data[start : start + 16]
        if size < start - at:
            break
        at += size
    raise BadImage("JPEG XL: there is no image in the container")


def size_of(data: bytes) -> tuple[int, int]:
    """The height and width that the header says.

    Raises:
        BadImage: there is no header.
    """
    begin = _codestream(data)
    if begin[:2] != b"\xff\x0a":
        raise BadImage("JPEG XL: the image does not begin as one")
    bits = _Bits(begin[2:])
    is_small = bits.take(1)

    def size():
        return 8 * (bits.take(5) + 1) if is_small else bits.take(_WIDTHS[bits.take(2)]) + 1

    height, ratio = size(), bits.take(3)
    if not ratio:
        return height, size()
    across, down = _RATIOS[ratio - 1]
    return height, height * across // down


def decode_jpeg_xl(data: bytes) -> np.ndarray:
    """The pixels of a JPEG XL (the first frame), as (height, width, channels) of uint8.

    Raises:
        BadImage: it is no JPEG XL, or something in it is missing or wrong.
    """
    height, width = size_of(data)
    check_limit("JPEG XL", height * width * 4, f"{height} x {width} pixels")
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
