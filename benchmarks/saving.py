"""Times saving, restoring, summaries and loading on headrace and on TensorFlow in turns, and prints the ratios.

    python benchmarks/saving.py [--tensorflow-python PATH] [--rounds N] [--seconds S] [--folder DIR] [CASE ...]
    python benchmarks/saving.py --loads 1000

Each library runs in one process of its own that stays up; rounds alternate between them, so that a busy machine slows
both. PATH is an interpreter with TensorFlow and Keras (default: this one). The ratio is the median over rounds of
TensorFlow's time / headrace's. TensorFlow does not flush to the disk: the ratios are those without it. What the flush
costs is compared with a bare write and flush of the same bytes; an asynchronous save with a synchronous one; memory
with that of the model. --loads only loads a SavedModel so many times, and prints how the memory grows. Leaves with an
error if a goal is missed.
"""

import argparse
import contextlib
import gc
import glob
import importlib
import itertools
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass

import numpy as np
from peers import Worker, compare, measure, run_script

MEGABYTE = 1 << 20
LARGE, SEVERAL = 64 * MEGABYTE, 16
SMALL = 10_000
ASYNCHRONOUS = 256 * MEGABYTE
CALLS_PER_ROUND = 200


@dataclass
class Case:
    """One program: `build(tf, folder)` returns what is timed, which returns seconds if it times itself."""

    build: object
    goal: float


# What is saved.


