"""Looking at objects that can be saved, and at those in a checkpoint: `tf.train.TrackableView`, `CheckpointView`."""

import logging
import weakref
from collections import deque
from typing import Any

from headrace._src.checkpoint.object_values import OBJECT_GRAPH_KEY
from headrace._src.checkpoint.object_walk import described, trackable_children
from headrace._src.checkpoint.reading import CheckpointReader
from headrace._src.core import errors
from headrace._src.core.lazy import protobuf_message
from headrace._src.core.trackable import SaveType, Trackable
from headrace._src.formats.checkpoint_messages import TrackableObjectGraph
from headrace._src.op.api import api

_logger = logging.getLogger("tensorflow")


@api("train.TrackableView")
class TrackableView:
    """An object and all that is reached from it, as a checkpoint would have it.

    Args:
        root: the object, or a weak reference to it. It is not kept alive.

    >>> root = tf.Module()
    >>> root.a, root.b = tf.Variable(1.0), [tf.Variable(2.0)]
    >>> view = tf.train.TrackableView(root)
    >>> list(view.children(root))
    ['a', 'b']
    >>> len(view.descendants())
    4
    """

    def __init__(self, root):
        self._root = root if isinstance(root, weakref.ref) else weakref.ref(root)

    @classmethod
    def children(cls, obj: Any, save_type: str = SaveType.CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        """The objects that are attributes of `obj`, or elements if it is a list or dict, by name.

        Args:
            obj: an object.
            save_type: "checkpoint", or "savedmodel" for functions too.
            **kwargs: `cache`, which is handed to the object.
        """
        return trackable_children(obj, save_type, **kwargs)

    @property
    def root(self) -> Any:
        """The object.

        Raises:
            ReferenceError: it is gone.
        """
        root = self._root()
        if root is None:
            raise ReferenceError("The object of this TrackableView is gone. Keep a reference to it.")
        return root

    def descendants(self) -> list[Any]:
        """The object and all that is reached from it, breadth first."""
        found = {id(self.root): self.root}
        waiting = deque(found.values())
        while waiting:
            for child in self.children(waiting.popleft()).values():
                if id(child) not in found:
                    found[id(child)] = child
                    waiting.append(child)
        return list(found.values())


@api("train.CheckpointView")
class CheckpointView:
    """The objects of a checkpoint, by number; number 0 is the root.

    Args:
        save_path: the checkpoint.

    Raises:
        ValueError: it has no objects, since it was written by a `tf.compat.v1.train.Saver`.
        NotFoundError: there is no such checkpoint.
        DataLossError: the file is damaged.

    >>> import os, tempfile
    >>> root = tf.Module()
    >>> root.a, root.b = tf.Variable(1.0), tf.Variable(2.0)
    >>> path = tf.train.Checkpoint(root).save(os.path.join(tempfile.mkdtemp(), "c"))
    >>> view = tf.train.CheckpointView(path)
    >>> view.children(0)
    {'a': 1, 'b': 2, 'root': 0, 'save_counter': 3}
    >>> other = tf.Module()
    >>> other.b = tf.Variable(0.0)
    >>> sorted(view.match(other))
    [0, 2]
    """

    def __init__(self, save_path):
        reader = CheckpointReader(save_path)
        try:
            data = reader.get_tensor(OBJECT_GRAPH_KEY)
        except errors.NotFoundError as error:
            raise ValueError(
                f'The specified checkpoint "{save_path}" does not appear to be object-based (saved with TF2) since it '
                f'is missing the key "{OBJECT_GRAPH_KEY}". Likely it was created with the TF1 name-based saver and '
                "does not contain an object dependency graph."
            ) from error
        try:
            self._nodes = TrackableObjectGraph.FromString(data).nodes
        except protobuf_message.DecodeError as error:
            raise errors.data_loss(f"{save_path}: key {OBJECT_GRAPH_KEY} is no list of objects: {error}.") from None
        self._check(save_path)

    def _check(self, save_path):
        for number, node in enumerate(self._nodes):
            for child in node.children:
                if not 0 <= child.node_id < len(self._nodes):
                    raise errors.data_loss(
                        f"{save_path}: key {OBJECT_GRAPH_KEY}: the child {child.local_name!r} of object {number} is "
                        f"said to be object {child.node_id}, but there are {len(self._nodes)}."
                    )
        if not self._nodes:
            raise errors.data_loss(f"{save_path}: key {OBJECT_GRAPH_KEY} lists no objects.")

    def children(self, node_id: int) -> dict[str, int]:
        """The children of an object: names to numbers."""
        return {child.local_name: child.node_id for child in self._nodes[node_id].children}

    def descendants(self) -> list[int]:
        """The numbers of all objects that are reached from the root, breadth first."""
        return list(self._descendants_with_paths())

    def _descendants_with_paths(self):
        """Numbers of objects to the names that lead to them, `root.a.b`."""
        names: dict[int, tuple[str, ...]] = {0: ()}
        waiting = deque([0])
        while waiting:
            number = waiting.popleft()
            for name, child in self.children(number).items():
                if child not in names:
                    names[child] = (*names[number], name)
                    waiting.append(child)
        return {number: described(path) for number, path in names.items()}

    def match(self, obj: Any) -> dict[int, Any]:
        """The objects that are under the same names here and below `obj`.

        Args:
            obj: what is compared with the root of the checkpoint.

        Returns:
            Numbers of objects to these objects. The root is always among them.

        Raises:
            ValueError: `obj` cannot be saved.
        """
        if not isinstance(obj, Trackable):
            raise ValueError(f"Expected a Trackable, got {obj} of type {type(obj)}.")
        found: dict[int, Any] = {0: obj}
        waiting = deque([0])
        while waiting:
            number = waiting.popleft()
            children = trackable_children(found[number])
            for name, child in self.children(number).items():
                if name not in children:
                    continue
                if child not in found:
                    found[child] = children[name]
                    waiting.append(child)
                elif child and found[child] is not children[name]:
                    _logger.warning(
                        "Inconsistent references when matching the checkpoint into this object graph. The referenced "
                        "objects are: (%s and %s).",
                        found[child],
                        children[name],
                    )
        return found

    def diff(self, obj: Any) -> tuple[dict[int, Any], list[int], list[Any]]:
        """What a checkpoint and an object have in common, and what only one of them has.

        Args:
            obj: what is compared with the root of the checkpoint.

        Returns:
            What `match` gives; the numbers of objects that only the checkpoint has; the objects that it does not have.
        """
        both = self.match(obj)
        known = {id(one) for one in both.values()}
        only_here = [number for number in self.descendants() if number not in both]
        only_there = [one for one in TrackableView(obj).descendants() if id(one) not in known]
        return both, only_here, only_there
