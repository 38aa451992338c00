"""Small images of every kind, written byte by byte, for the rows and tests of the codecs.

PNG, GIF, BMP and WAV are made here with nothing but NumPy and zlib, so that the recorder can make them too; JPEG, WebP
and JPEG XL are files of `tests/fixtures/images`, which Pillow, simplejpeg and imagecodecs wrote.
"""

import pathlib
import struct
import zlib

import numpy as np

IMAGES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "images"
GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGBA: 4}
ADAM7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def stored(name: str) -> bytes:
    """A file of `tests/fixtures/images`."""
    return (IMAGES / name).read_bytes()


def pixels(*shape, high=256, seed=0) -> np.ndarray:
    """Smooth and noisy parts, so that filters and predictors have something to do."""
    rng = np.random.Generator(np.random.PCG64([seed, *shape]))
    ramp = np.add.outer(np.arange(shape[0]), np.arange(shape[1])).reshape(shape[0], shape[1], *[1] * (len(shape) - 2))
    noise = rng.integers(0, max(high // 4, 2), shape)
    return ((ramp * high // 29 + noise) % high).astype(np.uint16 if high > 256 else np.uint8)


def _filtered(lines, width):
    """The rows of a PNG with filters 0, 1, 2, 3, 4, 0 ... in turn; `width` is that of a pixel in bytes."""
    out = b""
    before = np.zeros(lines.shape[1], np.int64)
    for i, line in enumerate(lines.astype(np.int64)):
        left = np.concatenate([np.zeros(width, np.int64), line])[: len(line)]
        corner = np.concatenate([np.zeros(width, np.int64), before])[: len(line)]
        estimate = left + before - corner
        a, b, c = abs(estimate - left), abs(estimate - before), abs(estimate - corner)
        paeth = np.where((a <= b) & (a <= c), left, np.where(b <= c, before, corner))
        kind = i % 5
        predicted = [np.zeros_like(line), left, before, (left + before) // 2, paeth][kind]
        out += bytes([kind]) + ((line - predicted) % 256).astype(np.uint8).tobytes()
        before = line
    return out


def _lines(array, depth):
    """Rows of samples as rows of bytes."""
    if depth == 16:
        return np.ascontiguousarray(array.astype(">u2")).view(np.uint8).reshape(len(array), -1)
    flat = array.reshape(len(array), -1).astype(np.uint8)
    if depth == 8:
        return flat
    bits = (flat[:, :, None] >> np.arange(depth - 1, -1, -1)) & 1
    return np.packbits(bits.reshape(len(array), -1).astype(np.uint8), axis=1)


def chunk(kind: bytes, data: bytes = b"") -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(array, color, depth=8, interlaced=False, palette=None, transparent=None, extra=b"", size=None) -> bytes:
    """A PNG of an array of samples, (height, width) or (height, width, channels)."""
    height, width = array.shape[:2]
    array = array.reshape(height, width, -1)
    step = max(1, CHANNELS[color] * depth // 8)
    passes = [array[y::dy, x::dx] for y, x, dy, dx in ADAM7] if interlaced else [array]
    raw = b"".join(_filtered(_lines(part, depth), step) for part in passes if part.size)
    header = struct.pack(">IIBBBBB", *(size or (width, height)), depth, color, 0, 0, int(interlaced))
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra
    if palette is not None:
        out += chunk(b"PLTE", palette.astype(np.uint8).tobytes())
    if transparent is not None:
        out += chunk(b"tRNS", transparent)
    return out + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND")


def _lzw(indices, bits):
    """Pixels as LZW codes that never leave the first width: a clear code in time, before the table grows."""
    clear, codes = 1 << bits, []
    for i, index in enumerate(indices):
        if i % (clear - 2) == 0:
            codes.append(clear)
        codes.append(int(index))
    codes.append(clear + 1)
    number = sum(code << (i * (bits + 1)) for i, code in enumerate(codes))
    return number.to_bytes((len(codes) * (bits + 1) + 7) // 8, "little")


def gif(frames, palette, size=None, version=b"GIF89a") -> bytes:
    """A GIF of frames `(indices, left, top, options)`; options: transparent, dispose, palette, interlaced, bits."""
    height, width = size or frames[0][0].shape
    out = version + struct.pack("<HH", width, height)
    out += bytes([0x80 | 7 if palette is not None else 0, 0, 0])
    if palette is not None:
        out += np.resize(palette, (256, 3)).astype(np.uint8).tobytes()
    for indices, left, top, options in frames:
        transparent = options.get("transparent")
        if transparent is not None or "dispose" in options:
            flags = (options.get("dispose", 0) << 2) | (transparent is not None)
            out += b"\x21\xf9\x04" + struct.pack("<BHB", flags, 10, transparent or 0) + b"\0"
        local = options.get("palette")
        rows, columns = indices.shape
        bits = options.get("bits", 8)
        flags = 0x40 * bool(options.get("interlaced"))
        if local is not None:
            flags |= 0x80 | (len(local).bit_length() - 2)
        out += b"," + struct.pack("<HHHHB", left, top, columns, rows, flags)
        if local is not None:
            out += local.astype(np.uint8).tobytes()
        if options.get("interlaced"):
            indices = np.concatenate([indices[0::8], indices[4::8], indices[2::4], indices[1::2]])
        data = _lzw(indices.ravel(), bits)
        out += bytes([bits]) + b"".join(bytes([len(data[i : i + 255])]) + data[i : i + 255]
                                        for i in range(0, len(data), 255)) + b"\0"  # fmt: skip
    return out + b";"


def bmp(array, top_down=False, palette=None, header=40, depth=None, compression=0) -> bytes:
    """A BMP of (height, width, 1, 3 or 4), blue first in the file."""
    height, width, channels = array.shape
    rows = array if channels == 1 else array[:, :, [2, 1, 0, 3][:channels]]
    rows = rows.reshape(height, -1)
    rows = np.pad(rows, [(0, 0), (0, -rows.shape[1] % 4)])
    colors = b"" if palette is None else np.pad(palette[:, ::-1], [(0, 0), (0, 1)]).astype(np.uint8).tobytes()
    body = (rows if top_down else rows[::-1]).astype(np.uint8).tobytes()
    start = 14 + header + len(colors)
    info = struct.pack("<IiiHHIIiiII", header, width, -height if top_down else height, 1, depth or channels * 8,
                       compression, len(body), 2835, 2835, len(colors) // 4, 0)  # fmt: skip
    return struct.pack("<2sIHHI", b"BM", start + len(body), 0, 0, start) + info.ljust(header, b"\0") + colors + body


def wav(samples, rate=8000, bits=16, code=1, extra=b"", data_length=None) -> bytes:
    """A WAV of 16-bit samples (frames, channels)."""
    channels = samples.shape[1]
    body = samples.astype("<i2").tobytes()
    shape = struct.pack("<HHIIHH", code, channels, rate, rate * channels * bits // 8, channels * bits // 8, bits)
    length = len(body) if data_length is None else data_length
    inner = b"WAVE" + b"fmt " + struct.pack("<I", len(shape)) + shape + extra + b"data" + struct.pack("<I", length)
    return b"RIFF" + struct.pack("<I", len(inner) + len(body)) + inner + body
