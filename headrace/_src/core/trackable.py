"""`Trackable`: objects that know their parts by name, which is what checkpoints and SavedModels are made of.

An object's children form a graph. A checkpoint stores each value under the path that leads to it, and
restores a part that does not exist yet as soon as it is added: `_handle_deferred_dependencies`.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from headrace._src.core.lazy import LazyModule


class SaveType(enum.StrEnum):
    """What children are asked for: a checkpoint wants values, a SavedModel functions too."""

    SAVEDMODEL = "savedmodel"
    CHECKPOINT = "checkpoint"


class TrackableReference(NamedTuple):
    """A child with its name."""

    name: str
    ref: Any


class RestoredSpec(NamedTuple):
    """What fits a value of an object: the dtype, and the `TensorShape` unless any will do."""

    dtype: Any
    shape: Any = None


class Trackable:
    """Base of everything that can be part of a checkpoint.

    It keeps nothing in its constructor, since subclasses (Keras's variables among them) may not call it. The
    attribute names begin with `_self_`, which is where TensorFlow keeps them and what Keras sets.
    """

    _is_saved_function = False  # whether it is a traced function, which SavedModels look for in all attributes
    _object_identifier = "_generic_user_object"  # what a SavedModel calls objects of this class
    # TF: of classes whose values were once saved as one thing: its name, which the names of the tensors follow.
    _saveable_name: str | None = None

    # Children.

    @property
    def _own_children(self) -> dict[str, Any]:
        return _attributes(self).setdefault("_self_unconditional_dependency_names", {})

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """The children as a list of (name, ref)."""
        return [TrackableReference(name, ref) for name, ref in self._own_children.items()]

    _unconditional_checkpoint_dependencies = _checkpoint_dependencies

    def _trackable_children(
        self, save_type: str = SaveType.CHECKPOINT, cache: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """The children by name. Subclasses with other sources of children override it."""
        return dict(self._own_children)

    def _lookup_dependency(self, name: str, cached_dependencies: dict[str, Any] | None = None) -> Any:
        """The child called `name`, or None."""
        children = self._own_children if cached_dependencies is None else cached_dependencies
        return children.get(name)

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Makes `trackable` a child.

        Args:
            trackable: The object.
            name: What it is called in a checkpoint.
            overwrite: Whether it may take the place of another child of that name.

        Returns:
            `trackable`.

        Raises:
            TypeError: It is no Trackable.
            ValueError: The name belongs to another child.
        """
        if not isinstance(trackable, Trackable):
            raise TypeError(
                "Trackable._track_trackable() can only be used to track objects of type Trackable. "
                f"Got type {type(trackable)}."
            )
        children = self._own_children
        current = children.get(name)
        if current is not None and current is not trackable and not overwrite:
            raise ValueError(
                f"Called Trackable._track_trackable() with name={name!r}, but a Trackable with this name is "
                "already declared as a dependency. Names must be unique (or overwrite=True)."
            )
        if current is None or overwrite or current is not trackable:
            children[name] = trackable
        self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _add_variable_with_custom_getter(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, getter: Any = None,
        overwrite: bool = False, **kwargs_for_getter: Any,
    ) -> Any:  # fmt: skip
        """Make a variable with `getter`, and make it a child. Keras 2 does so for the weights of its layers.

        Returns:
            The variable, with the value of a checkpoint that waits for it.

        Raises:
            ValueError: the name belongs to another child.
        """
        if not overwrite and self._lookup_dependency(name) is not None:
            raise ValueError(f"{type(self).__name__} has a variable called {name!r} already; names must be unique.")
        variable = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs_for_getter)
        return self._track_trackable(variable, name, overwrite) if isinstance(variable, Trackable) else variable

    def _add_trackable_child(self, name: str, value: Any) -> None:
        """Makes `value` a child, as a loader of SavedModels does."""
        self._track_trackable(value, name, overwrite=True)

    def _maybe_initialize_trackable(self) -> None:
        """Nothing: what an object needs for its children is made when it has one. Keras 2 calls it."""

    def _delete_tracking(self, name: str) -> None:
        """Forgets the child called `name`, if there is one."""
        self._own_children.pop(name, None)

    def _no_dependency(self, value: Any) -> Any:
        """`value`, which does not become a child."""
        return value

    # Restoring what does not exist yet.

    @property
    def _deferred_dependencies(self) -> dict[str, list[Any]]:
        """For names without a child: the restorations that wait for one."""
        return _attributes(self).setdefault("_self_unconditional_deferred_dependencies", {})

    def _defer_restoration(self, name: str, position: Any) -> None:
        """Keeps `position` until a child called `name` is added; then calls `position.restore(child)`."""
        self._deferred_dependencies.setdefault(name, []).append(position)

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Restores the new child `trackable` from the checkpoints that wait for that name."""
        attributes = _attributes(self)
        waiting = attributes.get("_self_unconditional_deferred_dependencies")
        if waiting:
            for position in reversed(waiting.pop(name, ())):  # the latest wins, and is the only one to be read then
                position.restore(trackable)
        for restore in attributes.get("_self_name_based_restores", ()):
            restore(trackable)

    # Values, for objects that have any. What saving and loading call is defined here so that a subclass
    # can override it and leave the rest.

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """The values to save, by local name; objects without any do not define it."""
        raise NotImplementedError(f"{type(self).__name__}._serialize_to_tensors")

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        """Takes over what `_serialize_to_tensors` gave."""
        raise NotImplementedError(f"{type(self).__name__}._restore_from_tensors")

    def _restored_specs(self) -> dict[str, RestoredSpec]:
        """What `_restore_from_tensors` takes, by local name. Variables also say their shapes."""
        return {name: RestoredSpec(_dtype_of(tensor)) for name, tensor in self._serialize_to_tensors().items()}

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """The values to save in the form of older versions, by local name."""
        return {}

    def _copy_trackable_to_cpu(self, object_map: dict) -> None:
        """Puts a copy of this object with its values on the host into `object_map`."""
        raise NotImplementedError(f"{type(self).__name__}._copy_trackable_to_cpu")

    def _export_to_saved_model_graph(
        self, object_map: Any, tensor_map: Any, options: Any, **kwargs: Any
    ) -> list:
        """Makes this object's resources anew in an exported graph; returns the tensors that it captured."""
        return []

    def _deserialization_dependencies(self, children: dict[str, Any]) -> dict[str, Any]:
        """The children that a loader must make before this object."""
        return {}


