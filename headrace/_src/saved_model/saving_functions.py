"""Functions by which a loaded object, such as a table, saves and restores what it holds."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from headrace._src.core import dtypes, nest
from headrace._src.core.context import context
from headrace._src.core.specs import TensorSpec
from headrace._src.core.trackable import RestoredSpec, Trackable
from headrace._src.op.convert import to_tensor
from headrace._src.ops.strings.editing import STRING_JOIN
from headrace._src.tracing.concrete_function import ConcreteFunction
from headrace._src.tracing.trace_types import Typing
from headrace._src.tracing.traces import trace

# The name of the pair of functions of an object whose values have names of their own.
BY_NAME = ".TENSORS"


class SavingFunctions:
    """A function that gives the values of an object, and one that takes them back.

    Objects of older versions (tables are among them) have one name for all values; `save` is then given a key, and
    returns for each tensor the key that begins with it.

    Args:
        name: `BY_NAME`, or what the values are called.
        save, restore: the functions.
    """

    def __init__(self, name: str, save: ConcreteFunction, restore: ConcreteFunction) -> None:
        self.name = name
        self.save = save
        self.restore = restore

    @property
    def saveable_name(self) -> str | None:
        """What `Trackable._saveable_name` says for such an object."""
        return None if self.name == BY_NAME else self.name

    @functools.cached_property
    def names(self) -> list[str]:
        """The names of the tensors, in the order of `restore`'s arguments."""
        if self.name == BY_NAME:
            return sorted(self.save.structured_outputs)
        with context.changed(graph=None, recorders=(), device=None):
            return [part["name"].numpy().decode() for part in self.save.call_flat([to_tensor("", dtypes.string)])]

    def specs(self) -> dict[str, RestoredSpec]:
        """What `restore` takes, by name."""
        flat = nest.flatten(self.restore.structured_input_signature)
        return {name: RestoredSpec(spec.dtype) for name, spec in zip(self.names, flat)}

    def saved(self, call: Callable[[ConcreteFunction, list], Any]) -> dict[str, Any]:
        """The tensors by name; `call(function, tensors)` calls a function with flat arguments."""
        if self.name == BY_NAME:
            return call(self.save, [])
        parts = call(self.save, [to_tensor("", dtypes.string)])
        return {name: part["tensor"] for name, part in zip(self.names, parts)}

    def take(self, tensors: dict[str, Any], call: Callable[[ConcreteFunction, list], Any]) -> Any:
        """Hand the tensors to `restore`."""
        return call(self.restore, [tensors[name] for name in self.names])


class WithSavingFunctions(Trackable):
    """An object that saves and restores itself by functions."""

    def __init__(self, functions: SavingFunctions, call: Callable[[ConcreteFunction, list], Any] | None = None) -> None:
        self._self_saving = functions
        self._self_call = call or ConcreteFunction.call_flat

    @property
    def _saveable_name(self):
        return self._self_saving.saveable_name

    def _serialize_to_tensors(self):
        return self._self_saving.saved(self._self_call)

    def _restored_specs(self):
        return self._self_saving.specs()

    def _restore_from_tensors(self, restored_tensors):
        return self._self_saving.take(restored_tensors, self._self_call)


def saving_functions(obj: Trackable) -> SavingFunctions:
    """The functions for an object that has values of its own."""
    if isinstance(obj, WithSavingFunctions):
        return obj._self_saving
    if obj._saveable_name is None:
        return SavingFunctions(BY_NAME, *_by_name(obj))
    return SavingFunctions(obj._saveable_name, *_by_key(obj))


def _by_name(obj):
    specs = {name: TensorSpec(spec.shape, spec.dtype, name) for name, spec in obj._restored_specs().items()}

    def restore(restored_tensors):
        obj._restore_from_tensors(restored_tensors)

    save = _traced(obj._serialize_to_tensors, "save_fn", {})
    return save, _traced(restore, "restore_fn", {"restored_tensors": specs})


def _by_key(obj):
    def save(checkpoint_key):
        found = []
        for name, tensor in obj._serialize_to_tensors().items():
            key = STRING_JOIN([checkpoint_key, to_tensor(name, dtypes.string)])
            found.append({"name": key, "slice_spec": to_tensor("", dtypes.string), "tensor": tensor})
        return found

    names = list(obj._restored_specs())
    arguments = {
        f"restored_tensors_{i}": TensorSpec(spec.shape, spec.dtype, f"restored_tensors_{i}")
        for i, spec in enumerate(obj._restored_specs().values())
    }

    def restore(*tensors):
        obj._restore_from_tensors(dict(zip(names, tensors)))
        return to_tensor(1, dtypes.int32)

    key = TensorSpec([], dtypes.string, "checkpoint_key")
    return _traced(save, "save_fn", {"checkpoint_key": key}), _traced(restore, "restore_fn", arguments)


def _traced(function: Any, name: str, arguments: dict[str, Any]) -> ConcreteFunction:
    typing = Typing()
    parameters = [inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD) for key in arguments]
    return trace(function, parameters, [typing.type_of(spec) for spec in arguments.values()], name, False)[0]
