"""What is turned into models of TensorFlow.js as targets: SavedModels; and such models, for which pages are written."""

import functools
import json
import os
import pathlib
import tempfile

from byte_mutations import any_bytes
from fuzz_models import MUTATIONS
from fuzz_targets import on_file, target

import headrace as tf
from headrace._src.js.demo import described_model
from headrace._src.op.loading import load_everything


class Network(tf.Module):
    """Products, a branch in a loop, lists and a table: what conversion does something with."""

    def __init__(self):
        self.filters = tf.Variable(tf.ones([2, 2, 1, 3]))
        self.offset = tf.Variable(tf.zeros([3]))
        initializer = tf.lookup.KeyValueTensorInitializer([0, 1, 2], [5, 6, 7])
        self.table = tf.lookup.StaticHashTable(initializer, -1)

    @tf.function(input_signature=[tf.TensorSpec([None, 4, 4, 1], tf.float32, name="x")])
    def images(self, x):
        x = tf.nn.relu(tf.nn.conv2d(x, self.filters, 1, "SAME") + self.offset)
        total = tf.reduce_mean(x, [1, 2])
        for _ in tf.range(3):
            total = total * 0.5 if tf.reduce_sum(total) > 1.0 else self._shifted(total)
        return {"total": total, "softsign": tf.nn.softsign(total)}

    @tf.function
    def _shifted(self, x):
        return x + 1.0

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.int32, name="keys")])
    def numbers(self, keys):
        found = self.table.lookup(keys)
        return tf.map_fn(lambda row: row * 2, found)


def _files(folder):
    paths = [path for path in pathlib.Path(folder).rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@functools.cache
def saved():
    network, found = Network(), []
    for signature in (network.images, network.numbers):
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(network, folder, signatures=signature)
            found.append(_files(folder))
    return found


@functools.cache
def written():
    """`model.json` of both formats."""
    network, found = Network(), []
    with tempfile.TemporaryDirectory() as folder:
        for signature in (network.images, network.numbers):
            tf.js.save(signature.get_concrete_function(), folder)
            found.append({"model.json": pathlib.Path(folder, "model.json").read_bytes()})
        layers = tf.keras.layers
        x = tf.keras.Input((28, 28))
        for model in (tf.keras.Model(x, layers.Dense(2)(x)), tf.keras.Sequential([x, layers.Flatten()])):
            tf.js.save(model, folder, format="layers")
            found.append({"model.json": pathlib.Path(folder, "model.json").read_bytes()})
    return found


def _changed_values(rng, data, others):
    """The same JSON with other values somewhere, or without some."""
    value = json.loads(data)
    for _ in range(rng.choice([1, 1, 3])):
        place = value
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(place[key], (dict, list)) and place[key] and rng.random() < 0.8:
                place = place[key]
                continue
            kind = rng.randrange(6)
            if kind == 0:
                del place[key]
            else:
                place[key] = rng.choice([None, -1, 1e300, "", "<script>", [], {}, [[]], True, "-1", 10**30, place])
                place[key] = None if place[key] is place else place[key]
            break
    return json.dumps(value).encode()


def _load():
    load_everything()
    network = Network()
    with tempfile.TemporaryDirectory() as folder:
        tf.js.save(network.images.get_concrete_function(), folder)


@target("js_models", saved, MUTATIONS, prepare=_load, group="model", cost=30)
def convert(trial):
    trial.attempt(lambda: tf.js.save(trial.folder, os.path.join(trial.folder, "out")), (ValueError,))


@target("js_pages", written, [(3, on_file(_changed_values)), (1, on_file(any_bytes))], named=True, cost=1)
def describe(trial):
    trial.attempt(lambda: described_model(trial.path("model.json")), (ValueError,))
