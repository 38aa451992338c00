"""Which objects belong to which nodes of a file: both are walked through from one object on, by the same names."""

from __future__ import annotations

import logging
from collections import deque
from typing import Any

from headrace._src.checkpoint.file_graph import children_in_file
from headrace._src.checkpoint.object_values import restorer_of
from headrace._src.checkpoint.object_walk import slot_of
from headrace._src.checkpoint.restored_values import Restored
from headrace._src.core.trackable import SaveType, Trackable, wrap

_logger = logging.getLogger("tensorflow")
_NUMBER = "_self_update_uid"  # where an object keeps the number of the restore that it has its values from
_MAKE_SLOT = "_create_or_restore_slot_variable"


def last_restore(obj: Any) -> int:
    """The number of the restore that an object has its values from; -1 if there was none."""
    return getattr(obj, "__dict__", {}).get(_NUMBER, -1)


def set_last_restore(obj: Any, number: int) -> None:
    """Says which restore an object has its values from."""
    obj.__dict__[_NUMBER] = number


class Match:
    """Objects for nodes, found by walking through both from one object on; nothing has changed yet."""

    def __init__(self, restoration: Any) -> None:
        self._restoration = restoration
        self._graph = restoration.graph
        self._found: dict[int, Any] = {}
        self._ways: dict[int, tuple[int, str]] = {}  # by which object and name a node was reached
        self._deferred: list[tuple[Any, str, int]] = []
        self._unused: dict[int, list[str]] = {}
        self._queue: deque[tuple[int, Any, dict]] = deque()
        self.restored: list[Restored] = []

    def walk(self, node: int, obj: Any, attached: dict[str, Any]) -> None:
        """Find objects from this one on, which belongs to a node and has more children than it knows of."""
        self._bind(node, obj, attached)
        while self._queue:
            while self._queue:
                node, obj, attached = self._queue.popleft()
                self._add_values(node, obj)
                self._match_children(node, obj, attached)
            self._bind_slots()

    def name_of(self, node: int) -> str:
        """The place of an object among those that are restored, for people: in the file it may be known by another."""
        names: list[str] = []
        while node in self._ways and len(names) <= len(self._ways):
            node, name = self._ways[node]
            names.insert(0, name)
        return ".".join([self._graph.names[node], *names])

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
            self._unused[node] = list(unused)
        if restorer is not None and restorer.wanted:
            self.restored.append(Restored(obj, node, restorer))

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
                self._ways.setdefault(child, (node, name))
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

    def commit(self) -> None:
        """Takes down what was found, lets names wait, and asks optimizers for what they do not have yet."""
        restoration = self._restoration
        for node, obj in self._found.items():
            restoration.bind(node, obj)
            if last_restore(obj) < restoration.number:
                set_last_restore(obj, restoration.number)
        restoration.unused.update(self._unused)
        for obj, name, node in self._deferred:
            self._defer(obj, name, restoration.position(node))
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
                    position = restoration.position(slot.slot)
                    getattr(optimizer, _MAKE_SLOT)(
                        slot_variable_position=position, slot_name=slot.name, variable=variable
                    )
            restoration.set_slots(node, waiting)
