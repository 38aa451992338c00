"""How types say how `for` loops over them become graph loops: by a registry, or by a method `_loop_steps`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True)
class Steps:
    """How a graph walks through something, one item after another.

    Args:
        first: The values that are handed from step to step, before the first item.
        has_item: From these values, whether there is an item.
        item: From these values, the item.
        following: From these values, those for the next step.
        length: The number of items, if it is known.
        has_scope: Whether tags of summaries in the loop begin with the name of the loop.
    """

    first: tuple
    has_item: Callable[..., Any]
    item: Callable[..., Any]
    following: Callable[..., tuple]
    length: int | None = None
    has_scope: bool = True


_registered: dict[type, Callable] = {}
_found: dict[type, Callable | None] = {}


def register_loop(cls: type, steps: Callable[[Any], Steps | None]):
    """Say how `for` loops over objects of a class become graph loops.

    Args:
        cls: The class; subclasses are included.
        steps: From an object, its `Steps`, or None when a Python loop is right.
    """
    _registered[cls] = steps
    _found.clear()


def steps_of(iterable: Any) -> Steps | None:
    """How a graph walks through an object; None when a Python loop is right."""
    cls = type(iterable)
    try:
        function = _found[cls]
    except KeyError:
        function = _found[cls] = _steps_function(cls)
    return None if function is None else function(iterable)


def _steps_function(cls):
    """What gives the steps of objects of a class: what is registered, or its method `_loop_steps`."""
    for base in cls.__mro__:
        if base in _registered:
            return _registered[base]
        if "_loop_steps" in vars(base):
            return base._loop_steps
    return None
