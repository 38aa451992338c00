"""Times tf.functions on headrace and TensorFlow in turns, and prints the ratios.

    python benchmarks/graph.py [--tensorflow-python PATH] [--rounds N] [--threads N] [--steps N] [CASE ...]

Each case runs in a process of its own per library. First the steps 1 to N one after another, from a fresh start:
the first call (with tracing), and the time until steps 1, 20 and N; these take turns over whole processes. Then, with
everything warm, rounds alternate between the two. PATH is the interpreter that has TensorFlow (default: this one).
Ratios are TensorFlow's time / headrace's. Leaves with an error if a goal is missed.
"""

import argparse
import importlib
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass

import numpy as np
from peers import Worker, measure
from workloads import recurrent
from workloads.loops import counting
from workloads.training import Adam

SECONDS_PER_ROUND, CALLS_PER_ROUND = 0.2, 20_000


def _random(*shape):
    return (np.random.default_rng(0).standard_normal(shape) * 0.1).astype("float32")


def one_op(tf):
    x = tf.constant(1.0)
    f = tf.function(lambda x: x + 1.0)
    return lambda: f(x)


def loop(tf):
    count, n = counting(tf), tf.constant(10_000)
    return lambda: count(n)


def dense(tf):
    w1, b1 = tf.Variable(_random(784, 100)), tf.Variable(_random(100))
    w2, b2 = tf.Variable(_random(100, 10)), tf.Variable(_random(10))
    variables = [w1, b1, w2, b2]
    adam = Adam(tf, variables)
    x = tf.constant(_random(50, 784))
    y = tf.constant(np.arange(50, dtype=np.int32) % 10)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
            logits = tf.matmul(hidden, w2) + b2
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        adam.apply(tape.gradient(loss, variables))
        return loss

    return lambda: step(x, y)


@dataclass
class Case:
    """One program: `build(tf)` returns what is called; goals are ratios TensorFlow / headrace."""

    build: object
    ratio: float  # of warm calls
    first: float = None  # of the first call
    cumulative: bool = False  # whether the times until steps 1, 20 and N must be no longer than TensorFlow's


CASES = {
    "one op": Case(one_op, 8),
    "while, 10,000 iterations": Case(loop, 50),
    "784-100-10, Adam": Case(dense, 1.5),
    "LSTM(256), 40 steps unrolled": Case(recurrent.loop, 0.8, first=2, cumulative=True),
}


def resident() -> float:
    """Megabytes of memory that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def serve(module, name):
    """A worker: answers to "steps N" with the times until each step, and to "round" with seconds per call."""
    tf = importlib.import_module(module)
    run = CASES[name].build(tf)
    print(json.dumps(tf.__version__), flush=True)
    for line in sys.stdin:
        command, _, count = line.strip().partition(" ")
        if command == "steps":
            times, start = [], time.perf_counter()
            for _ in range(int(count)):
                float(run())
                times.append(time.perf_counter() - start)
            print(json.dumps(times), flush=True)
        elif command == "round":
            print(json.dumps(measure(run, SECONDS_PER_ROUND, CALLS_PER_ROUND)), flush=True)
        elif command == "memory":
            print(json.dumps(resident()), flush=True)
        elif command == "donations":
            print(json.dumps(failed_donations(module, run)), flush=True)


def failed_donations(module, run):
    """Of 20 more steps: how often a variable's buffer was copied because it could not be handed over."""
    if module != "headrace":
        return None
    counts = importlib.import_module("headrace._src.graph.compiling.programs").Donations
    counts.watched = True
    for _ in range(20):
        run()
    return counts.failed


def compare(name, options):
    """Run one case; prints a few lines and returns the goals that were missed."""
    case, missed = CASES[name], []
    pythons = {"tensorflow": options.tensorflow_python, "headrace": sys.executable}
    starts = {module: [] for module in pythons}
    for _ in range(options.starts):
        for module, python in pythons.items():
            worker = Worker(python, module, name, threads=options.threads)
            starts[module].append(worker.ask(f"steps {options.steps}"))
            worker.close()
    print(name)
    points = [1, min(20, options.steps), options.steps]
    for point in dict.fromkeys(points):
        their, our = (statistics.median(run[point - 1] for run in starts[m]) for m in pythons)
        wanted = case.first if point == 1 and case.first else 1 if case.cumulative else None
        if wanted and their / our < wanted:
            missed.append(f"{name}: until step {point}")
        print(f"    until step {point:4d}: TF {their:9.4f} s, headrace {our:9.4f} s, ratio {their / our:6.2f}"
              f"{f', goal {wanted}' if wanted else ''}")
    workers = {m: Worker(python, m, name, threads=options.threads) for m, python in pythons.items()}
    for worker in workers.values():
        worker.ask(f"steps {options.warm}")
    rounds = {m: [] for m in workers}
    for _ in range(options.rounds):
        for module, worker in workers.items():
            rounds[module].append(worker.ask("round"))
    ratio = statistics.median(t / o for t, o in zip(rounds["tensorflow"], rounds["headrace"]))
    their, our = (1e6 * statistics.median(rounds[m]) for m in workers)
    if ratio < case.ratio:
        missed.append(f"{name}: warm calls")
    print(f"    warm calls: TF {their:10.1f} us, headrace {our:10.1f} us, ratio {ratio:6.2f}, goal {case.ratio}")
    memory = {m: worker.ask("memory") for m, worker in workers.items()}
    if memory["headrace"] > memory["tensorflow"]:
        missed.append(f"{name}: memory")
    failed = workers["headrace"].ask("donations")
    if failed:
        missed.append(f"{name}: donations")
    print(f"    memory: TF {memory['tensorflow']:.0f} MB, headrace {memory['headrace']:.0f} MB; "
          f"failed donations: {failed}", flush=True)
    for worker in workers.values():
        worker.close()
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="only cases whose names contain it")
    parser.add_argument("--tensorflow-python", default=sys.executable, metavar="PATH")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--starts", type=int, default=2, help="fresh processes per library")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warm", type=int, default=400, help="steps before rounds begin")
    parser.add_argument("--threads", type=int, help="of matrix products, in both (default: as they choose)")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(*options.serve)
    missed = []
    for name in CASES:
        if not options.cases or any(part in name for part in options.cases):
            missed += compare(name, options)
    print("missed: " + "; ".join(missed) if missed else "all goals met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
