"""What a dispatcher knows, but for who is there: datasets, iterations, their tasks, and what of them was given out.

It changes by events only, so that a journal of them is enough to have it again.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Iterator
from typing import Any

from headrace._src.data.running.stages import Stage
from headrace._src.data.saving import dataset_graphs, spec_messages

_FIRST_NUMBER = 1000
_EVENTS = frozenset(
    "dataset iteration clients task task_ends split returned forget snapshot stream stream_ends stream_lost "
    "snapshot_ends".split()
)


class Definition:
    """A dataset as it is handed from program to program.

    Args:
        stage: the pipeline, where it belongs to this program.
        data: it as bytes, where it came from another one.
        spec: of the elements, as bytes, or None where these have no such form.
        element_spec: the spec itself, where it belongs to this program.
        cardinality: of the dataset.
    """

    def __init__(
        self, stage: Stage | None, data: bytes | None, spec: bytes | None, element_spec: Any, cardinality: int
    ):
        self._stage = stage
        self._data = data
        self.spec = spec
        self._element_spec = element_spec
        self.cardinality = cardinality

    @classmethod
    def of(cls, dataset) -> Definition:
        """That of a dataset of this program."""
        try:
            spec = spec_messages.encoded(dataset.element_spec)
        except TypeError:
            spec = None
        return cls(dataset.stage, None, spec, dataset.element_spec, dataset.stage.cardinality())

    @property
    def element_spec(self) -> Any:
        """The spec of elements; None where it is not known."""
        if self._element_spec is None and self.spec is not None:
            self._element_spec = spec_messages.decoded(self.spec)
        return self._element_spec

    def stage(self) -> Stage:
        """The pipeline."""
        if self._stage is None:
            self._stage = dataset_graphs.decoded(self._data or b"")
        return self._stage

    def encoded(self) -> bytes:
        """The pipeline as bytes.

        Raises:
            UnimplementedError: it depends on this program.
        """
        if self._data is None:
            self._data = dataset_graphs.encoded(self.stage())
        return self._data


class Iteration:
    """One walk of all consumers of a job through its dataset."""

    def __init__(self, number, job, dataset_id, mode, consumers, cached):
        self.number = number
        self.job = job  # its name, and which walk of it this is
        self.dataset_id = dataset_id
        self.mode = mode
        self.consumers = consumers
        self.cached = cached
        self.tasks: dict[str, int] = {}  # by worker
        self.given: collections.Counter = collections.Counter()  # by source and walk, how many elements were given out
        self.taken: dict[int, list] = {}  # by task, what it was given: source, walk, first, last
        self.returned: list[list] = []  # of these, what must be given out again, as the task is lost
        self.clients = 0
        self.left_at = time.monotonic()  # when the last client left


class Snapshot:
    """What workers write to a folder, each a stream of its own.

    Args:
        path: the folder.
        iteration: the number of the walk through the dataset.
        compression: "", "GZIP" or "SNAPPY".
    """

    def __init__(self, path, iteration, compression):
        self.path = path
        self.iteration = iteration
        self.compression = compression
        self.streams: dict[int, list] = {}  # by number: the worker, its task, and whether it is finished
        self.next_stream = 0


class ServiceState:
    """Datasets, iterations and tasks. `apply` changes it, `events` are what makes it from nothing."""

    def __init__(self):
        self.datasets: dict[str, Definition] = {}
        self.iterations: dict[int, Iteration] = {}
        self.by_job: dict[tuple, Iteration] = {}
        self.task_of: dict[int, tuple[Iteration, str]] = {}
        self.snapshots: dict[str, Snapshot] = {}  # that are not finished, by folder
        self.next_number = _FIRST_NUMBER  # of an iteration or a task

    def apply(self, event: dict, payload: Any = b"") -> None:
        """Carry out a change.

        Args:
            event: its kind, and what belongs to it.
            payload: the `Definition` of a dataset, or that as bytes.
        """
        fields = dict(event)
        kind = fields.pop("kind")
        if kind not in _EVENTS:
            raise ValueError(f"there is no event {kind!r}")
        getattr(self, f"_{kind}")(payload, **fields)

    def _dataset(self, payload, dataset_id, spec, cardinality):
        if not isinstance(payload, Definition):
            payload = Definition(None, payload, None if spec is None else bytes.fromhex(spec), None, cardinality)
        self.datasets[dataset_id] = payload

    def _iteration(self, payload, number, job, dataset_id, mode, consumers, cached):
        iteration = Iteration(number, tuple(job), dataset_id, mode, consumers, cached)
        self.iterations[number] = self.by_job[iteration.job] = iteration
        self._used(number)

    def _clients(self, payload, iteration, change):
        found = self.iterations[iteration]
        found.clients += change
        found.left_at = time.monotonic()

    def _task(self, payload, iteration, address, task):
        found = self.iterations[iteration]
        found.tasks[address] = task
        self.task_of[task] = (found, address)
        self._used(task)

    def _task_ends(self, payload, task):
        iteration, address = self.task_of.pop(task)
        del iteration.tasks[address]

    def _split(self, payload, iteration, task, source, walk, first, last):
        found = self.iterations[iteration]
        found.given[source, walk] = max(found.given[source, walk], last)
        split = [source, walk, first, last]
        found.taken.setdefault(task, []).append(split)
        if split in found.returned:
            found.returned.remove(split)

    def _snapshot(self, payload, path, iteration, compression):
        self.snapshots[path] = Snapshot(path, iteration, compression)

    def _stream(self, payload, path, stream, address, task):
        snapshot = self.snapshots[path]
        snapshot.streams[stream] = [address, task, False]
        snapshot.next_stream = max(snapshot.next_stream, stream + 1)

    def _stream_ends(self, payload, path, stream):
        self.snapshots[path].streams[stream][2] = True

    def _stream_lost(self, payload, path, stream):
        snapshot = self.snapshots[path]
        _, task, _ = snapshot.streams.pop(stream)
        iteration = self.iterations[snapshot.iteration]
        iteration.returned += iteration.taken.pop(task, [])

    def _snapshot_ends(self, payload, path):
        self._forget(b"", self.snapshots.pop(path).iteration)

    def _returned(self, payload, iteration, split):
        found = self.iterations[iteration]
        source, walk, _, last = split
        found.given[source, walk] = max(found.given[source, walk], last)
        found.returned.append(split)

    def _forget(self, payload, iteration):
        found = self.iterations.pop(iteration)
        del self.by_job[found.job]
        for task in found.tasks.values():
            del self.task_of[task]

    def _used(self, number):
        self.next_number = max(self.next_number, number + 1)

    def events(self) -> Iterator[tuple[dict, bytes]]:
        """What leads to this state."""
        for dataset_id, definition in self.datasets.items():
            yield dataset_event(dataset_id, definition), definition.encoded()
        for one in self.iterations.values():
            yield {
                "kind": "iteration", "number": one.number, "job": list(one.job), "dataset_id": one.dataset_id,
                "mode": int(one.mode), "consumers": one.consumers, "cached": one.cached,
            }, b""  # fmt: skip
            yield {"kind": "clients", "iteration": one.number, "change": one.clients}, b""
            for address, task in one.tasks.items():
                yield {"kind": "task", "iteration": one.number, "address": address, "task": task}, b""
            yield from self._splits_of(one)
        for snapshot in self.snapshots.values():
            yield {
                "kind": "snapshot", "path": snapshot.path, "iteration": snapshot.iteration,
                "compression": snapshot.compression,
            }, b""  # fmt: skip
            for stream, (address, task, is_finished) in snapshot.streams.items():
                about = {"path": snapshot.path, "stream": stream}
                yield {"kind": "stream", **about, "address": address, "task": task}, b""
                if is_finished:
                    yield {"kind": "stream_ends", **about}, b""

    def _splits_of(self, iteration):
        """What was given out. What was returned is no longer anybody's."""
        owned = [(task, split) for task, splits in iteration.taken.items() for split in splits]
        for task, (source, walk, first, last) in owned:
            yield {
                "kind": "split", "iteration": iteration.number, "task": task, "source": source, "walk": walk,
                "first": first, "last": last,
            }, b""  # fmt: skip
        for split in iteration.returned:
            yield {"kind": "returned", "iteration": iteration.number, "split": split}, b""


def dataset_event(dataset_id: str, definition: Definition) -> dict:
    """The event by which a dataset becomes known; its graph is the payload."""
    return {
        "kind": "dataset", "dataset_id": dataset_id, "spec": None if definition.spec is None else definition.spec.hex(),
        "cardinality": int(definition.cardinality),
    }  # fmt: skip
