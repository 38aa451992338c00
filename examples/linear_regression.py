"""Linear regression three ways: NumPy with gradients by hand, a tape with a Keras optimizer, and a Keras layer.

    python examples/linear_regression.py [--quick]

Fits house prices over the years; all three end at the same line, the least squares solution.
"""

import argparse
import sys
import time

import numpy as np

import headrace as tf

YEARS = np.array([2013, 2014, 2015, 2016, 2017], dtype=np.float32)
PRICES = np.array([12000, 14000, 15000, 16500, 17500], dtype=np.float32)


def normalized(values):
    return (values - values.min()) / (values.max() - values.min())


def with_numpy(x, y, steps, rate):
    """The gradients of sum (a x + b - y)^2, written down by hand."""
    a = b = 0.0
    for _ in range(steps):
        error = a * x + b - y
        a, b = a - rate * 2 * error.dot(x), b - rate * 2 * error.sum()
    return float(a), float(b)


def with_a_tape(x, y, steps, rate):
    """The gradients from a tape, the steps by an optimizer."""
    x, y = tf.constant(x), tf.constant(y)
    a, b = tf.Variable(0.0), tf.Variable(0.0)
    optimizer = tf.keras.optimizers.SGD(learning_rate=rate)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(a * x + b - y))
        optimizer.apply_gradients(zip(tape.gradient(loss, [a, b]), [a, b]))
    return float(a), float(b)


def with_a_layer(x, y, steps, rate):
    """A dense layer with one unit, trained by `fit` on one batch of everything."""
    model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    # fit takes the mean of the squares, not their sum: the rate makes up for it.
    model.compile(optimizer=tf.keras.optimizers.SGD(rate * len(x)), loss="mse")
    everything = tf.data.Dataset.from_tensors((x[:, np.newaxis], y[:, np.newaxis])).repeat(steps)
    model.fit(everything, epochs=1, shuffle=False, verbose=0)
    kernel, bias = model.get_weights()
    return float(kernel[0, 0]), float(bias[0])


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="fewer and longer steps, for tests")
    steps, rate = (1000, 5e-2) if options.parse_args().quick else (10000, 5e-4)

    print(f"Keras {tf.keras.__version__}")
    x, y = normalized(YEARS), normalized(PRICES)
    best = np.polyfit(x.astype(np.float64), y.astype(np.float64), 1)
    print(f"least squares:             a = {best[0]:.5f}, b = {best[1]:.6f}")
    near = True
    for name, fit in [("NumPy", with_numpy), ("tape and SGD", with_a_tape), ("layer and fit", with_a_layer)]:
        start = time.perf_counter()
        a, b = fit(x, y, steps, rate)
        print(f"{name:14s} {steps:,} steps: a = {a:.5f}, b = {b:.6f}   {time.perf_counter() - start:.2f} s")
        near &= abs(a - best[0]) < 1e-2 and abs(b - best[1]) < 1e-2
    if not near:
        sys.exit("a line is not the least squares solution")


if __name__ == "__main__":
    main()
