"""`tf.data.experimental.service.DispatchServer`: knows the datasets, the workers and who reads what."""

from __future__ import annotations

import collections
import os
import secrets
import threading
import time
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.data.saving import distributed_snapshots
from headrace._src.data.saving.snapshot_files import checked_compression
from headrace._src.data.service.credentials import Credentials
from headrace._src.data.service.journal import Journal
from headrace._src.data.service.messages import Server, ServerEnded, checked_fields, refuses
from headrace._src.data.service.service_state import Definition, Iteration, ServiceState, dataset_event
from headrace._src.data.service.shards import STATIC, WHERE, ShardingPolicy, chunk
from headrace._src.op.api import api

PROTOCOL = "grpc"  # TF: the name that addresses begin with; what is spoken is headrace's own
_JOB_SECONDS = 300.0
_WORKER_SECONDS = 60.0
_ANONYMOUS = "anonymous "  # how names of jobs begin that nobody else can join


_NUMBER, _TEXT, _NO_TEXT = (int, np.integer), (str,), (str, type(None))
_FIELDS = {
    "register": {"dataset_id": _NO_TEXT, "spec": _NO_TEXT, "cardinality": _NUMBER},
    "describe": {"dataset_id": _TEXT},
    "dataset": {"dataset_id": _TEXT},
    "worker": {"address": _TEXT, "process": _NUMBER},
    "worker_ends": {"address": _TEXT},
    "iteration": {
        "dataset_id": _TEXT, "mode": _NUMBER, "job_name": _TEXT, "repetition": _NUMBER, "consumers": _NUMBER,
        "cached": (bool,),
    },
    "tasks": {"iteration": _NUMBER},
    "task": {"task": _NUMBER},
    "split": {"iteration": _NUMBER, "task": _NUMBER, "source": _NUMBER, "walk": _NUMBER, "size": _NUMBER},
    "release": {"iteration": _NUMBER},
    "save": {"dataset_id": _TEXT, "path": _TEXT, "compression": _TEXT},
    "stream_ends": {"path": _TEXT, "stream": _NUMBER, "error": _NO_TEXT},
}  # fmt: skip


