"""Training loops of 1.x in sessions, on headrace and on TensorFlow in turns.

    python benchmarks/sessions.py --tensorflow-python PATH [--rounds N] [--seconds S] [CASE ...]
    python benchmarks/sessions.py --quick

Each library runs all cases in a process of its own: graphs of `tf.compat.v1` with placeholders, layers and optimizers,
and `Session.run` with a `feed_dict` in a loop, another batch each time. headrace is called until its programs have
taken over; then rounds go in turns. PATH is an interpreter with TensorFlow and tf_keras, which `tf.compat.v1.layers`
needs. Ratios are TensorFlow's time / headrace's. --quick runs three steps of each case on headrace and times nothing.
Leaves with an error if a goal is missed.
"""

import argparse
import importlib
import json
import os
import sys
import warnings
from dataclasses import dataclass

import numpy as np
from peers import Worker, compare, measure, run_script
from workloads.settling import Compilation

_MOST_CALLS = 20_000


def _batches(size, *shape, classes=10):
    """An endless walk through ten batches of random inputs with labels."""
    generator = np.random.default_rng(0)
    inputs = generator.standard_normal((10 * size, *shape)).astype("float32")
    labels = generator.integers(classes, size=10 * size)
    while True:
        for start in range(0, 10 * size, size):
            yield inputs[start : start + size], labels[start : start + size]


def _trained(tf, v1, logits, labels, optimizer):
    """The operation of a step of training, and the loss."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)
    return optimizer.minimize(loss), loss


def _loop(v1, graph, x, y, step, loss, batches):
    """A call that runs one step of training on the next batch."""
    session = v1.Session(graph=graph)
    session.run(v1.global_variables_initializer())

    def run():
        inputs, labels = next(batches)
        return session.run([step, loss], feed_dict={x: inputs, y: labels})[1]

    return run


def mlp(tf, hidden_units=(100,), batch=50):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x, y = v1.placeholder(tf.float32, [None, 784]), v1.placeholder(tf.int64, [None])
        hidden = x
        for units in hidden_units:
            hidden = v1.layers.dense(hidden, units, activation=tf.nn.relu)
        step, loss = _trained(tf, v1, v1.layers.dense(hidden, 10), y, v1.train.AdamOptimizer(1e-3))
        return _loop(v1, graph, x, y, step, loss, _batches(batch, 784))


def wide_mlp(tf):
    """Mostly matrix products, for which no library is much faster than the other."""
    return mlp(tf, (256, 128), 64)


def normalized(tf):
    """Batch normalization with its update operations, momentum, a decaying rate and a global step."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x, y = v1.placeholder(tf.float32, [None, 100]), v1.placeholder(tf.int64, [None])
        count = v1.train.get_or_create_global_step()
        hidden = x
        for _ in range(3):
            hidden = tf.nn.relu(v1.layers.batch_normalization(v1.layers.dense(hidden, 100), training=True))
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=v1.layers.dense(hidden, 10))
        loss = tf.reduce_mean(losses)
        rate = v1.train.exponential_decay(0.01, count, 100, 0.99)
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            step = v1.train.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=count)
        return _loop(v1, graph, x, y, step, loss, _batches(64, 100))


def cnn(tf):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x, y = v1.placeholder(tf.float32, [None, 28, 28, 1]), v1.placeholder(tf.int64, [None])
        maps = x
        for filters in (16, 32):
            maps = v1.layers.conv2d(maps, filters, 3, padding="same", activation=tf.nn.relu)
            maps = v1.layers.max_pooling2d(maps, 2, 2)
        hidden = v1.layers.dense(v1.layers.flatten(maps), 64, activation=tf.nn.relu)
        step, loss = _trained(tf, v1, v1.layers.dense(hidden, 10), y, v1.train.AdamOptimizer(1e-3))
        return _loop(v1, graph, x, y, step, loss, _batches(32, 28, 28, 1))


def dynamic_rnn(tf):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x, y = v1.placeholder(tf.float32, [None, 28, 28]), v1.placeholder(tf.int64, [None])
        outputs, _ = v1.nn.dynamic_rnn(v1.nn.rnn_cell.LSTMCell(128), x, dtype=tf.float32)
        step, loss = _trained(tf, v1, v1.layers.dense(outputs[:, -1], 10), y, v1.train.AdamOptimizer(1e-3))
        return _loop(v1, graph, x, y, step, loss, _batches(64, 28, 28))


def addition(tf):
    """The least that a run can do: what the call itself costs."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [])
        y = x + 1.0
        session = v1.Session(graph=graph)
        return lambda: session.run(y, {x: 2.0})


@dataclass
class Case:
    """`build(tf)` returns what is called; `goal` is a ratio TensorFlow / headrace."""

    build: object
    goal: float


CASES = {
    "MLP 784-100-10, Adam": Case(mlp, 1.5),
    "MLP 784-256-128-10, Adam": Case(wide_mlp, 1.5),
    "batch normalization, momentum": Case(normalized, 1.5),
    "CNN 16-32, Adam": Case(cnn, 1.5),
    "dynamic_rnn, LSTM 128 x 28, Adam": Case(dynamic_rnn, 1.5),
    "one addition": Case(addition, 1.5),
}


def _built(module, name):
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    warnings.simplefilter("ignore")  # that the layers of 1.x are deprecated
    return CASES[name].build(importlib.import_module(module))


def serve(module):
    """A worker: answers to "S case" with seconds per call, over S seconds."""
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    compilation = Compilation() if module == "headrace" else None
    print(json.dumps(importlib.import_module(module).__version__), flush=True)
    built = {}
    for line in sys.stdin:
        seconds, _, name = line.strip().partition(" ")
        if name not in built:
            run = built[name] = _built(module, name)
            for _ in range(20):
                run()
            if compilation is not None:
                compilation.settle(run)
        print(json.dumps(measure(built[name], float(seconds), _MOST_CALLS)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="only cases whose names contain it")
    parser.add_argument("--tensorflow-python", default=sys.executable, metavar="PATH")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each round")
    parser.add_argument("--quick", action="store_true", help="three steps of each case on headrace, not timed")
    options = parser.parse_args()
    cases = {name: case for name, case in CASES.items()
             if not options.cases or any(part in name for part in options.cases)}
    if options.quick:
        for name in cases:
            run = _built("headrace", name)
            print(f"{name}: {', '.join(f'{float(run()):.4f}' for _ in range(3))}")
        return []
    with Worker(options.tensorflow_python, "tensorflow") as theirs, Worker(sys.executable, "headrace") as ours:
        return compare(ours, theirs, cases, options.rounds, options.seconds, 34)


if __name__ == "__main__":
    run_script(main, serve)
