"""`tf.train.Checkpoint`: saves what is reached from objects, and restores it, also into objects that come later."""

from __future__ import annotations

import functools
import logging
import os
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.checkpoint.background import Background
from headrace._src.checkpoint.file_graph import FileGraph
from headrace._src.checkpoint.folder_state import write_state
from headrace._src.checkpoint.graph_saving import GraphSaver, session_of
from headrace._src.checkpoint.load_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    LoadStatus,
    NameBasedSaverStatus,
)
from headrace._src.checkpoint.name_based import NameBasedRestore
from headrace._src.checkpoint.object_values import OBJECT_GRAPH_KEY, gather_values
from headrace._src.checkpoint.object_walk import ObjectWalk
from headrace._src.checkpoint.options import CheckpointOptions, call_write_callbacks
from headrace._src.checkpoint.reading import open_checkpoint
from headrace._src.checkpoint.restoring import Restoration, restore_numbers
from headrace._src.checkpoint.value_writing import SavedValue, write_values
from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.garbage import collection_paused
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.trackable import AutoTrackable, Trackable, as_trackable
from headrace._src.formats import files
from headrace._src.graph.building.variable_creation import init_scope
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.strings.kernel_arrays import string_array
from headrace._src.state.variables import Variable

_COUNTER = "save_counter"
_logger = logging.getLogger("tensorflow")


class ObjectSaver:
    """Saves and restores what is reached from a root.

    Args:
        root: the object, or a weak reference to it.
        attached: more children of the root: functions that give them, by name. It may grow.
    """

    def __init__(self, root: Any, attached: dict[str, Callable[[], Any]]) -> None:
        self._root = root
        self._attached = attached
        self.graph_saver = GraphSaver()
        self.background = Background()

    @property
    def root(self) -> Any:
        return self._root() if isinstance(self._root, weakref.ref) else self._root

    def walk(self) -> ObjectWalk:
        """The objects that are reached now."""
        return _walk(self.root, self._attached)

    def write(self, file_prefix: Any, options: CheckpointOptions | None, session: Any = None) -> Any:
        """Writes the values of now; returns the path, in a function as a tensor."""
        if context.graph is not None:
            return self._write_in_graph(file_prefix, options or CheckpointOptions(), session)
        path = _path(file_prefix)
        self.write_then(path, options, lambda: None)
        return path

    def _write_in_graph(self, file_prefix, options, session):
        walk = self.walk()
        in_function = context.graph.building_function
        if options.enable_async:
            _logger.warning(
                "Saving async checkpoint in graph mode is currently not supported; switching to regular sync "
                "checkpoint instead."
            )
        callback = options.experimental_sharding_callback
        if callback is None or in_function:
            path = self.graph_saver.save(file_prefix, walk, session, callback)
        else:
            path, gathered = _path(file_prefix), gather_values(walk)
            tensors = [to_tensor(value.tensor) for value in gathered.values]
            arrays = session_of(session).run(tensors)
            values = [
                SavedValue(
                    value.key,
                    tensor.dtype,
                    np.array(array, tensor.dtype._np),
                    value.slice_spec,
                    walk.objects[value.number],
                )
                for value, tensor, array in zip(gathered.values, tensors, arrays)
            ]
            write_values(path, [*values, _graph_value(gathered.message)], options)
        if not in_function:
            call_write_callbacks(options, path)
        return path

    def write_then(self, path: str, options: CheckpointOptions | None, then: Callable[[], None]) -> None:
        """Writes the values of now, outside of graphs, and does something when they are on the disk.

        With `enable_async`, both happen in the background.
        """
        in_background = options is not None and options.enable_async
        if not in_background:
            self.background.wait()
        with collection_paused():
            values = self._values()

        def job():
            with collection_paused():
                write_values(path, values, options)
            then()
            call_write_callbacks(options, path)

        if in_background:
            self.background.submit(job)
        else:
            job()

    def _values(self):
        walk = self.walk()
        values, message, _ = gather_values(walk)
        saved = [
            SavedValue(
                value.key, value.tensor.dtype, _array(value.tensor), value.slice_spec, walk.objects[value.number]
            )
            for value in values
        ]
        saved.append(_graph_value(message))
        return saved

    def restore(self, save_path: Any, options: CheckpointOptions | None) -> LoadStatus:
        """Restores a checkpoint, or begins to."""
        if save_path is None:
            return InitializationOnlyStatus(next(restore_numbers), self._walk_for_status(), session_of)
        self.background.wait()
        with collection_paused():
            return self._restored(open_checkpoint(_path(save_path)), options)

    def _restored(self, reader, options):
        if OBJECT_GRAPH_KEY not in reader:
            return self._restore_names(reader)
        graph = FileGraph.of(reader)
        skip_slots = options is not None and options.experimental_skip_slot_variables
        prefix = feeds = None
        in_function = context.graph is not None and context.graph.building_function
        if in_function:
            prefix = to_tensor(reader.prefix, dtypes.string)
        elif context.graph is not None:
            prefix, feeds = self.graph_saver.fed_prefix(reader.prefix)
        restoration = Restoration(
            reader, graph, skip_slots, in_function, prefix, None if in_function else self.graph_saver.restore_operations
        )
        restoration.restore(0, self.root, _attached_objects(self._attached))
        return CheckpointLoadStatus(restoration, self._walk_for_status(), session_of, feeds)

    def _walk_for_status(self):
        # A status keeps the root alive, this one may not.
        return functools.partial(_walk, self.root, self._attached)

    def _restore_names(self, reader):
        restore = NameBasedRestore(reader)
        if context.graph is None:
            restore.restore(self.walk().objects)
        return NameBasedSaverStatus(restore, self._walk_for_status(), session_of)


