"""Writing the values of objects as a checkpoint: into one file, or into several as a sharding callback says."""

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from headrace._src.checkpoint.options import CheckpointOptions
from headrace._src.checkpoint.sharding import chosen_shards, shardable
from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor
from headrace._src.formats import durable_files
from headrace._src.formats.tensor_bundle import BundleWriter
from headrace._src.formats.tensor_slices import parse_shape_and_slice


class SavedValue(NamedTuple):
    """A tensor that goes into a checkpoint.

    Args:
        key: under which it is saved.
        dtype: its dtype.
        array: as `BundleWriter.add` takes it, or a function that makes it when it is time.
        slice_spec: which part of a larger tensor this is, "4 3 0,2:-"; "" for all of it.
        trackable: the object that it is a value of.
    """

    key: str
    dtype: dtypes.DType
    array: np.ndarray | Callable[[], np.ndarray]
    slice_spec: str = ""
    trackable: Any = None


def write_values(prefix: str, values: Sequence[SavedValue], options: CheckpointOptions | None = None) -> None:
    """Writes a checkpoint, in a folder that is made if need be. When this returns, it would survive a power cut.

    Args:
        prefix: of the files.
        values: what to write.
        options: may have a sharding callback.

    Raises:
        RuntimeError: the callback left something out, or changed it.
    """
    durable_files.make_folders(os.path.dirname(prefix))
    callback = options and options.experimental_sharding_callback
    if callback:
        _write_shards(prefix, chosen_shards([_shardable(value) for value in values], callback))
        return
    with BundleWriter(prefix) as writer:
        for value in values:
            _add(writer, value.key, value.dtype, value.array, value.slice_spec)


def _add(writer, key, dtype, array, spec, shard=None):
    if spec:
        shape, part = parse_shape_and_slice(spec)
        if not part.is_whole(shape):
            writer.add_slice(key, dtype, array, shape, part, shard)
            return
    writer.add(key, dtype, array, shard)


def _shardable(value):
    tensor = EagerTensor(value.array() if callable(value.array) else value.array, value.dtype)
    return shardable(value.key, tensor, value.slice_spec, value.trackable)


def _write_shards(prefix, shards):
    with BundleWriter(prefix, len(shards)) as writer:
        for number, shard in enumerate(shards):
            for key, slices in shard.items():
                for spec, tensor in slices.items():
                    _add(writer, key, tensor.dtype, tensor._a, spec.strip(), number)
