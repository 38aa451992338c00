"""Times headrace, TensorFlow and PyTorch on everything that is promised to be fast, and writes docs/performance.md.

    python benchmarks/all.py --tensorflow-python PATH [--torch-python PATH] [--rounds N] [--only NAME ...]
    python benchmarks/all.py --check --tensorflow-python PATH [--torch-python PATH]
    python benchmarks/all.py --quick [--only NAME ...]

Each workload runs in a process of its own for each library. All are built and warmed up first, headrace until its
compiled programs have taken over; then rounds go in turns from library to library, so that a busy machine slows all.
PyTorch runs eagerly and, where there is a C++ compiler, with torch.compile, in channels-last for images: the faster
one counts. Results are appended to docs/performance/results.jsonl, from which the table and the plots are made;
--resume leaves out what is there already with as many rounds. --check measures nothing: it compares the losses of three
steps between the libraries, and the results that are there with the goals. --quick calls each workload twice on
headrace. Plots need matplotlib, in any of the interpreters. Leaves with an error if a goal is missed or a workload
fails.
"""

import argparse
import contextlib
import datetime
import importlib
import json
import pathlib
import shutil
import sys
import tempfile

import report
from peers import Worker, peak_memory, run_script
from workloads import input_files
from workloads.serving import serve
from workloads.table import ROWS

import scripts

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "performance" / "results.jsonl"


class Peer:
    """A library in one of its forms."""

    def __init__(self, name, python, module, variant=""):
        self.name, self.python, self.module, self.variant = name, python, module, variant

    def runs(self, row):
        """Whether this form of this library has the workload."""
        if self.module == "torch":
            return row.torch is not None and not (row.eager and self.variant == "compile")
        return not (row.eager and self.variant == "jit")

    def start(self, folder):
        return Worker(self.python, self.module, self.variant, folder)


def peers(options) -> list[Peer]:
    """headrace first, then those whose interpreters are known."""
    chosen = [Peer("headrace", sys.executable, "headrace")]
    if options.tensorflow_python:
        chosen.append(Peer("tensorflow", options.tensorflow_python, "tensorflow"))
        if options.jit:
            chosen.append(Peer("tensorflow jit", options.tensorflow_python, "tensorflow", "jit"))
    if options.torch_python and not options.no_torch:
        chosen.append(Peer("torch", options.torch_python, "torch"))
        if any(map(shutil.which, ("c++", "g++", "clang++"))):
            chosen.append(Peer("torch.compile", options.torch_python, "torch", "compile"))
    return chosen


def say(text):
    print(text, file=sys.stderr, flush=True)


def asked(workers, question):
    """The answers of several workers that work at the same time; those that fail are dropped, and why is told."""
    for worker in workers.values():
        worker.tell(json.dumps(question))
    results, failed = {}, {}
    for name, worker in workers.items():
        answer = worker.answer()
        if "error" in answer:
            failed[name] = answer["error"]
        else:
            results[name] = answer["result"]
    for name, error in failed.items():
        say(f"    {name} failed: {error}")
        del workers[name]
    return results


@contextlib.contextmanager
def started(chosen, row, folder):
    """The workers of a row by name."""
    with contextlib.ExitStack() as stack:
        yield {peer.name: stack.enter_context(peer.start(folder)) for peer in chosen if peer.runs(row)}


def time_row(row, chosen, options, folder):
    """Time one row on all libraries in turns. Returns a result for each."""
    with started(chosen, row, folder) as workers:
        calls = asked(workers, ["warm", row.name])
        rounds = {name: [] for name in workers}
        for number in range(options.rounds):
            for name, worker in list(workers.items()):
                seconds = asked({name: worker}, ["time", options.seconds or row.seconds]).get(name)
                if seconds is None:
                    del workers[name]
                else:
                    rounds[name].append(seconds)
            last = ", ".join(f"{name} {report.duration(times[-1])}" for name, times in rounds.items() if times)
            say(f"    round {number + 1}: {last}")
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        return [
            {"row": row.name, "peer": name, "seconds": rounds[name], "memory": round(peak_memory(worker.process.pid)),
             "warm": calls[name], "version": worker.version, "date": now, **report.machine()}
            for name, worker in workers.items()
        ]  # fmt: skip


