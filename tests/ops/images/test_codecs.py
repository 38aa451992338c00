"""The codecs where rows do not reach: bombs, threads, graphs, JPEG XL, and TensorFlow reading what we wrote."""

import concurrent.futures
import json
import os
import struct
import subprocess
import tracemalloc
import zlib

import numpy as np
import pytest
from image_samples import CHANNELS, GRAY, GRAY_ALPHA, RGB, RGBA, bmp, chunk, gif, pixels, png, stored, wav

import headrace as tf
from headrace._src.formats import jpeg_images, jpeg_xl_images, png_images
from headrace._src.formats.image_data import BadImage, format_of

PHOTO = stored("photo_420.jpg")


def _with_size(data, height, width):
    frame = data.index(b"\xff\xc0")
    return data[: frame + 5] + struct.pack(">HH", height, width) + data[frame + 9 :]


def _lossless_webp(height, width):
    bits = (width - 1) | (height - 1) << 14
    body = b"VP8L" + struct.pack("<IBI", 5, 0x2F, bits) + bytes(1)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


BOMBS = {
    "jpeg": _with_size(PHOTO, 65500, 65500),
    "jpeg of 400 megapixels": _with_size(PHOTO, 20000, 20000),
    "png": png(pixels(7, 9, 3), RGB, size=(20000, 20000)),
    "png of many rows": png(pixels(7, 9), GRAY, size=(1000, 1000000)),
    "gif": gif([(pixels(6, 8), 0, 0, {})], pixels(256, 3)).replace(
        b"," + struct.pack("<HHHH", 0, 0, 8, 6), b"," + struct.pack("<HHHH", 0, 0, 65535, 65535)
    ),
    "bmp": bmp(pixels(5, 7, 3))[:18] + struct.pack("<ii", 15000, 15000) + bmp(pixels(5, 7, 3))[26:],
    "webp": _lossless_webp(16000, 16000),
}


@pytest.mark.usefixtures("nothing_in_the_background")
@pytest.mark.parametrize("name", BOMBS)
def test_promised_sizes_take_no_memory(name):
    tf.io.decode_image(stored("lossy.webp"))  # the libraries are loaded
    tracemalloc.start()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_image(BOMBS[name])
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("nothing_in_the_background")
def test_deflated_bomb_is_refused_after_what_it_should_hold():
    body = zlib.compress(bytes(300_000_000), 9)
    header = struct.pack(">IIBBBBB", 10, 10, 8, RGB, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND")
    tracemalloc.start()
    try:
        assert not png_images.decode_png(data).any()
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_progressive_scans_are_counted():
    data = stored("progressive.jpg")
    scan = data.index(b"\xff\xda")
    with pytest.raises(BadImage, match="scans"):
        jpeg_images.decode_jpeg(data[:scan] + data[scan:-2] * 101 + b"\xff\xd9")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", ["DecodeImage", "contents is empty"]),
        (b"hello world", ["JPEG, PNG, GIF, BMP, WebP", "68 65 6c 6c 6f"]),
        (PHOTO[:-200], ["JPEG", "ends early", str(len(PHOTO) - 200)]),
        (png(pixels(7, 9, 3), RGB)[:-20], ["PNG", "ends"]),
        (png(pixels(7, 9, 3), RGB).replace(b"IDAT", b"IDAX"), ["PNG", "checksum", "IDAX"]),
        (b"GIF89a", ["GIF", "header", "6 bytes"]),
        (bmp(pixels(5, 7, 3))[:-1], ["BMP", "174", "173"]),
        (stored("lossy.webp")[:-1], ["WebP", "ends early", "111"]),
    ],
)
def test_errors_name_the_format_and_what_is_wrong(data, words):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.io.decode_image(data)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_formats_are_told_by_their_first_bytes():
    assert format_of(PHOTO) == "JPEG"
    assert format_of(b"\xff\x0a") == "JPEG XL"
    assert format_of(b"RIFF....WAVE") is None


def test_threads_decode_the_same():
    files = [stored(f"{name}.jpg") for name in ("photo_420", "progressive", "cmyk", "gray")]
    files += [png(pixels(40, 50, 3), RGB), stored("animated.gif"), stored("animated_alpha.webp")]
    wanted = [tf.io.decode_image(data).numpy() for data in files]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            results = list(pool.map(lambda data: tf.io.decode_image(data).numpy(), files * 4))
            for got, want in zip(results, wanted * 4, strict=True):
                np.testing.assert_array_equal(got, want)


def test_shapes_in_graphs():
    seen = {}

    @tf.function
    def decode(contents):
        seen["jpeg"] = tf.io.decode_jpeg(contents, channels=3).shape
        seen["gif"] = tf.io.decode_gif(contents).shape
        seen["image"] = tf.io.decode_image(contents, channels=3, expand_animations=False).shape
        seen["any"] = tf.io.decode_image(contents).shape
        seen["crop"] = tf.io.decode_and_crop_jpeg(contents, [1, 2, 3, 4], channels=1).shape
        seen["quality"] = tf.image.adjust_jpeg_quality(tf.zeros([8, 9, 3]), 50).shape
        return tf.io.decode_jpeg(contents, ratio=2)

    assert decode(tf.constant(PHOTO)).shape == [19, 27, 3]
    assert seen["jpeg"].as_list() == seen["image"].as_list() == seen["quality"].as_list() == [None, None, 3]
    assert seen["gif"].as_list() == [None, None, None, 3]
    assert seen["any"].rank is None
    assert seen["crop"].as_list() == [3, 4, 1]


