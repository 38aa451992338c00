"""Events of event files, encoded by hand: summaries are written often, and protobuf need not be imported for them.

An `Event` has the fields wall_time (1), step (2), file_version (3), graph_def (4), summary (5), session_log (7),
tagged_run_metadata (8), meta_graph_def (9) and source_metadata (10). Bytes are those that TensorFlow writes.
"""

import struct

import numpy as np

from headrace._src.core.dtypes import DType
from headrace._src.formats import wire

GRAPH_DEF = 4
SUMMARY = 5
FILE_VERSION = b"brain.Event:2"
_WRITER = b"headrace.summary.event_files"
_TIME = struct.Struct("<d")
_STEPS = 1 << 12  # so many encoded steps are remembered
_FRAMES = 1 << 12  # so many combinations of tag, metadata, dtype and shape are


class _Steps(dict):
    """From steps to the field; made when first asked for. A step of zero is left out."""

    def __missing__(self, step: int) -> bytes:
        field = wire.integer(2, step) if step else b""
        if len(self) >= _STEPS:
            self.clear()
        self[step] = field
        return field


_steps = _Steps()
_frames: dict[tuple, tuple[bytes, bytes]] = {}


def event(wall_time: float, step: int, field: int, data: bytes) -> bytes:
    """An event with one field besides time and step."""
    return b"".join([b"\x09", _TIME.pack(wall_time), _steps[step], wire.message(field, data)])


def first_event(wall_time: float) -> bytes:
    """The event that every event file begins with: the version of the format, and who writes it."""
    source = wire.message(10, wire.message(1, _WRITER))
    return b"".join([b"\x09", _TIME.pack(wall_time), wire.message(3, FILE_VERSION), source])


def tensor_event(wall_time: float, step: int, tag: bytes, metadata: bytes, array: np.ndarray, dtype: DType) -> bytes:
    """An event with a summary of one value, a tensor.

    Args:
        wall_time: seconds since 1970.
        step: any int64.
        tag: UTF-8.
        metadata: an encoded `SummaryMetadata`; empty for none.
        array: the tensor's value; strings as bytes objects.
        dtype: its dtype.
    """
    if dtype._kind == "s":
        value = summary_value(tag, metadata, wire.tensor_proto(array, dtype))
        return event(wall_time, step, SUMMARY, wire.message(1, value))
    key = (tag, metadata, dtype, array.shape)
    frame = _frames.get(key)
    if frame is None:
        frame = _frame(tag, metadata, array, dtype)
        if len(_frames) >= _FRAMES:
            _frames.clear()
        _frames[key] = frame
    content = array.tobytes() if _IS_LITTLE else array.astype(array.dtype.newbyteorder("<")).tobytes()
    return b"".join([b"\x09", _TIME.pack(wall_time), _steps[step], frame[0], content, frame[1]])


_IS_LITTLE = np.little_endian


def _frame(tag, metadata, array, dtype):
    """What stands before and after the bytes of a tensor: the same for all values of a shape."""
    summary = wire.message(SUMMARY, wire.message(1, summary_value(tag, metadata, wire.tensor_proto(array, dtype))))
    behind = len(wire.message(9, metadata)) if metadata else 0
    end = len(summary) - behind
    return summary[: end - array.nbytes], summary[end:]


def summary_value(tag: bytes, metadata: bytes, tensor: bytes) -> bytes:
    """A `Summary.Value` of an encoded tensor."""
    value = wire.message(1, tag) + wire.message(8, tensor)
    return value + wire.message(9, metadata) if metadata else value


def metadata(
    plugin: str, content: bytes = b"", description: str | None = None, display_name: str | None = None
) -> bytes:
    """A `SummaryMetadata`: which plugin shows the summary, and what it is told.

    Args:
        plugin: the plugin's name.
        content: what the plugin wants to know.
        description: a text in Markdown that stands beside the summary.
        display_name: what stands in place of the tag.
    """
    data = wire.text(1, plugin) + (wire.message(2, content) if content else b"")
    parts = [wire.message(1, data)]
    if display_name:
        parts.append(wire.text(2, display_name))
    if description:
        parts.append(wire.text(3, description))
    return b"".join(parts)
