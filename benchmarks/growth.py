"""Shows how time and memory grow on headrace and on TensorFlow, and writes that into docs/performance.md.

    python benchmarks/growth.py --tensorflow-python PATH [--rounds N] [--only NAME ...] [--most-seconds S] [--resume]

Each cost and size has a process of its own for each library, in turns; the time is the best of the rounds, since what
disturbs only makes it longer. Exponents are fitted to the largest sizes, in a log-log diagram. A library goes on to the
next size as long as one call takes no longer than S seconds. Leaves with an error if a cost grows faster on headrace
than on TensorFlow. Results are kept in docs/performance/growth.jsonl; --resume leaves out sizes that are there.
"""

import argparse
import datetime
import importlib
import json
import pathlib
import sys
import time
from dataclasses import dataclass

import report
from peers import Worker, measure, peak_memory, run_script
from workloads import growing

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "performance" / "growth.jsonl"
# How much larger an exponent must be to count: times of a few sizes are not that exact.
MARGIN = 0.2


@dataclass(frozen=True)
class Cost:
    """What grows, with the sizes; `warm`: how many calls come before it is timed."""

    name: str
    build: object
    sizes: list
    size: str
    warm: int = 0


def _powers(first, last):
    return [10**power for power in range(first, last + 1)]


COSTS = [
    Cost("batch", growing.batch, [1, 4, 16, 64, 256, 1024, 4096], "rows of a batch", 40),
    Cost("parameters", growing.parameters, _powers(3, 8), "parameters", 3),
    Cost("operations", growing.operations, _powers(1, 5), "operations, traced, planned and run once"),
    Cost("gradient", growing.gradient_operations, _powers(1, 5), "operations, with their gradient"),
    Cost("compilation", growing.compilation, [10, 100, 1000, 3000, 10_000], "operations, compiled"),
    Cost("elements", growing.elements, _powers(2, 6), "elements of a dataset", 1),
    Cost("trips", growing.trips, _powers(1, 6), "trips of a while loop", 3),
]


def serve(module, name, size):
    """Build one cost at one size, and answer each line with seconds."""
    tf = importlib.import_module(module)
    print(json.dumps(tf.__version__), flush=True)
    cost = next(cost for cost in COSTS if cost.name == name)
    cost.build(tf, min(cost.sizes))()  # what is imported at the first use is no growth
    run = cost.build(tf, int(size))
    for _ in range(cost.warm):
        run()
    for _ in sys.stdin:
        if cost.warm:
            seconds = measure(run, 0.2, 10_000)
        else:
            start = time.perf_counter()
            run()
            seconds = time.perf_counter() - start
        print(json.dumps(seconds), flush=True)


def run_cost(cost, pythons, options):
    """Time one cost at its sizes, as long as calls are not too long, and keep the results."""
    pythons = dict(pythons)
    for size in cost.sizes:
        row = f"{cost.name} {size}"
        kept = report.read(options.results).get(row, {}) if options.resume else {}
        if not pythons.keys() <= kept.keys():
            kept = time_size(cost, size, pythons, options.rounds)
            report.append(options.results, [{"row": row, **result} for result in kept.values()])
        for module in list(pythons):
            if kept[module]["seconds"][0] > options.most_seconds:
                del pythons[module]


def time_size(cost, size, pythons, rounds):
    """The result of each library that is still asked, by library: the best time, and the memory."""
    found = {}
    for module, python in pythons.items():
        with Worker(python, module, cost.name, str(size)) as worker:
            seconds = worker.ask("time")
            # What takes long is not much disturbed.
            seconds = min([seconds] + [worker.ask("time") for _ in range(rounds - 1 if seconds < 5 else 0)])
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            found[module] = {"peer": module, "seconds": [seconds], "memory": round(peak_memory(worker.process.pid)),
                             "version": worker.version, "date": now, **report.machine()}  # fmt: skip
    print(f"{cost.name} {size}: " + ", ".join(f"{module} {report.duration(result['seconds'][0])} {result['memory']} MB"
          for module, result in found.items()), file=sys.stderr, flush=True)  # fmt: skip
    return found


