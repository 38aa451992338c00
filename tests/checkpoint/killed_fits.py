"""Fits of Keras that are killed, and go on: with `BackupAndRestore`, and from the files of `ModelCheckpoint`."""

import dataclasses
import glob
import hashlib
import os
import shutil
import signal

import numpy as np
from killed_processes import Server, say, serve
from killed_training import DeadlyDisk, Killer, Order

import headrace as tf
from headrace._src.formats import durable_files

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


def fit(fields):
    """Trains to the end, or until it is to die: after a batch, or at a step of the disk."""
    order = Order(**fields)
    os.makedirs(order.folder, exist_ok=True)
    model, epoch, callbacks = PROGRAMS[order.way](order.folder)

    class Progress(tf.keras.callbacks.Callback):
        batches = 0

        def on_epoch_begin(self, epoch, logs=None):
            say("epoch", epoch)

        def on_train_batch_end(self, batch, logs=None):
            Progress.batches += 1
            if Progress.batches == -order.die_at - 1:
                os.kill(os.getpid(), signal.SIGKILL)

        def on_epoch_end(self, epoch, logs=None):
            say("saving", epoch)

    generator = np.random.default_rng(0)
    x = generator.normal(size=[BATCHES * 4, 4]).astype("float32")
    y = x.sum(axis=1, keepdims=True)
    with durable_files.disk_replaced(DeadlyDisk(order)):
        model.fit(
            x, y, batch_size=4, epochs=EPOCHS, initial_epoch=epoch, shuffle=False, verbose=0,
            callbacks=[Progress(), *callbacks],
        )  # fmt: skip
    say("done", digest(model))


def kill(program, folder, kills, generator) -> list[str]:
    """Kills fits so many times: in turn after a batch, at a step of the disk, and some time after an epoch has ended.

    Args:
        program: a key of `PROGRAMS`.
        folder: for the files.
        kills: how often.
        generator: of random numbers.

    Returns:
        What went wrong.
    """
    folder, failures, done, number = os.path.join(folder, program), [], 0, 0
    with Server(__file__) as server:
        expected = server.run(dataclasses.asdict(Order(os.path.join(folder, "undisturbed"), program)))[-2]
        while done < kills:
            place, allowed = os.path.join(folder, f"killed-{number}"), {0}
            number += 1
            for _ in range(100):
                order, killer = Order(place, program), lambda words, process: None
                if done < kills and done % 3 == 0:
                    order.die_at = -2 - generator.randrange(2 * BATCHES)
                elif done < kills and done % 3 == 1:
                    order.die_at, order.in_the_middle = generator.randrange(12), generator.random() < 0.5
                elif done < kills:
                    killer = Killer(generator, 0.1, saves=2)
                lines = server.run(dataclasses.asdict(order), killer)
                epochs = [words[1] for words in lines if words[0] == "epoch"]
                if epochs and epochs[0] not in allowed:
                    failures.append(f"{program}: goes on at epoch {epochs[0]}, not one of {allowed}")
                if lines[-1] != ["ended", -signal.SIGKILL]:
                    break
                done += 1
                if epochs:
                    saving = ["saving", epochs[-1]] in lines
                    allowed = {epochs[-1], epochs[-1] + 1} if saving else {epochs[-1]}
            if lines[-2] != expected:
                failures.append(f"{program}: {lines[-2:]} in the end, without a kill {expected}")
            left = [name for name in os.listdir(place) if ".partial" in name]
            if left:
                failures.append(f"{program}: left over at the end: {left}")
            shutil.rmtree(place, ignore_errors=True)
    return failures


if __name__ == "__main__":
    serve(fit)
