"""Times training steps under strategies on headrace and on TensorFlow in turns, and how two processes share the work.

    python benchmarks/distribute.py [--tensorflow-python PATH] [--rounds N] [--pin] [--only PART ...]

The parts are `mirrored` (an MLP and a CNN step with MirroredStrategy on 2 logical CPUs), `workers` (the same with
MultiWorkerMirroredStrategy in 2 processes) and `efficiency`. Of the first two, the ratio is the median over rounds of
TensorFlow's time / headrace's; the goal is 2. Efficiency: one process on both processors against two that are kept to
one each, with the same batch in all; the goal is 0.85 for the CNN at batch 256. With it: which share of an MLP step is
all-reduce, and all-reduce of 64 MB against a copy in memory. Leaves with an error if a goal is missed.
"""

import argparse
import contextlib
import importlib
import json
import os
import socket
import statistics
import sys
import time

import numpy as np
from peers import Worker, run_script

WARM_CALLS = 45  # with a seed, programs take over after 32 calls
GOAL, EFFICIENCY_GOAL = 2.0, 0.85
LARGE = 64 << 20


# What is timed. Plain operations, so that nothing but the strategies differs.


def _weights(tf, *shapes):
    rng = np.random.default_rng(0)
    return [tf.Variable((rng.normal(size=shape) * 0.05).astype(np.float32)) for shape in shapes]


def mlp(tf):
    weights = _weights(tf, (784, 512), (512,), (512, 256), (256,), (256, 10), (10,))

    def logits(x):
        x = tf.nn.relu(x @ weights[0] + weights[1])
        x = tf.nn.relu(x @ weights[2] + weights[3])
        return x @ weights[4] + weights[5]

    return weights, logits, (784,)


def cnn(tf):
    weights = _weights(tf, (5, 5, 1, 32), (5, 5, 32, 64), (3136, 256), (256, 10))

    def logits(x):
        x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, weights[0], 1, "SAME")), 2, 2, "SAME")
        x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, weights[1], 1, "SAME")), 2, 2, "SAME")
        return tf.nn.relu(tf.reshape(x, [-1, 3136]) @ weights[2]) @ weights[3]

    return weights, logits, (28, 28, 1)


def training_step(tf, strategy, model, batch):
    """A function that takes one step with a batch for all replicas."""
    with strategy.scope():
        weights, logits, shape = model(tf)
    rng = np.random.default_rng(0)
    images, labels = rng.random((batch, *shape), np.float32), rng.integers(0, 10, batch)
    dataset = tf.data.Dataset.from_tensors((images, labels))
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    part = next(iter(strategy.experimental_distribute_dataset(dataset.with_options(options))))

    def step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits(x))
            loss = tf.reduce_sum(losses) / batch
        gradients = tape.gradient(loss, weights)
        gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
        for weight, gradient in zip(weights, gradients):
            weight.assign_sub(0.01 * gradient)
        return loss

    @tf.function
    def train(x, y):
        return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

    return lambda: train(*part).numpy()