def run_rows(rows, chosen, options, folder):
    """Time rows and keep the results. Returns the rows that could not be timed on headrace."""
    failed = []
    for number, row in enumerate(rows, 1):
        names = [peer.name for peer in chosen if peer.runs(row)]
        if options.resume and report.has(options.results, row.name, names, options.rounds):
            continue
        say(f"{number}/{len(rows)} {row.name}")
        results = time_row(row, chosen, options, folder)
        report.append(options.results, results)
        if not any(result["peer"] == "headrace" for result in results):
            failed.append(row.name)
    return failed


def check(rows, chosen, folder):
    """Compare the losses of three steps from the same weights. Returns the rows in which they differ."""
    differing = []
    for row in rows:
        if row.tolerance is None:
            continue
        with started(chosen, row, folder) as workers:
            everything = set(workers)
            losses = asked(workers, ["first", row.name, 3])
        ours = losses.get("headrace", [])
        far = {name for name, values in losses.items() for a, b in zip(values, ours)
               if not abs(a - b) <= row.tolerance * max(abs(a), abs(b))}  # fmt: skip
        far |= everything - set(losses)
        say(f"{'differs' if far else 'equal  '} {row.name}: " + "; ".join(
            f"{name} {' '.join(f'{value:.6g}' for value in values)}" for name, values in losses.items()))  # fmt: skip
        differing += [row.name] if far else []
    return differing


def quick(rows, folder):
    """Call each workload twice on headrace. Returns those that fail."""
    failed = []
    with Peer("headrace", sys.executable, "headrace").start(folder) as worker:
        for row in rows:
            workers = {"headrace": worker}
            result = asked(workers, ["first", row.name, 2])
            say(f"{row.name}: {'runs' if result else 'FAILS'}")
            failed += [] if result else [row.name]
    return failed


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow-python", metavar="PATH", help="an interpreter that has TensorFlow and Keras 3")
    parser.add_argument("--torch-python", metavar="PATH", help="an interpreter that has PyTorch")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--jit", action="store_true", help="also TensorFlow with jit_compile=True")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--script-rounds", type=int, default=3, help="the same for whole scripts")
    parser.add_argument("--seconds", type=float, help="of a round of one library (default: as the row says)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="rows whose names contain one of these")
    parser.add_argument("--photos", help="a folder with JPEG files (default: some are drawn)")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    parser.add_argument("--check", action="store_true", help="compare losses, and results with goals")
    parser.add_argument("--quick", action="store_true", help="only see whether each runs, on headrace")
    parser.add_argument("--report", action="store_true", help="only write the page from results that are there")
    return parser.parse_args()


def main():
    options = parsed()
    wanted = lambda name: not options.only or any(part.lower() in name.lower() for part in options.only)
    rows = [row for row in ROWS if wanted(row.name)]
    with tempfile.TemporaryDirectory() as folder:
        if any(row.needs_files for row in rows) and not options.report:
            sys.path.insert(0, str(ROOT))
            input_files.prepare(importlib.import_module("headrace"), folder, options.photos)
        if options.quick:
            return quick(rows, folder)
        if options.check:
            return check(rows, peers(options), folder) + report.write(options.results, None, [])
        failed = []
        if not options.report:
            failed += run_rows(rows, peers(options), options, folder)
            scripts.run(wanted, options)
    # Results that are kept elsewhere are nobody's promise: they do not change the page.
    docs = ROOT / "docs" if options.results == RESULTS else None
    missed = report.write(options.results, docs, [options.tensorflow_python, options.torch_python])
    return failed + missed


if __name__ == "__main__":
    run_script(main, serve)
