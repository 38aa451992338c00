"""`tf.data.experimental.service.WorkerServer`: walks through datasets for those who read them."""

from __future__ import annotations

import collections
import threading
import time
import weakref

import numpy as np

from headrace._src.core import errors
from headrace._src.data.running.iterators import IteratorResource
from headrace._src.data.running.reading_ahead import bytes_of
from headrace._src.data.running.stages import INFINITE, Run, Stage
from headrace._src.data.running.structures import flat_specs
from headrace._src.data.saving import spec_messages
from headrace._src.data.saving.distributed_snapshots import write_stream
from headrace._src.data.service.dispatcher import PROTOCOL, ServerBase, check_protocol, process_number
from headrace._src.data.service.messages import PATIENCE_SECONDS, Peer, PeerGone, Server, checked_fields, start_thread
from headrace._src.data.service.service_state import Definition
from headrace._src.data.service.shards import STATIC, WHERE, ShardingPolicy, divided, with_splits
from headrace._src.op.api import api

_HEARTBEAT_SECONDS = 1.0
_DISPATCHER_SECONDS = 10.0
_CACHED_BYTES = 256 << 20
_SAVED_AT_ONCE = 256  # elements of a snapshot
_MOST_ROUNDS = 1024  # that some of several consumers have not read yet
_NO_NUMBER = (int, np.integer, type(None))
_FIELDS = {"element": {
    "task": (int, np.integer), "trainer": (str, type(None)), "consumer": _NO_NUMBER, "round": _NO_NUMBER,
}}  # fmt: skip


class _Task:
    """A walk through (a part of) a dataset.

    Args:
        stage: the pipeline.
    """

    def __init__(self, stage: Stage):
        self._iterator = IteratorResource()
        self._iterator.start(stage)

    def element(self, **unused):
        """The next element; None at the end."""
        return self._iterator.next()

    def stop(self):
        self._iterator.stop()


class _Rounds(_Task):
    """One element for each of several consumers, round after round."""

    def __init__(self, stage, consumers):
        if stage.cardinality() not in (INFINITE,):
            raise errors.FailedPreconditionError(
                None, None,
                f"{WHERE}: Round robin reads require that the input dataset has infinite cardinality, but the dataset "
                f"has cardinality {stage.cardinality()}. Consider adding a `.repeat()` transformation to the dataset.",
            )  # fmt: skip
        super().__init__(stage)
        self._consumers = consumers
        self._lock = threading.Lock()
        self._rounds: dict[int, list] = {}

    def element(self, consumer, round_number, **unused):
        if consumer is None or round_number is None or not 0 <= consumer < self._consumers or round_number < 0:
            raise errors.invalid_argument(
                f"{WHERE}: there is no consumer {consumer} of {self._consumers} in round {round_number}."
            )
        with self._lock:
            if round_number not in self._rounds:
                if len(self._rounds) >= _MOST_ROUNDS:
                    raise errors.resource_exhausted(
                        f"{WHERE}: consumers of a job are {_MOST_ROUNDS} rounds apart: one of them does not read."
                    )
                self._rounds[round_number] = [self._iterator.next() for _ in range(self._consumers)]
            elements = self._rounds[round_number]
            found, elements[consumer] = elements[consumer], None
            if not any(elements):
                del self._rounds[round_number]
            return found


class _Cached(_Task):
    """Elements that several trainers read, each at its own pace, as long as they are kept."""

    def __init__(self, stage):
        super().__init__(stage)
        self._lock = threading.Lock()
        self._kept: collections.deque = collections.deque()
        self._first = 0  # the number of the first that is kept
        self._bytes = 0
        self._at: dict[str, int] = {}  # by trainer, the number of the next

    def element(self, trainer, **unused):
        with self._lock:
            at = max(self._at.get(trainer, 0), self._first)
            if at == self._first + len(self._kept):
                element = self._iterator.next()
                if element is None:
                    return None
                self._kept.append(element)
                self._bytes += _size(element)
                while self._bytes > _CACHED_BYTES and len(self._kept) > 1:
                    self._bytes -= _size(self._kept.popleft())
                    self._first += 1
            self._at[trainer] = at + 1
            return self._kept[at - self._first]


def _size(element):
    return sum(map(bytes_of, element))


