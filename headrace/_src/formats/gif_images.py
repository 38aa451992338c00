"""GIF: the blocks are read here, Pillow's decoder unpacks the pixels of a frame without the GIL."""

import struct

import numpy as np

from headrace._src.core.lazy import pillow_image
from headrace._src.formats.image_data import BadImage, TooLarge, check_limit, painted


def _colors(data, place, flags):
    """The colour table that flags announce, or None, and what follows it."""
    if not flags & 0x80:
        return None, place
    end = place + 3 * (2 << (flags & 7))
    if end > len(data):
        raise BadImage(f"GIF: the data ends in a color table, after {len(data)} bytes")
    return np.frombuffer(data, np.uint8, end - place, place).reshape(-1, 3), end


def _sub_blocks(data, place):
    """Where the sub-blocks from here end."""
    while place < len(data):
        length = data[place]
        place += 1 + length
        if not length:
            return place
    raise BadImage(f"GIF: the data ends in a block, after {len(data)} bytes")


class _Frame:
    """A frame as it is stored: its place, its colours, and its packed pixels."""

    def __init__(self, data, place, shared, transparent):
        if place + 9 > len(data):
            raise BadImage(f"GIF: the data ends in an image descriptor, after {len(data)} bytes")
        self.left, self.top, self.width, self.height, flags = struct.unpack_from("<HHHHB", data, place)
        colors, start = _colors(data, place + 9, flags)
        self.colors = shared if colors is None else colors
        self.interlaced, self.transparent = bool(flags & 0x40), transparent
        if start >= len(data):
            raise BadImage(f"GIF: the data ends before the pixels, after {len(data)} bytes")
        self.bits = data[start]
        self.end = _sub_blocks(data, start + 1)
        self.packed = data[start + 1 : self.end]
        if not self.width or not self.height:
            raise BadImage(f"GIF: height and width must be positive, got {self.height} x {self.width}")
        if not 1 <= self.bits <= 8:
            raise BadImage(f"GIF: codes must begin with 1 to 8 bits, got {self.bits}")
        # Each code adds a string that is at most one longer than the longest before, and none is longer than 4096.
        codes = len(self.packed) * 8 // (self.bits + 1) + 1
        if self.width * self.height > codes * min(codes, 4096):
            raise BadImage(
                f"GIF: the header promises {self.height} x {self.width} pixels, "
                f"which {len(self.packed)} bytes cannot hold"
            )

    def indices(self):
        try:
            image = pillow_image.frombytes(
                "P", (self.width, self.height), self.packed, "gif", (self.bits, int(self.interlaced))
            )
        except (ValueError, OSError, SystemError) as error:
            raise BadImage(f"GIF: the pixels of a frame cannot be unpacked: {error}") from None
        return np.frombuffer(image.tobytes(), np.uint8).reshape(self.height, self.width)


def _check_frames(count, height, width):
    # The canvas is as large as the largest frame, and each frame is kept unpacked until all are known.
    check_limit("GIF", count * height * width * 4, f"{count} frames of {height} x {width} pixels")


def _frames(data, only_first):
    """All frames that are there; what is cut off at the end is left out when some came before."""
    if data[:3] != b"GIF":
        raise BadImage(f"GIF: the data must begin with GIF, got {data[:3]!r}")
    if len(data) < 13:
        raise BadImage(f"GIF: the data ends in the header, after {len(data)} bytes")
    shared, place = _colors(data, 13, data[10])
    frames, transparent, height, width = [], None, 0, 0
    try:
        while True:
            if place >= len(data):
                raise BadImage(f"GIF: the data ends without a trailer, after {len(data)} bytes")
            kind = data[place]
            if kind == 0x3B:
                break
            if kind == 0x21:
                if place + 8 <= len(data) and data[place + 1] == 0xF9 and data[place + 2] == 4:
                    transparent = data[place + 6] if data[place + 3] & 1 else None
                place = _sub_blocks(data, place + 2)
            elif kind == 0x2C:
                frame = _Frame(data, place + 1, shared, transparent)
                height, width = max(height, frame.height), max(width, frame.width)
                _check_frames(1 if only_first else len(frames) + 1, height, width)
                frame.pixels = frame.indices()
                frames.append(frame)
                place, transparent = frame.end, None
            else:
                raise BadImage(f"GIF: a block of the unknown kind {kind:#04x}")
    except TooLarge:
        raise
    except BadImage:
        if not frames:
            raise
    if not frames:
        raise BadImage("GIF: there is no image")
    return frames


def decode_gif(data: bytes, only_first: bool = False) -> np.ndarray:
    """The frames of a GIF, as (frames, height, width, 3) of uint8.

    TF: the canvas is as large as the largest frame; a frame is drawn over the one before, whatever the file says
    about disposal; what nothing was drawn on is black.

    Raises:
        BadImage: it is no GIF, or no whole frame is there.
    """
    frames = _frames(data, only_first)
    height, width = max(frame.height for frame in frames), max(frame.width for frame in frames)
    if only_first:
        frames = frames[:1]
    result = np.zeros((len(frames), height, width, 3), np.uint8)
    for i, frame in enumerate(frames):
        if frame.colors is None:
            raise BadImage(f"GIF: frame {i} has no color table")
        if i:
            result[i] = result[i - 1]
        part = result[i, frame.top : frame.top + frame.height, frame.left : frame.left + frame.width]
        indices = frame.pixels[: part.shape[0], : part.shape[1]]
        if not indices.size:
            continue
        shown = None if frame.transparent is None else indices != frame.transparent
        largest = int(indices.max() if shown is None else indices.max(where=shown, initial=0))
        if largest >= len(frame.colors):
            raise BadImage(f"GIF: frame {i} has the color {largest}, of {len(frame.colors)}")
        if shown is None:
            part[...] = painted(indices, frame.colors)
        else:
            part[shown] = frame.colors[indices[shown]]
    return result
