"""`QueueRunner`: threads that run the operations which fill a queue, until the queue is closed or all must stop."""

import logging
import threading
from typing import Any

from headrace._src.compat.graph_keys import GraphKeys, add_to_collection, get_collection
from headrace._src.compat.sessions.session import get_default_session
from headrace._src.core import errors
from headrace._src.op.api import api

_logger = logging.getLogger("tensorflow")


@api("compat.v1.train.QueueRunner", "compat.v1.train.queue_runner.QueueRunner")
class QueueRunner:
    """Runs operations that put elements into a queue, each in a thread of its own.

    Args:
        queue: the queue.
        enqueue_ops: the operations; one may be given several times.
        close_op: what closes the queue when all are done; by default its own.
        cancel_op: what closes it when all must stop, also for those who wait to put something in.
        queue_closed_exception_types: exceptions that mean that there is no more input; by default `OutOfRangeError`.
        queue_runner_def, import_scope: refused: a queue runner is made of operations, not of a message.
    """

    def __init__(self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, queue_closed_exception_types=None,
                 queue_runner_def=None, import_scope=None) -> None:
        if queue_runner_def is not None:
            raise ValueError("QueueRunner: queue_runner_def is not read; give the queue and its enqueue_ops.")
        if queue is None or not enqueue_ops:
            raise ValueError("QueueRunner: give the queue, and the operations that put elements into it.")
        kinds = queue_closed_exception_types or (errors.OutOfRangeError,)
        if not isinstance(kinds, tuple) or not all(
            isinstance(kind, type) and issubclass(kind, errors.OpError) for kind in kinds
        ):
            raise TypeError("QueueRunner: queue_closed_exception_types must be a tuple of classes of tf.errors, got "
                            f"{queue_closed_exception_types!r}.")
        self._queue = queue
        self._enqueue_ops = list(enqueue_ops)
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._kinds = kinds
        self._lock = threading.Lock()
        self._running: dict[Any, int] = {}  # how many threads of a session are not done
        self._errors: list[Exception] = []

    queue = property(lambda self: self._queue, doc="The queue.")
    enqueue_ops = property(lambda self: self._enqueue_ops, doc="The operations that put elements in.")
    close_op = property(lambda self: self._close_op, doc="What closes the queue when all are done.")
    cancel_op = property(lambda self: self._cancel_op, doc="What closes the queue when all must stop.")
    queue_closed_exception_types = property(lambda self: self._kinds, doc="What means that there is no more input.")
    name = property(lambda self: self._queue.name, doc="The name of the queue.")

    @property
    def exceptions_raised(self) -> list[Exception]:
        """What threads without a coordinator have raised."""
        return list(self._errors)

    def create_threads(self, sess, coord=None, daemon=False, start=False) -> list[threading.Thread]:
        """Threads that run the operations; none while those of an earlier call run.

        Args:
            sess: the session.
            coord: the coordinator that says when to stop, and is told of errors.
            daemon: whether the program may end while they run.
            start: whether to start them.
        """
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._errors = []
        threads = [threading.Thread(target=self._run, args=(sess, op, coord), daemon=daemon,
                                    name=f"QueueRunnerThread-{self.name}-{op.name}") for op in self._enqueue_ops]
        if coord is not None:
            threads.append(threading.Thread(target=self._cancel_at_stop, args=(sess, coord), daemon=daemon,
                                            name=f"QueueRunnerThread-{self.name}-close_on_stop"))
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _run(self, sess, enqueue_op, coord):
        counted = True
        try:
            while not (coord is not None and coord.should_stop()):
                try:
                    sess.run(enqueue_op)
                except self._kinds:
                    counted = False
                    self._one_less(sess, close=True)
                    return
        except Exception as error:
            if coord is not None:
                coord.request_stop(error)
            else:
                _logger.error("QueueRunner %s: %s", self.name, error)
                with self._lock:
                    self._errors.append(error)
                raise
        finally:
            if counted:
                self._one_less(sess, close=False)

    def _one_less(self, sess, close):
        """One thread is done; the last one closes the queue."""
        with self._lock:
            self._running[sess] -= 1
            last = self._running[sess] == 0
        if last and close:
            try:
                sess.run(self._close_op)
            except errors.OpError as error:  # somebody else has closed it
                _logger.info("QueueRunner %s: %s", self.name, error)

    def _cancel_at_stop(self, sess, coord):
        coord.wait_for_stop()
        try:
            sess.run(self._cancel_op)
        except (errors.OpError, RuntimeError) as error:  # closed already: the queue, or the session
            _logger.debug("QueueRunner %s: %s", self.name, error)


@api("compat.v1.train.add_queue_runner", "compat.v1.train.queue_runner.add_queue_runner", dispatch=False)
def add_queue_runner(qr, collection=GraphKeys.QUEUE_RUNNERS) -> None:
    """Let `start_queue_runners` start a queue runner, too.

    Args:
        qr: a `QueueRunner`.
        collection: the collection of the graph that it is added to.
    """
    add_to_collection(collection, qr)


@api("compat.v1.train.start_queue_runners", "compat.v1.train.queue_runner.start_queue_runners", dispatch=False)
def start_queue_runners(
    sess=None, coord=None, daemon=True, start=True, collection=GraphKeys.QUEUE_RUNNERS
) -> list[threading.Thread]:
    """Start the threads of all queue runners of the graph.

    Args:
        sess: the session; by default the one that is open.
        coord: the coordinator that says when to stop.
        daemon: whether the program may end while they run.
        start: whether to start them.
        collection: the collection of the graph that has the queue runners.

    Raises:
        ValueError: no session is given, and none is open.
    """
    if sess is None:
        sess = _open_session()
    with sess.graph.as_default():
        runners = get_collection(collection)
    return [thread for runner in runners for thread in runner.create_threads(sess, coord, daemon, start)]


def _open_session():
    sess = get_default_session()
    if sess is None:
        raise ValueError("start_queue_runners: open a session with `with tf.compat.v1.Session():`, or give it as sess.")
    return sess

