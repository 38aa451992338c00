"""The message in which Keras 2 describes a model beside a SavedModel.

This file is imported when the message is first asked for: making the classes imports protobuf.
"""

from headrace._src.formats.message_classes import MessageFile, make_classes

_FILES = [
    MessageFile(
        "keras/protobuf/saved_metadata.proto",
        {
            "SavedMetadata": "nodes: [SavedMetadata.Node] = 1",
            "SavedMetadata.Node": "node_id: int32 = 2, node_path: string = 3, identifier: string = 4, "
            "metadata: string = 5",
        },
    ),
]

_CLASSES = make_classes(_FILES)

SavedMetadata = _CLASSES["SavedMetadata"]
