"""Trainings that are killed while they save, and go on from what is there, to the result of one that nobody killed.

A training has variables, momentum, random numbers and a shuffled dataset; all of it, with the position in the dataset,
is in its checkpoints. It says when it begins and ends to save, and with which values.
"""

import dataclasses
import hashlib
import os
import signal
import tempfile
import threading
import time

import numpy as np
from killed_processes import Server, say, serve

import headrace as tf
from headrace._src.formats import durable_files

STEPS = 24
EVERY = 2  # steps between two saves
SIZE = 20_000  # of the larger variable


@dataclasses.dataclass
class Order:
    """A training to start.

    Args:
        folder: where it saves.
        way: how it saves, a key of `WAYS`.
        die_at: the number of the step of the disk before which it kills itself; below zero for none.
        in_the_middle: whether it does a part of that step before.
    """

    folder: str
    way: str
    die_at: int = -1
    in_the_middle: bool = False


class Training(tf.Module):
    """What is trained."""

    def __init__(self):
        super().__init__()
        generator = np.random.default_rng(0)
        self.weights = tf.Variable(generator.normal(size=[SIZE]).astype(np.float32))
        self.momentum = [tf.Variable(tf.zeros([SIZE])), tf.Variable(0.0)]
        self.bias = tf.Variable(0.0)
        self.step = tf.Variable(0, dtype=tf.int64)
        self.noise = tf.random.Generator.from_seed(7)
        examples = tf.data.Dataset.range(30).shuffle(10, seed=3, reshuffle_each_iteration=True).repeat().batch(4)
        self.examples = iter(examples)

    def train_step(self):
        """One step of gradient descent, on the next examples and new noise."""
        x = tf.cast(next(self.examples), tf.float32) / 30.0 + self.noise.normal([4], stddev=0.1)
        with tf.GradientTape() as tape:
            y = tf.reduce_mean(self.weights[:4] * x) + 1e-3 * tf.reduce_sum(self.weights**2) + self.bias
            loss = (y - 1.0) ** 2
        variables = [self.weights, self.bias]
        for variable, momentum, gradient in zip(variables, self.momentum, tape.gradient(loss, variables)):
            momentum.assign(0.9 * momentum + gradient)
            variable.assign_sub(0.01 * momentum)
        self.step.assign_add(1)

    def digest(self):
        """What all values are, in short."""
        values = [self.weights, *self.momentum, self.bias, self.step]
        return hashlib.sha256(b"".join(value.numpy().tobytes() for value in values)).hexdigest()[:16]


class Managed:
    """Saves by a `tf.train.CheckpointManager`."""

    def __init__(self, training, folder, **options):
        self._options = tf.train.CheckpointOptions(**options)
        self._checkpoint = tf.train.Checkpoint(training)
        self._manager = tf.train.CheckpointManager(self._checkpoint, folder, max_to_keep=2)

    def restore(self):
        self._manager.restore_or_initialize()

    def save(self):
        self._manager.save(options=self._options)

    def finish(self):
        """Returns when all is on the disk."""
        self._manager.sync()


class Numbered(Managed):
    """Saves by `Checkpoint.save`."""

    def __init__(self, training, folder):
        super().__init__(training, folder)
        self._folder = folder

    def restore(self):
        self._checkpoint.restore(tf.train.latest_checkpoint(self._folder))

    def save(self):
        self._checkpoint.save(os.path.join(self._folder, "ckpt"))


class Overwritten(Managed):
    """Saves by `Checkpoint.write`, under one name."""

    def __init__(self, training, folder):
        super().__init__(training, folder)
        self._prefix = os.path.join(folder, "only")

    def restore(self):
        if tf.compat.v1.train.checkpoint_exists(self._prefix):
            self._checkpoint.read(self._prefix).assert_consumed()

    def save(self):
        self._checkpoint.write(self._prefix)


WAYS = {
    "manager": Managed,
    "background": lambda training, folder: Managed(training, folder, enable_async=True),
    "shards": lambda training, folder: Managed(
        training, folder, experimental_sharding_callback=tf.train.experimental.MaxShardSizePolicy(60_000)
    ),
    "numbered": Numbered,
    "one name": Overwritten,
}


