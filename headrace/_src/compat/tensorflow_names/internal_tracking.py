"""`tf.__internal__.tracking` and `.train`: what Keras 2 uses of how objects are saved and trained."""

import collections
import functools
from collections.abc import Callable
from typing import Any

from headrace._src.checkpoint.folder_state import update_checkpoint_state
from headrace._src.checkpoint.object_walk import trackable_children
from headrace._src.compat.saving.saver_values import SaveableObject, SaveSpec
from headrace._src.core.trackable import Trackable
from headrace._src.core.tracked_containers import TrackedContainer
from headrace._src.op.api import api, export
from headrace._src.op.convert import to_tensor

export("__internal__.tracking.TrackableDataStructure")(TrackedContainer)
export("__internal__.train.update_checkpoint_state")(update_checkpoint_state)


@api("__internal__.tracking.CheckpointInitialValue", dispatch=False)
class CheckpointInitialValue:
    """The first value of a variable that is in a checkpoint.

    Args:
        checkpoint_position: where it is; gives the value by `value_tensors`.
        shape: the shape that the variable is to have.
        shard_info: which part of it, for variables in parts.
    """

    def __init__(self, checkpoint_position, shape=None, shard_info=None):
        self.checkpoint_position = checkpoint_position
        self.wrapped_value = checkpoint_position.value_tensors()["VARIABLE_VALUE"]
        if shape is not None:
            self.wrapped_value.set_shape(shape)


@api("__internal__.tracking.CheckpointInitialValueCallable", dispatch=False)
class CheckpointInitialValueCallable:
    """The same as a function without arguments, as `tf.Variable` takes it."""

    def __init__(self, checkpoint_position):
        self._checkpoint_position = checkpoint_position

    @property
    def checkpoint_position(self) -> Any:
        """Where the value is."""
        return self._checkpoint_position

    def __call__(self, shape=None, dtype=None, shard_info=None) -> CheckpointInitialValue:
        return CheckpointInitialValue(self._checkpoint_position, shape, shard_info)


