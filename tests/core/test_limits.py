"""A few bytes that stand for many: each reader refuses them, and says which limit it is and how to raise it."""

import gzip
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

import headrace as tf
from headrace._src.core import limits
from headrace._src.formats import snappy
from headrace._src.formats.graph_messages import TensorProto
from headrace._src.formats.image_data import TooLarge
from headrace._src.formats.jpeg_xl_images import decode_jpeg_xl
from headrace._src.formats.png_images import encode_png
from headrace._src.formats.records import framed
from headrace._src.formats.snappy import SnappyOutput

MUCH = 4_000_000
INVALID, EXHAUSTED = tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError


@pytest.fixture
def small():
    """Limits of a megabyte, for a while."""
    before = tf.config.experimental.get_input_limits()
    tf.config.experimental.set_input_limits(image_bytes=1 << 20, decompressed_bytes=1 << 20, tensor_bytes=1 << 20)
    yield
    tf.config.experimental.set_input_limits(**before)


def written(folder, data):
    path = folder / "data"
    path.write_bytes(data)
    return str(path)


def snappy_file(folder, data):
    output = SnappyOutput(folder / "data")
    output.write(data)
    output.close()
    return str(folder / "data")


def read_all(dataset):
    return [x.numpy() for x in dataset]


def gif(frames, size):
    image = tf.zeros([1, size, size, 3], tf.uint8)
    one = _encoded(image, "GIF")
    start = one.index(b"\x2c")
    return one[:start] + one[start:-1] * frames + b";"


def _encoded(image, kind):
    from io import BytesIO

    from PIL import Image

    out = BytesIO()
    Image.fromarray(image.numpy()[0]).save(out, kind)
    return out.getvalue()


def bmp(size):
    return _encoded(tf.zeros([1, size, size, 3], tf.uint8), "BMP")


def saved_dataset(folder, compression):
    path = str(folder / compression)
    tf.data.Dataset.from_tensors(tf.zeros([MUCH], tf.uint8)).save(path, compression=compression)
    return lambda: read_all(tf.data.Dataset.load(path, compression=compression))


ZEROS = bytes(MUCH)
# Each: makes a function that reads, from a folder; the limit, and the error.
BOMBS = {
    "decode_compressed, zlib": (
        lambda folder: lambda data=zlib.compress(ZEROS): tf.io.decode_compressed(data, "ZLIB"),
        "decompressed_bytes", EXHAUSTED,
    ),
    "decode_compressed, gzip of members": (
        lambda folder: lambda data=gzip.compress(ZEROS[:900_000]) * 4: tf.io.decode_compressed(data, "GZIP"),
        "decompressed_bytes", EXHAUSTED,
    ),
    "a record": (
        lambda folder: lambda p=written(folder, gzip.compress(framed(ZEROS))): read_all(
            tf.data.TFRecordDataset(p, "GZIP")
        ),
        "decompressed_bytes", EXHAUSTED,
    ),
    "a line": (
        lambda folder: lambda p=written(folder, zlib.compress(ZEROS)): read_all(tf.data.TextLineDataset(p, "ZLIB")),
        "decompressed_bytes", EXHAUSTED,
    ),
    "a field": (
        lambda folder: lambda p=written(folder, zlib.compress(b'"' + ZEROS + b'"\n')): list(
            tf.data.experimental.CsvDataset(p, [tf.string], "ZLIB")
        ),
        "decompressed_bytes", EXHAUSTED,
    ),
    "snappy": (
        lambda folder: lambda data=snappy.compress(ZEROS): snappy.decompress(data), "decompressed_bytes", EXHAUSTED,
    ),
    "a saved dataset, gzip": (lambda folder: saved_dataset(folder, "GZIP"), "decompressed_bytes", EXHAUSTED),
    "a saved dataset, snappy": (lambda folder: saved_dataset(folder, "SNAPPY"), "decompressed_bytes", EXHAUSTED),
    "PNG": (
        lambda folder: lambda data=encode_png(np.zeros([1000, 1000, 3], np.uint8)): tf.io.decode_png(data),
        "image_bytes", INVALID,
    ),
    "PNG of 16 bits": (
        lambda folder: lambda data=encode_png(np.zeros([500, 500, 1], np.uint16)): tf.io.decode_png(data, 0, tf.uint16),
        "image_bytes", INVALID,
    ),
    "JPEG": (
        lambda folder: lambda data=_encoded(tf.zeros([1, 1000, 1000, 3], tf.uint8), "JPEG"): tf.io.decode_jpeg(data),
        "image_bytes", INVALID,
    ),
    "GIF": (lambda folder: lambda data=gif(1, 1000): tf.io.decode_gif(data), "image_bytes", INVALID),
    "GIF of many frames": (lambda folder: lambda data=gif(90, 100): tf.io.decode_gif(data), "image_bytes", INVALID),
    "WebP": (
        lambda folder: lambda data=_encoded(tf.zeros([1, 1000, 1000, 3], tf.uint8), "WEBP"): tf.io.decode_webp(data),
        "image_bytes", INVALID,
    ),
    "any image": (
        lambda folder: lambda data=encode_png(np.zeros([1000, 1000, 3], np.uint8)): tf.io.decode_image(data),
        "image_bytes", INVALID,
    ),
    "a tensor of floats": (lambda folder: tensor_message(1, float_val=[2.5]), "tensor_bytes", EXHAUSTED),
    "a tensor of halves": (lambda folder: tensor_message(19, half_val=[3]), "tensor_bytes", EXHAUSTED),
    "a tensor of strings": (lambda folder: tensor_message(7, string_val=[b"a"]), "tensor_bytes", EXHAUSTED),
    "a constant in a graph": (lambda folder: graph_of_a_constant, "tensor_bytes", EXHAUSTED),
}  # fmt: skip


