"""Times input pipelines on headrace and TensorFlow in turns, and prints the ratios.

    python benchmarks/data.py [--tensorflow-python PATH] [--rounds N] [--seconds S] [--photos FOLDER] [CASE ...]

headrace and TensorFlow each run in one process of their own that stays up; rounds alternate between them, so that a
busy machine slows both. One call walks through the pipeline once (or writes the file once). PATH is the interpreter
that has TensorFlow (default: this one). FOLDER holds JPEG files, in any depth; without it, some are drawn. The ratio is
the median over rounds of TensorFlow's time / headrace's. Leaves with an error if a goal is missed.
"""

import argparse
import gzip
import importlib
import json
import os
import pathlib
import sys
import tempfile
from dataclasses import dataclass

import numpy as np
from peers import Worker, compare, measure, run_script

CALLS_PER_ROUND = 20
EXAMPLES = 20_000


@dataclass
class Case:
    """One pipeline: `build(tf, folder)` returns what is timed."""

    build: object
    goal: float


def _images(count):
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (count, 28, 28, 1)).astype(np.float32), rng.integers(0, 10, count)


def _walk(dataset):
    def run():
        count = 0
        for _ in dataset:
            count += 1
        return count

    return run


def shuffle_and_batch(tf, folder):
    dataset = tf.data.Dataset.from_tensor_slices(_images(60_000)).shuffle(10_000).batch(50)
    return _walk(dataset.prefetch(tf.data.AUTOTUNE))


def map_and_batch(tf, folder):
    dataset = tf.data.Dataset.from_tensor_slices(_images(20_000))
    dataset = dataset.map(lambda image, label: (tf.image.rot90(image), label))
    dataset = dataset.map(lambda image, label: (image / 255.0, label))
    return _walk(dataset.batch(50))


def _photo_files(folder):
    return sorted(str(path) for path in pathlib.Path(folder, "photos").iterdir())


