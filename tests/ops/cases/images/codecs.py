"""Rows of `ops/images/decoding.py`, `ops/images/encoding.py` and `ops/signal/audio.py`."""

import struct

import numpy as np
from image_samples import (
    GRAY,
    GRAY_ALPHA,
    PALETTE,
    RGB,
    RGBA,
    bmp,
    chunk,
    gif,
    pixels,
    png,
    stored,
    wav,
)  # fmt: skip
from rows import integers, row, uniform, value


def image(data: bytes):
    return value(data, "string")


def decoded(code, data, **options):
    return row(code, c=image(data), grad=False, **options)


def cut(data, place, new):
    return data[:place] + new + data[place + len(new) :]


JPEGS = ("photo_444 photo_422 photo_420 photo_440 photo_411 gray progressive progressive_gray restarts cmyk ycck rgb "
         "large_steps").split()  # fmt: skip
PHOTO = stored("photo_420.jpg")
FRAME = PHOTO.index(b"\xff\xc0")
COLORS = pixels(16, 3, seed=5)
MANY = pixels(256, 3, seed=7)
A, B = pixels(6, 8, high=200), pixels(3, 4, high=200, seed=2)
SMALL = png(pixels(7, 9, 3), RGB)
DEEP = png(pixels(7, 9, 3, high=65536), RGB, 16)
TWO = gif([(A, 0, 0, {}), (B, 2, 1, {})], MANY)
BMP3, BMP4, BMP1 = bmp(pixels(5, 7, 3)), bmp(pixels(5, 7, 4)), bmp(pixels(5, 7, 1))
SOUND = pixels(20, 2, high=65536).astype(np.int32) - 32768
WAV = wav(SOUND)
GRAY_KEY, RGB_KEY = struct.pack(">H", int(pixels(7, 9, high=16)[2, 3])), struct.pack(">HHH", *map(int, pixels(7, 9, 3)[2, 3]))

