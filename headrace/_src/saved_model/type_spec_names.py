"""The names by which specs are written down, in configurations of Keras or SavedModels, and found again."""

import re
from collections.abc import Callable, Iterator

from headrace._src import index
from headrace._src.core.type_specs import TypeSpec
from headrace._src.op.loading import load
from headrace._src.ops.extension_types.extension_type import ExtensionTypeSpec

_PLACES = {
    "tf.AnonymousExtensionType.Spec": "ops.extension_types.anonymous:AnonymousExtensionTypeSpec",
    "tf.BoundedTensorSpec": "core.specs:BoundedTensorSpec",
    "tf.NoneTensorSpec": "core.specs:NoneTensorSpec",
    "tf.RaggedTensorSpec": "ops.ragged.spec:RaggedTensorSpec",
    "tf.RowPartitionSpec": "ops.ragged.row_partition_spec:RowPartitionSpec",
    "tf.SparseTensorSpec": "ops.sparse.tensor:SparseTensorSpec",
    "tf.TensorArraySpec": "state.tensor_array:TensorArraySpec",
    "tf.TensorSpec": "core.specs:TensorSpec",
}
_OPERATORS = "tf.linalg."
_VALID = re.compile(r"(\w+\.)+\w+")

# Names that programs have given to their own classes.
_REGISTERED: dict[str, type] = {}
_NAMES: dict[type, str] = {}  # the other way round


def register(name: str) -> Callable[[type], type]:
    """A decorator that gives a class of specs a name, under which SavedModels refer to it.

    Raises:
        TypeError: the name is no string, or the class no class of specs.
        ValueError: the name is not of the form "project.Type", or it or the class is registered already.
    """
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if not _VALID.fullmatch(name):
        raise ValueError(f"Registered name must have the form '{{project_name}}.{{type_name}}'; got {name!r}.")

    def decorate(cls: type) -> type:
        if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
            raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
        known = _name_of(cls)
        if known is not None:
            raise ValueError(f"Class {cls.__module__}.{cls.__name__} has already been registered with name {known}.")
        if _class_of(name) is not None:
            raise ValueError(f"Name {name} has already been registered for class {_class_of(name)!r}.")
        _REGISTERED[name] = cls
        _NAMES[cls] = name
        return cls

    return decorate


def get_name(cls: type) -> str:
    """The name of a class of specs.

    Raises:
        TypeError: it is no class of specs.
        ValueError: it has no name.
    """
    if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
        raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
    name = _name_of(cls)
    if name is None:
        raise ValueError(f"TypeSpec {cls.__module__}.{cls.__qualname__} has not been registered.")
    return name


def lookup_spec(name: str) -> type:
    """The class of specs of a name.

    Raises:
        TypeError: it is no string.
        ValueError: there is none.
    """
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    cls = _class_of(name)
    if cls is None:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return cls


def _at(place):
    module, _, name = place.partition(":")
    return getattr(load(module), name)


def _class_of(name):
    if name in _PLACES:
        return _at(_PLACES[name])
    if name in _REGISTERED:
        return _REGISTERED[name]
    if name.startswith(_OPERATORS):
        place = index.MODULES["linalg"].get(name.removeprefix(_OPERATORS).removesuffix("Spec"))
        return _at(place)._spec_class if place and "LinearOperator" in place else None
    return next((cls for cls, known in _named_classes() if known == name), None)


def _name_of(cls):
    for name, place in _PLACES.items():
        if _at(place) is cls:
            return name
    if cls in _NAMES:
        return _NAMES[cls]
    return next((name for known, name in _named_classes() if known is cls), None)


def _named_classes() -> Iterator[tuple[type, str]]:
    """Classes that have a name without being registered.

    These are the specs of extension types whose body has a `__name__`, and those of linear operators.
    """
    for cls in _subclasses(ExtensionTypeSpec):
        owner = vars(cls).get("_owner")
        own = vars(owner).get("__name__") if owner is not None else None
        if own is not None:
            yield cls, own + ".Spec"
    for cls in _subclasses(_at("ops.linear_operators.specs:LinearOperatorSpec")):
        operator = cls.operator_class
        if operator is not None and operator.__module__.startswith("headrace."):
            yield cls, _OPERATORS + operator.__name__ + "Spec"


def _subclasses(base):
    waiting = [base]
    while waiting:
        for cls in waiting.pop().__subclasses__():
            waiting.append(cls)
            yield cls
