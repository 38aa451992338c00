"""Weights of Keras models in TensorFlow's checkpoints, as `save_weights` and `load_weights` of TensorFlow 2.0 do it.

A path that does not end in `.h5` is a checkpoint: `model.save_weights("folder/ckpt")`. Keras 3 refuses it.
`replacements.py` says where in Keras these functions go.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

from headrace._src.checkpoint.checkpoints import Checkpoint
from headrace._src.checkpoint.folder_state import write_state
from headrace._src.compat.keras.durable_files import may_write
from headrace._src.core import errors
from headrace._src.formats import bundle_files, durable_files, files

_HDF5 = (".h5", ".hdf5")
_OF_KERAS = (".weights.h5", ".weights.json", ".keras")


def save_weights(original, self, filepath, overwrite=True, max_shard_size=None, save_format=None, options=None):
    """Save the weights of a model.

    Args:
        filepath: `*.weights.h5` is a file of Keras 3, `*.h5` one of Keras 2, and everything else a checkpoint, which
            has the state of the optimizer, too.
        overwrite: whether a file that is there is replaced without a question.
        max_shard_size: of files of Keras 3, in GB.
        save_format: `"tf"` or `"h5"`, whatever the path is.
        options: `tf.train.CheckpointOptions`.

    Raises:
        ValueError: the model has no weights yet, or `save_format` is none of these.
    """
    path = files.path_string(filepath)
    if isinstance(max_shard_size, str):  # the third argument of TensorFlow 2.0
        max_shard_size, save_format = None, max_shard_size
    is_checkpoint = _is_checkpoint(path, save_format)
    if not is_checkpoint and (path.endswith(_OF_KERAS) or max_shard_size is not None):
        return original(self, filepath, overwrite, max_shard_size)
    if not self.built or not self.weights:
        raise ValueError(
            f"Weights for model {self.name!r} have not yet been created. Weights are created when the model is first "
            "called on inputs or `build()` is called with an `input_shape`."
        )
    if not may_write(bundle_files.index_path(path) if is_checkpoint else path, overwrite):
        return None
    folder = os.path.dirname(path)
    durable_files.make_folders(folder)
    if not is_checkpoint:
        _write_hdf5(self, path)
        return None
    Checkpoint(root=self).write(path, options)
    write_state(folder, path, [path], save_relative_paths=True)
    return None


def _is_checkpoint(path, save_format) -> bool:
    if save_format is None:
        return not path.endswith((*_HDF5, *_OF_KERAS))
    if str(save_format).lower() in ("tf", "tensorflow"):
        if path.endswith((*_HDF5, ".keras")):
            raise ValueError(
                f'save_weights got save_format="tf"/"tensorflow", but the filepath ({path!r}) looks like an HDF5 file. '
                "Omit the '.h5'/'.keras' when saving in TensorFlow format."
            )
        return True
    if str(save_format).lower() in ("h5", "hdf5", "keras"):
        return False
    raise ValueError(f"Unknown format. Received: `save_format`={save_format!r}. Was expecting one of {{'tf', 'h5'}}.")


def _write_hdf5(model, path):
    """Write weights as Keras 2 does: by the names of layers."""
    format_ = importlib.import_module("keras.src.legacy.saving.legacy_h5_format")
    with (
        durable_files.written_beside(path, ".h5") as temporary,
        importlib.import_module("h5py").File(temporary, "w") as file,
    ):
        format_.save_weights_to_hdf5_group(file, model)


def load_weights(original, self, filepath, skip_mismatch=False, by_name=False, options=None, **kwargs) -> Any:
    """Load weights that `save_weights` has written, here, in Keras 3, or in Keras 2.

    Args:
        filepath: the path given to `save_weights`, what `tf.train.latest_checkpoint` gives, or the folder of a
            SavedModel.
        skip_mismatch: whether weights that do not fit are left out; not for checkpoints.
        by_name: whether layers are found by their names; only for `.h5` files.
        options: `tf.train.CheckpointOptions`.

    Returns:
        For checkpoints, a status as from `tf.train.Checkpoint.restore`. A model that was not called yet gets its
        weights when it is.

    Raises:
        ValueError: the path is None, or no such file.
    """
    if filepath is None:
        raise ValueError(
            "load_weights: filepath is None, which is what tf.train.latest_checkpoint gives for a folder without a "
            "checkpoint."
        )
    path = files.path_string(filepath)
    prefix = _checkpoint_at(path)
    if prefix is None:
        if by_name:
            kwargs["by_name"] = True
        if not path.endswith((*_HDF5, *_OF_KERAS)) and _is_hdf5(path):
            return _read_hdf5(self, path, skip_mismatch, by_name)
        return original(self, filepath, skip_mismatch, **kwargs)
    if by_name or skip_mismatch:
        raise ValueError(
            f"{path} is a checkpoint, whose weights are found by the objects that they belong to: "
            f"load_weights(by_name={by_name}, skip_mismatch={skip_mismatch}) is only for HDF5 files. To leave weights "
            "out, restore parts of the model with tf.train.Checkpoint."
        )
    status = Checkpoint(root=self).read(prefix, options)
    if self.built:  # otherwise, what the weights are for is still to come
        status.assert_nontrivial_match()
    return status


def _checkpoint_at(path) -> str | None:
    """The checkpoint that a path means; None if it means another file."""
    if path.endswith((*_HDF5, *_OF_KERAS)) and files.exists(path):
        return None
    for prefix in (bundle_files.plain_prefix(path), files.join(path, "variables", "variables")):
        if bundle_files.is_there(prefix):
            return prefix
    if files.is_directory(path) and files.exists(files.join(path, "checkpoint")):
        raise ValueError(
            f"load_weights: {path} is a folder of checkpoints. For the latest one, "
            f"load_weights(tf.train.latest_checkpoint({path!r}))."
        )
    if not path.endswith((*_HDF5, *_OF_KERAS)) and not files.exists(path):
        raise errors.not_found(
            f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {path}: there is no "
            f"checkpoint {path}.index, nor a file or folder of that name."
        )
    return None


def _is_hdf5(path):
    return os.path.isfile(path) and importlib.import_module("h5py").is_hdf5(path)


def _read_hdf5(model, path, skip_mismatch, by_name):
    format_ = importlib.import_module("keras.src.legacy.saving.legacy_h5_format")
    load = format_.load_weights_from_hdf5_group_by_name if by_name else format_.load_weights_from_hdf5_group
    with importlib.import_module("h5py").File(path, "r") as file:
        load(file if "layer_names" in file.attrs else file["model_weights"], model, skip_mismatch)


# The callback that saves during training.


def init_model_checkpoint(original, self, filepath, *args, period=None, options=None, **kwargs):
    """`ModelCheckpoint` with any path, and with `period`, the number of epochs between two saves, as in 2.0."""
    if kwargs.pop("load_weights_on_restart", False):
        raise ValueError(
            "ModelCheckpoint: load_weights_on_restart is gone. Load the weights before fit, or use "
            "tf.keras.callbacks.BackupAndRestore."
        )
    path = files.path_string(filepath)
    only_weights = kwargs.get("save_weights_only", args[3] if len(args) > 3 else False)
    accepted = (".weights.h5",) if only_weights else (".keras", ".h5")
    # Keras looks at the path here only; `save_weights` and `save` know what it means.
    original(self, path if path.endswith(accepted) else path + accepted[0], *args, **kwargs)
    self.filepath = path
    self.period = 1 if period is None else period
    self._headrace_epochs = 0  # since the last save


def end_epoch(original, self, epoch, logs=None):
    """The end of an epoch, at which `ModelCheckpoint` saves after each `period` of them."""
    self._headrace_epochs += 1
    if self.save_freq != "epoch" or self._headrace_epochs >= self.period:
        self._headrace_epochs = 0
        original(self, epoch, logs)
