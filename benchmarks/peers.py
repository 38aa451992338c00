"""What the benchmarks share: processes that each run one library, and timing a call."""

import json
import os
import statistics
import subprocess
import sys
import time

_THREADS = ["OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS",
            "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"]


def measure(run, seconds, most):
    """Seconds per call, over as many calls as fit into `seconds`, at most so many."""
    start = time.perf_counter()
    run()
    once = time.perf_counter() - start
    count = max(1, min(most, int(seconds / max(once, 1e-7))))
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count


class Worker:
    """The calling script in a process of its own, started with `--serve MODULE ...`, that answers lines with JSON.

    Its first answer is the version of the library.
    """

    def __init__(self, python, module, *arguments, threads=None):
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1",
                   HEADRACE_COMPILE_CACHE="0")  # what earlier runs have compiled is not counted
        if threads:
            env |= dict.fromkeys(_THREADS, str(threads))
        if module == "headrace":
            env["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [env.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            [python, os.path.abspath(sys.argv[0]), "--serve", module, *arguments], text=True, env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=None if module == "headrace" else subprocess.DEVNULL)
        self.version = self._answer()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("a benchmark worker ended early")
        return json.loads(line)

    def ask(self, question):
        """Send a line and read the answer."""
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(ours, theirs, cases, rounds, seconds, width):
    """Time cases on both in turns, and print the ratios.

    Args:
        ours, theirs: two `Worker`s that answer `seconds case` with seconds per call.
        cases: by name, objects with a `goal`.
        rounds: how often each case is timed on both.
        seconds: of each round.
        width: of the column of names.

    Returns:
        The names of the cases that missed their goal.
    """
    missed = []
    print(f"headrace {ours.version}, TensorFlow {theirs.version}; {rounds} rounds; ms per call")
    print(f"{'case':{width}s} {'TF':>9s} {'headrace':>9s} {'ratio':>7s} {'goal':>5s}")
    for name, case in cases.items():
        question = f"{seconds} {name}"
        pairs = [(theirs.ask(question), ours.ask(question)) for _ in range(rounds)]
        ratio = statistics.median(a / b for a, b in pairs)
        theirs_ms, ours_ms = (statistics.median(times) * 1e3 for times in zip(*pairs))
        verdict = "pass" if ratio >= case.goal else "FAIL"
        if verdict == "FAIL":
            missed.append(name)
        print(f"{name:{width}s} {theirs_ms:9.3f} {ours_ms:9.3f} {ratio:7.2f} {case.goal:5g} {verdict}", flush=True)
    print("missed: " + "; ".join(missed) if missed else "all goals met")
    return missed
