"""What datasets write and read as targets: caches, snapshots, positions, pipelines, messages of the service."""

import contextlib
import functools
import json
import pathlib
import random
import socket
import struct
import sys
import tempfile
import threading

import numpy as np
from byte_mutations import any_bytes
from container_mutations import changed_records
from fuzz_checkpoints import files_in
from fuzz_messages import of_message
from fuzz_targets import Find, exchanged_files, on_file, one_file, target

import headrace as tf
from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor
from headrace._src.data.saving import dataset_graphs
from headrace._src.data.saving.element_bytes import packed, unpacked
from headrace._src.data.saving.iterator_states import DESERIALIZE_ITERATOR, SERIALIZE_ITERATOR
from headrace._src.data.service import messages
from headrace._src.data.service.dispatcher import Dispatcher
from headrace._src.formats.graph_messages import GraphDef
from headrace._src.op.loading import load_everything

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "data" / "running"))

import test_state_checks as states

FILE = "data"


# Elements.


def _elements():
    ragged = tf.ragged.constant([[1, 2], [3]])._to_variant()
    found = [
        (np.arange(6, dtype=np.int32).reshape(2, 3), np.array([b"a", b"bcd"], object)),
        (np.array(1.5), np.zeros([0, 3], np.uint8), np.array(b"", object)),
        (ragged._a,),
    ]
    return one_file(FILE, *map(packed, found))


@target("elements", _elements, [(1, on_file(any_bytes))], in_memory=True, cost=0.1)
def read_element(trial):
    trial.attempt(lambda: unpacked(trial.files[FILE]))


# Files of caches and snapshots.


def _source():
    return tf.data.Dataset.range(5).map(lambda x: {"a": x, "b": tf.strings.as_string(x), "c": tf.fill([3], x)})


def _walked(dataset):
    for _ in dataset:
        pass


@functools.cache
def _caches():
    with tempfile.TemporaryDirectory() as folder:
        _walked(_source().cache(f"{folder}/cache"))
        one = files_in(folder)
    with tempfile.TemporaryDirectory() as folder:
        _walked(_source().take(2).cache(f"{folder}/cache"))
        return [one, files_in(folder)]


@target("file_cache", _caches, [(4, on_file(any_bytes)), (0.5, exchanged_files)], cost=1.5)
def read_cache(trial):
    """Files that are not all there are written anew; those that are there are read as they are or refused."""
    dataset = _source().cache(trial.path("cache"))
    trial.attempt(lambda: _walked(dataset), (tf.errors.AlreadyExistsError,))


@functools.cache
def _snapshots():
    found = []
    for compression in ("NONE", "GZIP", "SNAPPY"):
        with tempfile.TemporaryDirectory() as folder:
            _walked(_source().snapshot(folder, compression=compression))
            found.append({f"{compression}/{name}": data for name, data in files_in(folder).items()})
    return found


@target(
    "snapshots",
    _snapshots,
    [
        (3, on_file(any_bytes)),
        (3, on_file(lambda rng, data, others: changed_records(rng, data, any_bytes, others), ".snapshot")),
        (0.5, exchanged_files),
    ],
    cost=4,
)
def read_snapshot(trial):
    kind = sorted(trial.files)[0].partition("/")[0]
    trial.attempt(lambda: _walked(_source().snapshot(trial.path(kind), compression=kind)))


@contextlib.contextmanager
def _service():
    """Within this block are servers and readers. The next trial would see a thread connect that ends later."""
    before = set(threading.enumerate())
    yield tf.data.experimental.service
    for thread in set(threading.enumerate()) - before:
        thread.join(20)


@functools.cache
def _distributed():
    found = []
    for compression in (None, "SNAPPY"):
        with tempfile.TemporaryDirectory() as folder, _service() as service:
            server = service.DispatchServer()
            address = server.target.partition("://")[2]
            worker = service.WorkerServer(service.WorkerConfig(address, heartbeat_interval_ms=20))
            tf.data.experimental.distributed_save(_source(), f"{folder}/saved", address, compression)
            tf.data.Dataset.load(f"{folder}/saved", wait=True)
            worker.stop()
            server.stop()
            found.append(files_in(folder))
    return found


@target(
    "distributed_snapshots",
    _distributed,
    [
        (3, on_file(any_bytes)),
        (3, on_file(lambda rng, data, others: changed_records(rng, data, any_bytes, others), "_5")),
        (0.5, exchanged_files),
    ],
    cost=4,
)
def read_distributed_snapshot(trial):
    trial.attempt(lambda: _walked(tf.data.Dataset.load(trial.path("saved"))))


@functools.cache
def _journals():
    """What a dispatcher writes down: datasets, a job that is read, and a snapshot."""
    with tempfile.TemporaryDirectory() as folder, _service() as service:
        server = service.DispatchServer(service.DispatcherConfig(fault_tolerant_mode=True, work_dir=folder))
        worker = service.WorkerServer(service.WorkerConfig(server.target.partition("://")[2]))
        iterator = iter(_source().apply(service.distribute("distributed_epoch", server.target, job_name="job")))
        next(iterator), next(iterator)
        tf.data.experimental.distributed_save(_source(), f"{folder}/saved", server.target)
        data = (pathlib.Path(folder) / "dispatcher_journal").read_bytes()
        del iterator
        worker.stop()
        server.stop()
    return one_file("dispatcher_journal", data)


@target(
    "dispatcher_journal",
    _journals,
    [(2, on_file(any_bytes)), (3, on_file(lambda rng, data, others: changed_records(rng, data, any_bytes, others)))],
    cost=2,
)
def follow_journal(trial):
    config = tf.data.experimental.service.DispatcherConfig(fault_tolerant_mode=True, work_dir=trial.path(""))
    dispatcher = Dispatcher(config)
    trial.attempt(dispatcher.recover)
    dispatcher.stop()


