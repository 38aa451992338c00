"""`tf_upgrade_v2` on a tree of many files, beside TensorFlow's own.

    python benchmarks/upgrade.py [--files 1000] [--tensorflow-python PYTHON] [--rounds N]

The tree is made of the programs of tests/upgrade/programs, several in each file. Both tools run as a user runs them,
start included, in turns; the figures are the best of the rounds: seconds by the clock, and of processors.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
GOAL = 5.0


def make_tree(folder, count):
    """Files that differ, each with a few programs as functions."""
    programs = [path.read_text(encoding="utf-8").replace("import tensorflow as tf\n", "")
                for path in sorted((ROOT / "tests" / "upgrade" / "programs").glob("*.txt"))]
    for number in range(count):
        chosen = [programs[(number * 7 + k * 3) % len(programs)] for k in range(4)]
        text = f'"""File {number}."""\nimport tensorflow as tf\n' + "\n\n".join(chosen)
        path = folder / f"package_{number % 20}" / f"file_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def timed(command, env):
    """Seconds by the clock and of processors, and what was printed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{command} failed:\n{done.stdout[-500:]}{done.stderr[-500:]}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tensorflow-python", metavar="PYTHON")
    arguments = parser.parse_args()
    tools = {"headrace": [sys.executable, "-m", "headrace", "upgrade"]}
    if arguments.tensorflow_python:
        tools["TensorFlow"] = [arguments.tensorflow_python, "-m", "tensorflow.tools.compatibility.tf_upgrade_v2_main"]
    env = dict(os.environ, PYTHONPATH=str(ROOT), TF_CPP_MIN_LOG_LEVEL="3")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        make_tree(folder / "in", arguments.files)
        best = {}
        for number in range(arguments.rounds):
            for name, command in tools.items():
                target, report = str(folder / f"{name}_{number}"), str(folder / "report.txt")
                options = ["--intree", str(folder / "in"), "--outtree", target, "--reportfile", report]
                seconds, processors, printed = timed([*command, *options], env)
                if f"Converted {arguments.files} files" not in printed:
                    sys.exit(f"{name} did not convert all files:\n{printed[-500:]}")
                known = best.get(name, (seconds, processors))
                best[name] = (min(known[0], seconds), min(known[1], processors))
    for name, (seconds, processors) in best.items():
        print(f"{name:<12} {seconds:8.2f} s, {processors:8.2f} s of processors, for {arguments.files} files")
    if "TensorFlow" in best:
        ratio = best["TensorFlow"][0] / best["headrace"][0]
        cpu = best["TensorFlow"][1] / best["headrace"][1]
        said = "pass" if ratio >= GOAL else "FAIL"
        print(f"{ratio:.1f} times as fast, {cpu:.1f} times less work (goal: {GOAL:g}) {said}")
        sys.exit(0 if ratio >= GOAL else 1)


if __name__ == "__main__":
    main()
