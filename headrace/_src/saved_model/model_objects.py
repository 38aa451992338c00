"""The objects of a SavedModel that is written: what is reached from the root, and what functions capture."""

from __future__ import annotations

import logging
from typing import Any

from headrace._src.checkpoint.object_walk import ObjectWalk
from headrace._src.core import dtypes, nest
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.trackable import SaveType, Trackable, wrap
from headrace._src.core.type_specs import TypeSpec
from headrace._src.data.datasets import DatasetV2
from headrace._src.saved_model.resource_functions import DatasetTracker, makes_resource, new_name, resource_functions
from headrace._src.saved_model.saved_functions import SavedFunctions
from headrace._src.saved_model.saved_traces import saved_traces
from headrace._src.saved_model.saving_functions import SavingFunctions, saving_functions
from headrace._src.saved_model.signatures import SignatureMap, concrete_signatures, default_signature
from headrace._src.saved_model.structured_values import can_encode
from headrace._src.state.assets import Asset
from headrace._src.state.variables import Variable
from headrace._src.tracing.concrete_function import ConcreteFunction
from headrace._src.tracing.function import Function

_logger = logging.getLogger("tensorflow")
_SHOWN = 5  # so many untraced functions are named


class Constant(Trackable):
    """A tensor that functions capture, and no object holds."""

    def __init__(self, value: EagerTensor) -> None:
        self.value = value


class ModelObjects:
    """All objects of a SavedModel, by number.

    Attributes:
        signatures: what servers call.
        walk: what is reached from the root; further objects have higher numbers.
        objects: all objects.
        children: for each object, pairs of a name and the number of a child.
        saving: for objects that have values of their own and are no variables, by number: how these are saved.
        functions: the graphs of functions, as they are saved.
        resource_names: by id of a table or another resource, the name under which servers keep it.
    """

    def __init__(self, root: Trackable, signatures: Any) -> None:
        """
        Args:
            root: the object to save.
            signatures: a function or a dictionary of functions; None for the only one that is fit.
        """
        self._untraced: list[str] = []
        self._known: dict[int, dict[str, Any]] = {}
        self._cache: dict = {}
        self.resource_names: dict[int, str] = {}
        self.functions = SavedFunctions()
        self._check_signatures(root)
        if signatures is None:
            children = self.children_of(root)
            # What was loaded keeps its signatures.
            signatures = children.get("signatures") or default_signature(children)
        self.signatures = SignatureMap(concrete_signatures(signatures))
        self.walk = ObjectWalk(
            root, SaveType.SAVEDMODEL, attached={"signatures": self.signatures}, children_of=self.children_of
        )
        self.objects: list[Any] = list(self.walk.objects)
        self.children: list[list[tuple[str, int]]] = [list(pairs) for pairs in self.walk.children]
        self._numbers = {id(obj): number for number, obj in enumerate(self.objects)}
        self.saving: dict[int, SavingFunctions] = self._find_saving_functions()
        self._holders = self._find_holders()
        self._add_constants()
        if self._untraced:
            _logger.info(
                "Found untraced functions such as %s while saving (showing %d of %d). These functions will not be "
                "directly callable after loading.",
                ", ".join(self._untraced[:_SHOWN]), min(_SHOWN, len(self._untraced)), len(self._untraced),
            )  # fmt: skip

    def _check_signatures(self, root):
        own = self.children_of(root).get("signatures")
        if own is not None and not isinstance(own, SignatureMap):
            raise ValueError(
                f"Exporting an object {root} which has an attribute named 'signatures'. This is a reserved attribute "
                "used to store SavedModel signatures in objects which come from `tf.saved_model.load`. Delete this "
                "attribute (e.g. `del obj.signatures`) before saving if this shadowing is acceptable."
            )

    def children_of(self, obj: Any) -> dict[str, Any]:
        """The children of an object by name; the same objects each time, also where it makes them anew."""
        if id(obj) not in self._known:
            self._known[id(obj)] = self._children_of(obj)
        return self._known[id(obj)]

    def _children_of(self, obj):
        if not isinstance(obj, Trackable):
            return {}
        if isinstance(obj, Function):
            return self._traces(obj)
        found = {}
        for name, child in obj._trackable_children(SaveType.SAVEDMODEL, cache=self._cache).items():
            child = wrap(child)
            if isinstance(child, Trackable):
                found[name] = child
        if isinstance(obj, DatasetV2) and isinstance(obj._variant_tensor, EagerTensor):
            found["_variant_tracker"] = DatasetTracker(obj)  # TF: under this name
        if makes_resource(obj):
            self.resource_names[id(obj)] = name = new_name(obj)
            found.update(resource_functions(obj, name))
        return found

    def _traces(self, function):
        traces = [concrete for concrete in saved_traces(function) if _is_saved(concrete)]
        if not traces:
            self._untraced.append(function.name)
        return {f"trace_{i}": concrete for i, concrete in enumerate(traces)}

    def _find_saving_functions(self):
        found = {}
        for number, obj in enumerate(self.walk.objects):
            if is_variable(obj) or not isinstance(obj, Trackable):
                continue
            if type(obj)._serialize_to_tensors is not Trackable._serialize_to_tensors:
                found[number] = functions = saving_functions(obj)
                self.add(functions.save)
                self.add(functions.restore)
        return found

    # What functions capture.

    def _find_holders(self):
        """By the key of a tensor, the number of the object that it belongs to."""
        holders: dict[Any, int] = {}
        for number, obj in enumerate(self.objects):
            tensor = tensor_of(obj)
            if tensor is not None:
                holders.setdefault(_key(tensor), number)
        return holders

    def _add_constants(self):
        """Give each captured tensor that no object holds an object of its own, a child of who captures it."""
        for number, concrete in enumerate(list(self.objects)):
            if not isinstance(concrete, ConcreteFunction):
                continue
            for i, tensor in enumerate(concrete.captured_inputs):
                if tensor.dtype._kind in "rv":
                    continue
                self.children[number].append((f"capture_{i}", self.number_of_tensor(tensor)))

    def number_of_tensor(self, tensor: Any) -> int:
        """The number of the object that a captured tensor belongs to; a constant is added when first asked for."""
        if _key(tensor) not in self._holders:
            if not isinstance(tensor, EagerTensor):
                raise ValueError(
                    f"A function that is saved captures {tensor!r} of another graph. Call it there, or give it that "
                    "tensor as an argument."
                )
            self._holders[_key(tensor)] = self.add(Constant(tensor))
        return self._holders[_key(tensor)]

    def number_of_capture(self, concrete: ConcreteFunction, tensor: Any) -> int:
        """The number of the object that a tensor belongs to which a function captures.

        Raises:
            AssertionError: it is a variable or another resource that no object of the model holds.
        """
        if tensor.dtype._kind in "rv" and not self.holds(tensor):
            raise self._untracked(concrete, tensor)
        return self.number_of_tensor(tensor)

    def _untracked(self, concrete, tensor):
        graphs = [other.graph for other in (concrete, *self.concrete_functions())]
        found = next((graph.used_variables[id(tensor)] for graph in graphs if id(tensor) in graph.used_variables), None)
        if found is None and isinstance(tensor, EagerTensor):
            found = getattr(tensor._a[()], "name", None)
        inner = next((inner for outer, inner in concrete.graph.captures if outer is tensor), None)
        return AssertionError(
            "Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. "
            "tf.Variable) captured by functions must be 'tracked' by assigning them to an attribute of a tracked "
            "object or assigned to an attribute of the main object directly. See the information below:\n"
            f"\tFunction name = {concrete.name}\n\tCaptured Tensor = {tensor!r}\n"
            f"\tTrackable referencing this tensor = {found!r}\n\tInternal Tensor = {inner!r}"
        )

    def trace_of(self, number: int | None) -> ConcreteFunction | None:
        """The first trace of the function of a number, or the trace that it is; None for no number."""
        if number is None:
            return None
        if isinstance(self.objects[number], ConcreteFunction):
            return self.objects[number]
        traces = self.children[number]
        return self.objects[traces[0][1]] if traces else None

    def holds(self, tensor: Any) -> bool:
        """Whether a tensor belongs to one of the objects."""
        return _key(tensor) in self._holders

    def add(self, obj: Any) -> int:
        """The number of an object that is not reached from the root."""
        self._numbers[id(obj)] = len(self.objects)
        self.objects.append(obj)
        self.children.append([])
        return len(self.objects) - 1

    def number(self, obj: Any) -> int | None:
        """The number of an object; None for one that is not there."""
        return self._numbers.get(id(obj))

    def concrete_functions(self) -> list[ConcreteFunction]:
        """The traces among the objects."""
        return [obj for obj in self.objects if isinstance(obj, ConcreteFunction)]

    def described(self, number: int) -> str:
        """An object's place, for people."""
        return self.walk.described(number)


