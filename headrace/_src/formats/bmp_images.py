"""BMP: uncompressed rows of blue, green, red and perhaps a fourth byte, or of one byte."""

import struct

import numpy as np

from headrace._src.formats.image_data import BadImage, with_channels

HEADER = 32  # up to the kind of compression, which TensorFlow does not look at


def decode_bmp(data: bytes, channels: int = 0) -> np.ndarray:
    """The pixels of a BMP of 8, 24 or 32 bits, as (height, width, channels).

    Raises:
        BadImage: the data is no such BMP.
    """
    if channels == 1:
        raise BadImage("BMP: channels must be 0, 3 or 4, got 1")
    if len(data) < HEADER:
        raise BadImage(f"BMP: the header needs {HEADER} bytes, got {len(data)}")
    start, width, height = struct.unpack_from("<i4xii", data, 10)
    bits, compression = struct.unpack_from("<Hh", data, 28)
    has, top_down, rows = bits // 8, height < 0, abs(height)
    if start < 0:
        raise BadImage(f"BMP: the offset of the pixels must not be negative, got {start}")
    if width <= 0 or rows == 0:
        raise BadImage(f"BMP: height and width must be positive, got {rows} x {width}")
    if has not in (1, 3, 4):
        raise BadImage(f"BMP: pixels must have 8, 24 or 32 bits, got {bits}")
    if compression in (1, 2):
        raise BadImage("BMP: run-length compression is not supported")
    if rows * width * has >= 2**30:
        raise BadImage(f"BMP: {rows} x {width} pixels of {has} bytes are too large, less than 2^30 bytes are allowed")
    stride = (width * has + 3) // 4 * 4
    if len(data) != start + stride * rows:
        raise BadImage(
            f"BMP: {rows} x {width} pixels of {bits} bits from offset {start} make {start + stride * rows} bytes, "
            f"got {len(data)}"
        )
    lines = np.frombuffer(data, np.uint8, stride * rows, start).reshape(rows, stride)
    lines = lines[:, : width * has].reshape(rows, width, has)
    if not top_down:
        lines = lines[::-1]
    # TF: one byte is a shade of gray, whatever the palette says.
    image = lines.copy() if has == 1 else lines[:, :, [2, 1, 0, 3][:has]]
    return with_channels(image, channels)
