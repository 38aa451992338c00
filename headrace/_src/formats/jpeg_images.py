"""JPEG: decoded by libjpeg-turbo through simplejpeg, encoded through Pillow; both release the GIL.

With the fast DCT, simplejpeg's pixels are bit for bit TensorFlow's; see docs/decisions/0029-image-codecs.md.
"""

import io
import re
import struct
from dataclasses import dataclass

import numpy as np

from headrace._src.core.lazy import pillow_image, simplejpeg
from headrace._src.formats.image_data import BadImage, check_size

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ALONE = frozenset([0x01, *range(0xD0, 0xD8)])  # markers without a length
_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
_ARITHMETIC = frozenset([0xC9, 0xCA, 0xCB])
# How many pixels a byte can stand for: a block of 64 takes a bit, or less in arithmetic coding; what is cut off, none.
_PIXELS_PER_BYTE, _PIXELS_PER_BYTE_ARITHMETIC, _PIXELS_PER_BYTE_TRUNCATED = 512, 2**14, 2**16
_MOST_SCANS = 500  # of a progressive image; more are an attack on the time of others


@dataclass(frozen=True)
class Header:
    """What stands before the first scan."""

    height: int
    width: int
    channels: int
    frame: int  # where the frame header begins
    coding: int  # its marker
    is_adobe: bool  # Adobe's marker is there: CMYK is stored inverted
    scan: int  # where the first scan begins
    segments: tuple  # from where to where the segments before it go


def read_header(data: bytes) -> Header:
    """The size and the kind of a JPEG.

    Raises:
        BadImage: the data ends, or is something else, before the first scan.
    """
    if data[:2] != b"\xff\xd8":
        raise BadImage(f"JPEG: the data must begin with the bytes ff d8, got {data[:2].hex(' ') or 'nothing'}")
    place, frame, is_adobe, size = 2, None, False, len(data)
    coding, segments = 0, []
    while True:
        place = data.find(b"\xff", place)
        while 0 <= place < size - 1 and data[place + 1] == 0xFF:
            place += 1
        if place < 0 or place + 4 > size:
            raise BadImage(f"JPEG: the data ends after {size} bytes, before the image begins")
        marker = data[place + 1]
        if marker in _ALONE or marker == 0:
            place += 2
            continue
        if marker == 0xD9:
            raise BadImage("JPEG: the image ends before it begins")
        length = data[place + 2] << 8 | data[place + 3]
        if marker in _FRAMES and frame is None:
            frame, coding = place, marker
        elif marker == 0xEE and data[place + 4 : place + 9] == b"Adobe":
            is_adobe = True
        elif marker == 0xDA:
            break
        segments.append((place, place + 2 + length))
        place += 2 + length
    if frame is None or frame + 10 > size:
        raise BadImage("JPEG: there is no frame header before the first scan")
    height, width, channels = struct.unpack_from(">HHB", data, frame + 5)
    if data[frame + 4] != 8:
        raise BadImage(f"JPEG: samples must have 8 bits, got {data[frame + 4]}")
    if not height or not width:
        raise BadImage(f"JPEG: height and width must be positive, got {height} x {width}")
    if channels not in (1, 3, 4):
        raise BadImage(f"JPEG: there must be 1, 3 or 4 components, got {channels}")
    return Header(height, width, channels, frame, coding, is_adobe, place, tuple(segments))


def _is_complete(data, header):
    """Whether the end of the image is there."""
    place = header.scan
    while match := _MARKER.search(data, place):
        place = match.start()
        marker = data[place + 1]
        if marker == 0xD9:
            return True
        if marker in _ALONE:
            place += 2
        elif place + 4 <= len(data):
            place += 2 + (data[place + 2] << 8 | data[place + 3])
        else:
            return False
    return False


def decode_jpeg(
    data: bytes,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    accurate: bool = False,
) -> np.ndarray:
    """The pixels of a JPEG, as (height, width, 1 or 3).

    Args:
        data: the file.
        channels: 1 for gray, 3 for red, green and blue, 0 for what the file has.
        ratio: 1, 2, 4 or 8: how many times smaller the result is.
        fancy_upscaling: interpolate colours that are stored more coarsely.
        try_recover_truncated: decode what there is of an image that ends early.
        acceptable_fraction: the part of the lines that must be there; others are black.
        accurate: the slower DCT, by which other programs decode.

    Raises:
        BadImage: it is no JPEG, or too much of it is missing or wrong.
    """
    header = read_header(data)
    wanted = channels or (1 if header.channels == 1 else 3)
    if header.channels == 4 and wanted == 1:
        raise BadImage("JPEG: CMYK cannot be decoded to one channel")
    most = _PIXELS_PER_BYTE_ARITHMETIC if header.coding in _ARITHMETIC else _PIXELS_PER_BYTE
    if try_recover_truncated:
        most = _PIXELS_PER_BYTE_TRUNCATED
    check_size("JPEG", header.height, header.width, 4, len(data), most)
    if header.coding == 0xC2 and data.count(b"\xff\xda", header.scan) > _MOST_SCANS:
        raise BadImage(f"JPEG: more than {_MOST_SCANS} scans")
    options = dict(
        colorspace="CMYK" if header.channels == 4 else "GRAY" if wanted == 1 else "RGB",
        fastdct=not accurate,
        fastupsample=not fancy_upscaling,
    )
    try:
        image = _scaled(data, header, ratio, options, strict=True)
    except (ValueError, RuntimeError) as error:
        image = _recovered(data, header, ratio, options, try_recover_truncated, acceptable_fraction, error)
    return _rgb_of_cmyk(image, header.is_adobe) if header.channels == 4 else image


