"""Restoring 1.x checkpoints, which have no description of objects: values belong to variables by their names."""

from __future__ import annotations

from typing import Any

from headrace._src.checkpoint.object_matching import last_restore, set_last_restore
from headrace._src.checkpoint.object_values import VARIABLE_VALUE, full_name, has_values, restorer_of
from headrace._src.checkpoint.restored_values import Restored, check, restore_eagerly, restore_in_graph
from headrace._src.checkpoint.restoring import restore_numbers
from headrace._src.core import errors
from headrace._src.core.context import context
from headrace._src.core.trackable import Trackable
from headrace._src.graph.building.variable_creation import init_scope
from headrace._src.op.convert import to_tensor


class NameBasedRestore:
    """A 1.x checkpoint that is being restored into objects, and into those that are added to them later.

    Args:
        reader: of the checkpoint.

    Attributes:
        number: that of this restore.
    """

    def __init__(self, reader: Any) -> None:
        self.reader = reader
        self.number = next(restore_numbers)
        self._unused: dict[int, tuple[Any, list[str]]] = {}

    def unused_of(self, obj: Any) -> list[str]:
        """What an object has that the checkpoint does not."""
        return self._unused.get(id(obj), (None, []))[1]

    def restore(self, objects: list[Any]) -> None:
        """Restores objects now; those that are added to them later follow."""
        with init_scope():
            restored, names = self._restored(objects)
            restore_eagerly(self.reader, restored, names.__getitem__)
        self._take_down(objects)
        for obj in objects:
            if isinstance(obj, Trackable):
                obj.__dict__.setdefault("_self_name_based_restores", []).append(self._restore_later)

    def _restore_later(self, obj):
        if context.graph is None or context.graph.building_function:
            self.restore([obj])

    def run(self, objects: list[Any], session: Any) -> None:
        """Restores objects of a 1.x graph in a session.

        Raises:
            NotFoundError: the checkpoint does not have all of them.
        """
        operations: list[Any] = []
        restored, names = self._restored(objects)
        missing = [name for obj in objects for name in self.unused_of(obj)]
        if missing:
            raise errors.not_found(f"Key {missing[0]} not found in checkpoint {self.reader.prefix}.")
        check(self.reader, restored, names.__getitem__)
        for item in restored:
            operations += restore_in_graph(to_tensor(self.reader.prefix), self.reader, item)
        if operations:
            session.run(operations)
        self._take_down(objects)

    def _take_down(self, objects):
        for obj in objects:
            if isinstance(obj, Trackable) and not self.unused_of(obj) and last_restore(obj) < self.number:
                set_last_restore(obj, self.number)

    def _restored(self, objects) -> tuple[list[Restored], list[str]]:
        restored: list[Restored] = []
        names: list[str] = []
        for obj in objects:
            if last_restore(obj) >= self.number or not has_values(obj):
                continue
            name = full_name(obj)
            if not name or name not in self.reader:
                self._unused[id(obj)] = (obj, [name or VARIABLE_VALUE])
                continue
            restorer = restorer_of(obj, [(VARIABLE_VALUE, name)])
            if restorer is not None and restorer.wanted:
                restored.append(Restored(obj, len(names), restorer))
                names.append(name)
        return restored, names
