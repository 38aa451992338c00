"""Restoring objects from damaged checkpoints as a target: it works, or nothing changes."""

import functools
import os
import pathlib
import tempfile

import numpy as np
from byte_mutations import any_bytes
from fuzz_checkpoints import INDEX, PREFIX, files_in
from fuzz_limits import fast_folder
from fuzz_targets import TYPED, Find, target
from message_mutations import mutated_message

import headrace as tf
from headrace._src.formats.checkpoint_messages import TrackableObjectGraph
from headrace._src.formats.tensor_bundle import BundleReader, write_bundle

_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


class _Slots(tf.Module):
    """Keeps a variable for each of others, as optimizers do."""

    def __init__(self):
        super().__init__()
        self.slots = {}

    def get_slot_names(self):
        return ["m"]

    def get_slot(self, variable, name):
        return self.slots.get((id(variable), name))

    def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable):
        slot = tf.Variable(tf.zeros(variable.shape))
        slot_variable_position.restore(slot)
        self.slots[id(variable), slot_name] = slot


def _objects(value):
    """Variables in modules, lists and dictionaries, a table, and an iterator."""
    root = tf.Module()
    root.weights = tf.Variable(tf.fill([2, 3], value))
    root.layers = [tf.Variable(value, name="a"), {"b": tf.Variable([value], name="b")}]
    root.names = tf.Variable("x" if value else "y")
    root.count = tf.Variable(int(value), dtype=tf.int64)
    root.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    root.table.insert(["k"], [int(value)])
    root.iterator = iter(tf.data.Dataset.range(9))
    root.optimizer = _Slots()
    return root


def _variables(root):
    return [root.weights, root.layers[0], root.layers[1]["b"], root.names, root.count]


@functools.cache
def _checkpoints():
    found = []
    for value in (1.0, 2.0):
        root = _objects(value)
        if value == 2.0:
            root.later = tf.Variable([7.0, 7.0])
            next(root.iterator)
        with tempfile.TemporaryDirectory() as folder:
            tf.train.Checkpoint(root=root).write(os.path.join(folder, PREFIX))
            found.append(files_in(folder, PREFIX))
    return found


def _graph(rng, files, corpus):
    """Another graph of objects, with right checksums."""
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        for name, data in files.items():
            (pathlib.Path(folder) / name).write_bytes(data)
        with BundleReader(os.path.join(folder, PREFIX)) as reader:
            tensors = [[key, entry.dtype, reader.read(key)] for key, entry in reader.entries.items()]
        for tensor in tensors:
            if tensor[0] == _GRAPH:
                message = tensor[2][()]
                changed = None if rng.random() < 0.15 else mutated_message(rng, message, TrackableObjectGraph)
                tensor[2] = np.array(any_bytes(rng, message) if changed is None else changed, object)
        write_bundle(os.path.join(folder, "new"), tensors)
        return {name.replace("new", PREFIX, 1): data for name, data in files_in(folder, "new").items()}


@target(
    "checkpoint_objects",
    _checkpoints,
    [(6, _graph), *((weight / 6, mutation) for weight, mutation in INDEX)],
    right=(*TYPED, ValueError),
    named=True,
    group="index",
    cost=4,
)
def restore_objects(trial):
    root = _objects(0.0)
    before = [variable.numpy() for variable in _variables(root)]
    checkpoint = tf.train.Checkpoint(root=root)
    status = trial.attempt(lambda: checkpoint.restore(trial.path(PREFIX)))
    if status is None:
        for variable, value in zip(_variables(root), before):
            if not np.array_equal(variable.numpy(), value):
                raise Find(f"a restore that failed has changed {variable}")
        return
    trial.attempt(status.assert_consumed, (AssertionError,), named=False)
    trial.attempt(status.assert_existing_objects_matched, (AssertionError,), named=False)
    status.expect_partial()
    trial.attempt(lambda: setattr(root, "later", tf.Variable([0.0, 0.0])))
    trial.attempt(lambda: next(root.iterator), (StopIteration,), named=False)
