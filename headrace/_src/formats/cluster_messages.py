"""TensorFlow's messages for clusters and servers: jobs with their tasks, named tensors, codes of errors.

This file is imported when a message is first asked for: making the classes imports protobuf.
"""

from headrace._src.formats import graph_messages
from headrace._src.formats.message_classes import MessageFile, make_classes

_FILES = [
    MessageFile(
        "tensorflow/core/protobuf/cluster.proto",
        {
            "JobDef": "name: string = 1, tasks: {int32: string} = 2",
            "ClusterDef": "job: [JobDef] = 1",
        },
    ),
    MessageFile(
        "tensorflow/core/protobuf/named_tensor.proto",
        {"NamedTensorProto": "name: string = 1, tensor: TensorProto = 2"},
    ),
    MessageFile(
        "tensorflow/core/protobuf/error_codes.proto",
        {},
        {
            "Code": {
                "OK": 0, "CANCELLED": 1, "UNKNOWN": 2, "INVALID_ARGUMENT": 3, "DEADLINE_EXCEEDED": 4, "NOT_FOUND": 5,
                "ALREADY_EXISTS": 6, "PERMISSION_DENIED": 7, "UNAUTHENTICATED": 16, "RESOURCE_EXHAUSTED": 8,
                "FAILED_PRECONDITION": 9, "ABORTED": 10, "OUT_OF_RANGE": 11, "UNIMPLEMENTED": 12, "INTERNAL": 13,
                "UNAVAILABLE": 14, "DATA_LOSS": 15,
            },
        },
        package="tensorflow.error",
    ),
]  # fmt: skip

_CLASSES = make_classes(_FILES, refers_to=[graph_messages])

ClusterDef = _CLASSES["ClusterDef"]
JobDef = _CLASSES["JobDef"]
NamedTensorProto = _CLASSES["NamedTensorProto"]

PUBLIC = {"train.ClusterDef": ClusterDef, "train.JobDef": JobDef}
