"""Python structures as `StructuredValue` messages, and back: arguments and results of saved functions.

A structure consists of lists, tuples, named tuples and dictionaries, down to plain values, shapes, dtypes, arrays and
specs of every class. A spec is written as the number or name of its class and what its `_serialize()` returns.
"""

import collections
import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from headrace._src.core import dtypes, nest
from headrace._src.core.dtypes import DType
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import BoundedTensorSpec, TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.type_specs import TypeSpec
from headrace._src.data.datasets import DatasetSpec
from headrace._src.data.running.iterators import IteratorSpec
from headrace._src.data.running.optionals import OptionalSpec
from headrace._src.formats.graph_messages import StructuredValue, TypeSpecProto
from headrace._src.formats.model_messages import FunctionSpec as FunctionSpecProto
from headrace._src.formats.tensor_protos import array_to_proto, proto_to_array, proto_to_shape, shape_to_proto
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.indexed_slices import IndexedSlicesSpec
from headrace._src.ops.arrays.measuring import get_static_value
from headrace._src.ops.extension_types.anonymous import AnonymousExtensionTypeSpec
from headrace._src.ops.extension_types.extension_type import ExtensionTypeSpec
from headrace._src.ops.ragged.row_partition_spec import RowPartitionSpec
from headrace._src.ops.ragged.spec import RaggedTensorSpec
from headrace._src.ops.sparse.tensor import SparseTensorSpec
from headrace._src.saved_model import type_spec_names
from headrace._src.state.tensor_array import TensorArraySpec
from headrace._src.tracing.variable_specs import VariableSpec

# The classes of specs that have a number of their own.
_NUMBERED: dict[type, int] = {
    SparseTensorSpec: TypeSpecProto.SPARSE_TENSOR_SPEC,
    IndexedSlicesSpec: TypeSpecProto.INDEXED_SLICES_SPEC,
    RaggedTensorSpec: TypeSpecProto.RAGGED_TENSOR_SPEC,
    TensorArraySpec: TypeSpecProto.TENSOR_ARRAY_SPEC,
    DatasetSpec: TypeSpecProto.DATA_DATASET_SPEC,
    IteratorSpec: TypeSpecProto.DATA_ITERATOR_SPEC,
    OptionalSpec: TypeSpecProto.OPTIONAL_SPEC,
    VariableSpec: TypeSpecProto.VARIABLE_SPEC,
    RowPartitionSpec: TypeSpecProto.ROW_PARTITION_SPEC,
}
_BY_NUMBER = {number: cls for cls, number in _NUMBERED.items()}


class NotEncodableError(Exception):
    """A value that no `StructuredValue` can hold."""


@api("__internal__.saved_model.encode_structure", dispatch=False)
def encode(nested_structure) -> Any:
    """A structure of values and specs as a `StructuredValue`.

    Raises:
        NotEncodableError: it holds something else.
    """
    value = nested_structure
    message = StructuredValue()
    for kinds, put in _ENCODERS:
        if isinstance(value, kinds):
            put(message, value)
            return message
    raise NotEncodableError(f"No encoder for object {value} of type {type(value)}.")


def can_encode(value: Any) -> bool:
    """Whether `encode` takes this structure."""
    try:
        encode(value)
    except NotEncodableError:
        return False
    return True


@api("__internal__.saved_model.decode_proto", dispatch=False)
def decode_type_spec(proto) -> Any:
    """The spec that a `TypeSpecProto` describes.

    Raises:
        ValueError: it describes none that is known.
    """
    return _type_spec(proto)


def decode(proto) -> Any:
    """The structure that a `StructuredValue` holds.

    Raises:
        ValueError: it is empty, or its parts do not fit together, or a class of specs is not known here.
    """
    kind = proto.WhichOneof("kind")
    if kind is None:
        raise ValueError("A StructuredValue has no value of a kind that headrace knows.")
    return _DECODERS[kind](getattr(proto, kind))


# Values to messages.


def _put_list(message, values):
    message.list_value.SetInParent()
    message.list_value.values.extend(map(encode, values))


def _put_tuple(message, values):
    fields = getattr(values, "_fields", None)
    if isinstance(fields, Sequence) and all(isinstance(field, str) for field in fields):
        _put_named_tuple(message.named_tuple_value, values)
        return
    message.tuple_value.SetInParent()
    message.tuple_value.values.extend(map(encode, values))


def _put_named_tuple(message, values):
    message.name = type(values).__name__
    for field in values._fields:
        message.values.add(key=field).value.CopyFrom(encode(getattr(values, field)))


def _put_dict(message, values):
    message.dict_value.SetInParent()
    for key, value in values.items():
        if not isinstance(key, str):
            raise NotEncodableError(f"No encoder for a dictionary with the key {key!r}: keys must be strings.")
        message.dict_value.fields[key].CopyFrom(encode(value))


