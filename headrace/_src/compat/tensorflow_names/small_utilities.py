"""Small modules of `tensorflow.python.util`: `all_util`, `decorator_utils`, `lazy_loader`."""

import importlib
import re
import sys
import types
from typing import Any


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """The names that texts about modules mention as `@@name`, in order."""
    modules = doc_string_modules or [sys.modules[module_name]]
    names: set[str] = set()
    for module in modules:
        names.update(re.findall(r"^@@([a-zA-Z0-9_]+)", module.__doc__ or "", re.MULTILINE))
    return sorted(names)


def remove_undocumented(module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None) -> None:
    """Take the names out of a module that its text does not mention."""
    module = sys.modules[module_name]
    kept = {*make_all(module_name, doc_string_modules), *(allowed_exception_list or ())}
    for name in [name for name in dir(module) if name not in kept and not name.startswith("_")]:
        delattr(module, name)


def reveal_undocumented(symbol_name: str, target_module: Any = None) -> None:
    """Nothing: what `remove_undocumented` takes out is gone."""


def get_qualified_name(function: Any) -> str:
    """The name of a function with its class."""
    return getattr(function, "__qualname__", None) or function.__name__


def validate_callable(func: Any, decorator_name: str) -> None:
    """Raises unless it can be called."""
    if not callable(func):
        raise ValueError(f"@{decorator_name} is for functions, got {func!r}. On a property, write it below @property.")


class classproperty:
    """A property of a class, read without an instance."""

    def __init__(self, func):
        self.func = func

    def __get__(self, owner_self, owner_cls):
        return self.func(owner_cls)


class LazyLoader(types.ModuleType):
    """A module that is imported when one of its names is first read.

    Args:
        local_name: its name in the module that imports it.
        parent_module_globals: the names of that module.
        name: its full name.
        warning: what is said when it is imported.
    """

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str, warning: str | None = None):
        super().__init__(name)
        self._local_name = local_name
        self._parent_module_globals = parent_module_globals

    def __getattr__(self, item):
        module = importlib.import_module(self.__name__)
        self._parent_module_globals[self._local_name] = module
        return getattr(module, item)

    def __dir__(self):
        return dir(importlib.import_module(self.__name__))
