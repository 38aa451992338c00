"""TensorFlow's messages for graphs, functions, tensors and structures of specs, as protobuf classes.

This file is imported when a message is first asked for: making the classes imports protobuf.
"""

from headrace._src.formats.message_classes import MessageFile, make_classes

_TYPES = (
    "INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32 BFLOAT16 QINT16 "
    "QUINT16 UINT16 COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64 FLOAT8_E5M2 FLOAT8_E4M3FN FLOAT8_E4M3FNUZ "
    "FLOAT8_E4M3B11FNUZ FLOAT8_E5M2FNUZ INT4 UINT4 INT2 UINT2 FLOAT4_E2M1FN"
).split()
# A reference, of TensorFlow 1's variables, is numbered 100 above its type.
_DATA_TYPES = {f"DT_{name}": i for i, name in enumerate(_TYPES)} | {
    f"DT_{name}_REF": 100 + i for i, name in enumerate(_TYPES) if i
}
_FULL_TYPES = {
    f"TFT_{name}": number
    for first, names in {
        0: "UNSET VAR ANY PRODUCT NAMED",
        20: "FOR_EACH",
        100: "CALLABLE",
        1000: "TENSOR ARRAY OPTIONAL LITERAL ENCODED SHAPE_TENSOR",
        200: "BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64",
        209: "HALF FLOAT DOUBLE COMPLEX64 COMPLEX128 STRING BFLOAT16",
        10102: "DATASET RAGGED ITERATOR",
        10202: "MUTEX_LOCK LEGACY_VARIANT",
    }.items()
    for number, name in enumerate(names.split(), first)
}

