"""TensorFlow's messages for saved models: meta graphs, signatures, objects with functions.

This file is imported when a message is first asked for: making the classes imports protobuf.
"""

from headrace._src.formats import checkpoint_messages
from headrace._src.formats.message_classes import MessageFile, make_classes

_FILES = [
    MessageFile(
        "tensorflow/core/framework/variable.proto",
        {
            "VariableDef": "variable_name: string = 1, initial_value_name: string = 6, initializer_name: string = 2, "
            "snapshot_name: string = 3, save_slice_info_def: SaveSliceInfoDef = 4, is_resource: bool = 5, "
            "trainable: bool = 7, synchronization: VariableSynchronization = 8, aggregation: VariableAggregation = 9",
            "SaveSliceInfoDef": "full_name: string = 1, full_shape: [int64] = 2, var_offset: [int64] = 3, "
            "var_shape: [int64] = 4",
        },
        {
            "VariableSynchronization": {
                "VARIABLE_SYNCHRONIZATION_AUTO": 0, "VARIABLE_SYNCHRONIZATION_NONE": 1,
                "VARIABLE_SYNCHRONIZATION_ON_WRITE": 2, "VARIABLE_SYNCHRONIZATION_ON_READ": 3,
            },
            "VariableAggregation": {
                "VARIABLE_AGGREGATION_NONE": 0, "VARIABLE_AGGREGATION_SUM": 1, "VARIABLE_AGGREGATION_MEAN": 2,
                "VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA": 3,
            },
        },
    ),
    MessageFile(
        "tensorflow/core/protobuf/saver.proto",
        {
            "SaverDef": "filename_tensor_name: string = 1, save_tensor_name: string = 2, restore_op_name: string = 3, "
            "max_to_keep: int32 = 4, sharded: bool = 5, keep_checkpoint_every_n_hours: float = 6, "
            "version: SaverDef.CheckpointFormatVersion = 7",
        },
        {
            "SaverDef.CheckpointFormatVersion": {"LEGACY": 0, "V1": 1, "V2": 2},
        },
    ),
    MessageFile(
        "tensorflow/core/protobuf/saved_object_graph.proto",
        {
            "SavedObjectGraph": "nodes: [SavedObject] = 1, concrete_functions: {string: SavedConcreteFunction} = 2",
            "SavedObject": "children: [TrackableObjectGraph.TrackableObject.ObjectReference] = 1, "
            "dependencies: [TrackableObjectGraph.TrackableObject.ObjectReference] = 15, "
            "slot_variables: [TrackableObjectGraph.TrackableObject.SlotVariableReference] = 3, "
            "kind(user_object: SavedUserObject = 4, asset: SavedAsset = 5, function: SavedFunction = 6, "
            "variable: SavedVariable = 7, bare_concrete_function: SavedBareConcreteFunction = 8, "
            "constant: SavedConstant = 9, resource: SavedResource = 10, captured_tensor: CapturedTensor = 12), "
            "saveable_objects: {string: SaveableObject} = 11, registered_name: string = 13, "
            "serialized_user_proto: google.protobuf.Any = 14, registered_saver: string = 16",
            "SavedUserObject": "identifier: string = 1, version: VersionDef = 2, metadata: string = 3",
            "SavedAsset": "asset_file_def_index: int32 = 1",
            "SavedFunction": "concrete_functions: [string] = 1, function_spec: FunctionSpec = 2",
            "CapturedTensor": "name: string = 1, concrete_function: string = 2",
            "SavedConcreteFunction": "bound_inputs: [int32] = 2, canonicalized_input_signature: StructuredValue = 3, "
            "output_signature: StructuredValue = 4",
            "SavedBareConcreteFunction": "concrete_function_name: string = 1, argument_keywords: [string] = 2, "
            "allowed_positional_arguments: int64 = 3, function_spec: FunctionSpec = 4",
            "SavedConstant": "operation: string = 1",
            "SavedVariable": "dtype: DataType = 1, shape: TensorShapeProto = 2, trainable: bool = 3, "
            "synchronization: VariableSynchronization = 4, aggregation: VariableAggregation = 5, name: string = 6, "
            "device: string = 7, experimental_distributed_variable_components: [SavedVariable] = 8",
            "FunctionSpec": "fullargspec: StructuredValue = 1, is_method: bool = 2, "
            "input_signature: StructuredValue = 5, jit_compile: FunctionSpec.JitCompile = 6",
            "SavedResource": "device: string = 1",
            "SaveableObject": "save_function: int32 = 2, restore_function: int32 = 3",
        },
        {
            "FunctionSpec.JitCompile": {"DEFAULT": 0, "ON": 1, "OFF": 2},
        },
    ),
    MessageFile(
        "tensorflow/core/protobuf/meta_graph.proto",
        {
            "MetaGraphDef": "meta_info_def: MetaGraphDef.MetaInfoDef = 1, graph_def: GraphDef = 2, "
            "saver_def: SaverDef = 3, collection_def: {string: CollectionDef} = 4, "
            "signature_def: {string: SignatureDef} = 5, asset_file_def: [AssetFileDef] = 6, "
            "object_graph_def: SavedObjectGraph = 7",
            "MetaGraphDef.MetaInfoDef": "meta_graph_version: string = 1, stripped_op_list: OpList = 2, "
            "any_info: google.protobuf.Any = 3, tags: [string] = 4, tensorflow_version: string = 5, "
            "tensorflow_git_version: string = 6, stripped_default_attrs: bool = 7, "
            "function_aliases: {string: string} = 8",
            "CollectionDef": "kind(node_list: CollectionDef.NodeList = 1, bytes_list: CollectionDef.BytesList = 2, "
            "int64_list: CollectionDef.Int64List = 3, float_list: CollectionDef.FloatList = 4, "
            "any_list: CollectionDef.AnyList = 5)",
            "CollectionDef.NodeList": "value: [string] = 1",
            "CollectionDef.BytesList": "value: [bytes] = 1",
            "CollectionDef.Int64List": "value: [int64] = 1",
            "CollectionDef.FloatList": "value: [float] = 1",
            "CollectionDef.AnyList": "value: [google.protobuf.Any] = 1",
            "TensorInfo": "encoding(name: string = 1, coo_sparse: TensorInfo.CooSparse = 4, "
            "composite_tensor: TensorInfo.CompositeTensor = 5), dtype: DataType = 2, "
            "tensor_shape: TensorShapeProto = 3",
            "TensorInfo.CooSparse": "values_tensor_name: string = 1, indices_tensor_name: string = 2, "
            "dense_shape_tensor_name: string = 3",
            "TensorInfo.CompositeTensor": "type_spec: TypeSpecProto = 1, components: [TensorInfo] = 2",
            "SignatureDef": "inputs: {string: TensorInfo} = 1, outputs: {string: TensorInfo} = 2, "
            "method_name: string = 3, defaults: {string: TensorProto} = 4",
            "AssetFileDef": "tensor_info: TensorInfo = 1, filename: string = 2",
        },
    ),
    MessageFile(
        "tensorflow/core/protobuf/saved_model.proto",
        {
            "SavedModel": "saved_model_schema_version: int64 = 1, meta_graphs: [MetaGraphDef] = 2",
        },
    ),
    MessageFile(
        "tensorflow/core/protobuf/fingerprint.proto",
        {
            "FingerprintDef": "saved_model_checksum: uint64 = 1, graph_def_program_hash: uint64 = 2, "
            "signature_def_hash: uint64 = 3, saved_object_graph_hash: uint64 = 4, checkpoint_hash: uint64 = 5, "
            "uuid: string = 7, version: VersionDef = 6",
        },
    ),
]  # fmt: skip

