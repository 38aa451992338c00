"""From the object graph of a SavedModel to objects: variables, functions, tables, and what holds them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors, operating_system
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor
from headrace._src.core.tracked_containers import _TupleWrapper
from headrace._src.formats import files
from headrace._src.formats.tensor_protos import proto_to_array, proto_to_shape
from headrace._src.op.convert import to_tensor
from headrace._src.saved_model.constants import ASSETS_DIRECTORY
from headrace._src.saved_model.loaded_functions import LoadedConcreteFunction, RestoredFunction
from headrace._src.saved_model.loaded_objects import (
    LoadedDict,
    LoadedList,
    RestoredResource,
    RestoredTable,
    SavedOptimizer,
    SelfSavingObject,
    set_child,
    user_object,
)
from headrace._src.saved_model.loaded_parts import LoadedParts
from headrace._src.saved_model.saved_library import CapturedTensor, SavedLibrary
from headrace._src.saved_model.saving_functions import BY_NAME, SavingFunctions
from headrace._src.saved_model.signatures import SignatureMap
from headrace._src.saved_model.structured_values import decode, decode_function_spec
from headrace._src.saved_model.variable_values import SavedValues
from headrace._src.state.assets import Asset
from headrace._src.state.variable_copies import VariableAggregation, VariableSynchronization
from headrace._src.state.variables import restored_variable
from headrace._src.tracing.concrete_function import ConcreteFunction

# The policies under which variables have the devices that they were saved with.
_WITH_DEVICES = ("save_variable_devices", "expand_distributed_variables")

# What messages that are not sound make the classes of structures and shapes raise.
UNSOUND = (ValueError, TypeError, AttributeError, KeyError, IndexError, OverflowError, RecursionError)


class ObjectBuilder:
    """Makes the objects of one SavedModel."""

    def __init__(
        self,
        folder: str,
        meta_graph: Any,
        library: SavedLibrary,
        values: SavedValues | None,
        options: Any,
        parts: LoadedParts | None = None,
    ) -> None:
        """
        Args:
            folder: of the SavedModel.
            meta_graph: the `MetaGraphDef`.
            library: its functions.
            values: of its variables; None when they stay without one.
            options: the `LoadOptions`.
            parts: which objects are wanted, and which of them are there already; by default all, and none.
        """
        self._folder = folder
        self._meta_graph = meta_graph
        self._library = library
        self._values = values
        self._options = options
        self._proto = meta_graph.object_graph_def
        self._parts = parts or LoadedParts(self._proto.nodes)
        self._objects: dict[int, Any] = dict(self._parts.given)
        self._being_made: set[int] = set()
        self._constants = {node.name: node for node in meta_graph.graph_def.node if node.op == "Const"}
        self._without_value: list[str] = []
        self.concrete_functions: dict[str, LoadedConcreteFunction] = {}

    def build(self) -> None:
        """Make all objects, complete.

        Raises:
            InvalidArgumentError: the message is not sound.
            NotFoundError: the checkpoint has no value for a variable.
        """
        nodes = self._proto.nodes
        self._check_references()
        for name, proto in self._proto.concrete_functions.items():
            self.concrete_functions[name] = self._concrete_function(name, proto)
        wanted = self._parts.wanted
        for number in wanted:
            self.object(number)
        self._check_values()
        for number in wanted:
            for child in nodes[number].children:
                self._add_child(number, child)
            self._add_slots(number, nodes[number])
        unused = self._parts.unused_functions()
        for name, proto in self._proto.concrete_functions.items():
            if name not in unused:
                self._bind(name, proto.bound_inputs)
        self._keep_gradients()

    def _keep_gradients(self):
        """Let operations find gradient functions that came with the model."""
        for item in self._meta_graph.graph_def.library.registered_gradients:
            if item.registered_op_type and item.gradient_func in self.concrete_functions:
                concrete = self._named(item.gradient_func)
                outputs, captured = concrete.structured_outputs, concrete.captured
                self._library.add_gradient(item.registered_op_type, concrete.name, outputs, captured)

    def initialize(self) -> None:
        """Fill tables, once everything is there: from the checkpoint, and by their own functions."""
        if self._values is not None:
            self._values.restore(self._parts.given)
            for number in self._parts.made():
                for name in self._proto.nodes[number].saveable_objects:
                    self._restore(self._objects[number], name, self._values.names(number))
        for number, obj in self._objects.items():
            if isinstance(obj, RestoredResource) and number not in self._parts.given:
                obj._initialize_resource()

    def functions_by_alias(self, aliases: Any) -> dict[str, Any]:
        """The functions that have names besides their own: a `tf.function`, or a list of traces that are in none."""
        found: dict[str, Any] = {}
        names = {id(self.concrete_functions[name]): alias for name, alias in aliases.items()
                 if name in self.concrete_functions}  # fmt: skip
        for obj in self._objects.values():
            if isinstance(obj, RestoredFunction):
                for concrete in obj.concrete_functions:
                    if id(concrete) in names:
                        found[names[id(concrete)]] = obj
        for name, alias in aliases.items():
            if name in self.concrete_functions and not isinstance(found.get(alias), RestoredFunction):
                found.setdefault(alias, []).append(self.concrete_functions[name])
        return found

    def _check_references(self):
        """Refuse numbers of objects that are not there."""
        count = len(self._proto.nodes)
        if not count:
            raise self._unsound("it has no objects")
        for number, node in enumerate(self._proto.nodes):
            references = [child.node_id for child in node.children]
            for slot in node.slot_variables:
                references += [slot.original_variable_node_id, slot.slot_variable_node_id]
            for saveable in node.saveable_objects.values():
                references += [saveable.save_function, saveable.restore_function]
            for reference in references:
                if not 0 <= reference < count:
                    raise self._unsound(f"object {number} refers to object {reference} of {count}")
        for name, function in self._proto.concrete_functions.items():
            for reference in function.bound_inputs:
                if not 0 <= reference < count:
                    raise self._unsound(f"function {name!r} refers to object {reference} of {count}")

    def _unsound(self, text):
        return errors.invalid_argument(f"{self._folder}: the SavedModel is not sound: {text}.")

    # Objects.

    def object(self, number: int) -> Any:
        """The object of a number, made when first asked for."""
        if number not in self._objects:
            if number in self._being_made:
                raise self._unsound(f"object {number} needs itself to be made")
            self._being_made.add(number)
            self._objects[number] = self._made(number)
            self._being_made.discard(number)
        return self._objects[number]

    def _made(self, number):
        node = self._proto.nodes[number]
        kind = node.WhichOneof("kind")
        make = _MAKERS.get(kind or "user_object")
        if make is None:
            raise self._unsound(f"object {number} is of the unknown kind {kind!r}")
        try:
            return make(self, number, node)
        except UNSOUND as error:
            raise self._unsound(f"object {number} ({kind}): {error}") from error

    def _user_object(self, number, node):
        identifier = node.user_object.identifier
        if identifier == "signature_map":
            return SignatureMap()
        if identifier == "trackable_list_wrapper":
            return LoadedList()
        if identifier == "trackable_dict_wrapper":
            return LoadedDict()
        if identifier == "trackable_tuple_wrapper":
            return self._tuple(node)
        if identifier == "optimizer":
            return SavedOptimizer()
        saving = self._saving_functions(node)
        if saving is not None:
            return SelfSavingObject(saving)
        return user_object({child.local_name for child in node.children})

    def _saving_functions(self, node):
        """How an object saves and restores itself; None for one that has no values of its own."""
        for name, saveable in node.saveable_objects.items():
            save, restore = self.object(saveable.save_function), self.object(saveable.restore_function)
            if not isinstance(save, ConcreteFunction) or not isinstance(restore, ConcreteFunction):
                raise ValueError("it is saved and restored by what is no function")
            return SavingFunctions(name, save, restore)
        return None

    def _tuple(self, node):
        children = {child.local_name: child.node_id for child in node.children}
        if not all(str(i) in children for i in range(len(children))):
            return user_object(set(children))
        return _TupleWrapper(tuple(self.object(children[str(i)]) for i in range(len(children))))

    def _variable(self, number, node):
        proto = node.variable
        dtype = dtypes.as_dtype(proto.dtype)
        shape = TensorShape(proto_to_shape(proto.shape))
        value = None
        if self._values is not None:
            value = self._values.variable(number, proto, shape, dtype)
            if value is None:
                self._without_value.append(f"{proto.name or 'without a name'} (object {number})")
        if context.place is not None:
            return _variable_of_strategy(context.place.strategy, value, dtype, shape, proto)
        variable = restored_variable(
            value, dtype, shape, proto.name, proto.trainable, proto.synchronization, proto.aggregation
        )
        policy = self._options.experimental_variable_policy
        if proto.device and getattr(policy, "value", policy) in _WITH_DEVICES:
            variable.handle._device = proto.device
        return variable

    def _check_values(self):
        if self._without_value and not self._options.allow_partial_checkpoint:
            missing = self._without_value
            if not self._values.is_there:
                raise errors.not_found(
                    f"{self._values.prefix}.index: there is no such file, so that the {len(missing)} variables of the "
                    "SavedModel have no values. Copy the whole folder, `variables` included."
                )
            raise errors.not_found(
                f"{self._values.prefix}: the checkpoint of the SavedModel has no values for {len(missing)} of its "
                f"variables: {', '.join(missing[:5])}{', ...' if len(missing) > 5 else ''}. To load it without them, "
                "pass `options=tf.saved_model.LoadOptions(allow_partial_checkpoint=True)`."
            )

    def _constant(self, number, node):
        name = node.constant.operation
        if name not in self._constants:
            raise self._unsound(f"object {number} is the constant {name!r}, which the graph does not have")
        array, dtype = proto_to_array(self._constants[name].attr["value"].tensor)
        return to_tensor(array, dtype)

    def _asset(self, number, node):
        definitions = self._meta_graph.asset_file_def
        index = node.asset.asset_file_def_index
        if not 0 <= index < len(definitions):
            raise self._unsound(f"object {number} is asset {index} of {len(definitions)}")
        name = definitions[index].filename
        if not operating_system.stays_below(name) or files.scheme_of(name):
            raise errors.permission_denied(f"{self._folder}: the asset {name!r} is not in the folder of the model.")
        return Asset(files.join(self._folder, ASSETS_DIRECTORY, name))

    def _resource(self, number, node):
        device, saving = node.resource.device, self._saving_functions(node)
        resource = RestoredResource(device) if saving is None else RestoredTable(device, saving)
        creator = next((child.node_id for child in node.children if child.local_name == "_create_resource"), None)
        if creator is None:
            raise self._unsound(f"object {number} is a resource without a function that creates it")
        function = self.object(creator)
        names = self._proto.nodes[creator].function.concrete_functions
        for name in names:
            self._bind(name, self._proto.concrete_functions[name].bound_inputs)
        handle = function()
        if not isinstance(handle, EagerTensor) or handle.dtype._kind not in "rv":  # a dataset is a variant
            raise self._unsound(f"the function that creates the resource of object {number} returns {handle!r}")
        resource._create(handle)
        return resource

    def _captured_tensor(self, number, node):
        return CapturedTensor(node.captured_tensor.concrete_function, node.captured_tensor.name)

    def _restore(self, obj, name, keys):
        """Let the model's own functions take over values of the checkpoint, such as the contents of a table."""
        if name == BY_NAME:
            wanted = {key: keys[key] for key in obj._self_saving.names}
        elif name in keys:
            wanted = {ending: keys[name] + ending for ending in obj._self_saving.names}
        else:
            return
        obj._restore_from_tensors({key: self._value(place) for key, place in wanted.items()})

    def _value(self, key):
        array, dtype = self._values.read(key)
        return to_tensor(array, dtype)

    # Functions.

    def _concrete_function(self, name, proto):
        try:
            signature = decode(proto.canonicalized_input_signature)
            outputs = decode(proto.output_signature)
        except UNSOUND as error:
            raise self._unsound(f"the signature of function {name!r}: {error}") from error
        if not (
            isinstance(signature, tuple)
            and len(signature) == 2
            and isinstance(signature[0], tuple)
            and isinstance(signature[1], dict)
        ):
            raise self._unsound(f"the signature of function {name!r} is {signature!r}")
        if name not in self._library:
            raise self._unsound(f"function {name!r} is not in its library")
        return LoadedConcreteFunction(name, signature, outputs, self._library)

    def _named(self, name):
        if name not in self.concrete_functions:
            raise self._unsound(f"there is no concrete function {name!r}")
        return self.concrete_functions[name]

    def _function(self, number, node):
        proto = node.function
        spec = decode_function_spec(proto.function_spec)
        concrete = [self._named(name) for name in proto.concrete_functions]
        return RestoredFunction(spec, concrete, "" if concrete else self._attribute(number))

    def _attribute(self, number):
        """What an object calls the one of that number."""
        names = (child.local_name for node in self._proto.nodes for child in node.children if child.node_id == number)
        return next(names, "restored_function")

    def _bare_function(self, number, node):
        proto = node.bare_concrete_function
        concrete = self._named(proto.concrete_function_name)
        concrete.called_by_keywords(proto.argument_keywords, proto.allowed_positional_arguments)
        if proto.HasField("function_spec") and concrete.spec is None:
            concrete.spec = decode_function_spec(proto.function_spec)
        return concrete

    def _bind(self, name, bound):
        concrete = self._named(name)
        expected = len(self._library.definition(name).signature.input_arg)
        if len(concrete._flat_specs) + len(bound) != expected:
            raise self._unsound(
                f"function {name!r} has {expected} arguments, but its signature has {len(concrete._flat_specs)} and "
                f"{len(bound)} are bound"
            )
        concrete.bind([self.object(number) for number in bound])

    # How they belong together.

    def _add_child(self, number, child):
        obj, value = self._objects[number], self._objects[child.node_id]
        if number in self._parts.given:
            self._parts.set_attribute(number, child.local_name, value)
        elif isinstance(obj, SignatureMap):
            if not isinstance(value, ConcreteFunction):
                raise self._unsound(f"the signature {child.local_name!r} is a {type(value).__name__}, no function")
            obj._add_signature(child.local_name, value)
        elif isinstance(obj, _TupleWrapper):
            return
        elif isinstance(obj, EagerTensor | CapturedTensor):
            raise self._unsound(f"object {number}, a tensor, has the attribute {child.local_name!r}")
        else:
            try:
                set_child(obj, child.local_name, value)
            except UNSOUND as error:
                name = child.local_name
                raise self._unsound(f"object {number} cannot have the attribute {name!r}: {error}") from error

    def _add_slots(self, number, node):
        optimizer = self._objects[number]
        for slot in node.slot_variables:
            if isinstance(optimizer, SavedOptimizer):
                variable = self._objects[slot.slot_variable_node_id]
                optimizer.add_slot(self._objects[slot.original_variable_node_id], slot.slot_name, variable)


