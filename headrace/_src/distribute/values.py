"""Values that each replica has its own of: `PerReplica`, `Mirrored`, and how structures of them are taken apart."""

from __future__ import annotations

import collections.abc
from typing import Any

from headrace._src.core import errors, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.type_specs import TypeSpec, type_spec_from_value
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.state.variables import Variable


@api("distribute.DistributedValues", dispatch=False)
class DistributedValues:
    """A value that each replica has its own of.

    Args:
        values: one for each replica.
    """

    def __init__(self, values) -> None:
        self._values = tuple(values)

    @property
    def values(self) -> tuple:
        """What the replicas have, in their order."""
        return self._values

    @property
    def _primary(self):
        return self._values[0]

    def _of(self, index):
        """What the replica of that number has."""
        if index >= len(self._values):
            raise errors.TooFewError(
                None, None,
                f"A {type(self).__name__} of {len(self._values)} replicas is used where there are more: replica "
                f"{index} has no part of it. Give what this strategy made, not another one.",
            )  # fmt: skip
        return self._values[index]

    def _text(self, show):
        lines = ",\n".join(f"  {i}: {show(value)}" for i, value in enumerate(self._values))
        return f"{type(self).__name__}:{{\n{lines}\n}}"

    def __repr__(self):
        return self._text(repr)

    def __str__(self):
        return self._text(str)


class NeedsReplicas(BaseException):
    """Code that is traced once for all replicas asks for what single ones have; not for handlers of the user's."""


@api("types.experimental.distributed.PerReplica", dispatch=False)
class PerReplica(DistributedValues, CompositeTensor):
    """One value for each replica. Functions take and return it as they do tensors."""

    _instead_of_dense = (
        "each replica has its own. Use it in a function that strategy.run calls, make one of all with strategy.reduce "
        "or strategy.gather, or take them one by one with strategy.experimental_local_results"
    )

    @property
    def _type_spec(self) -> PerReplicaSpec:
        values = self._values
        key = tuple([(x.dtype, x._a.shape) for x in values if type(x) is EagerTensor])
        if len(key) < len(values):
            return PerReplicaSpec(*map(type_spec_from_value, values))
        found = _specs.get(key)
        if found is None:
            if len(_specs) >= _MOST_SPECS:
                _specs.clear()
            found = _specs[key] = PerReplicaSpec(*map(type_spec_from_value, values))
        return found


# The specs of plain tensors by dtypes and shapes: each batch of a training has the same one.
_specs: dict[tuple, PerReplicaSpec] = {}
_MOST_SPECS = 1000


class AllReplicas(PerReplica):
    """One value for each replica, in code that is traced once for all of them.

    Args:
        value: a tensor of the graph that stands for each replica.
    """

    def __init__(self, value) -> None:
        super().__init__((value,))

    @property
    def values(self) -> tuple:
        raise NeedsReplicas("the values of single replicas")

    def _of(self, index):
        return self._values[0]


class PerReplicaSpec(TypeSpec):
    """The spec of a `PerReplica`.

    Args:
        *value_specs: the spec of each replica's value.
    """

    __slots__ = ("_hash", "_value_specs")

    def __init__(self, *value_specs) -> None:
        self._value_specs = tuple(value_specs)
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and self._key() == other._key())

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._key())
        return self._hash

    @property
    def value_type(self) -> type:
        return PerReplica

    def _serialize(self):
        return self._value_specs

    @property
    def _component_specs(self):
        return self._value_specs

    def _to_components(self, value):
        return value.values

    def _from_components(self, components):
        return PerReplica(components)


class _ActsAsTensor:
    """Python's operators, done with the tensor that `_here()` gives."""

    def _here(self):
        raise NotImplementedError

    def __hash__(self):
        return id(self)


def _forwarded(name):
    def operator(self, *args):
        return getattr(self._here(), name)(*args)

    operator.__name__ = name
    return operator


for _name in Tensor.OVERLOADABLE_OPERATORS | {"__float__", "__int__", "__bool__", "__len__", "__iter__", "__array__"}:
    setattr(_ActsAsTensor, _name, _forwarded(_name))


@api("types.experimental.distributed.Mirrored", dispatch=False)
class Mirrored(_ActsAsTensor, DistributedValues):
    """A value that all replicas have, each a copy of its own. Used as a tensor, it is that of the replica here."""

    def _here(self):
        place = context.place
        index = 0 if place is None or place.index is None else place.index
        return self._values[index if index < len(self._values) else 0]

    def __tf_tensor__(self, dtype=None, name=None):
        return to_tensor(self._here(), dtype)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._here(), name)


def select_replica(index: int, structure: Any) -> Any:
    """The part of a structure of values that one replica has. Variables stay whole: they know the replica by place."""

    def select(value):
        return value._of(index) if isinstance(value, DistributedValues) and not _is_variable(value) else value

    return _mapped(select, structure)


def select_copy(index: int, structure: Any) -> Any:
    """As `select_replica`, with the copy of each variable in place of the variable."""
    return _mapped(lambda value: value._of(index) if isinstance(value, DistributedValues) else value, structure)


def _is_variable(value):
    return isinstance(value, Variable)


def _mapped(function, structure):
    if isinstance(structure, DistributedValues):
        return function(structure)
    if isinstance(structure, (list, tuple, collections.abc.Mapping)):
        return nest.map_structure(function, structure)
    return function(structure)


def regroup(structures: list, kind: type = PerReplica) -> Any:
    """One structure out of what each replica has: what is the same object everywhere stays itself.

    Args:
        structures: one for each replica, alike.
        kind: the class of values that differ.
    """
    first = structures[0]
    if len(structures) == 1:
        return first
    if isinstance(first, list):
        return [regroup(list(parts), kind) for parts in zip(*structures, strict=True)]
    if isinstance(first, tuple):
        parts = [regroup(list(parts), kind) for parts in zip(*structures, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    if isinstance(first, collections.abc.Mapping):
        for other in structures[1:]:
            if set(other) != set(first):
                raise ValueError(f"The replicas returned dicts with different keys: {sorted(map(str, first))} and "
                                 f"{sorted(map(str, other))}.")  # fmt: skip
        items = {key: regroup([structure[key] for structure in structures], kind) for key in first}
        return items if type(first) is dict else _like(first, items)
    if all(value is first for value in structures):
        return first
    container = _common_container(structures)
    return kind(structures) if container is None else container


def _like(first, items):
    try:
        return type(first)(items)
    except TypeError:
        return items


def _common_container(values):
    """The variable that these are the copies of; None if they are not the copies of one."""
    containers = [_container_of(value) for value in values]
    first = containers[0]
    if first is None or any(container is not first for container in containers):
        return None
    return first


def _container_of(value):
    if isinstance(value, DistributedValues) or not isinstance(value, Variable):
        return None
    reference = getattr(value, "_distributed_container", None)
    return None if reference is None else reference()
