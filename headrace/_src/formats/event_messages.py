"""TensorFlow's messages for event files: summaries, events, and what a run cost.

This file is imported when a message is first asked for: making the classes imports protobuf.
"""

from headrace._src.formats import graph_messages
from headrace._src.formats.message_classes import MessageFile, make_classes

_FILES = [
    MessageFile(
        "tensorflow/core/framework/allocation_description.proto",
        {
            "AllocationDescription": "requested_bytes: int64 = 1, allocated_bytes: int64 = 2, "
            "allocator_name: string = 3, allocation_id: int64 = 4, has_single_reference: bool = 5, ptr: uint64 = 6",
        },
    ),
    MessageFile(
        "tensorflow/core/framework/tensor_description.proto",
        {
            "TensorDescription": "dtype: DataType = 1, shape: TensorShapeProto = 2, "
            "allocation_description: AllocationDescription = 4",
        },
    ),
    MessageFile(
        "tensorflow/core/framework/step_stats.proto",
        {
            "AllocationRecord": "alloc_micros: int64 = 1, alloc_bytes: int64 = 2",
            "AllocatorMemoryUsed": "allocator_name: string = 1, total_bytes: int64 = 2, peak_bytes: int64 = 3, "
            "live_bytes: int64 = 4, allocation_records: [AllocationRecord] = 6, allocator_bytes_in_use: int64 = 5",
            "NodeOutput": "slot: int32 = 1, tensor_description: TensorDescription = 3",
            "MemoryStats": "temp_memory_size: int64 = 1, persistent_memory_size: int64 = 3, "
            "persistent_tensor_alloc_ids: [int64] = 5, device_temp_memory_size: int64 = 2, "
            "device_persistent_memory_size: int64 = 4, device_persistent_tensor_alloc_ids: [int64] = 6",
            "NodeExecStats": "node_name: string = 1, all_start_micros: int64 = 2, op_start_rel_micros: int64 = 3, "
            "op_end_rel_micros: int64 = 4, all_end_rel_micros: int64 = 5, memory: [AllocatorMemoryUsed] = 6, "
            "output: [NodeOutput] = 7, timeline_label: string = 8, scheduled_micros: int64 = 9, "
            "thread_id: uint32 = 10, referenced_tensor: [AllocationDescription] = 11, memory_stats: MemoryStats = 12, "
            "all_start_nanos: int64 = 13, op_start_rel_nanos: int64 = 14, op_end_rel_nanos: int64 = 15, "
            "all_end_rel_nanos: int64 = 16, scheduled_nanos: int64 = 17",
            "DeviceStepStats": "device: string = 1, node_stats: [NodeExecStats] = 2, "
            "thread_names: {uint32: string} = 3",
            "StepStats": "dev_stats: [DeviceStepStats] = 1",
        },
    ),
    MessageFile(
        "tensorflow/core/framework/cost_graph.proto",
        {
            "CostGraphDef": "node: [CostGraphDef.Node] = 1, cost: [CostGraphDef.AggregatedCost] = 2",
            "CostGraphDef.Node": "name: string = 1, device: string = 2, id: int32 = 3, "
            "input_info: [CostGraphDef.Node.InputInfo] = 4, output_info: [CostGraphDef.Node.OutputInfo] = 5, "
            "temporary_memory_size: int64 = 6, persistent_memory_size: int64 = 12, host_temp_memory_size: int64 = 10, "
            "device_temp_memory_size: int64 = 11, device_persistent_memory_size: int64 = 16, compute_cost: int64 = 9, "
            "compute_time: int64 = 14, memory_time: int64 = 15, is_final: bool = 7, control_input: [int32] = 8, "
            "inaccurate: bool = 17",
            "CostGraphDef.Node.InputInfo": "preceding_node: int32 = 1, preceding_port: int32 = 2",
            "CostGraphDef.Node.OutputInfo": "size: int64 = 1, alias_input_port: int64 = 2, "
            "shape: TensorShapeProto = 3, dtype: DataType = 4",
            "CostGraphDef.AggregatedCost": "cost: float = 1, dimension: string = 2",
        },
    ),
    MessageFile(
        "tensorflow/core/protobuf/config.proto",
        {
            "SessionMetadata": "name: string = 1, version: int64 = 2",
            "RunMetadata": "step_stats: StepStats = 1, cost_graph: CostGraphDef = 2, "
            "partition_graphs: [GraphDef] = 3, function_graphs: [RunMetadata.FunctionGraphs] = 4, "
            "session_metadata: SessionMetadata = 5",
            "RunMetadata.FunctionGraphs": "partition_graphs: [GraphDef] = 1, pre_optimization_graph: GraphDef = 2, "
            "post_optimization_graph: GraphDef = 3",
            "RunOptions": "trace_level: RunOptions.TraceLevel = 1, timeout_in_ms: int64 = 2, "
            "inter_op_thread_pool: int32 = 3, output_partition_graphs: bool = 5, "
            "report_tensor_allocations_upon_oom: bool = 7",
        },
        {
            "RunOptions.TraceLevel": {
                "NO_TRACE": 0, "SOFTWARE_TRACE": 1, "HARDWARE_TRACE": 2, "FULL_TRACE": 3,
            },
        },
    ),
    MessageFile(
        "xla/tsl/protobuf/histogram.proto",
        {
            "HistogramProto": "min: double = 1, max: double = 2, num: double = 3, sum: double = 4, "
            "sum_squares: double = 5, bucket_limit: [double] = 6, bucket: [double] = 7",
        },
    ),
    MessageFile(
        "tensorflow/core/framework/summary.proto",
        {
            "SummaryDescription": "type_hint: string = 1",
            "SummaryMetadata": "plugin_data: SummaryMetadata.PluginData = 1, display_name: string = 2, "
            "summary_description: string = 3, data_class: DataClass = 4",
            "SummaryMetadata.PluginData": "plugin_name: string = 1, content: bytes = 2",
            "Summary": "value: [Summary.Value] = 1",
            "Summary.Image": "height: int32 = 1, width: int32 = 2, colorspace: int32 = 3, "
            "encoded_image_string: bytes = 4",
            "Summary.Audio": "sample_rate: float = 1, num_channels: int64 = 2, length_frames: int64 = 3, "
            "encoded_audio_string: bytes = 4, content_type: string = 5",
            "Summary.Value": "node_name: string = 7, tag: string = 1, metadata: SummaryMetadata = 9, "
            "value(simple_value: float = 2, obsolete_old_style_histogram: bytes = 3, image: Summary.Image = 4, "
            "histo: HistogramProto = 5, audio: Summary.Audio = 6, tensor: TensorProto = 8)",
        },
        {
            "DataClass": {
                "DATA_CLASS_UNKNOWN": 0, "DATA_CLASS_SCALAR": 1, "DATA_CLASS_TENSOR": 2,
                "DATA_CLASS_BLOB_SEQUENCE": 3,
            },
        },
    ),
    MessageFile(
        "tensorflow/core/util/event.proto",
        {
            "Event": "wall_time: double = 1, step: int64 = 2, what(file_version: string = 3, graph_def: bytes = 4, "
            "summary: Summary = 5, log_message: LogMessage = 6, session_log: SessionLog = 7, "
            "tagged_run_metadata: TaggedRunMetadata = 8, meta_graph_def: bytes = 9), "
            "source_metadata: SourceMetadata = 10",
            "SourceMetadata": "writer: string = 1",
            "LogMessage": "level: LogMessage.Level = 1, message: string = 2",
            "SessionLog": "status: SessionLog.SessionStatus = 1, checkpoint_path: string = 2, msg: string = 3",
            "TaggedRunMetadata": "tag: string = 1, run_metadata: bytes = 2",
            "WatchdogConfig": "timeout_ms: int64 = 1",
            "RequestedExitCode": "exit_code: int32 = 1",
            "WorkerHeartbeatRequest": "shutdown_mode: WorkerShutdownMode = 1, watchdog_config: WatchdogConfig = 2, "
            "exit_code: RequestedExitCode = 3",
            "WorkerHeartbeatResponse": "health_status: WorkerHealth = 1, worker_log: [Event] = 2, hostname: string = 3",
        },
        {
            "WorkerHealth": {"OK": 0, "RECEIVED_SHUTDOWN_SIGNAL": 1, "INTERNAL_ERROR": 2, "SHUTTING_DOWN": 3},
            "WorkerShutdownMode": {
                "DEFAULT": 0, "NOT_CONFIGURED": 1, "WAIT_FOR_COORDINATOR": 2, "SHUTDOWN_AFTER_TIMEOUT": 3,
            },
            "LogMessage.Level": {"UNKNOWN": 0, "DEBUGGING": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50},
            "SessionLog.SessionStatus": {"STATUS_UNSPECIFIED": 0, "START": 1, "STOP": 2, "CHECKPOINT": 3},
        },
    ),
]  # fmt: skip

