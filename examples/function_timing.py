"""What tf.function is worth: the same training step eagerly, traced, and compiled, timed beside each other.

    python examples/function_timing.py [--quick]

A step of many small ops gains most: eagerly, each of them is a call of its own.
"""

import argparse
import sys
import time

import numpy as np

import headrace as tf


def pendulum(angle, speed, steps=100):
    """A swinging pendulum: a loop of small ops, in Python when eager, in the graph when traced."""
    for _ in tf.range(steps):
        speed = speed - 0.01 * 9.81 * tf.sin(angle)
        angle = angle + 0.01 * speed
    return angle, speed


def perceptron():
    """A training step of a small network of variables: forward, gradients, update."""
    random = np.random.default_rng(1)
    w1 = tf.Variable(random.normal(0, 0.05, (784, 100)).astype(np.float32))
    w2 = tf.Variable(random.normal(0, 0.1, (100, 10)).astype(np.float32))

    def step(images, labels):
        with tf.GradientTape() as tape:
            logits = tf.nn.relu(images @ w1) @ w2
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        for variable, gradient in zip((w1, w2), tape.gradient(loss, [w1, w2])):
            variable.assign_sub(0.1 * gradient)
        return loss

    return step


def seconds(function, arguments, count):
    """The best of five: seconds for a call. What comes first (tracing, compiling) is not counted."""
    function(*arguments)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            function(*arguments)
        best = min(best, (time.perf_counter() - start) / count)
    return best


def compare(name, make, arguments, count):
    """Times a function in the three ways; returns how many times as fast as eager the compiled one is."""
    ways = {
        "eager": make(),
        "traced": tf.function(make()),
        "compiled": tf.function(make(), jit_compile=True),
    }
    times = {way: seconds(function, arguments, count) for way, function in ways.items()}
    for way, duration in times.items():
        print(f"{name:11s} {way:9s} {duration * 1e6:9.0f} us   {times['eager'] / duration:5.1f} times as fast as eager")
    return times["eager"] / times["compiled"]


def tracing():
    """A function is traced once for each kind of argument: Python's print shows when."""
    traces = []

    @tf.function
    def square(x):
        traces.append((x.dtype.name, x.shape))
        return x * x

    for x in (tf.constant(1.0), tf.constant(2.0), tf.constant(3), tf.constant([1.0, 2.0])):
        square(x)
    print("4 calls,", len(traces), "traces:", ", ".join(f"{dtype}{list(shape)}" for dtype, shape in traces))
    return len(traces)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="fewer calls, for tests")
    count = 3 if options.parse_args().quick else 30

    traces = tracing()
    random = np.random.default_rng(1)
    swing = compare("pendulum", lambda: pendulum, (tf.constant(0.5), tf.constant(0.0)), count)
    images = tf.constant(random.normal(size=(50, 784)).astype(np.float32))
    labels = tf.constant(random.integers(0, 10, 50), tf.int32)
    compare("perceptron", perceptron, (images, labels), count)
    if traces != 3 or swing < 2:
        sys.exit("a traced and compiled loop should be much faster than an eager one")


if __name__ == "__main__":
    main()