def _scaled(data, header, ratio, options, strict):
    if ratio == 1:
        return simplejpeg.decode_jpeg(data, strict=strict, **options)
    height, width = -(-header.height // ratio), -(-header.width // ratio)
    if header.height >= 8 or header.width >= 8:
        return simplejpeg.decode_jpeg(
            data, strict=strict, min_height=height, min_width=width, min_factor=ratio, **options
        )
    # The library finds the ratio from the sizes, which tiny images share; the file holds whole blocks, so it can be
    # read as one of 8 x 8.
    larger = bytearray(data)
    struct.pack_into(">HH", larger, header.frame + 5, 8, 8)
    image = simplejpeg.decode_jpeg(
        bytes(larger), strict=strict, min_height=8 // ratio, min_width=8 // ratio, min_factor=ratio, **options
    )
    return np.ascontiguousarray(image[:height, :width])


def _tidied(data, header):
    """The file without what the library does not forgive: bytes between segments, a JFIF of some unknown version."""
    parts = [data[start:end] for start, end in header.segments]
    for i, part in enumerate(parts):
        if part[1] == 0xE0 and part[4:9] == b"JFIF\0" and len(part) > 10:
            parts[i] = part[:9] + b"\1\1" + part[11:]
    tidy = b"\xff\xd8" + b"".join(parts) + data[header.scan :]
    return (data, header) if tidy == data else (tidy, read_header(tidy))


def _recovered(data, header, ratio, options, recover, fraction, error):
    """What there is of an image with which the library is not content."""
    reason = str(error).strip().rstrip(".") or "the decoder gives no reason"
    complete = _is_complete(data, header)
    if not complete and not recover and (fraction >= 1 or header.coding not in (0xC0, 0xC1)):
        raise BadImage(f"JPEG: the data ends early, after {len(data)} bytes ({reason})") from None
    data, header = _tidied(data, header)
    try:
        image = _scaled(data, header, ratio, options, strict=False)
    except (ValueError, RuntimeError) as failure:
        raise BadImage(f"JPEG: {failure or reason}") from None
    if complete or recover:
        return image
    lines = _complete_lines(data, header, ratio, options, image)
    if lines < fraction * image.shape[0] or not lines:
        raise BadImage(
            f"JPEG: the data ends early, after {len(data)} bytes: {lines} of {image.shape[0]} lines are there"
        )
    image[lines:] = 0
    return image


def _complete_lines(data, header, ratio, options, image):
    """How many lines do not depend on what is missing: those which other bytes at the end would leave as they are."""
    bits = [data[header.frame + 11 + 3 * i] for i in range(header.channels)]
    block = 8 * max(sampling & 15 for sampling in bits) // ratio
    other = data[: max(header.scan + 16, len(data) - 8)] + b"\xa5\x5a\x33" * 16
    try:
        differs = (_scaled(other, header, ratio, options, strict=False) != image).any((1, 2))
    except (ValueError, RuntimeError):
        return 0
    first = int(differs.argmax()) if differs.any() else image.shape[0] - 1
    # Interpolated colours need a line of the next row of blocks, so that a change may show one line early; the
    # decoder keeps its last two lines until that row is there.
    overlap = 2 if block > 8 // ratio and ratio == 1 else 0
    row = (first + overlap // 2) // block * block if block else first
    return max(row - overlap, 0) if row < image.shape[0] else image.shape[0]


def _rgb_of_cmyk(image, is_adobe):
    inks = image if is_adobe else 255 - image
    key = inks[..., 3:].astype(np.uint16)
    return (inks[..., :3] * key // 255).astype(np.uint8)


def encode_jpeg(
    image: np.ndarray,
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: bytes = b"",
) -> bytes:
    """A JPEG of uint8 (height, width, 1 or 3), byte for byte what TensorFlow writes."""
    height, width, channels = image.shape
    picture = pillow_image.frombytes("L" if channels == 1 else "RGB", (width, height), image.tobytes())
    file = io.BytesIO()
    picture.save(
        file,
        "JPEG",
        quality=max(quality, 1),  # 0 would be Pillow's default; the tables of 0 and 1 are the same
        subsampling=2 if chroma_downsampling and channels == 3 else 0,
        progressive=progressive,
        optimize=optimize_size,
        dpi=(300, 300),
    )
    data = bytearray(file.getvalue())
    unit = 1 if density_unit == "in" else 2
    struct.pack_into(">BHH", data, 13, unit, x_density % 2**16, y_density % 2**16)
    if xmp_metadata:
        name = b"http://ns.adobe.com/xap/1.0/\0"
        data[20:20] = b"\xff\xe1" + struct.pack(">H", 2 + len(name) + len(xmp_metadata)) + name + xmp_metadata
    return bytes(data)
