"""Packages that Keras imports with itself, and that most programs do not use: they wait until something does.

scikit-learn takes more than a second, pandas and jax half a second each. Keras's own files stay as they are: three of
its modules are read in another way.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType

_PANDAS_CLASSES = ("Series", "DataFrame")


def reader(name: str) -> Callable | None:
    """How a module of Keras is read, `(module, read)`; None for most, which are read as Python does."""
    if name.endswith(".wrappers") and not name.startswith("keras.src."):
        return read_when_used
    return _READERS.get(name)


def read_when_used(module: ModuleType, read: Callable) -> None:
    """Read a module when one of its names is asked for: `keras.wrappers`, which is all for scikit-learn."""

    def load():
        for name in ("__getattr__", "__dir__"):
            module.__dict__.pop(name, None)
        try:
            read(module)
        except BaseException:
            read_when_used(module, read)
            raise

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        load()
        return getattr(module, name)

    def __dir__():
        load()
        return dir(module)

    module.__dict__.update(__getattr__=__getattr__, __dir__=__dir__)


def _read_without_jax(module, read):
    """Keras's callback for Orbax lets jax have a function that jax 0.8, the oldest that we take, has anyway."""
    reading = True

    def import_(name, *arguments, **options):
        if reading and name == "jax":
            raise ModuleNotFoundError(f"{module.__name__} is read without jax.", name=name)
        return builtins.__import__(name, *arguments, **options)

    try:
        _read_importing(module, read, import_)
    finally:
        reading = False


def _read_with_pandas_later(module, read):
    """Keras asks whether data is of pandas. Before somebody has imported pandas, none is."""

    def import_(name, *arguments, **options):
        if name == "pandas" and "pandas" not in sys.modules and importlib.util.find_spec(name) is not None:
            return _LaterPandas(name)
        return builtins.__import__(name, *arguments, **options)

    _read_importing(module, read, import_)


def _read_importing(module, read, import_):
    """Read a module whose `import` calls a function of ours; imports elsewhere stay as they are."""
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": import_}
    read(module)


_READERS = {
    "keras.src.callbacks.orbax_checkpoint": _read_without_jax,
    "keras.src.trainers.data_adapters.array_slicing": _read_with_pandas_later,
}


class _OfPandas(type):
    """Classes that stand for those of pandas of the same name, in `isinstance` and `issubclass`."""

    def __instancecheck__(cls, instance):
        return issubclass(type(instance), cls)

    def __subclasscheck__(cls, subclass):
        real = getattr(sys.modules.get("pandas"), cls.__name__, None)
        return real is not None and issubclass(subclass, real)


class _LaterPandas(ModuleType):
    """Stands for pandas; a name other than of these two classes imports it."""

    def __init__(self, name):
        super().__init__(name, "Stands for pandas until somebody uses it.")
        for each in _PANDAS_CLASSES:
            setattr(self, each, _OfPandas(each, (), {}))

    def __getattr__(self, name):
        return getattr(importlib.import_module("pandas"), name)