def _put_int(message, value):
    if not -(1 << 63) <= value < 1 << 63:
        raise NotEncodableError(f"No encoder for the integer {value}: it has more than 64 bits.")
    message.int64_value = value


def _put_tensor(message, tensor):
    array = tensor._a if isinstance(tensor, EagerTensor) else get_static_value(tensor)
    if array is None or tensor.dtype._kind in "rv":
        raise NotEncodableError(f"No encoder for object {tensor} of type {type(tensor)}.")
    message.tensor_value.CopyFrom(array_to_proto(np.asarray(array), tensor.dtype))


def _put_array(message, array):
    value = to_tensor(array)
    message.numpy_value.CopyFrom(array_to_proto(value._a, value.dtype))


def _fill_tensor_spec(proto, spec):
    proto.shape.CopyFrom(shape_to_proto(spec.shape._dims))
    proto.dtype = spec.dtype.as_datatype_enum
    proto.name = spec.name or ""


def _put_bounded_spec(message, spec):
    proto = message.bounded_tensor_spec_value
    _fill_tensor_spec(proto, spec)
    proto.minimum.CopyFrom(array_to_proto(spec.minimum, spec.dtype))
    proto.maximum.CopyFrom(array_to_proto(spec.maximum, spec.dtype))


def _put_variable_spec(message, spec):
    state = (spec.shape, spec.dtype, spec.trainable, spec.alias_id)
    _fill_type_spec(message, spec, _NUMBERED[VariableSpec], "VariableSpec", state, 1)


def _put_type_spec(message, spec):
    number = next((_NUMBERED[cls] for cls in type(spec).__mro__ if cls in _NUMBERED), None)
    if number is not None:
        name = _BY_NUMBER[number].__name__
    else:
        name = _registered_name(spec)
        extension = isinstance(spec, ExtensionTypeSpec | AnonymousExtensionTypeSpec)
        number = TypeSpecProto.EXTENSION_TYPE_SPEC if extension else TypeSpecProto.REGISTERED_TYPE_SPEC
        if not extension and not name.startswith("tf."):  # what headrace has itself is always there
            warnings.warn(
                f"Encoding a StructuredValue with type {name}; loading this StructuredValue will require that this "
                "type be imported and registered.",
                stacklevel=2,
            )
    flat = nest.flatten(spec._component_specs, expand_composites=True)
    _fill_type_spec(message, spec, number, name, spec._serialize(), len(flat))


def _registered_name(spec):
    try:
        return type_spec_names.get_name(type(spec))
    except ValueError:
        raise NotEncodableError(
            f"No encoder for object {spec} of type {type(spec)}: its class has no registered name. Write "
            "`__name__ = 'project.Type'` in the body of the extension type."
        ) from None


def _fill_type_spec(message, spec, number, name, state, flat):
    proto = message.type_spec_value
    proto.type_spec_class = number
    proto.type_spec_class_name = name
    proto.num_flat_components = flat
    proto.type_state.CopyFrom(encode(state))


def _setter(field):
    return lambda message, value: setattr(message, field, value)


# The first that fits is taken: a bool is an int, a named tuple a tuple.
_ENCODERS: list[tuple[Any, Any]] = [
    (type(None), lambda message, value: message.none_value.SetInParent()),
    (bool, _setter("bool_value")),
    (int, _put_int),
    (float, _setter("float64_value")),
    (str, _setter("string_value")),
    (DType, lambda message, value: setattr(message, "tensor_dtype_value", value.as_datatype_enum)),
    (TensorShape, lambda message, value: message.tensor_shape_value.CopyFrom(shape_to_proto(value._dims))),
    (BoundedTensorSpec, _put_bounded_spec),
    (TensorSpec, lambda message, value: _fill_tensor_spec(message.tensor_spec_value, value)),
    (VariableSpec, _put_variable_spec),
    (TypeSpec, _put_type_spec),
    (Tensor, _put_tensor),
    (np.ndarray, _put_array),
    (tuple, _put_tuple),
    (list, _put_list),
    (Mapping, _put_dict),
]


# Messages to values.


def _named_tuple(proto):
    names = [pair.key for pair in proto.values]
    values = [decode(pair.value) for pair in proto.values]
    if proto.name == "FullArgSpec" and names == list(inspect.FullArgSpec._fields):
        return inspect.FullArgSpec(*values)
    return collections.namedtuple(proto.name, names)(*values)  # type: ignore[misc]


def _dtype(number):
    try:
        return dtypes.as_dtype(number)
    except TypeError:
        raise ValueError(f"{number} is not the number of a dtype.") from None


def _shape(proto):
    return TensorShape(proto_to_shape(proto))


def _bounded_spec(proto):
    bounds = proto_to_array(proto.minimum)[0], proto_to_array(proto.maximum)[0]
    return BoundedTensorSpec(_shape(proto.shape), _dtype(proto.dtype), *bounds, proto.name or None)


