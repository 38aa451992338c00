"""PNG: the chunks are read and written here; Pillow's decoder inflates and undoes the filters without the GIL."""

import struct
import zlib

import numpy as np

from headrace._src.core.lazy import pillow_image
from headrace._src.formats.image_data import BadImage, check_size, gray_of, painted, with_channels

GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
_CHANNELS = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGBA: 4}
_DEPTHS = {GRAY: (1, 2, 4, 8, 16), RGB: (8, 16), PALETTE: (1, 2, 4, 8), GRAY_ALPHA: (8, 16), RGBA: (8, 16)}
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MOST_PER_BYTE = 1040  # of inflated bytes: the best that deflate can do
_SRGB_GAMMA = 45455
_PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
_UNTOUCHED = 0xA7


def _chunks(data):
    """The name and contents of each chunk, up to the end of the image.

    A critical chunk with a wrong checksum is an error, another one is left out.
    """
    place = len(_SIGNATURE)
    while True:
        if place + 12 > len(data):
            raise BadImage(f"PNG: the data ends early, after {len(data)} bytes")
        length, name = struct.unpack_from(">I4s", data, place)
        end = place + 12 + length
        if end > len(data):
            raise BadImage(
                f"PNG: the chunk {name!r} has {length} bytes, but the data ends after {len(data) - place - 12}"
            )
        contents = data[place + 8 : end - 4]
        is_critical = not name[0] & 32
        if zlib.crc32(contents, zlib.crc32(name)) == int.from_bytes(data[end - 4 : end]):
            yield name, contents
            if name == b"IEND":
                return
            if is_critical and name not in (b"IHDR", b"PLTE", b"IDAT"):
                raise BadImage(f"PNG: the critical chunk {name!r} is unknown")
        elif is_critical:
            raise BadImage(f"PNG: the checksum of the chunk {name!r} is wrong")
        place = end


