"""Times training with Keras on headrace and on TensorFlow in turns, and prints the ratios.

    python benchmarks/keras_training.py [--tensorflow-python PATH] [--rounds N] [--seconds S] [--threads N] [CASE ...]

Each library runs in one process of its own that stays up; rounds alternate between them, so that a busy machine slows
both. Both interpreters need Keras 3. PATH is the one that has TensorFlow (default: this one). The ratio is the median
over rounds of TensorFlow's time / headrace's. Leaves with an error if a goal is missed.
"""

import argparse
import importlib
import json
import sys
from dataclasses import dataclass

import numpy as np
from peers import Worker, compare, measure, run_script

BATCH, CALLS_PER_ROUND = 50, 10_000


@dataclass
class Case:
    """One program: `build(tf)` returns what is timed."""

    build: object
    goal: float
    warm: int = 3  # calls before the first round


def _digits(count=BATCH):
    rng = np.random.default_rng(0)
    return rng.random((count, 784), np.float32), rng.integers(0, 10, count)


def _mlp(tf):
    return tf.keras.Sequential([
        tf.keras.Input([784]), tf.keras.layers.Dense(100, activation="relu"), tf.keras.layers.Dense(10),
    ])  # fmt: skip


def _cnn(tf):
    layers = tf.keras.layers
    return tf.keras.Sequential([
        tf.keras.Input([28, 28, 1]),
        layers.Conv2D(32, 5, padding="same", activation="relu"), layers.MaxPool2D(2),
        layers.Conv2D(64, 5, padding="same", activation="relu"), layers.MaxPool2D(2),
        layers.Flatten(), layers.Dense(1024, activation="relu"), layers.Dense(10),
    ])  # fmt: skip


def _step(tf, model, x, y):
    """A custom training step."""
    optimizer = tf.keras.optimizers.Adam(0.001)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer.build(model.trainable_variables)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    return step, tf.constant(x), tf.constant(y)


def eager_mlp(tf):
    step, x, y = _step(tf, _mlp(tf), *_digits())
    return lambda: step(x, y)


def compiled_mlp(tf):
    step, x, y = _step(tf, _mlp(tf), *_digits())
    compiled = tf.function(step)
    return lambda: compiled(x, y).numpy()


def compiled_cnn(tf):
    images, labels = _digits()
    step, x, y = _step(tf, _cnn(tf), images.reshape(-1, 28, 28, 1), labels)
    compiled = tf.function(step)
    return lambda: compiled(x, y).numpy()


def eager_regression(tf):
    x = tf.constant([2013.0, 2014.0, 2015.0, 2016.0, 2017.0])
    x = (x - 2013.0) / 4.0
    y = x * 0.9 + 0.05
    a, b = tf.Variable(0.0), tf.Variable(0.0)
    optimizer = tf.keras.optimizers.SGD(learning_rate=5e-4)
    optimizer.build([a, b])

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(a * x + b - y))
        optimizer.apply_gradients(zip(tape.gradient(loss, [a, b]), [a, b]))

    return step


def fit_mlp(tf):
    x, y = _digits(5_000)
    model = _mlp(tf)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    return lambda: model.fit(x, y, batch_size=BATCH, epochs=1, verbose=0)


CASES = {
    "eager MLP step, Adam": Case(eager_mlp, 3),
    "eager regression, SGD": Case(eager_regression, 10),
    "fit of the MLP, 100 steps": Case(fit_mlp, 1.5),
    "compiled MLP step": Case(compiled_mlp, 1.5, warm=300),
    "compiled CNN step": Case(compiled_cnn, 0.6, warm=60),
}


def serve(module):
    """Answer `seconds case` lines with seconds per call."""
    tf = importlib.import_module(module)
    print(json.dumps(tf.__version__), flush=True)
    runs = {}
    for line in sys.stdin:
        seconds, _, name = line.strip().partition(" ")
        if name not in runs:
            runs.clear()
            runs[name] = CASES[name].build(tf)
            for _ in range(CASES[name].warm):
                runs[name]()
        print(json.dumps(measure(runs[name], float(seconds), CALLS_PER_ROUND)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow-python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each round")
    parser.add_argument("--threads", type=int)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="parts of names of cases")
    options = parser.parse_args()
    chosen = {name: CASES[name] for name in CASES if not options.cases or any(p in name for p in options.cases)}
    pythons = {"headrace": sys.executable, "tensorflow": options.tensorflow_python}
    ours, theirs = (Worker(python, module, threads=options.threads) for module, python in pythons.items())
    with ours, theirs:
        return compare(ours, theirs, chosen, options.rounds, options.seconds, 28)


if __name__ == "__main__":
    run_script(main, serve)