def _dtype_of(value: Any) -> Any:
    if isinstance(value, dict):  # parts of a tensor, by the texts of slices
        return _dtype_of(next(iter(value.values())))
    if not hasattr(value, "dtype") and callable(value):
        value = value()
    return value.dtype


def _attributes(obj: Any) -> dict[str, Any]:
    # Not through setattr: subclasses, Keras's layers for one, give attribute assignment another meaning.
    return obj.__dict__


class AutoTrackable(Trackable):
    """A Trackable whose attributes become its children as they are assigned.

    >>> root = tf.__internal__.tracking.AutoTrackable()
    >>> root.v = tf.Variable(1.0)
    >>> list(root._trackable_children())
    ['v']
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_self_setattr_tracking", True):
            value = sticky_attribute_assignment(self, name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._delete_tracking(name)
        super().__delattr__(name)

    def _trackable_children(
        self, save_type: str = SaveType.CHECKPOINT, cache: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        children = super()._trackable_children(save_type, cache, **kwargs)
        if save_type != SaveType.SAVEDMODEL:
            return children
        functions = _functions_of(self)
        # A function that was assigned is a child already, at its place. TF: not if the attribute is another one now;
        # Keras 2 so leaves out what trains a model.
        for name in [name for name, child in children.items() if _is_function(child)]:
            if functions.get(name) is not children[name]:
                del children[name]
        return {**children, **{name: function for name, function in functions.items() if name not in children}}

    def _no_dependency(self, value: Any) -> Any:
        return NoDependency(value)


def _functions_of(obj: Any) -> dict[str, Any]:
    """The traced functions among the attributes, decorated methods included, by name."""
    functions = {}
    for name in dir(obj):
        try:
            value = getattr(obj, name, None)
        except Exception:  # a property that has no value yet is not a function to save
            continue
        if _is_function(value):
            functions[name] = value
    return functions


def _is_function(value: Any) -> bool:
    return isinstance(value, Trackable) and value._is_saved_function


class NoDependency:
    """Wraps a value that is assigned to an attribute, but is not to become a child."""

    def __init__(self, value: Any):
        self.value = value


def sticky_attribute_assignment(trackable: Trackable, name: str, value: Any) -> Any:
    """Makes `value` a child of `trackable` if it can be one.

    Returns:
        What the attribute is to hold: `value`, or the container that tracks its elements.
    """
    if isinstance(value, NoDependency):
        return value.value
    value = wrap(value)
    # TF: a value that cannot be a child does not take the place of an earlier one of that name.
    if isinstance(value, Trackable):
        trackable._track_trackable(value, name=name, overwrite=True)
    return value


_tracked_containers = LazyModule("headrace._src.core.tracked_containers")
_CONTAINERS: dict[Any, Callable[[Any], Any]] = {}
NAMED_TUPLE = "named tuple"  # in the place of a class: every named tuple has its own


def register_container(cls: type | str, wrapper: Callable[[Any], Any]) -> None:
    """Says what takes the place of a list, dict or tuple that is assigned, to track its elements."""
    _CONTAINERS[cls] = wrapper


def wrap(value: Any) -> Any:
    """`value`, or the container that tracks its elements if one is registered for its class."""
    if not _CONTAINERS:
        _tracked_containers.track_containers()
    wrapper = _CONTAINERS.get(type(value))
    if wrapper is None and isinstance(value, tuple) and hasattr(value, "_fields") and not isinstance(value, Trackable):
        wrapper = _CONTAINERS.get(NAMED_TUPLE)
    return value if wrapper is None else wrapper(value)


_PARTS: list[tuple[type, Callable[[Any], Trackable]]] = []


def register_parts(cls: type, parts_of: Callable[[Any], Trackable]) -> None:
    """Lets checkpoints take objects of a class that is not trackable: `parts_of` gives what stands for one there."""
    _PARTS.append((cls, parts_of))


def as_trackable(value: Any) -> Any:
    """`value`, the container that tracks its elements, or what stands for it in checkpoints."""
    value = wrap(value)
    if not isinstance(value, Trackable):
        for cls, parts_of in _PARTS:
            if isinstance(value, cls):
                return parts_of(value)
    return value


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for methods: attributes of `self` that they assign do not become children."""

    @functools.wraps(method)
    def untracked(self, *args, **kwargs):
        # Keras keeps the flag under this name too, on objects that are no Trackable.
        before = getattr(self, "_self_setattr_tracking", True)
        self._self_setattr_tracking = False
        try:
            return method(self, *args, **kwargs)
        finally:
            self._self_setattr_tracking = before

    return untracked


PUBLIC = {
    "__internal__.tracking.AutoTrackable": AutoTrackable,
    "__internal__.tracking.Trackable": Trackable,
    "__internal__.tracking.TrackableReference": TrackableReference,
    "__internal__.tracking.no_automatic_dependency_tracking": no_automatic_dependency_tracking,
    "__internal__.tracking.sticky_attribute_assignment": sticky_attribute_assignment,
    "__internal__.tracking.wrap": wrap,
    # What TensorFlow called the class before its release 2.0, and books still do.
    "train.Checkpointable": AutoTrackable,
}
