"""Times small eager programs on headrace, TensorFlow and plain NumPy in turns, and prints the ratios.

    python benchmarks/eager.py [--tensorflow-python PATH] [--rounds N] [--threads N] [CASE ...]

headrace and TensorFlow each run in one process of their own that stays up; rounds alternate between them, so
that a busy machine slows both. PATH is the interpreter that has TensorFlow (default: this one). The ratio is
the median over rounds of TensorFlow's time / headrace's; "over NumPy" is headrace's median less NumPy's, per
op. Leaves with an error if a goal is missed. On a machine that has other work, --threads 1 gives steadier
figures: a matrix product on two threads waits for the slower one.
"""

import argparse
import importlib
import json
import statistics
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
from peers import Worker, measure

SECONDS_PER_ROUND, CALLS_PER_ROUND = 0.04, 100_000


@dataclass
class Case:
    """One program: `build(tf)` and `numpy()` return what is timed; `ops` is how many ops one call makes."""

    build: object
    numpy: object
    ops: int = 1
    ratio: float = None  # goal: TensorFlow's time / headrace's
    over: float = None  # goal: microseconds over NumPy per op


def _random(*shape, dtype="float32"):
    values = np.random.default_rng(0).standard_normal(shape) * 4
    return values.astype(dtype)


def add(tf):
    a = tf.constant(_random(10))
    return lambda: a + a


def add_numpy():
    a = _random(10)
    return lambda: a + a


def add_under_tape(tf):
    a = tf.constant(_random(10))

    def run():
        with tf.GradientTape() as tape:
            tape.watch(a)
            for _ in range(100):
                a + a

    return run


def add_under_tape_numpy():
    a = _random(10)

    def run():
        for _ in range(100):
            a + a

    return run


def gradient(tf):
    v = tf.Variable(_random(10))

    def run():
        with tf.GradientTape() as tape:
            y = v * v + v
        return tape.gradient(y, v)

    return run


def gradient_numpy():
    v = _random(10)
    one = np.ones(10, np.float32)

    def run():
        v * v + v
        return one * v + one * v + one

    return run


def regression(tf):
    x = tf.constant(_random(100) / 4)
    y = x * 3.0 + 2.0
    w, b = tf.Variable(0.0), tf.Variable(0.0)

    def run():
        for _ in range(100):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(w * x + b - y))
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(0.1 * dw)
            b.assign_sub(0.1 * db)

    return run


def regression_numpy():
    x = _random(100) / 4
    y = x * np.float32(3) + np.float32(2)
    rate, two = np.float32(0.1), np.float32(2 / 100)

    def run():
        w, b = np.float32(0), np.float32(0)
        for _ in range(100):
            error = w * x + b - y
            np.mean(np.square(error))
            d = two * error
            dw, db = np.sum(d * x), np.sum(d)
            w = w - rate * dw
            b = b - rate * db

    return run


def matmul(size, dtype):
    def build(tf):
        a = tf.cast(tf.constant(_random(size, size)), dtype)
        return lambda: tf.matmul(a, a)

    def build_numpy():
        if dtype == "bfloat16":
            a = _random(size, size).astype(importlib.import_module("ml_dtypes").bfloat16)
        else:
            a = _random(size, size, dtype=dtype)
        return lambda: np.matmul(a, a)

    return build, build_numpy


def conv2d(tf):
    x, w = tf.constant(_random(8, 28, 28, 16)), tf.constant(_random(3, 3, 16, 32))
    return lambda: tf.nn.conv2d(x, w, strides=1, padding="SAME")


def conv2d_numpy():
    x, w = _random(8, 28, 28, 16), _random(3, 3, 16, 32).reshape(144, 32)

    def run():
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
        columns = windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, 144)
        return (columns @ w).reshape(8, 28, 28, 32)

    return run


def softmax_cross_entropy(tf):
    logits = tf.constant(_random(64, 10))
    labels = tf.constant(np.arange(64, dtype=np.int32) % 10)
    return lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


def softmax_cross_entropy_numpy():
    logits, labels, rows = _random(64, 10), np.arange(64) % 10, np.arange(64)

    def run():
        shifted = logits - logits.max(axis=1, keepdims=True)
        return np.log(np.exp(shifted).sum(axis=1)) - shifted[rows, labels]

    return run


