"""A data service of which parts end, come back, or are on other machines."""

import logging
import os
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import headrace as tf
from headrace._src.core import network
from headrace._src.data.service import credentials, messages
from headrace._src.data.service.dispatcher import Dispatcher, process_number

service = tf.data.experimental.service
Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def folder_of_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    for name in (credentials.SECRET_VARIABLE, credentials.FORMER_VARIABLE, credentials.FILE_VARIABLE):
        monkeypatch.delenv(name, raising=False)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def address_of(dispatcher):
    return dispatcher.target.partition("://")[2]


def worker_of(dispatcher):
    return service.WorkerServer(service.WorkerConfig(address_of(dispatcher), heartbeat_interval_ms=20))


def gone(worker):
    """A worker that has ended without a word to the dispatcher, as one that was killed."""
    messages.Server.stop(worker._server)


# Workers that end.


def test_readers_go_on_without_a_worker_that_has_gone(caplog):
    dispatcher = service.DispatchServer(service.DispatcherConfig(worker_timeout_ms=2000))
    workers = [worker_of(dispatcher) for _ in range(2)]
    read = iter(Dataset.range(3).repeat().apply(service.distribute("parallel_epochs", dispatcher.target)))
    next(read)
    gone(workers[0])
    with caplog.at_level(logging.WARNING, "headrace"):
        while not caplog.records:
            next(read)
    assert [next(read) is not None for _ in range(50)] == [True] * 50
    assert "has gone" in caplog.text
    del read
    workers[1].stop()
    dispatcher.stop()


WORKER = """
import sys, headrace as tf
service = tf.data.experimental.service
worker = service.WorkerServer(service.WorkerConfig(sys.argv[1]))
print(worker._address, flush=True)
sys.stdin.read()
"""


