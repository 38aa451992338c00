"""`tf.compat.v1.train.Saver`: variables saved and restored by their names."""

import logging
import numbers
import os
from typing import Any

from headrace._src.checkpoint import folder_state
from headrace._src.checkpoint.object_names import keys_by_name
from headrace._src.compat.graph_keys import GraphKeys, get_collection
from headrace._src.compat.saving import restore_checks as restore_checks
from headrace._src.compat.saving.graph_collections import register_proto_function
from headrace._src.compat.saving.kept_checkpoints import KeptCheckpoints
from headrace._src.compat.saving.meta_graphs import export_meta_graph
from headrace._src.compat.saving.saver_operations import BulkSaverBuilder
from headrace._src.compat.saving.saver_values import renamed, saveable_objects
from headrace._src.compat.training.steps_and_rates import global_step as step_number
from headrace._src.core import errors
from headrace._src.core.context import context
from headrace._src.core.names import fresh_scope
from headrace._src.formats import files
from headrace._src.formats.model_messages import SaverDef
from headrace._src.graph.messages.variable_messages import with_scope, without_scope
from headrace._src.op.api import api

_logger = logging.getLogger("tensorflow")
_ALTERED = "Please ensure that you have not altered the graph expected based on the checkpoint. Original error:"


@api("compat.v1.train.Saver")
class Saver:
    """Saves variables to checkpoints under their names, and restores them.

    The operations that do this are added to the graph when the saver is made. Each call of `save` writes a checkpoint,
    notes it in the file `checkpoint` of the folder, and removes the oldest if there are more than `max_to_keep`.

    Args:
        var_list: the variables, tables and other objects to save: a list, or a dictionary of what is saved under
            each key. By default all global variables and saveable objects of the graph.
        reshape: whether restored values may have another shape than the variable, with as many elements.
        sharded: whether each device writes a file of its own.
        max_to_keep: how many checkpoints are kept; None or 0: all, and the file `checkpoint` names only the last.
        keep_checkpoint_every_n_hours: one checkpoint of so many hours is never removed.
        name: the scope of the operations, "save" by default.
        restore_sequentially: accepted; values are read one after the other in any case.
        saver_def: a `SaverDef` message: operations that the graph has already are used.
        builder: makes the operations.
        defer_build: whether operations are only made when `build` is called.
        allow_empty: whether there may be nothing to save.
        write_version: the format of the files, `SaverDef.V2` or `SaverDef.V1`.
        pad_step_number: whether step numbers in the names of files have at least eight digits.
        save_relative_paths: whether paths in the file `checkpoint` are relative to it.
        filename: where files are written if the operations are run by hand and nothing else is fed.

    Raises:
        TypeError: `var_list` holds something that cannot be saved.
        ValueError: there is nothing to save, or two variables have the same name.
        RuntimeError: executing eagerly without `var_list`.

    >>> import os, tempfile
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
    ...     v = tf.compat.v1.get_variable("v", initializer=[1.0, 2.0])
    ...     saver = tf.compat.v1.train.Saver()
    ...     sess.run(v.initializer)
    ...     path = saver.save(sess, os.path.join(tempfile.mkdtemp(), "model"), global_step=3)
    ...     sess.run(v.assign([0.0, 0.0]).op)
    ...     saver.restore(sess, path)
    ...     print(sess.run(v), os.path.basename(path))
    [1. 2.] model-3
    """

    def __init__(
        self,
        var_list=None,
        reshape=False,
        sharded=False,
        max_to_keep=5,
        keep_checkpoint_every_n_hours=10000.0,
        name=None,
        restore_sequentially=False,
        saver_def=None,
        builder=None,
        defer_build=False,
        allow_empty=False,
        write_version=SaverDef.V2,
        pad_step_number=False,
        save_relative_paths=False,
        filename=None,
    ) -> None:
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                "var_list=None."
            )
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._name = name
        self._restore_sequentially = restore_sequentially
        self.saver_def = None if saver_def is None else _checked(saver_def)
        self._builder = builder
        self._is_built = False
        self._allow_empty = allow_empty
        self._is_empty = False
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._filename = filename
        self._kept = KeptCheckpoints(max_to_keep, keep_checkpoint_every_n_hours)
        self._object_restore_saver: Saver | None = None
        self._wanted: list[restore_checks.Wanted] | None = None  # what restoring reads
        if context.graph is None and var_list is None:
            raise RuntimeError(
                "When eager execution is enabled, `var_list` must specify a list or dict of variables to save"
            )
        if not defer_build and context.graph is not None:
            self.build()
        if self.saver_def is not None:
            self._write_version = self.saver_def.version

    # The operations.

    def build(self) -> None:
        """Adds the operations to the current graph, if that was deferred."""
        if context.graph is None:
            raise RuntimeError("Use save/restore instead of build in eager mode.")
        if self._is_built:
            return
        self._is_built = True
        if self.saver_def is None:
            self.saver_def = self._made()
        elif self._name:
            for field in ("filename_tensor_name", "restore_op_name", "save_tensor_name"):
                setattr(self.saver_def, field, with_scope(getattr(self.saver_def, field), self._name))
        if self.saver_def is not None:
            # Of a saver that was imported, the message decides.
            self._sharded = self.saver_def.sharded
            self._kept = KeptCheckpoints(self.saver_def.max_to_keep, self.saver_def.keep_checkpoint_every_n_hours)

    def _made(self):
        if self._var_list is None:
            self._var_list = all_saveable_objects()
        if not self._var_list:
            if self._allow_empty:
                self._is_empty = True
                return None
            raise ValueError("No variables to save")
        self._is_empty = False
        return self._new_builder().build(
            self._var_list, reshape=self._reshape, sharded=self._sharded, max_to_keep=self._max_to_keep,
            keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours, name=self._name,
            restore_sequentially=self._restore_sequentially, filename=self._filename,
        )  # fmt: skip

    def _new_builder(self):
        return BulkSaverBuilder(self._write_version) if self._builder is None else self._builder

    def as_saver_def(self) -> Any:
        """The message that names the operations."""
        return self.saver_def

    def to_proto(self, export_scope=None) -> Any:
        """The message that names the operations; None if they are not in the scope.

        Args:
            export_scope: names are made relative to this scope.
        """
        if export_scope is None:
            return self.saver_def
        if not self.saver_def.filename_tensor_name.startswith(export_scope):
            return None
        proto = SaverDef()
        proto.CopyFrom(self.saver_def)
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(proto, field, without_scope(getattr(proto, field), export_scope))
        return proto

    @staticmethod
    def from_proto(saver_def, import_scope=None) -> "Saver":
        """A saver that uses the operations of the graph that a message names, in a scope if they were imported so."""
        return Saver(saver_def=saver_def, name=import_scope)

    # Which checkpoints there are.

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that this saver keeps, the oldest first."""
        return self._kept.paths

    def set_last_checkpoints(self, last_checkpoints) -> None:
        """Takes over a list of checkpoints, whose times are not known. The older form of the next one."""
        self._kept.set([(path, 0.0) for path in _checked_list(last_checkpoints)])

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time) -> None:
        """Takes over a list of checkpoints with the times when they were saved, in seconds since 1970."""
        self._kept.set(_checked_list(last_checkpoints_with_time))

    def recover_last_checkpoints(self, checkpoint_paths) -> None:
        """Takes over those of a list of checkpoints that are there, as after a restart."""
        self._kept.recover(checkpoint_paths)

    # Saving.

    def save(
        self,
        sess,
        save_path,
        global_step=None,
        latest_filename=None,
        meta_graph_suffix="meta",
        write_meta_graph=True,
        write_state=True,
        strip_default_attrs=False,
        save_debug_info=False,
    ) -> str | None:
        """Saves the variables of a session.

        Args:
            sess: the session; None when executing eagerly.
            save_path: the checkpoint, to which the step is added.
            global_step: a number, or a tensor or variable that holds it.
            latest_filename: the name of the file that says which checkpoint is the latest; "checkpoint" by default.
            meta_graph_suffix: what the name of the file with the graph ends in.
            write_meta_graph: whether the graph is saved too.
            write_state: whether the checkpoint is noted as the latest, and old ones are removed.
            strip_default_attrs: whether attributes of operations that have their default values are left out.
            save_debug_info: accepted.

        Returns:
            The path for `restore`; None if there is nothing to save.

        Raises:
            TypeError: `sess` is no session.
            ValueError: the folder is not there, or `latest_filename` is no plain name.
            RuntimeError: the operations are not built yet.
        """
        eager = _is_eager(sess)
        if not self._is_built and not eager:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        latest_filename = "checkpoint" if latest_filename is None else latest_filename
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        save_path = files.path_string(save_path)
        target = self._target(sess, save_path, global_step, latest_filename)
        if not eager and not hasattr(sess, "run"):
            raise TypeError(f"'sess' must be a Session; {sess}")
        written = None
        if not self._is_empty:
            written = self._written(sess, eager, save_path, target)
        # The graph before the state: a checkpoint that counts as the latest is complete.
        if write_meta_graph and not eager:
            with sess.graph.as_default():
                self.export_meta_graph(
                    folder_state.graph_path(target, meta_graph_suffix), strip_default_attrs=strip_default_attrs,
                    save_debug_info=save_debug_info,
                )  # fmt: skip
        if write_state and written is not None:
            self._kept.add(written)
            folder_state.write_state(
                os.path.dirname(save_path), written, self.last_checkpoints, latest_filename, self._save_relative_paths
            )
            self._kept.remove_old(self._write_version, meta_graph_suffix)
        return written

    def _target(self, sess, save_path, global_step, latest_filename):
        """The path with the step."""
        if global_step is None:
            if os.path.basename(save_path) == latest_filename and not self._sharded:
                raise ValueError(
                    f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{save_path}'"
                )
            return save_path
        if not isinstance(global_step, numbers.Integral):
            global_step = step_number(sess, global_step)
        return f"{save_path}-{global_step:08d}" if self._pad_step_number else f"{save_path}-{global_step}"

    def _written(self, sess, eager, save_path, target):
        try:
            if eager:
                saveables = saveable_objects(self._var_list)
                self._new_builder().save_op(target, saveables)
                return target
            names = self.saver_def
            return files.path_string(sess.run(names.save_tensor_name, {names.filename_tensor_name: target}))
        except (errors.FailedPreconditionError, errors.NotFoundError):
            if files.is_directory(os.path.dirname(save_path) or "."):
                raise
            raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.") from None

    def export_meta_graph(
        self,
        filename=None,
        collection_list=None,
        as_text=False,
        export_scope=None,
        clear_devices=False,
        clear_extraneous_savers=False,
        strip_default_attrs=False,
        save_debug_info=False,
    ) -> Any:
        """The current graph with its collections and this saver as a `MetaGraphDef` message.

        The arguments are those of `tf.compat.v1.train.export_meta_graph`.
        """
        return export_meta_graph(
            filename=filename, saver_def=self.saver_def, collection_list=collection_list, as_text=as_text,
            export_scope=export_scope, clear_devices=clear_devices, clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info,
        )  # fmt: skip

    # Restoring.

    def restore(self, sess, save_path) -> None:
        """Gives the variables the values that they have in a checkpoint; they need not be initialised.

        A checkpoint of objects (`tf.train.Checkpoint`) is restored by the names that its variables had.

        Args:
            sess: the session; None when executing eagerly.
            save_path: the checkpoint.

        Raises:
            ValueError: there is no such checkpoint.
            NotFoundError: it lacks a variable.
            InvalidArgumentError: a value is of another dtype or shape than the variable.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = files.path_string(save_path)
        if not folder_state.checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        _logger.info("Restoring parameters from %s", path)
        try:
            if _is_eager(sess):
                self._restore_eagerly(path)
            else:
                self._check(sess, path)
                sess.run(self.saver_def.restore_op_name, {self.saver_def.filename_tensor_name: path})
        except errors.NotFoundError as error:
            self._restore_by_names(sess, path, error)
        except errors.InvalidArgumentError as error:
            raise errors.InvalidArgumentError(
                error.node_def, error.op,
                _explained(error, "a mismatch between the current graph and the graph from the checkpoint"),
            ) from error  # fmt: skip

    def _check(self, sess, path):
        """Refuse a checkpoint that does not fit, before any variable changes."""
        graph = getattr(sess, "graph", None)
        if graph is None:
            return
        if self._wanted is None:
            self._wanted = restore_checks.wanted_by(graph.get_operation_by_name(self.saver_def.restore_op_name))
        restore_checks.check(path, self._wanted)

    def _restore_eagerly(self, path):
        saveables = saveable_objects(self._var_list)
        wanted = [
            restore_checks.Wanted(spec.name, spec.slice_spec, saveable.name, saveable.shape)
            for saveable in saveables
            for spec in saveable.specs
            if hasattr(saveable, "shape")
        ]
        restore_checks.check(path, wanted)
        tensors = iter(self._new_builder().bulk_restore(path, saveables))
        for saveable in saveables:
            saveable.restore([next(tensors) for _ in saveable.specs], None)

    def _restore_by_names(self, sess, path, error):
        """Restores from a checkpoint that knows variables by their place in an object."""
        keys = keys_by_name(path)
        if keys is None:
            raise errors.NotFoundError(
                error.node_def, error.op,
                _explained(error, "a Variable name or other graph key that is missing from the checkpoint"),
            ) from error  # fmt: skip
        _logger.warning(
            "Restoring an object-based checkpoint using a name-based saver. This may be somewhat fragile, and will "
            "re-build the Saver. Instead, consider loading object-based checkpoints using tf.train.Checkpoint()."
        )
        graph = None if _is_eager(sess) else sess.graph
        var_list = all_saveable_objects(graph) if self._var_list is None else self._var_list
        found = renamed(saveable_objects(var_list), keys)
        if graph is None:
            Saver(found).restore(None, path)
            return
        # Made once: each time it would add operations to the graph.
        if self._object_restore_saver is None or self._object_restore_saver._keys != keys:
            with graph.as_default(), fresh_scope():
                self._object_restore_saver = Saver(found)
                self._object_restore_saver._keys = keys
        self._object_restore_saver.restore(sess, path)

    _keys: dict | None = None  # of a saver for a checkpoint of objects: name to key there


