"""Modules of TensorFlow's messages under the alias."""

import subprocess
import sys

_PROGRAM = """
import headrace
headrace.install_as_tensorflow()
import tensorflow as tf
from tensorflow.core.framework import summary_pb2, types_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.core.util.event_pb2 import Event
import tensorflow.core.framework.graph_pb2 as graph_pb2
from tensorflow.python.lib.io import tf_record
assert Event is tf.compat.v1.Event
assert summary_pb2.Summary is tf.compat.v1.Summary
assert summary_pb2.HistogramProto is tf.compat.v1.HistogramProto
assert summary_pb2.DATA_CLASS_SCALAR == 1
assert summary_pb2.DataClass.Name(2) == "DATA_CLASS_TENSOR"
assert types_pb2.DT_FLOAT == 1 and types_pb2.DataType.Value("DT_STRING") == 7
assert graph_pb2.GraphDef is tf.compat.v1.GraphDef
assert config_pb2.ConfigProto is tf.compat.v1.ConfigProto and config_pb2.RunMetadata is tf.compat.v1.RunMetadata
assert {"Summary", "DataClass", "DATA_CLASS_TENSOR", "HistogramProto"} <= set(dir(summary_pb2))
assert tf_record.tf_record_iterator is tf.compat.v1.io.tf_record_iterator
try:
    summary_pb2.Nothing
except AttributeError as error:
    assert "tensorflow.core.framework.summary_pb2" in str(error)
else:
    raise AssertionError
import importlib
from headrace._src.compat.tensorflow_names.messages import FILES
for name in FILES:
    file = importlib.import_module("tensorflow." + name).DESCRIPTOR
    assert file.message_types_by_name or file.enum_types_by_name
"""


def test_modules_of_messages():
    subprocess.run([sys.executable, "-c", _PROGRAM], check=True)
