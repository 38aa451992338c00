"""The classes of objects that a SavedModel becomes, where the classes of the saving program are not known."""

from __future__ import annotations

from typing import Any

from headrace._src.core import errors
from headrace._src.core.tensor import Tensor
from headrace._src.core.trackable import AutoTrackable, Trackable
from headrace._src.core.tracked_containers import ListWrapper, _DictWrapper
from headrace._src.saved_model.saving_functions import SavingFunctions, WithSavingFunctions

# What Keras calls functions that compute a model's results, in the order in which a call looks for them.
_CALLS = ("__call__", "_default_save_signature", "serve")
_COLLECTIONS = ("variables", "trainable_variables", "non_trainable_variables")


class UserObject(AutoTrackable):
    """An object with the attributes that were saved: variables, functions and other objects."""

    def __getattr__(self, name: str) -> Any:
        if name in _COLLECTIONS:
            # Modules have these as properties, which are not saved.
            return _collected(self, name)
        raise AttributeError(f"The loaded object has no attribute {name!r}. It has: {_attribute_names(self)}.")


class CallableUserObject(UserObject):
    """The same, with a function that a call of the object runs, also under the name `call`."""

    def __getattr__(self, name: str) -> Any:
        return self.__call__ if name == "call" else super().__getattr__(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        attributes = vars(self)
        if "__call__" in attributes:
            return attributes["__call__"](*args, **kwargs)
        function = next(attributes[name] for name in _CALLS if name in attributes)
        # A model of Keras 3 is saved as it predicts.
        training = kwargs.pop("training", None)
        if training:
            raise ValueError(
                "training=True: the SavedModel has only the function that predicts. Keras 3 saves no other one; "
                "to train on, load the model with keras.models.load_model from a .keras file."
            )
        return function(*args, **kwargs)


def user_object(names: set[str]) -> UserObject:
    """An object for children of these names: callable if one of them is a function to call."""
    return CallableUserObject() if not names.isdisjoint(_CALLS) else UserObject()


def _attribute_names(obj):
    return ", ".join(name for name in obj._own_children if not name.startswith("_")) or "none"


def _collected(root, which):
    """The variables below an object, each once, in the order of a walk along attributes."""
    variables, seen, waiting = [], set(), [root]
    while waiting:
        obj = waiting.pop(0)
        if id(obj) in seen or not isinstance(obj, Trackable):
            continue
        seen.add(id(obj))
        if hasattr(obj, "handle") and hasattr(obj, "assign"):
            if which == "variables" or obj.trainable == (which == "trainable_variables"):
                variables.append(obj)
            continue
        waiting += obj._trackable_children().values()
    return tuple(variables)


class SavedOptimizer(UserObject):
    """An optimizer of Keras 2: its slot variables, by variable and name."""

    def __init__(self) -> None:
        self._self_slots: dict[tuple[int, str], Any] = {}

    def add_slot(self, var: Any, slot_name: str, variable: Any) -> None:
        """Remember a slot variable."""
        self._self_slots[id(var), slot_name] = variable

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """The slot variable of that name, or None."""
        return self._self_slots.get((id(var), slot_name))


class RestoredResource(AutoTrackable):
    """A table or another resource, made and filled by functions of the SavedModel."""

    def __init__(self, device: str = "") -> None:
        self._self_handle: Tensor | None = None
        self._resource_device = device

    @property
    def resource_handle(self) -> Tensor | None:
        """The resource tensor by which functions know it."""
        return self._self_handle

    def _create(self, handle):
        self._self_handle = handle

    def _initialize_resource(self):
        initialize = vars(self).get("_initialize")
        if initialize is not None:
            if not callable(initialize):
                raise errors.data_loss(f"What fills a table or the like is a {type(initialize).__name__}, no function.")
            try:
                initialize()
            except TypeError as error:  # it takes arguments
                raise errors.data_loss(f"What fills a table or the like cannot be called: {error}") from error


class RestoredTable(WithSavingFunctions, RestoredResource):
    """A resource that saves what it holds."""

    def __init__(self, device: str, saving: SavingFunctions) -> None:
        RestoredResource.__init__(self, device)
        WithSavingFunctions.__init__(self, saving)


class SelfSavingObject(WithSavingFunctions, UserObject):
    """An object with values of its own, besides those of its variables."""


class LoadedList(ListWrapper):
    """A list that was saved: elements come one after another, as children of numbers."""

    def _add_child(self, name, value):
        number = int(name) if name.isdecimal() else None
        if number is None or number > 1 << 24:
            object.__setattr__(self, name, value)
            return
        while len(self) <= number:
            self.append(None)
        self[number] = value


class LoadedDict(_DictWrapper):
    """A dictionary that was saved."""

    def _add_child(self, name, value):
        self[name] = value


def set_child(obj: Any, name: str, value: Any) -> None:
    """Make `value` the attribute or element `name` of a loaded object."""
    if isinstance(obj, LoadedList | LoadedDict):
        obj._add_child(name, value)
    elif isinstance(obj, UserObject | RestoredResource) and name == "__call__":
        obj.__dict__["__call__"] = value
        obj._own_children[name] = value
    else:
        setattr(obj, name, value)
