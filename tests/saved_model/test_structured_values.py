"""Structures as messages: as TensorFlow writes them, and back."""

import collections
import inspect
import json
import pathlib

import numpy as np
import pytest
from saved_structures import STRUCTURES

import headrace as tf
from headrace._src.core.specs import BoundedTensorSpec
from headrace._src.formats.graph_messages import StructuredValue, TypeSpecProto
from headrace._src.ops.extension_types.anonymous import AnonymousExtensionType
from headrace._src.saved_model import type_spec_names
from headrace._src.saved_model.structured_values import (
    FunctionSpec,
    NotEncodableError,
    can_encode,
    decode,
    decode_function_spec,
    encode,
    encode_function_spec,
)

Point = collections.namedtuple("Point", "x y")
NAMES = {"tf": tf, "np": np, "BoundedTensorSpec": BoundedTensorSpec, "Point": Point}
RECORDED = json.loads((pathlib.Path(__file__).parents[1] / "golden" / "structured_values.json").read_text())


def equal(a, b):
    if isinstance(a, tf.Tensor | np.ndarray):
        return np.array_equal(np.asarray(a), np.asarray(b)) and a.dtype == b.dtype and isinstance(b, type(a))
    return a == b


@pytest.mark.parametrize("expression", STRUCTURES)
def test_structures(expression):
    value = eval(expression, NAMES)
    message = encode(value)
    assert message == StructuredValue.FromString(bytes.fromhex(RECORDED[expression]))
    assert equal(value, decode(message))


class Mass(tf.experimental.ExtensionType):
    __name__ = "tests.saved_model.Mass"
    value: tf.Tensor
    units: collections.abc.Mapping[str, tf.Tensor]
    exponent: int = 3


def test_specs_of_classes_with_names():
    mass = Mass(tf.constant([1.0]), {"kg": tf.constant(1)})
    for spec in (
        tf.type_spec_from_value(mass),
        tf.type_spec_from_value(tf.linalg.LinearOperatorDiag([1.0, 2.0])),
        tf.__internal__.VariableSpec([2], tf.float32, False, 1),
    ):
        assert decode(encode(spec)) == spec


def test_an_extension_type_that_is_not_known():
    mass = Mass(tf.constant([1.0]), {"kg": tf.constant(7)})
    message = encode(tf.type_spec_from_value(mass))
    message.type_spec_value.type_spec_class_name = "elsewhere.Mass.Spec"
    with pytest.warns(UserWarning, match="AnonymousExtensionTypeSpec"):
        spec = decode(message)
    value = spec._from_components(spec._to_components(mass))
    assert isinstance(value, AnonymousExtensionType)
    assert value.exponent == 3
    assert value.units["kg"].numpy() == 7
    assert value._type_spec == spec
    with pytest.raises(AttributeError, match="immutable"):
        value.exponent = 4


def test_what_cannot_be_written():
    with pytest.raises(NotEncodableError, match="No encoder for object"):
        encode([object()])
    with pytest.raises(NotEncodableError, match="64 bits"):
        encode(1 << 63)
    with pytest.raises(NotEncodableError, match="keys must be strings"):
        encode({1: 2})
    assert can_encode([1])
    assert not can_encode({"a": object()})


@pytest.mark.parametrize(
    "message",
    [
        StructuredValue(),
        StructuredValue(tensor_dtype_value=77),
        StructuredValue(type_spec_value=TypeSpecProto(type_spec_class=55)),
        StructuredValue(type_spec_value=TypeSpecProto(type_spec_class=1, type_state=encode(3))),
        StructuredValue(type_spec_value=TypeSpecProto(type_spec_class=1, type_state=encode((3, 4, 5)))),
        StructuredValue(type_spec_value=TypeSpecProto(type_spec_class=12, type_spec_class_name="no.Such")),
        StructuredValue(type_spec_value=TypeSpecProto(type_spec_class=13, type_spec_class_name="tf.TensorSpec")),
    ],
)
def test_messages_that_mean_nothing(message):
    with pytest.raises(ValueError, match=r"\w"):
        decode(message)


def test_function_specs():
    arguments = inspect.getfullargspec(lambda a, b=2, *c, d=3, **e: 0)
    spec = FunctionSpec(arguments, False, (tf.TensorSpec([]),), True)
    assert decode_function_spec(encode_function_spec(spec)) == spec


def test_names_of_specs():
    @type_spec_names.register("tests.saved_model.OwnSpec")
    class OwnSpec(tf.TypeSpec):
        pass

    assert type_spec_names.lookup_spec("tests.saved_model.OwnSpec") is OwnSpec
    with pytest.raises(ValueError, match="already been registered"):
        type_spec_names.register("tests.saved_model.OwnSpec")(OwnSpec)
    with pytest.raises(ValueError, match="must have the form"):
        type_spec_names.register("OwnSpec")
