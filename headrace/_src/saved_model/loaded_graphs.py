"""SavedModels of 1.x, which hold a graph and no objects: their variables, and functions cut out of the graph."""

from __future__ import annotations

import functools
from typing import Any

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.shapes import TensorShape
from headrace._src.core.trackable import AutoTrackable
from headrace._src.formats import files
from headrace._src.formats.model_messages import VariableDef
from headrace._src.formats.tensor_protos import proto_to_shape
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.messages.graph_def import function_def_of
from headrace._src.graph.messages.reference_nodes import text_attribute
from headrace._src.op.convert import to_tensor
from headrace._src.op.registry import lookup
from headrace._src.saved_model.constants import INIT_OP_SIGNATURE_KEY, VARIABLES_DIRECTORY, VARIABLES_FILENAME
from headrace._src.saved_model.graph_parts import (
    Fetched,
    GraphLibrary,
    GraphParts,
    described_tensor,
    dtype_of_number,
    name_of,
    tensor_name,
)
from headrace._src.saved_model.loaded_functions import LoadedConcreteFunction
from headrace._src.saved_model.model_contents import asset_paths, init_operation, parsed
from headrace._src.saved_model.signatures import SignatureMap
from headrace._src.state.assets import Asset
from headrace._src.state.storage import register_storage
from headrace._src.state.variables import Variable, restored_variable

_VARIABLE_OPS = ("VarHandleOp", "VariableV2", "Variable")
_COLLECTIONS = ("variables", "local_variables", "trainable_variables", "model_variables", "metric_variables")


class LoadedGraph(AutoTrackable):
    """What `tf.saved_model.load` returns for a SavedModel of 1.x.

    Attributes:
        variables: its variables.
        signatures: functions by key.
        asset_paths: the files that come with it.
        initializer: the function that was run when it was loaded, such as to fill tables; None without one.
    """

    def __init__(self, source: GraphSource) -> None:
        self._source = self._no_dependency(source)
        self.variables = list(source.variables.values())
        self.asset_paths = source.assets
        self.initializer = source.initializer
        self.signatures = SignatureMap(source.signatures())

    @property
    def graph(self) -> FuncGraph:
        """All operations, for looking them up by name. It is made when first asked for."""
        return self._source.parts.whole

    def prune(self, feeds: Any, fetches: Any, name: str = "pruned", input_signature: Any = None) -> PrunedFunction:
        """A function of some tensors of the graph that computes others.

        Args:
            feeds: tensors of the graph or their names ("x:0"), or a structure of them: what the function takes.
            fetches: tensors, operations or their names, or a structure of them: what it returns; None for operations.
            name: of the function.
            input_signature: accepted.
        """
        return self._source.pruned(nest.flatten(feeds), fetches, name)

    def restore(self, path: Any) -> None:
        """Gives the variables the values that they have in a checkpoint."""
        self._source.restore(files.path_string(path))


class PrunedFunction(LoadedConcreteFunction):
    """A part of a loaded graph as a function."""

    def __init__(self, source: GraphSource, name: str, feeds: list[str], signature: tuple, fetches: Any) -> None:
        """
        Args:
            source: has the graph.
            name: of the function.
            feeds: names of the tensors that it takes, in the order of the flat signature.
            signature: (positional arguments, keyword arguments), of specs.
            fetches: a structure of names.
        """
        super().__init__(f"__inference_{name}", signature, None, source.library)
        self._python_name = name
        self._source = source
        self._feeds = feeds
        self._fetches = fetches

    @functools.cached_property
    def graph(self):
        return self._source.parts.cut(self._python_name, self._feeds, self._flat_specs, self._fetches)

    @property
    def _captured(self):
        return self.graph.external_captures

    @property
    def function_def(self):
        return function_def_of(self.graph, self.name)

    @property
    def structured_outputs(self):
        return self.graph.structured_outputs

    @property
    def variables(self):
        return tuple(self.graph.used_variables.values())

    @property
    def trainable_variables(self):
        return tuple(variable for variable in self.variables if variable.trainable)

    def _short_signature(self):
        parts = [f"{parameter.name}: {kind!r}" for parameter, kind in self._described]
        return f"({', '.join(parts)}) -> {self._fetches!r}"