class Dispatcher(Server):
    """Answers what clients and workers ask.

    Args:
        config: a `DispatcherConfig`.
    """

    name = "dispatcher"

    def __init__(self, config):
        super().__init__(config.port)
        self._worker_names = list(config.worker_addresses or ())
        self._job_seconds = _seconds(config.job_gc_timeout_ms, _JOB_SECONDS)
        self._worker_seconds = _seconds(config.worker_timeout_ms, _WORKER_SECONDS)
        self._lock_of_state = threading.RLock()
        self._state = ServiceState()
        self._workers: dict[str, dict] = {}
        self._journal_folder = config.work_dir if config.fault_tolerant_mode else None
        self._journal: Journal | None = None
        self._credentials: Credentials | None = None
        self._has_ended = False

    @property
    def worker_count(self) -> int:
        """How many workers are known."""
        with self._lock_of_state:
            return len(self._workers)

    @property
    def credentials(self):
        return self._credentials

    def start(self):
        if self.is_running:
            return
        self._has_ended = False
        if self._journal_folder is not None:
            self.recover()
        try:
            if self._credentials is None:
                self._credentials = Credentials.new()
            super().start()
        except BaseException:
            self._end()
            raise

    def recover(self) -> None:
        """Know again what was known to a dispatcher with the same working folder.

        Raises:
            DataLossError: its journal is damaged.
            AbortedError: it has not ended.
        """
        self._journal = Journal(self._journal_folder)
        try:
            self._state = ServiceState()
            for event, payload in self._journal.events():
                self._state.apply(event, payload)
            self._journal.begin(self._state.events())
        except BaseException as error:
            self._journal.close()
            if isinstance(error, (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)):
                raise errors.data_loss(
                    f"{WHERE}.DispatchServer: the journal in {self._journal_folder} makes no sense: {error!r}."
                ) from error
            raise
        # Workers with tasks are expected to be heard of.
        for _, address in self._state.task_of.values():
            self._workers[address] = {"process": 0, "seen": time.monotonic()}

    def stop(self):
        super().stop()
        with self._lock_of_state:
            self._has_ended = True
            self._end()

    def _end(self):
        credentials, self._credentials = self._credentials, None
        if credentials is not None:
            credentials.forget()
        journal, self._journal = self._journal, None
        if journal is not None:
            journal.close()

    def _change(self, kind, payload: Any = b"", **fields):
        """Change what is known, and write it down first, where a journal is kept."""
        event = {"kind": kind, **fields}
        if self._journal is not None:
            data = payload.encoded() if isinstance(payload, Definition) else payload
            # Which elements were given out last may be lost with the machine: it would forget those that read them.
            self._journal.add(event, data, flush=kind != "split")
        self._state.apply(event, payload)

    def handle(self, kind, fields, payload):
        checked_fields(kind, fields, _FIELDS, "dispatcher")
        with self._lock_of_state:
            if self._has_ended:  # what is decided now, another one would not know
                raise ServerEnded(None, None, f"{WHERE}: the dispatcher at {self.address} has ended.")
            return getattr(self, f"_on_{kind}")(payload, **fields)

    # Datasets.

    def _on_register(self, payload, dataset_id, spec, cardinality):
        if not isinstance(payload, Definition):
            payload = Definition(None, payload, _from_hex(spec), None, cardinality)
        known = self._state.datasets.get(dataset_id) if dataset_id else None
        if known is not None and known.spec != payload.spec:
            raise errors.invalid_argument(
                "Failed to register dataset: Datasets with the same ID should have the same structure, but "
                f"{dataset_id} has another element_spec."
            )
        if known is None:
            # Datasets of a dispatcher that was here before are not taken for those of this one.
            dataset_id = dataset_id or str(secrets.randbits(48))
            fields = dataset_event(dataset_id, payload)
            self._change(fields.pop("kind"), payload, **fields)
        return {"dataset_id": dataset_id}, b""

    def _dataset(self, dataset_id):
        if dataset_id not in self._state.datasets:
            raise errors.not_found(f"{WHERE}: Dataset id {dataset_id} not found.")
        return self._state.datasets[dataset_id]

    def _on_describe(self, payload, dataset_id):
        found = self._dataset(dataset_id)
        return {"spec": None if found.spec is None else found.spec.hex(), "cardinality": found.cardinality}, b""

    def _on_dataset(self, payload, dataset_id):
        return {}, self._dataset(dataset_id)

    def spec_of(self, dataset_id) -> Any:
        """The spec of the elements of a dataset."""
        return self._dataset(dataset_id).element_spec

    # Workers.

    def _on_worker(self, payload, address, process):
        """A worker is there, or still there; the tasks that are still wanted."""
        self._workers[address] = {"process": process, "seen": time.monotonic()}
        self._forget_old()
        streams = self._streams_for(address)
        return {"tasks": sorted(self._state.task_of), "streams": streams, "is_kept": self._is_kept}, b""

    @property
    def _is_kept(self):
        """Whether it is worth waiting for this dispatcher when it has ended."""
        return self._journal is not None

    def _on_worker_ends(self, payload, address):
        self._lose(address)
        return {}, b""

    def caller(self, kind, fields):
        return fields.get("address") if kind == "worker" else None

    def caller_left(self, caller):
        """A worker's connection has ended: if it does not listen either, it was killed, and is not waited for."""
        # The last one is, for as long as any: readers could not go on without it.
        if self._has_others(caller) and refuses(caller):
            with self._lock_of_state:
                if not self._has_ended and self._has_others(caller):
                    self._lose(caller)

    def _has_others(self, worker):
        with self._lock_of_state:
            return worker in self._workers and len(self._workers) > 1

    def _forget_old(self):
        now = time.monotonic()
        for address, about in list(self._workers.items()):
            if now - about["seen"] > self._worker_seconds:
                self._lose(address)
        for iteration in list(self._state.iterations.values()):
            if not iteration.clients and now - iteration.left_at > self._job_seconds:
                self._change("forget", iteration=iteration.number)

    def _lose(self, address):
        """A worker is no longer there: readers go on without it, and others write what it has not finished."""
        self._workers.pop(address, None)
        for snapshot in self._state.snapshots.values():
            for stream, (of, _, is_finished) in list(snapshot.streams.items()):
                if of == address and not is_finished:
                    self._change("stream_lost", path=snapshot.path, stream=stream)
        for task, (iteration, of) in list(self._state.task_of.items()):
            # Consumers that read in turns cannot go on with fewer workers.
            if of == address and not iteration.consumers:
                self._change("task_ends", task=task)

    # Jobs.

    def _on_iteration(self, payload, dataset_id, mode, job_name, repetition, consumers, cached):
        definition = self._dataset(dataset_id)
        if mode not in list(ShardingPolicy) or consumers < 0:
            raise errors.invalid_argument(f"{WHERE}: there is no mode {mode} for {consumers} consumers.")
        self._forget_old()
        if cached:
            self._check_cached(definition, job_name)
        number = self._state.next_number
        key = (job_name or f"{_ANONYMOUS}{number}", repetition)
        iteration = self._state.by_job.get(key)
        if iteration is None:
            if mode in STATIC:
                for address in self._workers:
                    self._place_of(address)
            self._change(
                "iteration", number=number, job=list(key), dataset_id=dataset_id, mode=int(mode),
                consumers=int(consumers), cached=cached,
            )  # fmt: skip
            iteration = self._state.iterations[number]
        elif (iteration.mode, iteration.consumers, iteration.cached) != (mode, consumers, cached):
            raise errors.invalid_argument(
                f"{WHERE}: Tried to create a job with name {job_name}, but found an existing job with the same name "
                f"and other parameters: its processing mode is {ShardingPolicy(iteration.mode).name}, for "
                f"{iteration.consumers} consumers."
            )
        self._change("clients", iteration=iteration.number, change=1)
        return {"iteration": iteration.number, "is_kept": self._is_kept}, b""

    def _check_cached(self, definition, job_name):
        if not job_name:
            raise errors.invalid_argument("Cross-trainer caching requires named jobs. Got empty `job_name`.")
        if definition.cardinality >= 0:
            raise errors.invalid_argument(
                "Cross-trainer caching requires the input dataset to be infinite. Got input with cardinality "
                f"{definition.cardinality}"
            )

    def _place_of(self, address):
        """The number of a worker in the list of the config."""
        host = address.rpartition(":")[0]
        for place, name in enumerate(self._worker_names):
            if name in (address, host, f"{host}:%port%"):
                return place
        raise errors.not_found(
            f"Failed to shard dataset in tf.data service: Worker {address} is not in the workers list. Got workers "
            f"list {','.join(self._worker_names)}. Give the addresses of workers to DispatcherConfig."
        )

    def _known(self, iteration) -> Iteration:
        found = self._state.iterations.get(iteration)
        if found is None:
            raise errors.not_found(f"{WHERE}: there is no iteration {iteration} any more.")
        return found

    def _on_tasks(self, payload, iteration):
        """The workers that take part: task, address, process."""
        found = self._known(iteration)
        self._forget_old()
        # Consumers that read in turns must all see the same workers, from the first round on.
        if not (found.consumers and found.tasks):
            for address in self._workers:
                if address not in found.tasks:
                    self._change("task", iteration=found.number, address=address, task=self._state.next_number)
        tasks = [
            [task, address, self._workers.get(address, {}).get("process", 0)] for address, task in found.tasks.items()
        ]
        return {"tasks": tasks}, b""

    def _on_task(self, payload, task):
        """What a worker has to know of a task."""
        if task not in self._state.task_of:
            raise errors.not_found(f"{WHERE}: there is no task {task} any more.")
        iteration, address = self._state.task_of[task]
        place = self._place_of(address) if iteration.mode in STATIC else 0
        return {
            "dataset_id": iteration.dataset_id, "mode": int(iteration.mode), "iteration": iteration.number,
            "place": place, "count": len(self._worker_names), "consumers": iteration.consumers,
            "cached": iteration.cached,
        }, b""  # fmt: skip

    def _on_split(self, payload, iteration, task, source, walk, size):
        """Which elements of a source a worker makes next."""
        known = self._known(iteration)
        if task not in self._state.task_of:
            raise errors.not_found(f"{WHERE}: there is no task {task} any more.")
        again = [(first, last) for of, at, first, last in known.returned if (of, at) == (source, walk)]
        found = again[0] if again else chunk(size, known.given[source, walk])
        if found is None:
            return {}, b""
        first, last = map(int, found)
        self._change(
            "split", iteration=known.number, task=int(task), source=int(source), walk=int(walk), first=first, last=last
        )
        return {"first": first, "last": last}, b""

    def _on_release(self, payload, iteration):
        """A client has stopped reading."""
        found = self._state.iterations.get(iteration)
        if found is not None:
            self._change("clients", iteration=found.number, change=-1)
            if not found.clients and found.job[0].startswith(_ANONYMOUS):
                self._change("forget", iteration=found.number)
        return {}, b""


    # Snapshots.

    def _on_save(self, payload, dataset_id, path, compression):
        """Have the workers write a dataset to a folder."""
        definition = self._dataset(dataset_id)
        if definition.spec is None:
            raise errors.invalid_argument(f"{WHERE}: elements of {definition.element_spec} cannot be saved.")
        compression = checked_compression(compression, "data.experimental.distributed_save")
        distributed_snapshots.begin(path, definition.spec, compression)
        number = self._state.next_number
        self._change(
            "iteration", number=number, job=[f"snapshot {path}", 0], dataset_id=dataset_id,
            mode=int(ShardingPolicy.DYNAMIC), consumers=0, cached=False,
        )  # fmt: skip
        self._change("clients", iteration=number, change=1)
        self._change("snapshot", path=path, iteration=number, compression=compression)
        return {}, b""

    def _streams_for(self, address):
        """What a worker should be writing: folder, number of the stream, task, compression."""
        wanted = []
        for snapshot in self._state.snapshots.values():
            own = [about for about in snapshot.streams.values() if about[0] == address]
            is_busy = any(not is_finished for *_, is_finished in own)
            # What a lost worker has left is for those that have finished.
            if not is_busy and (not own or self._state.iterations[snapshot.iteration].returned):
                task, stream = self._state.next_number, snapshot.next_stream
                iteration = self._state.iterations[snapshot.iteration]
                if address in iteration.tasks:
                    self._change("task_ends", task=iteration.tasks[address])
                self._change("task", iteration=snapshot.iteration, address=address, task=task)
                self._change("stream", path=snapshot.path, stream=stream, address=address, task=task)
            wanted += [
                [snapshot.path, stream, task, snapshot.compression]
                for stream, (of, task, is_finished) in snapshot.streams.items() if of == address and not is_finished
            ]  # fmt: skip
        return wanted

    def _on_stream_ends(self, payload, path, stream, error):
        """A worker has written all that it can, or could not."""
        snapshot = self._state.snapshots.get(path)
        if snapshot is None or stream not in snapshot.streams or snapshot.streams[stream][2]:
            return {}, b""  # it was given up, and others have taken its place
        if error is None:
            distributed_snapshots.commit(path, int(stream))
            self._change("stream_ends", path=path, stream=int(stream))
        is_complete = all(is_finished for *_, is_finished in snapshot.streams.values())
        if error is not None or (is_complete and not self._state.iterations[snapshot.iteration].returned):
            distributed_snapshots.finish(path, error)
            self._change("snapshot_ends", path=path)
        return {}, b""


