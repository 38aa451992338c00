"""`tf.data.experimental.service.distribute` and its relatives: datasets that workers make and this program reads."""

from __future__ import annotations

import collections
import itertools
import logging
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.data.datasets import DatasetV2, build, check_dataset, constant, dataset_op, integer
from headrace._src.data.running.stages import Cursor, Stage, shapes_of
from headrace._src.data.saving import spec_messages
from headrace._src.data.saving.element_bytes import unpacked
from headrace._src.data.saving.element_checks import ElementCheck
from headrace._src.data.service.dispatcher import Dispatcher, check_protocol, process_number
from headrace._src.data.service.messages import PATIENCE_SECONDS, Peer, PeerGone, start_thread
from headrace._src.data.service.service_state import Definition
from headrace._src.data.service.shards import WHERE, ShardingPolicy
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op

_MODES = {"parallel_epochs": ShardingPolicy.OFF, "distributed_epoch": ShardingPolicy.DYNAMIC}
_COMPRESSIONS = ["AUTO", None, "SNAPPY"]
_TARGETS = ["AUTO", "ANY", "LOCAL"]
_NAME_SECONDS = 0.05  # between questions for workers, while there are none
_REFRESH_SECONDS = 0.5  # between questions for further workers, and attempts to reach one that does not answer
_SILENT_SECONDS = 5.0  # of waiting for a first worker, before somebody is told
_WAITING = 2  # elements that wait for the reader, of each worker


_log = logging.getLogger("headrace")


@api("data.experimental.service.CrossTrainerCache", dispatch=False)
class CrossTrainerCache:
    """Lets several trainers read the same elements, which workers make only once.

    Args:
        trainer_id: who reads; each trainer has its own.
    """

    def __init__(self, trainer_id) -> None:
        if not trainer_id:
            raise ValueError("tf.data service cross-trainer cache requires a non-empty trainer ID.")
        self.trainer_id = trainer_id


class ServiceStage(Stage):
    """The elements that the workers of a service make.

    Args:
        dataset_id: under which the dispatcher knows the dataset.
        mode: a `ShardingPolicy`.
        address: of the dispatcher.
        job_name: by which several readers share the work; empty for nobody else.
        consumer: the number of this reader, where readers take turns; None otherwise.
        consumers: how many these are; 0 otherwise.
        most: how many elements may be asked for at a time; None for some for each worker.
        trainer: who reads, where elements are kept for others; empty otherwise.
        target: which workers: "AUTO", "ANY", or "LOCAL" for those of this program.
        types: the dtypes of the components.
        shapes: of the components.
    """

    method = f"{WHERE}.distribute"

    def __init__(
        self, dataset_id, mode, address, job_name, consumer, consumers, most, trainer, target, types, shapes
    ):  # fmt: skip
        super().__init__(shapes)
        self.dataset_id = dataset_id
        self.mode = mode
        self.address = address
        self.job_name = job_name
        self.consumer = consumer
        self.consumers = consumers
        self.most = most
        self.trainer = trainer
        self.target = target
        self.check = ElementCheck(
            types, shapes,
            f"The data service at {address} gives other elements for the dataset {dataset_id}: was the dispatcher "
            "started anew since the dataset was registered?",
        )  # fmt: skip
        self.walks = itertools.count()

    def walk(self, run):
        return ServiceCursor(self, run)


class _FetchWork:
    """What the threads that ask for elements share with the reader; they know nothing else of it."""

    def __init__(self, most):
        self.changed = threading.Condition()
        self.ready: collections.deque = collections.deque()  # elements, and errors
        self.waiting: collections.Counter = collections.Counter()  # by task, how many of them
        self.ended: set = set()  # tasks without further elements
        self.lost: set = set()  # tasks whose workers the dispatcher has given up
        self.most = most
        self.asked = 0
        self.is_stopped = False

    def may_ask(self, task):
        """Whether a thread should ask for another element."""
        if self.is_stopped:
            return True
        return self.waiting[task] < _WAITING and (self.most is None or self.asked < self.most)

    def lose(self, task):
        with self.changed:
            self.lost.add(task)
            self.changed.notify_all()

    def stop(self):
        with self.changed:
            self.is_stopped = True
            self.ready.clear()
            self.changed.notify_all()


