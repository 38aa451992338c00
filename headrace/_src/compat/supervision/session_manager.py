"""`SessionManager`: sessions whose variables are restored from a checkpoint, or initialised; and threads of a timer."""

import threading
import time

from headrace._src.checkpoint.folder_state import latest_checkpoint
from headrace._src.compat.behavior import get_default_graph
from headrace._src.compat.sessions.session import Session
from headrace._src.op.api import api


@api("compat.v1.train.SessionManager", dispatch=False)
class SessionManager:
    """Makes sessions in which a model is ready.

    Args:
        local_init_op: initialises local variables and tables, in each session.
        ready_op: gives the names of variables without a value.
        ready_for_local_init_op: the same, before `local_init_op` runs.
        graph: the graph; by default the current one.
        recovery_wait_secs: how often `wait_for_session` looks.
        local_init_run_options, local_init_feed_dict: for the run of `local_init_op`.

    >>> with tf.Graph().as_default():
    ...     v = tf.compat.v1.get_variable("v", initializer=2.0)
    ...     manager = tf.compat.v1.train.SessionManager()
    ...     session = manager.prepare_session("", init_op=v.initializer)
    ...     session.run(v)
    np.float32(2.0)
    """

    def __init__(
        self, local_init_op=None, ready_op=None, ready_for_local_init_op=None, graph=None, recovery_wait_secs=30,
        local_init_run_options=None, local_init_feed_dict=None,
    ) -> None:  # fmt: skip
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("SessionManager: ready_for_local_init_op is asked before local_init_op, which is missing.")
        self._graph = get_default_graph() if graph is None else graph
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._wait = recovery_wait_secs
        self._options = local_init_run_options
        self._feeds = local_init_feed_dict

    def prepare_session(
        self, master, init_op=None, saver=None, checkpoint_dir=None, checkpoint_filename_with_path=None,
        wait_for_checkpoint=False, max_wait_secs=7200, config=None, init_feed_dict=None, init_fn=None,
    ) -> Session:  # fmt: skip
        """A session whose variables are restored, or initialised where there is no checkpoint.

        Args:
            master: empty: this process.
            init_op: initialises variables.
            saver: restores them.
            checkpoint_dir: a folder with checkpoints.
            checkpoint_filename_with_path: a checkpoint.
            wait_for_checkpoint: whether to wait until there is one.
            max_wait_secs: how long.
            config: a `ConfigProto`.
            init_feed_dict: what to feed to `init_op`.
            init_fn: a function of the session, called after it.

        Raises:
            RuntimeError: the model is not ready afterwards.
        """
        session, is_loaded = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        if not is_loaded:
            if init_op is None and init_fn is None and self._local_init_op is None:
                raise RuntimeError("There is no checkpoint, and no init_op, init_fn or local_init_op to begin with.")
            if init_op is not None:
                session.run(init_op, init_feed_dict)
            if init_fn is not None:
                init_fn(session)
        missing = self._begin_locally(session)
        if missing:
            raise RuntimeError(f"The model is not ready: after its initialisation {missing} have no value.")
        return session

    def recover_session(
        self, master, saver=None, checkpoint_dir=None, checkpoint_filename_with_path=None, wait_for_checkpoint=False,
        max_wait_secs=7200, config=None,
    ) -> tuple[Session, bool]:  # fmt: skip
        """A session that is restored if it can be, and whether the model is ready in it."""
        session, is_loaded = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        return session, is_loaded and not self._begin_locally(session)

    def wait_for_session(self, master, config=None, max_wait_secs=float("inf")) -> Session:
        """A session in which others have made the model ready.

        Raises:
            DeadlineExceededError: they have not in time.
        """
        limit = time.monotonic() + max_wait_secs
        while True:
            session = Session(master, graph=self._graph, config=config)
            missing = self._begin_locally(session)
            if not missing:
                return session
            session.close()
            if time.monotonic() + self._wait > limit:
                raise TimeoutError(f"The model was not ready after {max_wait_secs} seconds: {missing} have no value.")
            time.sleep(self._wait)

    def _restored(self, master, saver, folder, path, waits, max_wait_secs, config):
        session = Session(master, graph=self._graph, config=config)
        if folder and path:
            raise ValueError("Give checkpoint_dir or checkpoint_filename_with_path, not both.")
        limit = time.monotonic() + max_wait_secs
        while path is None and folder:
            path = latest_checkpoint(folder)
            if path is not None or not waits or time.monotonic() > limit:
                break
            time.sleep(self._wait)
        if saver is None or path is None:
            return session, False
        saver.restore(session, path)
        return session, True

    def _begin_locally(self, session):
        """Run `local_init_op`; returns the names of variables that still have no value."""
        missing = _names(session, self._ready_for_local_init_op)
        if missing:
            return missing
        if self._local_init_op is not None:
            session.run(self._local_init_op, self._feeds, self._options)
        return _names(session, self._ready_op)


def _names(session, operation):
    return [] if operation is None else [name.decode() for name in session.run(operation).tolist()]


@api("compat.v1.train.LooperThread")
class LooperThread(threading.Thread):
    """A thread that does something again and again, until a coordinator stops all.

    Args:
        coord: a `tf.train.Coordinator`.
        timer_interval_secs: how often; None for as fast as it can.
        target, args, kwargs: what is called; otherwise subclasses define `run_loop`.
    """

    def __init__(self, coord, timer_interval_secs, target=None, args=None, kwargs=None) -> None:
        super().__init__(daemon=True)
        self._coordinator = coord
        self._seconds = timer_interval_secs
        self._called = (target, args or (), kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(coord, timer_interval_secs, target, args=None, kwargs=None) -> "LooperThread":
        """A thread that calls a function again and again, started."""
        thread = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        thread.start()
        return thread

    def run(self) -> None:
        with self._coordinator.stop_on_exception():
            self.start_loop()
            due = time.monotonic()
            while not self._coordinator.wait_for_stop(0 if self._seconds is None else max(0.0, due - time.monotonic())):
                due += self._seconds or 0
                self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called when the thread begins."""

    def stop_loop(self) -> None:
        """Called when the thread ends."""

    def run_loop(self) -> None:
        """Called each time."""
        target, args, kwargs = self._called
        if target is not None:
            target(*args, **kwargs)