def tensor_message(kind, **values):
    message = TensorProto(dtype=kind, tensor_shape=tf.TensorShape([MUCH]).as_proto(), **values)
    return lambda: tf.io.parse_tensor(message.SerializeToString(), tf.as_dtype(kind))


def graph_of_a_constant():
    message = tf.compat.v1.GraphDef()
    node = message.node.add(name="c", op="Const")
    node.attr["dtype"].type = 1
    node.attr["value"].tensor.CopyFrom(
        TensorProto(dtype=1, tensor_shape=tf.TensorShape([MUCH]).as_proto(), float_val=[1.0])
    )
    with tf.Graph().as_default():
        tf.graph_util.import_graph_def(message)


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused(name, tmp_path, small):
    make, limit, error = BOMBS[name]
    read = make(tmp_path)
    with pytest.raises(error) as raised:
        read()
    text = raised.value.message
    assert f"more than the limit of {1 << 20} for {limits.MEANINGS[limit]}" in text
    assert f"tf.config.experimental.set_input_limits({limit}=" in text
    assert limits.VARIABLE in text
    # What the message says helps.
    value = int(text.partition(f"set_input_limits({limit}=")[2].partition(")")[0])
    tf.config.experimental.set_input_limits(**{limit: 8 * value})
    read()


def test_streams_may_be_of_any_length(tmp_path, small):
    """What is read piece by piece is bounded by the piece."""
    path = written(tmp_path, gzip.compress(b"".join(framed(bytes(100_000)) for _ in range(40))))
    assert len(read_all(tf.data.TFRecordDataset(path, "GZIP"))) == 40
    path = written(tmp_path, gzip.compress((b"x" * 1000 + b"\n") * 4000))
    assert len(read_all(tf.data.TextLineDataset(path, "GZIP"))) == 4000


def jpeg_xl_header(height, width):
    bits, place = 0, 0
    for number, count in [(0, 1), (3, 2), (height - 1, 30), (0, 3), (3, 2), (width - 1, 30)]:
        bits |= number << place
        place += count
    return b"\xff\x0a" + bits.to_bytes(16, "little")


@pytest.mark.parametrize("in_box", [False, True])
def test_jpeg_xl_is_refused_before_it_is_decoded(in_box, small):
    data = jpeg_xl_header(1000, 2000)
    if in_box:
        start = b"\0\0\0\x0cJXL \r\n\x87\n" + struct.pack(">I4s4s", 12, b"ftyp", b"jxl ")
        data = start + struct.pack(">I4s", 8 + len(data), b"jxlc") + data
    with pytest.raises(TooLarge, match="1000 x 2000 pixels"):
        decode_jpeg_xl(data)


@pytest.mark.parametrize("value", [0, -1, 1.5, "many", True])
def test_what_is_no_limit(value):
    with pytest.raises((ValueError, TypeError)):
        tf.config.experimental.set_input_limits(image_bytes=value)


def test_the_environment(monkeypatch):
    before = tf.config.experimental.get_input_limits()
    monkeypatch.setenv(limits.VARIABLE, "image_bytes=4e9, tensor_bytes=1000")
    limits.read_environment()
    found = tf.config.experimental.get_input_limits()
    assert found == {"image_bytes": 4 * 10**9, "decompressed_bytes": 1 << 29, "tensor_bytes": 1000}
    for wrong in ("image_bytes", "bytes=3", "image_bytes=many", "image_bytes=inf"):
        monkeypatch.setenv(limits.VARIABLE, wrong)
        with pytest.warns(UserWarning, match="is not understood"):
            limits.read_environment()
    tf.config.experimental.set_input_limits(**before)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of memory")
def test_a_bomb_takes_little_memory():
    """1.5 MB of gzip that stand for 1.5 GB, where a gigabyte is all there is."""
    code = """
import gzip, resource
import headrace as tf
data = gzip.compress(bytes(1 << 24)) * 96
resource.setrlimit(resource.RLIMIT_DATA, (10**9, 10**9))
try:
    tf.io.decode_compressed(data, "GZIP")
except tf.errors.ResourceExhaustedError as error:
    print("refused" if "limit of 536870912" in error.message else error.message)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "refused\n", done.stderr
