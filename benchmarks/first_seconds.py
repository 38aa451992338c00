"""Times ten typical scripts from the start of their process to the end of the first epoch, on headrace and TensorFlow.

    python benchmarks/first_seconds.py [--tensorflow-python PATH] [--rounds N] [--busy] [--cpu] [--waits] [SCRIPT ...]

Each round starts, one after the other: TensorFlow, headrace with an empty cache of compiled programs ("first"), and
headrace with the programs that an earlier round has kept ("again"). A ratio is the median over rounds of TensorFlow's
time / headrace's. `longest` is the longest of the steps from the third on, in medians of them, the median over rounds;
that of TensorFlow stands beside it. PATH is the interpreter that has TensorFlow and Keras 3 (default: this one). --busy
keeps one processor busy with a process that is bound to it. --cpu compares processor time, of the process and of those
that it has started, instead of what the clock says: for a machine that others use. --waits prints, for the longest step
of each run, what the thread that trains did in it: how long it computed, was ready to run while the system let another
one run, and slept (for a lock, another thread, a disk), in milliseconds, and how often it was interrupted
and put to sleep. Linux only. Leaves with an error if a goal is missed.
"""

import argparse
import contextlib
import importlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from peers import busy_processor, peak_memory

GOAL, LONGEST = 1.5, 5.0
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(name, module, kind="times"):
    """One script in this process; prints how long each step took, or with `waits` also what its thread did."""
    from typical_scripts import SCRIPTS

    look = _state_of_thread if kind == "waits" else lambda: (time.perf_counter(),)
    states = []
    SCRIPTS[name](importlib.import_module(module), lambda: states.append(look()))
    steps = [[b - a for a, b in zip(before, after)] for before, after in zip(states, states[1:])]
    print("steps", json.dumps([step[0] for step in steps]), flush=True)
    if kind == "waits":
        print("longest", json.dumps(max(steps[1:])), flush=True)


def _state_of_thread():
    """Up to now: seconds on the clock, of computing, of being ready to run; how often interrupted and put to sleep."""
    used = resource.getrusage(resource.RUSAGE_THREAD)
    with open("/proc/thread-self/schedstat") as file:
        ready = int(file.read().split()[1]) / 1e9
    return time.perf_counter(), time.thread_time(), ready, used.ru_nivcsw, used.ru_nvcsw


def _told(longest, median):
    """A line about the longest step."""
    total, computed, ready, interrupted, slept = longest
    asleep = max(0.0, total - computed - ready)
    return (f"step of {total * 1e3:.2f} ms, {total / median:.1f} medians: computed {computed * 1e3:.2f}, ready "
            f"{ready * 1e3:.2f}, asleep {asleep * 1e3:.2f}; interrupted {interrupted} times, slept {slept} times")


def measured(name, module, python, cache, shows_waits=False):
    """Seconds until the epoch is over, of processor time, the longest step in medians, and megabytes of memory."""
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", HEADRACE_COMPILE_CACHE=cache)
    if module == "headrace":
        env["PYTHONPATH"] = os.pathsep.join([ROOT, *filter(None, [env.get("PYTHONPATH")])])
    command = [python, os.path.abspath(__file__), "--run", name, module, "waits" if shows_waits else "times"]
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=env)
        line = ""
        for line in process.stdout:
            if line.startswith("steps "):
                break
        seconds, memory = time.perf_counter() - start, peak_memory(process.pid)
        longest = process.stdout.readline() if shows_waits else ""
        process.stdout.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode or not line.startswith("steps "):
            errors.seek(0)
            raise SystemExit(f"{name} on {module} failed:\n{errors.read()}")
    steps = json.loads(line.removeprefix("steps "))[1:]  # the first of them is the second step
    median = statistics.median(steps)
    if longest:
        print(f"  {name}, {module}: {_told(json.loads(longest.removeprefix('longest ')), median)}", flush=True)
    return seconds, used.ru_utime + used.ru_stime, max(steps) / median, memory


def compare(name, options, folder):
    """The line of one script; whether the goals are met."""
    kept = os.path.join(folder, "kept")
    shutil.rmtree(kept, ignore_errors=True)
    measured(name, "headrace", sys.executable, kept)  # keeps programs, and writes byte code
    rounds = []
    for number in range(options.rounds):
        fresh = os.path.join(folder, f"fresh-{number}")
        rounds.append([
            measured(name, "tensorflow", options.tensorflow_python, kept, options.waits),
            measured(name, "headrace", sys.executable, fresh, options.waits),
            measured(name, "headrace", sys.executable, kept, options.waits),
        ])
        shutil.rmtree(fresh, ignore_errors=True)
    which = 1 if options.cpu else 0
    theirs, first, again = (statistics.median(r[i][which] for r in rounds) for i in range(3))
    ratios = [statistics.median(r[0][which] / r[i][which] for r in rounds) for i in (1, 2)]
    longest = [statistics.median(r[i][2] for r in rounds) for i in range(3)]
    is_met = min(ratios) >= GOAL and max(longest[1:]) <= LONGEST
    print(f"{name:18s} {theirs:7.2f} {first:7.2f} {again:7.2f} {ratios[0]:7.2f} {ratios[1]:7.2f}   "
          f"{longest[0]:6.1f} {longest[1]:6.1f} {longest[2]:6.1f}  {'pass' if is_met else 'FAIL'}", flush=True)
    return is_met


def main():
    from typical_scripts import SCRIPTS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow-python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--waits", action="store_true")
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help="parts of names of scripts")
    options = parser.parse_args()
    parts = [part.lower() for part in options.scripts]
    chosen = [name for name in SCRIPTS if not parts or any(part in name.lower() for part in parts)]
    if not chosen:
        parser.error(f"no script is called {', '.join(options.scripts)}. There are: {', '.join(SCRIPTS)}.")
    print(f"seconds{' of processor time' if options.cpu else ''}; {options.rounds} rounds; goal {GOAL}, "
          f"longest step {LONGEST:g} medians{'; one processor busy' if options.busy else ''}")
    print(f"{'script':18s} {'TF':>7s} {'first':>7s} {'again':>7s} {'ratio':>7s} {'ratio':>7s}   "
          f"{'long TF':>6s} {'first':>6s} {'again':>6s}")
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        if options.busy:
            stack.enter_context(busy_processor())
        missed = [name for name in chosen if not compare(name, options, folder)]
    print("missed: " + "; ".join(missed) if missed else "all goals met")
    return 1 if missed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(*sys.argv[2:])
    else:
        sys.exit(main())
