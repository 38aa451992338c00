"""`Supervisor`: a session with threads that save checkpoints and write summaries beside the loop of the program."""

import contextlib
from collections.abc import Iterator
from typing import Any

from headrace._src.compat.behavior import get_default_graph
from headrace._src.compat.graph_keys import (
    GraphKeys,
    get_collection,
    global_variables,
    global_variables_initializer,
    report_uninitialized_variables,
)
from headrace._src.compat.input.queue_runners import start_queue_runners
from headrace._src.compat.saving.saver import Saver
from headrace._src.compat.sessions.scaffold import Scaffold
from headrace._src.compat.sessions.session import Session
from headrace._src.compat.summaries.file_writers import FileWriter
from headrace._src.compat.summaries.summary_operations import merge_all
from headrace._src.compat.supervision.session_manager import LooperThread, SessionManager
from headrace._src.compat.training.steps_and_rates import get_global_step
from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.graph.messages.graph_files import write_graph
from headrace._src.op.api import api
from headrace._src.state.coordinator import Coordinator

_events = LazyModule("headrace._src.formats.event_messages")


@api("compat.v1.train.Supervisor", dispatch=False)
class Supervisor:
    """Prepares a session, and saves and writes summaries in threads while a program trains in it.

    Args:
        graph: the graph; by default the current one.
        ready_op, ready_for_local_init_op, init_op, local_init_op, summary_op, saver, global_step: what prepares a
            graph; by default (0) made as usual, None for none.
        is_chief: whether this process saves.
        init_feed_dict: what to feed to `init_op`.
        logdir: the folder of checkpoints and summaries.
        save_summaries_secs, save_model_secs: how often; 0 for never.
        recovery_wait_secs: how often a process that is no chief looks whether the model is ready.
        stop_grace_secs: how long to wait for threads at the end.
        checkpoint_basename: what the names of checkpoints begin with.
        session_manager: makes the session.
        summary_writer: by default (0) one for `logdir`; None for none.
        init_fn: a function of the session, called after `init_op`.
        local_init_run_options: for the run of `local_init_op`.

    >>> import tempfile
    >>> with tf.Graph().as_default():
    ...     step = tf.compat.v1.train.get_or_create_global_step()
    ...     train = tf.compat.v1.assign_add(step, 1)
    ...     supervisor = tf.compat.v1.train.Supervisor(logdir=tempfile.mkdtemp())
    ...     with supervisor.managed_session() as session:
    ...         while not supervisor.should_stop():
    ...             if session.run(train) == 3:
    ...                 supervisor.request_stop()
    """

    USE_DEFAULT = 0

    def __init__(
        self, graph=None, ready_op=USE_DEFAULT, ready_for_local_init_op=USE_DEFAULT, is_chief=True, init_op=USE_DEFAULT,
        init_feed_dict=None, local_init_op=USE_DEFAULT, logdir=None, summary_op=USE_DEFAULT, saver=USE_DEFAULT,
        global_step=USE_DEFAULT, save_summaries_secs=120, save_model_secs=600, recovery_wait_secs=30,
        stop_grace_secs=120, checkpoint_basename="model.ckpt", session_manager=None, summary_writer=USE_DEFAULT,
        init_fn=None, local_init_run_options=None,
    ) -> None:  # fmt: skip
        self._graph = get_default_graph() if graph is None else graph
        self.is_chief = is_chief
        self.init_feed_dict = init_feed_dict
        self._init_fn = init_fn
        self._folder = files.path_string(logdir) if logdir and is_chief else None
        self.save_summaries_secs = save_summaries_secs
        self.save_model_secs = save_model_secs
        self.save_path = files.join(self._folder, checkpoint_basename) if self._folder else None
        self._grace = stop_grace_secs
        self.coord = Coordinator()
        with self._graph.as_default():
            choose = Scaffold.get_or_default

            def chosen(given, name, key, make) -> Any:
                return choose(name, key, make) if isinstance(given, int) and given == 0 else given

            K = GraphKeys
            self.ready_op = chosen(ready_op, "ready_op", K.READY_OP, report_uninitialized_variables)
            self.ready_for_local_init_op = chosen(
                ready_for_local_init_op, "ready_for_local_init_op", K.READY_FOR_LOCAL_INIT_OP,
                lambda: report_uninitialized_variables(global_variables()),
            )  # fmt: skip
            self.init_op = chosen(init_op, "init_op", K.INIT_OP, global_variables_initializer)
            self.local_init_op = chosen(local_init_op, "local_init_op", K.LOCAL_INIT_OP, Scaffold.default_local_init_op)
            self.saver = chosen(saver, "saver", K.SAVERS, lambda: Saver() if global_variables() else None)
            self.summary_op = chosen(summary_op, "summary_op", K.SUMMARY_OP, merge_all)
            self.global_step = get_global_step() if isinstance(global_step, int) and global_step == 0 else global_step
            is_usual = isinstance(summary_writer, int) and summary_writer == 0
            self.summary_writer = (FileWriter(self._folder) if self._folder else None) if is_usual else summary_writer
            self.session_manager = session_manager or SessionManager(
                self.local_init_op, self.ready_op, self.ready_for_local_init_op, self._graph, recovery_wait_secs,
                local_init_run_options,
            )  # fmt: skip
        self._graph.finalize()

    # Sessions.

    def prepare_or_wait_for_session(
        self, master="", config=None, wait_for_checkpoint=False, max_wait_secs=7200, start_standard_services=True
    ) -> Session:
        """A session in which the model is ready, with the threads of `start_standard_services`."""
        self.coord.clear_stop()
        if not self.is_chief:
            session = self.session_manager.wait_for_session(master, config, max_wait_secs)
        else:
            session = self.session_manager.prepare_session(
                master, self.init_op, self.saver, self._folder, None, wait_for_checkpoint, max_wait_secs, config,
                self.init_feed_dict, self._init_fn,
            )  # fmt: skip
            if start_standard_services:
                self.start_standard_services(session)
        self.start_queue_runners(session)
        return session

    PrepareSession = prepare_or_wait_for_session

    @contextlib.contextmanager
    def managed_session(
        self, master="", config=None, start_standard_services=True, close_summary_writer=True
    ) -> Iterator[Session]:
        """A session for a `with` statement; the end of the data, or of the block, ends all threads."""
        session = None
        try:
            session = self.prepare_or_wait_for_session(
                master, config, start_standard_services=start_standard_services
            )
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if session is not None:
                    session.close()

    def start_standard_services(self, sess) -> list:
        """Begin to save, and to write summaries.

        Raises:
            RuntimeError: this process is no chief.
            ValueError: there is no `logdir`.
        """
        if not self.is_chief:
            raise RuntimeError("Supervisor: only the chief saves and writes summaries.")
        if not self._folder:
            return []
        write_graph(sess.graph.as_graph_def(add_shapes=True), self._folder, "graph.pbtxt")
        threads = []
        if self.summary_writer is not None:
            log = _events.SessionLog(status=_events.SessionLog.START)
            self.summary_writer.add_session_log(log, self._step(sess))
            if self.summary_op is not None and self.save_summaries_secs:
                threads.append(self.loop(self.save_summaries_secs, self._write_summaries, [sess]))
        if self.saver is not None and self.save_model_secs:
            threads.append(self.loop(self.save_model_secs, self._save, [sess]))
        return threads

    StartStandardServices = start_standard_services

    def _step(self, session):
        return None if self.global_step is None else int(session.run(self.global_step))

    def _save(self, session):
        self.saver.save(session, self.save_path, global_step=self._step(session))

    def _write_summaries(self, session):
        self.summary_writer.add_summary(session.run(self.summary_op), self._step(session))
        self.summary_writer.flush()

    def start_queue_runners(self, sess, queue_runners=None) -> list:
        """Begin to fill queues."""
        if queue_runners is None:
            return start_queue_runners(sess, self.coord) if get_collection(GraphKeys.QUEUE_RUNNERS) else []
        threads: list = []
        for runner in queue_runners:
            threads.extend(runner.create_threads(sess, coord=self.coord, daemon=True, start=True))
        return threads

    StartQueueRunners = start_queue_runners

    def loop(self, timer_interval_secs, target, args=None, kwargs=None) -> LooperThread:
        """A thread that calls a function again and again, started."""
        return LooperThread.loop(self.coord, timer_interval_secs, target, args, kwargs)

    Loop = loop

    def summary_computed(self, sess, summary, global_step=None) -> None:
        """Write a summary that the program has computed.

        Raises:
            RuntimeError: there is no summary writer.
        """
        if self.summary_writer is None:
            raise RuntimeError("Supervisor: there is no summary writer; give a logdir or a summary_writer.")
        self.summary_writer.add_summary(summary, self._step(sess) if global_step is None else global_step)

    SummaryComputed = summary_computed

    # The end.

    def stop(self, threads=None, close_summary_writer=True, ignore_live_threads=False) -> None:
        """End all threads, and raise what one of them has raised."""
        self.coord.request_stop()
        try:
            self.coord.join(threads, stop_grace_period_secs=self._grace, ignore_live_threads=ignore_live_threads)
        finally:
            if close_summary_writer and self.summary_writer is not None:
                self.summary_writer.add_session_log(_events.SessionLog(status=_events.SessionLog.STOP))
                self.summary_writer.close()

    Stop = stop

    def request_stop(self, ex=None) -> None:
        """Let `should_stop` be True."""
        self.coord.request_stop(ex)

    RequestStop = request_stop

    def should_stop(self) -> bool:
        """Whether all must stop."""
        return self.coord.should_stop()

    ShouldStop = should_stop

    def stop_on_exception(self) -> Any:
        """A `with` block whose exceptions let all stop."""
        return self.coord.stop_on_exception()

    StopOnException = stop_on_exception

    def wait_for_stop(self) -> None:
        """Wait until all must stop."""
        self.coord.wait_for_stop()

    WaitForStop = wait_for_stop


@api("compat.v1.train.basic_train_loop", dispatch=False)
def basic_train_loop(supervisor, train_step_fn, args=None, kwargs=None, master="") -> None:
    """Calls a function of the session until the supervisor stops.

    Args:
        supervisor: a `Supervisor`.
        train_step_fn: a function of the session, `args` and `kwargs`.
        args, kwargs: other arguments of it.
        master: empty: this process.
    """
    with supervisor.managed_session(master) as session:
        while not supervisor.should_stop():
            train_step_fn(session, *(args or ()), **(kwargs or {}))