class Worker(Server):
    """Answers readers.

    Args:
        config: a `WorkerConfig`.
    """

    name = "worker"

    def __init__(self, config):
        super().__init__(config.port, (config.worker_address or "").rpartition(":")[0].strip("[]"))
        self._config = config
        self._dispatcher = Peer(config.dispatcher_address, "dispatcher")
        self._patience = 0.0  # how long to wait for the dispatcher when it has ended
        self._tasks: dict[int, _Task] = {}
        self._state = threading.Lock()
        self._talking = threading.RLock()  # to the dispatcher, about whether this worker is there
        self._making: dict[int, threading.Lock] = collections.defaultdict(threading.Lock)
        self._writing: set[int] = set()  # tasks that are streams of snapshots

    @property
    def address(self):
        given = self._config.worker_address
        return given.replace("%port%", str(self.port)) if given else super().address

    @property
    def task_count(self) -> int:
        """How many walks there are."""
        return len(self._tasks)

    def start(self):
        if self.is_running:
            return
        super().start()
        try:
            self._register()
        except BaseException:
            super().stop()
            raise
        interval = (self._config.heartbeat_interval_ms or 1000 * _HEARTBEAT_SECONDS) / 1000
        start_thread("data-service-heartbeat", _beat, weakref.ref(self), self.ended, interval)

    def _register(self):
        """Tell the dispatcher, which may not have begun yet."""
        timeout = self._config.dispatcher_timeout_ms
        until = time.monotonic() + (timeout / 1000 if timeout else _DISPATCHER_SECONDS)
        while True:
            try:
                return self.beat()
            except PeerGone:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def beat(self):
        """Tell the dispatcher that this worker is alive, and drop the tasks that it no longer wants done."""
        with self._talking:
            if not self.is_running:
                return
            known = list(self._tasks)  # what begins after the question is not in the answer
            answer, _ = self._dispatcher.call("worker", address=self.address, process=process_number())
        self._patience = PATIENCE_SECONDS if answer["is_kept"] else 0.0
        wanted = set(answer["tasks"])
        for stream in answer["streams"]:
            self._write(*stream)
        with self._state:
            dropped = [self._tasks.pop(task) for task in known if task in self._tasks and task not in wanted]
        for task in dropped:
            task.stop()

    @property
    def credentials(self):
        """Those of the dispatcher, once it was heard of."""
        local = self._dispatcher.local
        return self._dispatcher.credentials if local is None else local.credentials

    def handle(self, kind, fields, payload):
        fields = {"trainer": None, "consumer": None, "round": None, **fields}
        checked_fields(kind, fields, _FIELDS, "worker")
        element = self._task(fields["task"]).element(
            consumer=fields["consumer"], round_number=fields["round"], trainer=fields["trainer"]
        )
        return ({"end": True}, b"") if element is None else ({"end": False}, tuple(element))

    def _task(self, number):
        task = self._tasks.get(number)
        if task is not None:
            return task
        with self._state:
            making = self._making[number]
        with making:
            if number not in self._tasks:
                made = self._made(number)
                with self._state:
                    self._tasks[number] = made
        return self._tasks[number]

    def _write(self, path, stream, task, compression):
        """Begin to write a stream of a snapshot, unless that has begun."""
        with self._state:
            if task in self._writing:
                return
            self._writing.add(task)
        start_thread("data-service-snapshot", _write_snapshot, weakref.ref(self), path, stream, task, compression)

    def write_stream(self, path, stream, task, compression):
        """Write a stream of a snapshot, and say so."""
        error = None
        try:
            stage, about = self._stage(task)
            described, _ = self._dispatcher.call("describe", dataset_id=about["dataset_id"])
            specs = flat_specs(spec_messages.decoded(bytes.fromhex(described["spec"])))
            run = Run(stage.options)
            cursor = stage.cursor(run)
            try:
                write_stream(
                    path, stream, compression, lambda: self._next_block(cursor), [spec.dtype for spec in specs]
                )
            finally:
                run.stopped.set()
                cursor.close()
        except Exception as problem:
            error = f"the worker at {self.address}: {type(problem).__name__}: {problem}"
        if self.is_running:
            self._dispatcher.call_patiently(self._patience, "stream_ends", path=path, stream=stream, error=error)

    def _next_block(self, cursor):
        if not self.is_running:
            raise errors.cancelled(f"{WHERE}: the worker at {self.address} has been stopped.")
        return cursor.block(_SAVED_AT_ONCE)

    def _stage(self, number):
        """The part of a pipeline that a task is, and what the dispatcher says of it."""
        about, _ = self._dispatcher.call_patiently(self._patience, "task", task=number)
        _, payload = self._dispatcher.call_patiently(self._patience, "dataset", dataset_id=about["dataset_id"])
        definition = payload if isinstance(payload, Definition) else Definition(None, payload, None, None, 0)
        stage, mode = definition.stage(), ShardingPolicy(about["mode"])
        if mode == ShardingPolicy.DYNAMIC:
            stage = with_splits(stage, _Splits(self._dispatcher, self._patience, about["iteration"], number))
        elif mode in STATIC:
            stage = divided(stage, mode, about["count"], about["place"])
        return stage, about

    def _made(self, number):
        stage, about = self._stage(number)
        if about["consumers"]:
            return _Rounds(stage, about["consumers"])
        return _Cached(stage) if about["cached"] else _Task(stage)

    def stop(self):
        if not self.is_running:
            return
        address = self.address
        super().stop()
        with self._state:
            tasks, self._tasks = list(self._tasks.values()), {}
        for task in tasks:
            task.stop()
        with self._talking:  # nothing that was said before may arrive after this
            try:
                self._dispatcher.call("worker_ends", address=address)
            except errors.OpError:
                pass  # it has ended before
        self._dispatcher.close()


