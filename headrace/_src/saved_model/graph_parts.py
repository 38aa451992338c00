"""Functions cut out of a graph that is given as messages: the operations that some results need, up to some inputs."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.context import context
from headrace._src.core.names import fresh_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec, TypeSpec
from headrace._src.formats.tensor_protos import proto_to_shape
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.building.operation import Operation
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.graph.messages.graph_import import GraphImport
from headrace._src.graph.messages.reference_nodes import drop_unread
from headrace._src.ops.sparse.tensor import SparseTensorSpec
from headrace._src.saved_model.saved_library import SavedLibrary
from headrace._src.saved_model.structured_values import decode_type_spec
from headrace._src.state.variables import Variable


class GraphLibrary(SavedLibrary):
    """The functions of a model that is a graph, and its variables by name."""

    def __init__(self, library: Any, policy: Any = None) -> None:
        super().__init__(library, policy)
        self.variables: dict[tuple[str, str], Variable] = {}  # by container and shared name

    def reference(self, container, shared_name):
        return self.variables.get((container, shared_name))

    def name_here(self, shared_name: str) -> str:
        """What operations call a variable of that name, so that two models do not share it."""
        return self.adapted({"shared_name": shared_name}, "")["shared_name"]


class GraphParts:
    """A graph of which parts can be had as functions.

    Attributes:
        given: tensors by name ("x:0") that are not computed, but captured: handles, paths.
    """

    def __init__(self, nodes: dict[str, Any], library: GraphLibrary, folder: str) -> None:
        """
        Args:
            nodes: the `NodeDef` messages by name.
            library: the functions that they call.
            folder: of the model, for messages.
        """
        self._nodes = nodes
        self._library = library
        self._folder = folder
        self.given: dict[str, Any] = {}

    def spec(self, name: str) -> TensorSpec:
        """What is known of a tensor."""
        _graph, adding = self._imported("scratch", [name], {})
        tensor = adding.element(name)
        return TensorSpec(tensor.shape, tensor.dtype)

    def cut(self, name: str, feeds: list[str], specs: list, fetches: Any) -> FuncGraph:
        """The graph of a function: the operations that some fetches need, up to the feeds."""
        wanted = [part for fetch in nest.flatten(fetches) for part in _parts(fetch)]
        graph, adding = self._imported(name, wanted, dict(zip(feeds, specs, strict=True)))

        def value(fetch):
            if isinstance(fetch, Fetched):
                tensors = [adding.element(part) for part in fetch.tensors]
                return nest.pack_sequence_as(fetch.spec, tensors, expand_composites=True)
            return adding.element(fetch) if ":" in fetch else None

        graph.structured_outputs = nest.map_structure(value, fetches)
        graph.outputs = nest.flatten(graph.structured_outputs, expand_composites=True)
        graph.outputs = [tensor for tensor in graph.outputs if tensor is not None]
        drop_unread(graph)
        known = {id(variable.handle): variable for variable in self._library.variables.values()}
        graph.used_variables.update({key: known[key] for key in graph._captures if key in known})
        return graph

    def _imported(self, name, wanted, feeds):
        """A graph with the operations that are needed for some elements; what is fed becomes its inputs."""
        policy = self._library._policy
        held = contextlib.nullcontext() if policy is None else policy.held(name)
        with held, context.changed(graph=None, recorders=(), device=None), fresh_scope():
            graph = FuncGraph(name, None)
            needed = self._needed(wanted, set(feeds) | set(self.given))
            with graph.building():
                mapped = {}
                for feed, spec in feeds.items():
                    label = feed.rpartition(":")[0]
                    mapped[feed] = graph.add_input(spec.shape, spec.dtype, None if label in needed else label)
                for given, tensor in self.given.items():
                    if given not in mapped:
                        mapped[given] = _Captured(graph, tensor)
                adding = GraphImport(graph, [self._nodes[x] for x in needed], self._library, _Lazy(mapped))
                adding.run()
        return graph, adding

    def _needed(self, wanted, stops):
        """The names of the nodes that some tensors and operations need, in the order of the message."""
        found: set[str] = set()
        pending = list(wanted)
        while pending:
            reference = pending.pop()
            if tensor_name(reference) in stops:
                continue
            name = reference.removeprefix("^").partition(":")[0]
            if name not in self._nodes:
                raise errors.UnknownOperationError(
                    f"{self._folder}: the name {reference!r} refers to an operation that is not in the graph of the "
                    "SavedModel."
                )
            if name not in found:
                found.add(name)
                pending.extend(self._nodes[name].input)
        return [name for name in self._nodes if name in found]

    @functools.cached_property
    def whole(self) -> FuncGraph:
        """A graph with all operations."""
        return self._imported("loaded", list(self._nodes), {})[0]


class Fetched:
    """A composite or dense result: its spec, and the names of its tensors."""

    def __init__(self, spec, tensors):
        self.spec = spec
        self.tensors = tensors

    def __repr__(self):
        return repr(self.spec)


class _Captured:
    """A tensor from outside, which becomes an input of a graph when an operation reads it."""

    def __init__(self, graph, tensor):
        self._graph = graph
        self._tensor = tensor

    def inside(self):
        """The input."""
        return self._graph.inside(self._tensor)


class _Lazy(dict):
    """What replaces tensors of a message: captured ones are captured when they are first read."""

    def get(self, key, default=None):
        value = super().get(key, default)
        return value.inside() if isinstance(value, _Captured) else value

    def __getitem__(self, key):
        value = super().__getitem__(key)
        return value.inside() if isinstance(value, _Captured) else value


def tensor_name(name: str) -> str:
    """The long form of a tensor's name."""
    return name if ":" in name else f"{name}:0"


def name_of(element: Any) -> str:
    """The name of a tensor or operation of a graph, or a name as it is.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(element, (SymbolicTensor, Operation)):
        return element.name
    if not isinstance(element, str):
        raise TypeError(f"prune: expected a tensor or operation of the graph, or its name ('x:0'), got {element!r}.")
    return element


def _parts(fetch):
    return fetch.tensors if isinstance(fetch, Fetched) else [fetch]


def dtype_of_number(number: int, name: str) -> dtypes.DType:
    """The dtype that a message names.

    Args:
        number: of the dtype.
        name: what has it, for the error.

    Raises:
        InvalidArgumentError: there is no such dtype.
    """
    try:
        return dtypes.as_dtype(number)
    except TypeError:
        raise errors.invalid_argument(f"{name!r} has a dtype of the number {number}, which there is not.") from None


def described_tensor(info: Any, name: str) -> tuple[TypeSpec, list[str]]:
    """The spec of what a `TensorInfo` describes, and the names of its tensors.

    Raises:
        InvalidArgumentError: it describes nothing, or has no dtype.
    """
    encoding = info.WhichOneof("encoding")
    shape = TensorShape(proto_to_shape(info.tensor_shape)) if info.HasField("tensor_shape") else TensorShape(None)
    if encoding == "name":
        return TensorSpec(shape, dtype_of_number(info.dtype, name), name), [info.name]
    if encoding == "coo_sparse":
        parts = info.coo_sparse
        names = [parts.indices_tensor_name, parts.values_tensor_name, parts.dense_shape_tensor_name]
        return SparseTensorSpec(shape, dtype_of_number(info.dtype, name)), names
    if encoding == "composite_tensor":
        spec = decode_type_spec(info.composite_tensor.type_spec)
        return spec, [component.name for component in info.composite_tensor.components]
    raise errors.invalid_argument(f"The tensor {name!r} of a signature has no name.")
