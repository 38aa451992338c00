"""Looking into checkpoints: `tf.train.load_checkpoint`, `list_variables`, `load_variable`, `checkpoints_iterator`."""

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from headrace._src.checkpoint.folder_state import latest_checkpoint
from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import LazyModule
from headrace._src.formats import bundle_files, files
from headrace._src.formats.tensor_bundle import BundleReader
from headrace._src.op.api import api

_slice_files = LazyModule("headrace._src.formats.slice_files")
_logger = logging.getLogger("tensorflow")
_PAUSE = 1.0  # seconds between looks for a new checkpoint


def open_checkpoint(prefix) -> Any:
    """A reader of a checkpoint: a `BundleReader`, or one with the same methods for the format before that.

    Raises:
        NotFoundError: there is no such checkpoint.
        DataLossError: a file is damaged.
    """
    path = bundle_files.plain_prefix(prefix)
    if bundle_files.is_there(path) or not _is_old(path):
        return BundleReader(path)
    return _slice_files.SliceFiles(path)


def _is_old(path):
    return any(not files.is_directory(match) for match in files.matching(path))


class CheckpointReader:
    """The tensors of a checkpoint, as `tf.train.load_checkpoint` gives it."""

    def __init__(self, filename):
        self._reader = open_checkpoint(filename)

    def debug_string(self) -> bytes:
        """A line for each tensor: its name, dtype and shape."""
        lines = []
        for key in self._reader.keys():
            entry = self._reader.entries[key]
            shape = ",".join(map(str, entry.shape))
            slices = f", {len(entry.slices)} slices" if len(entry.slices) > 1 else ""
            lines.append(f"{key} (DT_{_type_name(entry.dtype)}) [{shape}]{slices}\n")
        return "".join(lines).encode("utf-8", "surrogateescape")

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Names of tensors to their shapes."""
        return {key: list(self._reader.entries[key].shape) for key in self._reader.keys()}

    def get_variable_to_dtype_map(self) -> dict[str, dtypes.DType]:
        """Names of tensors to their dtypes."""
        return {key: self._reader.entries[key].dtype for key in self._reader.keys()}

    def has_tensor(self, tensor_str) -> bool:
        """Whether there is a tensor of this name."""
        return _name(tensor_str) in self._reader

    def get_tensor(self, tensor_str) -> Any:
        """The value of a tensor: an array, or a NumPy scalar or bytes if it has no dimensions.

        Raises:
            NotFoundError: there is none of this name.
            DataLossError: the file is damaged.
        """
        name = _name(tensor_str)
        entry = self._reader.entry(name)
        if entry.dtype._kind == "v":
            raise errors.internal(
                f"Tensorflow type {entry.dtype.as_datatype_enum} not convertible to numpy dtype: key {name} of "
                f"checkpoint {self._reader.prefix} is a variant, such as the state of an iterator. tf.train.Checkpoint "
                "restores it."
            )
        return self._reader.read(name)[()]

    def __repr__(self):
        return f"<CheckpointReader of {self._reader.prefix!r}: {len(self._reader)} tensors>"


_TYPE_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}


def _type_name(dtype):
    return _TYPE_NAMES.get(dtype.name, dtype.name.upper())


def _name(value) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if not isinstance(value, str):
        raise TypeError(f"Expected binary or unicode string, got {value!r}")
    return value


@api("compat.v1.train.NewCheckpointReader", dispatch=False)
def new_checkpoint_reader(filepattern) -> CheckpointReader:
    """A reader of the checkpoint with this prefix."""
    return CheckpointReader(filepattern)


@api("train.load_checkpoint", dispatch=False)
def load_checkpoint(ckpt_dir_or_file) -> CheckpointReader:
    """A reader of a checkpoint, which lists and reads tensors by their names.

    Args:
        ckpt_dir_or_file: a checkpoint, or a folder, whose latest checkpoint is meant.

    Raises:
        ValueError: the folder has no checkpoint.
        NotFoundError: there is no such checkpoint.
        DataLossError: a file is damaged.

    >>> import os, tempfile
    >>> prefix = os.path.join(tempfile.mkdtemp(), "model")
    >>> tf.raw_ops.SaveV2(prefix=prefix, tensor_names=["x"], shape_and_slices=[""], tensors=[tf.constant([1.0, 2.0])])
    >>> tf.train.load_checkpoint(prefix).get_tensor("x")
    array([1., 2.], dtype=float32)
    """
    return CheckpointReader(_checkpoint_path(ckpt_dir_or_file))


def _checkpoint_path(ckpt_dir_or_file) -> str:
    path = files.path_string(ckpt_dir_or_file)
    if not files.is_directory(path) or bundle_files.is_there(path):
        return path
    latest = latest_checkpoint(path)
    if latest is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
    return latest


@api("train.list_variables", dispatch=False)
def list_variables(ckpt_dir_or_file) -> list[tuple[str, list[int]]]:
    """The (name, shape) pairs of all tensors in a checkpoint, sorted by name.

    Args:
        ckpt_dir_or_file: a checkpoint, or a folder, whose latest checkpoint is meant.
    """
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return [(name, shapes[name]) for name in sorted(shapes)]


@api("train.load_variable", dispatch=False)
def load_variable(ckpt_dir_or_file, name) -> np.ndarray:
    """The value of one tensor of a checkpoint.

    Args:
        ckpt_dir_or_file: a checkpoint, or a folder, whose latest checkpoint is meant.
        name: of the tensor; `:0` at its end is left out.
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(_name(name).removesuffix(":0"))


@api("train.checkpoints_iterator", dispatch=False)
def checkpoints_iterator(
    checkpoint_dir,
    min_interval_secs=0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Gives the latest checkpoint of a folder, and then each time a new one appears, that one.

    Args:
        checkpoint_dir: the folder.
        min_interval_secs: the shortest time between two checkpoints that are given.
        timeout: how many seconds to wait for a new one; without it, for ever.
        timeout_fn: called when that time has passed. If it returns True, this ends; otherwise it waits on.
    """
    latest = None
    while True:
        path = _new_checkpoint(checkpoint_dir, latest, timeout)
        if path is None:
            if timeout_fn is None:
                _logger.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        start = time.time()
        latest = path
        yield path
        time.sleep(max(0.0, start + min_interval_secs - time.time()))


def _new_checkpoint(folder, latest, timeout):
    """The latest checkpoint of a folder as soon as it is not `latest`; None if it is too late before."""
    end = None if timeout is None else time.time() + timeout
    while True:
        path = latest_checkpoint(folder)
        if path is not None and path != latest:
            return path
        if end is not None and time.time() + _PAUSE > end:
            return None
        time.sleep(_PAUSE)