class _Parts:
    """What the chunks of a PNG say."""

    def __init__(self, data):
        self.palette, self.transparent, self.gamma = None, b"", None
        body, self.header, last = [], None, b""
        for name, contents in _chunks(data):
            if self.header is None and name != b"IHDR":
                raise BadImage(f"PNG: the first chunk must be 'IHDR', got {name!r}")
            if name == b"IHDR":
                self._read_header(contents)
            elif name == b"PLTE" and not body:
                if len(contents) % 3 or not 0 < len(contents) <= 768:
                    raise BadImage(f"PNG: a palette has 1 to 256 colors of 3 bytes, got {len(contents)} bytes")
                self.palette = np.frombuffer(contents, np.uint8).reshape(-1, 3)
            elif name == b"tRNS":
                self.transparent = contents
            elif name == b"sRGB" and not body:
                self.gamma = _SRGB_GAMMA
            elif name == b"gAMA" and not body and self.gamma is None and len(contents) == 4:
                self.gamma = int.from_bytes(contents)
            elif name == b"IDAT" and (not body or last == b"IDAT"):
                body.append(contents)
            last = name
        self.body = body[0] if len(body) == 1 else b"".join(body)
        if not self.body:
            raise BadImage("PNG: there is no image data")
        if self.color == PALETTE and self.palette is None:
            raise BadImage("PNG: the palette is missing")

    def _read_header(self, contents):
        if self.header is not None or len(contents) != 13:
            raise BadImage("PNG: there must be one header, of 13 bytes")
        self.header = struct.unpack(">IIBBBBB", contents)
        self.width, self.height, self.depth, self.color, compression, filtering, self.interlaced = self.header
        if self.depth not in _DEPTHS.get(self.color, ()):
            raise BadImage(f"PNG: color type {self.color} with {self.depth} bits does not exist")
        if compression or filtering or self.interlaced > 1:
            raise BadImage("PNG: the kind of compression, filters or interlacing is unknown")
        if not 0 < self.width <= 1_000_000 or not 0 < self.height <= 1_000_000:
            raise BadImage(f"PNG: height and width must be 1 to 1000000, got {self.height} x {self.width}")

    def check(self, bytes_each):
        bits = self.depth * _CHANNELS[self.color]
        check_size("PNG", self.height, self.width, bytes_each, len(self.body), _MOST_PER_BYTE * 8 // bits + 1)

    def unpack(self, mode, raw, channels):
        """The inflated bytes, without filters and interlacing, as (height, width, channels of a byte)."""
        fill = _UNTOUCHED if channels == 1 else (_UNTOUCHED,) * channels
        image = pillow_image.new(mode, (self.width, self.height), fill)
        try:
            image.frombytes(self.body, "zip", (raw, self.interlaced))
        except (ValueError, OSError, SystemError) as error:
            raise BadImage(f"PNG: the image data cannot be inflated: {error}") from None
        pixels = np.frombuffer(image.tobytes(), np.uint8).reshape(self.height, self.width, channels)
        # Pillow is content with fewer lines than there should be; they show as what the image was filled with.
        if self.interlaced or (pixels[-1] == _UNTOUCHED).all():
            self._inflated()
        return pixels

    def _inflated_length(self):
        bits = self.depth * _CHANNELS[self.color]
        parts = [(self.height, self.width)]
        if self.interlaced:
            parts = [(-(-(self.height - y) // dy), -(-(self.width - x) // dx)) for y, x, dy, dx in _PASSES]
        return sum(height * (1 + (width * bits + 7) // 8) for height, width in parts if height > 0 and width > 0)

    def _inflated(self):
        """The image data as it should be, and as long."""
        wanted = self._inflated_length()
        try:
            data = zlib.decompressobj().decompress(self.body, wanted)
        except zlib.error as error:
            raise BadImage(f"PNG: the image data cannot be inflated: {error}") from None
        if len(data) < wanted:
            raise BadImage(f"PNG: the image data should inflate to {wanted} bytes, there are {len(data)}")
        return data

    def inflate_once(self):
        """Make what follows cheap for several readings."""
        self.body = zlib.compress(self._inflated(), 0)


def decode_png(data: bytes, channels: int = 0, wide: bool = False) -> np.ndarray:
    """The pixels of a PNG, as (height, width, channels) of uint8, or of uint16 when `wide`.

    Args:
        data: the file.
        channels: 1, 3, 4, or 0 for what the file has.
        wide: 16 bits: those of 8 are spread over them, as 16 are cut to 8 otherwise.

    Raises:
        BadImage: it is no PNG, or something in it is missing or wrong.
    """
    if data[:8] != _SIGNATURE:
        raise BadImage("PNG: the data does not begin as a PNG")
    parts = _Parts(data)
    parts.check(8 if wide else 4)
    image = _samples(parts, wide or channels == 1 or (channels == 4 and parts.transparent))
    if channels == 1 and image.shape[2] >= 3:
        image = _brightness(image, parts.gamma)
        channels = 0
    elif channels == 4 and parts.transparent and parts.color in (GRAY, RGB):
        image = _with_key(image, parts)
    image = with_channels(image, channels)
    if image.dtype == np.uint16 and not wide:
        return (image >> 8).astype(np.uint8)
    if image.dtype == np.uint8 and wide:
        return image * np.uint16(257)
    return image


def _samples(parts, wide):
    """Gray, gray and alpha, RGB or RGBA; uint16 when there are 16 bits and they are wanted."""
    color, depth = parts.color, parts.depth
    if depth < 8 or color == PALETTE:
        indices = parts.unpack("L" if depth == 8 else "P", "L" if depth == 8 else f"P;{depth}", 1)
        if color == GRAY:
            return indices * np.uint8(255 // (2**depth - 1))
        colors = np.zeros((256, 4), np.uint8)
        colors[: len(parts.palette), :3] = parts.palette
        if not parts.transparent:
            return painted(indices[:, :, 0], np.ascontiguousarray(colors[:, :3]))
        alpha = np.frombuffer(parts.transparent[:256], np.uint8)
        colors[:, 3] = 255
        colors[: len(alpha), 3] = alpha
        return np.take(colors.view(np.uint32)[:, 0], indices).view(np.uint8)
    if depth == 8:
        mode = {GRAY: "L", RGB: "RGB", GRAY_ALPHA: "LA", RGBA: "RGBA"}[color]
        return parts.unpack(mode, mode, _CHANNELS[color])
    if color in (GRAY, GRAY_ALPHA):
        # As many bytes in a pixel as 8-bit LA or RGBA has: the filters do not know the difference.
        mode = "LA" if color == GRAY else "RGBA"
        return parts.unpack(mode, mode, 2 * _CHANNELS[color]).view(">u2").astype(np.uint16)
    # Pillow keeps one byte of two: the first as big-endian numbers, the second when told that they are little-endian.
    mode, count = ("RGB", 3) if color == RGB else ("RGBA", 4)
    if wide:
        parts.inflate_once()
    high = parts.unpack(mode, f"{mode};16B", count)
    if not wide:
        return high
    low = parts.unpack(mode, f"{mode};16L", count)
    return high * np.uint16(256) + low


def _with_key(image, parts):
    """An alpha channel for the one colour that is transparent."""
    count = image.shape[2]
    if len(parts.transparent) < 2 * count:
        return image
    key = np.frombuffer(parts.transparent, ">u2", count).astype(np.int64)
    if parts.depth < 8:
        key = key * (255 // (2**parts.depth - 1))
    largest = np.iinfo(image.dtype).max
    alpha = np.where((image == key).all(2), 0, largest).astype(image.dtype)
    return np.concatenate([image if count == 3 else np.repeat(image, 3, 2), alpha[:, :, None]], axis=2)


def _brightness(image, gamma):
    """Gray of colours; when the file says how brightness is stored, in linear light."""
    if not gamma or abs(gamma - 100000) <= 5000:
        return gray_of(image)
    largest = np.iinfo(image.dtype).max
    steps = np.arange(largest + 1) / largest
    to_light = np.floor(largest * steps ** (100000 / gamma) + 0.5).astype(np.uint32)
    from_light = np.floor(largest * steps ** (gamma / 100000) + 0.5).astype(image.dtype)
    red, green, blue = (to_light[image[..., i]] for i in range(3))
    gray = from_light[(red * 9797 + green * 19234 + blue * 3737 + 16384) >> 15]
    same = (image[..., 0] == image[..., 1]) & (image[..., 1] == image[..., 2])
    return np.where(same, image[..., 0], gray)[..., None]


def _chunk(name, contents):
    check = zlib.crc32(contents, zlib.crc32(name))
    return struct.pack(">I", len(contents)) + name + contents + struct.pack(">I", check)


def encode_png(image: np.ndarray, compression: int = -1) -> bytes:
    """A PNG of uint8 or uint16 (height, width, 1 to 4 channels)."""
    height, width, channels = image.shape
    size = image.dtype.itemsize
    lines = np.ascontiguousarray(image.astype(image.dtype.newbyteorder(">"), copy=False))
    lines = lines.view(np.uint8).reshape(height, width * channels * size)
    raw = _filtered(lines, channels * size).tobytes()
    color = {1: GRAY, 2: GRAY_ALPHA, 3: RGB, 4: RGBA}[channels]
    header = struct.pack(">IIBBBBB", width, height, 8 * size, color, 0, 0, 0)
    deflate = zlib.compressobj(compression, strategy=zlib.Z_FILTERED)
    body = _with_window(deflate.compress(raw) + deflate.flush(), len(raw))
    parts = [_chunk(b"IDAT", body[i : i + 8192]) for i in range(0, len(body), 8192)]
    return _SIGNATURE + _chunk(b"IHDR", header) + b"".join(parts) + _chunk(b"IEND", b"")


def _with_window(body, length):
    """The stream with the smallest window that its data needs in the header, as libpng writes it."""
    window = 7
    while window and length <= 1 << (window + 7):
        window -= 1
    first = body[0] & 0x0F | window << 4
    second = body[1] & 0xE0
    return bytes([first, second + 31 - (first << 8 | second) % 31]) + body[2:]


def _filtered(lines, step):
    """Each line after the number of the filter that leaves the smallest numbers, as libpng chooses."""
    left = np.zeros_like(lines)
    left[:, step:] = lines[:, :-step]
    above = np.zeros_like(lines)
    above[1:] = lines[:-1]
    corner = np.zeros_like(lines)
    corner[1:, step:] = lines[:-1, :-step]
    a, b, c = left.astype(np.int16), above.astype(np.int16), corner.astype(np.int16)
    to_left, to_above, to_corner = np.abs(b - c), np.abs(a - c), np.abs(a + b - 2 * c)
    other = np.where(to_above <= to_corner, above, corner)
    paeth = np.where((to_left <= to_above) & (to_left <= to_corner), left, other)
    mean = ((a + b) >> 1).astype(np.uint8)
    tries = np.stack([lines, lines - left, lines - above, lines - mean, lines - paeth])
    cost = np.abs(tries.view(np.int8).astype(np.int16)).sum(axis=2, dtype=np.int64)
    best = cost.argmin(axis=0)
    result = np.empty((len(lines), lines.shape[1] + 1), np.uint8)
    result[:, 0] = best
    result[:, 1:] = tries[best, np.arange(len(lines))]
    return result