def _graph_value(message):
    return SavedValue(OBJECT_GRAPH_KEY, dtypes.string, string_array([message.SerializeToString()], ()))


def _attached_objects(attached):
    return {name: held() for name, held in attached.items()}


def _walk(root, attached):
    return ObjectWalk(root, attached=_attached_objects(attached))


def _array(tensor):
    return (tensor.value() if isinstance(tensor, Variable) else tensor)._a


def _path(file_prefix) -> str:
    if isinstance(file_prefix, Tensor):
        if not isinstance(file_prefix, EagerTensor):
            raise TypeError(
                f"Checkpoint: the path must be known when a function is traced, got {file_prefix!r}. Pass a string; "
                "only write takes a tensor."
            )
        file_prefix = file_prefix.numpy()
    return files.path_string(file_prefix)


def check_trackable(value: Any, name: str) -> Any:
    """`value` as a part of a checkpoint.

    Raises:
        ValueError: it cannot be one.
    """
    value = as_trackable(value)
    if not isinstance(value, Trackable):
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from `Trackable`), got "
            f"{value}. If you believe this object should be trackable (i.e. it is part of the TensorFlow Python API "
            "and manages state), please open an issue."
        )
    return value


def new_counter() -> Variable:
    """The variable that numbers the saves of a checkpoint."""
    with init_scope():
        return Variable(0, name=_COUNTER, dtype=dtypes.int64, trainable=False)


@api("train.Checkpoint", dispatch=False)
class Checkpoint(AutoTrackable):
    """A group of objects whose values are saved together, and restored together.

    What is reached from the objects through attributes, lists, tuples and dictionaries is saved: variables, tables,
    iterators, the state of optimizers. Objects are found again by the names that lead to them. What does not exist yet
    when a checkpoint is restored is restored when it is made.

    Args:
        root: an object whose own attributes are saved, without a name for the object itself.
        **kwargs: objects by name. More can be added as attributes.

    Raises:
        ValueError: an argument cannot be saved, or `root` has another attribute of that name.

    >>> import os, tempfile
    >>> prefix = os.path.join(tempfile.mkdtemp(), "model")
    >>> weights = tf.Variable([1.0, 2.0])
    >>> checkpoint = tf.train.Checkpoint(weights=weights)
    >>> path = checkpoint.save(prefix)
    >>> os.path.basename(path)
    'model-1'
    >>> _ = weights.assign([0.0, 0.0])
    >>> _ = checkpoint.restore(path).assert_consumed()
    >>> weights.numpy()
    array([1., 2.], dtype=float32)
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        attached: dict[str, Callable[[], Any]] = {} if root is None else {"root": _weak(root)}
        saver = ObjectSaver(weakref.ref(self) if root is None else root, attached)
        self.__dict__.update(_save_counter=None, _attached=attached, _saver=saver)
        owner = check_trackable(saver.root, "root")
        for name, value in sorted(kwargs.items()):
            setattr(self, name, value)
            value = check_trackable(getattr(self, name), name)
            if owner is self:
                continue
            child = owner._lookup_dependency(name)
            if child is None:
                attached[name] = _weak(value)
            elif child is not value:
                raise ValueError(
                    f"Cannot create a Checkpoint with keyword argument {name} if root.{name} already exists."
                )

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        part = as_trackable(value)
        if part is not value and not isinstance(getattr(self, name), Trackable):  # a metric, which stays as it is
            self._track_trackable(part, name, overwrite=True)

    # Saving.

    @property
    def save_counter(self) -> Variable:
        """How often `save` was called, a variable that is part of the checkpoint."""
        self._make_counter()
        return self._save_counter

    def _make_counter(self):
        if self._save_counter is not None:
            return
        counter = self.__dict__["_save_counter"] = new_counter()
        if self._saver.root is self:
            self._track_trackable(counter, _COUNTER)
        else:
            self._attached[_COUNTER] = _weak(counter)
            self._saver.root._handle_deferred_dependencies(_COUNTER, counter)

    def save(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Saves to `<file_prefix>-<number>`, and says in the file `checkpoint` of the folder that this is the latest.

        Args:
            file_prefix: a path; numbers are added to it, from 1 on.
            options: a `tf.train.CheckpointOptions`.

        Returns:
            The path of the checkpoint, for `restore`.

        Raises:
            NotImplementedError: inside of a `tf.function`. Use `write` there.
        """
        refuse_functions()
        return save_numbered(self._saver, self.save_counter, file_prefix, options)

    def write(self, file_prefix: Any, options: CheckpointOptions | None = None) -> Any:
        """Saves to `file_prefix`. Neither numbers nor the file `checkpoint` of the folder change.

        Args:
            file_prefix: the path of the checkpoint.
            options: a `tf.train.CheckpointOptions`.

        Returns:
            The path. Inside of a `tf.function`, a string tensor; there the values are written when the function runs.
        """
        return self._write(file_prefix, options)

    def _write(self, file_prefix, options=None):
        return self._saver.write(file_prefix, options)

    def sync(self) -> None:
        """Waits until what is being written in the background is on the disk.

        Raises:
            What went wrong in the background.
        """
        self._saver.background.wait()

    # Restoring.

    def read(self, save_path: Any, options: CheckpointOptions | None = None) -> LoadStatus:
        """Restores what `write` has saved, without `save_counter`.

        Args:
            save_path: the path of the checkpoint. A name that ends in `.index` or `.data-...` is understood.
            options: a `tf.train.CheckpointOptions`.

        Returns:
            A status, as from `restore`.
        """
        return self._saver.restore(save_path, options)

    def restore(self, save_path: Any, options: CheckpointOptions | None = None) -> LoadStatus:
        """Restores a checkpoint: objects that exist get their values now, others when they are made.

        Nothing is changed if a value has another dtype or shape than its variable, or a file is damaged.

        Args:
            save_path: the path that `save` returned or `tf.train.latest_checkpoint` finds, or the folder of a
                SavedModel. A name that ends in `.index` or `.data-...` is understood. None restores nothing.
            options: a `tf.train.CheckpointOptions`.

        Returns:
            A status. `assert_consumed()` raises unless all values were used and all objects got some;
            `assert_existing_objects_matched()` raises if an object got none; `expect_partial()` says that values will
            be left over, about which there is a warning otherwise.

        Raises:
            NotFoundError: there is no such checkpoint.
            DataLossError: a file is damaged.
            InvalidArgumentError: a value is of another dtype than its variable.
            ValueError: a value is of another shape than its variable.
        """
        status = restore_from(self._saver, save_path, options)
        self._make_counter()
        if isinstance(status, NameBasedSaverStatus):
            status.add_to_optionally_restored(self._save_counter)
        return status


