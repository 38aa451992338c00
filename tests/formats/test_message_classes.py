"""Message classes from descriptions: equal to what TensorFlow's files hold, and able to refer to each other."""

import pytest

from headrace._src.formats import checkpoint_messages, event_messages, graph_messages, model_messages, profile_messages
from headrace._src.formats.message_classes import MessageFile, make_classes, pool


def test_messages_of_different_files_share_their_parts():
    info = model_messages.TensorInfo(dtype=graph_messages.TensorProto(dtype=1).dtype)
    spec = graph_messages.TensorSpecProto(name="x")
    value = graph_messages.StructuredValue(tensor_spec_value=spec)
    function = model_messages.SavedConcreteFunction(output_signature=value)
    assert function.output_signature.tensor_spec_value.name == "x"
    assert info.dtype == 1


def test_nested_enums_and_choices():
    assert model_messages.SaverDef(version="V2").version == 2
    assert checkpoint_messages.BundleHeaderProto.Endianness.Value("BIG") == 1
    event = event_messages.Event(file_version="brain.Event:2")
    event.summary.value.add(tag="loss", simple_value=1.0)
    assert event.WhichOneof("what") == "summary"


def test_messages_of_protobuf_itself():
    node = checkpoint_messages.TrackableObjectGraph.TrackableObject()
    assert not node.HasField("has_checkpoint_values")
    node.has_checkpoint_values.value = False
    assert node.HasField("has_checkpoint_values")


def test_another_package():
    assert profile_messages.XSpace.DESCRIPTOR.full_name == "tensorflow.profiler.XSpace"
    assert pool().FindMessageTypeByName("tensorflow.profiler.XPlane") is profile_messages.XPlane.DESCRIPTOR


def test_signed_integers_are_stored_as_zigzag():
    assert graph_messages.StructuredValue(int64_value=-1).SerializeToString() == b"\x60\x01"


def test_a_description_that_cannot_be_read():
    with pytest.raises(ValueError, match="Broken: cannot read the description at '!!'"):
        make_classes([MessageFile("broken.proto", {"Broken": "!!"})])
