"""Fits of Keras that are killed, and go on: with `BackupAndRestore`, and from the files of `ModelCheckpoint`.

Keras writes these files itself, in place: a kill while it writes leaves a broken one, or weights without the epoch that
belongs to them (see docs/decisions). Here the kill is between two writes, at a random batch.
"""

import glob
import hashlib
import os
import shutil
import signal

import numpy as np
from killed_processes import Server, say, serve

import headrace as tf

tf.install_as_tensorflow()

EPOCHS, BATCHES = 6, 5


def new_model():
    tf.keras.utils.set_random_seed(3)
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(0.01), "mse")
    return model


def digest(model):
    values = [value.numpy() for value in [*model.weights, *model.optimizer.variables]]
    return hashlib.sha256(b"".join(value.tobytes() for value in values)).hexdigest()[:16]


def backup(folder):
    """Keras finds by itself where it was."""
    return new_model(), 0, [tf.keras.callbacks.BackupAndRestore(os.path.join(folder, "backup"))]


def checkpoint(folder):
    """The program looks for the newest file."""
    callback = tf.keras.callbacks.ModelCheckpoint(os.path.join(folder, "model-{epoch:02d}.keras"))
    paths = sorted(glob.glob(os.path.join(folder, "model-*.keras")))
    if not paths:
        return new_model(), 0, [callback]
    return tf.keras.models.load_model(paths[-1]), int(paths[-1][-8:-6]), [callback]


PROGRAMS = {"BackupAndRestore": backup, "ModelCheckpoint": checkpoint}


def fit(order):
    """Trains to the end, or until the batch at which it is to die, counted from the start of this process."""
    os.makedirs(order["folder"], exist_ok=True)
    model, epoch, callbacks = PROGRAMS[order["program"]](order["folder"])
    left = [order["die_at"]]

    class Death(tf.keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            say("epoch", epoch)

        def on_train_batch_end(self, batch, logs=None):
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1

    generator = np.random.default_rng(0)
    x = generator.normal(size=[BATCHES * 4, 4]).astype("float32")
    y = x.sum(axis=1, keepdims=True)
    model.fit(
        x,
        y,
        batch_size=4,
        epochs=EPOCHS,
        initial_epoch=epoch,
        shuffle=False,
        verbose=0,
        callbacks=[*callbacks, Death()],
    )
    say("done", digest(model))


def kill(program, folder, kills, generator) -> list[str]:
    """Kills fits so many times. Returns what went wrong.

    Args:
        program: a key of `PROGRAMS`.
        folder: for the files.
        kills: how often.
        generator: of random numbers.
    """
    folder, failures = os.path.join(folder, program), []
    with Server(__file__) as server:
        run = lambda name, die_at: server.run(
            {"folder": os.path.join(folder, name), "program": program, "die_at": die_at}
        )
        expected = run("undisturbed", -1)[-2]
        number = 0
        while kills > 0:
            name, batches = f"killed-{number}", 0
            number += 1
            for _ in range(100):
                die_at = generator.randrange(2 * BATCHES) if kills > 0 else -1
                lines = run(name, die_at)
                first = [words[1] for words in lines if words[0] == "epoch"][:1]
                if first and first[0] != batches // BATCHES:
                    failures.append(f"{program}: goes on at epoch {first[0]}, after {batches} batches")
                if lines[-1] != ["ended", -signal.SIGKILL]:
                    break
                kills -= 1
                batches = batches // BATCHES * BATCHES + die_at  # the deadly one's epoch has not ended
            if lines[-2] != expected:
                failures.append(f"{program}: {lines[-2:]} in the end, without a kill {expected}")
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    return failures


if __name__ == "__main__":
    serve(fit)