class DeadlyDisk(durable_files.Disk):
    """Kills the process at a certain step."""

    def __init__(self, order):
        self._left, self._in_the_middle = order.die_at, order.in_the_middle

    def _step(self, part=lambda: None):
        if self._left == 0:
            if self._in_the_middle:
                part()
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1

    def create(self, path):
        self._step(lambda: super(DeadlyDisk, self).create(path))
        return super().create(path)

    def write(self, file, data):
        self._step(lambda: super(DeadlyDisk, self).write(file, memoryview(data).cast("B")[: len(data) // 2]))
        super().write(file, data)

    def exchange(self, a, b):
        self._step(lambda: super(DeadlyDisk, self).exchange(a, b))
        super().exchange(a, b)

    def sync(self, file):
        self._step()
        super().sync(file)

    def rename(self, source, target):
        self._step(lambda: super(DeadlyDisk, self).rename(source, target))
        super().rename(source, target)

    def remove(self, path):
        self._step(lambda: super(DeadlyDisk, self).remove(path))
        super().remove(path)

    def sync_folder(self, path):
        self._step()
        super().sync_folder(path)


def train(fields):
    """Trains to the end, from wherever the folder is, as an order says."""
    order = Order(**fields)
    training = Training()
    saver = WAYS[order.way](training, order.folder)
    saver.restore()
    say("restored", int(training.step), training.digest())
    with durable_files.disk_replaced(DeadlyDisk(order)):
        while int(training.step) < STEPS:
            for _ in range(EVERY):
                training.train_step()
            say("saving", int(training.step), training.digest())
            saver.save()
            say("returned", int(training.step))
        saver.finish()
    say("done", int(training.step), training.digest())


def server():
    """What starts trainings."""
    return Server(__file__)


class Killer:
    """Kills a training at a random moment: some time after it has begun to save, for the n-th time.

    Args:
        generator: of random numbers.
        longest: how long to wait at most, in seconds.
        saves: it is one of the first of so many saves.
    """

    def __init__(self, generator, longest, saves=4):
        self._saves = generator.randrange(saves)
        self._delay = generator.uniform(0, longest)
        self._timer = None

    def __call__(self, words, process):
        if words[0] == "saving":
            if self._saves == 0:
                self._timer = threading.Timer(self._delay, self._kill, [process])
                self._timer.start()
            self._saves -= 1
        elif words[0] == "ended" and self._timer is not None:
            self._timer.cancel()
            self._timer.join()

    def _kill(self, process):
        # The server has not waited for it as long as it has not said that it has ended; it may have, just now.
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Proof:
    """Kills trainings, and checks what comes after.

    Args:
        server: what starts trainings.
        root: a folder for all of them.

    Attributes:
        kills, trainings: how many there were, by way of saving.
        failures: what went wrong.
        time_to_save: somewhat more than a save usually takes, in seconds.
    """

    def __init__(self, server, root):
        self._server, self._root = server, str(root)
        self.kills = dict.fromkeys(WAYS, 0)
        self.trainings = dict.fromkeys(WAYS, 0)
        self.failures: list[str] = []
        self._expected = self._undisturbed()

    def _undisturbed(self):
        """Step to digest, of a training that nobody kills."""
        times = []
        order = Order(os.path.join(self._root, "undisturbed"), "manager")
        lines = self._server.run(
            dataclasses.asdict(order), lambda words, process: times.append((words[0], time.monotonic()))
        )
        if lines[-1] != ["ended", 0]:
            raise RuntimeError(f"a training that nobody kills fails: {lines[-3:]}")
        begun = [moment for word, moment in times if word == "saving"]
        ended = [moment for word, moment in times if word == "returned"]
        self.time_to_save = 1.5 * sorted(end - start for start, end in zip(begun, ended))[len(begun) // 2]
        return {words[1]: words[2] for words in lines if words[0] in ("restored", "saving")}

    def run(self, way, kills, order_of, killer_of=lambda: lambda words, process: None):
        """Kills trainings of one way of saving until there were so many kills.

        Args:
            way: a key of `WAYS`.
            kills: how many.
            order_of: makes an order for a folder.
            killer_of: makes what is called with each line.
        """
        target = self.kills[way] + kills
        while self.kills[way] < target:
            folder = os.path.join(self._root, f"{way}-{self.trainings[way]}".replace(" ", "_"))
            self.trainings[way] += 1
            surely, maybe = 0, set()
            for _ in range(10 * STEPS):
                may_kill = self.kills[way] < target
                order = order_of(folder, way) if may_kill else Order(folder, way)
                lines = self._server.run(
                    dataclasses.asdict(order), killer_of() if may_kill else lambda words, process: None
                )
                self.kills[way] += lines[-1] == ["ended", -signal.SIGKILL]
                self._check(way, folder, lines, surely, maybe)
                surely, maybe = _progress(way, lines, surely)
                if lines[-1] == ["ended", 0]:
                    break
            else:
                self.failures.append(f"{way}: a training in {folder} never ends")

    def _check(self, way, folder, lines, surely, maybe):
        for words in lines:
            if words[0] == "restored" and words[1] not in {surely, *maybe}:
                self.failures.append(
                    f"{way}, {folder}: goes on from step {words[1]}, but {surely} was saved, and {sorted(maybe)} begun"
                )
            if words[0] in ("restored", "saving", "done") and self._expected[words[1]] != words[2]:
                self.failures.append(f"{way}, {folder}: other values at step {words[1]} than without a kill")
        if lines[-1][1] not in (0, -signal.SIGKILL):
            self.failures.append(f"{way}, {folder}: {lines[-2:]}")
        # Who saves next removes what a kill has left. One that was killed at its last save comes back to save nothing.
        if lines[-1][1] == 0 and any(words[0] == "returned" for words in lines):
            left = [name for name in os.listdir(folder) if name.endswith((".partial", ".pending"))]
            if left:
                self.failures.append(f"{way}, {folder}: left over at the end: {left}")


def _progress(way, lines, surely):
    """The step that is saved for sure, and steps that may be, after these lines."""
    begun = [words[1] for words in lines if words[0] == "saving"]
    restored = [words[1] for words in lines if words[0] == "restored"]
    saved = [words[1] for words in lines if words[0] == "returned"]
    if way == "background":  # a save waits for the one before
        saved = saved[:-1]
    surely = max([surely, *saved, *restored])
    return surely, {step for step in begun if step > surely}


def random_order(generator):
    """Makes orders that kill themselves at a random step of the disk."""
    return lambda folder, way: Order(folder, way, generator.randrange(60), generator.random() < 0.5)


def warm_up():
    """Loads all that a training uses, so that those that are forked have it."""
    for way in WAYS:
        with tempfile.TemporaryDirectory() as folder:
            training = Training()
            saver = WAYS[way](training, folder)
            training.train_step()
            training.digest()
            saver.save()
            saver.finish()
            saver.restore()


if __name__ == "__main__":
    warm_up()
    serve(train)
