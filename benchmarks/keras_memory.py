"""Shows that memory stays flat over many `predict` calls and many epochs of `fit`.

    python benchmarks/keras_memory.py [--predictions N] [--epochs N]

Prints the resident memory after a warm-up and at the end, and leaves with an error if it grew by more than 2 %.
"""

import argparse
import gc
import sys

import numpy as np

import headrace as tf

MOST_GROWTH = 0.02


def resident():
    """Bytes of memory that this process has."""
    gc.collect()
    with open("/proc/self/status", encoding="ascii") as file:
        line = next(line for line in file if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def report(name, before, after):
    """Print a line; returns whether memory stayed flat."""
    growth = after / before - 1
    print(f"{name}: {before / 2**20:.1f} MB, then {after / 2**20:.1f} MB: {growth:+.2%}")
    return growth <= MOST_GROWTH


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--predictions", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=50)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    x, y = rng.random((500, 64), np.float32), rng.integers(0, 10, 500)
    model = tf.keras.Sequential([tf.keras.Input([64]), tf.keras.layers.Dense(50, "relu"), tf.keras.layers.Dense(10)])
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(x, y, batch_size=50, epochs=10, verbose=0)
    for _ in range(600):
        model.predict(x[:50], verbose=0)
    flat, before = [], resident()
    for _ in range(options.predictions):
        model.predict(x[:50], verbose=0)
    flat.append(report(f"{options.predictions} predictions", before, resident()))
    before = resident()
    model.fit(x, y, batch_size=50, epochs=options.epochs, verbose=0)
    flat.append(report(f"{options.epochs} epochs", before, resident()))
    return 0 if all(flat) else 1


if __name__ == "__main__":
    sys.exit(main())
