"""The rows of all.py that are whole scripts: ten typical ones from start to end, on an idle and on a busy machine."""

import contextlib
import datetime
import pathlib
import shutil
import statistics
import sys
import tempfile

import report
from first_seconds import measured
from peers import busy_processor
from typical_scripts import SCRIPTS

MACHINES = {"idle": contextlib.nullcontext, "busy": busy_processor}


def _time_script(name, row, options, folder):
    """Results of one script: TensorFlow, headrace with an empty cache of compiled programs, and with a filled one."""
    kept = str(pathlib.Path(folder, "kept"))
    measured(name, "headrace", sys.executable, kept)  # fills the cache, and writes byte code
    runs = {"tensorflow": [], "headrace": [], "headrace again": []}
    for number in range(options.script_rounds):
        fresh = str(pathlib.Path(folder, f"fresh{number}"))
        runs["tensorflow"].append(measured(name, "tensorflow", options.tensorflow_python, kept))
        runs["headrace"].append(measured(name, "headrace", sys.executable, fresh))
        runs["headrace again"].append(measured(name, "headrace", sys.executable, kept))
        print(f"    round {number + 1}: " + ", ".join(f"{peer} {times[-1][0]:.2f} s" for peer, times in runs.items()),
              file=sys.stderr, flush=True)  # fmt: skip
        shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(kept, ignore_errors=True)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return [
        {"row": row, "peer": peer, "seconds": [time[0] for time in times], "memory": round(max(t[3] for t in times)),
         "longest": statistics.median(time[2] for time in times), "date": now, **report.machine()}
        for peer, times in runs.items()
    ]  # fmt: skip


def run(wanted, options):
    """Time the scripts whose rows are wanted, and keep the results. It needs TensorFlow."""
    if not options.tensorflow_python:
        return
    with tempfile.TemporaryDirectory() as folder:
        for state, kept_so in MACHINES.items():
            for name in SCRIPTS:
                row = f"script {name}, {state}"
                peers = ["tensorflow", "headrace", "headrace again"]
                is_there = options.resume and report.has(options.results, row, peers, options.script_rounds)
                if wanted(row) and not is_there:
                    print(row, file=sys.stderr, flush=True)
                    with kept_so():
                        report.append(options.results, _time_script(name, row, options, folder))
