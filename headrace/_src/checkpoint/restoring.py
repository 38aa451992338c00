"""One restore: which objects belong to which values of a file, and what waits for objects that do not exist yet."""

from __future__ import annotations

import contextlib
import itertools
import logging
import weakref
from collections import deque
from collections.abc import KeysView
from typing import Any

from headrace._src.checkpoint.file_graph import FileGraph, children_in_file
from headrace._src.checkpoint.object_values import VARIABLE_VALUE, restorer_of
from headrace._src.checkpoint.object_walk import Slot, slot_of
from headrace._src.checkpoint.restored_values import Restored, check, restore_eagerly, restore_in_graph
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor
from headrace._src.core.trackable import SaveType, Trackable, wrap
from headrace._src.graph.building.variable_creation import init_scope

_logger = logging.getLogger("tensorflow")
restore_numbers = itertools.count()  # a later restore has a higher one
_NUMBER = "_self_update_uid"  # where an object keeps the number of the restore that it has its values from


def last_restore(obj: Any) -> int:
    """The number of the restore that an object has its values from; -1 if there was none."""
    return getattr(obj, "__dict__", {}).get(_NUMBER, -1)


def set_last_restore(obj: Any, number: int) -> None:
    obj.__dict__[_NUMBER] = number


class Restoration:
    """A checkpoint that is being restored: objects are matched now, and whenever one is added to those.

    Args:
        reader: of the checkpoint; it stays open while objects may still come.
        graph: the objects of the checkpoint.
        skip_slots: whether what optimizers keep for variables is left out.
        in_function: whether operations that restore become part of the function that is being traced.
        prefix: in graphs, a tensor with the path.
        operations: in graphs, operations that restored before, by object and keys.

    Attributes:
        number: that of this restore.
        matched: numbers of nodes for which there is an object, or was.
        unused: of such nodes, the names of values that their objects did not take.
        notes: of nodes, why they are left out, from rules for older layouts.
    """

    def __init__(
        self,
        reader: Any,
        graph: FileGraph,
        skip_slots: bool = False,
        in_function: bool = False,
        prefix: Any = None,
        operations: dict | None = None,
    ) -> None:
        self.reader = reader
        self.graph = graph
        self.number = next(restore_numbers)
        self.skip_slots = skip_slots
        self.matched: set[int] = set()
        self.unused: dict[int, list[str]] = {}
        self.notes: dict[int, str] = {}
        self.restore_operations: list[Any] = []
        self.leftovers = _Leftovers(self)
        self._in_function = in_function
        self._prefix = prefix
        self._known_operations = {} if operations is None else operations
        self._objects: dict[int, Any] = {}
        self._waiting_slots: dict[int, list[tuple[int, Slot]]] = {}
        if not skip_slots:
            for number, node in enumerate(graph.nodes):
                for slot in node.slots:
                    self._waiting_slots.setdefault(slot.variable, []).append((number, slot))

    def object_of(self, node: int) -> Any:
        """The object that belongs to a node; None if there is none, or none any more."""
        return _held(self._objects.get(node))

    @property
    def objects(self) -> list[Any]:
        """All objects that were matched and still exist."""
        return [obj for obj in map(_held, self._objects.values()) if obj is not None]

    @property
    def waiting_slots(self) -> list[str]:
        """What optimizers are to keep, but cannot yet: names for people."""
        return [self.graph.names[slot.slot] for slots in self._waiting_slots.values() for _, slot in slots]

    def restore(self, node: int, obj: Any, attached: dict[str, Any] | None = None) -> None:
        """Restores an object, and all that is reached from it. If something does not fit, nothing changes.

        Args:
            node: what belongs to it in the file.
            obj: the object.
            attached: more children of it, by name.

        Raises:
            What `restore_eagerly` raises.
        """
        with contextlib.nullcontext() if self._in_function else init_scope():
            match = _Match(self)
            try:
                match.walk(node, obj, attached or {})
                self._give_values(match.restored)
            except BaseException:
                self.leftovers.is_expected = True  # the error says more
                raise
            self._in_function = False  # what comes later is restored when it comes
            match.commit()

    def _give_values(self, restored):
        if context.graph is None:
            restore_eagerly(self.reader, restored)
            return
        check(self.reader, restored)
        for item in restored:
            key = (id(item.obj), *(value.key for value in item.restorer.wanted))
            if key not in self._known_operations:
                self._known_operations[key] = (item.obj, restore_in_graph(self._prefix, self.reader, item))
            self.restore_operations += self._known_operations[key][1]

    def bind(self, node: int, obj: Any) -> None:
        self.matched.add(node)
        self._objects[node] = _weak(obj)

    @property
    def nodes_with_slots(self) -> KeysView[int]:
        """The variables for which optimizers are to keep something, but do not yet."""
        return self._waiting_slots.keys()

    def slots_of(self, node: int) -> list[tuple[int, Slot]]:
        """What optimizers are to keep for the variable of a node, as (optimizer, slot)."""
        return self._waiting_slots[node]

    def set_slots(self, node: int, slots: list[tuple[int, Slot]]) -> None:
        """Says what is still to come for the variable of a node."""
        if slots:
            self._waiting_slots[node] = slots
        else:
            self._waiting_slots.pop(node, None)