_CLASSES = make_classes(_FILES, refers_to=[graph_messages])

AllocationDescription = _CLASSES["AllocationDescription"]
AllocationRecord = _CLASSES["AllocationRecord"]
AllocatorMemoryUsed = _CLASSES["AllocatorMemoryUsed"]
CostGraphDef = _CLASSES["CostGraphDef"]
DeviceStepStats = _CLASSES["DeviceStepStats"]
Event = _CLASSES["Event"]
LogMessage = _CLASSES["LogMessage"]
MemoryStats = _CLASSES["MemoryStats"]
NodeExecStats = _CLASSES["NodeExecStats"]
NodeOutput = _CLASSES["NodeOutput"]
RequestedExitCode = _CLASSES["RequestedExitCode"]
SessionLog = _CLASSES["SessionLog"]
SourceMetadata = _CLASSES["SourceMetadata"]
StepStats = _CLASSES["StepStats"]
Summary = _CLASSES["Summary"]
SummaryDescription = _CLASSES["SummaryDescription"]
SummaryMetadata = _CLASSES["SummaryMetadata"]
TaggedRunMetadata = _CLASSES["TaggedRunMetadata"]
TensorDescription = _CLASSES["TensorDescription"]
WatchdogConfig = _CLASSES["WatchdogConfig"]
WorkerHeartbeatRequest = _CLASSES["WorkerHeartbeatRequest"]
WorkerHeartbeatResponse = _CLASSES["WorkerHeartbeatResponse"]
RunMetadata = _CLASSES["RunMetadata"]
HistogramProto = _CLASSES["HistogramProto"]
SessionMetadata = _CLASSES["SessionMetadata"]

PUBLIC = {
    "compat.v1.Event": Event,
    "compat.v1.HistogramProto": HistogramProto,
    "compat.v1.LogMessage": LogMessage,
    "compat.v1.RunMetadata": RunMetadata,
    "compat.v1.SessionLog": SessionLog,
    "compat.v1.Summary": Summary,
    "compat.v1.SummaryMetadata": SummaryMetadata,
    "compat.v1.summary.Event": Event,
    "compat.v1.summary.SessionLog": SessionLog,
    "compat.v1.summary.Summary": Summary,
    "compat.v1.summary.SummaryDescription": SummaryDescription,
    "compat.v1.summary.TaggedRunMetadata": TaggedRunMetadata,
}
