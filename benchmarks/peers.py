"""What the benchmarks share: processes that each run one library, and timing a call."""

import contextlib
import functools
import json
import os
import signal
import statistics
import subprocess
import sys
import time

import kernel_settings

kernel_settings.drop()  # for the processes that are timed

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

    Its first answer is the version of the library. As a context manager, it ends with the block.
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

    @functools.cached_property
    def version(self):
        """Of the library; waits until the process is ready."""
        return self._next_answer()

    def _next_answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("a benchmark worker ended early")
        return json.loads(line)

    def tell(self, question):
        """Send a line, to which `answer` gets the answer."""
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()

    def answer(self):
        """Wait for the answer to the first line that has none yet."""
        _ = self.version
        return self._next_answer()

    def ask(self, question):
        """Send a line and read the answer."""
        self.tell(question)
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def kill(self):
        """End it at once, with all that it has started."""
        for pid in [*descendants(self.process.pid), self.process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, kind, *error):
        if kind is None:
            self.close()
        else:
            self.kill()


def peak_memory(pid) -> float:
    """Megabytes: the sum of the most that the process, and each that it has started and that still runs, had."""
    return sum(map(_peak_of, [pid, *descendants(pid)])) / 1024


def _peak_of(pid):
    """Kilobytes; nothing for a process that has just ended."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def descendants(pid) -> list[int]:
    """The processes that a process has started, and those that they have."""
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as file:
            parent = int(file.read().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry))
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found[1:]


@contextlib.contextmanager
def busy_processor():
    """While the block runs, a process that is tied to one processor keeps it busy."""
    # It also ends when this process is killed.
    spin = (
        "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\nparent = os.getppid()\n"
        "while os.getppid() == parent:\n    for _ in range(10**6): pass"
    )
    process = subprocess.Popen([sys.executable, "-c", spin])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def run_script(main, serve):
    """Be a worker if the command line says so, else the script, whose `main` returns what is wrong, if anything."""
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
    else:
        sys.exit(1 if main() else 0)


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