class Position:
    """A node of a file for which an object is waited for."""

    def __init__(self, restoration: Restoration, node: int) -> None:
        self.restoration = restoration
        self.node = node

    @property
    def number(self) -> int:
        return self.restoration.number

    @property
    def name(self) -> str:
        """What the node is called, for people."""
        return self.restoration.graph.names[self.node]

    @property
    def checkpoint_key(self) -> str | None:
        """The key of the value, for a node that is a variable."""
        keys = dict(self.restoration.graph.nodes[self.node].attributes)
        return keys.get(VARIABLE_VALUE)

    def restore(self, trackable: Any) -> None:
        """Restores the object that was waited for."""
        self.restoration.restore(self.node, trackable)

    def value(self) -> EagerTensor:
        """The value of a variable, for one that is made with it."""
        reader, key = self.restoration.reader, self.checkpoint_key
        return EagerTensor(reader.read(key), reader.entries[key].dtype)

    def replaces(self, other: Any) -> bool:
        """Whether all that another position would restore is restored by this one, which is later."""
        return (
            isinstance(other, Position)
            and other.node == self.node
            and other.number < self.number
            and other.restoration.graph.text == self.restoration.graph.text
        )


class _Match:
    """Objects for nodes, found by walking through both from one object on; nothing has changed yet."""

    def __init__(self, restoration):
        self._restoration = restoration
        self._graph = restoration.graph
        self._found: dict[int, Any] = {}
        self._deferred: list[tuple[Any, str, int]] = []
        self._unused: dict[int, list[str]] = {}
        self._queue: deque[tuple[int, Any, dict]] = deque()
        self.restored: list[Restored] = []

    def walk(self, node, obj, attached):
        self._bind(node, obj, attached)
        while self._queue:
            while self._queue:
                node, obj, attached = self._queue.popleft()
                self._add_values(node, obj)
                self._match_children(node, obj, attached)
            self._bind_slots()

    def _object_of(self, node):
        obj = self._found.get(node)
        return self._restoration.object_of(node) if obj is None else obj

    def _bind(self, node, obj, attached=()):
        current = self._object_of(node)
        if current is None:
            self._found[node] = obj
            self._queue.append((node, obj, attached))
        elif current is not obj:
            _logger.warning(
                "Inconsistent references when loading the checkpoint into this object graph. For example, in the saved "
                "checkpoint object, `model.layer.weight` and `model.layer_copy.weight` reference the same variable, "
                "while in the current object these are two different variables. The referenced variables are:"
                "(%s and %s). Both would be %s.", current, obj, self._graph.names[node],
            )  # fmt: skip

    def _add_values(self, node, obj):
        number = self._restoration.number
        if last_restore(obj) >= number:
            return  # a later restore was there first
        attributes = self._graph.nodes[node].attributes
        if not attributes:
            return
        restorer = restorer_of(obj, attributes)
        unused = [name for name, _ in attributes] if restorer is None else restorer.unused
        if unused:
            self._unused[node] = unused
        if restorer is not None and restorer.wanted:
            self.restored.append(Restored(obj, self._graph.names[node], restorer))

    def _match_children(self, node, obj, attached):
        if not isinstance(obj, Trackable):
            return
        children = children_in_file(self._graph, node, obj)
        if not children:
            return
        own = {**obj._trackable_children(SaveType.CHECKPOINT), **dict(attached)}
        for name, child in children:
            local = own.get(name)
            if local is None:
                local = obj._lookup_dependency(name)
            local = wrap(local)
            if isinstance(local, Trackable):
                self._bind(child, local)
            else:
                self._deferred.append((obj, name, child))

    def _bind_slots(self):
        """Match variables that optimizers keep already."""
        for node in self._nodes_with_slots():
            variable = self._object_of(node)
            if variable is None:
                continue
            for number, slot in self._restoration.slots_of(node):
                optimizer = self._object_of(number)
                if optimizer is not None and self._object_of(slot.slot) is None:
                    existing = slot_of(optimizer, variable, slot.name)
                    if existing is not None:
                        self._bind(slot.slot, existing)

    def _nodes_with_slots(self):
        """Nodes for which something can have changed about slots: new variables, or all if there is a new optimizer."""
        waiting = self._restoration.nodes_with_slots
        if any(self._graph.nodes[node].slots for node in self._found):
            return list(waiting)
        return [node for node in self._found if node in waiting]

    def commit(self):
        """Takes down what was found, lets names wait, and asks optimizers for what they do not have yet."""
        restoration = self._restoration
        for node, obj in self._found.items():
            restoration.bind(node, obj)
            if last_restore(obj) < restoration.number:
                set_last_restore(obj, restoration.number)
        restoration.unused.update(self._unused)
        for obj, name, node in self._deferred:
            self._defer(obj, name, Position(restoration, node))
        self._make_slots()

    def _defer(self, obj, name, position):
        """Let a name wait. What an earlier restore of the same objects left there will not be needed."""
        waiting = obj._deferred_dependencies.get(name, [])
        replaced = [other for other in waiting if position.replaces(other)]
        for other in replaced:
            waiting.remove(other)
            other.restoration.leftovers.is_expected = True  # those of this restoration are the same
        obj._defer_restoration(name, position)

    def _make_slots(self):
        restoration = self._restoration
        for node in self._nodes_with_slots():
            variable = restoration.object_of(node)
            if variable is None:
                continue
            waiting = []
            for number, slot in restoration.slots_of(node):
                optimizer = restoration.object_of(number)
                if optimizer is None:
                    waiting.append((number, slot))
                elif restoration.object_of(slot.slot) is None and hasattr(optimizer, _MAKE_SLOT):
                    position = Position(restoration, slot.slot)
                    getattr(optimizer, _MAKE_SLOT)(
                        slot_variable_position=position, slot_name=slot.name, variable=variable
                    )
            restoration.set_slots(node, waiting)


