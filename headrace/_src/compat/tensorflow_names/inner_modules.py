"""Names inside of TensorFlow (`tensorflow.python.framework.ops.convert_to_tensor`) that other packages import.

All of them stand in one table, inner_modules.tsv, which is read when the first such module is imported. `CLASSES` are
those that packages recognise by their `__module__`.
"""

import functools
import importlib
import pathlib
import types

from headrace._src.core import missing_names
from headrace._src.core.tracebacks import entrance

TABLE = pathlib.Path(__file__).with_suffix(".tsv")
ANY = "*"

# By place: the module and name that the class has in TensorFlow.
CLASSES: dict[str, tuple[str, str]] = {
    "core.tensor:Tensor": ("python.framework.tensor", "Tensor"),
    "core.tensor:EagerTensor": ("python.framework.ops", "EagerTensor"),
    "graph.building.symbolic:SymbolicTensor": ("python.framework.ops", "SymbolicTensor"),
    "graph.building.func_graph:FuncGraph": ("python.framework.func_graph", "FuncGraph"),
    "ops.ragged.tensor:RaggedTensor": ("python.ops.ragged.ragged_tensor", "RaggedTensor"),
    "ops.sparse.tensor:SparseTensor": ("python.framework.sparse_tensor", "SparseTensor"),
    "data.datasets:DatasetV2": ("python.data.ops.dataset_ops", "DatasetV2"),
}


def _module_at(place: str) -> str:
    """The module that a place of the table means: `tf.math`, `py inspect`, or a file below headrace/_src."""
    if place.startswith("py "):
        return place.removeprefix("py ")
    if place == "tf.keras" or place.startswith("tf.keras."):
        return place.replace("tf.", "tensorflow.", 1)
    if place == "tf" or place.startswith("tf."):
        return place.replace("tf", "headrace", 1)
    return f"headrace._src.{place}"


@functools.cache
def modules() -> dict[str, dict[str, tuple[str, str]]]:
    """Modules without `tensorflow.`, each with its names: the module that has each, and its name there."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("# "):
            continue
        module, place, names = line.split("\t")
        for parent in _parents(module):
            found.setdefault(parent, {})
        for name in names.split():
            own, _, there = name.partition("=")
            found[module][own] = (_module_at(place), there or own)
    for place, (module, name) in CLASSES.items():
        file, _, attribute = place.partition(":")
        found[module][name] = (_module_at(file), attribute)
    return found


def _parents(module):
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _said_about(name):
    """What can be said about a name that is not there: some of these modules are public too."""
    return missing_names.about(name) or missing_names.about(name.replace("tensorflow.", "tf.", 1))


class InnerModule(types.ModuleType):
    """A module of TensorFlow's own, as far as other packages need it: each name is looked up when it is first read.

    Args:
        name: its full name.
        inside: the name without `tensorflow.`.
    """

    def __init__(self, name: str, inside: str):
        super().__init__(name, "The part of this module of TensorFlow that other packages use, from headrace.")
        self.__names = modules().get(inside, {})
        self.__path__: list[str] = []

    @entrance
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module, there = self.__names.get(name) or self.__anywhere(name)
        if module is None:
            raise missing_names.absence(self.__name__, name, _said_about(f"{self.__name__}.{name}"))
        value = importlib.import_module(module)
        for part in there.split("."):
            value = getattr(value, part)
        setattr(self, name, value)
        return value

    def __anywhere(self, name):
        """Where the name is if the module has all that another has."""
        module, _ = self.__names.get(ANY, (None, None))
        return (module, name) if module is not None and hasattr(importlib.import_module(module), name) else (None, None)

    def __dir__(self):
        others = [dir(importlib.import_module(self.__names[ANY][0]))] if ANY in self.__names else []
        return sorted({name for name in self.__names if name != ANY}.union(*others))