def large_sum(tf, strategy):
    """All-reduce of 64 MB."""
    value = tf.zeros([LARGE // 4])
    run = tf.function(lambda: strategy.run(lambda: tf.distribute.get_replica_context().all_reduce("SUM", value)))
    return lambda: run().numpy()


CASES = {
    "MLP, batch 128": lambda tf, strategy: training_step(tf, strategy, mlp, 128),
    "CNN, batch 64": lambda tf, strategy: training_step(tf, strategy, cnn, 64),
    "CNN, batch 256": lambda tf, strategy: training_step(tf, strategy, cnn, 256),
    "all-reduce of 64 MB": large_sum,
}


# The processes.


def serve(module, kind, processor=""):
    """Answer lines `calls case` with seconds per call, and the seconds of these that were spent in all-reduce."""
    if processor:
        os.sched_setaffinity(0, {int(processor)})
    tf = importlib.import_module(module)
    tf.random.set_seed(1)
    strategy = _strategy(tf, kind)
    reducing = _timed_all_reduce() if module == "headrace" else [0.0]
    print(json.dumps(tf.__version__), flush=True)
    built = {}
    for line in sys.stdin:
        calls, _, name = line.strip().partition(" ")
        if name not in built:
            built[name] = CASES[name](tf, strategy)
        before, start = reducing[0], time.perf_counter()
        for _ in range(int(calls)):
            built[name]()
        seconds = time.perf_counter() - start
        print(json.dumps([seconds / int(calls), (reducing[0] - before) / int(calls)]), flush=True)


def _strategy(tf, kind):
    if kind == "workers":
        return tf.distribute.MultiWorkerMirroredStrategy()
    if kind == "mirrored":
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
        return tf.distribute.MirroredStrategy()
    return tf.distribute.get_strategy()


def _timed_all_reduce():
    """Seconds that were spent in all-reduce between processes, in a list that grows with them."""
    group_class = importlib.import_module("headrace._src.distribute.collectives").Group
    original, total = group_class.all_reduce, [0.0]

    def all_reduce(self, *args):
        start = time.perf_counter()
        try:
            return original(self, *args)
        finally:
            total[0] += time.perf_counter() - start

    group_class.all_reduce = all_reduce
    return total


class Team:
    """Processes that take steps together.

    Args:
        python, module: of the library.
        kind: of the strategy.
        processors: for each process, the one that it is kept to, or "".
    """

    def __init__(self, python, module, kind, processors=("",)):
        self.members = []
        addresses = [f"127.0.0.1:{port}" for port in _free_ports(len(processors))]
        for i, processor in enumerate(processors):
            with contextlib.ExitStack() as stack:
                if kind == "workers":
                    task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": i}}
                    os.environ["TF_CONFIG"] = json.dumps(task)
                    stack.callback(os.environ.pop, "TF_CONFIG")
                self.members.append(Worker(python, module, kind, *filter(None, [processor])))

    @property
    def version(self):
        return self.members[0].version

    def take(self, calls, name):
        """Take so many steps; returns seconds per step, and those in all-reduce."""
        for member in self.members:
            member.tell(f"{calls} {name}")
        answers = [member.answer() for member in self.members]
        return max(seconds for seconds, _ in answers), min(reducing for _, reducing in answers)

    def __enter__(self):
        return self

    def __exit__(self, kind, *error):
        for member in self.members:
            member.process.stdin.close()
        for member in self.members:
            member.kill() if kind is not None else member.process.wait()


def _free_ports(count):
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [listener.getsockname()[1] for listener in listeners]


# What is reported.


def _calls(team, name, seconds):
    """Warm up; how many calls fit into a round."""
    team.take(WARM_CALLS if "64 MB" not in name else 3, name)
    return max(3, int(seconds / team.take(3, name)[0]))


def speed(options):
    """Compare with TensorFlow; returns the cases that missed their goal."""
    missed = []
    for kind, processes in (("mirrored", 1), ("workers", 2)):
        if kind not in options.only:
            continue
        pinned = options.pin and processes > 1
        places = [str(n) for n in sorted(os.sched_getaffinity(0))[:processes]] if pinned else [""] * processes
        with Team(sys.executable, "headrace", kind, places) as ours, Team(
            options.tensorflow_python, "tensorflow", kind, places
        ) as theirs:
            title = "MirroredStrategy on 2 logical CPUs" if kind == "mirrored" else "2 processes"
            title += ", each kept to a processor" if pinned else ""
            print(f"{title}: headrace {ours.version}, TensorFlow {theirs.version}; {options.rounds} rounds", flush=True)
            for name in ("MLP, batch 128", "CNN, batch 64"):
                calls = [_calls(team, name, options.seconds) for team in (theirs, ours)]
                pairs = [(theirs.take(calls[0], name)[0], ours.take(calls[1], name)[0]) for _ in range(options.rounds)]
                ratio = statistics.median(a / b for a, b in pairs)
                times = [statistics.median(column) * 1e3 for column in zip(*pairs)]
                verdict = "pass" if ratio >= GOAL else "FAIL"
                print(f"  {name:20} TF {times[0]:8.2f} ms  headrace {times[1]:8.2f} ms  {ratio:6.2f}x  {verdict}",
                      flush=True)  # fmt: skip
                missed += [f"{title}: {name}"] if verdict == "FAIL" else []
    return missed


def efficiency(options):
    """Two processes against one; returns what missed its goal."""
    missed = []
    processors = [str(n) for n in sorted(os.sched_getaffinity(0))[:2]]
    with Team(sys.executable, "headrace", "alone") as one, Team(
        sys.executable, "headrace", "workers", processors
    ) as two:
        for name in ("CNN, batch 256", "MLP, batch 128"):
            calls = [_calls(team, name, options.seconds) for team in (one, two)]
            rounds = [(one.take(calls[0], name)[0], *two.take(calls[1], name)) for _ in range(options.rounds)]
            value = statistics.median(a / b for a, b, _ in rounds)
            share = statistics.median(c / b for _, b, c in rounds)
            times = [statistics.median(column) * 1e3 for column in list(zip(*rounds))[:2]]
            goal = EFFICIENCY_GOAL if name.startswith("CNN") else None
            verdict = "" if goal is None else "pass" if value >= goal else "FAIL"
            print(f"  {name:20} one process {times[0]:8.2f} ms, two {times[1]:8.2f} ms: efficiency {value:.2f}, "
                  f"{share:.0%} of it all-reduce {verdict}", flush=True)  # fmt: skip
            missed += [f"efficiency: {name}"] if verdict == "FAIL" else []
        calls = _calls(two, "all-reduce of 64 MB", options.seconds)
        seconds = statistics.median(two.take(calls, "all-reduce of 64 MB")[0] for _ in range(options.rounds))
    print(f"  all-reduce of 64 MB: {seconds * 1e3:.1f} ms, {LARGE / seconds / 1e9:.2f} GB/s; a copy in memory "
          f"{LARGE / _copy_seconds() / 1e9:.2f} GB/s")  # fmt: skip
    return missed


def _copy_seconds():
    source, target = np.ones(LARGE, np.uint8), np.empty(LARGE, np.uint8)
    best = np.inf
    for _ in range(10):
        start = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - start)
    return best


def main():
    """Run the benchmark; returns whether a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow-python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each round")
    parser.add_argument("--pin", action="store_true", help="keep each of two processes to a processor, as launch --pin")
    parts = ["mirrored", "workers", "efficiency"]
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    options = parser.parse_args()
    missed = speed(options)
    if "efficiency" in options.only:
        missed += efficiency(options)
    print("missed: " + "; ".join(missed) if missed else "all goals met")
    return bool(missed)


if __name__ == "__main__":
    run_script(main, serve)
