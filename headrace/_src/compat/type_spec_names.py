"""The names by which specs are written down, in configurations of Keras for instance, and found again."""

from headrace._src.core.type_specs import TypeSpec
from headrace._src.op.loading import load
from headrace._src.ops.extension_types.extension_type import ExtensionTypeSpec

_PLACES = {
    "tf.BoundedTensorSpec": "core.specs:BoundedTensorSpec",
    "tf.NoneTensorSpec": "core.specs:NoneTensorSpec",
    "tf.RaggedTensorSpec": "ops.ragged.spec:RaggedTensorSpec",
    "tf.RowPartitionSpec": "ops.ragged.row_partition_spec:RowPartitionSpec",
    "tf.SparseTensorSpec": "ops.sparse.tensor:SparseTensorSpec",
    "tf.TensorArraySpec": "state.tensor_array:TensorArraySpec",
    "tf.TensorSpec": "core.specs:TensorSpec",
}


def _at(place):
    module, _, name = place.partition(":")
    return getattr(load(module), name)


def get_name(cls) -> str:
    """The name of a class of specs.

    Raises:
        TypeError: it is no class of specs.
        ValueError: it has no name.
    """
    if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
        raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
    for name, place in _PLACES.items():
        if _at(place) is cls:
            return name
    name = _extension_names().get(cls)
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
    if name in _PLACES:
        return _at(_PLACES[name])
    for cls, known in _extension_names().items():
        if known == name:
            return cls
    raise ValueError(f"No TypeSpec has been registered with name {name!r}")


def _extension_names():
    """The names of extension types that were given one: the class's own `__name__`, written in its body."""
    names, found = {}, [ExtensionTypeSpec]
    while found:
        for cls in found.pop().__subclasses__():
            found.append(cls)
            owner = vars(cls).get("_owner")
            given = vars(owner).get("__name__") if owner is not None else None
            if given is not None:
                names[cls] = given + ".Spec"
    return names
