"""All objects that are reached from one, in the order and under the names that TensorFlow gives them in files."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from headrace._src.core.trackable import SaveType, Trackable, TrackableReference, wrap
from headrace._src.formats.checkpoint_messages import TrackableObjectGraph

ATTRIBUTES = ".ATTRIBUTES"
SLOTS = ".OPTIMIZER_SLOT"


def escaped(name: str) -> str:
    """A name as it stands in keys, where "/" divides and "." begins names with a meaning."""
    return name.replace(".", "..").replace("/", ".S") if "." in name or "/" in name else name


def value_key(path: str, name: str) -> str:
    """The key under which a value called `name` of the object at `path` is stored."""
    return f"{path}/{ATTRIBUTES}/{escaped(name)}"


def slot_path(variable_path: str, optimizer_path: str, slot_name: str) -> str:
    """The path of what an optimizer keeps for a variable."""
    return f"{variable_path}/{SLOTS}/{optimizer_path}/{escaped(slot_name)}"


class Slot(NamedTuple):
    """What an optimizer keeps for a variable: numbers of objects, and a name."""

    variable: int
    name: str
    slot: int


class ObjectWalk:
    """The objects that are reached from `root`, breadth first, and what optimizers among them keep for others.

    Objects are known by their numbers, which are their places in `objects`. The root is number 0; variables in slots
    of optimizers come last.

    Args:
        root: the object to begin with.
        save_type: what children are asked for.
        attached: more children of the root, by name.
        slots: whether slots of optimizers are looked for.
        children_of: gives the children of an object by name, in the place of its `_trackable_children`.
        cache: handed to `_trackable_children` of all objects.

    Attributes:
        objects: all objects.
        names: for each object, the names that lead to it.
        paths: for each object, the beginning of its keys.
        children: for each object, pairs of a name and the number of a child.
        slots: for each optimizer that has any, by number, its `Slot`s.
        slots_begin: the number of the first object that is only in a slot.
    """

    def __init__(
        self,
        root: Any,
        save_type: str = SaveType.CHECKPOINT,
        attached: Mapping[str, Any] | None = None,
        slots: bool = True,
        children_of: Callable[[Any], Mapping[str, Any]] | None = None,
        cache: Any = None,
    ) -> None:
        self.objects: list[Any] = [root]
        self.names: list[tuple[str, ...]] = [()]
        self.paths: list[str] = [""]
        self.children: list[list[tuple[str, int]]] = []
        self.slots: dict[int, list[Slot]] = {}
        self._numbers: dict[int, int] = {id(root): 0}
        self._children_of = children_of or (lambda obj: trackable_children(obj, save_type, cache))
        self._walk(attached or {})
        self.slots_begin = len(self.objects)
        if slots:
            self._add_slots()

    def _walk(self, attached):
        waiting = deque([0])
        while waiting:
            number = waiting.popleft()
            children = self._children_of(self.objects[number])
            if not number and attached:
                children = {**children, **attached}
            pairs = []
            for name, child in children.items():
                known = self._numbers.get(id(child))
                if known is None:
                    known = self._add(child, number, name)
                    waiting.append(known)
                pairs.append((name, known))
            self.children.append(pairs)

    def _add(self, child, parent, name):
        number = len(self.objects)
        self._numbers[id(child)] = number
        self.objects.append(child)
        self.names.append((*self.names[parent], name))
        self.paths.append(f"{self.paths[parent]}/{escaped(name)}" if parent else escaped(name))
        return number

    def _add_slots(self):
        for number in range(self.slots_begin):
            optimizer = self.objects[number]
            if not has_slots(optimizer):
                continue
            for name in optimizer.get_slot_names():
                for variable in range(self.slots_begin):
                    slot = slot_of(optimizer, self.objects[variable], name)
                    if slot is not None:
                        self._add_slot(number, variable, name, slot)

    def _add_slot(self, optimizer, variable, name, slot):
        if id(slot) in self._numbers:
            raise NotImplementedError(
                f"A slot variable was re-used as a dependency of a Trackable object: {slot}, which is "
                f"{self.described(self._numbers[id(slot)])} and the slot {name!r} of {self.described(optimizer)} for "
                f"{self.described(variable)}. Leave one of them out."
            )
        if slot._trackable_children():
            raise NotImplementedError(
                f"The slot {name!r} of {self.described(optimizer)} for {self.described(variable)} has children; only "
                "variables without any can be saved as slots."
            )
        number = len(self.objects)
        self._numbers[id(slot)] = number
        self.objects.append(slot)
        self.names.append((*self.names[variable], SLOTS, *self.names[optimizer], name))
        self.paths.append(slot_path(self.paths[variable], self.paths[optimizer], name))
        self.children.append([])
        self.slots.setdefault(optimizer, []).append(Slot(variable, name, number))

    def __len__(self) -> int:
        return len(self.objects)

    def number(self, obj: Any) -> int | None:
        """The number of an object; None for one that is not reached."""
        return self._numbers.get(id(obj))

    def references(self, number: int) -> list[TrackableReference]:
        """The way from the root to an object: the name of each step, and where it leads."""
        found, at = [], 0
        for name in self.names[number]:
            at = dict(self.children[at])[name]
            found.append(TrackableReference(name, self.objects[at]))
        return found

    def described(self, number: int) -> str:
        """An object's place, for people: `root.model.dense`."""
        return described(self.names[number])

    def message(self) -> Any:
        """A `TrackableObjectGraph` with the children and slots of all objects; values are for the caller to add."""
        graph = TrackableObjectGraph()
        for number, pairs in enumerate(self.children):
            node = graph.nodes.add()
            for name, child in pairs:
                node.children.add(node_id=child, local_name=name)
            for slot in self.slots.get(number, ()):
                node.slot_variables.add(
                    original_variable_node_id=slot.variable, slot_name=slot.name, slot_variable_node_id=slot.slot
                )
        return graph


def described(names: Iterable[str]) -> str:
    """The place of an object that is reached by these names, for people."""
    return ".".join(["root", *names])


def has_slots(obj: Any) -> bool:
    """Whether an object is an optimizer that keeps variables for others, which it does not have as children."""
    return hasattr(type(obj), "get_slot_names")


def slot_of(optimizer: Any, variable: Any, name: str) -> Any:
    """What an optimizer keeps for an object; None where there is nothing."""
    try:
        return optimizer.get_slot(variable, name)
    except (AttributeError, KeyError, TypeError):  # of what is no variable
        return None


def trackable_children(obj: Any, save_type: str = SaveType.CHECKPOINT, cache: Any = None) -> dict[str, Any]:
    """The children of an object by name; lists and dicts among them as containers that have children themselves."""
    if not isinstance(obj, Trackable):
        return {}
    children = obj._trackable_children(save_type) if cache is None else obj._trackable_children(save_type, cache=cache)
    wrapped = {}
    for name, child in children.items():
        child = wrap(child)
        if isinstance(child, Trackable):
            wrapped[name] = child
    return wrapped
