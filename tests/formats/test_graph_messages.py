"""The messages of graphs: TensorFlow's fields, protobuf's behaviour, arrays and shapes in them."""

import json
import pathlib
import pickle

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, text_format
from message_fields import described_fields

import headrace as tf
from headrace._src.core import dtypes
from headrace._src.formats import graph_messages, message_classes, tensor_protos

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "golden" / "graph_defs" / "tensorflow" / "messages.json"
MESSAGES = json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in MESSAGES if not name.endswith("Entry")])
def test_fields_are_tensorflows(name):
    message = graph_messages._CLASSES[name.removeprefix("tensorflow.")].DESCRIPTOR
    assert message.full_name == name
    assert described_fields(message) == MESSAGES[name]
    for nested in message.nested_types:
        if nested.GetOptions().map_entry:
            assert described_fields(nested) == MESSAGES[nested.full_name]


def test_text_and_bytes():
    graph_def = tf.compat.v1.GraphDef()
    node = graph_def.node.add(name="a", op="Const")
    node.attr["dtype"].type = tf.float32.as_datatype_enum
    graph_def.versions.producer = 7
    text = """node { name: "a" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } } versions { producer: 7 }"""
    assert str(graph_def).split() == text.split()
    data = b'\n\x17\n\x01a\x12\x05Const*\x0b\n\x05dtype\x12\x020\x01"\x02\x08\x07'
    assert graph_def.SerializeToString() == data
    again = tf.compat.v1.GraphDef()
    again.ParseFromString(graph_def.SerializeToString())
    assert again == graph_def
    assert text_format.Parse(str(graph_def), tf.compat.v1.GraphDef()) == graph_def
    assert pickle.loads(pickle.dumps(graph_def)) == graph_def


def test_public_names():
    assert tf.compat.v1.NodeDef(name="x").name == "x"
    assert tf.compat.v1.AttrValue(i=3).WhichOneof("value") == "i"
    assert tf.compat.v1.NameAttrList(name="f").name == "f"


def test_the_default_pool_is_left_alone():
    # TensorFlow and TensorBoard register these names there.
    file = descriptor_pb2.FileDescriptorProto(name="tensorflow/core/framework/graph.proto", package="tensorflow")
    file.message_type.add(name="GraphDef")
    other = descriptor_pool.DescriptorPool()
    other.Add(file)
    assert other.FindMessageTypeByName("tensorflow.GraphDef") is not graph_messages.GraphDef.DESCRIPTOR
    assert graph_messages.GraphDef.DESCRIPTOR.file.pool is not descriptor_pool.Default()


def test_an_unreadable_description_is_refused():
    file = message_classes.MessageFile("x.proto", {"X": "name string = 1"})
    with pytest.raises(ValueError, match="X: cannot read the description at 'name string"):
        message_classes.make_classes([file])


NAMES = [
    "float32", "float64", "float16", "bfloat16", "float8_e5m2", "float8_e4m3fn", "int8", "uint8", "int16", "uint16",
    "int32", "uint32", "int64", "uint64", "bool", "complex64", "complex128", "qint8", "quint8", "qint32",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 3)])
def test_arrays_survive(name, shape):
    dtype = dtypes.as_dtype(name)
    array = (np.arange(np.prod(shape, dtype=int)).reshape(shape) + 1).astype(dtype._np)
    if dtype._kind == "c":
        array = array * dtype._np.type(1 + 2j)
    proto = tensor_protos.array_to_proto(array, dtype)
    assert (len(proto.tensor_content) > 0) == (array.size > 1)
    found, kind = tensor_protos.proto_to_array(proto)
    assert kind is dtype
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


def test_large_integers_and_strings_survive():
    for value, dtype in ((2**64 - 1, dtypes.uint64), (-(2**63), dtypes.int64), (2**32 - 1, dtypes.uint32)):
        proto = tensor_protos.array_to_proto(np.array(value, dtype._np), dtype)
        assert tensor_protos.proto_to_array(proto)[0] == value
    words = np.array([[b"a", b""], [b"\xff\0", b"d"]], object)
    found, _ = tensor_protos.proto_to_array(tensor_protos.array_to_proto(words, dtypes.string))
    assert found.tolist() == words.tolist()


def test_the_last_value_stands_for_the_rest():
    proto = graph_messages.TensorProto(dtype=dtypes.float32.as_datatype_enum, float_val=[1.0, 2.0])
    proto.tensor_shape.dim.add(size=4)
    assert tensor_protos.proto_to_array(proto)[0].tolist() == [1.0, 2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    "text",
    [
        "dtype: DT_FLOAT tensor_shape { dim { size: 3 } } tensor_content: 'abcd'",
        "dtype: DT_FLOAT tensor_shape { dim { size: 1 } } float_val: 1 float_val: 2",
        "dtype: DT_FLOAT tensor_shape { dim { size: -2 } }",
        "dtype: DT_FLOAT tensor_shape { unknown_rank: true }",
        "dtype: DT_FLOAT tensor_shape { dim { size: 9000000000000 } } float_val: 1",
        "dtype: DT_RESOURCE",
        "tensor_shape { }",
    ],
)
def test_unsound_tensors_are_refused(text):
    with pytest.raises(ValueError):
        tensor_protos.proto_to_array(text_format.Parse(text, graph_messages.TensorProto()))


def test_a_resource_is_no_message():
    with pytest.raises(TypeError, match="resource"):
        tensor_protos.array_to_proto(np.empty((), object), dtypes.resource)


@pytest.mark.parametrize("dims", [None, (), (2, None), (0, 5)])
def test_shapes(dims):
    assert tensor_protos.proto_to_shape(tensor_protos.shape_to_proto(dims)) == dims
    proto = tf.TensorShape(dims).as_proto()
    assert type(proto) is graph_messages.TensorShapeProto
    assert tensor_protos.proto_to_shape(proto) == dims
    with pytest.raises(ValueError, match="-2"):
        tensor_protos.proto_to_shape(text_format.Parse("dim { size: -2 }", graph_messages.TensorShapeProto()))


def test_specs_and_dtypes():
    spec = tf.TensorSpec([2, None], tf.int8, "x")
    proto = spec.experimental_as_proto()
    assert type(proto) is graph_messages.TensorSpecProto
    assert tf.TensorSpec.experimental_from_proto(proto) == spec
    assert tf.DType.experimental_from_proto(tf.int8.experimental_as_proto()) is tf.int8
