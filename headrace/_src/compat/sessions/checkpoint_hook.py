"""`CheckpointSaverHook`: checkpoints while a monitored session runs."""

import logging
from typing import Any

from headrace._src.compat.graph_keys import GraphKeys, get_collection
from headrace._src.compat.saving.meta_graphs import export_meta_graph
from headrace._src.compat.sessions.session_hooks import SecondOrStepTimer, SessionRunArgs, SessionRunHook
from headrace._src.compat.sessions.training_hooks import step_for
from headrace._src.compat.summaries.file_writers import FileWriterCache
from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.graph.messages.graph_files import write_graph
from headrace._src.op.api import api

_events = LazyModule("headrace._src.formats.event_messages")
_logger = logging.getLogger("tensorflow")


@api("compat.v1.train.CheckpointSaverHook")
class CheckpointSaverHook(SessionRunHook):
    """Saves a checkpoint every few steps or seconds, at the beginning, and at the end.

    Args:
        checkpoint_dir: the folder.
        save_secs, save_steps: how often; one of them.
        saver: the saver.
        checkpoint_basename: what the names of checkpoints begin with.
        scaffold: has the saver, if there is none.
        listeners: `CheckpointSaverListener` objects.
        save_graph_def: whether the graph is written too.

    Raises:
        ValueError: both a saver and a scaffold are given; both or none of secs and steps.
    """

    def __init__(
        self,
        checkpoint_dir,
        save_secs=None,
        save_steps=None,
        saver=None,
        checkpoint_basename="model.ckpt",
        scaffold=None,
        listeners=None,
        save_graph_def=True,
    ) -> None:
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._folder = files.path_string(checkpoint_dir)
        self._prefix = files.join(self._folder, checkpoint_basename)
        self._saver = saver
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._listeners = list(listeners or ())
        self._save_graph_def = save_graph_def
        self._steps_per_run = 1

    def begin(self) -> None:
        self._writer = FileWriterCache.get(self._folder)
        self._step = step_for("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session, coord) -> None:
        graph = session.graph
        if self._save_graph_def:
            write_graph(graph.as_graph_def(add_shapes=True), self._folder, "graph.pbtxt")
        self._writer.add_graph(graph)
        self._writer.add_meta_graph(export_meta_graph(graph=graph, saver_def=self._chosen_saver().as_saver_def()))
        step = session.run(self._step)
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values) -> None:
        # What came with the run may have been read before the step was counted.
        if not self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            return
        step = run_context.session.run(self._step)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session) -> None:
        step = session.run(self._step)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session, step):
        """Write a checkpoint; whether a listener wants to stop."""
        _logger.info("Saving checkpoints for %d into %s...", step, self._prefix)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._chosen_saver().save(session, self._prefix, global_step=int(step), write_meta_graph=self._save_graph_def)
        log = _events.SessionLog(status=_events.SessionLog.CHECKPOINT, checkpoint_path=self._prefix)
        self._writer.add_session_log(log, step)
        stops = [bool(listener.after_save(session, step)) for listener in self._listeners]
        return any(stops)

    def _chosen_saver(self):
        if self._saver is None and self._scaffold is not None:
            return self._scaffold.saver
        if self._saver is None:
            self._saver = saver_of_collection()
        return self._saver


def saver_of_collection() -> Any:
    """The only saver of the collection of savers.

    Raises:
        RuntimeError: there is none, or there are several.
    """
    found = get_collection(GraphKeys.SAVERS)
    if not found:
        raise RuntimeError(
            "No items in collection savers. Please add a saver to the collection or provide a saver or scaffold."
        )
    if len(found) > 1:
        raise RuntimeError("More than one item in collection savers. Please indicate which one to use.")
    return found[0]
