"""Keras's own files (`.keras`, `.h5`) that are there as a whole or not at all, also after a crash.

Keras writes into the file itself: a training that is killed meanwhile has neither the old nor the new weights.
`replacements.py` says where in Keras these functions go.
"""

from __future__ import annotations

import importlib
import json
import os

import numpy as np

from headrace._src.core.lazy import LazyModule
from headrace._src.formats import durable_files, files

_collectives = LazyModule("headrace._src.distribute.collectives")

_STATE = "headrace_training_state"  # an attribute of weights: where in the training they are from


def save_weights(original, model, filepath, max_shard_size=None, **kwargs):
    """Write a `.weights.h5` file as a whole. Several files for one model are written by Keras as they are."""
    if max_shard_size is not None or not _is_replaceable(filepath):
        return original(model, filepath, max_shard_size, **kwargs)
    with durable_files.written_beside(str(filepath), ".weights.h5") as temporary:
        return original(model, temporary, **kwargs)


def save_archive(original, model, filepath, weights_format="h5", zipped=True):
    """Write a `.keras` file as a whole."""
    if not zipped or not str(filepath).endswith(".keras") or not _is_replaceable(filepath):
        return original(model, filepath, weights_format, zipped)
    with durable_files.written_beside(str(filepath), ".keras") as temporary:
        return original(model, temporary, weights_format)


def save_hdf5(original, model, filepath, overwrite=True, include_optimizer=True):
    """Write an `.h5` file as a whole."""
    if not _is_replaceable(filepath):
        return original(model, filepath, overwrite, include_optimizer)
    if not may_write(filepath, overwrite):
        return None
    durable_files.make_folders(os.path.dirname(os.fspath(filepath)))
    with durable_files.written_beside(str(filepath), ".h5") as temporary:
        return original(model, temporary, True, include_optimizer)


def _is_replaceable(filepath) -> bool:
    """Whether this is a file of this machine; a link stays one."""
    if not isinstance(filepath, (str, os.PathLike)):
        return False
    path = os.fspath(filepath)
    return isinstance(path, str) and durable_files.local_path(path) is not None and not os.path.islink(path)


def may_write(path, overwrite) -> bool:
    """Whether there is no such file, or it may be replaced: the user is asked."""
    io_utils = importlib.import_module("keras.src.utils.io_utils")
    return bool(overwrite or not files.exists(path) or io_utils.ask_to_proceed_with_overwrite(str(path)))


# The callback that lets an interrupted training go on.


def _group_of(model):
    """The workers that a model is trained on; None if it is trained by this process alone."""
    strategy = model.distribute_strategy
    return _collectives.current_group() if strategy.extended._in_multi_worker_mode() else None


def save_backup(original, self):
    """Save weights, and in the same file where in the training they are from: a crash cannot tear these apart.

    Of several workers the chief does it, for all.
    """
    group = _group_of(self.model)
    if group is not None and group.rank != 0:
        return
    if not _is_replaceable(self._weights_path):
        original(self)
        return
    if not os.path.isdir(self.backup_dir):
        durable_files.make_folders(str(self.backup_dir))
    if self.double_checkpoint:
        for path, copy in ((self._weights_path, self._prev_weights_path),
                           (self._training_metadata_path, self._prev_training_metadata_path)):  # fmt: skip
            if os.path.exists(path):
                files.copy(path, copy, overwrite=True)
    state = json.dumps({"epoch": self._current_epoch, "batch": self._last_batch_seen})
    with durable_files.written_beside(str(self._weights_path), ".weights.h5") as temporary:
        self.model.save_weights(filepath=temporary, overwrite=True)
        with importlib.import_module("h5py").File(temporary, "a") as file:
            file.attrs[_STATE] = state
    durable_files.replace(str(self._training_metadata_path), state.encode())


def load_backup(original, self):
    """Load weights, and go on with the epoch that comes after them. Other workers get what the chief has loaded."""
    group = _group_of(self.model)
    if group is None:
        _load_backup(original, self)
        return
    epoch = np.zeros([], np.int64)
    if group.rank == 0:
        _load_backup(original, self)
        epoch = np.asarray(-1 if not os.path.exists(self._weights_path) else self.model._initial_epoch, np.int64)
    epoch = int(group.broadcast(epoch))
    if epoch < 0:
        return
    self.model._initial_epoch = epoch
    if self.model.optimizer is not None and not self.model.optimizer.built:
        self.model.optimizer.build(self.model.trainable_variables)
    optimizer = [] if self.model.optimizer is None else self.model.optimizer.variables
    for variable in [*self.model.weights, *optimizer]:
        variable.assign(group.broadcast(np.asarray(variable.value)))


def remove_backup(original, self, logs=None):
    """Remove the files at the end of a training, which of several workers the chief does."""
    group = _group_of(self.model)
    if group is None or group.rank == 0:
        original(self, logs)


def _load_backup(original, self):
    original(self)
    if not _is_replaceable(self._weights_path) or not os.path.exists(self._weights_path):
        return
    with importlib.import_module("h5py").File(self._weights_path, "r") as file:
        state = file.attrs.get(_STATE)
    if state is not None:
        self.model._initial_epoch = json.loads(state)["epoch"]
