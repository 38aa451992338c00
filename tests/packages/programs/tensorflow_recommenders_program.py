"""TensorFlow Recommenders: retrieval and ranking, trained on a table that is made here."""

import numpy as np
import tensorflow as tf
import tensorflow_recommenders as tfrs
import tf_keras
from checks import check

tf.random.set_seed(0)
rng = np.random.default_rng(0)
DATA = {
    "user": rng.integers(0, 10, 64).astype("int64"), "item": rng.integers(0, 20, 64).astype("int64"),
    "rating": rng.random(64).astype("float32"),
}  # fmt: skip


class Retrieval(tfrs.Model):
    def __init__(self):
        super().__init__()
        self.users, self.items = tf_keras.layers.Embedding(10, 4), tf_keras.layers.Embedding(20, 4)
        items = tf.data.Dataset.range(20).batch(8).map(self.items)
        self.task = tfrs.tasks.Retrieval(metrics=tfrs.metrics.FactorizedTopK(items))

    def compute_loss(self, features, training=False):
        return self.task(self.users(features["user"]), self.items(features["item"]))


class Ranking(tfrs.Model):
    def __init__(self):
        super().__init__()
        self.users = tf_keras.layers.Embedding(10, 4)
        self.cross = tfrs.layers.dcn.Cross()
        self.last = tf_keras.layers.Dense(1)
        self.task = tfrs.tasks.Ranking(loss=tf_keras.losses.MeanSquaredError())

    def compute_loss(self, features, training=False):
        return self.task(features["rating"][:, None], self.last(self.cross(self.users(features["user"]))))


def fitted(model):
    model.compile(optimizer=tf_keras.optimizers.Adagrad(0.1))
    history = model.fit(tf.data.Dataset.from_tensor_slices(DATA).batch(16), epochs=3, verbose=0).history
    losses = history["total_loss"]
    return [len(losses), losses[-1] < losses[0]]


check("retrieval", lambda: fitted(Retrieval()))
check("ranking", lambda: fitted(Ranking()))


def best():
    index = tfrs.layers.factorized_top_k.BruteForce(k=3)
    index.index(tf.constant(np.eye(5, dtype=np.float32)), tf.constant(list("abcde")))
    scores, names = index(tf.constant([[0.1, 0.5, 0.2, 0.9, 0.0]]))
    return [scores, [name.decode() for name in names.numpy()[0]]]


check("nearest", best)
