"""Finding public functions and ops by name, importing the files that define them when first asked.

`import headrace` reads only what every program needs. The index (written by `scripts/exports`) says where
everything else is; a name that it does not know is searched for in all files, which only happens while
developing.
"""

import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable

from headrace._src import index
from headrace._src.core.lazy import LazyModule
from headrace._src.core.tracebacks import entrance

_missing_names = LazyModule("headrace._src.core.missing_names")  # for errors

ROOT = "headrace._src."
_V2 = "compat.v2."


def load(module: str):
    """Import `headrace._src.<module>`."""
    return importlib.import_module(ROOT + module)


def load_indexed(module: str) -> None:
    """The same for a file that the index names; one that has gone since is passed over."""
    try:
        load(module)
    except ModuleNotFoundError as error:
        if not f"{ROOT}{module}.".startswith(f"{error.name}."):
            raise


def load_everything():
    """Import every file of the implementation."""
    package = importlib.import_module("headrace._src")
    for info in pkgutil.walk_packages(package.__path__, ROOT):
        importlib.import_module(info.name)


class Registry(dict):
    """A dictionary by name that imports the defining file when a name is not there yet."""

    def __init__(self, places: Callable[[], dict[str, str]]):
        """
        Args:
            places: gives the module of each name, from the index; called when a name is first missing.
        """
        super().__init__()
        self._make_places = places

    @functools.cached_property
    def _places(self):
        return self._make_places()

    def __missing__(self, name):
        place = self._places.get(name)
        if place is not None:
            load_indexed(place)
        if not dict.__contains__(self, name):
            load_everything()
        if not dict.__contains__(self, name):
            raise KeyError(name)
        return dict.__getitem__(self, name)

    def __contains__(self, name):
        return dict.__contains__(self, name) or name in self._places

    def get(self, name, default=None):
        return self[name] if name in self else default


def _missing(module, folder, attribute):
    """The error for a name that a public module does not have."""
    name = ".".join(filter(None, ("tf", folder, attribute)))
    said = None if attribute.startswith("__") else _missing_names.about(name)
    if said is None and attribute in index.MODULES.get(f"compat.v1.{folder}".rstrip("."), ()):
        former = name.replace("tf.", "tf.compat.v1.", 1)
        said = f"{name} is a name of TensorFlow 1. Programs of TensorFlow 1 use {former}."
    return _missing_names.absence(module, attribute, said)


def public_module(name: str):
    """`__getattr__`, `__dir__` and `__all__` of the public module of that name."""
    folder = name.removeprefix("headrace").removeprefix(".")
    if folder.startswith(_V2):  # TF: `tf.compat.v2.math` is `tf.math`, the same module
        same = importlib.import_module(f"headrace.{folder.removeprefix(_V2)}")
        sys.modules[name] = same
        return same.__getattr__, same.__dir__, same.__all__
    places = index.MODULES[folder]

    @entrance
    def __getattr__(attribute):
        place = places.get(attribute, 0)
        provider = index.PROVIDED.get(f"{folder}.{attribute}".removeprefix(".")) if place == 0 else None
        if provider is not None:
            module, _, inside = provider.partition(":")
            value = getattr(load(module), inside)()
        elif place == 0:
            raise _missing(name, folder, attribute)
        elif place is None:  # tf.newaxis
            value = None
        elif place == "":
            value = importlib.import_module(f"{name}.{attribute}")
        else:
            module, _, inside = place.partition(":")
            value = getattr(load(module), inside)
        setattr(sys.modules[name], attribute, value)
        return value

    return __getattr__, lambda: sorted(places), list(places)
