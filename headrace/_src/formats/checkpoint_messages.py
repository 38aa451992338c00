"""TensorFlow's messages for checkpoints: tables of tensors, graphs of objects, the state of a folder.

This file is imported when a message is first asked for: making the classes imports protobuf.
"""

from headrace._src.formats import graph_messages
from headrace._src.formats.message_classes import MessageFile, make_classes

_FILES = [
    MessageFile(
        "tensorflow/core/protobuf/trackable_object_graph.proto",
        {
            "TrackableObjectGraph": "nodes: [TrackableObjectGraph.TrackableObject] = 1",
            "TrackableObjectGraph.TrackableObject": ""
            "children: [TrackableObjectGraph.TrackableObject.ObjectReference] = 1, "
            "attributes: [TrackableObjectGraph.TrackableObject.SerializedTensor] = 2, "
            "slot_variables: [TrackableObjectGraph.TrackableObject.SlotVariableReference] = 3, "
            "registered_saver: RegisteredSaver = 4, has_checkpoint_values: google.protobuf.BoolValue = 5",
            "TrackableObjectGraph.TrackableObject.ObjectReference": "node_id: int32 = 1, local_name: string = 2",
            "TrackableObjectGraph.TrackableObject.SerializedTensor": "name: string = 1, full_name: string = 2, "
            "checkpoint_key: string = 3",
            "TrackableObjectGraph.TrackableObject.SlotVariableReference": "original_variable_node_id: int32 = 1, "
            "slot_name: string = 2, slot_variable_node_id: int32 = 3",
            "RegisteredSaver": "name: string = 1, object_name: string = 2",
        },
    ),
    MessageFile(
        "tensorflow/core/framework/tensor_slice.proto",
        {
            "TensorSliceProto": "extent: [TensorSliceProto.Extent] = 1",
            "TensorSliceProto.Extent": "start: int64 = 1, has_length_hack(length: int64 = 2)",
        },
    ),
    MessageFile(
        "tensorflow/core/protobuf/tensor_bundle.proto",
        {
            "BundleHeaderProto": "num_shards: int32 = 1, endianness: BundleHeaderProto.Endianness = 2, "
            "version: VersionDef = 3",
            "BundleEntryProto": "dtype: DataType = 1, shape: TensorShapeProto = 2, shard_id: int32 = 3, "
            "offset: int64 = 4, size: int64 = 5, crc32c: fixed32 = 6, slices: [TensorSliceProto] = 7",
        },
        {
            "BundleHeaderProto.Endianness": {"LITTLE": 0, "BIG": 1},
        },
    ),
    MessageFile(
        "tensorflow/python/training/checkpoint_state.proto",
        {
            "CheckpointState": "model_checkpoint_path: string = 1, all_model_checkpoint_paths: [string] = 2, "
            "all_model_checkpoint_timestamps: [double] = 3, last_preserved_timestamp: double = 4",
        },
    ),
    MessageFile(
        "tensorflow/core/util/saved_tensor_slice.proto",
        {
            "SavedSliceMeta": "name: string = 1, shape: TensorShapeProto = 2, type: DataType = 3, "
            "slice: [TensorSliceProto] = 4",
            "SavedTensorSliceMeta": "tensor: [SavedSliceMeta] = 1, versions: VersionDef = 2",
            "SavedSlice": "name: string = 1, slice: TensorSliceProto = 2, data: TensorProto = 3",
            "SavedTensorSlices": "meta: SavedTensorSliceMeta = 1, data: SavedSlice = 2",
        },
    ),
]  # fmt: skip

_CLASSES = make_classes(_FILES, refers_to=[graph_messages])

BundleEntryProto = _CLASSES["BundleEntryProto"]
BundleHeaderProto = _CLASSES["BundleHeaderProto"]
CheckpointState = _CLASSES["CheckpointState"]
RegisteredSaver = _CLASSES["RegisteredSaver"]
SavedSlice = _CLASSES["SavedSlice"]
SavedSliceMeta = _CLASSES["SavedSliceMeta"]
SavedTensorSliceMeta = _CLASSES["SavedTensorSliceMeta"]
SavedTensorSlices = _CLASSES["SavedTensorSlices"]
TensorSliceProto = _CLASSES["TensorSliceProto"]
TrackableObjectGraph = _CLASSES["TrackableObjectGraph"]
