"""Sessions with hooks around each run: `MonitoredSession` and its relatives, and how their sessions are made."""

import inspect
import logging
from typing import Any

from headrace._src.checkpoint.folder_state import latest_checkpoint
from headrace._src.compat.behavior import get_default_graph
from headrace._src.compat.input.queue_runners import start_queue_runners
from headrace._src.compat.sessions.checkpoint_hook import CheckpointSaverHook
from headrace._src.compat.sessions.scaffold import Scaffold
from headrace._src.compat.sessions.session import Session
from headrace._src.compat.sessions.session_hooks import SessionRunArgs, SessionRunContext, SessionRunValues
from headrace._src.compat.sessions.training_hooks import StepCounterHook, SummarySaverHook
from headrace._src.core import errors
from headrace._src.op.api import api
from headrace._src.state.coordinator import Coordinator

_logger = logging.getLogger("tensorflow")
USE_DEFAULT = object()
# After these, a session is made anew.
_PASSING = (errors.AbortedError, errors.UnavailableError)


@api("compat.v1.train.SessionCreator")
class SessionCreator:
    """Base of what makes the sessions of a monitored session."""

    def create_session(self) -> Session:
        """A session whose variables have values."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


@api("compat.v1.train.ChiefSessionCreator")
class ChiefSessionCreator(SessionCreator):
    """Makes sessions that restore the latest checkpoint, or initialise the variables where there is none.

    Args:
        scaffold: the operations for that.
        master: empty: this process.
        config: a `ConfigProto`.
        checkpoint_dir: a folder with checkpoints.
        checkpoint_filename_with_path: a checkpoint.
    """

    def __init__(
        self, scaffold=None, master="", config=None, checkpoint_dir=None, checkpoint_filename_with_path=None
    ) -> None:
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._folder = checkpoint_dir
        self._path = checkpoint_filename_with_path

    def create_session(self) -> Session:
        """A session whose variables are restored or initialised."""
        scaffold = self._scaffold.finalize()
        session = Session(self._master, graph=get_default_graph(), config=self._config)
        path = self._path or (latest_checkpoint(self._folder) if self._folder else None)
        if path is not None:
            scaffold.saver.restore(session, path)
        else:
            if scaffold.init_op is None and scaffold.init_fn is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if scaffold.init_op is not None:
                session.run(scaffold.init_op, scaffold.init_feed_dict)
            if scaffold.init_fn is not None:
                scaffold.init_fn(session)
        begun = f"Init op: {getattr(scaffold.init_op, 'name', None)}, init fn: {scaffold.init_fn}"
        _check_ready(session, scaffold.ready_for_local_init_op, f"ready for local_init.  {begun}")
        if scaffold.local_init_op is not None:
            session.run(scaffold.local_init_op, scaffold.local_init_feed_dict)
        local = getattr(scaffold.local_init_op, "name", None)
        _check_ready(session, scaffold.ready_op, f"ready.  {begun}, local_init_op: {local}")
        return session


@api("compat.v1.train.WorkerSessionCreator")
class WorkerSessionCreator(ChiefSessionCreator):
    """The same here as a chief's: all runs in this process."""

    def __init__(self, scaffold=None, master="", config=None, max_wait_secs=30 * 60) -> None:
        super().__init__(scaffold, master, config)


def _check_ready(session, operation, what):
    if operation is None:
        return
    names = [name.decode() for name in session.run(operation).tolist()]
    if names:
        raise RuntimeError(
            f"Init operations did not make model {what}, error: Variables not initialized: {', '.join(names)}"
        )


class StepContext:
    """What a function of `run_step_fn` is given."""

    def __init__(self, session, run_with_hooks):
        self._session = session
        self._run = run_with_hooks

    session = property(lambda self: self._session, doc="The session, whose runs call no hooks.")

    def run_with_hooks(self, *args, **kwargs) -> Any:
        """As `MonitoredSession.run`."""
        return self._run(*args, **kwargs)

    def request_stop(self) -> None:
        """End the loop."""
        raise StopIteration("step_fn has requested the iterations to stop.")


