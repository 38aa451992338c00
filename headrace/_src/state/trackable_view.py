"""`tf.train.TrackableView`: the objects that are reached from one, as a checkpoint would find them."""

from typing import Any

from headrace._src.core.trackable import SaveType, Trackable
from headrace._src.op.api import api


@api("train.TrackableView", dispatch=False)
class TrackableView:
    """An object and all that it holds, directly or through others.

    Args:
        root: the object to begin with.

    >>> module = tf.Module()
    >>> module.w = tf.Variable(1.0)
    >>> list(tf.train.TrackableView(module).children(module))
    ['w']
    """

    def __init__(self, root) -> None:
        self._root = root

    @classmethod
    def children(cls, obj, save_type=SaveType.CHECKPOINT, **kwargs) -> Any:
        """What an object holds directly, by name."""
        if not isinstance(obj, Trackable):
            return {}
        return dict(obj._trackable_children(save_type, **kwargs))

    @property
    def root(self) -> Any:
        return self._root

    def descendants(self) -> list[Any]:
        """All objects, the nearest first; each once."""
        objects, seen, at = [self._root], {id(self._root)}, 0
        while at < len(objects):
            for child in self.children(objects[at]).values():
                if id(child) not in seen:
                    seen.add(id(child))
                    objects.append(child)
            at += 1
        return objects
