"""Messages of profiles (`.xplane.pb`): what ran when, on which lines of which planes.

This file is imported when a message is first asked for: making the classes imports protobuf.
"""

from headrace._src.formats.message_classes import MessageFile, make_classes

_FILES = [
    MessageFile(
        "tsl/profiler/protobuf/xplane.proto",
        {
            "XSpace": "planes: [XPlane] = 1, errors: [string] = 2, warnings: [string] = 3, hostnames: [string] = 4",
            "XPlane": "id: int64 = 1, name: string = 2, lines: [XLine] = 3, "
            "event_metadata: {int64: XEventMetadata} = 4, "
            "stat_metadata: {int64: XStatMetadata} = 5, stats: [XStat] = 6",
            "XLine": "id: int64 = 1, display_id: int64 = 10, name: string = 2, display_name: string = 11, "
            "timestamp_ns: int64 = 3, duration_ps: int64 = 9, events: [XEvent] = 4",
            "XEvent": "metadata_id: int64 = 1, data(offset_ps: int64 = 2, num_occurrences: int64 = 5), "
            "duration_ps: int64 = 3, stats: [XStat] = 4",
            "XStat": "metadata_id: int64 = 1, value(double_value: double = 2, uint64_value: uint64 = 3, "
            "int64_value: int64 = 4, str_value: string = 5, bytes_value: bytes = 6, ref_value: uint64 = 7)",
            "XEventMetadata": "id: int64 = 1, name: string = 2, display_name: string = 4, metadata: bytes = 3, "
            "stats: [XStat] = 5, child_id: [int64] = 6",
            "XStatMetadata": "id: int64 = 1, name: string = 2, description: string = 3",
        },
        package="tensorflow.profiler",
    ),
    MessageFile(
        "tsl/profiler/protobuf/profiler_options.proto",
        {
            "ProfileOptions": "version: uint32 = 5, device_type: ProfileOptions.DeviceType = 6, "
            "include_dataset_ops: bool = 1, host_tracer_level: uint32 = 2, device_tracer_level: uint32 = 3, "
            "python_tracer_level: uint32 = 4, enable_hlo_proto: bool = 7, start_timestamp_ns: uint64 = 8, "
            "duration_ms: uint64 = 9, repository_path: string = 10",
        },
        {"ProfileOptions.DeviceType": {"UNSPECIFIED": 0, "CPU": 1, "GPU": 2, "TPU": 3, "PLUGGABLE_DEVICE": 4}},
    ),
    MessageFile(
        "tsl/profiler/protobuf/profiler_service.proto",
        {
            "ToolRequestOptions": "output_formats: string = 2, save_to_repo: bool = 3",
            "ProfileRequest": "duration_ms: uint64 = 1, max_events: uint64 = 2, tools: [string] = 3, "
            "opts: ProfileOptions = 4, repository_root: string = 5, session_id: string = 6, host_name: string = 7, "
            "tool_options: {string: ToolRequestOptions} = 8, emit_xspace: bool = 9",
            "ProfileToolData": "name: string = 1, data: bytes = 2",
            "ProfileResponse": "tool_data: [ProfileToolData] = 6, empty_trace: bool = 7, "
            "xspace: XSpace = 8",
            "MonitorRequest": "duration_ms: uint64 = 1, monitoring_level: int32 = 2, timestamp: bool = 3",
            "MonitorResponse": "data: string = 1",
            "TerminateRequest": "session_id: string = 1",
            "TerminateResponse": "",
        },
    ),
]  # fmt: skip

_CLASSES = make_classes(_FILES)

XSpace = _CLASSES["XSpace"]
XPlane = _CLASSES["XPlane"]
XLine = _CLASSES["XLine"]
XEvent = _CLASSES["XEvent"]
XStat = _CLASSES["XStat"]
XEventMetadata = _CLASSES["XEventMetadata"]
XStatMetadata = _CLASSES["XStatMetadata"]
ProfileOptions = _CLASSES["ProfileOptions"]
ProfileRequest = _CLASSES["ProfileRequest"]
ProfileResponse = _CLASSES["ProfileResponse"]
MonitorRequest = _CLASSES["MonitorRequest"]
MonitorResponse = _CLASSES["MonitorResponse"]
TerminateRequest = _CLASSES["TerminateRequest"]
TerminateResponse = _CLASSES["TerminateResponse"]
