"""Saving where a graph is built: operations of a function, or operations of a 1.x graph that a session runs."""

from __future__ import annotations

import os
import weakref
from typing import Any

from headrace._src.checkpoint.object_values import OBJECT_GRAPH_KEY, SavedAttribute, attributes_of, gather_values
from headrace._src.checkpoint.object_walk import ObjectWalk, value_key
from headrace._src.checkpoint.ops import MERGE_V2_CHECKPOINTS, SAVE_V2
from headrace._src.checkpoint.python_state import PYTHON_STATE, PythonState
from headrace._src.checkpoint.sharding import ShardingCallback, chosen_shards, shardable
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.tensor import Tensor
from headrace._src.formats import durable_files, files
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.constants import constant
from headrace._src.ops.arrays.joining import stack
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.ops.strings.editing import join


def session_of(session: Any) -> Any:
    """The session to run in: the one given, or the default one of the graph.

    Raises:
        RuntimeError: there is none.
    """
    if session is None and context.graph is not None:
        session = context.graph.default_session()
    if session is None:
        raise RuntimeError(
            "Unable to save or restore a checkpoint in graph mode without a default session. Please use `with "
            "tf.Session():` to create a session, or pass one as `session`."
        )
    return session


class GraphSaver:
    """The operations by which one checkpoint is saved and restored in graphs. Those of 1.x graphs are made once.

    Attributes:
        restore_operations: those that restored before, by object and keys.
    """

    def __init__(self) -> None:
        self._graphs: weakref.WeakKeyDictionary[Any, _Operations] = weakref.WeakKeyDictionary()

    def _of_graph(self) -> _Operations:
        graph = context.graph
        if graph not in self._graphs:
            self._graphs[graph] = _Operations()
        return self._graphs[graph]

    @property
    def restore_operations(self) -> dict | None:
        return None if context.graph is None else self._of_graph().restoring

    def save(self, file_prefix: Any, walk: ObjectWalk, session: Any, callback: ShardingCallback | None = None) -> Any:
        """Saves when the function runs, and returns the path as a tensor; in a 1.x graph, saves now, in a session.

        Args:
            file_prefix: the path.
            walk: the objects.
            session: of a 1.x graph; None for the default one.
            callback: in a function, what says which tensors go into which file. TF: it sees symbolic tensors.
        """
        if context.graph.building_function:
            if not isinstance(file_prefix, Tensor):
                file_prefix = files.path_string(file_prefix)
            prefix = to_tensor(file_prefix, dtypes.string)
            gathered = gather_values(walk)
            message = to_tensor(gathered.message.SerializeToString(), dtypes.string)
            if callback is not None:
                return _saved_in_shards(prefix, message, gathered, walk, callback)
            return _saved(prefix, message, gathered)
        path = files.path_string(file_prefix)
        session = session_of(session)
        durable_files.make_folders(os.path.dirname(path))
        operations = self._of_graph()
        gathered = gather_values(walk, values_of=operations.values_of)
        text = gathered.message.SerializeToString()
        if operations.saved is None or operations.text != text:
            prefix, message = constant("", dtypes.string), constant("", dtypes.string)
            operations.text, operations.fed = text, (prefix, message)
            operations.saved = _saved(prefix, message, gathered)
        prefix, message = operations.fed
        feeds = {fed: obj.serialize() for obj, fed in operations.python_states.values()}
        session.run(operations.saved, feed_dict={prefix: path, message: text, **feeds})
        return path

    def fed_prefix(self, path: str) -> tuple[Tensor, dict[Tensor, str]]:
        """A tensor of a 1.x graph for the path to restore from, and what to feed for it."""
        operations = self._of_graph()
        if operations.prefix is None:
            operations.prefix = constant("model", dtypes.string)
        return operations.prefix, {operations.prefix: path}

    def next_number(self, counter: Any, session: Any) -> int:
        """Adds one to a counter of a 1.x graph."""
        operations = self._of_graph()
        if operations.counting is None:
            operations.counting = counter.assign_add(1, read_value=True)
            if not session.run(counter.is_initialized()):
                session.run(counter.initializer)
        return int(session.run(operations.counting))


class _Operations:
    """What was made in one graph."""

    def __init__(self) -> None:
        self.restoring: dict = {}
        self.python_states: dict[int, tuple[PythonState, Tensor]] = {}  # by id, with the tensors that they are fed to
        self._values: dict[tuple[int, str], tuple[Any, list[SavedAttribute]]] = {}
        self.text = b""
        self.fed: Any = None
        self.saved: Any = None
        self.prefix: Any = None
        self.counting: Any = None

    def values_of(self, obj: Any, path: str) -> list[SavedAttribute]:
        """The values of an object: tensors that are made once, and are read when a session runs."""
        key = (id(obj), path)
        if key not in self._values:
            if isinstance(obj, PythonState):
                self.python_states[id(obj)] = (obj, constant("", dtypes.string))
                name = value_key(path, PYTHON_STATE)
                attributes = [SavedAttribute(PYTHON_STATE, name, [(name, self.python_states[id(obj)][1], "")])]
            else:
                attributes = attributes_of(obj, path)
            self._values[key] = (obj, attributes)
        return self._values[key][1]


def _saved_in_shards(prefix, message, gathered, walk, callback):
    """The same with a file for each shard: they are written apart, then put together."""
    tensors = [
        shardable(value.key, to_tensor(value.tensor), value.slice_spec, walk.objects[value.number])
        for value in gathered.values
    ]
    shards = chosen_shards([*tensors, shardable(OBJECT_GRAPH_KEY, message)], callback)
    parts, operations = [], []
    for number, shard in enumerate(shards):
        parts.append(join([prefix, f"_temp/part-{number:05d}-of-{len(shards):05d}"]))
        entries = [(key, spec.strip(), tensor) for key, slices in shard.items() for spec, tensor in slices.items()]
        operations.append(SAVE_V2(parts[-1], *(list(column) for column in zip(*entries))))
    with context.graph.control_dependencies(operations):
        merged = MERGE_V2_CHECKPOINTS(stack(parts), prefix)
    with context.graph.control_dependencies([merged]):
        return IDENTITY(prefix)


def _saved(prefix, message, gathered):
    """The path as a tensor, which is there when all values have been written."""
    keys = [value.key for value in gathered.values] + [OBJECT_GRAPH_KEY]
    slices = [value.slice_spec for value in gathered.values] + [""]
    tensors = [to_tensor(value.tensor) for value in gathered.values] + [message]
    operation = SAVE_V2(prefix, keys, slices, tensors)
    with context.graph.control_dependencies([operation]):
        return IDENTITY(prefix)
