"""What Keras's objects hold, as parts of checkpoints: lists and dicts of layers, and variables that get a value later.

Keras keeps a list that is assigned to a layer as a list of its own, which TensorFlow's checkpoints do not see: what is
in it would not be saved. `replacements.py` says where in Keras each of these functions goes.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.core.trackable import RestoredSpec, SaveType, Trackable, wrap
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast

_LAYERS = "_layers"  # of a `Sequential`: these layers are part of its function, under TensorFlow's names


class TrackedItems(Trackable):
    """The trackable items of one of Keras's lists or dicts, by their numbers or keys."""

    def __init__(self, collection):
        self._collection = collection
        self._object_identifier = f"trackable_{'dict' if isinstance(collection, dict) else 'list'}_wrapper"

    def _trackable_children(self, save_type=SaveType.CHECKPOINT, cache=None, **kwargs):
        items = self._collection.items() if isinstance(self._collection, dict) else enumerate(self._collection)
        parts = {str(name): _part(item) for name, item in items}
        return {name: part for name, part in parts.items() if part is not None}

    def _lookup_dependency(self, name, cached_dependencies=None):
        children = self._trackable_children() if cached_dependencies is None else cached_dependencies
        return children.get(name)

    def restore_waiting(self):
        """Restore the items that have come since a checkpoint was restored."""
        children = self._trackable_children()
        for name in [name for name in self._deferred_dependencies if name in children]:
            self._handle_deferred_dependencies(name, children[name])


@functools.cache
def _collections() -> tuple[type, ...]:
    """The classes of Keras's own lists and dicts, of which releases before 3.14 have two."""
    tracking = importlib.import_module("keras.src.utils.tracking")
    names = ("TrackedList", "TrackedDict", "TrackedOrderedDict")
    return tuple(getattr(tracking, name) for name in names if hasattr(tracking, name))


def _is_collection(value) -> bool:
    return isinstance(value, _collections())


def items_of(collection: Any) -> TrackedItems:
    """What stands for one of Keras's lists or dicts in a checkpoint."""
    return collection.__dict__.setdefault("_headrace_items", TrackedItems(collection))


def _part(value) -> Any:
    """What stands for a value in a checkpoint; None if nothing does."""
    if _is_collection(value):
        return items_of(value) if _holds_parts(value, set()) else None
    value = wrap(value)
    return value if isinstance(value, Trackable) else None


def _holds_parts(value, seen) -> bool:
    """Whether there is anything to save in a list or dict, which may contain itself."""
    if not _is_collection(value):
        return isinstance(wrap(value), Trackable)
    if id(value) in seen:
        return False
    seen.add(id(value))
    return any(_holds_parts(item, seen) for item in (value.values() if isinstance(value, dict) else value))


def assign_attribute(original, trackable, name, value):
    """`layer.name = value`, where a list or dict becomes part of checkpoints too."""
    value = original(trackable, name, value)
    tracking = importlib.import_module("keras.src.utils.tracking")
    if name != _LAYERS and tracking.is_tracking_enabled() and _is_collection(value):
        trackable._track_trackable(items_of(value), name, overwrite=True)
    return value


def assign_in_optimizer(original, self, name, value):
    """`optimizer.name = value`: Keras keeps a copy of a list, and that one is what grows."""
    original(self, name, value)
    kept = self.__dict__.get(name)
    if kept is not value and _is_collection(kept):
        self._track_trackable(items_of(kept), name, overwrite=True)


def children(original, self, save_type=SaveType.CHECKPOINT, **kwargs):
    """The parts of a layer, without lists and dicts in which there is nothing to save."""
    parts = original(self, save_type, **kwargs)
    parts = {
        name: part for name, part in parts.items() if not isinstance(part, TrackedItems) or part._trackable_children()
    }
    if save_type == SaveType.SAVEDMODEL:
        # Functions may use the states of random numbers, which are no part of checkpoints.
        generators = importlib.import_module("keras").random.SeedGenerator
        for name, value in list(vars(self).items()):
            if isinstance(value, generators):
                parts.setdefault(f"{name}_state", value.state)
    return parts


def add_part(obj: Any, name: str, part: Trackable) -> None:
    """Let an object have a part that is restored, but not saved."""
    obj.__dict__.setdefault("_headrace_parts", {})[name] = part


def lookup_part(self, name, cached_dependencies=None):
    """The part called `name`, or None; also one that is only restored."""
    parts = self.__dict__.get("_headrace_parts", {})
    return parts[name] if name in parts else Trackable._lookup_dependency(self, name, cached_dependencies)


def add_items(original, self, *args, **kwargs):
    """A list or dict gets another item, which a checkpoint that was restored before may hold."""
    original(self, *args, **kwargs)
    items = self.__dict__.get("_headrace_items")
    if items is not None:
        items.restore_waiting()


class _RestoredValue:
    """What initializes a variable that was restored before it had a value."""

    def __init__(self, value):
        self._value = value

    def __call__(self, shape, dtype=None, **kwargs):
        return self._value if dtype is None else cast(self._value, dtype)


def restored_specs(self):
    """What a variable takes from a checkpoint, which it says without its value."""
    return {"VARIABLE_VALUE": RestoredSpec(dtypes.as_dtype(self._dtype), TensorShape(self._shape))}


def restore_variable(original, self, restored_tensors):
    """Restore a variable; while Keras finds out shapes, it has no value yet, and gets this one afterwards."""
    if self._value is None:
        self._initializer = _RestoredValue(to_tensor(restored_tensors["VARIABLE_VALUE"]))
        return None
    return self._value._restore_from_tensors(restored_tensors)  # not `value`, which may be cast for a layer
