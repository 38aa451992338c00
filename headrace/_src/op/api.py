"""Declaring public names where the functions are: `@api("math.sqrt", "sqrt")`.

`scripts/exports` writes the public modules (`headrace/math/__init__.py` ...) from these declarations, as plain explicit
re-exports, and the check fails when they are stale.
"""

import types
from collections.abc import Callable
from typing import TypeVar

from headrace._src import index
from headrace._src.op.dispatch import dispatchable
from headrace._src.op.loading import Registry
from headrace._src.op.scopes import scoped

# What `api` decorates it returns: type checkers see the function itself.
Thing = TypeVar("Thing")

PUBLIC: dict[str, object] = Registry(
    {
        f"{folder}.{name}".removeprefix("."): place.partition(":")[0]
        for folder, names in index.MODULES.items()
        for name, place in names.items()
        if place
    }
)


def api(*names: str, dispatch: bool = True) -> Callable[[Thing], Thing]:
    """Decorator: make a function or class public under these names (without `tf.`), canonical name first.

    Args:
        names: such as "math.sqrt", "sqrt".
        dispatch: False for functions that other tensor types cannot extend.
    """

    def declare(thing):
        public = thing
        if dispatch and isinstance(thing, types.FunctionType):
            public = dispatchable(scoped(names, thing))
            public._public_name = names[0]
        for name in names:
            if dict.__contains__(PUBLIC, name):
                raise ValueError(f"The public name {name!r} is declared twice.")
            PUBLIC[name] = public
        return public

    return declare


def export(*names: str) -> Callable[[Thing], Thing]:
    """For values other than functions: `export("math.pi")(pi)`. The same as `api` without dispatch."""
    return api(*names, dispatch=False)
