"""A training with `fit` and `BackupAndRestore` on several workers; `scripts/kills --keras` kills its workers.

Run as `headrace launch -n 2 --restarts N killed_keras_workers.py FOLDER EPOCHS`. The chief writes the last weights.
"""

import os
import sys

import numpy as np

import headrace as tf


class Killable(tf.keras.callbacks.Callback):
    """From its beginning on, the training may be killed."""

    def __init__(self, path):
        super().__init__()
        self._path = path

    def on_train_begin(self, logs=None):
        with open(self._path, "w", encoding="utf-8") as file:
            file.write(str(os.getpid()))


def main(folder, epochs):
    """Train for some epochs, with a backup after each."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    rank = strategy.cluster_resolver.task_id or 0
    tf.keras.utils.set_random_seed(1)
    tf.keras.config.set_floatx("float64")
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(16, 5)), generator.normal(size=(16, 1))
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input([5]), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.SGD(0.01, momentum=0.9), "mse")
    # All name one folder, as the guides do.
    backup = tf.keras.callbacks.BackupAndRestore(os.path.join(folder, "backup"))
    pid = Killable(os.path.join(folder, f"worker{rank}.pid"))
    model.fit(x, y, batch_size=8, epochs=epochs, shuffle=False, verbose=0, callbacks=[backup, pid])
    if rank == 0:
        np.save(os.path.join(folder, "weight.npy"), np.concatenate([w.reshape(-1) for w in model.get_weights()]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