_FILES = [
    MessageFile(
        "tensorflow/core/framework/tensor_shape.proto",
        {
            "TensorShapeProto": "dim: [TensorShapeProto.Dim] = 2, unknown_rank: bool = 3",
            "TensorShapeProto.Dim": "size: int64 = 1, name: string = 2",
        },
    ),
    MessageFile(
        "tensorflow/core/framework/types.proto",
        {"SerializedDType": "datatype: DataType = 1"},
        {"DataType": _DATA_TYPES},
    ),
    MessageFile(
        "tensorflow/core/framework/resource_handle.proto",
        {
            "ResourceHandleProto": "device: string = 1, container: string = 2, name: string = 3, "
            "hash_code: uint64 = 4, maybe_type_name: string = 5, "
            "dtypes_and_shapes: [ResourceHandleProto.DtypeAndShape] = 6",
            "ResourceHandleProto.DtypeAndShape": "dtype: DataType = 1, shape: TensorShapeProto = 2",
        },
    ),
    MessageFile(
        "tensorflow/core/framework/tensor.proto",
        {
            "TensorProto": "dtype: DataType = 1, tensor_shape: TensorShapeProto = 2, version_number: int32 = 3, "
            "tensor_content: bytes = 4, half_val: [int32] = 13, float_val: [float] = 5, double_val: [double] = 6, "
            "int_val: [int32] = 7, string_val: [bytes] = 8, scomplex_val: [float] = 9, int64_val: [int64] = 10, "
            "bool_val: [bool] = 11, dcomplex_val: [double] = 12, resource_handle_val: [ResourceHandleProto] = 14, "
            "variant_val: [VariantTensorDataProto] = 15, uint32_val: [uint32] = 16, uint64_val: [uint64] = 17, "
            "float8_val: bytes = 18",
            "VariantTensorDataProto": "type_name: string = 1, metadata: bytes = 2, tensors: [TensorProto] = 3",
        },
    ),
    MessageFile(
        "tensorflow/core/framework/attr_value.proto",
        {
            "AttrValue": "value(s: bytes = 2, i: int64 = 3, f: float = 4, b: bool = 5, type: DataType = 6, "
            "shape: TensorShapeProto = 7, tensor: TensorProto = 8, list: AttrValue.ListValue = 1, "
            "func: NameAttrList = 10, placeholder: string = 9)",
            "AttrValue.ListValue": "s: [bytes] = 2, i: [int64] = 3, f: [float] = 4, b: [bool] = 5, "
            "type: [DataType] = 6, shape: [TensorShapeProto] = 7, tensor: [TensorProto] = 8, func: [NameAttrList] = 9",
            "NameAttrList": "name: string = 1, attr: {string: AttrValue} = 2",
        },
    ),
    MessageFile(
        "tensorflow/core/framework/full_type.proto",
        {
            "FullTypeDef": "type_id: FullTypeId = 1, args: [FullTypeDef] = 2, attr(s: string = 3, i: int64 = 4)",
        },
        {"FullTypeId": _FULL_TYPES},
    ),
    MessageFile(
        "tensorflow/core/framework/node_def.proto",
        {
            "NodeDef": "name: string = 1, op: string = 2, input: [string] = 3, device: string = 4, "
            "attr: {string: AttrValue} = 5, experimental_debug_info: NodeDef.ExperimentalDebugInfo = 6, "
            "experimental_type: FullTypeDef = 7",
            "NodeDef.ExperimentalDebugInfo": "original_node_names: [string] = 1, original_func_names: [string] = 2",
        },
    ),
    MessageFile(
        "tensorflow/core/framework/op_def.proto",
        {
            "OpDef": "name: string = 1, input_arg: [OpDef.ArgDef] = 2, output_arg: [OpDef.ArgDef] = 3, "
            "control_output: [string] = 20, attr: [OpDef.AttrDef] = 4, deprecation: OpDeprecation = 8, "
            "summary: string = 5, description: string = 6, is_commutative: bool = 18, is_aggregate: bool = 16, "
            "is_stateful: bool = 17, allows_uninitialized_input: bool = 19, is_distributed_communication: bool = 21",
            "OpDef.ArgDef": "name: string = 1, description: string = 2, type: DataType = 3, type_attr: string = 4, "
            "number_attr: string = 5, type_list_attr: string = 6, "
            "handle_data: [ResourceHandleProto.DtypeAndShape] = 7, is_ref: bool = 16, "
            "experimental_full_type: FullTypeDef = 17",
            "OpDef.AttrDef": "name: string = 1, type: string = 2, default_value: AttrValue = 3, "
            "description: string = 4, has_minimum: bool = 5, minimum: int64 = 6, allowed_values: AttrValue = 7",
            "OpDeprecation": "version: int32 = 1, explanation: string = 2",
            "OpList": "op: [OpDef] = 1",
        },
    ),
    MessageFile(
        "tensorflow/core/framework/function.proto",
        {
            "FunctionDefLibrary": "function: [FunctionDef] = 1, gradient: [GradientDef] = 2, "
            "registered_gradients: [RegisteredGradient] = 3",
            "FunctionDef": "signature: OpDef = 1, attr: {string: AttrValue} = 5, "
            "arg_attr: {uint32: FunctionDef.ArgAttrs} = 7, resource_arg_unique_id: {uint32: uint32} = 8, "
            "node_def: [NodeDef] = 3, ret: {string: string} = 4, control_ret: {string: string} = 6",
            "FunctionDef.ArgAttrs": "attr: {string: AttrValue} = 1",
            "GradientDef": "function_name: string = 1, gradient_func: string = 2",
            "RegisteredGradient": "gradient_func: string = 1, registered_op_type: string = 2",
        },
    ),
    MessageFile(
        "tensorflow/core/framework/graph_debug_info.proto",
        {
            "GraphDebugInfo": "files: [string] = 1, frames_by_id: {fixed64: GraphDebugInfo.FileLineCol} = 4, "
            "traces_by_id: {fixed64: GraphDebugInfo.StackTrace} = 6, "
            "traces: {string: GraphDebugInfo.StackTrace} = 2, name_to_trace_id: {string: fixed64} = 5",
            "GraphDebugInfo.FileLineCol": "file_index: int32 = 1, line: int32 = 2, col: int32 = 3, func: string = 4, "
            "code: string = 5",
            "GraphDebugInfo.StackTrace": "file_line_cols: [GraphDebugInfo.FileLineCol] = 1, frame_id: [fixed64] = 2",
        },
        syntax="proto2",
    ),
    MessageFile(
        "tensorflow/core/framework/versions.proto",
        {"VersionDef": "producer: int32 = 1, min_consumer: int32 = 2, bad_consumers: [int32] = 3"},
    ),
    MessageFile(
        "tensorflow/core/framework/graph.proto",
        {
            "GraphDef": "node: [NodeDef] = 1, versions: VersionDef = 4, version: int32 = 3, "
            "library: FunctionDefLibrary = 2, debug_info: GraphDebugInfo = 5",
        },
    ),
    MessageFile(
        "tensorflow/core/protobuf/struct.proto",
        {
            "StructuredValue": "kind(none_value: NoneValue = 1, float64_value: double = 11, int64_value: sint64 = 12, "
            "string_value: string = 13, bool_value: bool = 14, tensor_shape_value: TensorShapeProto = 31, "
            "tensor_dtype_value: DataType = 32, tensor_spec_value: TensorSpecProto = 33, "
            "type_spec_value: TypeSpecProto = 34, bounded_tensor_spec_value: BoundedTensorSpecProto = 35, "
            "list_value: ListValue = 51, tuple_value: TupleValue = 52, dict_value: DictValue = 53, "
            "named_tuple_value: NamedTupleValue = 54, tensor_value: TensorProto = 55, numpy_value: TensorProto = 56)",
            "NoneValue": "",
            "ListValue": "values: [StructuredValue] = 1",
            "TupleValue": "values: [StructuredValue] = 1",
            "DictValue": "fields: {string: StructuredValue} = 1",
            "PairValue": "key: string = 1, value: StructuredValue = 2",
            "NamedTupleValue": "name: string = 1, values: [PairValue] = 2",
            "TensorSpecProto": "name: string = 1, shape: TensorShapeProto = 2, dtype: DataType = 3",
            "BoundedTensorSpecProto": "name: string = 1, shape: TensorShapeProto = 2, dtype: DataType = 3, "
            "minimum: TensorProto = 4, maximum: TensorProto = 5",
            "TypeSpecProto": "type_spec_class: TypeSpecProto.TypeSpecClass = 1, type_state: StructuredValue = 2, "
            "type_spec_class_name: string = 3, num_flat_components: int32 = 4",
        },
        {
            "TypeSpecProto.TypeSpecClass": {
                "UNKNOWN": 0, "SPARSE_TENSOR_SPEC": 1, "INDEXED_SLICES_SPEC": 2, "RAGGED_TENSOR_SPEC": 3,
                "TENSOR_ARRAY_SPEC": 4, "DATA_DATASET_SPEC": 5, "DATA_ITERATOR_SPEC": 6, "OPTIONAL_SPEC": 7,
                "PER_REPLICA_SPEC": 8, "VARIABLE_SPEC": 9, "ROW_PARTITION_SPEC": 10, "REGISTERED_TYPE_SPEC": 12,
                "EXTENSION_TYPE_SPEC": 13,
            },
        },
    ),
]  # fmt: skip

