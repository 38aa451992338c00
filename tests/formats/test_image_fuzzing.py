"""Mutated images and sounds: a typed error or a result, in bounded time and memory, never anything else."""

import pathlib
import resource
import struct
import sys
import time
import zlib

import numpy as np
import pytest

import headrace as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "ops"))
from image_samples import GRAY, IMAGES, PALETTE, RGB, RGBA, bmp, gif, pixels, png, stored, wav

COUNT = 15_000  # of each format, 105,000 in all
SECONDS, MEGABYTES = 5, 700
NUMBERS = [0, 1, 255, 65535, 2**31 - 1, 2**32 - 1]
MARKERS = [b"\xff\xff", b"\0\0", b"\xff\xd8", b"\xff\xd9", b"\xff\xda", b"\x7f\xff"]


def _names(ending):
    return [stored(path.name) for path in sorted(IMAGES.glob(f"*.{ending}"))]


SEEDS = {
    "jpeg": lambda: _names("jpg"),
    "png": lambda: [
        png(pixels(7, 9, 3), RGB),
        png(pixels(7, 9, 4, high=65536), RGBA, 16, True),
        png(pixels(7, 9, high=16), PALETTE, 4, False, pixels(16, 3), b"\0\x32"),
        png(pixels(17, 19, high=2), GRAY, 1, True),
        png(pixels(5, 4, 3, high=65536), RGB, 16),
    ],
    "gif": lambda: [
        stored("animated.gif"),
        gif([(pixels(6, 8, high=200), 0, 0, {"transparent": 3}), (pixels(3, 4), 2, 1, {"dispose": 2})], pixels(256, 3)),
        gif([(pixels(6, 8, high=4), 0, 0, {"palette": pixels(4, 3), "bits": 2, "interlaced": True})], None),
    ],
    "bmp": lambda: [bmp(pixels(5, 7, n), n == 3) for n in (1, 3, 4)],
    "webp": lambda: _names("webp"),
    "wav": lambda: [wav(pixels(20, n, high=65536).astype(np.int32) - 32768) for n in (1, 2)],
    "any": lambda: [*_names("jpg")[:3], *_names("webp")[:2], png(pixels(7, 9, 3), RGB), bmp(pixels(5, 7, 3))],
}


def _with_checksums(data):
    """A PNG whose chunks have the checksums of what is in them now, so that the mutation is not seen at once."""
    place, out = 8, data[:8]
    while place + 12 <= len(data):
        length = int.from_bytes(data[place : place + 4])
        if place + 12 + length > len(data):
            break
        body = data[place + 4 : place + 8 + length]
        out += data[place : place + 4] + body + struct.pack(">I", zlib.crc32(body))
        place += 12 + length
    return out + data[place:]


def mutated(rng, data, others):
    """The data with a few bytes, numbers or stretches changed, left out, doubled or taken from elsewhere."""
    data = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        place = int(rng.integers(0, len(data))) if rng.random() < 0.6 else int(rng.integers(0, min(len(data), 64)))
        kind = rng.integers(0, 8)
        if kind == 0:
            data[place] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            data[place] = int(rng.integers(0, 256))
        elif kind == 2:
            data[place : place + 1] = rng.bytes(int(rng.integers(0, 9)))
        elif kind == 3:
            data[place : place + 4] = struct.pack(rng.choice(["<I", ">I"]), int(rng.choice(NUMBERS)))
        elif kind == 4:
            data[place : place + 2] = MARKERS[int(rng.integers(0, len(MARKERS)))]
        elif kind == 5:
            del data[place : place + int(rng.integers(1, 40))]
        elif kind == 6:
            del data[max(place, 4) :]
        else:
            other = others[int(rng.integers(0, len(others)))]
            start = int(rng.integers(0, len(other)))
            data[place : place + int(rng.integers(0, 30))] = other[start : start + int(rng.integers(1, 60))]
        if not data:
            break
    return bytes(data)


def _decode(kind, data, rng):
    contents = tf.constant(data)
    if kind == "wav":
        return tf.audio.decode_wav(contents).audio
    if kind == "any":
        dtype = [tf.uint8, tf.uint16, tf.float32][int(rng.integers(0, 3))]
        return tf.io.decode_image(contents, dtype=dtype, expand_animations=bool(rng.integers(0, 2)))
    if kind == "jpeg":
        ratio, recover = int(rng.choice([1, 1, 2, 4, 8])), bool(rng.integers(0, 2))
        fraction = float(rng.choice([1.0, 0.5]))
        return tf.io.decode_jpeg(contents, ratio=ratio, try_recover_truncated=recover, acceptable_fraction=fraction)
    if kind == "png":
        dtype = [tf.uint8, tf.uint16][int(rng.integers(0, 2))]
        return tf.io.decode_png(contents, channels=int(rng.choice([0, 1, 3, 4])), dtype=dtype)
    return getattr(tf.io, f"decode_{kind}")(contents)


@pytest.mark.usefixtures("nothing_in_the_background")
@pytest.mark.slow
@pytest.mark.parametrize("kind", SEEDS)
def test_mutated_data_gives_a_result_or_a_typed_error(kind):
    seeds = SEEDS[kind]()
    _decode(kind, seeds[0], np.random.Generator(np.random.PCG64(1)))  # the library is loaded before memory is measured
    rng = np.random.Generator(np.random.PCG64(2024))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    results = refused = 0
    for i in range(COUNT):
        data = mutated(rng, seeds[i % len(seeds)], seeds)
        if kind == "png" and rng.random() < 0.7:
            data = _with_checksums(data)
        start = time.thread_time()  # of this thread: others may take any of the machine's
        try:
            _decode(kind, data, rng)
            results += 1
        except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError):
            refused += 1
        taken = time.thread_time() - start
        assert taken < SECONDS, f"{kind} {i}: {taken:.1f} s for {data.hex()}"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < MEGABYTES, f"{kind}: memory grew by {grown:.0f} MB"
    assert results
    assert refused