def _ask(work, task, peer, trainer, check):
    """Ask a worker for elements, a few ahead of the reader."""
    while True:
        with work.changed:
            work.changed.wait_for(lambda: work.may_ask(task))
            if work.is_stopped:
                break
            work.asked += 1
            work.waiting[task] += 1
        try:
            answer, payload = peer.call("element", task=task, trainer=trainer)
            item = None if answer["end"] else _element(payload, check)
        except PeerGone:  # it may come back; the dispatcher knows when it does not
            with work.changed:
                work.asked -= 1
                work.waiting[task] -= 1
                if work.changed.wait_for(lambda: work.is_stopped or task in work.lost, _REFRESH_SECONDS):
                    break
            continue
        except BaseException as error:  # handed to the reader
            item = _of_worker(peer, error)
        with work.changed:
            if item is None:
                work.asked -= 1
                work.waiting[task] -= 1
                work.ended.add(task)
            elif not work.is_stopped:
                work.ready.append((task, item))
            work.changed.notify_all()
            if task in work.ended:
                break
    peer.close()


def _element(payload, check):
    """The element in an answer: from this program as it is, from another one as bytes that must be looked at."""
    element = payload if isinstance(payload, tuple) else unpacked(payload)
    check(element)
    return element


def _of_worker(peer, error):
    if not isinstance(error, errors.OpError):
        return error
    return type(error)(None, None, f"Failed to get element from worker {peer.address}: {error.message}")


def _release(work, dispatcher, iteration):
    work.stop()
    try:
        dispatcher.call("release", iteration=iteration)
    except errors.OpError:
        pass  # it has ended
    dispatcher.close()


class ServiceCursor(Cursor):
    """Reads what workers make, in the order in which it comes; in turns, where there are several consumers."""

    def __init__(self, stage: ServiceStage, run):
        self._stage = stage
        self._run = run
        self._dispatcher = Peer(stage.address, "dispatcher")
        answer, _ = self._dispatcher.call(
            "iteration", dataset_id=stage.dataset_id, mode=int(stage.mode), job_name=stage.job_name,
            repetition=next(stage.walks), consumers=stage.consumers, cached=bool(stage.trainer),
        )  # fmt: skip
        self._iteration = answer["iteration"]
        self._patience = PATIENCE_SECONDS if answer["is_kept"] else 0.0
        self._work = _FetchWork(stage.most)
        self._tasks: dict[int, Peer] = {}
        self._refreshed_at = 0.0
        self._heard_at = time.monotonic()  # when the dispatcher last answered
        self._round = 0
        self._number = 0
        self._finalizer = weakref.finalize(self, _release, self._work, self._dispatcher, self._iteration)

    def _refresh(self):
        """Learn of workers."""
        self._refreshed_at = time.monotonic()
        try:
            answer, _ = self._dispatcher.call("tasks", iteration=self._iteration)
        except PeerGone:
            if self._refreshed_at - self._heard_at < self._patience:
                return
            raise
        self._heard_at = time.monotonic()
        self._lose(self._tasks.keys() - {task for task, _, _ in answer["tasks"]})
        for task, address, process in answer["tasks"]:
            if task in self._tasks or (self._stage.target == "LOCAL" and process != process_number()):
                continue
            self._tasks[task] = Peer(address, "worker")
            if not self._stage.consumers:
                start_thread(
                    "data-service-reader", _ask, self._work, task, self._tasks[task], self._stage.trainer,
                    self._stage.check,
                )  # fmt: skip

    def _lose(self, tasks):
        """Go on without workers that have gone."""
        for task in tasks - self._work.lost - self._work.ended:
            self._work.lose(task)
            _log.warning(
                "%s.distribute: the worker at %s has gone, and the elements that it was making may be missing.",
                WHERE, self._tasks[task].address,
            )  # fmt: skip

    def _wait_for_workers(self):
        begun, is_told = time.monotonic(), False
        while not self._tasks:
            self._refresh()
            if not self._tasks and not is_told and time.monotonic() - begun > _SILENT_SECONDS:
                is_told = True
                _log.warning("%s.distribute: waiting for workers of the service at %s.", WHERE, self._stage.address)
            if not self._tasks and self._run.stopped.wait(_NAME_SECONDS):
                raise errors.cancelled(f"{WHERE}: the walk was given up.")

    def next(self):
        self._wait_for_workers()
        if self._stage.consumers:
            return self._next_in_turn()
        work = self._work
        while True:
            if time.monotonic() - self._refreshed_at > _REFRESH_SECONDS:
                self._refresh()
            with work.changed:
                if not work.ready and len(work.ended | work.lost) < len(self._tasks):
                    work.changed.wait(_REFRESH_SECONDS)
                if work.ready:
                    task, item = work.ready.popleft()
                    work.asked -= 1
                    work.waiting[task] -= 1
                    work.changed.notify_all()
                    break
                is_over = len(work.ended | work.lost) == len(self._tasks)
            if is_over:
                before = len(self._tasks)
                self._refresh()  # a worker may have come in the meantime
                if len(self._tasks) == before:
                    self._check_any_left()
                    self.close()
                    return None
        self._number += 1
        if isinstance(item, BaseException):
            if isinstance(item, Exception):
                self._stage.failed(self._number - 1, item)
            raise item
        return item

    def _check_any_left(self):
        """An end that no worker has seen is none."""
        if not self._work.ended:
            gone = ", ".join(sorted({peer.address for peer in self._tasks.values()}))
            self.close()
            raise errors.unavailable(
                f"{WHERE}.distribute: all workers of the service at {self._stage.address} have gone: {gone}."
            )

    def _next_in_turn(self):
        peers = list(self._tasks.items())
        task, peer = peers[self._round % len(peers)]
        try:
            answer, payload = peer.call(
                "element", task=task, consumer=self._stage.consumer, round=self._round // len(peers)
            )
            element = None if answer["end"] else _element(payload, self._stage.check)
        except errors.OpError as error:
            self._stage.failed(self._number, _of_worker(peer, error))
        self._round += 1
        self._number += 1
        return element

    def close(self):
        self._finalizer()