def killable_worker(dispatcher):
    """A worker that is a process, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, address_of(dispatcher)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    return process, process.stdout.readline().strip()


def killed(process):
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


@pytest.mark.slow
def test_a_worker_that_was_killed_is_not_waited_for(caplog):
    hour = 3_600_000
    dispatcher = service.DispatchServer(service.DispatcherConfig(worker_timeout_ms=hour))
    worker = worker_of(dispatcher)
    process, address = killable_worker(dispatcher)
    read = iter(Dataset.range(3).repeat().apply(service.distribute("parallel_epochs", dispatcher.target)))
    next(read)
    killed(process)
    with caplog.at_level(logging.WARNING, "headrace"):
        while f"the worker at {address} has gone" not in caplog.text:
            next(read)
    assert dispatcher._server.worker_count == 1
    del read
    worker.stop()
    dispatcher.stop()


@pytest.mark.slow
def test_the_last_worker_may_come_back(monkeypatch):
    left = threading.Event()
    original = Dispatcher.caller_left

    def caller_left(self, caller):
        original(self, caller)
        left.set()

    monkeypatch.setattr(Dispatcher, "caller_left", caller_left)
    dispatcher = service.DispatchServer(service.DispatcherConfig(worker_timeout_ms=3_600_000))
    process, _ = killable_worker(dispatcher)
    killed(process)
    assert left.wait(30)
    assert dispatcher._server.worker_count == 1
    dispatcher.stop()


def test_an_end_without_workers_is_an_error():
    dispatcher = service.DispatchServer(service.DispatcherConfig(worker_timeout_ms=300))
    worker = worker_of(dispatcher)
    read = iter(Dataset.range(3).repeat().apply(service.distribute("parallel_epochs", dispatcher.target)))
    next(read)
    gone(worker)
    with pytest.raises(tf.errors.UnavailableError, match=f"all workers .* have gone: {worker._address}"):
        while True:
            next(read)
    dispatcher.stop()


def test_a_worker_that_stops_is_not_waited_for():
    dispatcher = service.DispatchServer()
    workers = [worker_of(dispatcher) for _ in range(2)]
    read = iter(Dataset.range(40).apply(service.distribute("distributed_epoch", dispatcher.target)))
    first = [int(next(read)) for _ in range(4)]
    workers[0].stop()
    rest = [int(x) for x in read]
    assert set(first + rest) <= set(range(40))
    assert len(first + rest) == len(set(first + rest)) > 30
    workers[1].stop()
    dispatcher.stop()


# A dispatcher that ends.


def kept(port, folder):
    config = service.DispatcherConfig(port=port, fault_tolerant_mode=True, work_dir=str(folder))
    return service.DispatchServer(config)


@pytest.mark.parametrize("mode", ["distributed_epoch", "parallel_epochs"])
def test_a_dispatcher_goes_on_where_another_one_ended(tmp_path, mode):
    port = free_port()
    dispatcher = kept(port, tmp_path / "work")
    worker = worker_of(dispatcher)
    dataset = Dataset.range(60).map(lambda x: x * 2).apply(service.distribute(mode, dispatcher.target, job_name="job"))
    read = iter(dataset)
    found = [int(next(read)) for _ in range(7)]
    dispatcher.stop()
    if mode == "parallel_epochs":  # where the dispatcher is not asked for each element, reading goes on
        found += [int(next(read)) for _ in range(10)]
    dispatcher = kept(port, tmp_path / "work")
    found += [int(x) for x in read]
    assert sorted(found) == list(range(0, 120, 2))
    worker.stop()
    dispatcher.stop()


def test_datasets_are_known_to_the_next_dispatcher(tmp_path):
    port = free_port()
    dispatcher = kept(port, tmp_path)
    number = service.register_dataset(dispatcher.target, Dataset.from_tensor_slices({"x": np.arange(3.0)}))
    target = dispatcher.target
    dispatcher.stop()
    dispatcher = kept(port, tmp_path)
    worker = worker_of(dispatcher)
    read = service.from_dataset_id("parallel_epochs", target, number)
    assert read.element_spec == {"x": tf.TensorSpec([], tf.float64)}
    assert [float(element["x"]) for element in read] == [0.0, 1.0, 2.0]
    with pytest.raises(tf.errors.UnimplementedError, match="Python"):
        service.register_dataset(target, Dataset.from_generator(lambda: [1], output_types=tf.int32))
    worker.stop()
    dispatcher.stop()


def test_a_journal_that_ends_within_an_event(tmp_path):
    port = free_port()
    dispatcher = kept(port, tmp_path)
    service.register_dataset(dispatcher.target, Dataset.range(3), dataset_id="first")
    service.register_dataset(dispatcher.target, Dataset.range(4), dataset_id="second")
    dispatcher.stop()
    path = tmp_path / "dispatcher_journal"
    data = path.read_bytes()
    for size in (len(data) - 1, len(data) - 40):
        path.write_bytes(data[:size])
        dispatcher = kept(port, tmp_path)
        assert service.from_dataset_id("parallel_epochs", dispatcher.target, "first").element_spec.dtype == tf.int64
        with pytest.raises(tf.errors.NotFoundError, match="second"):
            service.from_dataset_id("parallel_epochs", dispatcher.target, "second")
        dispatcher.stop()


def test_a_damaged_journal_is_refused(tmp_path):
    dispatcher = kept(0, tmp_path)
    service.register_dataset(dispatcher.target, Dataset.range(3))
    dispatcher.stop()
    path = tmp_path / "dispatcher_journal"
    data = bytearray(path.read_bytes())
    data[30] ^= 1
    path.write_bytes(data)
    for _ in range(2):  # nothing is kept locked
        with pytest.raises(tf.errors.DataLossError):
            kept(0, tmp_path)


def test_one_dispatcher_for_a_journal(tmp_path):
    dispatcher = kept(0, tmp_path)
    with pytest.raises(tf.errors.AbortedError, match="another process"):
        kept(0, tmp_path)
    dispatcher.stop()
    kept(0, tmp_path).stop()


# Other machines.


def test_other_machines_need_a_secret(monkeypatch):
    monkeypatch.setenv(network.BIND_VARIABLE, "0.0.0.0")
    with pytest.raises(tf.errors.FailedPreconditionError, match="0.0.0.0.*HEADRACE_SECRET"):
        service.DispatchServer()
    monkeypatch.setenv(credentials.SECRET_VARIABLE, "known to both")
    dispatcher = service.DispatchServer()
    worker = worker_of(dispatcher)
    read = Dataset.range(3).apply(service.distribute("parallel_epochs", dispatcher.target))
    assert [int(x) for x in read] == [0, 1, 2]
    worker.stop()
    dispatcher.stop()


def test_servers_say_by_which_name_others_find_them(monkeypatch):
    monkeypatch.setenv(messages.HOST_VARIABLE, "127.0.0.1")
    dispatcher = service.DispatchServer()
    assert dispatcher.target == f"grpc://127.0.0.1:{dispatcher._server.port}"
    worker = worker_of(dispatcher)
    assert worker._address == f"127.0.0.1:{worker._server.port}"
    named = service.WorkerServer(service.WorkerConfig(address_of(dispatcher), worker_address="localhost:%port%"))
    assert named._address == f"localhost:{named._server.port}"
    for one in (named, worker, dispatcher):
        one.stop()


def test_programs_are_told_apart_by_more_than_their_numbers(monkeypatch):
    mine = process_number()
    assert mine == process_number() != os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as in a process that was forked
    other = process_number()
    assert mine != other == process_number()


# Snapshots.


def saved_numbers(path):
    return sorted(int(number) for number, _ in Dataset.load(str(path), wait=True))


def named(count):
    return Dataset.range(count).map(lambda x: (x, tf.strings.as_string(x)))


@pytest.mark.parametrize("compression", ["AUTO", "GZIP", None])
def test_workers_write_a_dataset(tmp_path, compression):
    dispatcher = service.DispatchServer()
    workers = [worker_of(dispatcher) for _ in range(2)]
    path = tmp_path / "saved"
    tf.data.experimental.distributed_save(named(50), str(path), address_of(dispatcher), compression)
    loaded = Dataset.load(str(path), wait=True)
    assert loaded.element_spec == named(1).element_spec
    assert saved_numbers(path) == list(range(50))
    assert {(int(a), b.numpy()) for a, b in loaded} == {(i, b"%d" % i) for i in range(50)}
    with pytest.raises(tf.errors.AlreadyExistsError, match="already started or completed"):
        tf.data.experimental.distributed_save(named(50), str(path), dispatcher.target)
    for one in (*workers, dispatcher):
        one.stop()


def test_an_error_of_a_worker_ends_a_snapshot(tmp_path):
    dispatcher = service.DispatchServer()
    worker = worker_of(dispatcher)
    path = tmp_path / "saved"
    dataset = Dataset.range(5).map(lambda x: 6 // (x - 3))
    tf.data.experimental.distributed_save(dataset, str(path), dispatcher.target)
    with pytest.raises(tf.errors.AbortedError, match="could not be written.*InvalidArgumentError"):
        Dataset.load(str(path), wait=True)
    worker.stop()
    dispatcher.stop()


def test_what_is_still_written_is_not_read(tmp_path):
    dispatcher = service.DispatchServer()
    path = tmp_path / "saved"
    tf.data.experimental.distributed_save(named(5), str(path), dispatcher.target)
    with pytest.raises(tf.errors.FailedPreconditionError, match="wait=True"):
        Dataset.load(str(path))
    worker = worker_of(dispatcher)
    assert saved_numbers(path) == list(range(5))
    worker.stop()
    dispatcher.stop()


def test_others_write_what_a_lost_worker_had(tmp_path):
    port = free_port()
    config = service.DispatcherConfig(
        port=port, fault_tolerant_mode=True, work_dir=str(tmp_path / "work"), worker_timeout_ms=500
    )
    dispatcher = service.DispatchServer(config)
    server, path = dispatcher._server, str(tmp_path / "saved")
    tf.data.experimental.distributed_save(named(40), path, dispatcher.target)
    # A worker that takes some elements and is not heard of again, and a dispatcher that ends meanwhile.
    answer, _ = server.handle("worker", {"address": "localhost:1", "process": 1}, b"")
    ((_, stream, task, _),) = answer["streams"]
    fields = {"iteration": server._state.snapshots[path].iteration, "task": task, "source": 0, "walk": 0, "size": 40}
    taken = [server.handle("split", fields, b"")[0] for _ in range(3)]
    assert [one["first"] for one in taken] == [0, 1, 2]
    dispatcher.stop()
    dispatcher = service.DispatchServer(config)
    worker = worker_of(dispatcher)
    assert saved_numbers(path) == list(range(40))
    late, _ = dispatcher._server.handle("stream_ends", {"path": path, "stream": stream, "error": None}, b"")
    assert late == {}
    assert saved_numbers(path) == list(range(40))
    worker.stop()
    dispatcher.stop()


def test_a_file_of_a_snapshot_holds_what_its_name_says(tmp_path):
    dispatcher = service.DispatchServer()
    worker = worker_of(dispatcher)
    path = tmp_path / "saved"
    tf.data.experimental.distributed_save(named(5), str(path), dispatcher.target)
    saved_numbers(path)
    (chunk,) = (path / "chunks").iterdir()
    chunk.rename(chunk.with_name("chunk_0_0_6"))
    with pytest.raises(tf.errors.DataLossError, match="promises 12 records"):
        list(Dataset.load(str(path)))
    worker.stop()
    dispatcher.stop()