ROWS = [
    # JPEG: every kind, channels, ratios, both transforms, both kinds of upscaling.
    *[decoded("tf.io.decode_jpeg(c), tf.io.decode_jpeg(c, channels=3), tf.io.extract_jpeg_shape(c), tf.io.is_jpeg(c)",
              stored(f"{name}.jpg")) for name in JPEGS],
    *[decoded("tf.io.decode_jpeg(c, channels=1)", stored(f"{name}.jpg")) for name in JPEGS],
    *[decoded(f"tf.io.decode_jpeg(c, ratio={ratio})", stored(f"{name}.jpg"))
      for name in ("photo_420", "photo_444", "photo_422", "gray", "cmyk") for ratio in (2, 4, 8)],
    *[decoded("tf.io.decode_jpeg(c, dct_method='INTEGER_ACCURATE'), tf.io.decode_jpeg(c, dct_method='INTEGER_FAST'), "
              "tf.io.decode_jpeg(c, fancy_upscaling=False)", stored(f"{name}.jpg"))
      for name in ("photo_420", "photo_422", "progressive", "cmyk")],
    *[decoded(f"tf.io.decode_jpeg(c, ratio={ratio})", stored("one_pixel.jpg")) for ratio in (1, 2, 4, 8)],
    decoded("tf.image.decode_jpeg(c), tf.compat.v1.image.decode_jpeg(c)", PHOTO),
    decoded("tf.io.extract_jpeg_shape(c, output_type=tf.int64)", PHOTO),
    decoded("tf.io.extract_jpeg_shape(c)", b"abc"),
    decoded("tf.io.extract_jpeg_shape(c)", b""),
    decoded("tf.io.extract_jpeg_shape(c)", PHOTO[:200]),
    row("tf.io.is_jpeg(c)", c=value([b"\xff\xd8\xff", b"\xff\xd8", b"", b"GIF89a"], "string"), grad=False),
    *[decoded(f"tf.io.decode_jpeg(c, {bad})", PHOTO)
      for bad in ("channels=2", "channels=4", "channels=-1", "ratio=3", "ratio=0", "dct_method='FLOAT'")],
    row("tf.io.decode_jpeg(c)", c=value([b"x"], "string"), grad=False),
    *[decoded("tf.io.decode_jpeg(c)", data) for data in (
        b"", b"\xff", b"\xff\xd8\xff", b"x" + PHOTO, PHOTO[:300], PHOTO[:-100], PHOTO[:-2], PHOTO[:-1], PHOTO + b"more",
        cut(PHOTO, FRAME + 5, b"\xff\xff\xff\xff"), cut(PHOTO, FRAME + 5, b"\0\0"), cut(PHOTO, FRAME + 7, b"\0\0"),
        cut(PHOTO, FRAME + 4, b"\x0c"), cut(PHOTO, FRAME + 1, b"\xc3"),
        cut(PHOTO, len(PHOTO) - 300, b"\xff\xd9"), cut(PHOTO, len(PHOTO) - 300, bytes(20)),
        cut(PHOTO, len(PHOTO) - 300, b"\xff\xd3"))],
    decoded("tf.io.decode_jpeg(c, try_recover_truncated=True)", PHOTO[:-2]),
    *[decoded("tf.io.decode_jpeg(c, try_recover_truncated=True)", stored(f"{name}.jpg")[:-length],
              ours="TensorFlow reads bytes that are not there; blocks that are missing are gray")
      for name, length in (("photo_420", 100), ("photo_444", 300), ("progressive", 200))],
    *[decoded("tf.io.decode_jpeg(c)", stored(f"{name}.jpg")[:-length] + b"\xff\xd9")
      for name, length in (("photo_420", 100), ("photo_444", 300), ("progressive", 200), ("gray", 50))],
    *[decoded(f"tf.io.decode_jpeg(c, acceptable_fraction={part})", stored("large_steps.jpg")[:-length])
      for part in (0.3, 0.9) for length in (2, 200, 500)],
    *[decoded(f"tf.io.decode_and_crop_jpeg(c, {window}, fancy_upscaling=False)", PHOTO)
      for window in ([0, 0, 37, 53], [3, 5, 20, 30], [36, 52, 1, 1])],
    decoded("tf.io.decode_and_crop_jpeg(c, [1, 2, 10, 12], ratio=2, channels=1)", stored("photo_444.jpg")),
    decoded("tf.io.decode_and_crop_jpeg(c, [3, 5, 20, 30])", stored("gray.jpg")),
    decoded("tf.io.decode_and_crop_jpeg(c, [3, 5, 20, 30])", stored("cmyk.jpg")),
    decoded("tf.io.decode_and_crop_jpeg(c, [3, 5, 20, 30])", PHOTO,
            ours="libjpeg interpolates colours at the border of the window from inside it alone; ours are those of the image"),
    *[decoded(f"tf.io.decode_and_crop_jpeg(c, {window})", PHOTO)
      for window in ([0, 0, 38, 53], [-1, 0, 5, 5], [0, 0, 0, 5], [1, 2, 3])],

    # PNG: every colour type and depth, interlaced or not, with and without transparency, to all channels.
    *[decoded("[tf.io.decode_png(c, channels=n, dtype=d) for n in (0, 1, 3) for d in (tf.uint8, tf.uint16)]",
              png(pixels(7, 9, high=1 << depth), GRAY, depth, interlaced))
      for depth in (1, 2, 4, 8, 16) for interlaced in (False, True)],
    *[decoded("[tf.io.decode_png(c, channels=n, dtype=d) for n in (0, 1, 3, 4) for d in (tf.uint8, tf.uint16)]",
              png(pixels(7, 9, channels, high=1 << depth), color, depth, interlaced))
      for color, channels in ((RGB, 3), (GRAY_ALPHA, 2), (RGBA, 4)) for depth in (8, 16) for interlaced in (False, True)],
    *[decoded("[tf.io.decode_png(c, channels=n) for n in (0, 1, 3)]",
              png(pixels(7, 9, high=min(1 << depth, 16)), PALETTE, depth, interlaced, COLORS[: 1 << depth]))
      for depth in (1, 2, 4, 8) for interlaced in (False, True)],
    *[decoded("[tf.io.decode_png(c, channels=n) for n in (0, 1, 3, 4)]",
              png(pixels(7, 9, high=min(1 << depth, 16)), PALETTE, depth, False, COLORS[: 1 << depth], b"\x00\x32\xff\x07"[: 1 << depth]))
      for depth in (1, 2, 4, 8)],
    decoded("[tf.io.decode_png(c, channels=n) for n in (0, 1, 3, 4)]", png(pixels(7, 9, high=16), GRAY, 4, transparent=GRAY_KEY)),
    decoded("[tf.io.decode_png(c, channels=n) for n in (0, 1, 3, 4)]", png(pixels(7, 9, 3), RGB, transparent=RGB_KEY)),
    decoded("tf.io.decode_png(c, channels=4)", png(pixels(7, 9, high=16), GRAY, 4),
            ours="TensorFlow makes pixels of few bits nearly transparent; they are opaque"),
    decoded("tf.io.decode_png(c, channels=1), tf.io.decode_png(c)", png(pixels(7, 9, 3), RGB, extra=chunk(b"gAMA", struct.pack(">I", 45455)))),
    decoded("tf.io.decode_png(c, channels=1)", png(pixels(7, 9, 3), RGB, extra=chunk(b"sRGB", b"\0"))),
    decoded("tf.io.decode_png(c, channels=1)", png(pixels(7, 9, 3), RGB, extra=chunk(b"gAMA", struct.pack(">I", 100000)))),
    decoded("tf.io.decode_png(c)", png(pixels(7, 9, 3), RGB, extra=chunk(b"tEXt", b"hello") + chunk(b"teSt", b"?"))),
    decoded("tf.io.decode_png(c)", png(pixels(7, 9, 3), RGB, extra=chunk(b"TEST", b"?"))),
    decoded("tf.io.decode_png(c)", png(pixels(7, 9, high=16), PALETTE, 8, palette=COLORS[:4])),
    decoded("tf.io.decode_png(c)", png(pixels(1, 1), GRAY)),
    decoded("tf.io.decode_png(c)", png(pixels(1, 1), GRAY, interlaced=True)),
    decoded("tf.io.decode_png(c)", png(pixels(3, 2, 4), RGBA, interlaced=True)),
    *[decoded("tf.io.decode_png(c)", data) for data in (
        SMALL + b"more", SMALL[:-12], SMALL[:-30], SMALL[:50], SMALL[:33], SMALL[:8], b"\x89PNG", b"",
        cut(SMALL, 20, b"\xff"), cut(SMALL, 60, bytes([SMALL[60] ^ 255])), cut(SMALL, len(SMALL) - 14, b"\0\0"),
        png(pixels(7, 9, 3), RGB, size=(1 << 30, 9)), png(pixels(7, 9, 3), RGB, size=(60000, 60000)),
        png(pixels(7, 9, 3), RGB, size=(0, 9)), png(pixels(7, 9, 3), RGB, size=(9, 12)),
        png(pixels(7, 9, high=16), PALETTE, 8), png(pixels(7, 9, 3), RGB, 4))],
    *[decoded(f"tf.io.decode_png(c, {bad})", SMALL) for bad in ("channels=2", "channels=5", "dtype=tf.float32")],
    decoded("tf.io.decode_png(c), tf.io.decode_gif(c), tf.io.decode_jpeg(c), tf.image.decode_png(c)", SMALL),
    decoded("tf.io.decode_gif(c)", png(pixels(7, 9), GRAY)),
    decoded("tf.io.decode_gif(c)", png(pixels(7, 9, 4), RGBA)),
    decoded("tf.io.decode_png(c), tf.io.decode_gif(c)", PHOTO),
    decoded("tf.io.decode_png(c, channels=1, dtype=tf.uint16)", PHOTO),
    decoded("tf.io.decode_bmp(c)", SMALL),
    decoded("tf.io.decode_bmp(c)", PHOTO),

    # GIF: what is drawn over what.
    *[decoded("tf.io.decode_gif(c), tf.io.decode_image(c), tf.io.decode_image(c, expand_animations=False)", data) for data in (
        gif([(A, 0, 0, {})], MANY), TWO, gif([(A, 0, 0, {})], MANY, version=b"GIF87a"),
        gif([(A, 0, 0, {"transparent": int(A[0, 1])}), (B, 2, 1, {"transparent": int(B[1, 1])})], MANY),
        gif([(A, 0, 0, {"dispose": 2}), (B, 2, 1, {"dispose": 2}), (B, 0, 0, {"dispose": 3}), (B, 1, 3, {})], MANY),
        gif([(B, 1, 1, {}), (A, 0, 0, {})], MANY), gif([(A, 1, 2, {})], MANY, size=(20, 22)),
        gif([(A, 0, 0, {})], MANY, size=(3, 3)), gif([(A % 4, 0, 0, {"palette": MANY[10:14], "bits": 2})], None),
        gif([(A, 0, 0, {"interlaced": True})], MANY), gif([(A, 0, 0, {}), (B, 6, 4, {})], MANY),
        gif([(pixels(3, 9, high=200), 0, 0, {}), (pixels(7, 2, high=200), 0, 0, {})], MANY),
        gif([(A, 0, 0, {}), (B, 30, 40, {})], MANY), gif([(A, 0, 0, {})], None), gif([(A, 0, 0, {"palette": MANY[:4]})], None),
        stored("animated.gif"))],
    *[decoded("tf.io.decode_gif(c)", TWO[:length]) for length in (6, 13, 100, 790, 800, len(TWO) - 30, len(TWO) - 3, len(TWO) - 2, len(TWO) - 1)],
    decoded("tf.io.decode_png(c), tf.io.decode_jpeg(c), tf.io.decode_png(c, channels=3, dtype=tf.uint16)", gif([(A, 0, 0, {})], MANY)),
    *[decoded(code, TWO) for code in (
        "tf.io.decode_png(c)", "tf.io.decode_jpeg(c)", "tf.io.decode_bmp(c)", "tf.io.decode_webp(c)", "tf.io.decode_image(c, channels=1)",
        "tf.io.decode_image(c, channels=4)", "tf.io.decode_image(c, dtype=tf.float32)", "tf.io.decode_image(c, dtype=tf.uint16)",
        "tf.image.decode_gif(c)")],

    # BMP.
    *[decoded("tf.io.decode_bmp(c), tf.io.decode_image(c), tf.io.decode_bmp(c, channels=3), tf.io.decode_bmp(c, channels=4)",
              bmp(pixels(5, 7, channels), top_down)) for channels in (1, 3, 4) for top_down in (False, True)],
    decoded("tf.io.decode_bmp(c), tf.image.decode_bmp(c)", bmp(pixels(5, 7, 1, high=16), palette=COLORS)),
    decoded("tf.io.decode_bmp(c)", bmp(pixels(5, 7, 4), header=124)),
    decoded("tf.io.decode_bmp(c)", bmp(pixels(5, 8, 4), compression=3)),
    decoded("tf.io.decode_bmp(c)", bmp(pixels(5, 7, 1), compression=1), ours="TensorFlow reads run lengths as pixels"),
    *[decoded(f"tf.io.decode_bmp(c, channels={n})", BMP3) for n in (1, 2, 5)],
    *[decoded("tf.io.decode_bmp(c)", data) for data in (
        b"BM", BMP3[:30], BMP3[:54], BMP3[:-1], BMP3 + b"more", bmp(pixels(5, 8, 1), depth=16), bmp(pixels(5, 8, 1), depth=1),
        cut(BMP3, 18, struct.pack("<i", 1 << 28)), cut(BMP3, 18, struct.pack("<i", -5)), cut(BMP3, 22, struct.pack("<i", -(1 << 31))),
        cut(BMP3, 22, bytes(4)), cut(BMP3, 10, struct.pack("<i", -5)), cut(BMP3, 10, struct.pack("<i", 5000)))],
    *[decoded(f"tf.io.{name}(c)", BMP3) for name in ("decode_png", "decode_gif", "decode_jpeg", "decode_webp")],

    # WebP and JPEG XL.
    *[decoded("tf.io.decode_webp(c), tf.image.decode_webp(c), tf.io.decode_image(c, expand_animations=False)", stored(f"{name}.webp"))
      for name in ("lossy", "lossless", "alpha", "alpha_lossless", "animated_alpha")],
    decoded("tf.io.decode_webp(c)", stored("animated.webp"), ours="TensorFlow writes past its memory; frames have 4 channels"),
    decoded("tf.io.decode_webp(c, channels=3)", stored("lossy.webp")),
    decoded("tf.io.decode_webp(c, channels=4)", stored("animated_alpha.webp")),
    *[decoded(f"tf.io.decode_webp(c, channels={n})", stored("lossy.webp")) for n in (1, 2, 4)],
    decoded("tf.io.decode_webp(c, channels=3)", stored("alpha.webp")),
    *[decoded("tf.io.decode_webp(c)", stored("lossy.webp")[:n]) for n in (12, 20, 30, 56, 111)],
    *[decoded(f"tf.io.decode_image(c, dtype=tf.{d})", stored("lossy.webp")) for d in ("float32", "uint16")],
    decoded("tf.io.decode_jxl(c), tf.image.decode_jxl(c)", PHOTO),
    decoded("tf.io.decode_jxl(c)", b""),

    # Whichever it is.
    *[decoded("[tf.io.decode_image(c, dtype=d) for d in (tf.uint8, tf.uint16, tf.float32, tf.float16, tf.float64, tf.int32, tf.int16)]", data)
      for data in (PHOTO, stored("gray.jpg"), SMALL, DEEP, TWO, BMP3)],
    *[decoded(f"tf.io.decode_image(c, channels={n})", data) for n in (0, 1, 2, 3, 4) for data in (PHOTO, SMALL, BMP1, BMP4)],
    *[decoded("tf.io.decode_image(c)", data) for data in (b"", b"junk" * 9, b"GIF89a", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBP")],
    decoded("tf.raw_ops.DecodeImage(contents=c, dtype=tf.float64)", PHOTO),

    # Encoders: TensorFlow's bytes.
    *[row(f"tf.io.encode_jpeg(a, {options})", a=integers(0, 256, 37, 53, 3, dtype="uint8"), grad=False) for options in (
        "", "quality=50", "quality=100", "quality=1", "quality=0", "progressive=True", "optimize_size=True", "chroma_downsampling=False",
        "density_unit='cm', x_density=7, y_density=9", "xmp_metadata='hello'", "format='rgb'", "format='grayscale'", "format='cmyk'",
        "quality=-1", "quality=101", "density_unit='m'", "x_density=70000", "progressive=True, optimize_size=True, quality=30")],
    row("tf.io.encode_jpeg(a), tf.image.encode_jpeg(a, format='grayscale')", a=integers(0, 256, 9, 13, 1, dtype="uint8"), grad=False),
    row("tf.io.encode_jpeg(a, chroma_downsampling=False)", a=integers(0, 256, 9, 13, 1, dtype="uint8"), grad=False),
    row("tf.io.encode_jpeg(a, format='rgb')", a=integers(0, 256, 9, 13, 1, dtype="uint8"), grad=False),
    *[row("tf.io.encode_jpeg(a)", a=integers(0, 256, *shape, dtype="uint8"), grad=False)
      for shape in ((5, 5), (5, 5, 2), (5, 5, 4), (2, 5, 5, 3), (0, 5, 3), (1, 65501, 1))],
    *[row(f"tf.raw_ops.EncodeJpegVariableQuality(images=a, quality={q})", a=integers(0, 256, 9, 13, 3, dtype="uint8"), grad=False) for q in (33, -1, 101)],
    *[row(f"tf.io.encode_png(a, compression={c})", a=integers(0, high, 11, 13, channels, dtype=dtype), grad=False)
      for channels in (1, 2, 3, 4) for high, dtype in ((256, "uint8"), (65536, "uint16")) for c in (-1, 0, 9)],
    row("tf.io.encode_png(a)", a=integers(0, 4, 64, 70, 3, dtype="uint8"), grad=False),
    row("tf.image.encode_png(a), tf.compat.v1.image.encode_png(a)", a=integers(0, 256, 2, 3, 4, 5, 3, dtype="uint8"), grad=False),
    row("tf.io.encode_png(a)", a=integers(0, 256, 0, 4, 5, 3, dtype="uint8"), grad=False),
    *[row("tf.io.encode_png(a)", a=integers(0, 256, *shape, dtype="uint8"), grad=False) for shape in ((4, 5), (4, 5, 5), (0, 5, 3), (4, 5, 0))],
    *[row(f"tf.io.encode_png(a, compression={c})", a=integers(0, 256, 4, 5, 3, dtype="uint8"), grad=False) for c in (-2, 10)],
    row("tf.io.encode_png(a)", a=uniform(0, 1, 4, 5, 3), grad=False),
    row("tf.image.adjust_jpeg_quality(a, 50), tf.image.adjust_jpeg_quality(a, tf.constant(70)), "
        "tf.image.adjust_jpeg_quality(a, 50, dct_method='INTEGER_ACCURATE')", a=integers(0, 256, 16, 17, 3, dtype="uint8"), grad=False),
    row("tf.image.adjust_jpeg_quality(a, 50), tf.image.stateless_random_jpeg_quality(a, 20, 90, seed=(1, 2))", a=uniform(0, 1, 16, 17, 3), grad=False),
    row("tf.image.adjust_jpeg_quality(a, 0)", a=uniform(0, 1, 16, 17, 1), grad=False),
    *[row(code, a=uniform(0, 1, 8, 8, 3), grad=False) for code in (
        "tf.image.adjust_jpeg_quality(a, 101)", "tf.image.adjust_jpeg_quality(a, 1.5)", "tf.image.adjust_jpeg_quality(a[None], 50)",
        "tf.image.random_jpeg_quality(a, 90, 20)", "tf.image.random_jpeg_quality(a, -1, 20)", "tf.image.random_jpeg_quality(a, 1, 200)",
        "tf.image.stateless_random_jpeg_quality(a, 20, 20, seed=(1, 2))", "tf.image.random_jpeg_quality(a, 20, 21)")],

    # WAV.
    decoded("tf.audio.decode_wav(c), tf.audio.decode_wav(c).audio, tf.compat.v1.audio.decode_wav(c).sample_rate", WAV),
    *[decoded(f"tf.audio.decode_wav(c, {options})", WAV) for options in (
        "desired_channels=1", "desired_channels=3", "desired_samples=5", "desired_samples=30", "desired_samples=0", "desired_channels=0",
        "desired_channels=1, desired_samples=25", "desired_samples=-2", "desired_channels=-2")],
    *[decoded("tf.audio.decode_wav(c)", data) for data in (
        *(WAV[:n] for n in (0, 3, 4, 8, 12, 20, 36, 40, 43, 44, 46, len(WAV) - 1)),
        wav(SOUND, bits=8), wav(SOUND, bits=24), wav(SOUND, code=3), wav(SOUND, code=0xFFFE),
        wav(SOUND, extra=b"LIST" + struct.pack("<I", 4) + b"abcd"), wav(SOUND, extra=b"LIST" + struct.pack("<I", 3) + b"abc"),
        wav(SOUND, extra=b"LIST" + struct.pack("<I", 1 << 31) + b"abc"), wav(SOUND, data_length=1000), wav(SOUND, data_length=0xFFFFFFFF),
        b"junk" * 20, WAV + b"abcd", WAV + b"LIST" + struct.pack("<I", 4) + b"abcd", cut(WAV, 22, b"\0\0"), cut(WAV, 24, bytes(4)),
        cut(WAV, 28, bytes(4)), cut(WAV, 32, bytes(2)), cut(WAV, 4, bytes(4)), WAV[:16] + struct.pack("<I", 40) + WAV[20:36] + bytes(24) + WAV[36:],
        WAV[:16] + struct.pack("<I", 18) + WAV[20:36] + b"\0\0" + WAV[36:], wav(SOUND[:0]), wav(SOUND[:, :1], rate=44100))],
    row("tf.audio.decode_wav(c)", c=value([WAV], "string"), grad=False),
    row("tf.audio.encode_wav(a, 8000)", grad=False,
        a=value([[0.0, 1.0], [-1.0, 0.5], [2.0, -2.0], [1e-5, 0.25], [1.525e-5, -1.526e-5], [0.9999, -0.99999], [0.5000153, -0.5000153]], "float32")),
    row("tf.audio.encode_wav(a, 8000)", a=value([[float("nan"), float("inf"), float("-inf")]], "float32"), grad=False),
    row("tf.audio.encode_wav(a, 16000), tf.audio.decode_wav(tf.audio.encode_wav(a, 16000))", a=uniform(-1.2, 1.2, 500, 2), grad=False),
    *[row(f"tf.audio.encode_wav(a, {rate})", a=uniform(-1, 1, *shape), grad=False)
      for shape, rate in (((5,), 8000), ((5, 2), [8000]), ((5, 2), 0), ((5, 2), -1), ((0, 2), 8000), ((5, 0), 8000), ((5, 2), 1 << 30), ((5, 3), 44100))],
]  # fmt: skip