def _text(value, what):
    if value.ndim or not isinstance(value[()], bytes):
        raise errors.invalid_argument(f"{WHERE}: {what} must be a scalar string.")
    return value[()].decode("utf-8", "replace")


def _make(
    dataset_id, processing_mode, address, protocol, job_name, consumer_index, num_consumers, max_outstanding_requests,
    iteration_counter, output_types, output_shapes, target_workers, cross_trainer_cache_options, **unused,
):  # fmt: skip
    consumers = max(0, integer(num_consumers, "num_consumers"))
    most = integer(max_outstanding_requests, "max_outstanding_requests")
    return ServiceStage(
        _text(dataset_id, "dataset_id"), ShardingPolicy(int(_text(processing_mode, "processing_mode"))),
        _text(address, "address"), _text(job_name, "job_name"), integer(consumer_index, "consumer_index"), consumers,
        most if most > 0 else None, cross_trainer_cache_options, target_workers.upper(), output_types,
        shapes_of(output_shapes),
    )  # fmt: skip


DUMMY_ITERATION_COUNTER = Op(
    "DummyIterationCounter",
    "-> handle: resource",
    infer=lambda: TensorShape([]),
    kernel=lambda: np.empty((), object),  # stages count themselves
    lower=None,
    grad=None,
    stateful=True,
)

DATA_SERVICE_DATASET = dataset_op(
    "DataServiceDatasetV4",
    "dataset_id: string, processing_mode: string, address: string, protocol: string, job_name: string, "
    "consumer_index: int64, num_consumers: int64, max_outstanding_requests: int64, iteration_counter: resource, *, "
    "task_refresh_interval_hint_ms: int = -1, output_types: list(type), output_shapes: list(shape), "
    "data_transfer_protocol: string = '', target_workers: string = 'AUTO', uncompress: bool = False, "
    "cross_trainer_cache_options: string = ''",
    _make,
    stateful=True,
)


# The public functions.


