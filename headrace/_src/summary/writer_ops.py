"""The ops of summary writers: making one, writing through it, flushing, closing."""

import time
import weakref

import numpy as np

from headrace._src.core import errors
from headrace._src.core.context import context
from headrace._src.core.dtypes import FROM_NUMPY, string
from headrace._src.core.lazy import LazyModule, protobuf_message
from headrace._src.formats import event_wire
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR
from headrace._src.ops.strings.kernel_arrays import attribute_text, scalar_string
from headrace._src.summary.event_files import EventFile

_messages = LazyModule("headrace._src.formats.event_messages")

# Writers that were made under a name, to be found again under it as long as somebody has them.
_shared: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class WriterStorage:
    """The resource behind a summary writer: an event file, once one was made for it.

    Args:
        name: for messages.
    """

    def __init__(self, name=""):
        self.name = name
        self.file: EventFile | None = None

    def create(self, folder: str, suffix: str, max_queue: int, flush_seconds: float) -> None:
        """Makes the event file. TF: where there is one already, nothing happens."""
        if self.file is None:
            self.file = EventFile(folder, suffix, max_queue, flush_seconds)

    def close(self) -> None:
        """Closes the event file, and forgets it."""
        file, self.file = self.file, None
        if file is not None:
            file.close()


def storage_of(op: str, writer: np.ndarray) -> WriterStorage:
    """The writer of a handle."""
    storage = writer[()] if writer.ndim == 0 else None
    if not isinstance(storage, WriterStorage):
        raise errors.invalid_argument(f"{op}: writer must be the handle of a summary writer.")
    return storage


def file_of(op: str, writer: np.ndarray) -> EventFile:
    """The event file of a writer's handle.

    Raises:
        NotFoundError: it was closed, or not made yet.
    """
    storage = storage_of(op, writer)
    if storage.file is None:
        raise errors.not_found(
            f"{op}: the summary writer {storage.name!r} has no file: it was closed, or not initialized. Make a new one "
            "with tf.summary.create_file_writer; in a 1.x graph, run writer.init() or "
            "tf.compat.v1.summary.initialize() first."
        )
    return storage.file


def number(op: str, name: str, array: np.ndarray) -> int:
    """The value of an input that must be one integer."""
    if array.ndim == 0:
        return int(array)
    if array.size != 1:
        raise errors.invalid_argument(f"{op}: {name} must be a scalar, got shape {array.shape}.")
    return int(array.reshape(()))


def _make(shared_name, container):
    if not shared_name:
        return WriterStorage("")
    resources = _shared if context.resources is None else context.resources  # a session keeps its own
    return resources.setdefault(("summary writer", container, shared_name), WriterStorage(attribute_text(shared_name)))


SUMMARY_WRITER = Op(
    "SummaryWriter",
    "*, shared_name: string = '', container: string = '' -> writer: resource",
    infer=lambda **attrs: SCALAR,
    kernel=_make,
    lower=None,  # files are the host's
    stateful=True,
    grad=None,
)


def effect(name, text, kernel, **types) -> Op:
    """An op that uses a writer and has no outputs."""
    return Op(
        name,
        f"writer: resource{text} -> ",
        infer=lambda *inputs, **attrs: (),
        kernel=kernel,
        lower=None,  # files are the host's
        stateful=True,
        quiet=False,  # it may wait for other threads
        grad=None,
        **types,
    )


def _create(writer, logdir, max_queue, flush_millis, filename_suffix):
    op = "CreateSummaryFileWriter"
    storage_of(op, writer).create(
        attribute_text(scalar_string(op, "logdir", logdir)),
        attribute_text(scalar_string(op, "filename_suffix", filename_suffix)),
        number(op, "max_queue", max_queue),
        number(op, "flush_millis", flush_millis) / 1000,
    )


CREATE_SUMMARY_FILE_WRITER = effect(
    "CreateSummaryFileWriter",
    ", logdir: string, max_queue: int32, flush_millis: int32, filename_suffix: string",
    _create,
)
FLUSH_SUMMARY_WRITER = effect("FlushSummaryWriter", "", lambda writer: file_of("FlushSummaryWriter", writer).flush())
CLOSE_SUMMARY_WRITER = effect(
    "CloseSummaryWriter", "", lambda writer: storage_of("CloseSummaryWriter", writer).close()
)

# Metadata that is known to be an encoded `SummaryMetadata`, in the form in which it is written.
_checked_metadata: dict[bytes, bytes] = {b"": b""}


def known_metadata(metadata: bytes) -> bytes:
    """Lets metadata that was encoded here be written without looking at it again; returns it."""
    if len(_checked_metadata) > 1 << 12:
        _checked_metadata.clear()
    _checked_metadata[metadata] = metadata
    return metadata


def _checked(metadata: bytes) -> bytes:
    try:
        checked = _messages.SummaryMetadata.FromString(metadata).SerializeToString()
    except protobuf_message.DecodeError:
        raise errors.invalid_argument(
            "WriteSummary: summary_metadata is no encoded SummaryMetadata message. Pass the message itself, or its "
            "SerializeToString()."
        ) from None
    known_metadata(metadata)
    _checked_metadata[metadata] = checked
    return checked


def write_array(writer: np.ndarray, step: int, array: np.ndarray, tag: bytes, metadata: bytes) -> None:
    """Writes a tensor as a summary: what WriteSummary does, which eager code does without the op."""
    file = file_of("WriteSummary", writer)
    dtype = string if array.dtype == object else FROM_NUMPY[array.dtype]
    checked = _checked_metadata.get(metadata)
    if checked is None:
        checked = _checked(metadata)
    file.add(event_wire.tensor_event(time.time(), step, tag, checked, array, dtype))


def _write(writer, step, tensor, tag, summary_metadata):
    op = "WriteSummary"
    write_array(
        writer,
        number(op, "step", step),
        tensor,
        scalar_string(op, "tag", tag),
        scalar_string(op, "summary_metadata", summary_metadata),
    )


WRITE_SUMMARY = effect(
    "WriteSummary", ", step: int64, tensor: T, tag: string, summary_metadata: string", _write
)


def _write_raw(writer, step, tensor):
    op = "WriteRawProtoSummary"
    file, at = file_of(op, writer), number(op, "step", step)
    parts = []
    for index, data in enumerate(tensor.ravel().tolist()):
        try:
            parts.append(_messages.Summary.FromString(data).SerializeToString())
        except protobuf_message.DecodeError:
            raise errors.data_loss(f"Bad tf.compat.v1.Summary binary proto tensor string at index {index}") from None
    file.add(event_wire.event(time.time(), at, event_wire.SUMMARY, b"".join(parts)))


WRITE_RAW_PROTO_SUMMARY = effect("WriteRawProtoSummary", ", step: int64, tensor: string", _write_raw)


def _write_graph(writer, step, tensor):
    op = "WriteGraphSummary"
    data = scalar_string(op, "tensor", tensor)
    file_of(op, writer).add(event_wire.event(time.time(), number(op, "step", step), event_wire.GRAPH_DEF, data))


WRITE_GRAPH_SUMMARY = effect("WriteGraphSummary", ", step: int64, tensor: string", _write_graph)


def _import(writer, event):
    data = scalar_string("ImportEvent", "event", event)
    try:
        event = _messages.Event.FromString(data)
    except protobuf_message.DecodeError:
        raise errors.data_loss("Bad tf.Event binary proto tensor string") from None
    file_of("ImportEvent", writer).add(event.SerializeToString())


IMPORT_EVENT = effect("ImportEvent", ", event: string", _import)