@api("__internal__.tracking.DelegatingTrackableMixin", dispatch=False)
class DelegatingTrackableMixin:
    """A trackable object that is saved and restored as another one, which it wraps."""

    def __init__(self, trackable_obj):
        self._trackable = trackable_obj

    def __getattr__(self, name):
        # Only what has to do with saving: other attributes are the subclass's own.
        if name in _DELEGATED:
            return getattr(self.__dict__["_trackable"], name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _trackable_children(self, *args, **kwargs):
        return self._trackable._trackable_children(*args, **kwargs)

    def _lookup_dependency(self, name, *args, **kwargs):
        return self._trackable._lookup_dependency(name, *args, **kwargs)

    def _handle_deferred_dependencies(self, name, trackable):
        return self._trackable._handle_deferred_dependencies(name, trackable)

    def _track_trackable(self, trackable, name, overwrite=False):
        return self._trackable._track_trackable(trackable, name, overwrite)


_DELEGATED = frozenset({
    "_setattr_tracking", "_update_uid", "_unconditional_checkpoint_dependencies", "_unconditional_dependency_names",
    "_deferred_dependencies", "_serialize_to_tensors", "_restore_from_tensors", "_gather_saveables_for_checkpoint",
    "_checkpoint_dependencies", "_object_identifier", "_tracking_metadata", "_no_dependency", "_name_based_restores",
    "_preload_simple_restoration", "_self_setattr_tracking", "_self_unconditional_checkpoint_dependencies",
    "_self_unconditional_dependency_names", "_self_unconditional_deferred_dependencies", "_self_update_uid",
    "_self_name_based_restores", "_self_saveable_object_factories", "_add_trackable_child", "_copy_trackable_to_cpu",
})  # fmt: skip


@api("__internal__.tracking.ObjectGraphView", dispatch=False)
class ObjectGraphView:
    """An object and all that is reached from it."""

    def __init__(self, root, attached_dependencies=None):
        self.root = root
        self.attached_dependencies = attached_dependencies or []

    def list_children(self, obj, **kwargs) -> list[tuple[str, Any]]:
        """The objects that `obj` has, with their names."""
        children = list(trackable_children(obj, **kwargs).items())
        return [*children, *self.attached_dependencies] if obj is self.root else children

    def breadth_first_traversal(self) -> tuple[list[Any], dict[Any, list]]:
        """All objects, those close to the root first, and by the identity of each the way to it."""
        found, paths, waiting = [], {id(self.root): []}, collections.deque([self.root])
        while waiting:
            obj = waiting.popleft()
            found.append(obj)
            for name, child in self.list_children(obj):
                if id(child) not in paths:
                    paths[id(child)] = [*paths[id(obj)], name]
                    waiting.append(child)
        return found, paths


class TrackableSaveable(SaveableObject):
    """What an object saves, as the form of older versions has it: a list of tensors."""

    def __init__(self, obj, name):
        local = name + (obj._saveable_name or "")
        saved = obj._serialize_to_tensors()
        tensors = {key: parts if isinstance(parts, dict) else {"": parts} for key, parts in saved.items()}
        self._keys = [(key, part) for key, parts in tensors.items() for part in parts]
        specs = []
        for key, part in self._keys:
            tensor = tensors[key][part]
            specs.append(SaveSpec(tensor, part, local + key, self._dtype(tensor)))
        super().__init__(obj, specs, name)

    @staticmethod
    def _dtype(tensor):
        return tensor().dtype if callable(tensor) and not hasattr(tensor, "dtype") else tensor.dtype

    def restore(self, restored_tensors, restored_shapes) -> Any:
        """Let the object take over tensors, one for each of its specs."""
        found: dict[str, Any] = {}
        for (key, part), tensor in zip(self._keys, restored_tensors, strict=True):
            tensor = to_tensor(tensor)
            if part:
                found.setdefault(key, {})[part] = tensor
            else:
                found[key] = tensor
        return self.op._restore_from_tensors(found)


@api("__internal__.tracking.saveable_objects_from_trackable", dispatch=False)
def saveable_objects_from_trackable(obj, tf1_saver=False) -> dict[str, Any]:
    """What is saved of an object, by name: functions that make an object with `specs` and `restore`.

    Args:
        obj: a trackable object.
        tf1_saver: whether a saver of 1.x asks, which wants the form of older versions if there is one.

    >>> v = tf.Variable(2.0)
    >>> (make,) = tf.__internal__.tracking.saveable_objects_from_trackable(v).values()
    >>> [spec.dtype.name for spec in make(name="v").specs]
    ['float32']
    """
    if not isinstance(obj, Trackable):
        return {}
    older = obj._gather_saveables_for_checkpoint()
    if type(obj)._serialize_to_tensors is Trackable._serialize_to_tensors or (tf1_saver and older):
        return older
    if obj._saveable_name is None and list(obj._serialize_to_tensors()) == [_PYTHON_STATE]:
        return {_PYTHON_STATE: functools.partial(_saveable, obj)}
    return {_TENSORS: functools.partial(_saveable, obj)}


_TENSORS, _PYTHON_STATE = ".TENSORS", "py_state"  # TF: so they are called


def _saveable(obj, name="", call_with_mapped_captures=None):
    return TrackableSaveable(obj, name)


@api("__internal__.tracking.streaming_restore", dispatch=False)
def streaming_restore(status, session=None) -> None:
    """Nothing: what is restored is restored when its object is made."""


_providers: list[Callable[[], Any]] = []


@api("__internal__.tracking.register_session_provider", dispatch=False)
def register_session_provider(session_provider) -> None:
    """Keep a function that gives the session of graphs of TensorFlow 1."""
    _providers[:] = [session_provider]


@api("__internal__.train.is_mixed_precision_graph_rewrite_enabled", dispatch=False)
def is_mixed_precision_graph_rewrite_enabled() -> bool:
    """Never: graphs keep the types that the program gives them."""
    return False


@api("__internal__.train.set_using_mixed_precision_policy", dispatch=False)
def set_using_mixed_precision_policy(is_using) -> None:
    """Nothing depends on it."""


@api("__internal__.mixed_precision.register_loss_scale_wrapper", dispatch=False)
def register_loss_scale_wrapper(optimizer_cls, wrapper_fn, wrapper_cls=None) -> None:
    """Nothing: graphs are not rewritten to half precision, so that no optimizer needs to be wrapped for it."""


@api("__internal__.train.assign_moving_average", dispatch=False)
def assign_moving_average(variable, value, decay, zero_debias=True, name=None) -> Any:
    """Move a variable towards a value: `variable -= (1 - decay) * (variable - value)`.

    Raises:
        NotImplementedError: with `zero_debias`, which needs two more variables; those of TensorFlow 1 do.

    >>> average = tf.Variable(1.0)
    >>> float(tf.__internal__.train.assign_moving_average(average, 2.0, 0.75, zero_debias=False))
    1.25
    """
    if zero_debias:
        raise NotImplementedError(
            "assign_moving_average: zero_debias=True is not there. Use tf.train.ExponentialMovingAverage("
            "decay, zero_debias=True)."
        )
    value = to_tensor(value, variable.dtype)
    step = to_tensor(1 - decay, variable.dtype) if isinstance(decay, float) else 1 - to_tensor(decay, variable.dtype)
    return variable.assign_sub((variable - value) * step)
