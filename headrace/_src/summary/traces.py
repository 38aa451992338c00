"""`tf.summary.trace_on`, `trace_off` and `trace_export`: the graphs of functions that run, and a profile of them."""

import logging
import threading
from typing import Any

from headrace._src.core import errors
from headrace._src.core.context import context
from headrace._src.formats import event_wire, files
from headrace._src.op.api import api
from headrace._src.profiler.session import begin_session, end_session, save_profile
from headrace._src.summary.graph_collection import GraphCollection
from headrace._src.summary.writer_ops import known_metadata, storage_of
from headrace._src.summary.writers import current, step_tensor
from headrace._src.summary.writing import summary_scope, write

logger = logging.getLogger("headrace")
# Content "1" is the version of what the plugins read.
_GRAPHS = known_metadata(event_wire.metadata("graph_run_metadata_graph", b"1"))
_PROFILED_GRAPHS = known_metadata(event_wire.metadata("graph_run_metadata", b"1"))


class _Trace:
    """What is being recorded, for the whole process."""

    def __init__(self, graph: bool, profiler: bool, outdir):
        self.graph = graph
        self.profiler = profiler
        self.outdir = None if outdir is None else files.path_string(outdir)
        self.collection = GraphCollection()

    def begin(self):
        if self.profiler:
            begin_session(None, self.outdir or "")
        if self.graph:
            self.collection.begin()

    def end(self):
        """Stop recording; returns the profile as bytes, None if there is none."""
        if self.graph:
            self.collection.end()
        if not self.profiler:
            return None
        try:
            return end_session()[0]
        except errors.UnavailableError:
            logger.warning("trace_export: the profile that trace_on began was ended by somebody else.")
            return None


_lock = threading.Lock()
_running: _Trace | None = None


def _refuses(what):
    if context.graph is None:
        return False
    logger.warning("tf.summary.%s: nothing happens while a graph is built; call it in eager code.", what)
    return True


@api("summary.trace_on", dispatch=False)
def trace_on(graph=True, profiler=False, profiler_outdir=None, *, profile=None) -> None:
    """From now on, record the graphs of the functions that are called, in all threads, until `trace_export`.

    Args:
        graph: whether graphs are recorded.
        profiler: whether also a profile is, as by `tf.profiler.experimental.start`.
        profiler_outdir: the log folder for the profile. It may be given to `trace_export` instead; without either, it
            is the folder of the default writer.
        profile: another spelling of `profiler`, which documents have.

    >>> double = tf.function(lambda x: x * 2)
    >>> with tf.summary.create_file_writer("/tmp/headrace_doc/logs").as_default():
    ...     tf.summary.trace_on(graph=True)
    ...     y = double(tf.constant(1.0))
    ...     tf.summary.trace_export("double", step=0)
    """
    global _running
    if _refuses("trace_on"):
        return
    with _lock:
        if _running is not None:
            logger.warning("tf.summary.trace_on: a trace is being recorded already.")
            return
        trace = _Trace(graph, bool(profiler or profile), profiler_outdir)
        trace.begin()
        _running = trace


@api("summary.trace_off", dispatch=False)
def trace_off() -> None:
    """Stop recording, and throw away what was recorded; nothing happens if nothing is."""
    trace = _taken()
    if trace is not None:
        trace.end()


def _taken():
    global _running
    with _lock:
        trace, _running = _running, None
    return trace


@api("summary.trace_export", dispatch=False)
def trace_export(name, step=None, profiler_outdir=None) -> None:
    """Stop recording; write the graphs to the default writer, and the profile to its folder.

    Args:
        name: what the graphs are called.
        step: an int, an int64 scalar or a variable of one; that of `tf.summary.experimental.set_step` by default.
        profiler_outdir: the log folder for the profile, if `trace_on` has not said it.

    Raises:
        ValueError: nothing is being recorded, or there is no step.
    """
    if step is not None:
        step_tensor(step)
    if _refuses("trace_export"):
        return
    if _running is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    if current.writer is not None and step is None and current.step is None:
        raise ValueError(
            "trace_export: No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    trace = _taken()
    if trace is None:
        return  # another thread was faster
    data = trace.end()
    write_graphs(name, trace.collection.run_metadata(), step, profiled=trace.profiler or not trace.graph)
    if data is not None:
        _save(data, trace.outdir or profiler_outdir or _folder_of_writer())


def write_graphs(name, run_metadata, step=None, profiled=False) -> Any:
    """Writes a `RunMetadata` to the default writer, for the graph page of TensorBoard.

    Args:
        name: what it is called, after the open name scopes.
        run_metadata: the message.
        step: an int, an int64 scalar or a variable of one; that of `tf.summary.experimental.set_step` by default.
        profiled: whether it is more than graphs.
    """
    default = "graph_run_metadata_summary" if profiled else "graph_run_metadata_graph_summary"
    with summary_scope(name, default) as (tag, _):
        return write(tag, run_metadata.SerializeToString(), step, _PROFILED_GRAPHS if profiled else _GRAPHS)


def _save(data, outdir):
    if outdir is None:
        logger.warning(
            "tf.summary.trace_export: the profile is lost, as there is no folder for it: pass profiler_outdir to "
            "tf.summary.trace_on, or make a file writer the default."
        )
        return
    save_profile(files.path_string(outdir), data)


def _folder_of_writer():
    resource = getattr(current.writer, "_resource", None)
    file = None if resource is None else storage_of("trace_export", resource._a).file
    return None if file is None else file.folder
