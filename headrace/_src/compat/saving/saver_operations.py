"""The operations that a 1.x `Saver` adds to a graph, under TensorFlow's names: meta graphs are exchanged."""

import itertools
from typing import Any

from headrace._src.checkpoint.ops import (
    MERGE_V2_CHECKPOINTS,
    RESTORE_V2,
    SAVE_SLICES,
    SAVE_V2,
    SHARDED_FILENAME,
    SHARDED_FILESPEC,
)
from headrace._src.compat.graph_keys import grouped
from headrace._src.compat.saving.saver_values import saveable_objects, shapes_of
from headrace._src.compat.sessions.session import placeholder_with_default
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.formats.model_messages import SaverDef
from headrace._src.ops.arrays.constants import constant
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.passing import IDENTITY, NO_OP
from headrace._src.ops.arrays.selecting import SELECT
from headrace._src.ops.strings.editing import STRING_JOIN
from headrace._src.ops.strings.matching import STATIC_REGEX_FULL_MATCH

# What stands at the end of the path of a shard before it is merged. TF: where names cannot be changed, no folder.
_PART, _PART_IN_STORE = "_temp/part", ".part"


class BaseSaverBuilder:
    """Makes the operations that save and restore. Subclasses may make others.

    Args:
        write_version: the format of the files, `SaverDef.V2` or `SaverDef.V1`.
    """

    def __init__(self, write_version=SaverDef.V2):
        self._write_version = write_version

    # One file, or one shard.

    def save_op(self, filename_tensor, saveables) -> Any:
        """The operation that saves objects into a file."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        tensors = [spec.tensor for spec in specs]
        names, slices = [spec.name for spec in specs], [spec.slice_spec for spec in specs]
        if self._write_version == SaverDef.V2:
            return SAVE_V2(filename_tensor, names, slices, tensors)
        if self._write_version == SaverDef.V1:
            return SAVE_SLICES(filename_tensor, names, slices, tensors, name="save")
        raise RuntimeError(f"Unexpected write_version: {self._write_version}")

    def bulk_restore(self, filename_tensor, saveables, preferred_shard=-1, restore_sequentially=False) -> list[Tensor]:
        """The tensors of all objects, read from a file."""
        restored: list[Tensor] = []
        for saveable in saveables:
            # TF: one by one only because each may have a device of its own.
            restored.extend(self.restore_op(filename_tensor, saveable, preferred_shard))
        return restored

    def restore_op(self, filename_tensor, saveable, preferred_shard=-1) -> list[Tensor]:
        """The tensors of one object, read from a file."""
        return _restored(filename_tensor, saveable.specs)

    def _add_save(self, filename_tensor, saveables):
        """Save, then give the name of the file."""
        save = self.save_op(filename_tensor, saveables)
        return _after([save], filename_tensor)

    def _add_restore(self, filename_tensor, saveables, sequentially, reshape, preferred_shard=-1, name="restore_all"):
        tensors = iter(self.bulk_restore(filename_tensor, saveables, preferred_shard, sequentially))
        assignments: list = []
        for saveable in saveables:
            shapes = shapes_of(saveable) if reshape else None
            given = list(itertools.islice(tensors, len(saveable.specs)))
            assignments.append(saveable.restore(given, shapes))
        return grouped(assignments, name)

    # Several.

    def _add_sharded_save(self, filename_tensor, groups):
        if self._write_version == SaverDef.V2:
            return self._add_merged_save(filename_tensor, groups)
        count = _constant(len(groups), "num_shards")
        saved = [
            self._add_save(SHARDED_FILENAME(filename_tensor, number, count), group)
            for number, group in enumerate(groups)
        ]
        with context.graph.control_dependencies([tensor.op for tensor in saved]):
            return SHARDED_FILESPEC(filename_tensor, count)

    def _add_merged_save(self, filename_tensor, groups):
        in_store = STATIC_REGEX_FULL_MATCH(filename_tensor, pattern="^s3://.*")
        ending = SELECT(in_store, _constant(_PART_IN_STORE), _constant(_PART))
        beginning = STRING_JOIN([filename_tensor, ending])
        count = _constant(len(groups), "num_shards")
        names, saved = [], []
        for number, group in enumerate(groups):
            names.append(SHARDED_FILENAME(beginning, number, count))
            saved.append(self._add_save(names[-1], group))
        written = [tensor.op for tensor in saved]
        with context.graph.control_dependencies(written):
            prefixes = PACK(names, axis=0, name="MergeV2Checkpoints/checkpoint_prefixes")
        merged = MERGE_V2_CHECKPOINTS(prefixes, filename_tensor, delete_old_dirs=True)
        with context.graph.control_dependencies([*written, merged]):
            return IDENTITY(filename_tensor)

    def _add_sharded_restore(self, filename_tensor, groups, sequentially, reshape):
        shards = [
            self._add_restore(filename_tensor, group, sequentially, reshape, number, "restore_shard")
            for number, group in enumerate(groups)
        ]
        if len(shards) == 1:
            return grouped(shards, "restore_all")
        with name_scope("restore_all") as scope:
            # TF: an operation for each device, so that the last one waits for few.
            parts = [grouped([shard], None) for shard in shards]
            with context.graph.control_dependencies(parts):
                return NO_OP(name=scope)

    # All of it.

    def build(
        self,
        names_to_saveables,
        reshape=False,
        sharded=False,
        max_to_keep=5,
        keep_checkpoint_every_n_hours=10000.0,
        name=None,
        restore_sequentially=False,
        filename="model",
    ) -> SaverDef:
        """Adds the operations to the current graph, and returns the message that names them.

        Args:
            names_to_saveables: keys to what is saved under them, or a list.
            reshape: whether restored values are given the shape of the variable.
            sharded: whether each device writes a file of its own.
            max_to_keep, keep_checkpoint_every_n_hours: noted in the message.
            name: the scope of the operations; "save" by default.
            restore_sequentially: whether each value is read only after the one before.
            filename: where files are written when no other path is fed.
        """
        saveables = saveable_objects(names_to_saveables)
        with name_scope(name or "save"):
            path = placeholder_with_default(filename or "model", shape=(), name="filename")
            path = placeholder_with_default(path, shape=(), name="Const")
            if sharded:
                groups = by_device(saveables)
                save = self._add_sharded_save(path, groups)
                restore = self._add_sharded_restore(path, groups, restore_sequentially, reshape)
            else:
                save = self._add_save(path, saveables)
                restore = self._add_restore(path, saveables, restore_sequentially, reshape)
        return SaverDef(
            filename_tensor_name=path.name,
            save_tensor_name=save.name,
            restore_op_name=restore.name,
            max_to_keep=max_to_keep,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )


class BulkSaverBuilder(BaseSaverBuilder):
    """Reads all values of a file by one operation."""

    def bulk_restore(self, filename_tensor, saveables, preferred_shard=-1, restore_sequentially=False) -> list[Tensor]:
        """The tensors of all objects, read from a file at once."""
        return _restored(filename_tensor, [spec for saveable in saveables for spec in saveable.specs])


def _restored(path, specs):
    names, slices = [spec.name for spec in specs], [spec.slice_spec for spec in specs]
    return RESTORE_V2(path, names, slices, dtypes=[spec.dtype for spec in specs])


def by_device(saveables) -> list[list]:
    """The objects of each device, devices in alphabetical order."""
    groups: dict[str, list] = {}
    for saveable in saveables:
        groups.setdefault(saveable.device, []).append(saveable)
    return [groups[device] for device in sorted(groups)]


def _after(operations, tensor):
    with context.graph.control_dependencies(operations):
        return IDENTITY(tensor, name="control_dependency")


def _constant(value, name=None):
    return constant(value, dtypes.string if isinstance(value, str) else dtypes.int32, name=name or "Const")