class GraphSource:
    """The graph of a SavedModel of 1.x as messages, and what its operations refer to."""

    def __init__(self, folder: str, meta_graph: Any, library: GraphLibrary) -> None:
        """
        Args:
            folder: of the SavedModel.
            meta_graph: the `MetaGraphDef`.
            library: its functions.
        """
        self._folder = folder
        self._meta_graph = meta_graph
        self.library = library
        self._nodes = {node.name: node for node in meta_graph.graph_def.node}
        self.parts = GraphParts(self._nodes, library, folder)
        self.variables: dict[str, Variable] = {}  # by name of the operation
        self.assets: list[Asset] = []
        self.initializer: PrunedFunction | None = None
        self._make_variables()
        self._find_assets()
        self._make_resources()

    # What the operations refer to.

    def _make_variables(self):
        described = self._variable_messages()
        for name, node in self._nodes.items():
            if node.op not in _VARIABLE_OPS:
                continue
            key = (text_attribute(node, "container"), text_attribute(node, "shared_name") or name)
            variable = self.library.variables.get(key)
            if variable is None:
                variable = self.library.variables[key] = self._variable(node, described.get(name))
                register_storage(key[0], self.library.name_here(key[1]), variable._storage)
            if node.op == "VarHandleOp":
                self.parts.given[f"{name}:0"] = variable.handle
            if name in described:
                self.variables[name] = variable

    def _variable(self, node, proto):
        dtype = dtype_of_number(node.attr["dtype"].type, node.name)
        shape = TensorShape(proto_to_shape(node.attr["shape"].shape))
        if proto is None:
            return restored_variable(None, dtype, shape, node.name, False)
        use = proto.trainable, proto.synchronization, proto.aggregation
        return restored_variable(None, dtype, shape, node.name, *use)

    def _variable_messages(self):
        """The variables of the collections, by the name of the operation."""
        found = {}
        for key in _COLLECTIONS:
            if key not in self._meta_graph.collection_def:
                continue
            for data in self._meta_graph.collection_def[key].bytes_list.value:
                proto = parsed(VariableDef, data, self._folder, f"an element of the collection {key!r}")
                name = proto.variable_name.partition(":")[0]
                if name in self._nodes:
                    found.setdefault(name, proto)
        return found

    def _find_assets(self):
        assets: dict[str, Asset] = {}
        for tensor, path in asset_paths(self._meta_graph, self._folder).items():
            self.parts.given[tensor_name(tensor)] = assets.setdefault(path, Asset(path)).asset_path
        self.assets = list(assets.values())

    def _make_resources(self):
        """Make tables, queues and the like once; functions then share them."""
        for name, node in self._nodes.items():
            if node.op in _VARIABLE_OPS or node.op == "Placeholder" or node.op in self.library:
                continue
            try:
                signature = lookup(node.op).signature
            except errors.NotFoundError:
                continue  # it may be in a part that nobody asks for
            kinds = [argument.dtype for argument in signature.outputs]
            if kinds == [dtypes.resource] and all(x.dtype is not dtypes.resource for x in signature.inputs):
                made = self.pruned([], [f"{name}:0"], "resource")
                self.parts.given[f"{name}:0"] = made()[0]

    # Functions.

    def pruned(self, feeds: list, fetches: Any, name: str) -> PrunedFunction:
        """A function that takes some tensors by position."""
        names = [tensor_name(name_of(feed)) for feed in feeds]
        structure = nest.map_structure(name_of, fetches)
        specs = tuple(self.parts.spec(feed) for feed in names)
        function = PrunedFunction(self, name, names, (specs, {}), structure)
        function.graph  # noqa: B018 what is not there is told now
        return function

    def signatures(self) -> dict[str, PrunedFunction]:
        """The functions that the model says it has."""
        return {
            key: self._signature(key, definition)
            for key, definition in self._meta_graph.signature_def.items()
            if key != INIT_OP_SIGNATURE_KEY
        }

    def _signature(self, key, definition):
        specs, feeds = {}, []
        for name in sorted(definition.inputs):
            specs[name], tensors = described_tensor(definition.inputs[name], name)
            feeds += tensors
        outputs = {name: described_tensor(definition.outputs[name], name) for name in sorted(definition.outputs)}
        fetches = {name: Fetched(spec, tensors) for name, (spec, tensors) in outputs.items()}
        function = PrunedFunction(self, f"signature_{key}", feeds, ((), specs), fetches)
        function.called_by_keywords(list(specs), 1 if len(specs) == 1 else 0)
        return function

    # What is done when it is loaded.

    def restore(self, prefix: str) -> None:
        """Read the values of the variables from a checkpoint, with the operations that the graph has for that."""
        saver = self._meta_graph.saver_def
        if not saver.restore_op_name:
            raise errors.failed_precondition(f"{self._folder}: the SavedModel has no operation that restores values.")
        function = self.pruned([saver.filename_tensor_name], [saver.restore_op_name], "restore")
        function(to_tensor(prefix, dtypes.string))

    def restore_saved(self) -> None:
        """Read the values that came with the model, if it has any."""
        prefix = files.join(self._folder, VARIABLES_DIRECTORY, VARIABLES_FILENAME)
        if files.exists(f"{prefix}.index") and self._meta_graph.saver_def.restore_op_name:
            self.restore(prefix)

    def initialize(self) -> None:
        """Run the operation that the model names for that, such as to fill tables."""
        name = init_operation(self._meta_graph, self._folder)
        if name is not None:
            self.initializer = self.pruned([], [name], "initializer")
            self.initializer()


def load_graph(folder: str, meta_graph: Any, policy: Any, restores: bool = True) -> LoadedGraph:
    """The object for a SavedModel of 1.x.

    Args:
        folder: of the SavedModel.
        meta_graph: the `MetaGraphDef`.
        policy: which files its operations may touch; None for any.
        restores: whether variables get the values that came with it.
    """
    source = GraphSource(folder, meta_graph, GraphLibrary(meta_graph.graph_def.library, policy))
    if restores:
        source.restore_saved()
    source.initialize()
    return LoadedGraph(source)