def lines(cost, rows):
    """Sizes, seconds and megabytes of each library, as far as there are results."""
    found = {}
    for size in cost.sizes:
        for peer, result in rows.get(f"{cost.name} {size}", {}).items():
            found.setdefault(peer, []).append((size, result["seconds"][0], result["memory"]))
    return {peer: list(zip(*points)) for peer, points in found.items() if len(points) >= 3}


def _grown(memory):
    """Megabytes beside those of the smallest size, which a library has anyhow; one at least, for the logarithm."""
    return [max(1, megabytes - memory[0]) for megabytes in memory]


def table(rows):
    """The table of exponents, the figures, and the costs that grow faster than TensorFlow's."""
    text = ["| cost | up to | exponent of time: headrace | TensorFlow | exponent of memory: headrace | TensorFlow "
            "| at the largest size of both: headrace | TensorFlow |", "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    figures, faster = [], []
    for cost in COSTS:
        found = lines(cost, rows)
        if "headrace" not in found:
            continue
        slopes = {peer: [report.exponent(sizes, values) for values in (times, _grown(memory))]
                  for peer, (sizes, times, memory) in found.items()}  # fmt: skip
        ours, theirs = slopes["headrace"], slopes.get("tensorflow")
        shared = max(set.intersection(*(set(sizes) for sizes, _, _ in found.values())))
        at = {peer: next(p for p in zip(*columns) if p[0] == shared) for peer, columns in found.items()}
        cells = [f"{report.duration(at[peer][1])}, {at[peer][2]} MB" if peer in at else "-" for peer in
                 ("headrace", "tensorflow")]  # fmt: skip
        their = ["-", "-"] if theirs is None else [f"{slope:.2f}" for slope in theirs]
        exponents = f"{ours[0]:.2f} | {their[0]} | {ours[1]:.2f} | {their[1]}"
        largest = max(found["headrace"][0])
        text.append(f"| {cost.size} | {largest:,} | {exponents} | {shared:,}: {cells[0]} | {cells[1]} |")
        # Below linear nothing can be said to grow too fast.
        if theirs and any(mine > max(other, 1.0) + MARGIN for mine, other in zip(ours, theirs)):
            faster.append(cost.name)
        panels = [
            {"title": title, "lines": [{"peer": peer, "sizes": columns[0], "values": columns[place],
                                        "exponent": slopes[peer][place - 1]} for peer, columns in found.items()]}
            for place, title in ((1, "seconds"), (2, "peak MB"))
        ]  # fmt: skip
        figures.append({"kind": "growth", "file": f"growth_{cost.name}.png", "size": cost.size, "panels": panels})
    return "\n".join(text), figures, faster


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow-python", metavar="PATH", help="an interpreter that has TensorFlow and Keras 3")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", metavar="NAME", help=", ".join(cost.name for cost in COSTS))
    parser.add_argument("--most-seconds", type=float, default=20.0, metavar="S")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    parser.add_argument("--report", action="store_true", help="only write the page from results that are there")
    options = parser.parse_args()
    pythons = {"headrace": sys.executable}
    if options.tensorflow_python:
        pythons["tensorflow"] = options.tensorflow_python
    for cost in COSTS:
        if not options.report and (not options.only or cost.name in options.only):
            run_cost(cost, pythons, options)
    rows = report.read(options.results)
    text, figures, faster = table(rows)
    print(text)
    print("grow faster than TensorFlow's: " + ", ".join(faster) if faster else "nothing grows faster than TensorFlow's")
    if options.results == RESULTS and rows:
        text = f"{report.about(rows)}\n\n{text}"
        if report.draw(figures, ROOT / "docs" / "performance", [options.tensorflow_python]):
            text += "".join(f"\n\n![{figure['size']}](performance/{figure['file']})" for figure in figures)
        report.replace_part(ROOT / "docs" / "performance.md", "growth", text)
    return faster


if __name__ == "__main__":
    run_script(main, serve)
