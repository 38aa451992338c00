"""Resident memory of tf.functions: flat over 100,000 calls, and after 1,000 functions are made and dropped.

    python benchmarks/graph_memory.py [--calls 100000] [--functions 1000]

Prints the resident memory along the way, and fails when it grows by more than a few megabytes. The cycle collector is
switched off: reference counting alone must free everything.
"""

import argparse
import gc
import os
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import headrace as tf

# In megabytes: what allocators may keep without being a leak.
_ALLOWED = 8.0


def resident() -> float:
    """The resident memory of this process in megabytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def watch(title, step, count) -> bool:
    """Call `step(i)` so many times; whether memory stays flat after the first tenth."""
    for i in range(count // 10):
        step(i)
    start = resident()
    marks = []
    for part in range(9):
        for i in range(count // 10):
            step((part + 1) * (count // 10) + i)
        marks.append(resident() - start)
    text = " ".join(f"{mark:+.1f}" for mark in marks)
    flat = marks[-1] < _ALLOWED
    print(f"{title:<44} {start:7.1f} MB, then {text} MB  {'flat' if flat else 'GROWS'}", flush=True)
    return flat


def calls_of_one_function(compiled):
    """A step like that of a training loop: variables, random numbers, a branch and a loop."""
    v = tf.Variable(np.zeros((20, 10), np.float32))

    @tf.function(jit_compile=True if compiled else None)
    def step(x):
        noise = tf.random.normal([20, 10])
        y = tf.matmul(x, v + noise)
        y = tf.cond(tf.reduce_sum(y) > 0, lambda: y * 2.0, lambda: y - 1.0)
        y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + 1.0), [tf.constant(0), y])[1]
        v.assign_add(tf.ones([20, 10]) * 0.01)
        return tf.reduce_mean(y)

    x = tf.ones([5, 20])
    return lambda i: step(x)


def small_calls():
    """The shortest way: one op, tensors in and out."""
    f = tf.function(lambda x, y: x + y)
    x = tf.ones([10])
    return lambda i: f(x, x)


def calls_under_a_tape():
    """Forward with residuals, and backward."""
    f = tf.function(lambda x: tf.reduce_sum(tf.tanh(x) * x))
    x = tf.ones([10])

    def step(i):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        tape.gradient(y, x)

    return step


def failing_calls():
    """Errors must not keep what they happened in."""
    f = tf.function(lambda x, i: tf.gather(x, i))
    x, i = tf.ones([10]), tf.constant(20)

    def step(number):
        try:
            f(x, i)
        except tf.errors.InvalidArgumentError:
            pass

    return step


def new_functions(i):
    """Make a function, run it, differentiate it, drop it."""
    table = tf.constant(np.full((100, 100), i, np.float32))

    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0:
            x = tf.matmul(x, table)
        for _ in tf.range(2):
            x = x * 0.5
        return tf.reduce_sum(x)

    x = tf.ones([3, 100])
    f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    tape.gradient(y, x)


def new_traces():
    """One function that is traced for ever new Python values would keep all traces; dropping it frees them."""

    def step(i):
        f = tf.function(lambda x, n: x * n)
        for n in range(5):
            f(tf.ones([n + 1]), n)

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--functions", type=int, default=1_000)
    arguments = parser.parse_args()
    gc.collect()
    gc.disable()
    tf.config.experimental.set_background_compilation(False)
    flat = [
        watch("calls of a one-op function", small_calls(), arguments.calls),
        watch("calls of a training step, interpreted", calls_of_one_function(False), arguments.calls),
        watch("calls under a tape", calls_under_a_tape(), arguments.calls // 4),
        watch("calls that fail", failing_calls(), arguments.calls // 10),
        watch("functions made and dropped, interpreted", new_functions, arguments.functions),
        watch("traces made and dropped", new_traces(), arguments.functions // 2),
        watch("calls of a training step, compiled", calls_of_one_function(True), arguments.calls),
    ]
    tf.config.experimental.set_background_compilation(True)
    flat.append(watch("functions made and dropped", new_functions, arguments.functions))
    sys.exit(0 if all(flat) else 1)


if __name__ == "__main__":
    main()