CASES = {
    "a + a, 10 floats": Case(add, add_numpy, ratio=15, over=2),
    "a + a under a tape": Case(add_under_tape, add_under_tape_numpy, ops=100, over=3),
    "v*v+v, tape, gradient": Case(gradient, gradient_numpy, ops=5, ratio=15),
    "regression, 100 steps": Case(regression, regression_numpy, ops=1300, ratio=20),
    "matmul 64 float32": Case(*matmul(64, "float32"), ratio=3),
    "matmul 256 float16": Case(*matmul(256, "float16"), ratio=1),
    "matmul 256 bfloat16": Case(*matmul(256, "bfloat16"), ratio=1),
    "matmul 256 int32": Case(*matmul(256, "int32"), ratio=1),
    "conv2d 8x28x28x16, 3x3x32": Case(conv2d, conv2d_numpy),
    "softmax cross entropy 64x10": Case(softmax_cross_entropy, softmax_cross_entropy_numpy),
}


def serve(module):
    """The loop of a worker: reads a case's name and "module" or "numpy" per line, answers with seconds."""
    tf = importlib.import_module(module)
    built = {}
    print(json.dumps(tf.__version__), flush=True)
    for line in sys.stdin:
        name, what = json.loads(line)
        if (name, what) not in built:
            case = CASES[name]
            built[name, what] = case.build(tf) if what == "module" else case.numpy()
            for _ in range(3):
                built[name, what]()
        print(json.dumps(measure(built[name, what], SECONDS_PER_ROUND, CALLS_PER_ROUND)), flush=True)


def start_tensorflow(python, threads):
    probe = "import importlib.util as u, sys; sys.exit(u.find_spec('tensorflow') is None)"
    if subprocess.run([python, "-c", probe]).returncode:
        print(f"{python} has no TensorFlow (name one that has with --tensorflow-python): no ratios.\n")
        return None
    return Worker(python, "tensorflow", threads=threads)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="only cases whose names contain it")
    parser.add_argument("--tensorflow-python", default=sys.executable, metavar="PATH")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--threads", type=int, help="of matrix products, in both (default: as they choose)")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)

    headrace = Worker(sys.executable, "headrace", threads=options.threads)
    tensorflow = start_tensorflow(options.tensorflow_python, options.threads)
    names = [n for n in CASES if not options.cases or any(c in n for c in options.cases)]
    print(f"headrace {headrace.version}, TensorFlow {tensorflow.version if tensorflow else '-'}, "
          f"NumPy {np.__version__}; {options.rounds} rounds; microseconds per call")
    print(f"{'case':28s} {'TF':>10s} {'headrace':>10s} {'NumPy':>10s} {'ratio':>7s} {'goal':>5s}"
          f" {'over NumPy':>11s} {'goal':>5s}")
    missed = []
    for name in names:
        case, ours, theirs, bare = CASES[name], [], [], []
        for _ in range(options.rounds):
            if tensorflow:
                theirs.append(tensorflow.ask(json.dumps([name, "module"])))
            ours.append(headrace.ask(json.dumps([name, "module"])))
            bare.append(headrace.ask(json.dumps([name, "numpy"])))
        our, numpy = 1e6 * statistics.median(ours), 1e6 * statistics.median(bare)
        their = 1e6 * statistics.median(theirs) if theirs else float("nan")
        over = (our - numpy) / case.ops
        ratio = statistics.median(t / o for t, o in zip(theirs, ours)) if theirs else None
        verdicts = []
        if case.ratio is not None and ratio is not None:
            verdicts.append(ratio >= case.ratio)
        if case.over is not None:
            verdicts.append(over <= case.over)
        if not all(verdicts):
            missed.append(name)
        verdict = ("pass" if all(verdicts) else "FAIL") if verdicts else ""
        print(f"{name:28s} {their:10.1f} {our:10.1f} {numpy:10.1f} "
              f"{'-' if ratio is None else format(ratio, '.1f'):>7s} {case.ratio or '':>5} "
              f"{over:8.2f}/op {case.over or '':>5} {verdict}", flush=True)
    for worker in filter(None, (headrace, tensorflow)):
        worker.close()
    if missed:
        print("missed:", "; ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
