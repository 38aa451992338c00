"""What compiling in the background costs those who wait: the first result, the calls meanwhile, leaving.

    python benchmarks/stall.py [--rounds N]

Each round takes a fresh process: when the first result of a graph of 300 operations comes; how many calls per second
there are while it is compiled and loaded, compared with the interpreter alone just before; and how long leaving takes
while something is compiled, compared with leaving when nothing is. Prints the median of the rounds, and leaves with an
error if a goal is missed.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy as np

import headrace as tf

OPERATIONS, FIRST, RATE, LEAVING = 300, 0.5, 0.5, 0.1
_SECONDS = 0.5  # of calls with the interpreter alone


def made(kind):
    """A new function of 300 operations: element by element, or with a matrix product among ten."""
    w = tf.constant(np.random.default_rng(0).standard_normal((100, 100)).astype("float32") * 0.1)

    @tf.function
    def f(x):
        for i in range(OPERATIONS // 2):
            x = tf.matmul(x, w) if kind == "products" and i % 5 == 0 else x * 0.9
            x = tf.tanh(x)
        return x

    return f


def job_of(function, x):
    """What is being compiled for a function; None when nothing is."""
    entries = function.get_concrete_function(x).graph.executable()._entries.values()
    return next((entry._job for entry in entries if entry._job is not None), None)


def measure(kind):
    """One round: the first result in seconds, the calls per second alone and while compiling."""
    x = tf.constant(np.ones((50, 100), "float32"))
    start = time.perf_counter()
    made(kind)(x).numpy()
    first = time.perf_counter() - start
    tf.config.experimental.set_background_compilation(False)
    alone = made(kind)
    for _ in range(100):  # until its plan is written out as code
        alone(x)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < _SECONDS:
        alone(x)
        count += 1
    rate = count / (time.perf_counter() - start)
    tf.config.experimental.set_background_compilation(True)
    function = made(kind)
    for _ in range(2):
        function(x)
    job, count, start = job_of(function, x), 0, time.perf_counter()
    while not job.done:
        function(x)
        count += 1
    seconds = time.perf_counter() - start
    return {"first": first, "rate": count / seconds / rate, "seconds": seconds}


def leave(kind):
    """Call, say so, and leave."""
    x = tf.constant(np.ones((50, 100), "float32"))
    function = made(kind)
    for _ in range(4):
        function(x)
    print(json.dumps("leaving"), flush=True)


def ask(arguments, **environment):
    """Run this file; the last line it prints, and how long it lives on after that line."""
    command = [sys.executable, __file__, *arguments]
    environment = {**os.environ, "HEADRACE_COMPILE_CACHE": "0", **environment}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        line = process.stdout.readline()
        start = time.perf_counter()
        code = process.wait()
        seconds = time.perf_counter() - start
    if code:
        raise SystemExit(f"{' '.join(arguments)}: exit code {code}")
    return json.loads(line), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--leave", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)), flush=True)
        return 0
    if options.leave:
        leave(options.leave)
        return 0
    missed = []
    for kind in ("elementwise", "products"):
        rounds = [ask(["--measure", kind])[0] for _ in range(options.rounds)]
        first, rate, seconds = (statistics.median(r[key] for r in rounds) for key in ("first", "rate", "seconds"))
        busy = statistics.median(ask(["--leave", kind])[1] for _ in range(options.rounds))
        idle = statistics.median(ask(["--leave", kind], HEADRACE_COMPILE="0")[1] for _ in range(options.rounds))
        print(f"{kind}: first result {first:.3f} s (goal {FIRST}); {rate:.0%} of the interpreter's calls during "
              f"{seconds:.1f} s of compiling (goal {RATE:.0%}); leaving {busy:.3f} s, idle {idle:.3f} s", flush=True)
        if first > FIRST or rate < RATE or busy > idle + LEAVING:
            missed.append(kind)
    print(f"missed: {', '.join(missed)}" if missed else "all goals met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