def _mode_of(processing_mode) -> ShardingPolicy:
    if isinstance(processing_mode, ShardingPolicy):
        return processing_mode
    if processing_mode in _MODES:
        return _MODES[processing_mode]
    raise ValueError(
        "tf.data service processing mode should be a `tf.data.experimental.service.ShardingPolicy`, "
        f'`"parallel_epochs"`, or `"distributed_epoch"`. Got {processing_mode!r}.'
    )


def _address_of(service) -> str:
    """The address of a dispatcher, from what users give."""
    if isinstance(service, tuple) and len(service) == 2:
        protocol, address = service
    elif isinstance(service, str):
        protocol, separator, address = service.partition("://")
        if not separator or not address:
            raise ValueError(
                f"Malformed `service` string has no `://`: {service}. It should be `<protocol>://<address>`, such as "
                "`DispatchServer.target`."
            )
    else:
        raise ValueError(f"The `service` argument must be a string or a tuple of two strings, but got {service!r}.")
    check_protocol(protocol, WHERE)
    return address


def _checked(job_name, consumer_index, num_consumers, compression, target_workers):
    if job_name is not None:
        if not isinstance(job_name, (str, bytes)) and not hasattr(job_name, "dtype"):
            raise ValueError(
                f"`job_name` must be a string, but `job_name` was of type {type(job_name)}. job_name={job_name}"
            )
        if isinstance(job_name, (str, bytes)) and not job_name:
            raise ValueError("`job_name` must not be empty")
    if (consumer_index is None) != (num_consumers is None):
        raise ValueError(
            "Must either set both `consumer_index` and `num_consumers`, or neither. "
            f"consumer_index={consumer_index}, num_consumers={num_consumers}"
        )
    if num_consumers is not None and job_name is None:
        raise ValueError("`job_name` must be set when setting `num_consumers`")
    if compression not in _COMPRESSIONS:
        raise ValueError(f"Invalid `compression` argument: {compression}. Must be one of {_COMPRESSIONS}.")
    if str(target_workers).upper() not in _TARGETS:
        raise ValueError(f"Invalid `target_workers` argument: {target_workers}. Must be one of {_TARGETS}.")


def _dataset(
    mode, address, dataset_id, spec, of, job_name, consumer_index, num_consumers, most, cache, target_workers
) -> DatasetV2:  # fmt: skip
    def number(value):
        return constant(-1 if value is None else value, dtypes.int64)

    return build(
        "_DataServiceDatasetV2", DATA_SERVICE_DATASET, dataset_id, to_tensor(str(int(mode))), to_tensor(address),
        to_tensor("grpc"), to_tensor("" if job_name is None else job_name), number(consumer_index),
        number(num_consumers), number(most), DUMMY_ITERATION_COUNTER(), spec=spec, of=of, target_workers=target_workers,
        cross_trainer_cache_options="" if cache is None else str(cache.trainer_id),
    )  # fmt: skip


@api("data.experimental.service.distribute", dispatch=False)
def distribute(
    processing_mode, service, job_name=None, consumer_index=None, num_consumers=None, max_outstanding_requests=None,
    data_transfer_protocol=None, compression="AUTO", cross_trainer_cache=None, target_workers="AUTO",
) -> Callable[..., Any]:  # fmt: skip
    """A transformation for `Dataset.apply`: has the workers of a data service make the elements up to here.

    Elements come in the order in which workers make them.

    Args:
        processing_mode: a `ShardingPolicy`; "parallel_epochs" (all elements from each worker) or "distributed_epoch"
            (each element from one of them).
        service: the dispatcher, such as `DispatchServer.target`.
        job_name: readers that give the same name share the elements.
        consumer_index: the number of this reader, where readers of a job take turns.
        num_consumers: how many these are.
        max_outstanding_requests: how many elements may be asked for ahead.
        data_transfer_protocol: accepted; elements travel like everything else.
        compression: "AUTO", "SNAPPY" or None; accepted: on one machine nothing is gained by it.
        cross_trainer_cache: a `CrossTrainerCache`, where several trainers read the same elements.
        target_workers: "AUTO" or "ANY", or "LOCAL" for the workers of this program only.

    Returns:
        A function from a dataset to a dataset.

    Raises:
        UnimplementedError: (when the dispatcher is another program) the dataset calls Python functions, or uses
            variables or tables: these cannot be sent.
    """
    mode = _mode_of(processing_mode)
    _checked(job_name, consumer_index, num_consumers, compression, target_workers)
    address = _address_of(service)

    def transform(dataset):
        dataset_id = registered(address, dataset, None)
        return _dataset(
            mode, address, dataset_id, dataset.element_spec, [dataset], job_name, consumer_index, num_consumers,
            max_outstanding_requests, cross_trainer_cache, target_workers,
        )  # fmt: skip

    return transform


