"""Declaring public names where the functions are: `@api("math.sqrt", "sqrt")`.

`scripts/exports` writes the public modules (`headrace/math/__init__.py` ...) from these declarations, as plain explicit
re-exports, and the check fails when they are stale.
"""

import types
from collections.abc import Callable, Sequence
from typing import TypeVar

from headrace._src import index
from headrace._src.core.tracebacks import bordered, enter_by_methods, entrance
from headrace._src.op.definition import Op
from headrace._src.op.dispatch import Operands, dispatchable
from headrace._src.op.loading import Registry
from headrace._src.op.scopes import scoped

# What `api` decorates it returns: type checkers see the function itself.
Thing = TypeVar("Thing")


def _public_places():
    return {
        f"{folder}.{name}".removeprefix("."): place.partition(":")[0]
        for folder, names in index.MODULES.items()
        for name, place in names.items()
        if place
    }


PUBLIC: dict[str, object] = Registry(_public_places)
# The element-wise functions of the files that are loaded; `index.ELEMENTWISE` has the names of all.
ELEMENTWISE: list = []


def border_of(cls, name):
    """Let the errors of the class's public class methods and static methods name them."""
    members = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("headrace."):
            members |= vars(base)
    for key, member in members.items():
        if isinstance(member, (classmethod, staticmethod)) and not key.startswith("_"):
            if not hasattr(member.__func__, "_public_name"):
                setattr(cls, key, type(member)(bordered(f"{name}.{key}")(member.__func__)))


def api(
    *names: str,
    dispatch: bool = True,
    quick: bool | Sequence[str] = False,
    of: Op | None = None,
    elementwise: int = 0,
    asserts: bool = False,
    ragged: int | None = None,
    sparse: bool = False,
    told: bool = False,
    scope: str | None = None,
    result_scope: str | None = None,
) -> Callable[[Thing], Thing]:
    """Decorator: make a function or class public under these names (without `tf.`), canonical name first.

    Args:
        names: such as "math.sqrt", "sqrt".
        dispatch: False for functions that other tensor types cannot extend.
        quick: it is called so often that it sees to short tracebacks itself, as core/tracebacks.py says; of a class,
            the names of such methods, or True for all.
        of: the op that the function applies. If that is element-wise, so is the function: it takes ragged tensors, and
            `tf.experimental.dispatch_for_*` know it. TF: functions of some element-wise ops are not among these.
        elementwise: the same for functions that are written with several ops: how many of their first arguments (one or
            two) are tensors that are treated element by element.
        asserts: it is an assertion about two tensors.
        ragged: how many of the first arguments may be ragged, if that is another number.
        sparse: of a sparse tensor, the function is applied to its values.
        told: of a function that is not dispatched: its errors name it and the user's arguments nevertheless.
        scope: while a graph is built, the function's operations are in this name scope.
        result_scope: the same, and the last operation has the name of the scope itself.
    """

    def declare(thing):
        public = thing
        if dispatch and isinstance(thing, types.FunctionType):
            public = dispatchable(scoped(thing, scope, result_scope))
            public._public_name, public._public_names = names[0], names
            public._operands = Operands(of, elementwise, asserts, ragged, sparse)
            if of is not None or elementwise:
                ELEMENTWISE.append(public)
        elif told:
            public = bordered(names[0])(thing)
            public._public_names = names
        elif isinstance(thing, type):
            public_name = "" if names[0].startswith("compat.") else names[0]
            if public_name:
                border_of(thing, public_name)
            if quick is not True:
                enter_by_methods(thing, quick or (), public_name)
        elif not quick and isinstance(thing, types.FunctionType):
            public = entrance(thing)
        for name in names:
            if dict.__contains__(PUBLIC, name):
                raise ValueError(f"The public name {name!r} is declared twice.")
            PUBLIC[name] = public
        return public

    return declare


# Public name to a function that gives its value.
PROVIDED: dict[str, Callable[[], object]] = {}


def provided(*names: str) -> Callable[[Thing], Thing]:
    """Decorator: the function, without arguments, gives what these public names mean when one is first read.

    For what another package defines, such as `tf.keras`: `dir` does not list such names, and `*` does not import them.
    """

    def declare(function):
        PROVIDED.update(dict.fromkeys(names, function))
        return function

    return declare


def export(*names: str) -> Callable[[Thing], Thing]:
    """For values other than functions: `export("math.pi")(pi)`. The same as `api` without dispatch."""
    return api(*names, dispatch=False, quick=True)