def _key(tensor):
    """What tells a tensor from others: a resource may be in several tensors."""
    if type(tensor) is EagerTensor and tensor.dtype._kind in "rv" and not tensor._a.ndim:
        return "content", id(tensor._a[()])
    return id(tensor)


def _is_saved(concrete):
    """Whether a trace is of use where it is loaded: not if an argument was an object of this program."""
    leaves = nest.flatten(concrete.structured_input_signature)
    if all(isinstance(leaf, TypeSpec) or can_encode(leaf) for leaf in leaves):
        return True
    _logger.info("Unsupported signature for serialization: %s.", concrete.structured_input_signature)
    return False


def tensor_of(obj: Any) -> Tensor | None:
    """The tensor by which functions know an object; None for an object without one."""
    if isinstance(obj, Asset):
        return obj.asset_path
    if isinstance(obj, Constant):
        return obj.value
    if is_variable(obj):
        return obj.handle
    handle = getattr(obj, "resource_handle", None) if isinstance(obj, Trackable) else None
    return handle if isinstance(handle, Tensor) else None


def is_variable(obj: Any) -> bool:
    """Whether an object is a variable, of headrace or of Keras."""
    if not (hasattr(type(obj), "handle") and hasattr(type(obj), "assign")):
        return False
    handle = obj.handle
    return isinstance(handle, Tensor) and handle.dtype is dtypes.resource


def plain_variable(obj: Any) -> Any:
    """The `tf.Variable` that is meant: a variable of Keras has one."""
    return obj if isinstance(obj, Variable) else obj._value
