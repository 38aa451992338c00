"""Checks that memory stays flat: 200,000 eager ops and 20,000 tapes with the cycle collector switched off.

    python benchmarks/memory.py [--ops N] [--tapes N]

After a warm-up the resident memory may grow by at most 2 %; prints the figures and fails otherwise.
"""

import argparse
import gc
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import headrace as tf

GOAL = 0.02
PAGE = os.sysconf("SC_PAGE_SIZE")


def resident():
    """Resident memory of this process in bytes (Linux)."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * PAGE


def eager_ops():
    """A stream of calls that make one op each, of many kinds; yields after each."""
    a = tf.random.stateless_uniform([16, 16], [1, 2])
    v = tf.Variable(tf.zeros([16]))
    s = tf.constant(["alpha", "beta", "gamma"])
    while True:
        yield a + a
        yield a * 2.0
        yield tf.matmul(a, a)
        yield tf.reduce_sum(a, axis=1)
        yield tf.reshape(a, [4, 64])
        yield a[1:3, ::2]
        yield tf.gather(a, [0, 3, 5])
        yield tf.cast(a, tf.float16)
        yield tf.concat([a, a], axis=0)
        yield tf.nn.softmax(a)
        yield tf.where(a > 0.5, a, 0.0)
        yield tf.stack([a, a])
        yield tf.random.uniform([16])
        yield tf.strings.length(s)
        yield v.assign_add(a[0])
        yield tf.constant([1.0, 2.0, 3.0])
        yield a.numpy()
        try:
            tf.matmul(a, s)  # an error must not keep its tensors alive either
        except (tf.errors.InvalidArgumentError, TypeError, ValueError):
            yield None


def tapes():
    """A stream of tapes: training, second order, persistent, dropped unused, sparse; yields after each."""
    x = tf.random.stateless_uniform([32, 8], [3, 4])
    w, b = tf.Variable(tf.zeros([8, 4])), tf.Variable(tf.zeros([4]))
    table = tf.Variable(tf.zeros([50, 4]))
    while True:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(x, w) + b) - 1.0))
        for variable, gradient in zip((w, b), tape.gradient(loss, [w, b])):
            variable.assign_sub(0.01 * gradient)
        yield
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(b * b * b)
            g = inner.gradient(y, b)
        outer.gradient(g, b)
        yield
        with tf.GradientTape(persistent=True) as tape:
            y = tf.reduce_sum(tf.exp(b))
        tape.gradient(y, b), tape.gradient(y, b)
        yield
        with tf.GradientTape() as tape:
            tf.reduce_sum(tf.sin(b))
        yield
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 7, 7]))
        table.scatter_sub(tape.gradient(y, table))
        yield


def grow(name, stream, count, warm_up):
    """Takes `count` items of a stream after a warm-up and says whether memory stayed within the goal."""
    for _ in range(warm_up):
        next(stream)
    start = resident()
    marks = []
    for i in range(1, count + 1):
        next(stream)
        if i % (count // 10) == 0:
            marks.append(resident())
    growth = max(marks) / start - 1
    print(f"{name}: {start / 2**20:.1f} MB after {warm_up:,}; then every {count // 10:,}: "
          + " ".join(f"{m / 2**20:.1f}" for m in marks)
          + f"; growth {growth:+.2%} (goal: {GOAL:.0%}) {'pass' if growth <= GOAL else 'FAIL'}", flush=True)
    return growth <= GOAL


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--ops", type=int, default=200_000)
    parser.add_argument("--tapes", type=int, default=20_000)
    options = parser.parse_args()
    gc.collect()
    gc.disable()
    flat = [grow("eager ops", eager_ops(), options.ops, options.ops // 20),
            grow("tapes", tapes(), options.tapes, options.tapes // 20)]
    return 0 if all(flat) else 1


if __name__ == "__main__":
    sys.exit(main())
