"""What objects have to save, under which keys; and what they take back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from headrace._src.checkpoint.object_walk import ObjectWalk, value_key
from headrace._src.core import types
from headrace._src.core.trackable import RestoredSpec, Trackable
from headrace._src.state.variables import Variable

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VARIABLE_VALUE = "VARIABLE_VALUE"


class ObjectValue(NamedTuple):
    """A value of an object: under its key, a tensor.

    Attributes:
        number: of the object in the walk.
        key: in the file.
        tensor: an eager tensor, or a symbolic one while a graph is built.
        slice_spec: where the tensor is a part of a larger one, which, as the text of a slice.
    """

    number: int
    key: str
    tensor: Any
    slice_spec: str = ""


class SavedAttribute(NamedTuple):
    """What the message about objects says of the values of one, and these values as (key, tensor, slice)."""

    name: str
    key: str
    values: list[tuple[str, Any, str]]


class GatheredValues(NamedTuple):
    """All values that are reached from an object.

    Attributes:
        values: the values.
        message: the `TrackableObjectGraph` that describes them.
        empty: numbers of variables that have no value yet: they are left out, as nothing could be restored.
    """

    values: list[ObjectValue]
    message: Any
    empty: list[int]


def gather_values(
    walk: ObjectWalk,
    substitutes: dict[int, Any] | None = None,
    values_of: Callable[[Any, str], list[SavedAttribute]] | None = None,
) -> GatheredValues:
    """What a walk has found to save: eager tensors, or symbolic ones while a graph is built.

    Args:
        walk: the objects.
        substitutes: objects whose values are saved in the place of others, by the number of these.
        values_of: gives the values of an object at a path, in the place of `attributes_of`.
    """
    values_of = values_of or attributes_of
    graph = walk.message()
    values: list[ObjectValue] = []
    empty: list[int] = []
    owners = set(walk.slots)
    for number, obj in enumerate(walk.objects):
        if substitutes is not None:
            obj = substitutes.get(number, obj)
        attributes = values_of(obj, walk.paths[number])
        if not all(map(_has_tensors, attributes)):
            empty.append(number)
            continue
        if not attributes:
            continue
        owners.add(number)
        node, name = graph.nodes[number], full_name(obj)
        for attribute in attributes:
            node.attributes.add(name=attribute.name, full_name=name, checkpoint_key=attribute.key)
            values += [ObjectValue(number, *value) for value in attribute.values]
    _mark_owners(graph, walk, owners)
    return GatheredValues(values, graph, empty)


def _has_tensors(attribute):
    return all(tensor is not None for _, tensor, _ in attribute.values)


def _mark_owners(graph, walk, owners):
    """Say of each object whether it, or one that is reached from it, has values."""
    parents: dict[int, list[int]] = {}
    for number, pairs in enumerate(walk.children):
        for _, child in pairs:
            parents.setdefault(child, []).append(number)
    waiting = list(owners)
    while waiting:
        for parent in parents.pop(waiting.pop(), ()):
            if parent not in owners:
                owners.add(parent)
                waiting.append(parent)
    for number, node in enumerate(graph.nodes):
        node.has_checkpoint_values.value = number in owners


def full_name(obj: Any) -> str:
    """The name by which 1.x checkpoints know a variable; empty for other objects."""
    if not hasattr(type(obj), "handle") or not hasattr(type(obj), "assign"):
        return ""
    info = getattr(obj, "_save_slice_info", None)
    return obj._shared_name if info is None else info.full_name


def attributes_of(obj: Any, path: str) -> list[SavedAttribute]:
    """The values of one object, at a path. There are none for most objects that only hold others."""
    if not isinstance(obj, Trackable):
        return []
    if type(obj)._serialize_to_tensors is not Trackable._serialize_to_tensors:
        return _from_tensors(obj._serialize_to_tensors(), path, obj._saveable_name)
    return [_from_saveables(name, item, path) for name, item in obj._gather_saveables_for_checkpoint().items()]


def _from_tensors(tensors, path, saveable_name):
    if saveable_name is not None:
        key = value_key(path, saveable_name)
        values = [value for name, tensor in tensors.items() for value in _parts(key + name, tensor)]
        return [SavedAttribute(saveable_name, key, values)]
    attributes = []
    for name, tensor in tensors.items():
        key = value_key(path, name)
        attributes.append(SavedAttribute(name, key, _parts(key, tensor)))
    return attributes


def _parts(key, tensor):
    if isinstance(tensor, dict):
        return [(key, _called(part), spec) for spec, part in tensor.items()]
    if _is_spec(tensor):
        return [(key, _called(tensor.tensor), tensor.slice_spec)]
    return [(key, _called(tensor), "")]


def _called(tensor):
    return tensor() if callable(tensor) and not isinstance(tensor, types.Tensor) else tensor


def _is_spec(value):
    return hasattr(value, "slice_spec") and hasattr(value, "tensor")


def _from_saveables(name, item, path):
    key = value_key(path, name)
    if isinstance(item, types.Tensor):
        return SavedAttribute(name, key, [(key, item, "")])
    values = []
    for saveable in saveables_from(item, key):
        values += [(spec.name, _called(spec.tensor), spec.slice_spec or "") for spec in saveable.specs]
    return SavedAttribute(name, key, values)


def saveables_from(factory: Callable[..., Any], key: str) -> Iterable[Any]:
    """The objects in the form of older versions that a factory makes for a key: each has `specs` and `restore`."""
    made = factory(name=key) if callable(factory) else factory
    return made if isinstance(made, (list, tuple)) else [made]


# What objects take back.


class WantedValue(NamedTuple):
    """A value that an object wants to have: its name there, its key in the file, and what fits."""

    name: str
    key: str
    spec: RestoredSpec


class Restorer(NamedTuple):
    """How an object takes values back.

    Attributes:
        wanted: what is to be read.
        take: called with tensors in the order of `wanted`; returns operations while a graph is built.
        unused: names of values in the file that the object does not know.
    """

    wanted: list[WantedValue]
    take: Callable[[list[Any]], Any]
    unused: Sequence[str]


_NOTHING = ()


def restorer_of(obj: Any, attributes: Sequence[tuple[str, str]]) -> Restorer | None:
    """How an object takes back what a file has for it; None for an object that has no values.

    Args:
        obj: the object.
        attributes: pairs of a name and a key, as the file lists them.
    """
    if isinstance(obj, Variable) and len(attributes) == 1 and attributes[0][0] == VARIABLE_VALUE:
        spec = obj._restored_specs()[VARIABLE_VALUE]
        return Restorer([WantedValue(VARIABLE_VALUE, attributes[0][1], spec)], obj._restore_from_list, _NOTHING)
    if not isinstance(obj, Trackable):
        return None
    if type(obj)._serialize_to_tensors is not Trackable._serialize_to_tensors:
        return _from_attributes(obj, attributes)
    factories = obj._gather_saveables_for_checkpoint()
    return _from_factories(obj, factories, attributes) if factories else None


def _from_attributes(obj, attributes):
    specs = obj._restored_specs()
    name = obj._saveable_name
    if name is not None:
        # Newer files may list each tensor of such an object.
        key = next((key for other, key in attributes if other == name), None)
        if key is None:
            key = next((key[: len(key) - len(other) + len(name)] for other, key in attributes
                        if other.startswith(name)), None)  # fmt: skip
        if key is None:
            return Restorer([], lambda tensors: None, [other for other, _ in attributes])
        wanted = [WantedValue(local, key + local, spec) for local, spec in specs.items()]
        unused = [other for other, _ in attributes if not other.startswith(name)]
    else:
        keys = dict(attributes)
        wanted = [WantedValue(local, keys.get(local, ""), spec) for local, spec in specs.items()]
        unused = [other for other, _ in attributes if other not in specs]
        if not any(value.key for value in wanted):
            return Restorer([], lambda tensors: None, unused)

    def take(tensors):
        return obj._restore_from_tensors({value.name: tensor for value, tensor in zip(wanted, tensors)})

    return Restorer(wanted, take, unused)


def _from_factories(obj, factories, attributes):
    wanted, takers, unused = [], [], []
    for name, key in attributes:
        if name not in factories:
            unused.append(name)
        elif isinstance(factories[name], types.Tensor):
            variable = factories[name]
            wanted.append(WantedValue(name, key, RestoredSpec(variable.dtype, variable.shape)))
            takers.append((1, lambda tensors, variable=variable: variable.assign(tensors[0])))
        else:
            for saveable in saveables_from(factories[name], key):
                specs = list(saveable.specs)
                wanted += [WantedValue(name, spec.name, RestoredSpec(spec.dtype)) for spec in specs]
                takers.append((len(specs), lambda tensors, saveable=saveable: saveable.restore(tensors, None)))

    def take(tensors):
        results, at = [], 0
        for count, taker in takers:
            results.append(taker(tensors[at : at + count]))
            at += count
        return results

    return Restorer(wanted, take, unused)


def has_values(obj: Any) -> bool:
    """Whether an object has values of its own to save."""
    if not isinstance(obj, Trackable):
        return False
    if type(obj)._serialize_to_tensors is not Trackable._serialize_to_tensors:
        return True
    return bool(obj._gather_saveables_for_checkpoint())