def decode_and_resize(tf, folder):
    def load(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.image.resize(image, [256, 256]) / 255.0

    files = tf.data.Dataset.from_tensor_slices(_photo_files(folder))
    dataset = files.map(load, num_parallel_calls=tf.data.AUTOTUNE)
    return _walk(dataset.batch(32).prefetch(tf.data.AUTOTUNE))


def _example(tf, number, image):
    def feature(**value):
        return tf.train.Feature(**value)

    return tf.train.Example(features=tf.train.Features(feature={
        "image": feature(bytes_list=tf.train.BytesList(value=[image])),
        "label": feature(int64_list=tf.train.Int64List(value=[number % 10])),
        "weights": feature(float_list=tf.train.FloatList(value=[0.5, 1.0, number / 7])),
        "name": feature(bytes_list=tf.train.BytesList(value=[b"example-%d" % number])),
    })).SerializeToString()  # fmt: skip


def _records(folder):
    return str(pathlib.Path(folder, "examples.tfrecord"))


def _description(tf):
    return {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "weights": tf.io.FixedLenFeature([3], tf.float32),
        "name": tf.io.FixedLenFeature([], tf.string),
    }


def parse_each(tf, folder):
    description = _description(tf)
    dataset = tf.data.TFRecordDataset(_records(folder))
    return _walk(dataset.map(lambda record: tf.io.parse_single_example(record, description)).batch(100))


def parse_batches(tf, folder):
    description = _description(tf)
    dataset = tf.data.TFRecordDataset(_records(folder)).batch(100)
    return _walk(dataset.map(lambda records: tf.io.parse_example(records, description)))


def parse_lists(tf, folder):
    """Features whose numbers differ from example to example, as sparse and ragged tensors."""
    description = {
        "words": tf.io.VarLenFeature(tf.string),
        "ids": tf.io.VarLenFeature(tf.int64),
        "scores": tf.io.RaggedFeature(tf.float32),
    }
    dataset = tf.data.TFRecordDataset(str(pathlib.Path(folder, "lists.tfrecord"))).batch(100)
    return _walk(dataset.map(lambda records: tf.io.parse_example(records, description)))


def read_gzip(tf, folder):
    return _walk(tf.data.TFRecordDataset(_records(folder) + ".gz", compression_type="GZIP").batch(100))


def load_saved(tf, folder):
    """What `save` wrote, which is compressed with Snappy."""
    return _walk(tf.data.Dataset.load(str(pathlib.Path(folder, "saved"))).batch(100))


def read_lines(tf, folder):
    return _walk(tf.data.TextLineDataset(str(pathlib.Path(folder, "lines.txt"))).batch(100))


def shuffle_numbers(tf, folder):
    return _walk(tf.data.Dataset.range(300_000).shuffle(200_000).batch(100))


def write_examples(tf, folder):
    path = str(pathlib.Path(folder, f"written-{tf.__name__}.tfrecord"))
    records = [_example(tf, number, bytes(784)) for number in range(EXAMPLES)]

    def run():
        with tf.io.TFRecordWriter(path) as writer:
            for record in records:
                writer.write(record)

    return run


def generator(tf, folder):
    image = np.zeros((28, 28), np.float32)

    def generate():
        for number in range(5_000):
            yield image, number

    signature = (tf.TensorSpec([28, 28], tf.float32), tf.TensorSpec([], tf.int32))
    return _walk(tf.data.Dataset.from_generator(generate, output_signature=signature).batch(50))


CASES = {
    "60,000 images: shuffle, batch, prefetch": Case(shuffle_and_batch, 3),
    "20,000 images: map rot90, map scale, batch": Case(map_and_batch, 5),
    "JPEG: decode, resize to 256x256, batch": Case(decode_and_resize, 2),
    "20,000 Examples: read, parse each, batch": Case(parse_each, 4),
    "20,000 Examples: read, batch, parse": Case(parse_batches, 4),
    "20,000 Examples of lists: read, batch, parse": Case(parse_lists, 3),
    "20,000 Examples: write": Case(write_examples, 2),
    "20,000 Examples: read GZIP, batch": Case(read_gzip, 1),
    "20,000 images: load what was saved, batch": Case(load_saved, 1),
    "200,000 lines of text: read, batch": Case(read_lines, 1),
    "300,000 numbers: shuffle 200,000, batch": Case(shuffle_numbers, 1),
    "from_generator, batch": Case(generator, 2),
}


def _draw_photos(folder):
    """JPEG files of the size of photographs, with structure at all scales."""
    tf = importlib.import_module("headrace")
    rng = np.random.default_rng(0)
    for number in range(96):
        coarse = rng.integers(0, 256, (25 + number % 7, 33 + number % 5, 3)).astype(np.float32)
        image = np.kron(coarse, np.ones((15, 15, 1), np.float32)) + rng.normal(0, 9, (1, 1, 3))
        data = tf.io.encode_jpeg(np.clip(image, 0, 255).astype(np.uint8), quality=90).numpy()
        pathlib.Path(folder, f"{number}.jpg").write_bytes(data)


def _prepare_lists_and_lines(tf, folder):
    rng = np.random.default_rng(0)
    pathlib.Path(_records(folder) + ".gz").write_bytes(gzip.compress(pathlib.Path(_records(folder)).read_bytes(), 6))
    lists = tf.train.BytesList, tf.train.Int64List, tf.train.FloatList
    with tf.io.TFRecordWriter(str(pathlib.Path(folder, "lists.tfrecord"))) as writer:
        for count in rng.integers(0, 12, EXAMPLES).tolist():
            values = [b"word-%d" % i for i in range(count)], list(range(count)), rng.random(count).tolist()
            names = ("words", "ids", "scores"), ("bytes_list", "int64_list", "float_list")
            feature = {name: tf.train.Feature(**{kind: cls(value=value)})
                       for name, kind, cls, value in zip(*names, lists, values)}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    pathlib.Path(folder, "lines.txt").write_text("".join(f"line {i} of a text that goes on\n" for i in range(200_000)))
    tf.data.Dataset.from_tensor_slices(_images(EXAMPLES)).save(str(pathlib.Path(folder, "saved")))


def prepare(folder, photos):
    """The files that cases read, written once for both libraries."""
    tf = importlib.import_module("headrace")
    image = np.random.default_rng(0).integers(0, 256, 784).astype(np.uint8).tobytes()
    with tf.io.TFRecordWriter(_records(folder)) as writer:
        for number in range(EXAMPLES):
            writer.write(_example(tf, number, image))
    _prepare_lists_and_lines(tf, folder)
    place = pathlib.Path(folder, "photos")
    place.mkdir()
    if photos is None:
        _draw_photos(place)
        return
    found = sorted(pathlib.Path(photos).rglob("*.jp*g"))[:96]
    if not found:
        sys.exit(f"no JPEG files in {photos}")
    for number, path in enumerate(found):
        os.symlink(path.resolve(), place / f"{number}.jpg")


def serve(module, folder):
    """Answer `case seconds` lines with seconds per call."""
    tf = importlib.import_module(module)
    print(json.dumps(tf.__version__), flush=True)
    runs = {}
    for line in sys.stdin:
        seconds, _, name = line.strip().partition(" ")
        if name not in runs:
            runs[name] = CASES[name].build(tf, folder)
            runs[name]()  # warm
        print(json.dumps(measure(runs[name], float(seconds), CALLS_PER_ROUND)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow-python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each round")
    parser.add_argument("--photos", help="a folder with JPEG files")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="parts of names of cases")
    options = parser.parse_args()
    chosen = {name: CASES[name] for name in CASES if not options.cases or any(p in name for p in options.cases)}
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, options.photos)
        ours = Worker(sys.executable, "headrace", folder)
        with ours, Worker(options.tensorflow_python, "tensorflow", folder) as theirs:
            return compare(ours, theirs, chosen, options.rounds, options.seconds, 44)


if __name__ == "__main__":
    run_script(main, serve)
