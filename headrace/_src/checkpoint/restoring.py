"""One restore: which objects belong to which values of a file, and what waits for objects that do not exist yet."""

from __future__ import annotations

import contextlib
import itertools
import logging
import weakref
from collections.abc import KeysView
from typing import Any

from headrace._src.checkpoint.file_graph import FileGraph
from headrace._src.checkpoint.object_matching import Match
from headrace._src.checkpoint.object_values import VARIABLE_VALUE
from headrace._src.checkpoint.object_walk import Slot
from headrace._src.checkpoint.restored_values import check, restore_eagerly, restore_in_graph
from headrace._src.core.context import context
from headrace._src.core.garbage import collection_paused
from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.variable_creation import init_scope

_logger = logging.getLogger("tensorflow")
restore_numbers = itertools.count()  # a later restore has a higher one


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
        with contextlib.nullcontext() if self._in_function else init_scope(), collection_paused():
            match = Match(self)
            try:
                match.walk(node, obj, attached or {})
                self._give_values(match.restored, match.name_of)
            except BaseException:
                self.leftovers.is_expected = True  # the error says more
                raise
            self._in_function = False  # what comes later is restored when it comes
            match.commit()

    def _give_values(self, restored, name_of):
        if context.graph is None:
            restore_eagerly(self.reader, restored, name_of)
            return
        check(self.reader, restored, name_of)
        for item in restored:
            key = (id(item.obj), *(value.key for value in item.restorer.wanted))
            if key not in self._known_operations:
                self._known_operations[key] = (item.obj, restore_in_graph(self._prefix, self.reader, item))
            self.restore_operations += self._known_operations[key][1]

    def position(self, node: int) -> Position:
        """What waits for the object of a node."""
        return Position(self, node)

    def bind(self, node: int, obj: Any) -> None:
        """Says which object belongs to a node."""
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