def _type_spec(proto):
    cls = _spec_class(proto)
    state = decode(proto.type_state)
    if not isinstance(state, tuple):
        raise ValueError(f"The state of a {cls.__name__} is a {type(state).__name__}, not a tuple.")
    try:
        return cls(*state) if cls is VariableSpec else cls._deserialize(state)
    except (TypeError, ValueError, AttributeError, IndexError, KeyError) as error:
        raise ValueError(f"{state!r} does not describe a {cls.__name__}: {error}") from None


def _spec_class(proto):
    cls = _BY_NUMBER.get(proto.type_spec_class)
    if cls is not None:
        return cls
    name = proto.type_spec_class_name
    if proto.type_spec_class not in (TypeSpecProto.EXTENSION_TYPE_SPEC, TypeSpecProto.REGISTERED_TYPE_SPEC):
        raise ValueError(
            f"The type {name!r} (class {proto.type_spec_class}) is not supported by this version of headrace."
        )
    try:
        return type_spec_names.lookup_spec(name)
    except ValueError:
        if proto.type_spec_class == TypeSpecProto.REGISTERED_TYPE_SPEC:
            raise ValueError(
                f"The type {name!r} has not been registered. It must be registered before you load this object "
                "(typically by importing its module)."
            ) from None
        warnings.warn(
            f"The type {name!r} has not been registered. Falling back to using AnonymousExtensionTypeSpec instead.",
            stacklevel=2,
        )
        return AnonymousExtensionTypeSpec


def _tensor(proto):
    array, dtype = proto_to_array(proto)
    return to_tensor(array, dtype)


def _itself(value):
    return value


_DECODERS = {
    "none_value": lambda proto: None,
    "bool_value": _itself,
    "int64_value": _itself,
    "float64_value": _itself,
    "string_value": _itself,
    "tensor_dtype_value": _dtype,
    "tensor_shape_value": _shape,
    "tensor_spec_value": lambda proto: TensorSpec(_shape(proto.shape), _dtype(proto.dtype), proto.name or None),
    "bounded_tensor_spec_value": _bounded_spec,
    "type_spec_value": _type_spec,
    "tensor_value": _tensor,
    "numpy_value": lambda proto: proto_to_array(proto)[0],
    "tuple_value": lambda proto: tuple(map(decode, proto.values)),
    "list_value": lambda proto: list(map(decode, proto.values)),
    "dict_value": lambda proto: {key: decode(value) for key, value in proto.fields.items()},
    "named_tuple_value": _named_tuple,
}


# How a function is called.


class FunctionSpec(NamedTuple):
    """The parameters of a saved function: what `inspect.getfullargspec` says, without annotations.

    Attributes:
        fullargspec: names and default values. A default that cannot be written is None's place in TensorFlow's files.
        is_method: whether the first parameter is the object that the function belongs to.
        input_signature: specs of the arguments, or None.
        jit_compile: True, False or None, as given to `tf.function`.
    """

    fullargspec: inspect.FullArgSpec
    is_method: bool = False
    input_signature: Any = None
    jit_compile: bool | None = None

    @property
    def arg_names(self) -> list[str]:
        """The names of the arguments that may be given by position."""
        return self.fullargspec.args

    @property
    def default_values(self) -> tuple | None:
        """The values of the last of them, where they are left out."""
        return self.fullargspec.defaults


_JIT = {None: 0, True: 1, False: 2}


def encode_function_spec(spec: FunctionSpec) -> Any:
    """A `FunctionSpec` message.

    Raises:
        NotEncodableError: a default value has no form in a message.
    """
    proto = FunctionSpecProto(is_method=spec.is_method, jit_compile=_JIT[spec.jit_compile])
    proto.fullargspec.CopyFrom(encode(spec.fullargspec._replace(annotations={})))
    proto.input_signature.CopyFrom(encode(spec.input_signature))
    return proto


def decode_function_spec(proto: Any) -> FunctionSpec:
    """The parameters that a `FunctionSpec` message describes.

    Raises:
        ValueError: they are not parameters of any function.
    """
    arguments = decode(proto.fullargspec)
    if not isinstance(arguments, inspect.FullArgSpec):
        fields = {field: getattr(arguments, field, None) for field in inspect.FullArgSpec._fields}
        if not isinstance(arguments, tuple) or not isinstance(fields["args"], list):
            raise ValueError(f"A function's parameters are given as {type(arguments).__name__}, not as a FullArgSpec.")
        arguments = inspect.FullArgSpec(**fields)
    signature = decode(proto.input_signature) if proto.HasField("input_signature") else None
    jit = next((value for value, number in _JIT.items() if number == proto.jit_compile), None)
    return FunctionSpec(arguments, proto.is_method, signature, jit)