@api("compat.v1.train.MonitoredSession")
class MonitoredSession:
    """A session that prepares the graph, calls hooks around each run, and ends at the end of the data.

    Args:
        session_creator: makes the session; by default a `ChiefSessionCreator`.
        hooks: `SessionRunHook` objects.
        stop_grace_period_secs: how long to wait for threads at the end.

    >>> with tf.Graph().as_default():
    ...     step = tf.compat.v1.train.get_or_create_global_step()
    ...     train = tf.compat.v1.assign_add(step, 1)
    ...     hooks = [tf.compat.v1.train.StopAtStepHook(last_step=3)]
    ...     with tf.compat.v1.train.MonitoredSession(hooks=hooks) as sess:
    ...         while not sess.should_stop():
    ...             print(sess.run(train), end=" ")
    1 2 3
    """

    StepContext = StepContext
    _makes_anew = True  # after an error that passes

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120) -> None:
        self._graph = get_default_graph()
        self._was_finalized = self._graph.finalized
        self._hooks = list(hooks or ())
        self._creator = session_creator or ChiefSessionCreator()
        self._grace = stop_grace_period_secs
        self._stopped = False
        self._session: Session | None = None
        for hook in self._hooks:
            hook.begin()
        self._create()

    def _create(self):
        self._coordinator = Coordinator()
        self._session = self._creator.create_session()
        start_queue_runners(self._session, self._coordinator)
        for hook in self._hooks:
            hook.after_create_session(self._session, self._coordinator)

    @property
    def graph(self) -> Any:
        """The graph of the session; None after the end."""
        return None if self._session is None else self._session.graph

    def should_stop(self) -> bool:
        """Whether a hook wants to stop, or the session is closed."""
        return self._session is None or self._stopped or self._coordinator.should_stop()

    # Running.

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None) -> Any:
        """As `Session.run`, with what hooks ask for besides.

        Raises:
            RuntimeError: the session is closed, or a tensor is fed twice.
        """
        while True:
            if self._session is None:
                raise RuntimeError("Session is already closed: the monitored session has ended.")
            try:
                return self._run_once(fetches, feed_dict, options, run_metadata)
            except _PASSING as error:
                if not self._makes_anew:
                    raise
                _logger.info("An error was raised while a session was running: %s. It is made anew.", error)
                self._session.close()
                self._create()

    def _run_once(self, fetches, feed_dict, options, run_metadata):
        session = self._session
        run_context = SessionRunContext(SessionRunArgs(fetches, feed_dict, options), session)
        wanted, feeds = {"caller": fetches}, dict(feed_dict or {})
        for number, hook in enumerate(self._hooks):
            request = hook.before_run(run_context)
            if request is None:
                continue
            if request.fetches is not None:
                wanted[number] = request.fetches
            if request.feed_dict:
                self._add_feeds(feeds, request.feed_dict, feed_dict)
        results = session.run(wanted, feeds, options, run_metadata)
        for number, hook in enumerate(self._hooks):
            hook.after_run(run_context, SessionRunValues(results.get(number), options, run_metadata))
        self._stopped = self._stopped or run_context.stop_requested
        return results["caller"]

    def _add_feeds(self, feeds, more, of_user):
        twice = [tensor for tensor in more if tensor in feeds]
        if twice:
            who = "a SessionRunHook and user" if of_user and any(x in of_user for x in twice) else "two hooks"
            raise RuntimeError(f"Same tensor is fed by {who}. Conflict(s): {twice}")
        feeds.update(more)

    def run_step_fn(self, step_fn) -> Any:
        """Calls a function with a `StepContext`, whose `session` runs without hooks.

        Raises:
            StopIteration: the function has asked to stop.
            ValueError: its argument is not called `step_context`.
        """
        if not callable(step_fn):
            raise ValueError(f"`step_fn` must be callable, got {step_fn!r}.")
        arguments = tuple(inspect.signature(step_fn).parameters)
        if arguments not in (("step_context",), ("self", "step_context")):
            raise ValueError("`step_fn` may either have one `step_context` argument, or `self` and `step_context`, got "
                             f"{arguments}.")
        if self._session is None:
            raise RuntimeError("Session is already closed: the monitored session has ended.")
        return step_fn(StepContext(self._session, self.run))

    # The end.

    def __enter__(self) -> "MonitoredSession":
        return self

    def __exit__(self, kind, value, traceback) -> bool:
        # The end of the data is the end of training.
        if kind is not None and issubclass(kind, (errors.OutOfRangeError, StopIteration)):
            kind = None
        self._close(kind)
        return kind is None

    def close(self) -> None:
        """Call the ends of the hooks, and close the session."""
        self._close(None)

    def _close(self, kind):
        session = self._session
        if session is None:
            return
        try:
            if kind is None:
                for hook in self._hooks:
                    hook.end(session)
        finally:
            self._session = None
            self._coordinator.request_stop()
            self._coordinator.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
            session.close()
            if not self._was_finalized:
                self._graph._unsafe_unfinalize()  # TF: programs go on with the graph


