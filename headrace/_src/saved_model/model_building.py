"""A `SavedModel` message of an object: its functions, the graph around them, its objects and signatures."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from headrace._src.core import nest
from headrace._src.core.context import context
from headrace._src.core.names import fresh_scope
from headrace._src.core.tensor import Tensor
from headrace._src.core.trackable import Trackable
from headrace._src.formats.model_messages import SavedModel
from headrace._src.formats.tensor_protos import shape_to_proto
from headrace._src.graph.messages.graph_def import graph_def_of
from headrace._src.graph.messages.op_definitions import op_def_of
from headrace._src.op.registry import lookup
from headrace._src.op.traits import CALLS_PYTHON
from headrace._src.ops.sparse.tensor import SparseTensor
from headrace._src.saved_model.constants import (
    INIT_OP_SIGNATURE_KEY,
    MAIN_OP_KEY,
    PREDICT_METHOD_NAME,
    SAVED_MODEL_SCHEMA_VERSION,
    SERVING,
)
from headrace._src.saved_model.debugging_parts import DebugInformation, wants_lines
from headrace._src.saved_model.function_library import ModelLibrary
from headrace._src.saved_model.gradient_functions import GradientFunctions
from headrace._src.saved_model.model_objects import ModelObjects
from headrace._src.saved_model.object_messages import ObjectMessages
from headrace._src.saved_model.options import SaveOptions
from headrace._src.saved_model.saver_graph import add_saver
from headrace._src.saved_model.serving_graph import ServingGraph
from headrace._src.saved_model.structured_values import encode
from headrace._src.state.assets import Asset
from headrace._src.tracing.concrete_function import ConcreteFunction
from headrace._src.tracing.function import Function
from headrace._src.version import GIT_VERSION, VERSION

_logger = logging.getLogger("tensorflow")


class BuiltModel(NamedTuple):
    """A SavedModel that has not been written yet.

    Attributes:
        message: the `SavedModel`.
        objects: the objects whose values are to be written.
        assets: files to copy, by their names in the model's folder.
        debugging: which line made which operation, if that was wanted.
    """

    message: Any
    objects: ModelObjects
    assets: dict[str, str]
    debugging: DebugInformation | None


def build_model(root: Trackable, signatures: Any, options: SaveOptions) -> BuiltModel:
    """The message of an object, with its signatures: a function, a dictionary of functions, or None."""
    saved_model = SavedModel(saved_model_schema_version=SAVED_MODEL_SCHEMA_VERSION)
    with context.changed(graph=None, recorders=(), device=None), fresh_scope():
        objects = ModelObjects(root, signatures)
        meta_graph = saved_model.meta_graphs.add()
        debugging = DebugInformation() if options.save_debug_info or wants_lines() else None
        assets = _fill(meta_graph, objects, options, debugging)
    return BuiltModel(saved_model, objects, assets, debugging)


def _fill(meta_graph, objects, options, debugging):
    serving = ServingGraph(objects)
    for key, concrete in objects.signatures.items():
        serving.add_signature(key, concrete)
    for concrete in objects.concrete_functions():
        for tensor in concrete.captured_inputs:
            serving.tensor(objects.number_of_capture(concrete, tensor))
    for number, obj in enumerate(objects.objects):
        if isinstance(obj, Asset):
            serving.tensor(number)
    saver = None if options.experimental_skip_saver else add_saver(serving, objects)
    serving.add_main_op()
    gradients = GradientFunctions(options.experimental_custom_gradients)
    for concrete in objects.concrete_functions():
        gradients.collect(concrete.graph)
    for function in gradients.functions:
        for tensor in function.captured:
            if isinstance(tensor, Tensor):
                serving.tensor(objects.number_of_tensor(tensor))
    library = _write_graph(meta_graph, serving, objects, gradients, debugging, options)
    _check_namespaces(meta_graph.graph_def, options.namespace_whitelist)
    _write_aliases(meta_graph.meta_info_def, objects, library, options.function_aliases)
    devices = options.experimental_variable_policy._save_variable_devices()
    meta_graph.object_graph_def.CopyFrom(ObjectMessages(objects, serving, library, gradients, devices).message())
    _write_information(meta_graph, options)
    _write_signatures(meta_graph, serving)
    if saver is not None:
        meta_graph.saver_def.filename_tensor_name = saver.filename
        meta_graph.saver_def.save_tensor_name = saver.save
        meta_graph.saver_def.restore_op_name = saver.restore
        meta_graph.saver_def.version = 2
    return _write_assets(meta_graph, serving)


def _write_graph(meta_graph, serving, objects, gradients, debugging, options):
    functions = [(objects.functions.graph(concrete), concrete.name) for concrete in objects.concrete_functions()]
    functions += [(f.graph, f"__inference_{f.graph.name}_{i}") for i, f in enumerate(gradients.functions)]
    made = []

    def make(proto, add_shapes):
        without_checks = options.experimental_debug_stripper
        made.append(ModelLibrary(proto, add_shapes, functions, gradients, debugging, without_checks))
        return made[0]

    meta_graph.graph_def.CopyFrom(graph_def_of(serving.graph, add_shapes=True, make_library=make))
    return made[0]


def _write_information(meta_graph, options):
    information = meta_graph.meta_info_def
    information.tags.extend(sorted({SERVING, *(options.extra_tags or ())}))
    information.tensorflow_version = VERSION
    information.tensorflow_git_version = GIT_VERSION
    records = [lookup(name) for name in sorted(_ops(meta_graph.graph_def))]
    information.stripped_op_list.op.extend(map(op_def_of, records))
    python = [record.name for record in records if CALLS_PYTHON in record.traits]
    if python:
        _logger.warning(
            "The SavedModel calls Python functions (%s), which are not saved with it: what calls them runs in this "
            "process only. Write them with functions of `tf` instead of tf.py_function and tf.numpy_function.",
            ", ".join(python),
        )  # fmt: skip


def _ops(graph):
    """The names of all ops in a graph and its functions."""
    names = {node.op for node in graph.node}
    for function in graph.library.function:
        names.update(node.op for node in function.node_def)
    return names


def _check_namespaces(graph, allowed):
    """Refuse ops that come from packages which the user has not named."""
    if allowed is None:
        return
    foreign = {op: op.partition(">")[0] for op in sorted(_ops(graph)) if ">" in op}
    foreign = {op: namespace for op, namespace in foreign.items() if namespace not in allowed}
    if foreign:
        raise ValueError(
            f"Attempted to save ops from non-whitelisted namespaces to SavedModel: {list(foreign)}. Please verify that "
            "these ops should be saved, since they must be available when loading the SavedModel. Once you've "
            "confirmed this, add the following namespaces to the `namespace_whitelist` argument in "
            f"tf.saved_model.SaveOptions: {sorted(set(foreign.values()))}."
        )


def _write_aliases(information, objects, library, aliases):
    """Say which functions have names that the user gave."""
    for alias, function in aliases.items():
        if isinstance(function, Function):
            function = objects.children_of(function).values()
        for concrete in [function] if isinstance(function, ConcreteFunction) else function:
            if not isinstance(concrete, ConcreteFunction):
                raise TypeError(
                    f"Unsupported type {type(concrete)}. Functions in `function_aliases` should be created by "
                    "tf.function, or concrete functions, or collections of concrete functions."
                )
            if objects.number(concrete) is None:
                raise ValueError(
                    f"function_aliases: {alias!r} is {concrete.name}, which the saved object does not hold. Make the "
                    "function an attribute of it."
                )
            information.function_aliases[library.name_of(objects.functions.graph(concrete))] = alias


def _write_signatures(meta_graph, serving):
    for key, (inputs, outputs) in serving.signatures.items():
        signature = meta_graph.signature_def[key]
        signature.method_name = PREDICT_METHOD_NAME
        for described, tensors in ((signature.inputs, inputs), (signature.outputs, outputs)):
            for name, tensor in tensors.items():
                _describe(described[name], tensor)
    meta_graph.collection_def[MAIN_OP_KEY].node_list.value.append(serving.main_op.name)
    output = meta_graph.signature_def[INIT_OP_SIGNATURE_KEY].outputs[INIT_OP_SIGNATURE_KEY]
    output.name = serving.main_op.name
    output.tensor_shape.unknown_rank = True


def _describe(info, tensor):
    """Fill a `TensorInfo`."""
    if isinstance(tensor, Tensor):
        info.name = tensor.name
        info.dtype = tensor.dtype.as_datatype_enum
        info.tensor_shape.CopyFrom(shape_to_proto(tensor.shape._dims))
    elif isinstance(tensor, SparseTensor):
        info.dtype = tensor.dtype.as_datatype_enum
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
        info.tensor_shape.CopyFrom(shape_to_proto(tensor.shape._dims))
    else:
        composite = info.composite_tensor
        composite.type_spec.CopyFrom(encode(tensor._type_spec).type_spec_value)
        for component in nest.flatten(tensor, expand_composites=True):
            _describe(composite.components.add(), component)


def _write_assets(meta_graph, serving):
    """List the assets, and give each a name of its own in the folder of the model."""
    found: dict[str, str] = {}
    for asset, placeholder in serving.assets:
        path = asset.asset_path.numpy().decode()
        name = _free_name(path, found)
        found[name] = path
        definition = meta_graph.asset_file_def.add(filename=name)
        definition.tensor_info.name = placeholder.name
    return found


def _free_name(path, taken):
    name = base = path.rstrip("/").rpartition("/")[2]
    number = 0
    while name in taken and taken[name] != path:
        number += 1
        name = f"{base}_{number}"
    return name