_MAKE_SLOT = "_create_or_restore_slot_variable"


def _weak(obj):
    """A reference that does not keep an object alive; tuples cannot be referred to so."""
    try:
        return weakref.ref(obj)
    except TypeError:
        return obj


def _held(reference):
    return reference() if isinstance(reference, weakref.ref) else reference


class _Leftovers:
    """Tells, when a restoration is given up, which values of its file nobody took."""

    def __init__(self, restoration):
        self._graph = restoration.graph
        self._matched = restoration.matched
        self._unused = restoration.unused
        self.is_expected = False

    def __del__(self):
        if self.is_expected:
            return
        names = self._graph.names
        values = [
            names[number]
            for number, node in enumerate(self._graph.nodes)
            if node.attributes and number not in self._matched
        ]
        if not values and not self._unused:
            return
        _logger.warning(
            "Detecting that an object or model or tf.train.Checkpoint is being deleted with unrestored values. See the "
            "following logs for the specific values in question. To silence these warnings, use "
            "`status.expect_partial()`. See https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint#restore"
            "for details about the status object returned by the restore function."
        )
        for name in values:
            _logger.warning("Value in checkpoint could not be found in the restored object: %s", name)
        for number, unused in self._unused.items():
            _logger.warning(
                "An attribute in the restored object could not be found in the checkpoint. Object: %s, attribute: %s",
                names[number], unused,
            )  # fmt: skip
