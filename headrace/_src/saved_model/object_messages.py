"""The objects of a SavedModel as a `SavedObjectGraph`, from which a loader makes them again."""

from __future__ import annotations

from typing import Any

from headrace._src.formats.model_messages import SavedObjectGraph
from headrace._src.formats.tensor_protos import shape_to_proto
from headrace._src.saved_model.function_library import ModelLibrary
from headrace._src.saved_model.function_messages import (
    concrete_function_message,
    fill_bare_function,
    function_spec_message,
)
from headrace._src.saved_model.gradient_functions import GradientFunctions, InnerTensor
from headrace._src.saved_model.model_objects import Constant, ModelObjects, is_variable, plain_variable
from headrace._src.saved_model.serving_graph import ServingGraph, has_resource
from headrace._src.state.assets import Asset
from headrace._src.tracing.concrete_function import ConcreteFunction
from headrace._src.tracing.function import Function

# TF: registered names tell a loader which class makes an object.
_CONSTANT = "tf.TrackableConstant"


class ObjectMessages:
    """Writes the objects of a SavedModel."""

    def __init__(
        self,
        objects: ModelObjects,
        serving: ServingGraph,
        library: ModelLibrary,
        gradients: GradientFunctions,
        save_devices: bool = False,
    ) -> None:
        """
        Args:
            objects: all objects.
            serving: the graph, which has the constants.
            library: the functions, which are written already.
            gradients: gradient functions, which are no objects, but read tensors of these.
            save_devices: whether variables say where they are.
        """
        self._objects = objects
        self._serving = serving
        self._library = library
        self._gradients = gradients
        self._save_devices = save_devices

    def message(self) -> Any:
        """The `SavedObjectGraph`."""
        graph = SavedObjectGraph()
        for concrete in self._objects.concrete_functions():
            bound = [self._objects.number_of_capture(concrete, x) for x in concrete.captured_inputs]
            message = concrete_function_message(concrete.structured_input_signature, concrete.structured_outputs, bound)
            graph.concrete_functions[self._name(concrete)].CopyFrom(message)
        for function in self._gradients.functions:
            bound = [self._bound(tensor) for tensor in function.captured]
            message = concrete_function_message(function.signature, function.graph.structured_outputs, bound)
            graph.concrete_functions[self._library.name_of(function.graph)].CopyFrom(message)
        for number, obj in enumerate(self._objects.objects):
            node = graph.nodes.add()
            for name, child in self._objects.children[number]:
                node.children.add(node_id=child, local_name=name)
                if isinstance(obj, Function | ConcreteFunction):
                    node.dependencies.add(node_id=child, local_name=name)  # to be made first
            for slot in self._objects.walk.slots.get(number, ()):
                node.slot_variables.add(
                    original_variable_node_id=slot.variable, slot_name=slot.name, slot_variable_node_id=slot.slot
                )
            saving = self._objects.saving.get(number)
            if saving is not None:
                pair = node.saveable_objects[saving.name]
                pair.save_function = self._objects.number(saving.save)
                pair.restore_function = self._objects.number(saving.restore)
            self._fill(node, obj, number)
        return graph

    def _name(self, concrete):
        return self._library.name_of(self._objects.functions.graph(concrete))

    def _bound(self, tensor):
        return self._objects.add(tensor) if isinstance(tensor, InnerTensor) else self._objects.number_of_tensor(tensor)

    def _fill(self, node, obj, number):
        if is_variable(obj):
            self._fill_variable(node.variable, plain_variable(obj))
        elif isinstance(obj, Function):
            names = [self._name(self._objects.objects[n]) for _, n in self._objects.children[number]]
            node.function.concrete_functions.extend(names)
            node.function.function_spec.CopyFrom(function_spec_message(obj))
        elif isinstance(obj, ConcreteFunction):
            fill_bare_function(node.bare_concrete_function, obj, self._name(obj), self._objects.functions.keywords(obj))
        elif isinstance(obj, Constant):
            node.constant.operation = self._serving.tensor(number).op.name
            node.registered_name = _CONSTANT
        elif isinstance(obj, Asset):
            places = [id(asset) for asset, _ in self._serving.assets]
            node.asset.asset_file_def_index = places.index(id(obj))
        elif isinstance(obj, InnerTensor):
            node.captured_tensor.name = self._library.tensor_name(obj.graph, obj.tensor)
            node.captured_tensor.concrete_function = self._library.written_name(obj.graph)
        elif has_resource(obj):
            node.resource.SetInParent()
        else:
            node.user_object.identifier = obj._object_identifier
            node.user_object.version.producer = 1
            node.user_object.version.min_consumer = 1

    def _fill_variable(self, proto, variable):
        proto.dtype = variable.dtype.as_datatype_enum
        proto.shape.CopyFrom(shape_to_proto(variable.shape._dims))
        proto.trainable = bool(variable.trainable)
        proto.synchronization = variable.synchronization.value
        proto.aggregation = variable.aggregation.value
        proto.name = variable._shared_name
        if self._save_devices:
            proto.device = variable.device