_MAKERS = {
    "user_object": ObjectBuilder._user_object,
    "variable": ObjectBuilder._variable,
    "constant": ObjectBuilder._constant,
    "asset": ObjectBuilder._asset,
    "resource": ObjectBuilder._resource,
    "function": ObjectBuilder._function,
    "bare_concrete_function": ObjectBuilder._bare_function,
    "captured_tensor": ObjectBuilder._captured_tensor,
}


def _variable_of_strategy(strategy, value, dtype, shape, proto):
    """A variable as a file describes it, with a copy for each replica of the strategy in whose scope it is loaded."""
    names = iter(itertools.chain([proto.name or "Variable"], (f"{proto.name}/replica_{i}" for i in itertools.count(1))))

    def create(initial_value=None, **keywords):
        array = None
        if initial_value is not None and value is not None:
            given = initial_value() if callable(initial_value) else initial_value
            array = np.array(to_tensor(given, dtype)._a)
        return restored_variable(
            array, dtype, shape, next(names), proto.trainable, proto.synchronization, proto.aggregation
        )

    synchronization = VariableSynchronization(proto.synchronization)
    variable = strategy._create(
        create, initial_value=value, dtype=dtype, shape=shape, name=proto.name, trainable=proto.trainable,
        synchronization=synchronization, aggregation=VariableAggregation(proto.aggregation),
    )  # fmt: skip
    if synchronization is VariableSynchronization.ON_READ and value is not None:
        variable.assign(value)  # which divides a sum among the copies
    return variable
