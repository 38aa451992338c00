"""Costs that grow: each is a function of the `tf` module and a size, which returns what is timed."""

import numpy as np

from workloads.loops import counting
from workloads.training import keras_step
from workloads.weights import noise


def batch(tf, size):
    """A step of training of the perceptron, compiled."""
    layers = [tf.keras.layers.Dense(100, activation="relu"), tf.keras.layers.Dense(10)]
    model = tf.keras.Sequential([tf.keras.Input([784]), *layers])
    return keras_step(tf, model, noise("digits", size, 784), np.arange(size) % 10)


def parameters(tf, size):
    """Gradient and update of one matrix of so many numbers."""
    width = round(size**0.5)
    matrix, x = tf.Variable(tf.ones([width, width])), tf.ones([8, width])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(x, matrix))
        matrix.assign_sub(1e-9 * tape.gradient(loss, matrix))
        return loss

    return lambda: float(step())


def _chain(tf, size, **options):
    def f(x):
        for _ in range(size // 2):
            x = tf.tanh(x)
            x = x + 0.5
        return x

    return tf.function(f, **options)


def operations(tf, size):
    """Trace, plan and first call of a new function."""
    x = tf.ones([10])
    return lambda: _chain(tf, size)(x).numpy()


def gradient_operations(tf, size):
    """The same with the gradient."""
    x = tf.ones([10])

    def run():
        f = _chain(tf, size)

        @tf.function
        def gradient(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f.python_function(x)
            return tape.gradient(y, x)

        return gradient(x).numpy()

    return run


def compilation(tf, size):
    """Trace, compilation and first call, with jit_compile=True."""
    x = tf.ones([10])
    return lambda: _chain(tf, size, jit_compile=True)(x).numpy()


def elements(tf, size):
    """A walk through a dataset with a map and batches."""
    dataset = tf.data.Dataset.range(size).map(lambda x: x * 2).batch(32)

    def run():
        count = 0
        for _ in dataset:
            count += 1
        return count

    return run


def trips(tf, size):
    """A warm call of a function with a while loop."""
    count, n = counting(tf), tf.constant(size)
    return lambda: float(count(n))