class _Splits:
    """Asks the dispatcher which elements of a source come next."""

    def __init__(self, dispatcher, patience, iteration, task):
        self._dispatcher = dispatcher
        self._patience = patience
        self._iteration = iteration
        self._task = task

    def __call__(self, source, walk, size):
        found, _ = self._dispatcher.call_patiently(
            self._patience, "split", iteration=self._iteration, task=self._task, source=source, walk=walk, size=size
        )
        return (found["first"], found["last"]) if found else None


def _write_snapshot(worker_of, path, stream, task, compression):
    worker = worker_of()
    if worker is not None:
        try:
            worker.write_stream(path, stream, task, compression)
        except errors.OpError:
            pass  # the dispatcher has ended; another one would give the stream to somebody


def _beat(worker_of, ended, interval):
    while not ended.wait(interval):
        worker = worker_of()
        if worker is None:
            return
        try:
            worker.beat()
        except errors.OpError:
            pass  # the dispatcher is not there at the moment
        del worker


@api("data.experimental.service.WorkerConfig", dispatch=False)
class WorkerConfig(
    collections.namedtuple(
        "WorkerConfig",
        [
            "dispatcher_address", "worker_address", "port", "protocol", "heartbeat_interval_ms",
            "dispatcher_timeout_ms", "data_transfer_protocol", "data_transfer_address",
        ],
    )
):  # fmt: skip
    """How a `WorkerServer` is to be.

    Args:
        dispatcher_address: where the dispatcher is: its host (or "localhost") and its port.
        worker_address: where others find the worker, and where it listens; "%port%" stands for its port. Without it,
            `HEADRACE_SERVICE_HOST` is the name or address of this machine; without that either, only programs of this
            machine find it. For others there must be a secret: docs/several_machines.md.
        port: where it listens; 0 for any that is free.
        protocol: the beginning of its address; "grpc".
        heartbeat_interval_ms: how often the dispatcher hears of it.
        dispatcher_timeout_ms: for how long it looks for the dispatcher at first.
        data_transfer_protocol: accepted; elements travel like everything else.
        data_transfer_address: accepted.
    """

    def __new__(
        cls, dispatcher_address, worker_address=None, port=0, protocol=None, heartbeat_interval_ms=None,
        dispatcher_timeout_ms=None, data_transfer_protocol=None, data_transfer_address=None,
    ):  # fmt: skip
        return super().__new__(
            cls, dispatcher_address, worker_address, port, protocol or PROTOCOL, heartbeat_interval_ms,
            dispatcher_timeout_ms, data_transfer_protocol, data_transfer_address,
        )  # fmt: skip


@api("data.experimental.service.WorkerServer", dispatch=False)
class WorkerServer(ServerBase):
    """A worker of a data service: makes the elements of datasets, in threads of this program, for those who read them.

    Args:
        config: a `WorkerConfig`.
        start: whether to begin at once.
    """

    def __init__(self, config, start=True) -> None:
        if config.dispatcher_address is None:
            raise ValueError("Must specify a `dispatcher_address` in the `config` passed to `WorkerServer`.")
        check_protocol(config.protocol, f"{WHERE}.WorkerServer")
        self._config = config
        self._server = Worker(config)
        if start:
            self.start()

    def _num_tasks(self):
        return self._server.task_count
