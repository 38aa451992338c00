"""Shows what bounds rows of all.py on headrace: where the time of a call goes, and the least that its products take.

    python benchmarks/profile_row.py NAME ... [--seconds S] [--lines N]
    python benchmarks/profile_row.py --quick NAME ...

NAME is a part of a row's name; without any, the names are listed. A row is built and warmed up as all.py does it. Then
it is called for some seconds each time: undisturbed, for the time of a call; with headrace's own profiler, which has
the kernels of eager ops and, from XLA, the instructions of compiled programs; with samples of its Python code, a
thousand in a second. Times are those of one call, however many steps it makes. FLOPs of products are counted from the
shapes, and compared with what this machine's processors reach in a product of 2048 x 2048 matrices. --quick calls each
row only as often as it takes to be compiled. All is measured in this process: nothing else should run meanwhile.
"""

import argparse
import contextlib
import importlib
import math
import os
import pathlib
import statistics
import sys
import tempfile
import time

import kernel_settings
import numpy as np
from program_times import ProgramTimes
from stack_samples import Samples
from workloads import input_files
from workloads.row import Parts, call_once
from workloads.settling import Compilation
from workloads.table import ROWS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))


class Profile:
    """One row, ready to be called, and how it is looked at."""

    def __init__(self, row, compilation, folder, options):
        self.row, self._seconds, self._lines = row, options.seconds, options.lines
        tf = importlib.import_module("headrace")
        self.run = row.build(tf, folder) if row.needs_files else row.build(tf)
        for _ in range(2 if options.quick else row.warm):
            call_once(self.run)
        compilation.settle(self.run)

    def call(self):
        return call_once(self.run)

    def calls(self):
        """Call as often as fits into the seconds; how long each took."""
        times, end = [], time.perf_counter() + self._seconds
        while not times or time.perf_counter() < end:
            start = time.perf_counter()
            self.call()
            times.append(time.perf_counter() - start)
        return times

    def show(self, peak):
        """Print everything.

        Args:
            peak: FLOPs in a second that the processors reach.
        """
        row, processor = self.row, time.process_time()
        times = self.calls()
        processor = (time.process_time() - processor) / len(times)
        once = statistics.median(times)
        units = f", {_text(once / row.calls)} a {row.unit}" if row.calls > 1 else ""
        if isinstance(self.run, Parts):
            units = f" of all {len(self.run)} parts"
        print(f"\n{row.name}: {_text(once)} a call{units} (median of {len(times):,}; shortest {_text(min(times))}, "
              f"longest {_text(max(times))}); {_text(processor)} of processor time")  # fmt: skip
        self._show_programs(once, peak)
        self._show_python()

    def _show_programs(self, once, peak):
        found = ProgramTimes(self.call, seconds=self._seconds)
        table = lambda title, rows: self._table(f"  {title}", rows)
        if found.runs:
            print(f"  compiled programs: {_text(found.seconds)} a call, in {found.runs:g} runs; in {_text(found.idle)} "
                  "of it no thread has an instruction (hand-overs between threads, arguments, results)")  # fmt: skip
            table("XLA around the instructions, the inner ones within the outer ones", found.host)
            table("XLA's instructions, in the thread that has them", found.instructions)
        if found.kernels:
            print(f"  kernels of eager ops: {_text(sum(x.seconds for x in found.kernels))} a call")
            table("kernels", found.kernels)
        if found.steps:
            table("interpreted functions and input pipelines, the inner ones within the outer ones", found.steps)
        for warning in found.warnings:
            print(f"  {warning}")
        if found.flops:
            least = found.flops / peak
            print(f"  products: {found.flops / 1e9:.3g} GFLOP a call, {_text(least)} at the {peak / 1e9:.0f} GFLOP/s "
                  f"that NumPy reaches here, {least / once:.0%} of the call")  # fmt: skip

    def _table(self, title, rows):
        rows = sorted(rows, key=lambda x: -x.seconds)
        if rows:
            print(f"{title}:")
        for x in rows[: self._lines]:
            speed = f", {x.flops / x.seconds / 1e9:.0f} GFLOP/s" if x.flops else ""
            print(f"    {_text(x.seconds):>9s} {x.count:8.4g} x  {x.name}{speed}")
        if len(rows) > self._lines:
            rest = rows[self._lines :]
            print(f"    {_text(sum(x.seconds for x in rest)):>9s} {sum(x.count for x in rest):8.4g} x  the others")

    def _show_python(self):
        samples = Samples()
        with samples.taken():
            self.calls()
        print(f"  Python, {samples.count:,} samples of the main thread:")
        for title, counter in [
            ("by part, the innermost", samples.parts),
            ("by function, with what it calls", samples.inside),
            ("by function, itself and C code that it calls", samples.itself),
            ("other threads at the same time, the innermost", samples.elsewhere),
        ]:
            shares = samples.shares(counter, self._lines)
            if shares:
                print(f"  {title}:")
            for share, name in shares:
                print(f"    {share:9.1%}  {name}")


def _text(seconds):
    """A duration for people."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def products_per_second(size=2048, rounds=3) -> float:
    """How many FLOPs in a second the processors reach together, in NumPy's product of two float32 matrices."""
    a = np.ones((size, size), np.float32)
    best = math.inf
    for _ in range(rounds):
        start = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - start)
    return 2.0 * size**3 / best


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows whose names contain one of these")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each way of looking")
    parser.add_argument("--lines", type=int, default=12, help="of each table")
    parser.add_argument("--photos", help="a folder with JPEG files (default: some are drawn)")
    parser.add_argument("--quick", action="store_true", help="only see whether it works")
    options = parser.parse_args()
    if options.quick:
        options.seconds = 0.0
    return options


def main():
    if kernel_settings.drop():  # which NumPy has read already
        os.execv(sys.executable, [sys.executable, *sys.argv])
    options = parsed()
    rows = [row for row in ROWS if any(part.lower() in row.name.lower() for part in options.names)]
    if not rows:
        print("Rows:", *(f"    {row.name}" for row in ROWS), sep="\n")
        return 1 if options.names else 0
    peak = products_per_second(*((256, 1) if options.quick else ()))
    compilation = Compilation()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        if any(row.needs_files for row in rows):
            input_files.prepare(importlib.import_module("headrace"), folder, options.photos)
        for row in rows:
            Profile(row, compilation, folder, options).show(peak)
    return 0


if __name__ == "__main__":
    sys.exit(main())
