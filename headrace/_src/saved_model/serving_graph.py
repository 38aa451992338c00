"""The graph around the functions of a SavedModel: what a server runs, which knows no objects.

It has the variables and tables by name, a call for each signature, the call that fills tables, and two calls that save
and restore everything.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from headrace._src.core import dtypes, nest
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.graph import PLACEHOLDER, Graph
from headrace._src.graph.control.calls import call_graph
from headrace._src.ops.arrays.passing import NO_OP
from headrace._src.saved_model.model_objects import Constant, ModelObjects, is_variable, plain_variable
from headrace._src.saved_model.resource_functions import makes_resource
from headrace._src.state import storage
from headrace._src.state.assets import Asset
from headrace._src.state.resources import creating_as

_INVALID = re.compile(r"[^A-Za-z0-9_.\\/>-]")
_INVALID_FIRST = re.compile(r"^[^A-Za-z0-9.]+")
ASSET_INITIALIZER = "asset_path_initializer"


class ServingGraph:
    """The graph around the functions of a SavedModel.

    Attributes:
        graph: the `tf.Graph`.
        copies: for variables and resources, by number of the object, the handle in the graph.
        assets: pairs of an `Asset` and the placeholder for its path.
        signatures: by key, (inputs by name, outputs by name) of a call.
        main_op: the operation that fills tables.
    """

    def __init__(self, objects: ModelObjects) -> None:
        self.graph = Graph()
        self._objects = objects
        self._tensors: dict[int, Any] = {}  # by number of the object
        self.assets: list[tuple[Asset, Any]] = []
        self._asset_writes: list = []
        self.signatures: dict[str, tuple[dict, dict]] = {}
        self.main_op: Any = None

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        """Within this block, operations are added to the graph."""
        with context.changed(graph=self.graph, recorders=(), device=None), self.graph.as_default():
            yield

    def tensor(self, number: int) -> Any:
        """The tensor of the graph for an object: a handle, a constant or a path."""
        if number not in self._tensors:
            obj = self._objects.objects[number]
            with self.building(), self.graph.control_dependencies(None):
                self._tensors[number] = self._made(obj, number)
        return self._tensors[number]

    def _made(self, obj, number):
        if is_variable(obj):
            variable = plain_variable(obj)
            return variable_handle(variable._shared_name, variable.dtype, variable.shape)
        if isinstance(obj, Asset):
            return self._asset(obj)
        if isinstance(obj, Constant):
            return self.graph.constant(obj.value)
        return self._resource(obj, number)

    def _asset(self, asset):
        """TF: the path is kept in a variable, which the main op sets."""
        path = self.placeholder([], dtypes.string, ASSET_INITIALIZER)
        self.assets.append((asset, path))
        handle = variable_handle("Variable", dtypes.string, TensorShape([]))
        write = storage.ASSIGN(handle, path, name=f"{handle.op.name}/Assign")
        self._asset_writes.append(write)
        with self.graph.control_dependencies([write]):
            return storage.READ_VARIABLE(handle, dtype=dtypes.string)

    def _resource(self, obj, number):
        if makes_resource(obj):
            with creating_as(self._objects.resource_names[id(obj)]):
                return obj._create_resource()
        children = dict(self._objects.children[number])
        creator = self._objects.trace_of(children.get("_create_resource"))
        if creator is None:
            raise ValueError(f"{obj!r} is a resource without a function that creates it, and cannot be saved.")
        return self.call(creator, [])[0]

    def placeholder(self, shape: Any, dtype: Any, name: str) -> Any:
        """A new placeholder of the graph."""
        shape = TensorShape(shape)
        dims = None if shape.rank is None else tuple(shape.as_list())
        return PLACEHOLDER(dtype=dtype, shape=dims, name=name)

    def call(self, concrete: Any, tensors: list) -> list:
        """Call a function in the graph, as it is saved; what it captures are the graph's own tensors."""
        with self.building():
            return call_graph(self._objects.functions.graph(concrete), [*tensors, *self._captured(concrete)])

    def call_here(self, concrete: Any, tensors: list) -> Any:
        """Call a function in the current graph, a function in this one; returns what it returns."""
        flat = call_graph(concrete.graph, [*tensors, *self._captured(concrete)])
        return nest.pack_sequence_as(concrete.structured_outputs, flat, expand_composites=True)

    def _captured(self, concrete):
        return [self.tensor(self._objects.number_of_capture(concrete, x)) for x in concrete.captured_inputs]

    # What servers call.

    def add_signature(self, key: str, concrete: Any) -> None:
        """Add a call of a signature, with placeholders for its arguments."""
        inputs = {}
        functions = self._objects.functions
        with self.building():
            for name, tensor in zip(functions.keywords(concrete), functions.graph(concrete).inputs):
                wish = valid_name(f"{key}_{name}")
                inputs[name] = self.placeholder(tensor.shape, tensor.dtype, wish)
        flat = self.call(concrete, list(inputs.values()))
        self.signatures[key] = inputs, nest.pack_sequence_as(concrete.structured_outputs, flat, expand_composites=True)

    def add_main_op(self) -> None:
        """Add the operation that a server runs once: it sets the paths of assets and fills tables."""
        done = []
        for number, obj in enumerate(self._objects.objects):
            children = dict(self._objects.children[number]) if has_resource(obj) else {}
            initialize = self._objects.trace_of(children.get("_initialize"))
            if initialize is not None:
                done += self.call(initialize, [])
        with self.building(), self.graph.control_dependencies([*done, *self._asset_writes]):
            self.main_op = NO_OP()
        self.main_op = self.graph.nodes[-1]


def has_resource(obj: Any) -> bool:
    """Whether an object is a table or another resource that functions of the model make and fill."""
    return not is_variable(obj) and isinstance(getattr(obj, "resource_handle", None), Tensor)


def valid_name(name: str) -> str:
    """A name that an operation of TensorFlow's may have."""
    return _INVALID_FIRST.sub("", _INVALID.sub("_", name)) or "node"


def variable_handle(name: str, dtype: Any, shape: Any) -> Any:
    """A variable of the current graph, with an operation that reads it. TF: tools look for that one."""
    dims = None if shape.rank is None else tuple(shape.as_list())
    with name_scope(valid_name(name)) as scope:
        unique = scope.rstrip("/")
        handle = storage.VAR_HANDLE(shared_name=unique, debug_name=f"{unique}/", dtype=dtype, shape=dims, name=scope)
        box = np.empty((), object)
        box[()] = storage.Storage(None, dtype, shape, unique)
        handle._known = box  # tells the shape of what is read
        with name_scope("Read"):
            storage.READ_VARIABLE(handle, dtype=dtype)
    return handle
