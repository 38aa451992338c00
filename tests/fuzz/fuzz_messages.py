"""Readers of messages, texts, images and sounds as targets: what came before checkpoints and models."""

import functools
import pathlib
import sys

import numpy as np
from byte_mutations import any_bytes
from fuzz_targets import on_file, one_file, target
from message_mutations import mutated_message

import headrace as tf
from headrace._src.formats import snappy
from headrace._src.formats.example_messages import Example, SequenceExample
from headrace._src.formats.graph_messages import GraphDef, TensorProto
from headrace._src.op.loading import load_everything

TESTS = pathlib.Path(__file__).resolve().parents[1]
for folder in ("formats", "ops"):
    sys.path.insert(0, str(TESTS / folder))

import example_samples  # noqa: E402
import test_image_fuzzing as images  # noqa: E402

FILE = "data"


def of_message(make):
    """Mutations of a file that is one message."""

    def change(rng, data, others):
        changed = mutated_message(rng, data, make, others)
        return any_bytes(rng, data, others) if changed is None else changed

    return [(2, on_file(any_bytes)), (5, on_file(change))]


# Tensors and graphs.


@functools.cache
def _tensors():
    values = [
        tf.constant([[1.5, 2.5], [3.5, 4.5]]), tf.constant([b"a", b"", b"ccc"]), tf.constant(7, tf.int64),
        tf.constant([1 + 2j, 3j]), tf.cast([1.0, 2.0], tf.bfloat16), tf.constant([True, False]), tf.zeros([0, 4]),
    ]  # fmt: skip
    messages = [tf.io.serialize_tensor(value).numpy() for value in values]
    messages += [tf.make_tensor_proto(value.numpy(), value.dtype).SerializeToString() for value in values[:4]]
    messages.append(
        TensorProto(dtype=1, tensor_shape=tf.TensorShape([1000]).as_proto(), float_val=[2.5]).SerializeToString()
    )
    return one_file(FILE, *messages)


@target("tensors", _tensors, of_message(TensorProto), in_memory=True, cost=0.2)
def read_tensor(trial):
    data = trial.files[FILE]
    dtype = trial.rng.choice([tf.float32, tf.string, tf.int64, tf.complex64, tf.bfloat16, tf.variant])
    trial.attempt(lambda: tf.io.parse_tensor(data, dtype))
    message = TensorProto()
    try:
        message.ParseFromString(data)
    except Exception:
        return
    trial.attempt(lambda: tf.make_ndarray(message), (TypeError, ValueError))


@functools.cache
def _graphs():
    folders = [TESTS / "golden" / "graph_defs" / name for name in ("headrace", "tensorflow")]
    paths = [path for folder in folders for path in sorted(folder.glob("*.pb"))]
    return one_file(FILE, *[path.read_bytes() for path in paths if path.stat().st_size < 30_000])


@target("graph_defs", _graphs, of_message(GraphDef), in_memory=True, cost=1.2, prepare=load_everything)
def read_graph(trial):
    message = GraphDef()
    try:
        message.ParseFromString(trial.files[FILE])
    except Exception:
        return

    def read():
        with tf.Graph().as_default():
            tf.graph_util.import_graph_def(message, name="g")

    trial.attempt(read, (ValueError, TypeError))


# Examples.


def _examples(make):
    rng = np.random.default_rng(1)
    return lambda: one_file(FILE, *[make(rng).SerializeToString() for _ in range(12)])


_SHORT = {"label": tf.int64, "ids": tf.int64, "weights": tf.float32, "image": tf.string, "words": tf.string}


@target("examples", _examples(example_samples.random_example), of_message(Example), in_memory=True, cost=0.9)
def read_example(trial):
    data = trial.files[FILE]
    features = {name: tf.io.VarLenFeature(dtype) for name, dtype in _SHORT.items()}
    features["label"] = tf.io.FixedLenFeature([], tf.int64, 0)
    trial.attempt(lambda: tf.io.parse_single_example(data, features))
    trial.attempt(lambda: tf.io.parse_example([data, b"", data], features))
    trial.attempt(lambda: tf.io.decode_proto(data, "tensorflow.Example", ["features"], [tf.string]))


@target("sequence_examples", _examples(example_samples.random_sequence), of_message(SequenceExample), in_memory=True,
        cost=2)  # fmt: skip
def read_sequence(trial):
    data = trial.files[FILE]
    context = {name: tf.io.VarLenFeature(dtype) for name, dtype in _SHORT.items()}
    lists = {name: tf.io.RaggedFeature(dtype) for name, dtype in _SHORT.items()}
    trial.attempt(lambda: tf.io.parse_single_sequence_example(data, context, lists))
    trial.attempt(lambda: tf.io.parse_sequence_example([data, data], context, lists))


_JSON = (
    b'{"features": {"feature": {"a": {"int64List": {"value": ["1", 2]}}, "b": {"floatList": {"value": [1.5, "NaN"]}}}}}'
)


def _json(rng, data, others):
    if rng.random() < 0.1:
        return b"[" * rng.choice([10, 500, 100_000])
    if rng.random() < 0.1:
        return b'{"features":' * rng.choice([10, 500, 50_000])
    return any_bytes(rng, data, others)


@target("json_examples", lambda: one_file(FILE, _JSON), [(1, on_file(_json))], in_memory=True, cost=0.2)
def read_json(trial):
    trial.attempt(lambda: tf.io.decode_json_example(trial.files[FILE]))


# Texts.


_TABLE = b'1,2.5,"a"\n2,3.5,"b ""q"" c"\n3,,"multi\nline"\n'


@target("csv", lambda: one_file(FILE, _TABLE, b"1,2,3\n"), [(1, on_file(any_bytes))])
def read_csv(trial):
    path = trial.path(FILE)
    trial.attempt(lambda: list(tf.data.experimental.CsvDataset(path, [tf.int32, [0.0], tf.string])))
    trial.attempt(lambda: tf.io.decode_csv([trial.files[FILE]], [[0], [0.0], [""]]))


@target("snappy", lambda: one_file(FILE, *map(snappy.compress, [b"", b"a" * 900, bytes(range(256)) * 9])),
        [(1, on_file(any_bytes))], right=(snappy.Malformed, tf.errors.ResourceExhaustedError), in_memory=True,
        cost=0.1)  # fmt: skip
def read_snappy(trial):
    data = trial.files[FILE]
    trial.attempt(lambda: snappy.decompress(data))


# Images and sounds.


def _image(kind):
    def change(rng, data, others):
        changed = any_bytes(rng, data, others)
        return images._with_checksums(changed) if kind == "png" and rng.random() < 0.7 else changed

    @target(kind, lambda: one_file(FILE, *images.SEEDS[kind]()), [(1, on_file(change))],
            in_memory=True, cost=0.25)  # fmt: skip
    def read(trial):
        rng = np.random.Generator(np.random.PCG64(trial.rng.randrange(1 << 32)))
        trial.attempt(lambda: images._decode(kind, trial.files[FILE], rng))


for _kind in images.SEEDS:
    _image(_kind)
