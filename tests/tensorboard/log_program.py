"""A program of a user that writes a log folder with all that TensorBoard shows; started with `headrace run`.

    headrace run log_program.py FOLDER [--without_plugins]

It is written as TensorFlow's guides are. What needs TensorBoard's package for writing (hparams, the projector's
configuration) is left out with --without_plugins.
"""

import math
import os
import sys

import numpy as np
import tensorflow as tf

STEPS = 20


def summaries(folder):
    """Each kind of summary, eagerly and in a function."""
    writer = tf.summary.create_file_writer(os.path.join(folder, "summaries"))
    generator = tf.random.Generator.from_seed(1)

    @tf.function
    def record(step):
        with tf.name_scope("inside"):
            tf.summary.scalar("cosine", tf.cos(tf.cast(step, tf.float32) / 3.0), step=step)

    with writer.as_default():
        for step in range(STEPS):
            tf.summary.scalar("decay", math.exp(-step / 5), step=step, description="It **falls**.")
            record(tf.constant(step, tf.int64))
            tf.summary.histogram("spread", generator.normal([500], step / 5, 1 + step / 10), step=step)
        pattern = tf.stack(tf.meshgrid(tf.linspace(0.0, 1.0, 48), tf.linspace(0.0, 1.0, 48)), axis=-1)
        images = tf.stack([tf.concat([pattern, blue * tf.ones([48, 48, 1])], -1) for blue in (0.0, 0.5, 1.0)])
        tf.summary.image("gradients", images, step=0, max_outputs=3)
        tone = tf.sin(2 * math.pi * 440 * tf.range(8000, dtype=tf.float32) / 8000)
        tf.summary.audio("tone", tone[tf.newaxis, :, tf.newaxis], sample_rate=8000, step=0)
        tf.summary.text("note", "A text in **Markdown** about `headrace`.", step=0)
        tf.summary.text("table", tf.constant([["layer", "units"], ["first", "16"], ["second", "4"]]), step=0)


def traces(folder):
    """The graph and the profile of a function, as the guide to graphs does it."""
    writer = tf.summary.create_file_writer(os.path.join(folder, "function"))

    @tf.function
    def my_func(x, y):
        with tf.name_scope("product"):
            z = tf.matmul(x, y)
        return tf.nn.relu(z)

    x, y = tf.random.uniform((3, 3)), tf.random.uniform((3, 3))
    tf.summary.trace_on(graph=True, profiler=True)
    my_func(x, y)
    with writer.as_default():
        tf.summary.trace_export(name="my_func_trace", step=0, profiler_outdir=os.path.join(folder, "function"))


def compiling(folder):
    """A profile of steps of a loop, with a function that XLA compiles meanwhile."""

    @tf.function(jit_compile=True)
    def update(x):
        return tf.tanh(tf.matmul(x, x)) + 1.0

    x = tf.ones((8, 8))
    with tf.profiler.experimental.Profile(os.path.join(folder, "compiled")):
        for step in range(3):
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                x = update(x)


def data():
    generator = np.random.default_rng(0)
    words = generator.integers(0, 30, [256, 5])
    return words, (words.sum(1) % 3).astype("int32")


def model():
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Input([5], dtype="int32"),
            layers.Embedding(30, 8, name="words"),
            layers.Flatten(),
            layers.Dense(16, activation="relu", name="hidden"),
            layers.Dense(3, name="classes"),
        ]
    )


def compiled(dropout=0.0):
    built = model()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    built.compile("adam", loss, metrics=["accuracy"])
    return built


def training(folder):
    """Keras's callback: metrics, histograms, images of weights, the graph, embeddings, a profile of some batches."""
    tf.keras.utils.set_random_seed(0)
    logs = os.path.join(folder, "training")
    os.makedirs(logs, exist_ok=True)
    with open(os.path.join(logs, "words.tsv"), "w") as file:
        file.writelines(f"word {i}\n" for i in range(30))
    x, y = data()
    callback = tf.keras.callbacks.TensorBoard(
        logs, histogram_freq=1, write_graph=True, write_images=True, update_freq="epoch", profile_batch=(2, 6),
        embeddings_freq=1, embeddings_metadata="words.tsv",
    )  # fmt: skip
    compiled().fit(x, y, epochs=3, batch_size=32, validation_split=0.25, callbacks=[callback], verbose=0)


def searching(folder):
    """Hyperparameters, as the guide to the hparams page does it."""
    from tensorboard.plugins.hparams import api as hp

    units = hp.HParam("num_units", hp.Discrete([16, 32]))
    rate = hp.HParam("dropout", hp.RealInterval(0.1, 0.2))
    optimizer = hp.HParam("optimizer", hp.Discrete(["adam", "sgd"]))
    with tf.summary.create_file_writer(os.path.join(folder, "search")).as_default():
        hp.hparams_config(hparams=[units, rate, optimizer], metrics=[hp.Metric("accuracy", display_name="Accuracy")])
    number = 0
    for count in units.domain.values:
        for dropout in (rate.domain.min_value, rate.domain.max_value):
            for name in optimizer.domain.values:
                run = {units: count, rate: dropout, optimizer: name}
                with tf.summary.create_file_writer(os.path.join(folder, "search", f"run-{number}")).as_default():
                    hp.hparams(run)
                    tf.summary.scalar("accuracy", 0.5 + 0.05 * number, step=1)
                number += 1
    x, y = data()
    logs = os.path.join(folder, "search", "keras")
    callbacks = [tf.keras.callbacks.TensorBoard(logs), hp.KerasCallback(logs, {units: 32, optimizer: "adam"})]
    compiled().fit(x, y, epochs=1, verbose=0, callbacks=callbacks)


def projected(folder):
    """Embeddings of a checkpoint, as the guide to the projector does it."""
    from tensorboard.plugins import projector

    logs = os.path.join(folder, "projector")
    os.makedirs(logs, exist_ok=True)
    with open(os.path.join(logs, "metadata.tsv"), "w") as file:
        file.writelines(f"point {i}\n" for i in range(50))
    weights = tf.Variable(np.random.default_rng(2).normal(size=[50, 6]).astype("float32"))
    checkpoint = tf.train.Checkpoint(embedding=weights)
    checkpoint.save(os.path.join(logs, "embedding.ckpt"))
    config = projector.ProjectorConfig()
    embedding = config.embeddings.add()
    embedding.tensor_name = "embedding/.ATTRIBUTES/VARIABLE_VALUE"
    embedding.metadata_path = "metadata.tsv"
    projector.visualize_embeddings(logs, config)
    with tf.summary.create_file_writer(logs).as_default():
        tf.summary.scalar("points", 50, step=0)


if __name__ == "__main__":
    folder = sys.argv[1]
    summaries(folder)
    traces(folder)
    compiling(folder)
    training(folder)
    if "--without_plugins" not in sys.argv:
        searching(folder)
        projected(folder)
