"""`tf.compat.v1.summary.FileWriter`: summaries, graphs and other events that a 1.x program writes to an event file."""

import logging
import threading
import time
import warnings
from typing import Any

from headrace._src.compat.behavior import get_default_graph
from headrace._src.compat.saving.meta_graphs import export_meta_graph
from headrace._src.compat.sessions.session import placeholder
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.lazy import LazyModule
from headrace._src.core.names import fresh_scope
from headrace._src.formats import files
from headrace._src.graph.building.graph import BaseGraph
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.summary.event_files import EventFile
from headrace._src.summary.writer_ops import (
    CLOSE_SUMMARY_WRITER,
    CREATE_SUMMARY_FILE_WRITER,
    FLUSH_SUMMARY_WRITER,
    IMPORT_EVENT,
    SUMMARY_WRITER,
)

_events = LazyModule("headrace._src.formats.event_messages")
_models = LazyModule("headrace._src.formats.model_messages")
_logger = logging.getLogger("tensorflow")
_EAGER = (
    "v1.summary.FileWriter is not compatible with eager execution. Use `tf.summary.create_file_writer`,or a `with "
    "v1.Graph().as_default():` context"
)


class _SessionFile:
    """An event file to which operations of a session's graph write, so that it is where the session runs."""

    def __init__(self, session, folder, max_queue, flush_seconds, suffix):
        self._session = session
        self.folder = folder
        with session.graph.as_default(), fresh_scope():
            writer = SUMMARY_WRITER(shared_name=f"{folder}{suffix}")
            arguments = [
                to_tensor(max_queue, dtypes.int32),
                to_tensor(int(flush_seconds * 1000), dtypes.int32),
                to_tensor(suffix, dtypes.string),
            ]
            self._made = CREATE_SUMMARY_FILE_WRITER(writer, folder, *arguments)
            self._data = placeholder(dtypes.string, [])
            self._added = IMPORT_EVENT(writer, self._data)
            self._flushed = FLUSH_SUMMARY_WRITER(writer)
            self._closed = CLOSE_SUMMARY_WRITER(writer)
        session.run(self._made)

    def add(self, event):
        self._session.run(self._added, {self._data: event})

    def flush(self):
        self._session.run(self._flushed)

    def close(self):
        self._session.run(self._closed)

    def reopen(self):
        self._session.run(self._made)


