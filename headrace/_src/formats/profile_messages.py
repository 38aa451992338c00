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
]  # fmt: skip

_CLASSES = make_classes(_FILES)

XSpace = _CLASSES["XSpace"]
XPlane = _CLASSES["XPlane"]
XLine = _CLASSES["XLine"]
XEvent = _CLASSES["XEvent"]
XStat = _CLASSES["XStat"]
XEventMetadata = _CLASSES["XEventMetadata"]
XStatMetadata = _CLASSES["XStatMetadata"]
