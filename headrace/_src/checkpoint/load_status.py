"""What a restore returns: whether everything found its place, and, in 1.x graphs, the operations to run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from headrace._src.checkpoint.object_matching import last_restore
from headrace._src.checkpoint.object_values import has_values
from headrace._src.checkpoint.object_walk import ObjectWalk
from headrace._src.checkpoint.restoring import Restoration
from headrace._src.core.context import context
from headrace._src.core.tracked_containers import TrackedContainer

_MOST_SHOWN = 10
_NO_CHECKPOINT = "No checkpoint specified (save_path=None); nothing is being restored."
_logger = logging.getLogger("tensorflow")


class LoadStatus:
    """The base of what `tf.train.Checkpoint.restore` and `read` return."""

    def assert_consumed(self) -> LoadStatus:
        """Raises AssertionError unless everything in the checkpoint, and every object here, was matched."""
        raise NotImplementedError(type(self).__name__)

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Raises AssertionError if an object that exists here has no value in the checkpoint."""
        raise NotImplementedError(type(self).__name__)

    def assert_nontrivial_match(self) -> LoadStatus:
        """Raises AssertionError if nothing but the root was matched."""
        raise NotImplementedError(type(self).__name__)

    def run_restore_ops(self, session: Any = None) -> None:
        """In a 1.x graph, restores in a session. Otherwise that has happened."""
        raise NotImplementedError(type(self).__name__)

    def initialize_or_restore(self, session: Any = None) -> None:
        """In a 1.x graph, restores in a session, and initialises what is not in the checkpoint."""
        raise NotImplementedError(type(self).__name__)

    def expect_partial(self) -> LoadStatus:
        """Says that some values will not be used, so that no warning comes about them."""
        return self


class CheckpointLoadStatus(LoadStatus):
    """The status of a checkpoint that describes objects.

    Args:
        restoration: the restore.
        walk: gives the objects that are reached now.
        sessions: finds the session to run in.
        feeds: in 1.x graphs, what to feed to the operations.
    """

    def __init__(
        self,
        restoration: Restoration,
        walk: Callable[[], ObjectWalk],
        session_of: Callable[[Any], Any],
        feeds: dict | None = None,
    ) -> None:
        self._restoration = restoration
        self._walk = walk
        self._session_of = session_of
        self._feeds = feeds

    def assert_consumed(self) -> CheckpointLoadStatus:
        self.assert_existing_objects_matched()
        restoration, graph = self._restoration, self._restoration.graph
        slots = {slot.slot for node in graph.nodes for slot in node.slots} if restoration.skip_slots else ()
        unresolved = [
            number
            for number, node in enumerate(graph.nodes)
            if node.attributes and number not in slots and restoration.object_of(number) is None
        ]
        if unresolved:
            lines = [self._unresolved(number) for number in unresolved[:_MOST_SHOWN]]
            raise AssertionError(
                f"Unresolved object in checkpoint {lines[0]}"
                + "".join(f"\nUnresolved object in checkpoint {line}" for line in lines[1:])
                + (f"\n... and {len(unresolved) - len(lines)} more" if len(unresolved) > len(lines) else "")
            )
        if restoration.waiting_slots and not restoration.skip_slots:
            raise AssertionError(f"Unresolved slot restorations: {restoration.waiting_slots}")
        if restoration.unused:
            lines = [
                f"{graph.names[n]} ({restoration.object_of(n)}): {names}" for n, names in restoration.unused.items()
            ]
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but were not restored):\n"
                + "\n".join(lines)
            )
        return self

    def _unresolved(self, number):
        graph = self._restoration.graph
        keys = ", ".join(key for _, key in graph.nodes[number].attributes)
        note = self._restoration.notes.get(number)
        return f"{graph.names[number]}: {keys}" + (f" ({note})" if note else "")

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        restoration = self._restoration
        for node in range(len(restoration.graph.nodes)):
            obj = restoration.object_of(node)
            if obj is not None and last_restore(obj) < restoration.number:
                raise AssertionError(f"Object {restoration.graph.names[node]} not assigned a value from checkpoint.")
        unmatched = self._unmatched()
        if unmatched:
            shown = unmatched[:_MOST_SHOWN]
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed values, likely due to "
                f"changes in the Python program. Showing {len(shown)} of {len(unmatched)} unmatched objects: "
                f"[{', '.join(shown)}]"
            )
        return self

    def _unmatched(self):
        """The objects with values that the checkpoint has nothing for, each with its place."""
        matched = {id(obj) for obj in self._restoration.objects}
        walk = self._walk()
        return [
            f"{walk.described(number)}: {obj}"
            for number, obj in enumerate(walk.objects)
            if id(obj) not in matched and not _is_empty_container(obj) and has_values(obj)
        ]

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        if len(self._restoration.objects) > 1:
            return self
        unmatched = self._unmatched()
        if unmatched:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint "
                "does not match the Python program. The following objects have no matching checkpointed value: "
                f"[{', '.join(unmatched)}]"
            )
        raise AssertionError(f"Nothing to load. No dependencies have been added to {self._walk().objects[0]} yet.")

    def run_restore_ops(self, session: Any = None) -> None:
        if context.graph is not None and self._restoration.restore_operations:
            self._session_of(session).run(self._restoration.restore_operations, feed_dict=self._feeds)

    def initialize_or_restore(self, session: Any = None) -> None:
        if context.graph is None:
            return
        number, matched = self._restoration.number, {id(obj) for obj in self._restoration.objects}
        objects = [obj for obj in self._walk().objects if id(obj) not in matched]
        self.run_restore_ops(session)
        _run_initializers(self._session_of(session), objects, number)

    def expect_partial(self) -> CheckpointLoadStatus:
        self._restoration.leftovers.is_expected = True
        return self