_CLASSES = make_classes(_FILES)

AttrValue = _CLASSES["AttrValue"]
FunctionDef = _CLASSES["FunctionDef"]
FunctionDefLibrary = _CLASSES["FunctionDefLibrary"]
GradientDef = _CLASSES["GradientDef"]
GraphDebugInfo = _CLASSES["GraphDebugInfo"]
GraphDef = _CLASSES["GraphDef"]
NameAttrList = _CLASSES["NameAttrList"]
NodeDef = _CLASSES["NodeDef"]
OpDef = _CLASSES["OpDef"]
OpList = _CLASSES["OpList"]
ResourceHandleProto = _CLASSES["ResourceHandleProto"]
SerializedDType = _CLASSES["SerializedDType"]
TensorProto = _CLASSES["TensorProto"]
TensorShapeProto = _CLASSES["TensorShapeProto"]
TensorSpecProto = _CLASSES["TensorSpecProto"]
StructuredValue = _CLASSES["StructuredValue"]
TypeSpecProto = _CLASSES["TypeSpecProto"]
VersionDef = _CLASSES["VersionDef"]

PUBLIC = {
    "compat.v1.AttrValue": AttrValue,
    "compat.v1.GraphDef": GraphDef,
    "compat.v1.NameAttrList": NameAttrList,
    "compat.v1.NodeDef": NodeDef,
}
