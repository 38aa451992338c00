"""Which objects of a SavedModel are loaded, and which of them a program has made already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

_ROOT = "root"


class LoadedParts:
    """The objects of a SavedModel that are wanted, by number: those at some paths, and all that these lead to.

    Args:
        nodes: the `SavedObject`s of the model.
        paths: where the wanted objects are, such as "root.layers.0"; None for all. For each None, or the object of the
            program that takes its place, with the function `setter(object, name, value)` that gives it attributes.

    Attributes:
        wanted: numbers, in order.
        given: objects of the program, by number.

    Raises:
        ValueError: there is no object at a path.
    """

    def __init__(self, nodes: Any, paths: Mapping[str, Any] | Iterable[str] | None = None) -> None:
        self._nodes = nodes
        if not isinstance(paths, Mapping):
            paths = dict.fromkeys([paths] if isinstance(paths, str) else [_ROOT] if paths is None else paths)
        self._numbers = {path: self._number(path) for path in paths}
        self.given: dict[int, Any] = {}
        self._setters: dict[int, Callable[[Any, str, Any], None]] = {}
        for path, said in paths.items():
            if said is not None:
                number = self._numbers[path]
                self.given[number], self._setters[number] = said if isinstance(said, tuple) else (said, setattr)
        self.wanted = list(range(len(nodes))) if _ROOT in paths else self._reached(self._numbers.values())

    def number(self, path: str) -> int:
        """The number of the object at one of the paths."""
        return self._numbers[path]

    @property
    def paths(self) -> list[str]:
        """The paths that were given; the root's if none was."""
        return list(self._numbers)

    def made(self) -> list[int]:
        """The wanted objects that are not there yet."""
        return [number for number in self.wanted if number not in self.given]

    def set_attribute(self, number: int, name: str, value: Any) -> None:
        """Give an object of the program what it has in the model."""
        obj = self.given[number]
        self._setters[number](obj, name, value)
        if name == "__call__" and not callable(obj):
            type(obj).__call__ = _call_attribute  # TF: the class becomes callable

    def unused_functions(self) -> set[str]:
        """The names of traces that only belong to objects that are not wanted."""
        wanted = set(self.wanted)
        names: list[set[str]] = [set(), set()]
        for number, node in enumerate(self._nodes):
            names[number in wanted].update(node.function.concrete_functions)
            if node.HasField("bare_concrete_function"):
                names[number in wanted].add(node.bare_concrete_function.concrete_function_name)
        return names[False] - names[True]

    def _number(self, path):
        first, *names = path.split(".")
        if first != _ROOT:
            raise ValueError(f"load_partial: a path begins with {_ROOT!r}, as in 'root.layer.kernel'; got {path!r}.")
        number = 0
        for name in names:
            children = {child.local_name: child.node_id for child in self._nodes[number].children}
            if name not in children:
                raise ValueError(
                    f"load_partial: the SavedModel has no object {path!r}: there is no {name!r} among "
                    f"{', '.join(map(repr, children)) or 'nothing'}."
                )
            number = children[name]
        return number

    def _reached(self, numbers):
        found: set[int] = set()
        waiting = list(numbers)
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                node = self._nodes[number]
                waiting += [child.node_id for child in (*node.children, *node.dependencies)]
                waiting += [slot.slot_variable_node_id for slot in node.slot_variables]
        return sorted(found)


def _call_attribute(instance, *args, **kwargs):
    return instance.__dict__["__call__"](*args, **kwargs)