def _is_empty_container(obj):
    return isinstance(obj, TrackedContainer) and not obj._trackable_children()


def _run_initializers(session, objects, number):
    """Initialise what no restore from `number` on gives a value to."""
    initializers = [getattr(obj, "initializer", None) for obj in objects if last_restore(obj) < number]
    initializers = [initializer for initializer in initializers if initializer is not None]
    if initializers:
        session.run(initializers)


class InitializationOnlyStatus(LoadStatus):
    """The status when there is no checkpoint: `initialize_or_restore` initialises, and everything else fails.

    Args:
        number: that of this restore.
        walk: gives the objects that are reached now.
        session_of: finds the session to run in.
    """

    def __init__(self, number: int, walk: Callable[[], ObjectWalk], session_of: Callable[[Any], Any]) -> None:
        self._number = number
        self._walk = walk
        self._session_of = session_of

    def assert_consumed(self) -> LoadStatus:
        raise AssertionError(_NO_CHECKPOINT)

    def assert_existing_objects_matched(self) -> LoadStatus:
        raise AssertionError(_NO_CHECKPOINT)

    def assert_nontrivial_match(self) -> LoadStatus:
        raise AssertionError(_NO_CHECKPOINT)

    def run_restore_ops(self, session: Any = None) -> None:
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore)."
        )

    def initialize_or_restore(self, session: Any = None) -> None:
        if context.graph is not None:
            _run_initializers(self._session_of(session), self._walk().objects, self._number)


class NameBasedSaverStatus(LoadStatus):
    """The status of a 1.x checkpoint, whose values belong to variables by their names.

    Args:
        restore: the restore.
        walk: gives the objects that are reached now.
        session_of: finds the session to run in.
    """

    def __init__(self, restore: Any, walk: Callable[[], ObjectWalk], session_of: Callable[[Any], Any]) -> None:
        self._restore = restore
        self._walk = walk
        self._session_of = session_of
        self._optional: set[int] = set()

    def add_to_optionally_restored(self, var: Any) -> None:
        """Lets a variable be missing."""
        self._optional.add(id(var))

    def assert_consumed(self) -> NameBasedSaverStatus:
        walk = self._walk()
        missing = [
            f"{walk.described(number)}: {obj}: {names}"
            for number, obj in enumerate(walk.objects)
            if id(obj) not in self._optional and (names := self._restore.unused_of(obj))
        ]
        if missing:
            raise AssertionError("Some objects had attributes which were not restored: \n    " + "\n    ".join(missing))
        for number, obj in enumerate(walk.objects):
            if id(obj) not in self._optional and has_values(obj) and last_restore(obj) < self._restore.number:
                raise AssertionError(f"Object not restored: {walk.described(number)}: {obj}")
        return self

    def assert_existing_objects_matched(self) -> NameBasedSaverStatus:
        return self.assert_consumed()

    def assert_nontrivial_match(self) -> NameBasedSaverStatus:
        return self.assert_consumed()

    def run_restore_ops(self, session: Any = None) -> None:
        if context.graph is not None:
            objects = [obj for obj in self._walk().objects if id(obj) not in self._optional]
            self._restore.run(objects, self._session_of(session))

    def initialize_or_restore(self, session: Any = None) -> None:
        self.run_restore_ops(session)