def all_saveable_objects(graph=None, scope=None) -> list:
    """What a saver saves if it is not told otherwise: the global variables, and what was registered besides."""
    collection = get_collection if graph is None else graph.get_collection
    return [*collection(GraphKeys.GLOBAL_VARIABLES, scope), *collection(GraphKeys.SAVEABLE_OBJECTS, scope)]


def _is_eager(sess):
    # TF: it depends on where this is called. Who passes a session means its graph.
    return sess is None and context.graph is None


def _checked(saver_def):
    if getattr(getattr(saver_def, "DESCRIPTOR", None), "full_name", None) != SaverDef.DESCRIPTOR.full_name:
        raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {saver_def}")
    proto = SaverDef.FromString(saver_def.SerializeToString())
    for field in ("save_tensor_name", "restore_op_name"):
        if not getattr(proto, field):
            raise ValueError(f"saver_def must specify the {field}: {proto}")
    return proto


def _checked_list(value):
    if not isinstance(value, list):
        raise AssertionError(f"A list of checkpoints is expected, got {type(value).__name__}.")
    return value


def _explained(error, cause):
    return f"Restoring from checkpoint failed. This is most likely due to {cause}. {_ALTERED}\n\n{error.message}"


def _saver_to_proto(saver, export_scope=None):
    return saver.to_proto(export_scope)


register_proto_function(GraphKeys.SAVERS, SaverDef, _saver_to_proto, Saver.from_proto)