# Positions of iterators.


_NAMES = ["range", "map", "batch", "shuffle, repeat", "interleave", "zip", "strings", "group"]


@functools.cache
def _iterators():
    """An iterator of each pipeline, and its state after a few elements."""
    found = []
    for name in _NAMES:
        iterator = iter(states.PIPELINES[name](pathlib.Path("unused")))
        next(iterator), next(iterator)
        found.append((iterator, iterator.state_dict()))
    return found


def _saved_states():
    found = []
    for iterator, _ in _iterators():
        parts = SERIALIZE_ITERATOR(iterator._handle).numpy().ravel().tolist()
        found.append({f"{number:03d}": bytes(part) for number, part in enumerate(parts)})
    return found


@target("iterator_states", _saved_states, [(4, on_file(any_bytes)), (0.5, exchanged_files)], in_memory=True, cost=0.4)
def restore_saved(trial):
    parts = np.empty(len(trial.files), object)
    parts[:] = [trial.files[name] for name in sorted(trial.files)]
    iterator, state = _iterators()[trial.which or 0]
    iterator.load_state_dict(state)
    trial.attempt(lambda: DESERIALIZE_ITERATOR(iterator._handle, EagerTensor(parts, dtypes.variant)))
    trial.attempt(lambda: next(iterator, None))


@target("state_dicts", lambda: one_file(FILE, bytes(8)), [(1, on_file(lambda rng, data, others: rng.randbytes(8)))],
        in_memory=True, cost=0.2)  # fmt: skip
def restore_dict(trial):
    """A state with a value changed: the bytes say which and how."""
    rng = random.Random(trial.files[FILE])
    iterator, state = rng.choice(_iterators())
    changed = state if trial.files[FILE] == bytes(8) else states.damaged(rng, state)
    trial.attempt(lambda: iterator.load_state_dict(changed))
    if changed is not state and trial.outcomes == ["read"]:
        raise Find("a state that was changed is taken")


# What comes over connections.


@functools.cache
def _pipelines():
    datasets = [
        tf.data.Dataset.range(9).map(lambda x: x * 2).batch(2),
        tf.data.Dataset.from_tensor_slices({"a": [1.0, 2.0], "b": ["x", "y"]}).shuffle(3, seed=1).repeat(2),
        tf.data.Dataset.range(3).interleave(lambda x: tf.data.Dataset.range(x), cycle_length=2),
    ]
    return one_file(FILE, *[dataset_graphs.encoded(dataset.stage) for dataset in datasets])


def _pipeline(rng, data, others):
    """A changed graph, with its length in front."""
    size, count = dataset_graphs._SIZES.unpack_from(data)
    start = dataset_graphs._SIZES.size
    graph = data[start : start + size]
    changed = of_message(GraphDef)[1][1](rng, {FILE: graph}, [{FILE: graph}])[FILE]
    return dataset_graphs._SIZES.pack(len(changed), count) + changed + data[start + size :]


@target("pipelines", _pipelines, [(1, on_file(any_bytes)), (3, on_file(_pipeline))], in_memory=True, cost=8,
        prepare=load_everything)  # fmt: skip
def read_pipeline(trial):
    trial.attempt(lambda: dataset_graphs.decoded(trial.files[FILE]))


def _message(kind, payload=b"", **fields):
    text = json.dumps({"kind": kind, **fields}).encode()
    return messages._HEAD.pack(messages._LETTERS, len(text), len(payload)) + text + payload


def _messages():
    pipeline = _pipelines()[0][FILE]
    found = [
        _message("register", pipeline, dataset_id="", spec=None, cardinality=5)
        + _message("register", pipeline, dataset_id="a", spec="0801", cardinality=-1),
        _message("describe", dataset_id="a") + _message("dataset", dataset_id="a"),
        _message("worker", address="localhost:1", process=3) + _message("worker_ends", address="localhost:1"),
        _message("register", pipeline, dataset_id="a", spec=None, cardinality=5)
        + _message("iteration", dataset_id="a", mode=0, job_name="", repetition=0, consumers=0, cached=False),
    ]
    return one_file(FILE, *found)


def _fields(rng, data, others):
    """Other fields, with right lengths."""
    _, length, size = messages._HEAD.unpack_from(data)
    start = messages._HEAD.size
    text = any_bytes(rng, data[start : start + length])
    if rng.random() < 0.7:
        fields = json.loads(data[start : start + length])
        key = rng.choice(sorted(fields))
        value = rng.choice([None, -1, 2**70, 1.5, "x", [], {}, True, "9" * 999, [[]]])
        fields[rng.choice([key, key, key, "more"])] = value
        text = json.dumps(fields).encode()
    rest = data[start + length :]
    return struct.pack("<4sIQ", data[:4], len(text), size) + text + rest


@target("service_messages", _messages, [(2, on_file(any_bytes)), (4, on_file(_fields))], in_memory=True, cost=0.25)
def read_messages(trial):
    here, there = socket.socketpair()
    dispatcher = Dispatcher(tf.data.experimental.service.DispatcherConfig(port=0))
    with here, there:
        there.settimeout(5)
        here.settimeout(5)
        here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        here.sendall(trial.files[FILE][: 1 << 17])
        here.shutdown(socket.SHUT_WR)
        while True:
            message = trial.attempt(lambda: messages.receive(there))
            if message is None:
                return
            fields, payload = message
            answer = functools.partial(dispatcher.handle, str(fields.pop("kind", "")), fields, payload)
            trial.attempt(answer)
