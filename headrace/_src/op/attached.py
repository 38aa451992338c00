"""Methods of a class that stand in other files, each imported when the method is first used.

A class that higher files extend says so, and each of those files says what it adds:

    @open_class                         # in data/datasets.py
    class DatasetV2: ...

    @method_of(DatasetV2)               # in data/transformations/batching.py
    def batch(self, batch_size): ...

`scripts/exports` writes into the index which file has which method. As long as that file has not been imported, a
`Deferred` stands in the class in the place of the method: reading it imports the file, which puts the method there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from headrace._src import index
from headrace._src.op.loading import load_everything, load_indexed

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable)

# Open class to name to the module that attaches it, as far as modules have been imported. `scripts/exports` reads it.
ATTACHED: dict[type, dict[str, str]] = {}
# The same from the index. A class may later be said to be from another module; see compat/tensorflow_names/alias.py.
_PLACES: dict[type, dict[str, str]] = {}


class Deferred:
    """Stands in a class for what a file attaches, until that file is imported.

    Python asks it on each way to an attribute: by instance, class, `super()`, and for special methods by operators and
    `for`. It has no `__set__`, so that instances may have an attribute of the same name.
    """

    def __init__(self, cls: type, name: str, place: str):
        self._cls, self._name, self._place = cls, name, place

    def __get__(self, instance: Any, owner: type) -> Any:
        value = self._attached()
        return value.__get__(instance, owner) if hasattr(type(value), "__get__") else value

    def _attached(self):
        """What the file put in this place."""
        load_indexed(self._place)
        if vars(self._cls)[self._name] is self:
            load_everything()  # the index is stale
        if vars(self._cls)[self._name] is self:
            delattr(self._cls, self._name)
            raise AttributeError(f"No file attaches {self._name!r} to {self._cls.__name__!r}. Run scripts/exports.")
        return vars(self._cls)[self._name]


def _key(cls: type) -> str:
    return f"{cls.__module__.removeprefix('headrace._src.')}:{cls.__qualname__}"


def open_class(cls: Class) -> Class:
    """Decorator: other files attach methods to this class.

    What they attach is in time for abstract methods of the bases: subclasses need not define those again.
    """
    ATTACHED[cls] = {}
    places = _PLACES[cls] = index.METHODS.get(_key(cls), {})
    for name, place in places.items():
        setattr(cls, name, Deferred(cls, name, place))
    if getattr(cls, "__abstractmethods__", None):
        cls.__abstractmethods__ = cls.__abstractmethods__ - places.keys()
    return cls


def attach(cls: type, name: str, value: Any) -> None:
    """Put something into an open class. What a program has put there itself in the meantime stays."""
    function = getattr(value, "fget", getattr(value, "__func__", value))
    ATTACHED[cls][name] = function.__module__.removeprefix("headrace._src.")
    if name not in vars(cls) or isinstance(vars(cls)[name], Deferred):
        setattr(cls, name, value)


def method_of(cls: type, name: str | None = None) -> Callable[[Function], Function]:
    """Decorator: the function is a method of an open class, under its own name unless another is given."""

    def decorate(function):
        attach(cls, name or function.__name__, function)
        return function

    return decorate


def load_methods(cls: type) -> None:
    """Import all files that attach something to an open class."""
    for place in sorted(set(_PLACES[cls].values())):
        load_indexed(place)