def registered(address: str, dataset: Any, dataset_id: str | None) -> Tensor:
    """Make a dataset known to the dispatcher: its id."""
    check_dataset(dataset, WHERE)
    definition = Definition.of(dataset)
    spec = None if definition.spec is None else definition.spec.hex()
    dispatcher = Peer(address, "dispatcher")
    try:
        answer, _ = dispatcher.call(
            "register", definition, dataset_id=dataset_id, spec=spec, cardinality=definition.cardinality
        )
    finally:
        dispatcher.close()
    return to_tensor(answer["dataset_id"], dtypes.string)


@api("data.experimental.service.register_dataset", dispatch=False)
def register_dataset(service, dataset, compression="AUTO", dataset_id=None) -> Tensor:
    """Make a dataset known to a data service, for `from_dataset_id`.

    Args:
        service: the dispatcher, such as `DispatchServer.target`.
        dataset: the dataset.
        compression: see `distribute`.
        dataset_id: a name for it; by default a number is chosen.

    Returns:
        A scalar string tensor, its id.
    """
    _checked(None, None, None, compression, "AUTO")
    return registered(_address_of(service), dataset, None if dataset_id is None else str(dataset_id))


@api("data.experimental.service.from_dataset_id", dispatch=False)
def from_dataset_id(
    processing_mode, service, dataset_id, element_spec=None, job_name=None, consumer_index=None, num_consumers=None,
    max_outstanding_requests=None, data_transfer_protocol=None, cross_trainer_cache=None, target_workers="AUTO",
) -> DatasetV2:  # fmt: skip
    """A dataset that was registered with a data service by `register_dataset`; its workers make the elements.

    Args:
        processing_mode: see `distribute`, as for all further arguments that are not here.
        service: the dispatcher.
        dataset_id: what `register_dataset` returned.
        element_spec: the spec of its elements; the service knows it, unless they are of kinds of one program's own.
        job_name: readers that give the same name share the elements.
        consumer_index: the number of this reader, where readers of a job take turns.
        num_consumers: how many these are.
        max_outstanding_requests: how many elements may be asked for ahead.
        data_transfer_protocol: accepted.
        cross_trainer_cache: a `CrossTrainerCache`.
        target_workers: "AUTO", "ANY" or "LOCAL".

    Raises:
        NotFoundError: the service does not know the dataset.
    """
    mode, address = _mode_of(processing_mode), _address_of(service)
    _checked(job_name, consumer_index, num_consumers, "AUTO", target_workers)
    dataset_id = to_tensor(dataset_id, dtypes.string)
    if element_spec is None:
        element_spec = _spec_of(address, dataset_id.numpy().decode())
    return _dataset(
        mode, address, dataset_id, element_spec, [], job_name, consumer_index, num_consumers,
        max_outstanding_requests, cross_trainer_cache, target_workers,
    )  # fmt: skip


def _spec_of(address, dataset_id) -> Any:
    dispatcher = Peer(address, "dispatcher")
    local = dispatcher.local
    if isinstance(local, Dispatcher):
        spec = local.spec_of(dataset_id)
    else:
        answer, _ = dispatcher.call("describe", dataset_id=dataset_id)
        dispatcher.close()
        spec = None if answer["spec"] is None else spec_messages.decoded(bytes.fromhex(answer["spec"]))
    if spec is None:
        raise ValueError(f"{WHERE}.from_dataset_id: the service does not know the element_spec; it must be given.")
    return spec