def _from_hex(spec):
    try:
        return None if spec is None else bytes.fromhex(spec)
    except ValueError:
        raise errors.invalid_argument(f"{WHERE}: the spec of a dataset is not hexadecimal: {spec!r:.100}.") from None


def _seconds(milliseconds, default):
    return default if not milliseconds else milliseconds / 1000


@api("data.experimental.service.DispatcherConfig", dispatch=False)
class DispatcherConfig(
    collections.namedtuple(
        "DispatcherConfig",
        [
            "port", "protocol", "work_dir", "fault_tolerant_mode", "worker_addresses", "job_gc_check_interval_ms",
            "job_gc_timeout_ms", "worker_timeout_ms", "worker_max_concurrent_snapshots",
        ],
    )
):  # fmt: skip
    """How a `DispatchServer` is to be.

    Args:
        port: where it listens; 0 for any that is free. Other machines reach it if `HEADRACE_SERVICE_HOST` is the name
            or address of this one and there is a secret: docs/several_machines.md.
        protocol: the beginning of its address; "grpc".
        work_dir: a folder for the journal of `fault_tolerant_mode`.
        fault_tolerant_mode: whether a dispatcher that starts with the same `work_dir` and `port` after this one has
            ended goes on where it was: workers and readers wait for it, for a minute.
        worker_addresses: the workers, where datasets are divided by their number.
        job_gc_check_interval_ms: accepted.
        job_gc_timeout_ms: for how long a job without readers is kept.
        worker_timeout_ms: for how long a worker counts that is not heard of; then readers go on without it.
        worker_max_concurrent_snapshots: accepted.
    """

    def __new__(
        cls, port=0, protocol=None, work_dir=None, fault_tolerant_mode=False, worker_addresses=None,
        job_gc_check_interval_ms=None, job_gc_timeout_ms=None, worker_timeout_ms=None,
        worker_max_concurrent_snapshots=0,
    ):  # fmt: skip
        return super().__new__(
            cls, port, protocol or PROTOCOL, work_dir, fault_tolerant_mode, worker_addresses, job_gc_check_interval_ms,
            job_gc_timeout_ms, worker_timeout_ms, worker_max_concurrent_snapshots,
        )  # fmt: skip