def _variables(tf, size=LARGE, count=SEVERAL):
    root = tf.Module()
    rng = np.random.default_rng(0)
    root.variables_ = [tf.Variable(rng.random(size // count // 4, np.float32)) for _ in range(count)]
    return root


def _small_variables(tf):
    root = tf.Module()
    root.variables_ = [tf.Variable(np.full([4], number, np.float32)) for number in range(SMALL)]
    return root


@contextlib.contextmanager
def _without_flush(tf):
    """Lets headrace write as TensorFlow does: nothing is flushed to the disk."""
    if not tf.__name__.startswith("headrace"):
        yield
        return
    from headrace._src.formats import durable_files

    class Unflushed(durable_files.Disk):
        def sync(self, file):
            pass

        def sync_folder(self, path):
            pass

    with durable_files.disk_replaced(Unflushed()):
        yield


def _saving(tf, root, folder, flush=False):
    """Saves under a new name each time, as `Checkpoint.save` does. The files are removed while no time is taken.

    A rename that replaces a file makes ext4 send the data to the disk: a save over another one is flushed anyway.
    """
    checkpoint, numbers = tf.train.Checkpoint(root=root), itertools.count()

    def run():
        prefix = os.path.join(folder, f"model{os.getpid()}-{flush:d}-{next(numbers)}")
        with contextlib.nullcontext() if flush else _without_flush(tf):
            start = time.perf_counter()
            checkpoint.write(prefix)
            seconds = time.perf_counter() - start
        for name in glob.glob(f"{prefix}.*"):
            os.remove(name)
        return seconds

    return run


def _restoring(tf, root, folder):
    checkpoint, prefix = tf.train.Checkpoint(root=root), os.path.join(folder, "model")
    checkpoint.write(prefix)
    return lambda: checkpoint.read(prefix).assert_consumed()


def save_large(tf, folder):
    return _saving(tf, _variables(tf), folder)


def restore_large(tf, folder):
    return _restoring(tf, _variables(tf), folder)


def save_small(tf, folder):
    return _saving(tf, _small_variables(tf), folder)


def restore_small(tf, folder):
    return _restoring(tf, _small_variables(tf), folder)


# Summaries.


def eager_summaries(tf, folder):
    writer = tf.summary.create_file_writer(folder)

    def run():
        with writer.as_default():
            for step in range(SMALL):
                tf.summary.scalar("loss", 0.5, step=step)
        writer.flush()

    return run


def traced_summaries(tf, folder):
    writer = tf.summary.create_file_writer(folder)

    @tf.function
    def write(step, value):
        with writer.as_default(step=step):
            tf.summary.scalar("loss", value)

    steps, value = [tf.constant(step, tf.int64) for step in range(SMALL)], tf.constant(0.5)

    def run():
        for step in steps:
            write(step, value)
        writer.flush()

    return run


# Models.


def save_model(tf, folder):
    """Writes the model that is loaded below."""
    model = tf.keras.applications.MobileNetV2(weights=None)
    model.export(os.path.join(folder, "mobile_net"), verbose=False)
    return 0.0


def load_model(tf, folder):
    path, image = os.path.join(folder, "mobile_net"), tf.constant(np.zeros([1, 224, 224, 3], np.float32))

    def run():
        loaded = tf.saved_model.load(path)
        (result,) = loaded.signatures["serving_default"](image).values()
        result.numpy()

    return run


COMPARED = {
    "save 64 MB, 16 variables": Case(save_large, 1.5),
    "restore 64 MB": Case(restore_large, 1.5),
    "save 10,000 variables": Case(save_small, 5),
    "restore 10,000 variables": Case(restore_small, 5),
    "10,000 scalar summaries": Case(eager_summaries, 3),
    "10,000 in a function": Case(traced_summaries, 3),
    "load MobileNetV2, predict": Case(load_model, 2),
}


# What only headrace is asked.


def flushed(tf, folder):
    """Seconds of a save with the flush, without it, and of a bare write and flush of the same bytes."""
    root = _variables(tf)
    with_flush, without = _saving(tf, root, folder, flush=True), _saving(tf, root, folder)
    data = np.concatenate([variable.numpy() for variable in root.variables_]).tobytes()
    path = os.path.join(folder, "bare")

    def bare():
        with open(path, "wb", buffering=0) as file:
            file.write(data)
            os.fsync(file.fileno())

    return [_seconds(run) for run in (with_flush, without, bare)]


def asynchronous(tf, folder):
    """Seconds that a synchronous save of 256 MB holds the caller, and that an asynchronous one does."""
    root = _variables(tf, ASYNCHRONOUS)
    checkpoint, prefix = tf.train.Checkpoint(root=root), os.path.join(folder, "large")
    options = tf.train.CheckpointOptions(enable_async=True)
    synchronous = _seconds(lambda: checkpoint.write(prefix))
    held = _seconds(lambda: checkpoint.write(prefix, options))
    checkpoint.sync()
    return [synchronous, held]


def memory(tf, folder):
    """Bytes that a save of 256 MB takes at its peak, beside what the process has already."""
    root = _variables(tf, ASYNCHRONOUS)
    checkpoint, prefix = tf.train.Checkpoint(root=root), os.path.join(folder, "peak")
    checkpoint.write(prefix)  # what is imported stays
    gc.collect()
    before = _peak(reset=True)
    checkpoint.write(prefix)
    return [_peak() - before]


def _seconds_per_call(run, seconds):
    """As `measure`, also for what takes its own time."""
    once = run()
    if not isinstance(once, float):
        return measure(run, seconds, CALLS_PER_ROUND)
    count = max(1, min(CALLS_PER_ROUND, int(seconds / once)))
    return sum(run() for _ in range(count)) / count


def _seconds(run):
    start = time.perf_counter()
    measured = run()
    return measured if isinstance(measured, float) else time.perf_counter() - start


def _peak(reset=False):
    """The most memory that the process has had, since it was reset where the system can do that."""
    try:
        if reset:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


ALONE = {"flush": flushed, "asynchronous": asynchronous, "memory": memory}


def judge(name, rounds) -> tuple[str, bool]:
    """What came out of a question to headrace alone, and whether that is good enough."""
    medians = [statistics.median(values) for values in zip(*rounds)]
    if name == "flush":
        # Each round by itself: how long a flush takes changes from one to the next.
        ratio = statistics.median(with_flush / (without + bare) for with_flush, without, bare in rounds)
        times = "{:.0f} ms with the flush, {:.0f} without, {:.0f} a bare write and flush".format(
            *(t * 1e3 for t in medians)
        )
        return f"save 64 MB: {times}: {ratio:.2f} times the sum of both, at most 1.1", ratio <= 1.1
    if name == "asynchronous":
        share = statistics.median(held / synchronous for synchronous, held in rounds)
        times = "{:.0f} ms, asynchronously held for {:.1f}".format(*(t * 1e3 for t in medians))
        return f"save 256 MB: {times}: {share:.3f} of it, less than 0.1", share < 0.1
    (peak,) = medians
    return f"memory of a save of 256 MB beside the model: {peak / 1e6:.1f} MB, at most 16", peak <= 16e6


# Processes.


def serve(module, folder):
    """Answer `seconds case` with seconds per call, and a name of ALONE with what its function returns."""
    tf = importlib.import_module(module)
    print(json.dumps(tf.__version__), flush=True)
    runs, numbers = {}, itertools.count()
    for line in sys.stdin:
        seconds, _, name = line.strip().partition(" ")
        place = os.path.join(folder, f"{module}-{next(numbers)}")
        os.makedirs(place)
        if seconds == "model":
            answer = save_model(tf, folder)
        elif not name:
            answer = ALONE[seconds](tf, place)
        else:
            if name not in runs:
                runs.clear()
                gc.collect()
                runs[name] = COMPARED[name].build(tf, folder if "load" in name else place)
                runs[name]()
            answer = _seconds_per_call(runs[name], float(seconds))
        print(json.dumps(answer), flush=True)


def loads(folder, count):
    """Load a model many times, and print how much memory the process has."""
    tf = importlib.import_module("headrace")
    layers = [tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.BatchNormalization()]
    tf.saved_model.save(tf.keras.Sequential([tf.keras.Input([32]), *layers, tf.keras.layers.Dense(8)]), folder)
    first, last = 0.0, 0.0
    for number in range(count + 1):
        loaded = tf.saved_model.load(folder)
        (result,) = loaded.signatures["serving_default"](tf.ones([2, 32])).values()
        result.numpy()
        if number in (count // 10, count) or number % max(1, count // 10) == 0:
            gc.collect()
            with open("/proc/self/statm") as file:
                last = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
            first = last if number == count // 10 else first
            print(f"{number:5d} loads: {last:.0f} MB", flush=True)
    grown = last - first
    print(f"{grown:.0f} MB more after the last {count - count // 10} loads, at most 30")
    return 1 if grown > 30 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow-python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each round")
    parser.add_argument("--folder", help="on the disk to write to; the default is that of temporary files")
    parser.add_argument("--loads", type=int, help="only load a model so many times")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="parts of names of cases")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        return loads(folder, options.loads) if options.loads else run(options, folder)


def run(options, folder):
    wanted = lambda name: not options.cases or any(part in name for part in options.cases)
    compared = {name: case for name, case in COMPARED.items() if wanted(name)}
    missed = []
    with Worker(sys.executable, "headrace", folder) as ours:
        if compared:
            with Worker(options.tensorflow_python, "tensorflow", folder) as theirs:
                if any("load" in name for name in compared):
                    theirs.ask("model")
                missed += compare(ours, theirs, compared, options.rounds, options.seconds, 26)
        for name in filter(wanted, ALONE):
            text, good = judge(name, [ours.ask(name) for _ in range(options.rounds)])
            print(f"{text}: {'pass' if good else 'FAIL'}", flush=True)
            missed += [] if good else [name]
    return missed


if __name__ == "__main__":
    run_script(main, serve)