@pytest.mark.parametrize("color", [GRAY, GRAY_ALPHA, RGB, RGBA])
@pytest.mark.parametrize("high", [256, 65536])
def test_png_round_trip(color, high):
    image = pixels(33, 47, CHANNELS[color], high=high)
    dtype = tf.uint8 if high == 256 else tf.uint16
    for compression in (-1, 0, 9):
        contents = tf.io.encode_png(image, compression=compression)
        np.testing.assert_array_equal(tf.io.decode_png(contents, dtype=dtype), image)


def test_wav_round_trip():
    samples = pixels(50, 3, high=65536).astype(np.int32) - 32768
    data = wav(samples, rate=44100)
    audio, rate = tf.audio.decode_wav(data)
    assert tf.audio.encode_wav(audio, rate).numpy() == data


def test_random_quality_follows_the_seed():
    image = pixels(16, 16, 3)
    results = []
    for _ in range(2):
        tf.random.set_seed(7)
        results.append([tf.image.random_jpeg_quality(image, 10, 90).numpy() for _ in range(3)])
    np.testing.assert_array_equal(results[0], results[1])
    assert not np.array_equal(results[0][0], results[0][1])


def test_animated_webp_has_four_channels():
    frames = tf.io.decode_webp(stored("animated.webp"))
    assert frames.shape == [3, 18, 24, 4]
    assert (frames[..., 3] == 255).numpy().all()
    assert tf.io.decode_image(stored("animated.webp"), expand_animations=False).shape[:2] == [18, 24]


def test_jpeg_xl():
    pytest.importorskip("imagecodecs")
    lossless = tf.io.decode_jxl(stored("lossless.jxl")).numpy()
    np.testing.assert_array_equal(lossless, tf.io.decode_webp(stored("lossless.webp"))[0])
    assert lossless[0, 0].tolist() == [60, 57, 154]
    assert tf.io.decode_image(stored("alpha.jxl")).shape == [18, 24, 4]
    assert tf.io.decode_jxl(stored("gray.jxl")).shape == [18, 24, 1]
    deep = tf.io.decode_jxl(stored("deep.jxl")).numpy()
    exact = pixels(9, 11, 3, high=65536) / 257
    np.testing.assert_allclose(deep, exact, atol=0.501)  # TensorFlow dithers, which is within 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="channels"):
        tf.io.decode_jxl(stored("lossless.jxl"), channels=4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="JPEG XL"):
        tf.io.decode_jxl(stored("lossless.jxl")[:-1])


def test_jpeg_xl_without_its_library(monkeypatch):
    monkeypatch.setattr(jpeg_xl_images, "is_available", lambda: False)
    with pytest.raises(tf.errors.UnimplementedError, match="pip install"):
        tf.io.decode_jxl(stored("lossless.jxl"))


READ_BACK = """
import json, sys
import tensorflow as tf
for line in sys.stdin:
    kind, contents = json.loads(line)
    contents = bytes.fromhex(contents)
    if kind == "wav":
        audio, rate = tf.audio.decode_wav(contents)
        print(json.dumps([int(rate), audio.numpy().tolist()]))
    else:
        print(json.dumps(tf.io.decode_png(contents, dtype=tf.uint16).numpy().tolist()))
"""


@pytest.mark.slow
@pytest.mark.skipif("TENSORFLOW_PYTHON" not in os.environ, reason="needs TensorFlow, named by TENSORFLOW_PYTHON")
def test_tensorflow_reads_what_we_write():
    rng = np.random.Generator(np.random.PCG64(3))
    files = []
    for i in range(40):
        shape = (*rng.integers(1, 40, 2), int(rng.integers(1, 5)))
        dtype = [np.uint8, np.uint16][i % 2]
        image = rng.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)
        files.append(("png", tf.io.encode_png(image, compression=i % 11 - 1).numpy()))
        color = image.astype(np.uint8)[:, :, : 3 if shape[2] >= 3 else 1]
        options = dict(quality=int(rng.integers(0, 101)), progressive=bool(i % 3), chroma_downsampling=bool(i % 2))
        files.append(("jpeg", tf.io.encode_jpeg(color, **options).numpy()))
        audio = rng.uniform(-1, 1, shape[:2]).astype(np.float32)
        files.append(("wav", tf.audio.encode_wav(audio, 8000 + i).numpy()))
    lines = "".join(json.dumps([kind, data.hex()]) + "\n" for kind, data in files)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [os.environ["TENSORFLOW_PYTHON"], "-c", READ_BACK], input=lines, capture_output=True, text=True, check=True,
        env=environment, timeout=600,
    )  # fmt: skip
    for (kind, data), answer in zip(files, map(json.loads, done.stdout.splitlines()), strict=True):
        if kind == "wav":
            audio, rate = tf.audio.decode_wav(data)
            assert int(rate) == answer[0]
            np.testing.assert_array_equal(audio, np.array(answer[1], np.float32).reshape(audio.shape))
        else:
            np.testing.assert_array_equal(tf.io.decode_png(data, dtype=tf.uint16), np.array(answer))