class ServerBase:
    """What the servers of the service have in common.

    They end when they are dropped.
    """

    _server: Any = None

    def start(self) -> None:
        """Begin to answer."""
        self._server.start()

    def join(self) -> None:
        """Wait until the server is stopped, by another thread."""
        self._server.ended.wait()

    def stop(self) -> None:
        """End."""
        self._server.stop()

    def _stop(self):
        self.stop()

    @property
    def _address(self):
        return self._server.address

    def __del__(self):
        if self._server is not None:
            self._server.stop()


def check_protocol(protocol, where):
    """Refuse a protocol that nobody speaks."""
    if protocol != PROTOCOL:
        raise RuntimeError(f"{where}: there is no protocol {protocol!r}, only {PROTOCOL!r}.")


@api("data.experimental.service.DispatchServer", dispatch=False)
class DispatchServer(ServerBase):
    """The dispatcher of a data service: workers register with it, and datasets are read through it.

    It runs in threads of this program, and answers programs on this machine; those of others, where that is asked for.

    Args:
        config: a `DispatcherConfig`.
        start: whether to begin at once.

    >>> service = tf.data.experimental.service
    >>> dispatcher = service.DispatchServer()
    >>> worker = service.WorkerServer(service.WorkerConfig(dispatcher.target.split("://")[1]))
    >>> dataset = tf.data.Dataset.range(6).map(lambda x: x * x)
    >>> dataset = dataset.apply(service.distribute("distributed_epoch", dispatcher.target))
    >>> sorted(int(x) for x in dataset)
    [0, 1, 4, 9, 16, 25]
    """

    def __init__(self, config=None, start=True) -> None:
        config = config or DispatcherConfig()
        if config.fault_tolerant_mode and not config.work_dir:
            raise ValueError(
                f"{WHERE}.DispatchServer: fault_tolerant_mode needs a work_dir (a work dir for its journal), got "
                f"{config.work_dir!r}."
            )
        check_protocol(config.protocol, f"{WHERE}.DispatchServer")
        self._config = config
        self._server = Dispatcher(config)
        if start:
            self.start()

    @property
    def target(self) -> str:
        """The address that `distribute` takes."""
        return f"{self._config.protocol}://{self._server.address}"

    def _num_workers(self):
        return self._server.worker_count


_process: tuple[int, int] | None = None


def process_number() -> int:
    """Of this program, and of no other one, on whatever machine."""
    global _process
    if _process is None or _process[0] != os.getpid():  # a fork is another program
        _process = (os.getpid(), secrets.randbits(48))
    return _process[1]