@api("compat.v1.train.SingularMonitoredSession")
class SingularMonitoredSession(MonitoredSession):
    """A monitored session that is not made anew after an error that passes.

    Args:
        hooks: `SessionRunHook` objects.
        scaffold: the operations that prepare the graph.
        master: empty: this process.
        config: a `ConfigProto`.
        checkpoint_dir: a folder with checkpoints.
        stop_grace_period_secs: how long to wait for threads at the end.
        checkpoint_filename_with_path: a checkpoint.
    """

    _makes_anew = False

    def __init__(
        self,
        hooks=None,
        scaffold=None,
        master="",
        config=None,
        checkpoint_dir=None,
        stop_grace_period_secs=120,
        checkpoint_filename_with_path=None,
    ) -> None:
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, stop_grace_period_secs)

    def raw_session(self) -> Session | None:
        """The session."""
        return self._session


@api("compat.v1.train.MonitoredTrainingSession", dispatch=False)
def MonitoredTrainingSession(
    master="",
    is_chief=True,
    checkpoint_dir=None,
    scaffold=None,
    hooks=None,
    chief_only_hooks=None,
    save_checkpoint_secs=USE_DEFAULT,
    save_summaries_steps=USE_DEFAULT,
    save_summaries_secs=USE_DEFAULT,
    config=None,
    stop_grace_period_secs=120,
    log_step_count_steps=100,
    max_wait_secs=7200,
    save_checkpoint_steps=USE_DEFAULT,
    summary_dir=None,
    save_graph_def=True,
) -> MonitoredSession:
    """A monitored session with the hooks that training usually has: checkpoints, summaries, the speed.

    Args:
        master: empty: this process.
        is_chief: whether this process saves and writes summaries.
        checkpoint_dir: the folder of checkpoints, from which training goes on.
        scaffold: the operations that prepare the graph.
        hooks: other hooks.
        chief_only_hooks: hooks of the chief alone.
        save_checkpoint_secs, save_checkpoint_steps: how often; 600 seconds by default.
        save_summaries_steps, save_summaries_secs: how often; 100 steps by default.
        config: a `ConfigProto`.
        stop_grace_period_secs: how long to wait for threads at the end.
        log_step_count_steps: how often the speed is written; None for never.
        max_wait_secs: accepted.
        summary_dir: the folder of summaries; that of checkpoints by default.
        save_graph_def: whether the graph is written too.
    """
    checkpoint_secs, checkpoint_steps = _frequency(save_checkpoint_secs, save_checkpoint_steps, 600, None)
    summary_secs, summary_steps = _frequency(save_summaries_secs, save_summaries_steps, None, 100)
    scaffold = scaffold or Scaffold()
    every = list(hooks or ())
    if not is_chief:
        creator: SessionCreator = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(creator, every, stop_grace_period_secs)
    every = [*(chief_only_hooks or ()), *every]
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if log_step_count_steps and log_step_count_steps > 0:
            every.append(StepCounterHook(every_n_steps=log_step_count_steps, output_dir=summary_dir))
        if (summary_steps and summary_steps > 0) or (summary_secs and summary_secs > 0):
            every.append(SummarySaverHook(summary_steps, summary_secs, summary_dir, scaffold=scaffold))
    if checkpoint_dir and ((checkpoint_secs and checkpoint_secs > 0) or (checkpoint_steps and checkpoint_steps > 0)):
        saving = CheckpointSaverHook(
            checkpoint_dir, checkpoint_secs, checkpoint_steps, scaffold=scaffold, save_graph_def=save_graph_def
        )
        every.append(saving)
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(creator, every, stop_grace_period_secs)


def _frequency(seconds, steps, usual_seconds, usual_steps):
    """Seconds and steps, where one that is said replaces the usual one."""
    if seconds is USE_DEFAULT and steps is USE_DEFAULT:
        return usual_seconds, usual_steps
    return (None if seconds is USE_DEFAULT else seconds), (None if steps is USE_DEFAULT else steps)
