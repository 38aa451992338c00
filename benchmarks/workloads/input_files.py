"""Reading photos and records, and writing records: what comes before training."""

import pathlib

import data
import numpy as np

EXAMPLES = 5_000


def jpeg(tf, folder):
    """96 photos: decoded, resized to 256 x 256, batched."""
    return data.decode_and_resize(tf, folder)


def write(tf, folder):
    """20,000 records of 800 bytes."""
    return data.write_examples(tf, folder)


def _varlen_path(folder):
    return pathlib.Path(folder, "varlen.tfrecord")


def prepare(tf, folder, photos):
    """Write the files that are read, once for all libraries."""
    data.prepare(folder, photos)
    rng = np.random.default_rng(0)

    def feature(**value):
        return tf.train.Feature(**value)

    with tf.io.TFRecordWriter(str(_varlen_path(folder))) as writer:
        for _ in range(EXAMPLES):
            words = [b"word%d" % n for n in rng.integers(0, 1000, rng.integers(0, 12))]
            features = {
                "words": feature(bytes_list=tf.train.BytesList(value=words)),
                "numbers": feature(int64_list=tf.train.Int64List(value=rng.integers(0, 9999, rng.integers(0, 20)))),
                "weights": feature(float_list=tf.train.FloatList(value=rng.random(rng.integers(0, 8)))),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())


def varlen(tf, folder):
    """5,000 Examples of three features of any length, in batches of 100, as sparse tensors."""
    description = {
        "words": tf.io.VarLenFeature(tf.string),
        "numbers": tf.io.VarLenFeature(tf.int64),
        "weights": tf.io.VarLenFeature(tf.float32),
    }
    dataset = tf.data.TFRecordDataset(str(_varlen_path(folder))).batch(100)
    dataset = dataset.map(lambda records: tf.io.parse_example(records, description))

    def run():
        count = 0
        for parsed in dataset:
            count += int(parsed["numbers"].values.shape[0])
        return float(count)

    return run