_CLASSES = make_classes(_FILES, refers_to=[checkpoint_messages])

AssetFileDef = _CLASSES["AssetFileDef"]
CapturedTensor = _CLASSES["CapturedTensor"]
CollectionDef = _CLASSES["CollectionDef"]
FingerprintDef = _CLASSES["FingerprintDef"]
FunctionSpec = _CLASSES["FunctionSpec"]
MetaGraphDef = _CLASSES["MetaGraphDef"]
SaveSliceInfoDef = _CLASSES["SaveSliceInfoDef"]
SaveableObject = _CLASSES["SaveableObject"]
SavedAsset = _CLASSES["SavedAsset"]
SavedBareConcreteFunction = _CLASSES["SavedBareConcreteFunction"]
SavedConcreteFunction = _CLASSES["SavedConcreteFunction"]
SavedConstant = _CLASSES["SavedConstant"]
SavedFunction = _CLASSES["SavedFunction"]
SavedModel = _CLASSES["SavedModel"]
SavedObject = _CLASSES["SavedObject"]
SavedObjectGraph = _CLASSES["SavedObjectGraph"]
SavedResource = _CLASSES["SavedResource"]
SavedUserObject = _CLASSES["SavedUserObject"]
SavedVariable = _CLASSES["SavedVariable"]
SaverDef = _CLASSES["SaverDef"]
SignatureDef = _CLASSES["SignatureDef"]
TensorInfo = _CLASSES["TensorInfo"]
VariableDef = _CLASSES["VariableDef"]

PUBLIC = {
    "compat.v1.MetaGraphDef": MetaGraphDef,
    "compat.v1.TensorInfo": TensorInfo,
    "compat.v1.train.SaverDef": SaverDef,
}