@api("compat.v1.summary.FileWriter")
class FileWriter:
    """Writes summaries and other events to a new file in a folder, which TensorBoard shows.

    Args:
        logdir: the folder.
        graph: a graph to write at once.
        max_queue: as soon as more events wait than this, they are flushed.
        flush_secs: no event waits longer than so many seconds.
        graph_def: the older form of `graph`, a `GraphDef`.
        filename_suffix: the end of the file's name.
        session: a session; if it is given, operations of its graph write the file, which several writers of the same
            folder share.

    Raises:
        RuntimeError: executing eagerly.

    >>> import tempfile
    >>> with tf.Graph().as_default() as graph, tf.compat.v1.Session() as sess:
    ...     loss = tf.compat.v1.summary.scalar("loss", 0.5)
    ...     with tf.compat.v1.summary.FileWriter(tempfile.mkdtemp(), graph) as writer:
    ...         for step in range(3):
    ...             writer.add_summary(sess.run(loss), step)
    """

    def __init__(
        self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None, filename_suffix=None, session=None
    ) -> None:
        if context.graph is None:
            raise RuntimeError(_EAGER)
        self._folder = files.path_string(logdir)
        suffix = filename_suffix or ""
        self._file: Any
        if session is None:
            self._file = EventFile(self._folder, suffix, max_queue, flush_secs, numbered=False)
        else:
            self._file = _SessionFile(session, self._folder, max_queue, flush_secs, suffix)
        self._closed = False
        self._tags_with_metadata: set[str] = set()
        self._run_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            shown = graph if isinstance(graph, BaseGraph) else None
            self.add_meta_graph(_meta_graph(shown, graph if shown is None and graph is not None else graph_def))

    def __enter__(self) -> "FileWriter":
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The folder of the file."""
        return self._folder

    # Events.

    def add_event(self, event) -> None:
        """Writes an `Event` message."""
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is "
                "explicitly reopened.",
                stacklevel=3,
            )
            return
        self._file.add(event.SerializeToString())

    def _add(self, global_step, **what):
        event = _events.Event(wall_time=time.time(), **what)
        if global_step is not None:
            event.step = int(global_step)
        self.add_event(event)

    def add_summary(self, summary, global_step=None) -> None:
        """Writes a summary.

        Args:
            summary: what a summary operation gave when it was run, or a `Summary` message.
            global_step: the step that it belongs to.
        """
        message = _events.Summary()
        message.MergeFromString(summary if isinstance(summary, bytes) else summary.SerializeToString())
        # What a tag means is said once: its metadata may be large.
        for value in message.value:
            if not value.HasField("metadata"):
                continue
            if value.tag in self._tags_with_metadata:
                value.ClearField("metadata")
            self._tags_with_metadata.add(value.tag)
        self._add(global_step, summary=message)

    def add_session_log(self, session_log, global_step=None) -> None:
        """Writes a `SessionLog` message: that a session starts or stops, or a checkpoint was saved."""
        log = _events.SessionLog.FromString(session_log.SerializeToString())
        self._add(global_step, session_log=log)

    def add_graph(self, graph, global_step=None, graph_def=None) -> None:
        """Writes a graph, which TensorBoard draws.

        Args:
            graph: the graph.
            global_step: a step.
            graph_def: the older form of `graph`, a `GraphDef`.

        Raises:
            ValueError: both are given, or none.
            TypeError: it is something else.
        """
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph_def if graph is None else graph
        if isinstance(given, BaseGraph):
            data = given.as_graph_def(add_shapes=True).SerializeToString()
        elif getattr(getattr(given, "DESCRIPTOR", None), "full_name", None) == "tensorflow.GraphDef":
            _logger.warning(
                "Passing a `GraphDef` to the SummaryWriter is deprecated. Pass a `Graph` object instead, such as "
                "`sess.graph`."
            )
            data = given.SerializeToString()
        else:
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._add(global_step, graph_def=data)

    def add_meta_graph(self, meta_graph_def, global_step=None) -> None:
        """Writes a `MetaGraphDef` message.

        Raises:
            TypeError: it is something else.
        """
        if getattr(getattr(meta_graph_def, "DESCRIPTOR", None), "full_name", None) != "tensorflow.MetaGraphDef":
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(global_step, meta_graph_def=meta_graph_def.SerializeToString())

    def add_run_metadata(self, run_metadata, tag, global_step=None) -> None:
        """Writes what a run of a session told about itself, a `RunMetadata` message.

        Args:
            run_metadata: the message.
            tag: its name.
            global_step: a step.

        Raises:
            ValueError: the tag was used before.
        """
        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        metadata = _events.TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add(global_step, tagged_run_metadata=metadata)

    # The file.

    def flush(self) -> None:
        """Makes all that was written visible to readers."""
        if not self._closed:
            self._file.flush()

    def close(self) -> None:
        """Flushes and closes the file; what is added afterwards is lost, with a warning."""
        if not self._closed:
            self._file.close()
            self._closed = True

    def reopen(self) -> None:
        """After `close`: what is added goes into a new file of the folder."""
        if self._closed:
            self._file.reopen()
            self._closed = False


def _meta_graph(graph, graph_def):
    """What TensorFlow writes beside a graph: the same with the names of its ops."""
    if graph is not None:
        return export_meta_graph(graph=graph, collection_list=[])
    return _models.MetaGraphDef(graph_def=_models.MetaGraphDef().graph_def.FromString(graph_def.SerializeToString()))


@api("compat.v1.summary.FileWriterCache")
class FileWriterCache:
    """One `FileWriter` for each folder."""

    _writers: dict[str, FileWriter] = {}
    _lock = threading.RLock()

    @staticmethod
    def get(logdir) -> FileWriter:
        """The writer of a folder, made with the default graph if there is none yet."""
        with FileWriterCache._lock:
            folder = files.path_string(logdir)
            if folder not in FileWriterCache._writers:
                FileWriterCache._writers[folder] = FileWriter(folder, graph=get_default_graph())
            return FileWriterCache._writers[folder]

    @staticmethod
    def clear() -> None:
        """Closes all writers, and forgets them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._writers.values():
                writer.close()
            FileWriterCache._writers.clear()