def _weak(obj):
    if isinstance(obj, weakref.ref):
        return obj
    try:
        return weakref.ref(obj)
    except TypeError:  # a tuple
        return lambda: obj


def refuse_functions() -> None:
    """Raises inside of a `tf.function`, where the number of a save would never change."""
    if context.graph is not None and context.graph.building_function:
        raise NotImplementedError(
            "Calling tf.train.Checkpoint.save() from a function is not supported, as save() modifies saving metadata "
            "in ways not supported by TensorFlow Operations. Consider using tf.train.Checkpoint.write(), a lower-level "
            "API which does not update metadata. tf.train.latest_checkpoint and related APIs will not see this "
            "checkpoint."
        )


def save_numbered(
    saver: ObjectSaver, counter: Variable, file_prefix: Any, options: CheckpointOptions | None, session: Any = None
) -> str:
    """Saves under the next number, and makes this the latest checkpoint of the folder."""
    prefix = _path(file_prefix)
    if context.graph is None:
        saver.background.wait()  # an error of the last save is raised before the number changes
        number = int(counter.assign_add(1))
    else:
        number = saver.graph_saver.next_number(counter, session_of(session))
    path = f"{prefix}-{number}"
    folder = os.path.dirname(prefix)
    if context.graph is not None:
        saver.write(path, options, session)
        write_state(folder, path, [path], save_relative_paths=True)
        return path
    saver.write_then(path, options, lambda: write_state(folder, path, [path], save_relative_paths=True))
    return path


def restore_from(saver: ObjectSaver, save_path: Any, options: CheckpointOptions | None) -> LoadStatus:
    """Restores a checkpoint, or the variables of a SavedModel."""
    place = None if save_path is None else _path(save_path)
    if place is not None and _is_saved_model(place):
        place = files.join(place, "variables", "variables")
    try:
        return saver.restore(place, options)
    except errors.NotFoundError as error:
        if files.is_directory(place):
            raise errors.not_found(
                f"Error when restoring from checkpoint or SavedModel at {save_path}: this is a folder without a "
                "SavedModel. For the latest checkpoint in it, restore(tf.train.latest_checkpoint(folder))."
            ) from None
        raise errors.not_found(
            f"Error when restoring from checkpoint or SavedModel at {save_path}: {error.message}\nPlease double-check "
            "that the path is correct. You may be missing the checkpoint suffix (e.g. the '-1' in 'path/to/ckpt-1')."
        ) from None


def _is_saved_model(path):
    return any(files.exists(files.join(path, name)) for name in ("saved_model.pb", "saved_model.pbtxt"))
