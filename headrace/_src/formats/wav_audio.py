"""WAV: sound as 16-bit numbers, to and from float32 in [-1, 1)."""

import struct

import numpy as np

LONGEST = 2**31 - 1


class BadSound(ValueError):
    """The bytes are no WAV that can be read."""


def _chunk(data, place):
    """The name of the chunk at a place, where its contents begin and how long they should be."""
    if place + 8 > len(data):
        raise BadSound(f"WAV: the data ends in the header of a chunk, at byte {len(data)}")
    name, length = struct.unpack_from("<4sI", data, place)
    if length > LONGEST:
        raise BadSound(f"WAV: the chunk {name!r} is too large: {length} bytes, at most {LONGEST}")
    return name, place + 8, length


def decode_wav(data: bytes) -> tuple[np.ndarray, int]:
    """The samples, int16 of (frames, channels), and the number of frames in a second.

    Raises:
        BadSound: the data is no WAV of 16-bit PCM.
    """
    if len(data) < 12 or data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise BadSound(f"WAV: the data must begin with RIFF, a length, and WAVE, got {data[:12]!r}")
    if len(data) < 20:
        raise BadSound(f"WAV: the data ends before the format, after {len(data)} bytes")
    name, length = struct.unpack_from("<4sI", data, 12)
    if name != b"fmt ":
        raise BadSound(f"WAV: the first chunk must be 'fmt ', got {name!r}")
    if length not in (16, 18):
        raise BadSound(f"WAV: the format chunk must have 16 or 18 bytes, got {length}")
    _, start, _ = _chunk(data, 12)
    if start + length > len(data):
        raise BadSound(f"WAV: the data ends in the format, after {len(data)} bytes")
    code, channels, rate, bytes_per_second, bytes_per_frame, bits = struct.unpack_from("<HHIIHH", data, start)
    if code != 1:
        raise BadSound(f"WAV: the format must be 1 (PCM), got {code}")
    if channels < 1:
        raise BadSound("WAV: there must be at least one channel, got 0")
    if bits != 16:
        raise BadSound(f"WAV: samples must have 16 bits, got {bits}")
    if bytes_per_frame != channels * 2:
        raise BadSound(f"WAV: a frame of {channels} channels must have {channels * 2} bytes, got {bytes_per_frame}")
    if bytes_per_second != rate * bytes_per_frame:
        raise BadSound(
            f"WAV: {rate} frames of {bytes_per_frame} bytes a second make {rate * bytes_per_frame} bytes, "
            f"got {bytes_per_second}"
        )
    samples, place = None, start + length
    while place < len(data):
        name, start, length = _chunk(data, place)
        if name == b"data":
            if samples is not None:
                raise BadSound("WAV: there must be one data chunk, got more")
            frames = length // bytes_per_frame
            if start + frames * bytes_per_frame > len(data):
                there = len(data) - start
                raise BadSound(f"WAV: there should be {length} bytes of samples, but the data ends after {there}")
            samples = np.frombuffer(data, "<i2", frames * channels, start).reshape(frames, channels)
        place = start + length
    if samples is None:
        raise BadSound("WAV: there is no data chunk")
    if rate > LONGEST:
        raise BadSound(f"WAV: at most {LONGEST} frames a second can be told, got {rate}")
    return samples, rate


def encode_wav(audio: np.ndarray, rate: int) -> bytes:
    """A WAV of 16-bit PCM; numbers outside [-1, 1) are clipped, what is not a number becomes 0.

    Args:
        audio: float32 of (frames, channels).
        rate: the number of frames in a second.
    """
    channels = audio.shape[1]
    scaled = np.nan_to_num(audio, nan=0.0, posinf=1.0, neginf=-1.0).astype(np.float64) * 32768
    rounded = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)
    body = np.clip(rounded, -32768, 32767).astype("<i2").tobytes()
    # TF: a product too large for its 4 bytes wraps.
    shape = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2 % 2**32, channels * 2 % 2**16, 16)
    inner = b"WAVEfmt " + struct.pack("<I", 16) + shape + b"data" + struct.pack("<I", len(body))
    return b"RIFF" + struct.pack("<I", len(inner) + len(body)) + inner + body
