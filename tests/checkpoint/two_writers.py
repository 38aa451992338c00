"""Two processes that save into one folder at once, under the same names, while a third looks at it."""

import dataclasses
import multiprocessing
import os

import crash_scenarios

import headrace as tf


@dataclasses.dataclass
class Result:
    """What the one who looked has seen.

    Args:
        looks: how often it found a checkpoint.
        failures: what was wrong.
    """

    looks: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)


def save_often(folder, first, saves, ready, go):
    """Saves versions from `first` on, in two ways."""
    values = crash_scenarios.Values()
    checkpoint = tf.train.Checkpoint(values)
    manager = tf.train.CheckpointManager(checkpoint, os.path.join(folder, "logs"), 2)
    ready.release()
    go.wait()
    for version in range(first, first + saves):
        values.become(version)
        manager.save(checkpoint_number=version % 3)  # numbers of both processes are the same ones
        checkpoint.write(os.path.join(folder, "c"))


def write_at_once(folder, saves) -> Result:
    """Lets two processes save, and looks at what there is until they have ended."""
    context = multiprocessing.get_context("spawn")
    ready, go = context.Semaphore(0), context.Event()
    processes = [context.Process(target=save_often, args=(str(folder), first, saves, ready, go)) for first in (1, 1001)]
    result = Result()
    for process in processes:
        process.start()
    for _ in processes:
        ready.acquire()
    go.set()
    try:
        while any(process.is_alive() for process in processes):
            _look(folder, result)
    finally:
        for process in processes:
            process.join()
    _look(folder, result)
    result.failures += [f"a process ended with {process.exitcode}" for process in processes if process.exitcode]
    result.failures += crash_scenarios.complaints_about(folder)
    result.failures += crash_scenarios.complaints_about(os.path.join(folder, "logs"))
    left = [name for name in os.listdir(folder) if name.startswith(".") or name.endswith(".pending")]
    if left:
        result.failures.append(f"left over: {left}")
    return result


def _look(folder, result):
    for find in (_written, _latest):
        path = find(folder)
        if path is None:
            continue
        try:
            crash_scenarios.version_of(path)
            result.looks += 1
        except tf.errors.NotFoundError:
            pass  # the other manager has just deleted it
        except (tf.errors.OpError, AssertionError) as error:
            result.failures.append(f"{os.path.basename(path)}: {error}")


def _written(folder):
    path = os.path.join(folder, "c")
    return path if tf.compat.v1.train.checkpoint_exists(path) else None


def _latest(folder):
    return tf.train.latest_checkpoint(os.path.join(folder, "logs"))
