"""Times eager operations on large arrays on headrace and TensorFlow in turns, and prints the ratios.

    python benchmarks/arrays.py [--tensorflow-python PATH] [--rounds N] [--seconds S] [CASE ...]

headrace and TensorFlow each run in one process of their own that stays up; rounds alternate between them, so that a
busy machine slows both. PATH is the interpreter that has TensorFlow (default: this one). CASE is part of the names of
the cases to time, such as `cast` or `1e6`. The ratio is the median over rounds of TensorFlow's time / headrace's.
Leaves with an error if a goal is missed.
"""

import argparse
import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from peers import Worker, compare, measure, run_script

CALLS_PER_ROUND = 1000
SIZES = {"1e5": 10**5, "1e6": 10**6, "1e7": 10**7}


@dataclass
class Case:
    """`build(tf)` returns what is timed."""

    build: Callable
    goal: float = 1.0


def _numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def _of(function, *shape, dtype="float32"):
    """A function of the module and of an array of that shape."""

    def build(tf):
        x = tf.cast(tf.constant(_numbers(*shape) * 4), dtype)
        return lambda: function(tf, x)

    return build


def _drawing(function):
    return lambda tf: lambda: function(tf)


def _casts():
    pairs = [("float32", "float16"), ("float32", "bfloat16"), ("float16", "float32"), ("bfloat16", "float32"),
             ("float32", "int32"), ("float32", "float64"), ("float16", "bfloat16")]  # fmt: skip
    for source, target in pairs:
        for name, size in SIZES.items():
            yield f"cast {source} to {target} {name}", _of(
                lambda tf, x, target=target: tf.cast(x, target), size, dtype=source
            )


def _rows():
    functions = {
        "softmax": lambda tf, x: tf.nn.softmax(x),
        "log_softmax": lambda tf, x: tf.nn.log_softmax(x),
        "logsumexp": lambda tf, x: tf.reduce_logsumexp(x, -1),
        "sum": lambda tf, x: tf.reduce_sum(x, -1),
        "max": lambda tf, x: tf.reduce_max(x, -1),
        "argmax": lambda tf, x: tf.argmax(x, -1),
        "cumsum": lambda tf, x: tf.cumsum(x, -1),
    }
    shapes = {"1e2 x 1e3": (100, 1000), "1e3 x 1e3": (1000, 1000), "1e5 x 10": (10**5, 10), "1e4 x 1e3": (10**4, 1000),
              "1e6": (10**6,), "1e7": (10**7,)}  # fmt: skip
    for name, function in functions.items():
        for shape_name, shape in shapes.items():
            yield f"{name} {shape_name}", _of(function, *shape)
    yield "softmax 1e3 x 1e3 bfloat16", _of(functions["softmax"], 1000, 1000, dtype="bfloat16")


def _orders():
    for name, size in SIZES.items():
        yield f"random.shuffle {name}", _of(lambda tf, x: tf.random.shuffle(x), size)
        yield f"sort {name}", _of(lambda tf, x: tf.sort(x), size)
    yield "random.shuffle 1e5 x 10", _of(lambda tf, x: tf.random.shuffle(x), 10**5, 10)
    yield "random.shuffle 1e6 int64", _of(lambda tf, x: tf.random.shuffle(x), 10**6, dtype="int64")
    yield "argsort 1e6", _of(lambda tf, x: tf.argsort(x), 10**6)
    yield "sort 1e3 x 1e3", _of(lambda tf, x: tf.sort(x), 1000, 1000)
    yield "top_k 10 of 1e6", _of(lambda tf, x: tf.math.top_k(x, 10), 10**6)
    yield "unique 1e6", _of(lambda tf, x: tf.unique(x), 10**6, dtype="int32")
    yield "where 1e6", _of(lambda tf, x: tf.where(x > 0), 10**6)
    yield "boolean_mask 1e6", _of(lambda tf, x: tf.boolean_mask(x, x > 0), 10**6)


def _draws():
    draws = {
        "uniform": lambda tf, size: tf.random.uniform([size]),
        "uniform int": lambda tf, size: tf.random.uniform([size], 0, 100, tf.int32),
        "normal": lambda tf, size: tf.random.normal([size]),
        "truncated_normal": lambda tf, size: tf.random.truncated_normal([size]),
        "poisson 3": lambda tf, size: tf.random.poisson([size], 3.0),
        "poisson 30": lambda tf, size: tf.random.poisson([size], 30.0),
        "gamma 2": lambda tf, size: tf.random.gamma([size], 2.0),
        "stateless binomial": lambda tf, size: tf.random.stateless_binomial([size], [1, 2], 40.0, 0.4),
    }
    for name, function in draws.items():
        for size_name in ("1e5", "1e6"):
            size = SIZES[size_name]
            yield f"random.{name} {size_name}", _drawing(lambda tf, f=function, size=size: f(tf, size))
    yield "dropout 1e6", _of(lambda tf, x: tf.nn.dropout(x, 0.5), 10**6)


def _halves():
    for dtype in ("bfloat16", "float16"):
        for size in (256, 1024):
            yield f"matmul {size} {dtype}", _of(lambda tf, x: tf.matmul(x, x), size, size, dtype=dtype)
        yield f"add 1e6 {dtype}", _of(lambda tf, x: x + x, 10**6, dtype=dtype)
        yield f"sum 1e6 {dtype}", _of(lambda tf, x: tf.reduce_sum(x), 10**6, dtype=dtype)


CASES = {
    name: Case(build) for cases in (_casts(), _orders(), _draws(), _rows(), _halves()) for name, build in cases
}


def serve(module):
    """The loop of a worker: reads `seconds case` per line, answers with seconds per call."""
    tf = importlib.import_module(module)
    built = {}
    print(json.dumps(tf.__version__), flush=True)
    for line in sys.stdin:
        seconds, name = line.rstrip("\n").split(" ", 1)
        if name not in built:
            built.clear()  # arrays of one case at a time
            built[name] = CASES[name].build(tf)
            built[name]()
        print(json.dumps(measure(built[name], float(seconds), CALLS_PER_ROUND)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow-python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.05, help="of each round")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="parts of names of cases")
    options = parser.parse_args()
    chosen = {name: CASES[name] for name in CASES if not options.cases or any(p in name for p in options.cases)}
    with Worker(sys.executable, "headrace") as ours, Worker(options.tensorflow_python, "tensorflow") as theirs:
        return compare(ours, theirs, chosen, options.rounds, options.seconds, 36)


if __name__ == "__main__":
    run_script(main, serve)
